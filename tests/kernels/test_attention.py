# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.attention and attention_varlen against float64 arithmetic that stores all scores."""

import math
import os
import random

import torch
from kernel_testing import DTYPES, kernels, main, normal, opcheck, ops, refusal
from kernel_testing import pytest_generate_tests  # noqa: F401

INFINITY = float("inf")
SEED = int(os.environ.get("CUDAOPS_TEST_SEED", "0")) or random.randrange(1, 2**31)


def visible(seq_q, seq_k, causal, window, device):
    """[seq_q, seq_k]: the last query is aligned with the last key."""
    own = torch.arange(seq_q, device=device)[:, None] + seq_k - seq_q
    key = torch.arange(seq_k, device=device)[None]
    left, right = window
    result = torch.ones(seq_q, seq_k, dtype=torch.bool, device=device)
    if left >= 0:
        result &= key >= own - left
    if causal:
        result &= key <= own
    elif right >= 0:
        result &= key <= own + right
    return result


def reference(
    q,
    k,
    v,
    scale=None,
    causal=False,
    window=(-1, -1),
    softcap=0.0,
    bias=None,
    alibi_slopes=None,
    sinks=None,
    dtype=torch.float64,
):
    """Output and lse. dtype: of the arithmetic between all steps."""
    group = q.shape[2] // k.shape[2]
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    q, k, v = (x.to(dtype).transpose(1, 2) for x in (q, k, v))
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = q @ k.mT * scale
    seq_q, seq_k = scores.shape[-2:]
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    if alibi_slopes is not None:
        own = torch.arange(seq_q, device=q.device)[:, None] + seq_k - seq_q
        distance = (own - torch.arange(seq_k, device=q.device)).abs()
        scores = scores - alibi_slopes.to(dtype)[..., None, None] * distance
    if bias is not None:
        scores = scores + bias.to(dtype)
    scores = scores.masked_fill(~visible(seq_q, seq_k, causal, window, q.device), -INFINITY)
    if sinks is not None:
        column = sinks.to(dtype)[None, :, None, None].expand(*scores.shape[:3], 1)
        scores = torch.cat((scores, column), -1)
    if scores.shape[-1] == 0:
        return torch.zeros_like(q[..., :1] * v[..., :1, :].sum(-2, True)).transpose(1, 2), None
    lse = scores.logsumexp(-1)
    weights = torch.exp(scores - lse.masked_fill(lse == -INFINITY, 0)[..., None])
    return (weights[..., :seq_k] @ v).transpose(1, 2), lse


def tensors(device, dtype, batch=2, seq_q=40, seq_k=72, heads=2, kv_heads=1, head_dim=32, head_dim_v=None, seed=0):
    head_dim_v = head_dim if head_dim_v is None else head_dim_v
    q = normal(batch, seq_q, heads, head_dim, dtype=dtype, device=device, seed=seed)
    k = normal(batch, seq_k, kv_heads, head_dim, dtype=dtype, device=device, seed=seed + 1)
    v = normal(batch, seq_k, kv_heads, head_dim_v, dtype=dtype, device=device, seed=seed + 2)
    return q, k, v


def largest(x):
    return x.abs().max().item() if x.numel() else 0.0


def assert_as_exact(found, exact, plain, case, times=2):
    """FlashAttention's own rule: the largest error is at most `times` that of the same arithmetic by
    torch's ops in this dtype, and twice what is lost by storing numbers around 0.3 in it. Some steps
    of float32 more; of few numbers some of this dtype, as the largest error of few is small by
    chance."""
    assert found.shape == exact.shape, (case, found.shape, exact.shape)
    stored = exact.to(found.dtype)
    allowed = times * largest(plain.double() - exact) + 2 * largest(stored + 0.3 - 0.3 - stored)
    step = torch.finfo(found.dtype).eps if exact.numel() < 1000 else 0.0
    allowed += 1e-6 + (2e-6 + 2 * step) * largest(exact)
    error = largest(found.double() - exact)
    assert error <= allowed, f"{case}: error {error:.3g}, allowed {allowed:.3g}"


def assert_lse(found, exact, case):
    assert found.shape == exact.shape, (case, found.shape, exact.shape)
    torch.testing.assert_close(
        found.double(), exact, rtol=1e-5, atol=1e-5, msg=lambda text: f"{case}: {text}"
    )


NAMES = ("q", "k", "v", "bias", "sinks")


def check(case, q, k, v, times=2, **options):
    """Output, lse and all gradients; those of lse too."""
    given = {"q": q, "k": k, "v": v, "bias": options.get("bias"), "sinks": options.get("sinks")}
    device, dtype = q.device, q.dtype
    results = []
    for which in ("found", "exact", "plain"):
        wanted = dtype if which != "exact" else torch.float64
        own = {
            name: tensor.detach().to(tensor.dtype if which == "found" else wanted).requires_grad_()
            for name, tensor in given.items()
            if tensor is not None
        }
        rest = {key: value for key, value in options.items() if key not in NAMES}
        rest.update({key: own[key] for key in ("bias", "sinks") if key in own})
        q, k, v = own["q"], own["k"], own["v"]
        if which == "found":
            output, lse = kernels.attention(q, k, v, **rest, return_lse=True)
            assert output.dtype == dtype and output.is_contiguous()
        else:
            output, lse = reference(q, k, v, **rest, dtype=wanted)
        grads = normal(*output.shape, dtype=dtype, device=device, seed=9).to(output.dtype)
        total = (output * grads).sum()
        seen = lse.isfinite()
        weights = normal(*lse.shape, dtype=dtype, device=device, seed=10).to(lse.dtype)
        total = total + (torch.where(seen, lse, 0.0) * weights).sum().to(total.dtype)
        found = torch.autograd.grad(total, tuple(own.values()), allow_unused=True)
        found = [
            torch.zeros_like(tensor) if grad is None else grad
            for grad, tensor in zip(found, own.values())
        ]
        results.append((output.detach(), lse.detach(), dict(zip(own, found))))
    (output, lse, grads), (exact, exact_lse, exact_grads), (plain, _, plain_grads) = results
    assert_as_exact(output, exact, plain, case, times)
    assert_lse(lse, exact_lse, case)
    for name, grad in grads.items():
        # torch's own has NaN where a softcap meets a row that sees nothing.
        assert_as_exact(
            grad, exact_grads[name], plain_grads[name].nan_to_num(), f"{case} grad {name}", 3
        )


def test_forward_and_backward(device):
    for dtype in DTYPES:
        for head_dim, head_dim_v in ((64, 64), (128, 128), (192, 128), (256, 256), (40, 72)):
            q, k, v = tensors(device, dtype, head_dim=head_dim, head_dim_v=head_dim_v)
            for causal in (False, True):
                check((dtype, head_dim, head_dim_v, causal), q, k, v, causal=causal)


def test_lengths_heads_and_windows(device):
    for dtype in DTYPES[::2]:
        for seq_q, seq_k in ((1, 1), (1, 200), (130, 1), (64, 64), (65, 129), (100, 37)):
            q, k, v = tensors(device, dtype, 1, seq_q, seq_k, 6, 2, 16)
            for window in ((-1, -1), (5, 0), (0, 7), (30, -1), (-1, 20), (0, 0)):
                check((dtype, seq_q, seq_k, window), q, k, v, window=window)
            check((dtype, seq_q, seq_k, "causal"), q, k, v, causal=True, window=(40, 9))


def test_softcap_bias_slopes_and_sinks(device):
    for dtype in DTYPES:
        q, k, v = tensors(device, dtype)
        q = 4 * q
        check((dtype, "softcap"), q, k, v, softcap=3.0, causal=True, times=3)
        for shape in ((2, 2, 40, 72), (1, 1, 40, 72), (2, 1, 1, 72), (1, 2, 40, 1)):
            for kind in {dtype, torch.float32}:
                bias = normal(*shape, dtype=kind, device=device, seed=4)
                check((dtype, "bias", shape, kind), q, k, v, bias=bias, causal=True)
        slopes = normal(2, 2, dtype=torch.float32, device=device, seed=5).abs() / 8
        for some in (slopes, slopes[0]):
            check((dtype, "slopes", some.shape), q, k, v, alibi_slopes=some)
        sinks = normal(2, dtype=torch.float32, device=device, seed=6) + 2
        check((dtype, "sinks"), q, k, v, sinks=sinks)
        check((dtype, "sinks", "causal"), q, k[:, :20], v[:, :20], sinks=sinks, causal=True)
        bias = normal(2, 2, 40, 72, dtype=dtype, device=device, seed=7)
        everything = {"bias": bias, "sinks": sinks, "alibi_slopes": slopes, "scale": 0.1}
        check((dtype, "all"), q, k, v, softcap=5.0, window=(20, 9), times=3, **everything)


def test_takes_views_without_a_change(device):
    for dtype in DTYPES:
        packed = normal(2, 30, 3, 4, 24, dtype=dtype, device=device)
        q, k, v = packed.unbind(2)
        wanted = kernels.attention(q.contiguous(), k.contiguous(), v.contiguous(), causal=True)
        assert torch.equal(kernels.attention(q, k, v, causal=True), wanted)
        turned = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]
        assert torch.equal(kernels.attention(*turned, causal=True), wanted)
        apart = [x.mT.contiguous().mT for x in (q, k, v)]
        assert torch.equal(kernels.attention(*apart, causal=True), wanted)
        # Addresses that are no multiples of 16 bytes.
        shifted = normal(2 * 30 * 4 * 24 + 1, dtype=dtype, device=device)[1:].view(2, 30, 4, 24)
        check((dtype, "shifted"), shifted, shifted, shifted, causal=True)
        one = q[:1, :, :1].expand(2, 30, 4, 24)
        check((dtype, "expanded"), one, one, one)


def test_rows_that_see_nothing_and_nan_that_nobody_sees(device):
    for dtype in DTYPES:
        q, k, v = tensors(device, dtype, seq_q=90, seq_k=20)
        output, lse = kernels.attention(q, k, v, causal=True, return_lse=True)
        assert (output[:, :70] == 0).all() and (lse[..., :70] == -INFINITY).all()
        assert output[:, 70:].abs().min() > 0 and lse[..., 70:].isfinite().all()
        bias = torch.full((1, 1, 90, 20), -INFINITY, dtype=dtype, device=device)
        q.requires_grad_(), k.requires_grad_(), v.requires_grad_()
        output, lse = kernels.attention(q, k, v, bias=bias, return_lse=True)
        assert (output == 0).all() and (lse == -INFINITY).all()
        for grad in torch.autograd.grad(output.sum(), (q, k, v)):
            assert (grad == 0).all()
        # Keys from 128 on are in tiles of their own, which the first 100 queries don't see.
        q, k, v = tensors(device, dtype, seq_q=256, seq_k=256)
        wanted = kernels.attention(q, k, v, causal=True)
        k[:, 128:], v[:, 128:] = float("nan"), INFINITY
        output = kernels.attention(q, k, v, causal=True)
        assert torch.equal(output[:, :128], wanted[:, :128])
        assert output[:, 128:].isnan().all()


def test_no_elements(device):
    for shape_q, shape_k in (((0, 5, 2, 8), (0, 7, 2, 8)), ((2, 0, 2, 8), (2, 7, 2, 8)), ((2, 5, 2, 8), (2, 0, 2, 8))):
        q = torch.ones(shape_q, device=device, requires_grad=True)
        k = torch.ones(shape_k, device=device, requires_grad=True)
        output, lse = kernels.attention(q, k, k, return_lse=True)
        assert output.shape == q.shape and (output == 0).all() and (lse == -INFINITY).all()
        for grad in torch.autograd.grad(output.sum(), (q, k)):
            assert (grad == 0).all()


def generated(source):
    """A call of any kind."""
    kv_heads, group = source.choice(((1, 1), (2, 1), (1, 4), (2, 3)))
    seq_q, seq_k = (source.choice((1, 2, 7, 31, 64, 65, 100, 128, 150)) for _ in range(2))
    head_dim = source.choice((1, 8, 13, 32, 40, 64, 72, 80, 96, 128, 192, 256))
    case = {
        "dtype": source.choice(DTYPES),
        "batch": source.choice((1, 2)),
        "seq_q": seq_q,
        "seq_k": source.choice((seq_q, seq_k)),
        "heads": kv_heads * group,
        "kv_heads": kv_heads,
        "head_dim": head_dim,
        "head_dim_v": source.choice((head_dim, head_dim, 64, 24)),
        "causal": source.random() < 0.4,
        "window": source.choice(((-1, -1),) * 3 + ((source.randrange(80), source.randrange(80)),)),
        "softcap": source.choice((0.0, 0.0, 0.0, 4.0)),
        "bias": source.choice((None, None, None, (True, True, True), (False, False, True), (True, False, False))),
        "slopes": source.choice((0, 0, 0, 1, 2)),
        "sinks": source.random() < 0.25,
        "layout": source.choice(("contiguous", "heads first", "packed")),
        "scale": source.choice((None, None, 0.3)),
        "seed": source.randrange(10**6),
    }
    return case


def check_generated(device, case):
    dtype, batch, heads = case["dtype"], case["batch"], case["heads"]
    seed = case["seed"]
    sizes = {key: case[key] for key in ("batch", "seq_q", "seq_k", "heads", "kv_heads", "head_dim", "head_dim_v")}
    q, k, v = tensors(device, dtype, **sizes, seed=seed)
    if case["layout"] == "heads first":
        q, k, v = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v))
    elif case["layout"] == "packed":
        k, v = torch.cat((k, v), -1).split((case["head_dim"], case["head_dim_v"]), -1)
    options = {key: case[key] for key in ("causal", "window", "softcap", "scale")}
    if case["bias"]:
        full = (batch, heads, case["seq_q"])
        shape = [size if has else 1 for size, has in zip(full, case["bias"])]
        options["bias"] = normal(*shape, case["seq_k"], dtype=dtype, device=device, seed=seed + 3)
    if case["slopes"]:
        shape = (batch, heads)[2 - case["slopes"] :]
        options["alibi_slopes"] = normal(*shape, dtype=torch.float32, device=device, seed=seed).abs()
    if case["sinks"]:
        options["sinks"] = normal(heads, dtype=torch.float32, device=device, seed=seed + 4)
    check(case, q, k, v, 3 if case["softcap"] else 2, **options)


def test_generated_calls(device):
    """Calls of all kinds; CUDAOPS_TEST_LONG=1 has all of them, CUDAOPS_TEST_SEED=<seed> the same."""
    count = 24
    if os.environ.get("CUDAOPS_TEST_LONG", "0") not in ("", "0"):
        count = 10_000 if device == "cpu" else 1_000
    print(f"seed {SEED}, {count} calls")
    source = random.Random(SEED)
    for _ in range(count):
        case = generated(source)
        try:
            check_generated(device, case)
        except Exception:
            print(f"seed {SEED}: {case}")
            raise


if __name__ == "__main__":
    main(globals())

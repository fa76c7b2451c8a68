# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.attention and attention_varlen against float64 arithmetic that stores all scores."""

import contextlib
import itertools
import math
import pickle

from kernel_testing import DTYPES, generated_calls, kernels, looking_at_numbers, main, normal, opcheck, ops, refusal
from kernel_testing import pytest_generate_tests  # noqa: F401

import torch
from torch.utils._python_dispatch import TorchDispatchMode


INFINITY = float("inf")


class Watch(TorchDispatchMode):
    """The names of ops that are called."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func).split(".")[1].lstrip("_"))
        return func(*args, **(kwargs or {}))


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


def products(factor, words):
    """The upper and the lower 32 bits, by halves: no number is beyond 50 bits."""
    lower, upper = factor * (words & 0xFFFF), factor * (words >> 16)
    lower = lower + ((upper & 0xFFFF) << 16)
    return (upper >> 16) + (lower >> 32), lower & 0xFFFFFFFF


def philox(seed, words):
    """Philox4x32-10 of four words of a counter."""
    key = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        high_0, low_0 = products(0xD2511F53, words[0])
        high_1, low_1 = products(0xCD9E8D57, words[2])
        words = [high_1 ^ words[1] ^ key[0], low_1, high_0 ^ words[3] ^ key[1], low_0]
        key = [key[0] + 0x9E3779B9 & 0xFFFFFFFF, key[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return words


def kept(seed, dropout_p, shape, device="cpu"):
    """What weights [batch, heads, seq_q, seq_k] are multiplied with, by the rule of
    kernels/attention/attention_dropout.h."""
    b, h, i, j = torch.meshgrid(*(torch.arange(size, device=device) for size in shape), indexing="ij")
    words = philox(seed, [i // 16 * 8 + i % 8, j // 16 * 4 + j % 8 // 2, h, b])
    word = torch.zeros_like(b)
    for index in range(4):
        word = torch.where((i & 8) // 4 + (j & 8) // 8 == index, words[index], word)
    bits = torch.where(j % 2 == 0, word & 0xFFFF, word >> 16)
    steps = round(dropout_p * 65536)
    return torch.where(bits < steps, 0.0, 65536 / max(65536 - steps, 1)).double()


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
    dropout_p=0.0,
    seed=None,
    dtype=torch.float64,
    rounded=lambda weights: weights,
):
    """Output and lse. dtype: of the arithmetic between all steps. rounded: what weights become."""
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
    weights = torch.exp(scores - lse.masked_fill(lse == -INFINITY, 0)[..., None])[..., :seq_k]
    if dropout_p:
        weights = weights * kept(seed, dropout_p, weights.shape, q.device).to(dtype)
    return (rounded(weights) @ v).transpose(1, 2), lse


def tensors(device, dtype, batch=2, seq_q=40, seq_k=72, heads=2, kv_heads=1, head_dim=32, head_dim_v=None, seed=0):
    head_dim_v = head_dim if head_dim_v is None else head_dim_v
    q = normal(batch, seq_q, heads, head_dim, dtype=dtype, device=device, seed=seed)
    k = normal(batch, seq_k, kv_heads, head_dim, dtype=dtype, device=device, seed=seed + 1)
    v = normal(batch, seq_k, kv_heads, head_dim_v, dtype=dtype, device=device, seed=seed + 2)
    return q, k, v


def largest(x):
    return x.abs().max().item() if x.numel() else 0.0


def assert_as_exact(found, exact, plain, case, times=2, more=0.0):
    """FlashAttention's own rule: the largest error is at most `times` that of the same arithmetic by
    torch's ops in this dtype, and twice what is lost by storing numbers around 0.3 in it. Some steps
    of float32 more; of few numbers that aren't 0 some of this dtype, as the largest error of few is
    small by chance."""
    assert found.shape == exact.shape, (case, found.shape, exact.shape)
    stored = exact.to(found.dtype)
    allowed = times * largest(plain.double() - exact) + 2 * largest(stored + 0.3 - 0.3 - stored)
    step = torch.finfo(found.dtype).eps if exact.count_nonzero() < 1000 else 0.0
    allowed += more + 1e-6 + (2e-6 + 4 * step) * largest(exact)
    error = largest(found.double() - exact)
    assert error <= allowed, f"{case}: error {error:.3g}, allowed {allowed:.3g}"


def assert_lse(found, exact, case):
    assert found.shape == exact.shape, (case, found.shape, exact.shape)
    torch.testing.assert_close(
        found.double(), exact, rtol=1e-5, atol=1e-5, msg=lambda text: f"{case}: {text}"
    )


NAMES = ("q", "k", "v", "bias", "sinks")


def lies_as(q, output):
    """In the order of q's memory; where q is broadcast, of its heads and its sequence."""
    order = [0, 1, 2]
    if min(q.stride()[:3]) > 0:
        order.sort(key=lambda dim: -q.stride(dim))
    elif q.stride(2) > q.stride(1):
        order = [0, 2, 1]
    return output.permute(*order, 3).is_contiguous()


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
            assert output.dtype == dtype
            assert lies_as(q, output)
        else:
            rest.pop("deterministic", None)
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
        # What a weight is multiplied with is a difference: of products of its output's gradient with v
        # and with the output, which was stored in this dtype. It is summed up where there is one bias
        # or sink for many.
        terms = {"sinks": lse.numel() / lse.shape[1], "bias": k.shape[1] * lse.numel() / grad.numel()}
        wide = max(1.0, v.shape[-1] / 32)  # of few keys each element of an output is around 1
        terms = {key: count * wide for key, count in terms.items()}
        few = v.shape[-1] / 8 if grad.numel() < 1000 else 0
        of_stored = torch.finfo(dtype).eps * math.sqrt(terms.get(name, few)) / 2
        # A key that is one of few gets such a difference of each query whole.
        of_key = max(1.0, lse.numel() * k.shape[-1] / max(1, k.numel()) / max(1, k.shape[1])) if name == "k" else 1
        of_products = torch.finfo(torch.float32).eps * math.sqrt(16 * terms.get(name, of_key) * v.shape[-1])
        # Dropout multiplies what is left of both.
        more = (of_stored + of_products) / (1 - options.get("dropout_p", 0.0))
        # torch's own has NaN where a softcap meets a row that sees nothing.
        plain_grad = plain_grads[name].nan_to_num()
        assert_as_exact(grad, exact_grads[name], plain_grad, f"{case} grad {name}", 3, more)


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


def test_expanded_tensors_have_the_bits_of_copies(device):
    """Keys that a batch or its heads share, and the gradient of a sum over queries."""
    for dtype in DTYPES:
        for shape in ((1, 90, 2, 64), (3, 90, 1, 64), (1, 90, 1, 64), (3, 1, 2, 64)):
            k, v = (normal(*shape, dtype=dtype, device=device, seed=seed).expand(3, 90, 2, 64) for seed in (1, 2))
            q = normal(1, 70, 4, 64, dtype=dtype, device=device, seed=3).expand(3, 70, 4, 64)
            grad = normal(3, 1, 4, 64, dtype=dtype, device=device, seed=4).expand(3, 70, 4, 64)
            results = []
            for tensors_of_call in ((q, k, v, grad), [x.contiguous() for x in (q, k, v, grad)]):
                own = [x.detach().requires_grad_() for x in tensors_of_call[:3]]
                output = kernels.attention(*own, causal=True, deterministic=True)
                results.append((output, *torch.autograd.grad(output, own, tensors_of_call[3])))
            for found, wanted in zip(*results):
                assert torch.equal(found, wanted), (dtype, shape)


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
        # Keys from 384 on are in tiles of their own (of 64, 128 or 192), which no tile of the first 384
        # queries sees.
        q, k, v = tensors(device, dtype, seq_q=768, seq_k=768)
        wanted = kernels.attention(q, k, v, causal=True)
        k[:, 384:], v[:, 384:] = float("nan"), INFINITY
        output = kernels.attention(q, k, v, causal=True)
        assert torch.equal(output[:, :384], wanted[:, :384])
        assert output[:, 384:].isnan().all()


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
        "dropout_p": source.choice((0.0, 0.0, 0.0, 0.1, 0.5)),
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
    if case["dropout_p"]:
        options.update(dropout_p=case["dropout_p"], seed=seed)
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


# 12 ms each on the CPU.
GENERATED = generated_calls(generated, check_generated, few=200, many=1_000, long=10_000)


def test_generated_calls(device):
    """Of all kinds."""
    GENERATED(device)


def generated_sequences(source):
    """A call of sequences of different lengths, without what makes them depend on their number."""
    lengths = [[source.choice((0, 1, 5, 63, 64, 65, 130)) for _ in range(source.randrange(1, 6))]]
    lengths.append([source.choice((own, own, 0, 7, 100)) for own in lengths[0]])
    kv_heads, group = source.choice(((1, 1), (2, 1), (1, 4)))
    head_dim = source.choice((8, 13, 32, 64, 80, 128, 256))
    return {
        "dtype": source.choice(DTYPES),
        "lengths": lengths,
        "heads": (kv_heads * group, kv_heads),
        "widths": (head_dim, source.choice((head_dim, 24))),
        "options": {
            "causal": source.random() < 0.4,
            "window": source.choice(((-1, -1), (source.randrange(80), source.randrange(80)))),
            "softcap": source.choice((0.0, 0.0, 4.0)),
        },
        "larger": source.choice((0, 0, 100)),
        "seed": source.randrange(10**6),
    }


def check_generated_sequences(device, case):
    """Each sequence has the bits that it has alone; by the kernels for sm_90a, which may choose other
    tiles for other bounds, nearly."""

    def same(a, b):
        if not has_hopper_kernel(dtype, device):
            return torch.equal(a, b)
        step = 8 * torch.finfo(dtype).eps
        return torch.allclose(a.float(), b.float(), rtol=step, atol=step * max(1.0, largest(b)))

    dtype, seed, (heads, kv_heads) = case["dtype"], case["seed"], case["heads"]
    offsets = [
        torch.tensor((0, *lengths), dtype=torch.int32).cumsum(0, dtype=torch.int32).to(device)
        for lengths in case["lengths"]
    ]
    ends = [x.tolist() for x in offsets]
    sizes = [(0, heads, case["widths"][0]), (1, kv_heads, case["widths"][0]), (1, kv_heads, case["widths"][1])]
    q, k, v = (
        normal(ends[which][-1], count, width, dtype=dtype, device=device, seed=seed + index).requires_grad_()
        for index, (which, count, width) in enumerate(sizes)
    )
    bounds = [max(lengths) + case["larger"] for lengths in case["lengths"]]
    output, lse = kernels.attention_varlen(q, k, v, *offsets, *bounds, **case["options"], return_lse=True)
    grad = normal(*output.shape, dtype=dtype, device=device, seed=seed + 3)
    grads = torch.autograd.grad(output, (q, k, v), grad)
    for i in range(len(case["lengths"][0])):
        rows = [slice(ends[which][i], ends[which][i + 1]) for which in (0, 1, 1)]
        own = [x[None, part].detach().requires_grad_() for x, part in zip((q, k, v), rows)]
        wanted, wanted_lse = kernels.attention(*own, **case["options"], return_lse=True)
        assert same(output[rows[0]], wanted[0]) and same(lse[:, rows[0]], wanted_lse[0])
        wanted_grads = torch.autograd.grad(wanted, own, grad[None, rows[0]])
        for part, found, expected in zip(rows, grads, wanted_grads):
            assert same(found[part], expected[0])


GENERATED_SEQUENCES = generated_calls(
    generated_sequences, check_generated_sequences, few=60, many=300, long=3_000
)


def test_generated_sequences(device):
    GENERATED_SEQUENCES(device)


def is_forward_of_hopper(name):
    return "attention_sm90_kernel" in name or "attention_sm90_one_tile_kernel" in name


def has_hopper_kernel(dtype, device):
    """Whether attention has the kernels of attention_sm90.cuh and attention_sm90_one_tile.cu for most calls."""
    return device == "cuda" and dtype.itemsize == 2 and torch.cuda.get_device_capability() == (9, 0)


def takes_few_queries(q, k, v):
    """Whether attention_decode's kernels have the forward pass, where there are tensor cores."""
    rows = q.shape[1] * q.shape[2] // k.shape[2]
    return q.shape[1] <= 8 and rows <= 32 and k.shape[1] > 128 and q.shape[3] == v.shape[3]


def few_queries_calls(device):
    """Sizes and options: parts of many lengths, tiles of queries, each mask. On the CPU keys aren't divided."""
    sizes = [(1, 77, 6, 2, 40), (5, 90, 4, 2, 32), (7, 3, 4, 2, 64)]
    if device == "cuda":
        sizes += [(1, 1, 4, 4, 64), (1, 700, 4, 1, 40), (2, 600, 2, 2, 256), (5, 1025, 8, 2, 96), (8, 700, 16, 4, 128)]
        sizes += [(1, 5000, 4, 1, 128), (8, 4100, 32, 32, 64), (2, 9000, 4, 4, 256), (1, 40000, 4, 2, 64)]
    masks = ({}, {"causal": True}, {"window": (300, 0)}, {"window": (20, 3)}, {"window": (-1, 2)})
    for seq_q, seq_k, heads, kv_heads, head_dim in sizes:
        for mask in masks if seq_q > 1 else masks[:3]:
            yield (3, seq_q, seq_k, heads, kv_heads, head_dim), mask
    more = 10 if device == "cuda" else 1
    yield (3, 1, 70 * more, 4, 2, 64), {"softcap": 5.0, "scale": 0.3}
    yield (3, 3, 70 * more, 4, 2, 64), {"sinks": True, "window": (40 * more, 0)}
    yield (3, 1, 20, 4, 2, 64), {"sinks": True, "scale": -0.1}


def made(device, index, sizes, options, every):
    """The dtype, tensors and options of a list's call; every so-manieth has heads before tokens in memory."""
    dtype = (torch.bfloat16, torch.float16)[index % 2]
    x = tensors(device, dtype, *sizes, seed=index)
    if index % every == 0:
        x = [one.transpose(1, 2).contiguous().transpose(1, 2) for one in x]
    options = dict(options)
    if "sinks" in options:
        options["sinks"] = normal(sizes[3], dtype=torch.float32, device=device, seed=6)
    return dtype, x, options


def kernels_of(device):
    """A profile of what runs on a GPU; nothing elsewhere."""
    if device != "cuda":
        return contextlib.nullcontext()
    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])


def test_few_queries(device):
    """Keys are divided, alike in each batch: a sequence alone has the bits that it has beside others, whether its
    parts have a block each, some of them one, or all."""
    calls = few = 0
    with kernels_of(device) as profile:
        for index, (sizes, options) in enumerate(few_queries_calls(device)):
            dtype, (q, k, v), options = made(device, index, sizes, options, 4)
            check((dtype, sizes, options), q, k, v, 3 if "softcap" in options else 2, **options)
            whole = kernels.attention(q, k, v, **options, return_lse=True)
            alone = kernels.attention(q[1:2], k[1:2], v[1:2], **options, return_lse=True)
            batches = (12, 43) if device == "cuda" else (2,)
            for times in batches:
                many = [x.repeat(times, 1, 1, 1) for x in (q, k, v)]
                many = kernels.attention(*many, **options, return_lse=True)
                for a, b, c in zip(whole, alone, many):
                    same = torch.equal(a[1:2], b) and torch.equal(a.repeat(times, *[1] * (a.dim() - 1)), c)
                    assert same, (dtype, sizes, options, times)
            calls += 3 + len(batches)
            few += (3 + len(batches)) * takes_few_queries(q, k, v)
    if device == "cuda" and torch.version.cuda and torch.cuda.get_device_capability() >= (8, 0):
        names = [event.name for event in profile.events()]
        assert sum("few_kernel" in name for name in names) == few < calls, set(names)


def hopper_calls():
    """A name, sizes and options: each shape of tiles, each mask, lengths that are no whole tiles."""
    masks = ({}, {"causal": True}, {"window": (100, 0)}, {"window": (64, 33)}, {"window": (-1, 20)})
    lengths = ((1, 1), (1, 77), (130, 257), (333, 1111), (700, 350), (513, 513))
    for head_dim, head_dim_v in (
        (64, 64), (40, 40), (72, 80), (96, 96), (128, 128), (104, 128), (192, 128), (192, 192), (256, 256), (64, 256),
    ):  # fmt: skip
        for mask in masks:
            for seq_q, seq_k in lengths:
                yield (2, seq_q, seq_k, 6, 2, head_dim, head_dim_v), mask
        yield (1, 300, 300, 4, 1, head_dim, head_dim_v), {"softcap": 5.0, "causal": True}
        yield (1, 300, 500, 4, 4, head_dim, head_dim_v), {"sinks": True, "scale": 0.3}
        yield (2, 600, 200, 4, 1, head_dim, head_dim_v), {"sinks": True, "causal": True}
        # Tiles of long sequences.
        for mask in masks[:2]:
            yield (1, 1100, 1200, 4, 2, head_dim, head_dim_v), mask
    # More tiles than multiprocessors, rounds and sections of them; long sequences of head_dim 128.
    for head_dim, head_dim_v in ((96, 96), (128, 128), (192, 128), (192, 192), (256, 256)):
        for mask in masks[:2]:
            yield (30, 200, 260, 11, 11, head_dim, head_dim_v), mask
    yield (40, 60, 60, 11, 11, 64, 64), {"causal": True}
    yield (7, 384, 384, 24, 8, 128, 128), {"causal": True}
    yield (5, 2049, 2049, 11, 11, 128, 128), {"causal": True}
    yield (2, 4096, 4096, 3, 3, 128, 128), {}
    yield (1, 4500, 4500, 3, 1, 128, 128), {"window": (1000, 0)}
    # Two tiles of a block at a time.
    yield (3, 1300, 1300, 7, 7, 64, 64), {"causal": True}
    yield (2, 900, 1100, 40, 20, 64, 64), {}
    yield (1, 1, 700, 1, 1, 64, 64), {}


def test_hopper_kernel(device):
    """Against exact arithmetic, and that it is the one which runs."""
    if not has_hopper_kernel(torch.bfloat16, device):
        return
    calls = few = 0
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for index, (sizes, options) in enumerate(hopper_calls()):
            dtype, (q, k, v), options = made(device, index, sizes, options, 3)
            calls += 1
            few += takes_few_queries(q, k, v)
            check((dtype, sizes, options), q, k, v, 3 if "softcap" in options else 2, **options)
    names = [event.name for event in profile.events()]
    assert sum("few_kernel" in name for name in names) == few > 0, set(names)
    assert sum(map(is_forward_of_hopper, names)) == calls - few, set(names)
    assert any("attention_sm90_one_tile_kernel" in name for name in names), set(names)
    assert sum("attention_backward_sm90_kernel" in name for name in names) == calls, set(names)


def test_hopper_kernel_of_the_backward_pass_alone(device):
    """Gradients in a fixed order, and those of calls whose forward pass has another kernel."""
    if not has_hopper_kernel(torch.bfloat16, device):
        return
    calls = 0
    slopes = normal(2, 4, dtype=torch.float32, device=device, seed=5).abs() / 8
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for index, (head_dim, head_dim_v) in enumerate(
            ((64, 64), (96, 80), (128, 128), (192, 128), (192, 192), (256, 256))
        ):
            dtype = (torch.bfloat16, torch.float16)[index % 2]
            q, k, v = tensors(device, dtype, 2, 333, 700, 4, 2, head_dim, head_dim_v, seed=index)
            bias = normal(2, 4, 333, 700, dtype=dtype, device=device, seed=4)
            for options in (
                {"deterministic": True},
                {"deterministic": True, "causal": True, "softcap": 5.0},
                {"deterministic": True, "window": (100, 20)},
                {"alibi_slopes": slopes, "causal": True},
                {"alibi_slopes": slopes[1], "window": (-1, 30), "deterministic": True},
                {"dropout_p": 0.2, "seed": 2**40 + 1},
                {"dropout_p": 0.4, "seed": -7, "window": (90, 10), "softcap": 5.0},
                {"dropout_p": 0.3, "seed": 9, "alibi_slopes": slopes, "causal": True, "deterministic": True},
                {"bias": bias, "causal": True},
                {"bias": bias[:, :1].float(), "window": (90, 10), "dropout_p": 0.2, "seed": 3},
                {"bias": bias[:1, :, :1], "alibi_slopes": slopes, "deterministic": True},
            ):
                calls += 1
                check((dtype, head_dim, head_dim_v, options), q, k, v, 3 if "softcap" in options else 2, **options)
    names = [event.name for event in profile.events()]
    assert sum("attention_backward_sm90_kernel" in name for name in names) == calls, set(names)
    # Blocks of different heads, of more tiles than there are multiprocessors.
    for head_dim, head_dim_v in ((64, 64), (128, 128), (192, 128), (192, 192)):
        leaves = [x.requires_grad_() for x in tensors(device, torch.bfloat16, 3, 1500, 1600, 12, 4, head_dim, head_dim_v)]
        for options in ({}, {"causal": True}, {"window": (300, 100)}):
            output = kernels.attention(*leaves, **options, deterministic=True)
            grad = normal(*output.shape, dtype=torch.bfloat16, device=device, seed=8)
            wanted = torch.autograd.grad(output, leaves, grad, retain_graph=True)
            for _ in range(3):
                found = torch.autograd.grad(output, leaves, grad, retain_graph=True)
                assert all(torch.equal(a, b) for a, b in zip(found, wanted)), (head_dim, options)


def test_hopper_kernel_of_different_lengths(device):
    """What a sequence's last tiles read of the next one reaches nothing, a NaN neither."""
    if not has_hopper_kernel(torch.bfloat16, device):
        return
    for longest in (2500, 1000, 128, 64):  # tiles of long sequences, of short ones, and sequences of one tile
        check_different_lengths(device, longest)


def check_different_lengths(device, longest):
    lengths = ((40, 72), (0, 5), (1300, 2000), (1, 1), (65, 130), (7, 0), (700, 333), (2500, 2500))
    lengths = [(min(seq_q, longest), min(seq_k, longest)) for seq_q, seq_k in lengths]
    offsets = [
        torch.tensor((0, *lengths_of), dtype=torch.int32).cumsum(0, dtype=torch.int32).to(device)
        for lengths_of in zip(*lengths)
    ]
    ends = [x.tolist() for x in offsets]
    names = []
    for head_dim, head_dim_v in ((64, 64), (96, 96), (128, 128), (192, 128), (192, 192), (256, 256)):
        for options in ({}, {"causal": True}, {"window": (100, 20)}):
            dtype = (torch.bfloat16, torch.float16)[head_dim == 128]
            q, k, v, grad = (
                normal(ends[which][-1], heads, size, dtype=dtype, device=device, seed=seed)
                for seed, (which, heads, size) in enumerate(
                    ((0, 4, head_dim), (1, 2, head_dim), (1, 2, head_dim_v), (0, 4, head_dim_v))
                )
            )
            for some in (None, 4, 2, 6):
                if some is not None:  # another one's
                    for tensor, which in ((k, 1), (v, 1), (grad, 0)):
                        tensor[ends[which][some] : ends[which][some + 1]] = float("nan")
                with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
                    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
                    output, lse = kernels.attention_varlen(*leaves, *offsets, longest, longest, **options, return_lse=True)
                    found = torch.autograd.grad(output, leaves, grad)
                names += [event.name for event in profile.events()]
                for i in range(len(lengths)):
                    rows_q, rows_k = slice(*ends[0][i : i + 2]), slice(*ends[1][i : i + 2])
                    rows = (rows_q, rows_k, rows_k)
                    own = [x[None, range_].requires_grad_() for x, range_ in zip((q, k, v), rows)]
                    if 0 in lengths[i]:
                        assert all((x[range_] == 0).all() for x, range_ in zip(found, rows))
                        continue
                    if own[1].isnan().any():
                        continue
                    exact, exact_lse = reference(*own, **options)
                    plain, _ = reference(*own, **options, dtype=dtype)
                    case = (dtype, head_dim, options, i, some)
                    assert_as_exact(output[None, rows_q], exact, plain, case)
                    assert_lse(lse[None, :, rows_q], exact_lse, case)
                    exact_grads, plain_grads = (
                        torch.autograd.grad(x, own, grad[None, rows_q].to(x.dtype)) for x in (exact, plain)
                    )
                    for name, range_, a, b, c in zip(NAMES, rows, found, exact_grads, plain_grads):
                        assert_as_exact(a[None, range_], b.double(), c.nan_to_num(), (*case, f"grad {name}"), 3, 1e-4)
    assert sum(map(is_forward_of_hopper, names)) == 6 * 3 * 4, set(names)
    assert sum("attention_backward_sm90_kernel" in name for name in names) == 6 * 3 * 4, set(names)


def test_hopper_kernel_in_every_order_of_tiles(device):
    """The order depends on how many sequences and heads there are, and no result on the order."""
    if not has_hopper_kernel(torch.bfloat16, device):
        return
    for head_dim, options in ((128, {"causal": True}), (64, {"window": (300, 0)}), (256, {"causal": True})):
        q, k, v = tensors(device, torch.bfloat16, 87, 400, 400, 3, 3, head_dim)
        whole = kernels.attention(q, k, v, **options)
        for rows in (slice(0, 1), slice(40, 45), slice(86, 87)):
            assert torch.equal(kernels.attention(q[rows], k[rows], v[rows], **options), whole[rows]), (head_dim, rows)
        for count in (200, 300):  # up to 256 sequences are sorted
            lengths = torch.arange(count, dtype=torch.int32) * 37 % 151
            offsets = torch.cat((torch.zeros(1, dtype=torch.int32), lengths)).cumsum(0, dtype=torch.int32)
            ends = offsets.tolist()
            q, k, v = (normal(ends[-1], 3, head_dim, dtype=torch.bfloat16, device=device, seed=i) for i in range(3))
            offsets = offsets.to(device)
            output = kernels.attention_varlen(q, k, v, offsets, offsets, 151, 151, **options)
            for i in (0, 1, 4, 57, 102, count - 1):
                # Beside one of 151 tokens: how long the longest can be decides which tiles there are.
                length = ends[i + 1] - ends[i]
                two = [torch.cat((x[ends[i] : ends[i + 1]], x[:151])) for x in (q, k, v)]
                of_two = torch.tensor((0, length, length + 151), dtype=torch.int32, device=device)
                own = kernels.attention_varlen(*two, of_two, of_two, 151, 151, **options)[:length]
                assert torch.equal(output[ends[i] : ends[i + 1]], own), (head_dim, count, i)


def test_hopper_kernel_adds_slopes_and_bias(device):
    """The kernel for sm_90a adds them: a bias of q's dtype comes through shared memory, where rows aren't aligned from a copy."""
    if not has_hopper_kernel(torch.bfloat16, device):
        return
    for index, (head_dim, head_dim_v, seq_q, seq_k) in enumerate(
        ((64, 64, 200, 330), (40, 64, 300, 304), (96, 80, 65, 200), (128, 128, 333, 410), (128, 128, 2100, 200),
         (192, 128, 130, 264), (192, 192, 100, 90), (256, 256, 140, 296))
    ):  # fmt: skip
        dtype = (torch.bfloat16, torch.float16)[index % 2]
        q, k, v = tensors(device, dtype, 2, seq_q, seq_k, 4, 2, head_dim, head_dim_v, seed=index)
        slopes = normal(2, 4, dtype=torch.float32, device=device, seed=5).abs() / 8
        cases = []
        for shape in ((2, 4, seq_q, seq_k), (1, 4, 1, seq_k), (2, 1, seq_q, seq_k)):
            for kind in (dtype, torch.float32):
                cases.append({"bias": normal(*shape, dtype=kind, device=device, seed=4)})
        cases += [{"alibi_slopes": slopes}, {"alibi_slopes": slopes[1], "causal": True}]
        cases += [{"bias": cases[0]["bias"], "alibi_slopes": slopes, "softcap": 5.0, "window": (90, 7)}]
        masked = torch.where(cases[0]["bias"] < 1, cases[0]["bias"], -torch.inf)  # as a bool mask becomes
        masked[..., 0] = 0
        cases += [{"bias": masked, "causal": seq_q <= seq_k}, {"bias": masked[:1], "window": (200, 100)}]
        heads_last = normal(1, seq_q, seq_k, 4, dtype=dtype, device=device, seed=5).permute(0, 3, 1, 2)
        cases += [{"bias": heads_last}, {"bias": heads_last[:, 1:2].expand(2, 4, -1, -1), "causal": True}]
        cases += [{"bias": normal(1, 1, seq_q, seq_k + 1, dtype=dtype, device=device)[..., 1:]}]
        cases += [{"dropout_p": 0.3, "seed": 7}, {"dropout_p": 0.1, "seed": -(2**50), "causal": True}]
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            for options in cases:
                check((dtype, head_dim, seq_q, options.keys()), q, k, v, 3 if "softcap" in options else 2, **options)
        names = [event.name for event in profile.events()]
        assert any("attention_sm90_kernel" in name for name in names), set(names)
        assert not any("attention_mma_kernel" in name for name in names), set(names)
        for of_bias in ("WithBias<", "WithBiasOfKeys<"):
            assert any(of_bias in name for name in names), (of_bias, set(names))


def test_hopper_kernel_of_few_and_many_long_sequences(device):
    """A long sequence alone has smaller tiles than many of its length; those are as in a batch."""
    if not has_hopper_kernel(torch.bfloat16, device):
        return
    for lengths, warpgroups in (((2100, 40, 3), 2), ((2100,) * 4, 3)):
        offsets = torch.tensor((0, *lengths), dtype=torch.int32).cumsum(0, dtype=torch.int32).to(device)
        q, k, v = (normal(sum(lengths), 1, 128, dtype=torch.bfloat16, device=device, seed=i) for i in range(3))
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            output = kernels.attention_varlen(q, k, v, offsets, offsets, 2100, 2100)
        names = [event.name for event in profile.events() if "attention_sm90_kernel" in event.name]
        assert len(names) == 1 and f"Shape<128, 128, {warpgroups}, " in names[0], names
        own = kernels.attention(*(x[None, :2100] for x in (q, k, v)))[0]
        if warpgroups == 3:
            assert torch.equal(output[:2100], own)
        else:
            assert torch.allclose(output[:2100].float(), own.float(), rtol=1e-2, atol=1e-3)


# Sequences of a batch, with one that is empty and one that has more queries than keys.
LENGTHS = ((40, 72), (0, 5), (130, 64), (1, 1), (65, 130), (7, 0))


def joined(device, dtype, heads=4, kv_heads=2, head_dim=24, head_dim_v=24):
    """q, k, v and both offsets."""
    lengths_q, lengths_k = zip(*LENGTHS)
    offsets = [
        torch.tensor((0, *lengths), dtype=torch.int32).cumsum(0, dtype=torch.int32).to(device)
        for lengths in (lengths_q, lengths_k)
    ]
    q = normal(sum(lengths_q), heads, head_dim, dtype=dtype, device=device)
    k = normal(sum(lengths_k), kv_heads, head_dim, dtype=dtype, device=device, seed=1)
    v = normal(sum(lengths_k), kv_heads, head_dim_v, dtype=dtype, device=device, seed=2)
    return q, k, v, *offsets


def test_varlen_is_attention_of_each_sequence(device):
    """Bit by bit, but for sm_90a's kernels, whose tiles are chosen by the longest sequence."""

    def require_same(found, wanted, case):
        if not has_hopper_kernel(dtype, device):
            assert torch.equal(found, wanted), case
            return
        most = 4 * torch.finfo(found.dtype).eps if found.dtype == dtype else 2e-5
        torch.testing.assert_close(found, wanted, rtol=most, atol=most, msg=lambda text: f"{case}: {text}")

    for dtype in DTYPES:
        for options in (
            {},
            {"causal": True},
            {"window": (20, 10), "softcap": 5.0},
            {"causal": True, "sinks": True, "alibi_slopes": True},
        ):
            options = dict(options)
            q, k, v, offsets_q, offsets_k = joined(device, dtype)
            if "sinks" in options:
                options["sinks"] = normal(4, dtype=torch.float32, device=device).requires_grad_()
                slopes = normal(6, 4, dtype=torch.float32, device=device, seed=3).abs()
                options["alibi_slopes"] = slopes
            leaves = [x.requires_grad_() for x in (q, k, v)]
            if "sinks" in options:
                leaves.append(options["sinks"])
            output, lse = kernels.attention_varlen(
                q, k, v, offsets_q, offsets_k, 130, 130, **options, return_lse=True
            )
            parts, lses = [], []
            for index in range(len(LENGTHS)):
                own = dict(options)
                if "alibi_slopes" in own:
                    own["alibi_slopes"] = own["alibi_slopes"][index]
                rows_q = slice(offsets_q[index], offsets_q[index + 1])
                rows_k = slice(offsets_k[index], offsets_k[index + 1])
                part, part_lse = kernels.attention(
                    q[None, rows_q], k[None, rows_k], v[None, rows_k], **own, return_lse=True
                )
                parts.append(part[0])
                lses.append(part_lse[0])
            wanted, wanted_lse = torch.cat(parts), torch.cat(lses, -1)
            require_same(output, wanted, (dtype, options))
            require_same(lse, wanted_lse, (dtype, options))
            grad = normal(*output.shape, dtype=dtype, device=device, seed=5)
            weights = normal(*lse.shape, dtype=torch.float32, device=device, seed=6)

            def total(output, lse):
                seen = torch.where(lse.isfinite(), lse, 0.0) * weights
                return (output * grad).float().sum() + seen.sum()

            found = torch.autograd.grad(total(output, lse), leaves)
            expected = torch.autograd.grad(total(wanted, wanted_lse), leaves)
            for a, b, leaf in zip(found, expected, "qkvs"):
                if leaf == "s":  # a sum over the sequences, in another order
                    torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
                else:
                    require_same(a, b, (dtype, options, leaf))


def doubles(*shape, seed):
    return normal(*shape, dtype=torch.float64, device="cpu", seed=seed).requires_grad_()


def test_gradients_agree_with_finite_differences(device):
    """In float64, which the CPU's kernels have; GPUs' are compared with exact gradients above."""
    q, k, v = doubles(2, 3, 4, 5, seed=1), doubles(2, 4, 2, 5, seed=2), doubles(2, 4, 2, 6, seed=3)
    bias, sinks = doubles(1, 4, 3, 4, seed=4), doubles(4, seed=5)
    slopes = torch.rand(4)

    def run(q, k, v, bias, sinks):
        return kernels.attention(
            q,
            k,
            v,
            bias=bias,
            sinks=sinks,
            alibi_slopes=slopes,
            softcap=2.0,
            window=(2, 1),
            return_lse=True,
            **options,
        )

    options = {}
    inputs = (q, k, v, bias, sinks)
    assert torch.autograd.gradcheck(run, inputs, check_forward_ad=True)
    output, lse = run(*(x.detach() for x in inputs))
    assert output.dtype == lse.dtype == torch.float64
    wanted, wanted_lse = reference(
        q, k, v, bias=bias, sinks=sinks, alibi_slopes=slopes, softcap=2.0, window=(2, 1)
    )
    torch.testing.assert_close(output, wanted.detach(), rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(lse, wanted_lse.detach(), rtol=1e-12, atol=1e-14)
    options = {"dropout_p": 0.3, "seed": 3}
    assert torch.autograd.gradcheck(run, inputs, check_forward_ad=True)
    offsets_q = torch.tensor([0, 2, 6], dtype=torch.int32)
    offsets_k = torch.tensor([0, 5, 8], dtype=torch.int32)
    q, k, v = doubles(6, 2, 5, seed=6), doubles(8, 1, 5, seed=7), doubles(8, 1, 3, seed=8)

    def run_varlen(q, k, v, sinks):
        return kernels.attention_varlen(
            q, k, v, offsets_q, offsets_k, 4, 5, sinks=sinks, causal=True, return_lse=True, **options
        )

    sinks = doubles(2, seed=9)
    assert torch.autograd.gradcheck(run_varlen, (q, k, v, sinks), check_forward_ad=True)


def test_dropout_drops_what_its_rule_says(device):
    """On all devices and by all kernels: of any types, alignments, widths and windows."""
    ones = [2**32 - 1] * 4
    assert philox(2**64 - 1, ones) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    for dtype in DTYPES:
        for head_dim, head_dim_v in ((64, 64), (128, 128), (192, 256), (40, 33)):
            q, k, v = tensors(device, dtype, 2, 70, 200, head_dim=head_dim, head_dim_v=head_dim_v)
            for options in ({}, {"causal": True}, {"window": (37, 5)}):
                check((dtype, head_dim, options), q, k, v, dropout_p=0.3, seed=5, **options)
        bias = normal(1, 2, 70, 200, dtype=dtype, device=device, seed=7)
        sinks = normal(2, dtype=torch.float32, device=device, seed=6) + 2
        everything = {"bias": bias, "sinks": sinks, "softcap": 4.0, "window": (21, 100)}
        check((dtype, "all"), q, k, v, dropout_p=0.5, seed=-(2**62) - 3, times=3, **everything)
        check((dtype, "scale"), q, k, v, dropout_p=0.5, seed=2**40, scale=-0.2)


def test_dropout_of_different_lengths(device):
    """Sequences are numbered as those of a batch; a window begins tiles anywhere."""
    for dtype in DTYPES[::2]:
        for window in ((-1, -1), (37, 5)):
            q, k, v = (x.requires_grad_() for x in tensors(device, dtype, 3, 90, 150, 4, 2, 32))
            options = {"window": window, "dropout_p": 0.25, "seed": 11, "deterministic": True}
            offsets = [torch.arange(4, dtype=torch.int32, device=device) * size for size in (90, 150)]
            whole = kernels.attention(q, k, v, **options)
            joined = kernels.attention_varlen(
                q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1), *offsets, 90, 150, **options
            )
            assert torch.equal(whole.flatten(0, 1), joined)
            grad = normal(*whole.shape, dtype=dtype, device=device, seed=5)
            for a, b in zip(
                torch.autograd.grad(whole, (q, k, v), grad),
                torch.autograd.grad(joined, (q, k, v), grad.flatten(0, 1)),
            ):
                assert torch.equal(a, b)


def test_dropout_draws_seeds_from_torch(device):
    q, k, v = tensors(device, torch.float32, seq_q=64, seq_k=64)

    def run(**options):
        return kernels.attention(q, k, v, dropout_p=0.5, **options)

    torch.manual_seed(3)
    first, second = run(), run()
    torch.manual_seed(3)
    assert torch.equal(run(), first) and torch.equal(run(), second)
    assert not torch.equal(first, second)
    number = torch.tensor([7], device=device)
    assert torch.equal(run(seed=7), run(seed=number)) and not torch.equal(run(seed=7), run(seed=8))
    ones = torch.ones_like(v)
    for dropout_p in (0.1, 0.5, 0.9):
        means = kernels.attention(0 * q, k, ones, dropout_p=dropout_p, seed=1)
        # Of 2 * 2 * 64 * 64 weights; six standard deviations.
        share = means[..., 0].mean().item() * (1 - dropout_p)
        assert abs(share - (1 - dropout_p)) < 6 * math.sqrt(dropout_p * (1 - dropout_p) / 16384)
    plain, plain_lse = kernels.attention(q, k, v, return_lse=True)
    output, lse = kernels.attention(q, k, v, dropout_p=1.0, return_lse=True)
    assert (output == 0).all() and torch.equal(lse, plain_lse)
    for dropout_p in (0, 0.0, 1e-9):
        assert torch.equal(kernels.attention(q, k, v, dropout_p=dropout_p), plain)


def is_linear_in_v(run, v):
    """Whether the gradient by v is that of the weights which the forward pass had: then output * grad
    and grad_v * v have one sum."""
    v = v.detach().requires_grad_()
    output = run(v)
    grad = normal(*output.shape, dtype=v.dtype, device=v.device, seed=8)
    (grad_v,) = torch.autograd.grad(output, v, grad)
    torch.testing.assert_close((output * grad).sum(), (grad_v * v).sum(), rtol=1e-4, atol=1e-3)
    return output.detach()


def test_dropout_under_compile_checkpoint_and_graphs(device):
    from torch.utils.checkpoint import checkpoint

    q, k, v = tensors(device, torch.float32, seq_q=64, seq_k=64)

    def run(v):
        return kernels.attention(q, k, v, causal=True, dropout_p=0.5)

    eager = [is_linear_in_v(run, v) for _ in range(2)]
    assert not torch.equal(*eager)
    compiled = torch.compile(run, fullgraph=True, backend="aot_eager")
    for function in (compiled, lambda v: checkpoint(run, v, use_reentrant=False)):
        torch.manual_seed(4)
        first, second = is_linear_in_v(function, v), is_linear_in_v(function, v)
        torch.manual_seed(4)
        assert torch.equal(is_linear_in_v(function, v), first) and not torch.equal(first, second)
    if device == "cpu":
        return
    graph, given = torch.cuda.CUDAGraph(), torch.tensor(1, device=device)
    run(v)
    with torch.cuda.graph(graph):
        drawn = run(v)
        known = kernels.attention(q, k, v, causal=True, dropout_p=0.5, seed=given)
    graph.replay()
    first = drawn.clone(), known.clone()
    graph.replay()
    assert not torch.equal(drawn, first[0]) and torch.equal(known, first[1])
    given.fill_(2)
    graph.replay()
    assert torch.equal(known, kernels.attention(q, k, v, causal=True, dropout_p=0.5, seed=2))


def test_dropout_under_transforms(device):
    q, k, v = (x[None] for x in tensors(device, torch.float32, seq_q=20, seq_k=30, batch=3)[:3])
    q, k, v = (x.movedim(1, 0).contiguous() for x in (q, k, v))  # three members of one sequence

    def run(q, k, v, seed=None):
        return kernels.attention(q, k, v, dropout_p=0.5, seed=seed)

    def of_each(seeds):
        return torch.stack([run(*member, seed=seed) for *member, seed in zip(q, k, v, seeds)])

    assert torch.equal(torch.vmap(lambda q, k, v: run(q, k, v, 5))(q, k, v), of_each((5, 5, 5)))
    seeds = torch.tensor([5, 6, 7], device=device)
    assert torch.equal(torch.vmap(run)(q, k, v, seeds), of_each(seeds.unbind()))
    same = torch.vmap(lambda q: run(q, k[0], v[0]), randomness="same")(q[:1].expand_as(q))
    assert torch.equal(same[0], same[1])
    different = torch.vmap(lambda q: run(q, k[0], v[0]), randomness="different")(q[:1].expand_as(q))
    assert not torch.equal(different[0], different[1])
    assert "randomness" in refusal(lambda: torch.vmap(run)(q, k, v))
    # Forward mode has the same weights as the op, whose output is linear in v.
    output, tangent = torch.func.jvp(lambda v: run(q[0], k[0], v, 5), (v[0],), (v[0],))
    torch.testing.assert_close(tangent, output, rtol=1e-5, atol=1e-5)


def test_same_bits_each_run(device):
    q, k, v = tensors(device, torch.bfloat16, seq_q=200, seq_k=300, heads=4, kv_heads=2)
    q.requires_grad_(), k.requires_grad_(), v.requires_grad_()

    def run(**options):
        output = kernels.attention(q, k, v, causal=True, **options)
        return output, *torch.autograd.grad(output.float().square().sum(), (q, k, v))

    def same(a, b):
        return [torch.equal(x, y) for x, y in zip(a, b)]

    wanted = run(deterministic=True)
    assert all(same(run(deterministic=True), wanted))
    torch.use_deterministic_algorithms(True)
    try:
        assert all(same(run(), wanted))
    finally:
        torch.use_deterministic_algorithms(False)
    # The gradient by q is a sum in any order where a kernel for sm_90a is.
    any_order = has_hopper_kernel(torch.bfloat16, device)
    found = same(run(), run())
    assert all(found[:1] + found[2:]) and (found[1] or any_order)


def test_a_sequence_does_not_depend_on_the_others(device):
    for dtype in DTYPES:
        q, k, v = tensors(device, dtype, batch=5, seq_q=70, seq_k=70)
        whole = kernels.attention(q, k, v, causal=True)
        for rows in (slice(0, 1), slice(2, 5)):
            part = kernels.attention(q[rows], k[rows], v[rows], causal=True)
            assert torch.equal(part, whole[rows])


def test_refuses_in_one_sentence(device):
    def zeros(*shape, dtype=torch.float32):
        return torch.zeros(shape, dtype=dtype, device=device)

    q, k = zeros(2, 5, 4, 8), zeros(2, 7, 2, 8)
    offsets = torch.tensor([0, 4, 10], dtype=torch.int32, device=device)
    tokens = zeros(10, 4, 8)
    for call, sentence in (
        (
            lambda: ops.attention(q.int(), k, k),
            "attention: wanted float32 (Float), float16 (Half), bfloat16 (BFloat16) or, on the CPU, "
            "float64 (Double) for q, found Int.",
        ),
        (
            lambda: ops.attention(q, k.half(), k),
            "attention: wanted one dtype for q, k and v, found Float, Half and Float.",
        ),
        (
            lambda: ops.attention(q[0], k, k),
            "attention: wanted [batch, seq, heads, head_dim] for q, k and v, found shapes "
            "[5, 4, 8], [2, 7, 2, 8] and [2, 7, 2, 8].",
        ),
        (
            lambda: ops.attention(q, k, k[:, :3]),
            "attention: wanted one batch for q, k and v and one length for k and v, found shapes "
            "[2, 5, 4, 8], [2, 7, 2, 8] and [2, 3, 2, 8].",
        ),
        (
            lambda: ops.attention(q[:, :, :3], k, k),
            "attention: wanted [batch, seq, heads, head_dim] with as many heads in k as in v, and a "
            "multiple of them in q, found shapes [2, 5, 3, 8], [2, 7, 2, 8] and [2, 7, 2, 8].",
        ),
        (
            lambda: ops.attention(q[..., :4], k, k),
            "attention: wanted one head_dim for q and k, and 1 to 256 for q, k and v, found "
            "shapes [2, 5, 4, 4], [2, 7, 2, 8] and [2, 7, 2, 8].",
        ),
        (
            lambda: ops.attention(q, k, k, zeros(2, 4, 5, 6)),
            "attention: wanted a bias that broadcasts to [batch, heads, seq_q, seq_k] = [2, 4, 5, "
            "7], found shape [2, 4, 5, 6].",
        ),
        (
            lambda: ops.attention(q, k, k, zeros(5, 7, dtype=torch.float16)),
            "attention: wanted q's dtype or float32 (Float) for bias, found Half.",
        ),
        (
            lambda: ops.attention(q, k, k, None, zeros(3)),
            "attention: wanted shape [heads] or [batch, heads] = [2, 4] for alibi_slopes, found "
            "[3].",
        ),
        (
            lambda: ops.attention(q, k, k, None, None, zeros(3)),
            "attention: wanted shape [heads] = [4] for sinks, found [3].",
        ),
        (
            lambda: ops.attention(q, k, k, window_left=-2),
            "attention: wanted a number of keys, or -1 for all, for window_left, found -2.",
        ),
        (
            lambda: ops.attention(q, k, k, dropout_p=0.5),
            "attention: wanted a seed with a dropout_p above 0, found None.",
        ),
        (
            lambda: ops.attention(q, k, k, seed=zeros(), dropout_p=0.5),
            "attention: wanted int64 (Long) for seed, found Float.",
        ),
        (
            lambda: kernels.attention(q, k, k, seed=zeros(2).long(), dropout_p=0.5),
            "attention: wanted one element for seed, found shape [2].",
        ),
        (
            lambda: kernels.attention(q, k, k, dropout_p=1.5),
            "attention: wanted a probability from 0 to 1 for dropout_p, found 1.5.",
        ),
        (
            lambda: kernels.attention(q, k, k, dropout_p=float("nan")),
            "attention: wanted a probability from 0 to 1 for dropout_p, found nan.",
        ),
        (
            lambda: kernels.attention(q, k, k, dropout_p=0.1, seed=2**63),
            "attention: wanted 64 bits for seed, found 9223372036854775808.",
        ),
        (
            lambda: ops.attention(q, k, k, softcap=-1.0),
            "attention: wanted a finite float32 number from 0 on for softcap, found -1.",
        ),
        (
            lambda: kernels.attention(q, k, k, window=3),
            "attention: wanted a pair (left, right) for window, found 3.",
        ),
        (
            lambda: kernels.attention(q, k, k, alibi_slopes=zeros(4).requires_grad_(), sinks=zeros(4).requires_grad_()),
            "attention: wanted alibi_slopes without a gradient, found requires_grad.",
        ),
        (
            lambda: kernels.attention(q, k, k, sinks=torch.ones(4, dtype=torch.bool, device=device)),
            "attention: wanted real numbers for sinks, found torch.bool.",
        ),
        (
            lambda: kernels.attention(q, k, k, alibi_slopes=1j * zeros(4)),
            "attention: wanted real numbers for alibi_slopes, found torch.complex64.",
        ),
        (
            lambda: kernels.attention_varlen(tokens, tokens, tokens, offsets.long(), offsets, 6, 6),
            "attention_varlen: wanted int32 (Int) for cu_seqlens_q, found Long.",
        ),
        (
            lambda: kernels.attention_varlen(tokens, tokens, tokens, offsets, offsets[:2], 6, 6),
            "attention_varlen: wanted shape [sequences + 1] for cu_seqlens_q and cu_seqlens_k, "
            "found [3] and [2].",
        ),
    ):
        assert refusal(call) == sentence, refusal(call)
    def offsets_of(*values):
        return torch.tensor(values, dtype=torch.int32, device=device)

    wrong = [offsets_of(*values) for values in ((0, 4, 9), (0, 12, 10), (0, 9, 10))]
    for changed, sentence in zip(
        wrong,
        (
            "attention_varlen: wanted cu_seqlens_k from 0 to the 10 tokens of k, found 0 to 9.",
            "attention_varlen: wanted max_seqlen_k of the longest sequence, found 6 where sequence "
            "0 has 12 tokens.",
            "attention_varlen: wanted max_seqlen_k of the longest sequence, found 6 where sequence "
            "0 has 9 tokens.",
        ),
    ):
        call = lambda: kernels.attention_varlen(tokens, tokens, tokens, offsets, changed, 6, 6)  # noqa: E731
        with looking_at_numbers():
            assert refusal(call) == sentence, refusal(call)
    falling = offsets_of(0, 6, 4, 10)
    sentence = "attention_varlen: wanted cu_seqlens_q that don't decrease, found 4 behind 6 at index 2."
    with looking_at_numbers():
        found = refusal(lambda: kernels.attention_varlen(tokens, tokens, tokens, falling, falling, 6, 6))
    assert found == sentence, found


def test_batch_without_members(device):
    q, k, v = tensors(device, torch.float32, seq_q=5, seq_k=7, head_dim=8)
    none = q.new_empty(0, *q.shape)
    assert torch.vmap(lambda q: kernels.attention(q, k, v))(none).shape == (0, *q.shape[:-1], v.shape[-1])


def test_opcheck(device):
    for dtype in (torch.bfloat16,):
        q, k, v = tensors(device, dtype, seq_q=5, seq_k=7, head_dim=8)
        bias = normal(1, 2, 5, 7, dtype=dtype, device=device, seed=3)
        sinks = normal(2, dtype=torch.float32, device=device, seed=4)
        opcheck(ops.attention.default, (q, k, v))
        output, lse = ops.attention(q, k, v, bias, None, sinks)
        opcheck(
            ops.attention_backward.default, (output, None, q, k, v, output, lse, bias, None, sinks)
        )
        seed, dropout = torch.tensor(5, device=device), {"dropout_p": 0.25}
        opcheck(ops.attention.default, (q, k, v, None, None, None, seed), dropout)
        leaves = [x.requires_grad_() for x in (q, k, v, bias)]
        opcheck(ops.attention.default, (*leaves, None, sinks.requires_grad_(), seed, 0.3, True), dropout)
        q, k, v, *offsets = joined(device, dtype)
        opcheck(ops.attention_varlen.default, (q, k, v, *offsets, None, None, None, 130, 130))
        leaves = [x.requires_grad_() for x in (q, k, v)]
        opcheck(ops.attention_varlen.default, (*leaves, *offsets, None, None, seed, 130, 130, None, True), dropout)


def sdpa_inputs(device, dtype, seq_q=9, seq_k=9, heads=4, kv_heads=4, head_dim=16):
    q, k, v = tensors(device, dtype, 2, seq_q, seq_k, heads, kv_heads, head_dim)
    return [x.transpose(1, 2).contiguous().requires_grad_() for x in (q, k, v)]


def sdpa_calls(device, dtype):
    """name → (q, k, v, keywords), all of which attention() serves."""
    mask = normal(9, 9, dtype=dtype, device=device, seed=5)
    long, short = sdpa_inputs(device, dtype, 12, 5), sdpa_inputs(device, dtype, 5, 12)
    grouped = sdpa_inputs(device, dtype, kv_heads=2)
    same = sdpa_inputs(device, dtype)
    seen = mask > -0.5
    seen[:, 0] = True
    return {
        "plain": (*same, {}),
        "scale": (*same, {"scale": 0.7}),
        "causal": (*same, {"is_causal": True}),
        "causal, more queries": (*long, {"is_causal": True}),
        "causal, more keys": (*short, {"is_causal": True}),
        "added mask": (*same, {"attn_mask": mask}),
        "mask of a batch": (*same, {"attn_mask": torch.stack((seen, ~seen | seen.T))[:, None]}),
        "mask of keys": (*same, {"attn_mask": seen[:1]}),
        "grouped": (*grouped, {"enable_gqa": True}),
        "three dimensions": (*(x[0] for x in same), {"is_causal": True}),
        "five dimensions": (
            *(x[None].expand(3, *x.shape) for x in same),
            {"attn_mask": normal(2, 1, 9, 9, dtype=dtype, device=device, seed=6)},
        ),
    }


def test_output_lies_as_q(device):
    sdpa = torch.nn.functional.scaled_dot_product_attention
    for order in itertools.permutations(range(3)):
        sizes = [(3, 5, 2)[dim] for dim in order]
        q = normal(*sizes, 16, dtype=torch.float32, device=device).permute(*map(order.index, range(3)), 3)
        output = kernels.attention(q, q, q)
        output.permute(*order, 3).view(-1)
        assert torch.equal(output, kernels.attention(*[q.contiguous()] * 3))
        assert ops.attention(*[q.to("meta")] * 3)[0].stride() == output.stride()
        wanted = sdpa(*[q.transpose(1, 2)] * 3)
        with kernels.sdpa_patch(always=True):
            found = torch.nn.functional.scaled_dot_product_attention(*[q.transpose(1, 2)] * 3)
        found.transpose(1, 2).permute(*order, 3).view(-1)
        torch.testing.assert_close(found, wanted)


def test_output_lies_as_q_of_unknown_length(device):
    class Model(torch.nn.Module):
        def forward(self, x, n):
            length = n.item()
            torch._check(length >= 0)
            torch._check(length <= 16)
            q = x[:, :length].view(2, length, 8, 16).transpose(1, 2).contiguous().transpose(1, 2)
            return kernels.attention(q, q, q).reshape(2, length, 128)

    arguments = (normal(2, 16, 128, dtype=torch.float32, device=device), torch.tensor(5))
    program = torch.export.export(Model(), arguments).run_decompositions({})
    torch.testing.assert_close(program.module()(*arguments), Model()(*arguments))


def test_sdpa_patch_means_what_torch_means(device):
    plain = torch.nn.functional.scaled_dot_product_attention
    run = lambda *args, **options: torch.nn.functional.scaled_dot_product_attention(*args, **options)  # noqa: E731
    for dtype in (torch.float32, torch.bfloat16):
        for name, (q, k, v, options) in sdpa_calls(device, dtype).items():
            exact = plain(q.double(), k.double(), v.double(), **{
                key: value.double() if key == "attn_mask" and value.dtype == dtype else value
                for key, value in options.items()
            })
            theirs = plain(q, k, v, **options)
            with kernels.sdpa_patch(always=True), Watch() as watch:
                ours = run(q, k, v, **options)
                found = torch.autograd.grad(ours.sum(), (q, k, v))
            assert "attention" in watch.names and "attention_backward" in watch.names, name
            assert ours.dtype == dtype
            assert_as_exact(ours, exact, theirs, (dtype, name))
            wanted = torch.autograd.grad(exact.sum(), (q, k, v))
            rivals = torch.autograd.grad(theirs.sum(), (q, k, v))
            for a, b, c in zip(found, wanted, rivals):
                assert_as_exact(a, b.double(), c, (dtype, name), 3)
    assert torch.nn.functional.scaled_dot_product_attention is plain


def test_sdpa_patch_leaves_the_rest_to_torch(device):
    sdpa = lambda *args, **options: torch.nn.functional.scaled_dot_product_attention(*args, **options)  # noqa: E731
    q, k, v = (x.detach() for x in sdpa_inputs(device, torch.float32))
    large = [x.repeat(1, 1, 1, 20) for x in (q, k, v)]
    patch = kernels.sdpa_patch(always=True)
    with Watch() as watch:
        sdpa(q, k, v, dropout_p=0.5)
        sdpa(*large)
        sdpa(q, k[:1].expand_as(k), v.double().float())
    assert watch.names.count("attention") == 1
    with Watch() as watch:
        kinds = refusal(lambda: sdpa(q, k.half(), v))
        try:
            sdpa(q, k, v, attn_mask=q[0, 0, :, :9], is_causal=True)
        except RuntimeError:
            pass  # not all of torch's kernels take both
    assert "attention" not in watch.names and "wanted" not in kinds
    inner = kernels.sdpa_patch()
    assert "wanted the last patch" in refusal(patch.remove)
    with Watch() as watch:
        torch.nn.MultiheadAttention(8, 2, device=device)(*(q.reshape(-1, 16, 8)[:2],) * 3, need_weights=False)
        sdpa(q, k, v)
    # What the inner one leaves, the outer one takes.
    assert "attention" in watch.names
    inner.remove()
    patch.remove()
    patch.remove()
    with Watch() as watch:
        sdpa(q, k, v)
    assert "attention" not in watch.names
    for seq, is_ours in ((5, False), (128, device == "cpu")):
        with kernels.sdpa_patch(), Watch() as watch:
            sdpa(*(x.detach() for x in sdpa_inputs(device, torch.float32, seq, 9)))
        assert ("attention" in watch.names) == is_ours


def test_sdpa_patch_takes_long_sequences_on_hopper(device):
    """What is asked of tensors on a GPU, by tensors without memory."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    def is_ours(seq=2048, head_dim=128, head_dim_v=128, dtype=torch.bfloat16, grad=True, mask=None):
        with FakeTensorMode():
            q, k, v = (
                torch.empty(1, 4, seq, width, dtype=dtype, device="cuda", requires_grad=grad)
                for width in (head_dim, head_dim, head_dim_v)
            )
            if mask is not None:
                mask = torch.empty(mask[:-1], dtype=mask[-1], device="cuda")
        return kernels._sdpa._is_faster(q, k, v, mask)

    asked = kernels._sdpa._has_hopper_kernel
    try:
        kernels._sdpa._has_hopper_kernel = lambda index: True
        for grad in (False, True):
            assert is_ours(grad=grad) and is_ours(head_dim=192, grad=grad)
            assert not is_ours(seq=2047, grad=grad) and not is_ours(head_dim=100, grad=grad)
            assert not is_ours(dtype=torch.float32, grad=grad)
            for kind in (torch.bool, torch.bfloat16):
                assert is_ours(seq=1024, mask=(4, 1024, 1024, kind), grad=grad)
                assert not is_ours(seq=1024, mask=(1, 1, 1, 1024, kind), grad=grad)
                assert not is_ours(seq=1000, mask=(1000, 1000, kind), grad=grad)
                assert not is_ours(seq=2044, mask=(2044, 2044, kind), grad=grad)
                assert not is_ours(head_dim=80, mask=(2048, 2048, kind), grad=grad)
            assert not is_ours(mask=(2048, 2048, torch.float32), grad=grad)
        torch.use_deterministic_algorithms(True)
        assert is_ours(grad=False) and not is_ours(head_dim=192)
        kernels._sdpa._has_hopper_kernel = lambda index: False
        assert not is_ours(grad=False)
    finally:
        kernels._sdpa._has_hopper_kernel = asked
        torch.use_deterministic_algorithms(False)


def test_flops_are_counted(device):
    """As torch counts its own: two products forward, five backward, whatever is masked."""
    from torch.utils.flop_counter import FlopCounterMode

    q, k, v = (
        normal(2, seq, heads, width, dtype=torch.float32, device=device).requires_grad_()
        for seq, heads, width in ((6, 4, 8), (10, 2, 8), (10, 2, 16))
    )
    offsets = torch.tensor([0, 2, 6], dtype=torch.int32, device=device)
    for call, pairs in (
        (lambda: kernels.attention(q, k, v, causal=True), 2 * 6 * 10),
        (lambda: kernels.attention_varlen(q[0], k[0, :6], v[0, :6], offsets, offsets, 4, 4), 4 + 16),
    ):
        with FlopCounterMode(display=False) as forward:
            output = call()
        with FlopCounterMode(display=False) as backward:
            output.sum().backward()
        assert forward.get_total_flops() == 2 * 4 * pairs * (8 + 16)
        assert backward.get_total_flops() == 2 * 4 * pairs * (3 * 8 + 2 * 16)


def test_longest_sequence_is_no_constant_of_a_compiled_graph(device):
    from torch._dynamo.testing import CompileCounterWithBackend

    counter = CompileCounterWithBackend("aot_eager")

    def step(q, offsets, longest):
        return kernels.attention_varlen(q, q, q, offsets, offsets, longest, longest)

    compiled = torch.compile(step, fullgraph=True, dynamic=True, backend=counter)
    counts = set()
    for lengths in ((5, 9), (7, 20), (31, 30)):
        q = normal(sum(lengths), 2, 8, dtype=torch.float32, device=device).requires_grad_()
        offsets = torch.tensor([0, lengths[0], sum(lengths)], dtype=torch.int32, device=device)
        arguments = q, offsets, max(lengths)
        output = compiled(*arguments)
        output.sum().backward()
        assert torch.equal(output, step(*arguments))
        counts.add(counter.frame_count)
    assert len(counts) == 1


def test_sdpa_patch_and_what_looks_for_torchs_function(device):
    """Masks that are no data, torch.jit.script, and layouts, which views rely on."""
    from torch.nn.attention.bias import causal_lower_right, causal_upper_left

    q, k, v = (x.detach() for x in sdpa_inputs(device, torch.float32, 5, 9))
    sdpa = lambda *args, **options: torch.nn.functional.scaled_dot_product_attention(*args, **options)  # noqa: E731
    biases = causal_upper_left(5, 9), causal_lower_right(5, 9)
    plain = [sdpa(q, k, v, attn_mask=bias) for bias in biases]

    class Model(torch.nn.Module):
        def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v)

    with kernels.sdpa_patch(always=True), kernels.sdpa_patch(always=True):
        for bias, wanted in zip(biases, plain):
            torch.testing.assert_close(sdpa(q, k, v, attn_mask=bias), wanted)
        assert "CausalBias should not" in refusal(
            lambda: sdpa(q, k, v, attn_mask=biases[0], is_causal=True)
        )
        torch.testing.assert_close(torch.jit.script(Model())(q, k, v), sdpa(q, k, v))
        patched = torch.nn.functional.scaled_dot_product_attention
        assert pickle.loads(pickle.dumps(patched)) is patched
        assert sdpa(q, k, v).is_contiguous()
        turned = q.transpose(1, 2).contiguous().transpose(1, 2)
        assert sdpa(turned, k, v).transpose(1, 2).is_contiguous()


def test_sdpa_patch_under_compile_and_autocast(device):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = sdpa_inputs(device, torch.float32)

    def model(q, k, v):
        output = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return output.sum(), output

    plain = model(q, k, v)[1].detach()
    with kernels.sdpa_patch(always=True):
        compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
        for run in (model, compiled):
            total, output = run(q, k, v)
            torch.testing.assert_close(output, plain)
            grads = torch.autograd.grad(total, (q, k, v))
            assert all(grad.isfinite().all() for grad in grads)
        # Whoever allows torch's own operations alone wants what only they have.
        with sdpa_kernel(SDPBackend.MATH), Watch() as watch:
            (grad,) = torch.autograd.grad(model(q, k, v)[0], q, create_graph=True)
            assert torch.autograd.grad(grad.sum(), k)[0].isfinite().all()
        assert "attention" not in watch.names
        names = []

        def backend(graph, inputs):
            names.extend(str(node.target) for node in graph.graph.nodes)
            return graph

        with sdpa_kernel(SDPBackend.MATH):
            mathematics = torch.compile(lambda *of: model(*of)[1], fullgraph=True, backend=backend)
            torch.testing.assert_close(mathematics(q, k, v), plain)
        assert not any("cudaops" in name for name in names) and names
    # The patch is gone from what is compiled from now on, and from what was.
    torch.testing.assert_close(compiled(q, k, v)[1], plain)
    with torch.autocast(device, torch.bfloat16):
        theirs = model(q, k, v)[1]
        with kernels.sdpa_patch(always=True):
            ours = model(q, k, v)[1]
            assert kernels.attention(q, k.bfloat16(), v).dtype == theirs.dtype
    assert ours.dtype == theirs.dtype == torch.bfloat16
    torch.testing.assert_close(ours, theirs, rtol=2e-2, atol=2e-2)


if __name__ == "__main__":
    main(globals())

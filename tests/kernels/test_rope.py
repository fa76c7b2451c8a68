# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.rope and its relatives against float64."""

from kernel_testing import DTYPES, assert_close, cases, kernels, main, normal, opcheck, ops, refusal
from kernel_testing import pytest_generate_tests  # noqa: F401

import torch

# q's shape, heads of k, rotary_dim
CASES = tuple((q, k[0], rotary[0]) for q, k, rotary in cases("rope"))
# A difference of two products around 4.
ATOL = 2e-6


def tables(rows, rotary_dim, dtype, device):
    """Angles as models have them, of the rows' positions."""
    frequencies = 10000.0 ** -(torch.arange(0, rotary_dim, 2).double() / max(rotary_dim, 1))
    angles = torch.arange(rows).double()[:, None] * frequencies
    return angles.cos().to(dtype).to(device), angles.sin().to(dtype).to(device)


def reference(x, cos, sin, positions, interleaved, backward=False):
    """Of one tensor, in float64."""
    if positions is None:
        positions = torch.arange(x.shape[-3], device=x.device).expand(x.shape[:-2])
    x, rotary_dim = x.double(), 2 * cos.shape[1]
    c = cos.double()[positions.long()].unsqueeze(-2)
    s = sin.double()[positions.long()].unsqueeze(-2) * (-1 if backward else 1)
    turned, rest = x[..., :rotary_dim], x[..., rotary_dim:]
    if interleaved:
        a, b = turned[..., 0::2], turned[..., 1::2]
        turned = torch.stack((a * c - b * s, b * c + a * s), dim=-1).flatten(-2)
    else:
        a, b = turned.chunk(2, dim=-1)
        turned = torch.cat((a * c - b * s, b * c + a * s), dim=-1)
    return torch.cat((turned, rest), dim=-1)


def positions_for(q, rows, dtype):
    """Permuted, so that neighbours have nothing in common."""
    count = q.shape[:-2].numel()
    return (torch.arange(count) * 7 % rows).view(q.shape[:-2]).to(dtype).to(q.device)


def inputs(shape, k_heads, dtype, device):
    q = normal(*shape, dtype=dtype, device=device)
    k = normal(*shape[:-2], k_heads, shape[-1], dtype=dtype, device=device, seed=1)
    return q, k


def test_forward_and_backward(device):
    for dtype in DTYPES:
        for shape, k_heads, rotary_dim in CASES:
            q, k = inputs(shape, k_heads, dtype, device)
            rows = shape[-3] + 4
            for table_dtype in {dtype, torch.float32}:
                cos, sin = tables(rows, rotary_dim, table_dtype, device)
                for index_dtype in (None, torch.int32, torch.int64):
                    positions = None
                    if index_dtype is not None:
                        positions = positions_for(q, rows, index_dtype)
                    for interleaved in (False, True):
                        case = (shape, rotary_dim, dtype, table_dtype, index_dtype, interleaved)
                        arguments = (cos, sin, positions, interleaved)
                        for op, backward in ((ops.rope, False), (ops.rope_backward, True)):
                            for x, y in zip((q, k), op(q, k, *arguments)):
                                assert y.dtype == dtype and y.shape == x.shape
                                assert y.is_contiguous()
                                assert_close(
                                    y, reference(x, *arguments, backward), case, atol=ATOL
                                )


def test_in_place_gives_the_same_bits(device):
    for dtype in DTYPES:
        for shape, k_heads, rotary_dim in CASES:
            q, k = inputs(shape, k_heads, dtype, device)
            cos, sin = tables(shape[-3] + 4, rotary_dim, torch.float32, device)
            for interleaved in (False, True):
                wanted = ops.rope(q, k, cos, sin, None, interleaved)
                q_rotated, k_rotated = q.clone(), k.clone()
                assert ops.rope_(q_rotated, k_rotated, cos, sin, None, interleaved) is None
                assert torch.equal(q_rotated, wanted[0]) and torch.equal(k_rotated, wanted[1])


def test_same_bits_wherever_heads_lie(device):
    for dtype in DTYPES:
        for head_dim, rotary_dim in ((128, 128), (72, 72), (68, 64), (66, 66), (66, 20)):
            q, k = inputs((3, 37, 8, head_dim), 8, dtype, device)
            cos, sin = tables(41, rotary_dim, torch.float32, device)
            for interleaved in (False, True):
                wanted = ops.rope(q, k, cos, sin, None, interleaved)
                for gap in (2, 3):  # elements behind each head, so that a token's aren't one row
                    wide = [torch.nn.functional.pad(x, (0, gap))[..., :head_dim] for x in (q, k)]
                    found = ops.rope(*wide, cos, sin, None, interleaved)
                    case = (dtype, head_dim, rotary_dim, interleaved, gap)
                    assert all(torch.equal(x, y) for x, y in zip(found, wanted)), case


def views(q_heads, k_heads, head_dim, dtype, device):
    """Pairs of q and k of one shape that lie in all kinds of ways, each in memory of its own."""
    heads = q_heads + 2 * k_heads
    for gap in (0, 3, 8):
        fused = normal(2, 6, heads, head_dim + gap, dtype=dtype, device=device)[..., :head_dim]
        yield fused[..., :q_heads, :], fused[..., q_heads : q_heads + k_heads, :]
    fused = normal(2, heads, 6, head_dim, dtype=dtype, device=device)
    yield fused[:, :q_heads].transpose(1, 2), fused[:, q_heads : q_heads + k_heads].transpose(1, 2)
    flat = normal(2 * 6 * heads * head_dim + 1, dtype=dtype, device=device)[1:]
    fused = flat.view(6, 2, heads, head_dim).transpose(0, 1)
    yield fused[..., :q_heads, :], fused[..., q_heads : q_heads + k_heads, :]
    # Can't be heads: a copy goes and, in place, comes back.
    fused = normal(head_dim, 2, 6, heads, dtype=dtype, device=device).permute(1, 2, 3, 0)
    yield fused[..., :q_heads, :], fused[..., q_heads : q_heads + k_heads, :]
    fused = normal(6, 2, 3, heads, head_dim, dtype=dtype, device=device).permute(1, 2, 0, 3, 4)
    yield fused[..., :q_heads, :], fused[..., q_heads : q_heads + k_heads, :]


def test_takes_views(device):
    for dtype in DTYPES:
        for head_dim in (64, 66):
            for rotary_dim in (head_dim, 32):
                cos, sin = tables(6, rotary_dim, torch.float32, device)
                for interleaved in (False, True):
                    for q, k in views(4, 2, head_dim, dtype, device):
                        wanted = [reference(x, cos, sin, None, interleaved) for x in (q, k)]
                        found = ops.rope(q, k, cos, sin, None, interleaved)
                        for a, b in zip(found, wanted):
                            assert a.is_contiguous()
                            assert_close(a, b, q.stride(), atol=ATOL)
                        memory = q._base.clone()
                        for x, rotated in zip((q, k), found):
                            place = (x.shape, x.stride(), x.storage_offset())
                            memory.as_strided(*place).copy_(rotated)
                        ops.rope_(q, k, cos, sin, None, interleaved)
                        # What lies between the heads stays as it was.
                        assert torch.equal(q._base, memory)


def test_takes_expanded_and_strided_tables(device):
    q, k = inputs((2, 6, 4, 64), 2, torch.float32, device)
    cos, sin = tables(6, 64, torch.float32, device)
    wanted = ops.rope(q, k, cos, sin, None)
    both = torch.cat((cos, sin), dim=1)
    found = ops.rope(q, k, *both.chunk(2, dim=1), None)
    positions = torch.arange(6, device=device).expand(2, 6)
    also = ops.rope(q[:, :, :1].expand(2, 6, 4, 64), k, cos, sin, positions)
    assert all(torch.equal(a, b) for a, b in zip(found, wanted))
    assert torch.equal(also[1], wanted[1]) and torch.equal(also[0][:, :, 3], wanted[0][:, :, 0])


def test_keeps_norms_and_is_undone_by_backward(device):
    for dtype in DTYPES:
        q, k = inputs((2, 50, 4, 64), 2, dtype, device)
        cos, sin = tables(50, 64, torch.float32, device)
        tolerance = {"rtol": 5e-6 if dtype == torch.float32 else 4e-3, "atol": 0}
        for interleaved in (False, True):
            rotated = ops.rope(q, k, cos, sin, None, interleaved)
            for x, y in zip((q, k), rotated):
                torch.testing.assert_close(
                    x.double().norm(dim=-1), y.double().norm(dim=-1), **tolerance
                )
            again = ops.rope_backward(*rotated, cos, sin, None, interleaved)
            # Rounded twice, relative to the pair's length.
            atol = {torch.float32: 4e-6, torch.float16: 8e-3, torch.bfloat16: 6e-2}[dtype]
            for x, y in zip((q, k), again):
                torch.testing.assert_close(x.double(), y.double(), rtol=0, atol=atol)


def test_products_depend_on_the_distance_only(device):
    """What the embedding is for (Su et al., section 3.2.2)."""
    query, key = inputs((1, 1, 64), 1, torch.float32, device)
    cos, sin = tables(600, 64, torch.float32, device)
    for interleaved in (False, True):
        for distance in (0, 1, 17, 100):
            first = torch.arange(0, 480, 37, device=device)
            q, k = query.expand(len(first), 1, 64), key.expand(len(first), 1, 64)
            q, _ = ops.rope(q, k, cos, sin, first + distance, interleaved)
            _, k = ops.rope(q, k, cos, sin, first, interleaved)
            products = (q.double() * k.double()).sum(-1)
            torch.testing.assert_close(
                products, products[:1].expand_as(products), rtol=1e-5, atol=1e-4
            )


def test_autograd(device):
    for dtype in DTYPES:
        for shape, k_heads, rotary_dim in CASES[:6]:
            fused = normal(
                *shape[:-2], shape[-2] + k_heads, shape[-1], dtype=dtype, device=device
            ).requires_grad_()
            cos, sin = tables(64, rotary_dim, torch.float32, device)
            positions = positions_for(fused, 64, torch.int64)
            for interleaved in (False, True):
                arguments = (cos, sin, positions, interleaved)
                q, k = fused.split((shape[-2], k_heads), dim=-2)
                outputs = kernels.rope(q, k, *arguments)
                grads = inputs(shape, k_heads, dtype, device)
                (found,) = torch.autograd.grad(outputs, fused, grads)
                wanted = [reference(grad, *arguments, backward=True) for grad in grads]
                assert_close(found, torch.cat(wanted, dim=-2), (shape, dtype), atol=ATOL)
    # Only one of the two is used, and its gradient is one number, expanded.
    q, k = (x.requires_grad_() for x in inputs((2, 5, 3, 8), 2, torch.float32, device))
    cos, sin = tables(5, 8, torch.float32, device)
    found = torch.autograd.grad(kernels.rope(q, k, cos, sin)[0].sum(), (q, k), allow_unused=True)
    ones = torch.ones_like(q)
    assert_close(found[0], reference(ones, cos, sin, None, False, backward=True), atol=ATOL)
    assert found[1] is None or not found[1].any()


def test_gradient_of_the_gradient(device):
    """The rotation is linear: what comes back of its gradient is the rotation again."""
    q, k = (x.requires_grad_() for x in inputs((2, 5, 3, 8), 2, torch.float32, device))
    cos, sin = tables(5, 8, torch.float32, device)
    for interleaved in (False, True):
        outputs = kernels.rope(q, k, cos, sin, interleaved=interleaved)
        seeds = [torch.randn_like(x, requires_grad=True) for x in outputs]
        grads = torch.autograd.grad(outputs, (q, k), seeds, create_graph=True)
        more = inputs((2, 5, 3, 8), 2, torch.float32, device)
        found = torch.autograd.grad(grads, seeds, more)
        for a, b in zip(found, ops.rope(*more, cos, sin, None, interleaved)):
            assert torch.equal(a, b)


def test_keeps_nan_and_infinity_in_their_pair(device):
    for dtype in DTYPES:
        for interleaved, partner in ((False, 7), (True, 2)):
            q, k = inputs((1, 2, 2, 12), 1, dtype, device)
            q[0, 1, 1, 3], k[0, 1, 0, 3], q[0, 0, 0, 11] = float("nan"), float("inf"), float("nan")
            cos, sin = tables(2, 8, dtype, device)
            q_out, k_out = ops.rope(q, k, cos, sin, None, interleaved)
            wrong = torch.isnan(q_out).nonzero().tolist()
            assert wrong == sorted([[0, 0, 0, 11], [0, 1, 1, partner], [0, 1, 1, 3]])
            wrong = (~torch.isfinite(k_out)).nonzero().tolist()
            assert wrong == sorted([[0, 1, 0, 3], [0, 1, 0, partner]])


def test_same_bits_each_run(device):
    q, k = inputs((3, 50, 8, 80), 2, torch.bfloat16, device)
    cos, sin = tables(50, 80, torch.float32, device)
    first = ops.rope(q, k, cos, sin, None)
    for _ in range(3):
        assert all(torch.equal(a, b) for a, b in zip(ops.rope(q, k, cos, sin, None), first))


def test_positions_without_a_row(device):
    """Refused before anything is written where they can be seen, else NaN."""
    q, k = inputs((2, 3, 2, 10), 1, torch.float32, device)
    cos, sin = tables(4, 8, torch.float32, device)
    for dtype in (torch.int32, torch.int64):
        for bad in (4, -1, 2**31 - 1):
            positions = torch.tensor([[0, 1, 2], [3, bad, 0]], dtype=dtype, device=device)
            if device == "cpu":
                sentence = (
                    f"rope_: wanted positions from 0 to 3 (cos has 4 rows), found {bad} at index 4."
                )
                before = q.clone()
                assert refusal(lambda: ops.rope_(q, k, cos, sin, positions)) == sentence
                assert torch.equal(q, before)
                continue
            for x, y in zip((q, k), ops.rope(q, k, cos, sin, positions)):
                rotated = torch.isnan(y[1, 1, :, :8])
                assert rotated.all() and torch.isnan(y).sum() == rotated.numel()
                assert torch.equal(y[..., 8:], x[..., 8:])


def test_refuses_in_one_sentence(device):
    q, k = inputs((2, 3, 2, 8), 1, torch.float32, device)
    cos, sin = tables(3, 8, torch.float32, device)
    positions = torch.zeros(2, 3, dtype=torch.int64, device=device)
    for call, sentence in (
        (
            lambda: ops.rope(q.int(), k.int(), cos, sin, None),
            "rope: wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for q, found Int.",
        ),
        (
            lambda: ops.rope(q, k.half(), cos, sin, None),
            "rope: wanted one dtype for q and k, found Float and Half.",
        ),
        (
            lambda: ops.rope(q, k[:, :2], cos, sin, None),
            "rope: wanted shapes [..., seq, heads, head_dim] that differ in heads only for q and "
            "k, found [2, 3, 2, 8] and [2, 2, 1, 8].",
        ),
        (
            lambda: ops.rope_(q[0, 0], k[0, 0], cos, sin, None),
            "rope_: wanted shapes [..., seq, heads, head_dim] that differ in heads only for q and "
            "k, found [2, 8] and [1, 8].",
        ),
        (
            lambda: ops.rope_backward(q, k[0], cos, sin, None),
            "rope_backward: wanted shapes [..., seq, heads, head_dim] that differ in heads only "
            "for grad_q and grad_k, found [2, 3, 2, 8] and [3, 1, 8].",
        ),
        (
            lambda: ops.rope(q, k, cos, sin[:2], None),
            "rope: wanted one shape for cos and sin, found [3, 4] and [2, 4].",
        ),
        (
            lambda: ops.rope(q, k, cos.half(), sin.half(), None),
            "rope: wanted q's dtype or float32 (Float) for cos, found Half.",
        ),
        (
            lambda: ops.rope(q[..., :6], k[..., :6], cos, sin, None),
            "rope: wanted shape [positions, rotary_dim / 2] with rotary_dim at most 6 for cos, "
            "found [3, 4].",
        ),
        (
            lambda: ops.rope(q, k, cos[None], sin[None], None),
            "rope: wanted shape [positions, rotary_dim / 2] with rotary_dim at most 8 for cos, "
            "found [1, 3, 4].",
        ),
        (
            lambda: ops.rope(q, k, cos[:2], sin[:2], None),
            "rope: wanted a row of cos for each of 3 positions, found shape [2, 4].",
        ),
        (
            lambda: ops.rope(q, k, cos, sin, positions.float()),
            "rope: wanted int32 (Int) or int64 (Long) for positions, found Float.",
        ),
        (
            lambda: ops.rope(q, k, cos, sin, positions[0]),
            "rope: wanted shape [2, 3] for positions, found [3].",
        ),
        (
            lambda: ops.rope(q, k, cos[:0], sin[:0], positions),
            "rope: wanted at least one row for cos, found shape [0, 4].",
        ),
        (
            lambda: ops.rope_(q[:, :1].expand(2, 3, 2, 8), k, cos, sin, None),
            "rope_: wanted elements that lie apart for q, found shape [2, 3, 2, 8] with strides "
            "[48, 0, 8, 1].",
        ),
        (
            lambda: kernels.rope_(q.requires_grad_(), k, cos, sin),
            "rope_: wanted q without a gradient, as it is overwritten, found requires_grad.",
        ),
        (
            lambda: kernels.rope(q, k, cos.requires_grad_(), sin),
            "rope: wanted cos and sin without gradients, found requires_grad.",
        ),
    ):
        assert refusal(call) == sentence, refusal(call)
    if device == "cuda":
        found = refusal(lambda: ops.rope(q.detach(), k, cos.detach(), sin, positions.cpu()))
        assert found.startswith("rope: wanted one device for q and positions, found cuda:"), found


def test_opcheck(device):
    for dtype in DTYPES:
        q, k = inputs((2, 5, 3, 10), 2, dtype, device)
        cos, sin = tables(8, 8, torch.float32, device)
        positions = positions_for(q, 8, torch.int64)
        for arguments in ((cos, sin, None), (cos, sin, positions, True)):
            opcheck(ops.rope.default, (q, k, *arguments))
            opcheck(ops.rope_.default, (q.clone(), k.clone(), *arguments))
            opcheck(ops.rope_backward.default, (q, k, *arguments))
            leaves = (q.clone().requires_grad_(), k.clone().requires_grad_())
            opcheck(ops.rope.default, (*leaves, *arguments))
            opcheck(ops.rope_backward.default, (*leaves, *arguments))


def test_compiles_into_one_graph(device):
    q, k = inputs((2, 5, 3, 16), 1, torch.float32, device)
    cos, sin = tables(5, 16, torch.float32, device)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def product(q, k):
        q, k = kernels.rope(q, k, cos, sin)
        return (q * k).sum()

    leaves = [x.clone().requires_grad_() for x in (q, k)]
    found = torch.autograd.grad(product(*leaves), leaves)
    rotated = kernels.rope(*leaves, cos, sin)
    wanted = torch.autograd.grad((rotated[0] * rotated[1]).sum(), leaves)
    for a, b in zip(found, wanted):
        torch.testing.assert_close(a, b)


if __name__ == "__main__":
    main(globals())

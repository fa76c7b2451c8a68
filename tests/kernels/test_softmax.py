# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.softmax against float64 and torch."""

from kernel_testing import DTYPES, assert_close, kernels, main, normal, opcheck, ops, refusal, shapes
from kernel_testing import pytest_generate_tests  # noqa: F401

import torch

SHAPES = shapes("softmax")
INFINITY = float("inf")


def seen(queries, keys, device):
    """Causal attention's mask: True where a query sees a key."""
    ones = torch.ones(queries, keys, dtype=torch.bool, device=device)
    return ones.tril(keys - queries)


def reference(input, mask=None, scale=1.0, causal=False):
    scores = input.double() * scale
    if mask is not None:
        added = mask.dtype != torch.bool
        scores = scores + mask.double() if added else scores.masked_fill(~mask, -INFINITY)
    if causal:
        scores = scores.masked_fill(~seen(*input.shape[-2:], input.device), -INFINITY)
    # torch gives NaN for rows in which nothing is seen.
    return torch.softmax(scores, -1).nan_to_num(0.0)


def check(dtype, device, shape, mask=None, scale=1.0, causal=False):
    case = (dtype, shape, None if mask is None else (mask.shape, mask.dtype), scale, causal)
    input = 4 * normal(*shape, dtype=dtype, device=device)
    output = ops.softmax(input, mask, scale, causal)
    assert output.dtype == dtype and output.shape == input.shape and output.is_contiguous()
    assert_close(output, reference(input, mask, scale, causal), case)
    grad = normal(*shape, dtype=dtype, device=device, seed=1)
    # From the rounded output, as the op has it.
    y, g = output.double(), grad.double()
    expected = scale * y * (g - (g * y).sum(-1, keepdim=True))
    assert_close(ops.softmax_backward(grad, output, scale, causal), expected, case, atol=2e-6)


def test_forward_and_backward(device):
    for dtype in DTYPES:
        for shape in SHAPES:
            check(dtype, device, shape)
        check(dtype, device, (3, 129), scale=-0.3)
        check(dtype, device, (3, 129), scale=0.0)


def test_rows_sum_to_one_and_shifts_change_nothing(device):
    for width in (1, 5, 1000, 4097):
        x = normal(4, width, dtype=torch.float32, device=device)
        output = ops.softmax(x)
        sums = output.double().sum(-1)
        torch.testing.assert_close(sums, torch.ones_like(sums), rtol=2e-6, atol=0)
        # Whole numbers of this size leave x's bits as they are.
        x = (x * 1024).round() / 1024
        assert_close(ops.softmax(x + 64), ops.softmax(x).double(), width)


def test_masks(device):
    for dtype in DTYPES:
        for shape in ((4, 6), (2, 3, 4, 130), (2, 3, 2, 5, 8)):
            for size in (shape, shape[-2:], shape[-1:], (*(1,) * (len(shape) - 1), shape[-1])):
                for kind in (dtype, torch.float32):
                    check(dtype, device, shape, normal(*size, dtype=kind, device=device, seed=3))
                visible = normal(*size, dtype=torch.float32, device=device, seed=4) > 0
                check(dtype, device, shape, visible, 0.5)
        # A batch's mask for all heads, and one of other strides.
        mask = normal(2, 1, 5, 16, dtype=dtype, device=device, seed=5)
        check(dtype, device, (2, 3, 5, 16), mask)
        check(dtype, device, (2, 3, 5, 16), mask[:, :, ::2].repeat(1, 1, 2, 1)[:, :, :5])
        check(dtype, device, (2, 3, 5, 16), mask.mT.contiguous().mT)
        check(dtype, device, (2, 3, 5, 16), mask, 2.0, True)
        x = normal(2, 3, 5, 16, dtype=dtype, device=device)
        for small in (mask[..., :1], mask[0, 0, 0, 0], mask[0, 0, 0, 0] > -INFINITY):
            assert_close(kernels.softmax(x, mask=small), reference(x, small), dtype)


def test_causal(device):
    for dtype in DTYPES:
        for shape in ((1, 1), (7, 7), (2, 5, 9), (2, 9, 5), (3, 40, 300), (2, 3, 33, 33)):
            check(dtype, device, shape, causal=True)
        x = normal(2, 9, 5, dtype=dtype, device=device)
        hidden = ~seen(9, 5, device).expand_as(x)
        assert (ops.softmax(x, None, 1.0, True)[hidden] == 0).all()
        # What is hidden counts for nothing.
        x[hidden] = float("nan")
        output = ops.softmax(x, None, 1.0, True)
        assert torch.isfinite(output).all() and (output[hidden] == 0).all()
        grad = x.masked_fill(~hidden, 1.0)
        assert torch.isfinite(ops.softmax_backward(grad, output, 1.0, True)).all()


def test_nan_infinity_and_rows_of_nothing(device):
    for dtype in DTYPES:
        x = torch.zeros(5, 9, dtype=dtype, device=device)
        x[0, 3] = float("nan")
        x[1, 4] = -INFINITY
        x[2] = -INFINITY
        x[3, 1] = INFINITY
        x[4] = 60000.0
        output = ops.softmax(x)
        assert output[0].isnan().all() and output[3].isnan().all()
        assert output[1, 4] == 0 and (output[2] == 0).all()
        assert_close(output[1], reference(x[1]))
        assert_close(output[4], torch.full((9,), 1 / 9, device=device, dtype=torch.float64))
        nothing = torch.zeros(5, 9, dtype=torch.bool, device=device)
        assert (ops.softmax(x, nothing) == 0).all()


def test_takes_strided_rows(device):
    for dtype in DTYPES:
        wide = normal(20, 258, dtype=dtype, device=device)
        views = (wide[:, :129], wide[:, 1:66], wide[::2, 3:100], wide.t())
        for x in (*views, wide[:1].expand(20, 258)):
            output = ops.softmax(x)
            assert output.is_contiguous()
            assert_close(output, reference(x), x.stride())


def test_autograd(device):
    for dtype in DTYPES:
        for causal in (False, True):
            x = normal(2, 4, 6, dtype=dtype, device=device).requires_grad_()
            mask = normal(4, 6, dtype=dtype, device=device, seed=1).requires_grad_()
            grad = normal(2, 4, 6, dtype=dtype, device=device, seed=2)
            output = kernels.softmax(x, mask=mask, scale=0.5, causal=causal)
            found = torch.autograd.grad(output, (x, mask), grad)
            wide = [tensor.detach().double().requires_grad_() for tensor in (x, mask)]
            output = reference(*wide, 0.5, causal)
            expected = torch.autograd.grad(output, wide, grad.double())
            # The op's gradient is that of its rounded output.
            for a, b in zip(found, expected):
                assert a.shape == b.shape and a.dtype == dtype
                assert_close(a, b, (dtype, causal), atol=2e-6 if dtype == torch.float32 else 2e-2)


def test_autograd_of_the_op_alone(device):
    x = normal(4, 6, dtype=torch.float32, device=device).requires_grad_()
    grad = normal(4, 6, dtype=torch.float32, device=device, seed=1)
    (found,) = torch.autograd.grad(ops.softmax(x), x, grad)
    y = torch.softmax(x.detach().double(), -1)
    assert_close(found, y * (grad - (grad * y).sum(-1, keepdim=True)), atol=2e-6)


def test_gradient_agrees_with_finite_differences(device):
    x = normal(2, 5, dtype=torch.float32, device=device)
    grad = normal(2, 5, dtype=torch.float32, device=device, seed=1)
    found = ops.softmax_backward(grad, ops.softmax(x, None, 1.5), 1.5)
    step = 1e-6
    for i in range(x.numel()):
        shift = torch.zeros(10, dtype=torch.float64, device=device)
        shift[i] = step
        ends = [
            (torch.softmax(1.5 * (x.double() + sign * shift.view(2, 5)), -1) * grad).sum()
            for sign in (1, -1)
        ]
        assert abs((ends[0] - ends[1]) / (2 * step) - found.view(-1)[i]) < 1e-6


def test_same_bits_each_run(device):
    for shape in ((300, 1001), (4, 150000)):
        x = normal(*shape, dtype=torch.bfloat16, device=device)
        output = ops.softmax(x)
        grad = ops.softmax_backward(x, output)
        for _ in range(3):
            assert torch.equal(ops.softmax(x), output)
            assert torch.equal(ops.softmax_backward(x, output), grad)


def test_refuses_in_one_sentence(device):
    x = torch.zeros(2, 8, device=device)
    for call, sentence in (
        (
            lambda: ops.softmax(x.int()),
            "softmax: wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for input, "
            "found Int.",
        ),
        (
            lambda: ops.softmax(x.sum()),
            "softmax: wanted at least one dimension for input, found none.",
        ),
        (
            lambda: ops.softmax(x[0], None, 1.0, True),
            "softmax: wanted at least two dimensions, [queries, keys], for input with causal=True, "
            "found shape [8].",
        ),
        (
            lambda: ops.softmax(x, x.half()),
            "softmax: wanted bool, input's dtype or float32 (Float) for mask, found Half.",
        ),
        (
            lambda: ops.softmax(x, x[:, :4]),
            "softmax: wanted a mask of input's last dimension whose others broadcast to input's "
            "shape [2, 8], found shape [2, 4].",
        ),
        (
            lambda: ops.softmax(x, torch.zeros(3, 8, device=device)),
            "softmax: wanted a mask of input's last dimension whose others broadcast to input's "
            "shape [2, 8], found shape [3, 8].",
        ),
        (
            lambda: ops.softmax_backward(x[:, :4], x),
            "softmax_backward: wanted one shape for grad_output and output, "
            "found [2, 4] and [2, 8].",
        ),
        (
            lambda: ops.softmax_backward(x, x.half()),
            "softmax_backward: wanted one dtype for grad_output and output, found Float and Half.",
        ),
    ):
        assert refusal(call) == sentence, refusal(call)


def test_opcheck(device):
    for dtype in DTYPES:
        x = normal(3, 4, 33, dtype=dtype, device=device)
        mask = normal(4, 33, dtype=dtype, device=device, seed=1)
        opcheck(ops.softmax.default, (x,))
        opcheck(ops.softmax.default, (x, mask > 0, 0.5, True))
        opcheck(ops.softmax_backward.default, (x, ops.softmax(x), 0.5, True))
        opcheck(ops.softmax.default, (x.requires_grad_(), mask.requires_grad_(), 0.5))


if __name__ == "__main__":
    main(globals())

# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.bias_gelu against float64 and torch."""

from kernel_testing import (
    DTYPES,
    assert_close,
    kernels,
    main,
    normal,
    opcheck,
    ops,
    refusal,
    shapes,
)
from kernel_testing import pytest_generate_tests  # noqa: F401

import torch
from torch.nn.functional import gelu

KINDS = ("none", "tanh")
SHAPES = shapes("bias_gelu")


def biases(width, dtype, device):
    return (
        None,
        normal(width, dtype=dtype, device=device, seed=1),
        normal(width, dtype=torch.float32, device=device, seed=2),
    )


def reference(x, bias, kind, grad=None):
    """The output, or the gradients by input and bias, in float64 by autograd."""
    x = x.double().requires_grad_()
    bias = torch.zeros(x.shape[-1:]).to(x) if bias is None else bias.double()
    bias.requires_grad_()
    output = gelu(x + bias, approximate=kind)
    if grad is None:
        return output.detach()
    return torch.autograd.grad(output, (x, bias), grad.double())


def test_forward_and_backward(device):
    for kind in KINDS:
        for dtype in DTYPES:
            for shape in SHAPES:
                x = 2 * normal(*shape, dtype=dtype, device=device)
                grad = normal(*shape, dtype=dtype, device=device, seed=4)
                for bias in biases(shape[-1], dtype, device):
                    case = (shape, dtype, kind, None if bias is None else bias.dtype)
                    output = ops.bias_gelu(x, bias, kind)
                    assert output.dtype == dtype and output.shape == x.shape
                    # input + bias is rounded to float32, which shows where gelu is small.
                    assert_close(output, reference(x, bias, kind), case, atol=2e-6)
                    grad_x, grad_bias = ops.bias_gelu_backward(grad, x, bias, kind)
                    expected = reference(x, bias, kind, grad)
                    assert grad_x.dtype == dtype and grad_x.shape == x.shape
                    assert_close(grad_x, expected[0], case, atol=4e-6)
                    if bias is None:
                        assert grad_bias.numel() == 0
                    else:
                        assert grad_bias.dtype == bias.dtype and grad_bias.shape == bias.shape
                        assert_close(grad_bias, expected[1], case, atol=4e-6 * 33**0.5)


def test_autograd(device):
    for kind in KINDS:
        for dtype in DTYPES:
            x = normal(3, 6, 33, dtype=dtype, device=device).requires_grad_()
            bias = normal(33, dtype=dtype, device=device, seed=1).requires_grad_()
            ones = torch.ones(3, 6, 33, device=device)
            found = torch.autograd.grad(kernels.bias_gelu(x, bias, kind).sum(), (x, bias))
            expected = reference(x.detach(), bias.detach(), kind, ones)
            for a, b in zip(found, expected):
                assert_close(a, b, (dtype, kind), atol=2e-5)
            (found,) = torch.autograd.grad(kernels.bias_gelu(x, approximate=kind).sum(), x)
            assert_close(found, reference(x.detach(), None, kind, ones)[0], dtype, atol=4e-6)


def test_takes_strided_rows(device):
    for dtype in DTYPES:
        wide = normal(20, 129, dtype=dtype, device=device)
        of_all = normal(129, dtype=dtype, device=device, seed=1)
        for x in (wide[:, :64], wide[:, 1:66], wide[::2, 3:100], wide.t()[:, :16], wide[:1]):
            for bias in (None, of_all[: x.shape[-1]], of_all[129 - x.shape[-1] :]):
                grad = normal(*x.shape, dtype=dtype, device=device, seed=4)
                output = ops.bias_gelu(x, bias)
                assert output.is_contiguous()
                assert_close(output, reference(x, bias, "none"), x.stride(), atol=2e-6)
                grad_x, grad_bias = ops.bias_gelu_backward(grad, x, bias)
                expected = reference(x, bias, "none", grad)
                assert_close(grad_x, expected[0], x.stride(), atol=4e-6)
                if bias is not None:
                    assert_close(grad_bias, expected[1], x.stride(), atol=2e-5)


def test_keeps_nan_and_infinity_in_their_place(device):
    infinity, nan = float("inf"), float("nan")
    for kind in KINDS:
        for dtype in DTYPES:
            x = torch.zeros(4, 9, dtype=dtype, device=device)
            x[0, 3], x[1, 4], x[2, 8] = nan, infinity, -60000.0
            output = ops.bias_gelu(x, None, kind).double()
            wanted = torch.zeros_like(output)
            wanted[0, 3], wanted[1, 4] = nan, infinity
            torch.testing.assert_close(output, wanted, rtol=0, atol=0, equal_nan=True)
            ones, bias = torch.ones_like(x), x.new_zeros(9)
            grad_x, grad_bias = ops.bias_gelu_backward(ones, x, bias, kind)
            assert torch.isnan(grad_x[0, 3]) and grad_x[2, 8] == 0
            assert torch.isnan(grad_bias[3]) and torch.isfinite(grad_bias[[0, 1, 2, 5, 6, 7, 8]]).all()
            assert torch.isfinite(grad_x).sum() >= x.numel() - 2
    # The square of 1e20 is no float.
    x = torch.tensor([[1e20, -1e20]], device=device)
    for kind in KINDS:
        assert ops.bias_gelu(x, None, kind).tolist() == [[x[0, 0].item(), 0.0]]
        grad_x, _ = ops.bias_gelu_backward(torch.ones_like(x), x, None, kind)
        assert grad_x.tolist() == [[1.0, 0.0]]


def test_same_bits_each_run(device):
    x = normal(300, 1001, dtype=torch.bfloat16, device=device)
    bias = normal(1001, dtype=torch.float32, device=device, seed=1)
    output, grads = ops.bias_gelu(x, bias), ops.bias_gelu_backward(x, x, bias)
    for _ in range(3):
        assert torch.equal(ops.bias_gelu(x, bias), output)
        again = ops.bias_gelu_backward(x, x, bias)
        assert torch.equal(again[0], grads[0]) and torch.equal(again[1], grads[1])


def test_refuses_in_one_sentence(device):
    x = torch.zeros(2, 8, device=device)
    for call, sentence in (
        (
            lambda: ops.bias_gelu(x.int(), None),
            "bias_gelu: wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for input, "
            "found Int.",
        ),
        (
            lambda: ops.bias_gelu(x, x.new_zeros(7)),
            "bias_gelu: wanted shape [8] for bias, found [7].",
        ),
        (
            lambda: ops.bias_gelu(x, x.new_zeros(8, dtype=torch.float16)),
            "bias_gelu: wanted input's dtype or float32 (Float) for bias, found Half.",
        ),
        (
            lambda: ops.bias_gelu(x.sum(), None),
            "bias_gelu: wanted at least one dimension for input, found none.",
        ),
        (
            lambda: ops.bias_gelu(x, None, "sigmoid"),
            'bias_gelu: wanted "none" or "tanh" for approximate, found "sigmoid".',
        ),
        (
            lambda: ops.bias_gelu_backward(x[:1], x, None),
            "bias_gelu_backward: wanted one shape for grad_output and input, "
            "found [1, 8] and [2, 8].",
        ),
        (
            lambda: ops.bias_gelu_backward(x, x, None, ""),
            'bias_gelu_backward: wanted "none" or "tanh" for approximate, found "".',
        ),
    ):
        assert refusal(call) == sentence, refusal(call)


def test_opcheck(device):
    for dtype in DTYPES:
        x = normal(4, 33, dtype=dtype, device=device)
        bias = normal(33, dtype=dtype, device=device, seed=1)
        opcheck(ops.bias_gelu.default, (x, None))
        opcheck(ops.bias_gelu.default, (x, bias, "tanh"))
        opcheck(ops.bias_gelu_backward.default, (x, x, bias))
        opcheck(ops.bias_gelu_backward.default, (x, x, None, "tanh"))
        opcheck(ops.bias_gelu.default, (x.requires_grad_(), bias.requires_grad_()))


if __name__ == "__main__":
    main(globals())

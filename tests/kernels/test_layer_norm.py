# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.layer_norm and its gradient against float64 and torch."""

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
    sum_tolerance,
)
from kernel_testing import pytest_generate_tests  # noqa: F401

import torch

EPS = 1e-5
SHAPES = shapes("layer_norm")


def reference(x, weight, bias, eps=EPS):
    x = x.double()
    mean = x.mean(-1, keepdim=True)
    rstd = torch.rsqrt((x - mean).square().mean(-1, keepdim=True) + eps)
    y = (x - mean) * rstd
    y = y if weight is None else y * weight.double()
    return y if bias is None else y + bias.double(), mean, rstd


def columns(width, dtype, device):
    """weight and bias: none, both, both in float32, each alone."""
    weight = normal(width, dtype=dtype, device=device, seed=1)
    bias = normal(width, dtype=dtype, device=device, seed=2)
    return (None, None), (weight, bias), (weight.float(), bias.float()), (weight, None), (None, bias)


def test_forward(device):
    for dtype in DTYPES:
        for shape in SHAPES:
            # A mean that is large against the deviation is where a one-pass variance fails.
            x = normal(*shape, dtype=dtype, device=device) + 3
            for weight, bias in columns(shape[-1], dtype, device):
                output, mean, rstd = ops.layer_norm(x, weight, bias, EPS)
                assert output.dtype == dtype and output.shape == x.shape
                assert mean.dtype == rstd.dtype == torch.float32
                assert mean.shape == rstd.shape == (*shape[:-1], 1)
                expected = reference(x, weight, bias)
                # What cancels in x - mean keeps the rounding of the mean.
                assert_close(output, expected[0], (shape, dtype), atol=1e-5)
                assert_close(mean, expected[1], (shape, dtype))
                if shape[-1] > 1:
                    assert_close(rstd, expected[2], (shape, dtype))


def test_backward(device):
    for dtype in DTYPES:
        for shape in SHAPES:
            if 0 in shape or shape[-1] == 1:
                continue
            x = normal(*shape, dtype=dtype, device=device) + 1
            grad = normal(*shape, dtype=dtype, device=device, seed=4)
            for weight, bias in columns(shape[-1], dtype, device):
                _, mean, rstd = ops.layer_norm(x, weight, bias, EPS)
                found = ops.layer_norm_backward(grad, x, weight, bias, mean, rstd)
                leaves = [None if t is None else t.double().requires_grad_() for t in (x, weight, bias)]
                output, _, _ = reference(*leaves)
                given = [leaf for leaf in leaves if leaf is not None]
                wanted = iter(torch.autograd.grad((output * grad.double()).sum(), given))
                assert_close(found[0], next(wanted), (shape, dtype), atol=2e-5)
                for gradient, leaf in zip(found[1:], leaves[1:]):
                    if leaf is None:
                        assert gradient.numel() == 0
                    else:
                        tolerance = sum_tolerance(x.numel() // shape[-1])
                        assert_close(gradient, next(wanted), (shape, dtype), **tolerance)


def test_function_and_module_match_torch(device):
    x = normal(4, 6, 16, dtype=torch.float32, device=device).requires_grad_()
    weight = normal(6, 16, dtype=torch.float32, device=device, seed=1).requires_grad_()
    bias = normal(6, 16, dtype=torch.float32, device=device, seed=2).requires_grad_()
    found = kernels.layer_norm(x, (6, 16), weight, bias)
    wanted = torch.nn.functional.layer_norm(x, (6, 16), weight, bias)
    torch.testing.assert_close(found, wanted)
    leaves = (x, weight, bias)
    for a, b in zip(
        torch.autograd.grad(found.square().sum(), leaves),
        torch.autograd.grad(wanted.square().sum(), leaves),
    ):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
    ours, theirs = kernels.LayerNorm(16).to(device), torch.nn.LayerNorm(16).to(device)
    ours.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(ours(x), theirs(x))
    plain = kernels.LayerNorm(16, elementwise_affine=False).to(device)
    torch.testing.assert_close(plain(x), torch.nn.functional.layer_norm(x, (16,)))


def test_takes_strided_rows(device):
    for dtype in DTYPES:
        wide = normal(20, 129, dtype=dtype, device=device)
        for x in (wide[:, :64], wide[:, 1:66], wide[::2, 3:100], wide.t()[:, :16], wide[:1]):
            output, _, _ = ops.layer_norm(x, None, None, EPS)
            assert output.is_contiguous()
            assert_close(output, reference(x, None, None)[0], x.stride(), atol=1e-5)


def test_keeps_nan_and_infinity_in_their_row(device):
    x = normal(4, 100, dtype=torch.float32, device=device)
    x[1, 3], x[2, 7] = float("nan"), float("inf")
    output, _, _ = ops.layer_norm(x, None, None, EPS)
    assert torch.isnan(output[1:3]).all()
    assert torch.isfinite(output[0]).all() and torch.isfinite(output[3]).all()


def test_same_bits_each_run(device):
    x = normal(300, 1000, dtype=torch.bfloat16, device=device)
    weight = normal(1000, dtype=torch.float32, device=device, seed=1)
    output, mean, rstd = ops.layer_norm(x, weight, weight, EPS)
    first = ops.layer_norm_backward(x, x, weight, weight, mean, rstd)
    for _ in range(3):
        again = ops.layer_norm_backward(x, x, weight, weight, mean, rstd)
        assert all(torch.equal(a, b) for a, b in zip(again, first))
        assert torch.equal(ops.layer_norm(x, weight, weight, EPS)[0], output)


def test_refuses_in_one_sentence(device):
    x = torch.zeros(2, 8, device=device)
    for call, sentence in (
        (
            lambda: ops.layer_norm(x.int(), None, None, EPS),
            "layer_norm: wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for input, "
            "found Int.",
        ),
        (
            lambda: ops.layer_norm(x, None, x.new_zeros(7), EPS),
            "layer_norm: wanted shape [8] for bias, found [7].",
        ),
        (
            lambda: ops.layer_norm(x.half(), x.new_zeros(8), x.new_zeros(8).half(), EPS),
            "layer_norm: wanted one dtype for weight and bias, found Float and Half.",
        ),
        (
            lambda: ops.layer_norm_backward(x, x, None, None, x.new_zeros(3), x.new_zeros(2)),
            "layer_norm_backward: wanted one element for each of the 2 rows of input for mean, "
            "found shape [3].",
        ),
        (
            lambda: kernels.layer_norm(x, (8,), x.new_zeros(2, 8)),
            "layer_norm: wanted shape [8] for weight, found [2, 8].",
        ),
    ):
        assert refusal(call) == sentence, refusal(call)


def test_opcheck(device):
    for dtype in DTYPES:
        x = normal(4, 33, dtype=dtype, device=device)
        weight = normal(33, dtype=dtype, device=device, seed=1)
        opcheck(ops.layer_norm.default, (x, weight, weight, EPS))
        opcheck(ops.layer_norm.default, (x, None, weight, EPS))
        mean, rstd = ops.layer_norm(x, weight, weight, EPS)[1:]
        opcheck(ops.layer_norm_backward.default, (x, x, weight, weight, mean, rstd))
        opcheck(ops.layer_norm_backward.default, (x, x, None, None, mean, rstd))
        x.requires_grad_()
        opcheck(ops.layer_norm.default, (x, weight.clone().requires_grad_(), None, EPS))


if __name__ == "__main__":
    main(globals())

# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.rms_norm and its relatives against float64 and torch."""

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

EPS = 1e-6
SHAPES = shapes("rms_norm")


def reference(x, weight, eps, offset=0.0):
    x = x.double()
    rstd = torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    scale = 1.0 if weight is None else weight.double() + offset
    return x * rstd * scale, rstd


def weights(width, dtype, device):
    return (
        None,
        normal(width, dtype=dtype, device=device, seed=1),
        normal(width, dtype=torch.float32, device=device, seed=2),
    )


def test_forward(device):
    for dtype in DTYPES:
        for shape in SHAPES:
            x = normal(*shape, dtype=dtype, device=device)
            for weight in weights(shape[-1], dtype, device):
                for offset in (0.0, 1.0):
                    output, rstd = ops.rms_norm(x, weight, EPS, offset)
                    assert output.dtype == dtype and output.shape == x.shape
                    assert rstd.dtype == torch.float32 and rstd.shape == (*shape[:-1], 1)
                    expected, expected_rstd = reference(x, weight, EPS, offset)
                    assert_close(output, expected, (shape, dtype, offset))
                    assert_close(rstd, expected_rstd, (shape, dtype))


def test_residual(device):
    for dtype in DTYPES:
        for shape in SHAPES:
            x = normal(*shape, dtype=dtype, device=device)
            residual = normal(*shape, dtype=dtype, device=device, seed=3)
            weight = normal(shape[-1], dtype=dtype, device=device, seed=1)
            output, residual_out, rstd = ops.fused_add_rms_norm(x, residual, weight, EPS)
            assert torch.equal(residual_out, x + residual)
            expected, expected_rstd = reference(x + residual, weight, EPS)
            assert_close(output, expected, (shape, dtype))
            assert_close(rstd, expected_rstd, (shape, dtype))
            ops.fused_add_rms_norm_(x, residual, weight, EPS)
            assert torch.equal(x, output) and torch.equal(residual, residual_out)


def gradients(x, residual_grad, weight, grad, offset=0.0):
    """In float64 by autograd."""
    x = x.double().requires_grad_()
    leaf = None if weight is None else weight.double().requires_grad_()
    output, _ = reference(x, leaf, EPS, offset)
    loss = (output * grad.double()).sum()
    if residual_grad is not None:
        loss = loss + (x * residual_grad.double()).sum()
    return torch.autograd.grad(loss, [x] if leaf is None else [x, leaf])


def test_backward(device):
    for dtype in DTYPES:
        for shape in SHAPES:
            if 0 in shape:
                continue
            x = normal(*shape, dtype=dtype, device=device)
            grad = normal(*shape, dtype=dtype, device=device, seed=4)
            for weight in weights(shape[-1], dtype, device):
                for residual_grad in (None, normal(*shape, dtype=dtype, device=device, seed=5)):
                    _, rstd = ops.rms_norm(x, weight, EPS, 0.5)
                    grad_x, grad_weight = ops.rms_norm_backward(
                        grad, residual_grad, x, weight, rstd, 0.5
                    )
                    expected = gradients(x, residual_grad, weight, grad, 0.5)
                    # A mean over the row is taken off: what cancels keeps its rounding errors.
                    assert_close(grad_x, expected[0], (shape, dtype), atol=1e-5)
                    if weight is None:
                        assert grad_weight.numel() == 0
                    else:
                        rows = x.numel() // shape[-1]
                        assert_close(
                            grad_weight, expected[1], (shape, dtype), **sum_tolerance(rows)
                        )


def test_autograd_of_both(device):
    x = normal(6, 33, dtype=torch.float32, device=device).requires_grad_()
    residual = normal(6, 33, dtype=torch.float32, device=device, seed=3).requires_grad_()
    weight = normal(33, dtype=torch.float32, device=device, seed=1).requires_grad_()
    leaves = (x, residual, weight)
    output, total = kernels.fused_add_rms_norm(x, residual, 33, weight, EPS)
    found = torch.autograd.grad((output.square() + 3 * total).sum(), leaves)
    total = x + residual
    output = torch.nn.functional.rms_norm(total, (33,), weight, EPS)
    wanted = torch.autograd.grad((output.square() + 3 * total).sum(), leaves)
    for a, b in zip(found, wanted):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


def test_function_and_module_match_torch(device):
    x = normal(4, 6, 16, dtype=torch.float32, device=device)
    weight = normal(6, 16, dtype=torch.float32, device=device, seed=1)
    for eps in (None, 1e-3):
        torch.testing.assert_close(
            kernels.rms_norm(x, (6, 16), weight, eps),
            torch.nn.functional.rms_norm(x, (6, 16), weight, eps),
        )
    ours, theirs = kernels.RMSNorm(16).to(device), torch.nn.RMSNorm(16).to(device)
    ours.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(ours(x), theirs(x))


def test_both_forms_of_the_sum_have_one_signature(device):
    for shape, normalized in (((6, 33), 33), ((2, 4, 8), (4, 8))):
        x = normal(*shape, dtype=torch.bfloat16, device=device)
        residual = normal(*shape, dtype=torch.bfloat16, device=device, seed=3)
        w = normal(*shape[-1:] if normalized == 33 else normalized, dtype=torch.bfloat16, device=device)
        for arguments, keywords in (
            ((normalized,), {}),
            ((normalized, w), {}),
            ((normalized, w, 1e-3), {"weight_offset": 1.0}),
        ):
            wanted = kernels.fused_add_rms_norm(x, residual, *arguments, **keywords)
            a, b = x.clone(), residual.clone()
            assert kernels.fused_add_rms_norm_(a, b, *arguments, **keywords) is None
            assert torch.equal(a, wanted[0]) and torch.equal(b, wanted[1])
            assert torch.equal(wanted[1], x + residual)


def test_residual_of_another_dtype(device):
    def some(dtype, seed):
        return normal(6, 32, dtype=dtype, device=device, seed=seed)

    for dtype, other in (
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.bfloat16),
        (torch.float16, torch.float32),
    ):
        x, residual = some(dtype, 1).requires_grad_(), some(other, 2).requires_grad_()
        for weight in (None, normal(32, dtype=dtype, device=device), normal(32, dtype=torch.float32, device=device)):
            for residual_dtype in (None, dtype, other):
                output, total = kernels.fused_add_rms_norm(
                    x, residual, 32, weight, EPS, residual_dtype=residual_dtype
                )
                assert output.dtype == dtype and total.dtype == (residual_dtype or other)
                exact = (x.double() + residual.double()).float().to(total.dtype).double()
                assert_close(total, exact)
                assert_close(output, reference(exact, weight, EPS)[0])
                grads = torch.autograd.grad(output.float().sum() + total.float().sum(), (x, residual))
                assert [g.dtype for g in grads] == [dtype, other]
        with torch.no_grad():
            a, b = x.clone(), residual.clone()
            kernels.fused_add_rms_norm_(a, b, 32, eps=EPS)
            wanted = kernels.fused_add_rms_norm(x, residual, 32, eps=EPS)
            assert torch.equal(a, wanted[0]) and torch.equal(b, wanted[1])
    x = some(torch.bfloat16, 1)
    assert kernels.fused_add_rms_norm(x, x, 32, residual_dtype=torch.float32)[1].dtype == torch.float32


def test_module_with_an_offset(device):
    x = normal(4, 16, dtype=torch.float32, device=device)
    module = kernels.RMSNorm(16, eps=EPS, weight_offset=1.0, device=device)
    assert torch.equal(module.weight, torch.zeros_like(module.weight))
    torch.testing.assert_close(module(x), torch.nn.functional.rms_norm(x, (16,), eps=EPS))
    assert "weight_offset=1.0" in repr(module)
    assert torch.equal(kernels.RMSNorm(16, device=device).weight, torch.ones(16, device=device))


def test_takes_strided_rows(device):
    for dtype in DTYPES:
        wide = normal(20, 129, dtype=dtype, device=device)
        weight = normal(129, dtype=dtype, device=device, seed=1)
        for x in (wide[:, :64], wide[:, 1:66], wide[::2, 3:100], wide.t()[:, :16], wide[:1]):
            output, _ = ops.rms_norm(x, weight[: x.shape[-1]], EPS)
            assert output.is_contiguous()
            assert_close(output, reference(x, weight[: x.shape[-1]], EPS)[0], x.stride())
        for columns in (slice(0, 64), slice(1, 66)):
            x, residual = wide.clone()[:, columns], wide.flip(0)[:, columns]
            want = ops.fused_add_rms_norm(x, residual, None, EPS)
            ops.fused_add_rms_norm_(x, residual, None, EPS)
            # A row is added up in another order where it lies at another alignment.
            assert_close(x, want[0].double(), x.stride())
            assert torch.equal(residual, want[1])
        x, residual = wide.t()[:50], wide.t()[50:100]  # can't be rows: a copy goes and comes back
        want = ops.fused_add_rms_norm(x, residual, None, EPS)
        ops.fused_add_rms_norm_(x, residual, None, EPS)
        assert torch.equal(x, want[0]) and torch.equal(residual, want[1])


def test_keeps_nan_and_infinity_in_their_row(device):
    x = normal(4, 100, dtype=torch.float32, device=device)
    x[1, 3], x[2, 7] = float("nan"), float("inf")
    output, _ = ops.rms_norm(x, None, EPS)
    assert torch.isnan(output[1]).all() and torch.isnan(output[2, 7])
    assert torch.isfinite(output[0]).all() and torch.isfinite(output[3]).all()


def test_same_bits_each_run(device):
    x = normal(300, 1000, dtype=torch.bfloat16, device=device)
    weight = normal(1000, dtype=torch.float32, device=device, seed=1)
    output, rstd = ops.rms_norm(x, weight, EPS)
    first = ops.rms_norm_backward(x, None, x, weight, rstd)
    for _ in range(3):
        again = ops.rms_norm_backward(x, None, x, weight, rstd)
        assert torch.equal(again[0], first[0]) and torch.equal(again[1], first[1])
        assert torch.equal(ops.rms_norm(x, weight, EPS)[0], output)


def test_refuses_in_one_sentence(device):
    x = torch.zeros(2, 8, device=device)
    for call, sentence in (
        (
            lambda: ops.rms_norm(x.int(), None, EPS),
            "rms_norm: wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for input, "
            "found Int.",
        ),
        (
            lambda: ops.rms_norm(x, x.new_zeros(7), EPS),
            "rms_norm: wanted shape [8] for weight, found [7].",
        ),
        (
            lambda: ops.rms_norm(x, x.new_zeros(8, dtype=torch.float16), EPS),
            "rms_norm: wanted input's dtype or float32 (Float) for weight, found Half.",
        ),
        (
            lambda: ops.rms_norm(x.sum(), None, EPS),
            "rms_norm: wanted at least one dimension for input, found none.",
        ),
        (
            lambda: ops.fused_add_rms_norm(x, x[:1], None, EPS),
            "fused_add_rms_norm: wanted one shape for input and residual, "
            "found [2, 8] and [1, 8].",
        ),
        (
            lambda: ops.rms_norm_backward(x, None, x, None, x.new_zeros(3)),
            "rms_norm_backward: wanted one element for each of the 2 rows of x for rstd, "
            "found shape [3].",
        ),
        (
            lambda: kernels.rms_norm(x, (4,)),
            "rms_norm: wanted input's last dimensions to be normalized_shape [4], "
            "found shape [2, 8].",
        ),
    ):
        assert refusal(call) == sentence, refusal(call)


def test_opcheck(device):
    for dtype in DTYPES:
        x = normal(4, 33, dtype=dtype, device=device)
        weight = normal(33, dtype=dtype, device=device, seed=1)
        opcheck(ops.rms_norm.default, (x, weight, EPS))
        opcheck(ops.rms_norm.default, (x.requires_grad_(), weight.requires_grad_(), EPS, 1.0))
        opcheck(ops.fused_add_rms_norm.default, (x, x.detach(), weight, EPS))
        x, weight = x.detach(), weight.detach()
        opcheck(ops.fused_add_rms_norm_.default, (x.clone(), x.clone(), weight, EPS))
        rstd = ops.rms_norm(x, weight, EPS)[1]
        opcheck(ops.rms_norm_backward.default, (x, None, x, weight, rstd))
        opcheck(ops.rms_norm_backward.default, (x, x, x, None, rstd))


if __name__ == "__main__":
    main(globals())

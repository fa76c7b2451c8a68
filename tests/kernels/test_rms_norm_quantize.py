# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.rms_norm_quantize against rms_norm and quantize, which have references."""

from kernel_testing import DTYPES, kernels, main, normal, opcheck, ops, refusal, shapes
from kernel_testing import pytest_generate_tests  # noqa: F401
from quantized_testing import FLOAT8, SMALLEST_SCALE, bits

import torch

EPS = 1e-6
QUANTIZED = (torch.int8, FLOAT8)
SHAPES = shapes("rms_norm_quantize")
GROUPS = (-1, 16, 64, 128, 48, 1)


def weights(width, dtype, device):
    return (
        None,
        normal(width, dtype=dtype, device=device, seed=1),
        normal(width, dtype=torch.float32, device=device, seed=2),
    )


def in_two_steps(x, residual, weight, dtype, group_size, offset=0.0, **options):
    residual_out = None
    if residual is None:
        normed = ops.rms_norm(x, weight, EPS, offset)[0]
    else:
        normed, residual_out, _ = ops.fused_add_rms_norm(x, residual, weight, EPS, offset)
    block_size = (1, group_size if group_size > 0 else -1)[-min(x.dim(), 2) :]
    return (*ops.quantize(normed, dtype, block_size, **options)[:2], residual_out)


def assert_same(found, wanted, case):
    assert found[0].dtype == wanted[0].dtype and found[0].is_contiguous()
    assert torch.equal(found[1], wanted[1]), case
    assert found[1].stride() == wanted[1].stride()
    assert torch.equal(bits(found[0]), bits(wanted[0])), case
    if wanted[2] is None:
        assert found[2].numel() == 0
    else:
        assert torch.equal(found[2], wanted[2]), case


def test_is_norm_and_quantize(device):
    for dtype in DTYPES:
        for shape in SHAPES:
            x = normal(*shape, dtype=dtype, device=device)
            more = normal(*shape, dtype=dtype, device=device, seed=3)
            for weight in weights(shape[-1], dtype, device):
                for residual in (None, more):
                    for group_size in GROUPS:
                        for quantized in QUANTIZED:
                            case = (dtype, shape, group_size, quantized, residual is None)
                            found = ops.rms_norm_quantize(
                                x, residual, weight, EPS, quantized, group_size
                            )
                            want = in_two_steps(x, residual, weight, quantized, group_size)
                            assert_same(found, want, case)


def test_groups_that_just_fit_in_shared_memory(device):
    """Of such groups a block has room for 20800 columns; longer rows take two passes."""
    for width in (20795, 20805, 20850, 20950):
        x = normal(4, width, dtype=torch.bfloat16, device=device)
        found = ops.rms_norm_quantize(x, None, None, EPS, torch.int8, 16)
        assert_same(found, in_two_steps(x, None, None, torch.int8, 16), width)


def test_options(device):
    for shape in ((6, 512), (2, 3, 256), (5, 1000), (4, 300)):
        x = normal(*shape, dtype=torch.bfloat16, device=device)
        weight = normal(shape[-1], dtype=torch.bfloat16, device=device, seed=1)
        bound = torch.tensor(1.5, device=device)
        for group_size in (-1, 128, 48):
            for options in (
                {"ue8m0": True},
                {"scales_column_major": True},
                {"scale_ub": bound},
                {"ue8m0": True, "scales_column_major": True, "scale_ub": bound},
            ):
                for residual in (None, x.flip(0)):
                    found = ops.rms_norm_quantize(
                        x, residual, weight, EPS, FLOAT8, group_size, weight_offset=1.0, **options
                    )
                    want = in_two_steps(x, residual, weight, FLOAT8, group_size, 1.0, **options)
                    assert_same(found, want, (shape, group_size, options))


def test_strided_and_misaligned_rows(device):
    for dtype in DTYPES:
        wide = normal(20, 1300, dtype=dtype, device=device)
        for x in (wide[:, :512], wide[:, 1:513], wide[::2, 3:700], wide.t()[:, :16], wide[:1]):
            weight = normal(x.shape[-1] + 1, dtype=dtype, device=device, seed=1)
            for group_size in (-1, 128, 48):
                for place in (slice(0, -1), slice(1, None)):
                    found = ops.rms_norm_quantize(x, x, weight[place], EPS, FLOAT8, group_size)
                    want = in_two_steps(x, x, weight[place], FLOAT8, group_size)
                    assert_same(found, want, (x.shape, x.stride(), group_size))


def test_nan_infinity_and_zeros(device):
    x = normal(5, 256, dtype=torch.bfloat16, device=device)
    x[1, 3], x[2, 7], x[4] = float("nan"), float("inf"), 0
    for group_size in (-1, 64):
        for quantized in QUANTIZED:
            found = ops.rms_norm_quantize(x, None, None, EPS, quantized, group_size)
            assert_same(found, in_two_steps(x, None, None, quantized, group_size), group_size)
            assert found[1].isfinite().all() and (found[1][4] == SMALLEST_SCALE).all()
            assert (found[0][4].float() == 0).all()


def test_no_elements(device):
    for shape, blocks in (((0, 8), (0, 1)), ((3, 0), (3, 0)), ((2, 0, 8), (2, 0, 1))):
        x = torch.empty(shape, device=device)
        output, scale, residual_out = ops.rms_norm_quantize(x, x, None, EPS, torch.int8)
        assert output.shape == shape and scale.shape == blocks and residual_out.shape == shape


def test_function(device):
    x = normal(4, 64, dtype=torch.float16, device=device).requires_grad_()
    weight = torch.ones(64, dtype=torch.float16, device=device).requires_grad_()
    output, scale, residual_out = kernels.rms_norm_quantize(x, weight, dtype=FLOAT8)
    assert residual_out is None and not output.requires_grad and not scale.requires_grad
    back = kernels.dequantize(output, scale, block_size=(1, -1))
    wanted = kernels.rms_norm(x, 64, weight).float()
    assert ((back - wanted).abs() <= 16.1 * scale).all()
    _, _, residual_out = kernels.rms_norm_quantize(x, dtype=torch.int8, residual=x, group_size=16)
    assert torch.equal(residual_out, x + x)


def test_refuses_in_one_sentence(device):
    x = torch.zeros(2, 8, device=device)
    for call, sentence in (
        (
            lambda: ops.rms_norm_quantize(x.double(), None, None, EPS, torch.int8),
            "rms_norm_quantize: wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for "
            "input, found Double.",
        ),
        (
            lambda: ops.rms_norm_quantize(x, None, None, EPS, torch.int32),
            "rms_norm_quantize: wanted int8 (Char) or float8_e4m3fn (Float8_e4m3fn) for dtype, "
            "found Int.",
        ),
        (
            lambda: ops.rms_norm_quantize(x, x[:1], None, EPS, torch.int8),
            "rms_norm_quantize: wanted one shape for input and residual, found [2, 8] and [1, 8].",
        ),
        (
            lambda: ops.rms_norm_quantize(x, None, x[0, :7], EPS, torch.int8),
            "rms_norm_quantize: wanted shape [8] for weight, found [7].",
        ),
        (
            lambda: ops.rms_norm_quantize(x, None, None, EPS, torch.int8, 0),
            "rms_norm_quantize: wanted a number above 0, or -1 for whole rows, for group_size, "
            "found 0.",
        ),
        (
            lambda: ops.rms_norm_quantize(x, None, None, EPS, torch.int8, -2),
            "rms_norm_quantize: wanted a number above 0, or -1 for whole rows, for group_size, "
            "found -2.",
        ),
    ):
        assert refusal(call) == sentence, refusal(call)


def test_opcheck(device):
    x = normal(6, 64, dtype=torch.bfloat16, device=device)
    weight = torch.ones(64, device=device)
    opcheck(ops.rms_norm_quantize.default, (x, None, weight, EPS, torch.int8))
    opcheck(ops.rms_norm_quantize.default, (x.clone().requires_grad_(), x, None, EPS, FLOAT8, 16))
    opcheck(
        ops.rms_norm_quantize.default, (x, x, weight, EPS, torch.int8, 48, None, True, True, 1.0)
    )


if __name__ == "__main__":
    main(globals())

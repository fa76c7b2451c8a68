# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.swiglu_quantize against swiglu and quantize, which have references."""

from kernel_testing import DTYPES, kernels, main, normal, opcheck, ops, refusal, shapes
from kernel_testing import pytest_generate_tests  # noqa: F401
from quantized_testing import FLOAT8, SMALLEST_SCALE, bits

import torch

QUANTIZED = (torch.int8, FLOAT8)
SHAPES = shapes("swiglu_quantize")
GROUPS = (-1, 16, 64, 128, 48, 1)


def in_two_steps(gate, up, dtype, group_size, **options):
    block_size = (1, group_size if group_size > 0 else -1)[-min(gate.dim(), 2) :]
    return ops.quantize(ops.swiglu(gate, up), dtype, block_size, **options)[:2]


def assert_same(found, wanted, case):
    assert found[0].dtype == wanted[0].dtype and found[0].is_contiguous()
    assert torch.equal(found[1], wanted[1]), case
    assert found[1].stride() == wanted[1].stride()
    assert torch.equal(bits(found[0]), bits(wanted[0])), case


def test_is_swiglu_and_quantize(device):
    for dtype in DTYPES:
        for shape in SHAPES:
            gate = 3 * normal(*shape, dtype=dtype, device=device)
            up = normal(*shape, dtype=dtype, device=device, seed=3)
            for group_size in GROUPS:
                for quantized in QUANTIZED:
                    found = ops.swiglu_quantize(gate, up, quantized, group_size)
                    want = in_two_steps(gate, up, quantized, group_size)
                    assert_same(found, want, (dtype, shape, group_size, quantized))


def test_options(device):
    for shape in ((6, 512), (2, 3, 256), (5, 1000), (4, 300)):
        gate = normal(*shape, dtype=torch.bfloat16, device=device)
        bound = torch.tensor(0.5, device=device)
        for group_size in (-1, 128, 48):
            for options in (
                {"ue8m0": True},
                {"scales_column_major": True},
                {"scale_ub": bound},
                {"ue8m0": True, "scales_column_major": True, "scale_ub": bound},
            ):
                found = ops.swiglu_quantize(gate, gate.flip(0), FLOAT8, group_size, **options)
                want = in_two_steps(gate, gate.flip(0), FLOAT8, group_size, **options)
                assert_same(found, want, (shape, group_size, options))


def test_halves_and_misaligned_rows(device):
    for dtype in DTYPES:
        wide = normal(20, 1300, dtype=dtype, device=device)
        for gate, up in (
            wide.chunk(2, -1),
            (wide[:, :512], wide[:, 512:1024]),
            (wide[:, 1:513], wide[:, 6:518]),
            (wide[::2, 3:700], wide[::2, 0:697]),
            (wide.t()[:, :16], wide.t()[:, 2:18]),
        ):
            for group_size in (-1, 128, 48):
                for quantized in QUANTIZED:
                    found = ops.swiglu_quantize(gate, up, quantized, group_size)
                    want = in_two_steps(gate, up, quantized, group_size)
                    assert_same(found, want, (dtype, gate.stride(), group_size))


def test_nan_infinity_and_zeros(device):
    gate = normal(5, 256, dtype=torch.bfloat16, device=device)
    up = normal(5, 256, dtype=torch.bfloat16, device=device, seed=1)
    gate[1, 3], up[2, 7], gate[4] = float("nan"), float("inf"), 0
    for group_size in (-1, 64):
        for quantized in QUANTIZED:
            found = ops.swiglu_quantize(gate, up, quantized, group_size)
            assert_same(found, in_two_steps(gate, up, quantized, group_size), group_size)
            assert found[1].isfinite().all() and (found[1][4] == SMALLEST_SCALE).all()
            assert (found[0][4].float() == 0).all()


def test_no_elements(device):
    for shape, blocks in (((0, 8), (0, 1)), ((3, 0), (3, 0)), ((2, 0, 8), (2, 0, 1))):
        x = torch.empty(shape, device=device)
        output, scale = ops.swiglu_quantize(x, x, torch.int8)
        assert output.shape == shape and scale.shape == blocks


def test_function(device):
    gate = normal(4, 64, dtype=torch.float16, device=device).requires_grad_()
    up = normal(4, 64, dtype=torch.float16, device=device, seed=1)
    output, scale = kernels.swiglu_quantize(gate, up, dtype=FLOAT8, group_size=16)
    assert not output.requires_grad and not scale.requires_grad
    back = kernels.dequantize(output, scale, block_size=(1, 16))
    wanted = kernels.swiglu(gate, up).float()
    assert ((back - wanted).abs() <= 16.1 * scale.repeat_interleave(16, -1)).all()


def test_refuses_in_one_sentence(device):
    x = torch.zeros(2, 8, device=device)
    for call, sentence in (
        (
            lambda: ops.swiglu_quantize(x.double(), x, torch.int8),
            "swiglu_quantize: wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for "
            "gate, found Double.",
        ),
        (
            lambda: ops.swiglu_quantize(x, x[:1], torch.int8),
            "swiglu_quantize: wanted one shape for gate and up, found [2, 8] and [1, 8].",
        ),
        (
            lambda: ops.swiglu_quantize(x, x, torch.float16),
            "swiglu_quantize: wanted int8 (Char) or float8_e4m3fn (Float8_e4m3fn) for dtype, "
            "found Half.",
        ),
        (
            lambda: ops.swiglu_quantize(x, x, torch.int8, 0),
            "swiglu_quantize: wanted a number above 0, or -1 for whole rows, for group_size, "
            "found 0.",
        ),
        (
            lambda: ops.swiglu_quantize(x, x, torch.int8, -2),
            "swiglu_quantize: wanted a number above 0, or -1 for whole rows, for group_size, "
            "found -2.",
        ),
    ):
        assert refusal(call) == sentence, refusal(call)


def test_opcheck(device):
    x = normal(6, 64, dtype=torch.bfloat16, device=device)
    opcheck(ops.swiglu_quantize.default, (x, x.clone(), torch.int8))
    opcheck(ops.swiglu_quantize.default, (x.clone().requires_grad_(), x, FLOAT8, 16))
    opcheck(ops.swiglu_quantize.default, (x, x.clone(), torch.int8, 48, None, True, True))


if __name__ == "__main__":
    main(globals())

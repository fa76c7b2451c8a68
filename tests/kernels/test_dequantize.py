# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.dequantize against float64 and torch."""

from kernel_testing import DTYPES, kernels, main, normal, opcheck, ops, refusal
from kernel_testing import pytest_generate_tests  # noqa: F401
from quantized_testing import CASES, FLOAT8, per_element

import torch


def all_bytes(shape, quantized, device):
    count = 1
    for size in shape:
        count *= size
    values = (torch.arange(count, dtype=torch.int64) * 37 % 256 - 128).to(torch.int8)
    return values.view(shape).to(device).view(quantized)


def assert_same(found, wanted, case=None):
    """found is wanted, float64, rounded once."""
    wanted = wanted.float().to(found.dtype)  # scale and number have 24 + 8 bits: exact in float64
    torch.testing.assert_close(
        found, wanted, rtol=0, atol=0, equal_nan=True, msg=lambda text: f"{case}: {text}"
    )


def test_is_exact(device):
    for dtype in DTYPES:
        for shape, block_size in CASES:
            for quantized in (torch.int8, FLOAT8):
                case = (shape, block_size, dtype, quantized)
                x = all_bytes(shape, quantized, device)
                blocks = ops.quantize(x.to(torch.float32), torch.int8, block_size)[1]
                scale = normal(*blocks.shape, dtype=torch.float32, device=device)
                found = ops.dequantize(x, scale, None, block_size, dtype)
                assert found.dtype == dtype and found.shape == x.shape and found.is_contiguous()
                spread = per_element(scale.double(), shape, block_size)
                assert_same(found, x.double() * spread, case)
                if quantized == torch.int8:
                    zero = (scale * 50).int()
                    found = ops.dequantize(x, scale, zero, block_size, dtype)
                    zeros = per_element(zero, shape, block_size)
                    assert_same(found, (x.int() - zeros).double() * spread, case)
                if scale.dim() > 1:
                    transposed = scale.transpose(-1, -2).contiguous().transpose(-1, -2)
                    again = ops.dequantize(x, transposed, None, block_size, dtype)
                    assert_same(again, x.double() * spread, case)
                    if quantized == torch.int8:
                        again = ops.dequantize(x, transposed, zero, block_size, dtype)
                        assert_same(again, (x.int() - zeros).double() * spread, case)


def test_all_numbers(device):
    one = torch.ones(1, device=device)
    for quantized in (torch.int8, FLOAT8):
        x = torch.arange(-128, 128, dtype=torch.int8, device=device).view(quantized)
        for dtype in DTYPES:
            assert_same(ops.dequantize(x, one, None, (-1,), dtype), x.double())


def test_gives_quantized_back(device):
    for dtype in DTYPES:
        x = normal(64, 512, dtype=dtype, device=device)
        for block_size in ((1, -1), (1, 128), (128, 128), (-1, -1), (5, 100)):
            for quantized, error in ((torch.int8, 0.5), (FLOAT8, 16.0)):
                for symmetric in (True, False):
                    if quantized == FLOAT8 and not symmetric:
                        continue
                    output, scale, zero_point = kernels.quantize(
                        x, quantized, block_size, symmetric=symmetric
                    )
                    back = kernels.dequantize(output, scale, zero_point, block_size=block_size)
                    steps = per_element(scale, x.shape, block_size) * (error if symmetric else 1)
                    assert ((back - x.float()).abs() <= steps * 1.0001).all()
            zeros = torch.zeros_like(x)
            output, scale, _ = kernels.quantize(zeros, quantized, block_size)
            back = kernels.dequantize(output, scale, block_size=block_size, dtype=dtype)
            assert torch.equal(back, zeros)


def test_strided_and_misaligned_rows(device):
    wide = all_bytes((20, 1300), torch.int8, device)
    for x in (wide[:, :512], wide[:, 1:513], wide[::2, 3:700], wide.t()[:, :16], wide[0, 5:805]):
        for quantized in (torch.int8, FLOAT8):
            for block in (-1, 128, 24):
                block_size = (block,) if x.dim() == 1 else (3, block)
                x = x.view(quantized)
                scale = ops.quantize(x.to(torch.float32), torch.int8, block_size)[1]
                for dtype in DTYPES:
                    found = ops.dequantize(x, scale, None, block_size, dtype)
                    want = ops.dequantize(x.contiguous(), scale, None, block_size, dtype)
                    torch.testing.assert_close(found, want, rtol=0, atol=0, equal_nan=True)


def test_same_bits_as_on_the_cpu(device):
    for shape, block_size in CASES:
        for quantized in (torch.int8, FLOAT8):
            x = all_bytes(shape, quantized, "cpu")
            scale = ops.quantize(x.to(torch.float32), torch.int8, block_size)[1]
            for dtype in DTYPES:
                want = ops.dequantize(x, scale, None, block_size, dtype)
                found = ops.dequantize(x.to(device), scale.to(device), None, block_size, dtype)
                torch.testing.assert_close(found.cpu(), want, rtol=0, atol=0, equal_nan=True)


def test_no_elements(device):
    for shape, block_size, blocks in (((0, 8), (1, -1), (0, 1)), ((3, 0), (1, 128), (3, 0))):
        x = torch.empty(shape, dtype=torch.int8, device=device)
        scale = torch.empty(blocks, device=device)
        assert ops.dequantize(x, scale, None, block_size, torch.float16).shape == shape


def test_gradient_by_scale(device):
    for x, zero in ((all_bytes((6, 9), FLOAT8, device), None), (all_bytes((6, 9), torch.int8, device), 3)):
        x = torch.where(x.float().isfinite(), x.float(), 1.0).to(x.dtype)
        for block_size, shape in (((1, -1), (6, 1)), ((2, 4), (3, 3)), ((-1, -1), (1, 1)), ((4, 9), (2, 1))):
            scale = torch.full(shape, 0.5, device=device).requires_grad_()
            zeros = None if zero is None else torch.full(shape, zero, dtype=torch.int32, device=device)
            grad = normal(6, 9, dtype=torch.float32, device=device)
            output = kernels.dequantize(x, scale, zeros, block_size=block_size)
            (found,) = torch.autograd.grad(output, scale, grad)
            rows, columns = (6 if block_size[0] == -1 else block_size[0]), block_size[1]
            columns = 9 if columns == -1 else columns
            wanted = torch.zeros(shape, dtype=torch.float64, device=device)
            for i in range(6):
                for j in range(9):
                    factor = x[i, j].double() - (zero or 0)
                    wanted[i // rows, j // columns] += grad[i, j].double() * factor
            torch.testing.assert_close(found.double(), wanted, rtol=1e-5, atol=1e-3)


def test_refuses_in_one_sentence(device):
    x = all_bytes((2, 8), torch.int8, device)
    scale = torch.ones(2, 1, device=device)
    for call, sentence in (
        (
            lambda: ops.dequantize(scale, scale, None, (1, -1), torch.float32),
            "dequantize: wanted int8 (Char) or float8_e4m3fn (Float8_e4m3fn) for input, "
            "found Float.",
        ),
        (
            lambda: ops.dequantize(x, scale, None, (1, -1), torch.int8),
            "dequantize: wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for dtype, "
            "found Char.",
        ),
        (
            lambda: ops.dequantize(x, scale, None, (1, 4), torch.float32),
            "dequantize: wanted shape [2, 2] for scale, a number a block, found [2, 1].",
        ),
        (
            lambda: ops.dequantize(x, scale, scale, (1, -1), torch.float32),
            "dequantize: wanted Int for zero_point, found Float.",
        ),
        (
            lambda: ops.dequantize(x.view(FLOAT8), scale, scale.int(), (1, -1), torch.float32),
            "dequantize: wanted no zero_point for input of Float8_e4m3fn.",
        ),
    ):
        assert refusal(call) == sentence, refusal(call)


def test_opcheck(device):
    scale = torch.ones(4, 3, device=device)
    x, zero = all_bytes((4, 33), torch.int8, device), scale.int()
    opcheck(ops.dequantize.default, (x, scale, None, [1, 16], torch.bfloat16))
    opcheck(ops.dequantize.default, (x, scale, zero, [1, 16], torch.float32))
    # test_schema compares inputs with allclose, which torch has not for float8.
    torch.library.opcheck(
        ops.dequantize.default,
        (x.float().to(FLOAT8), scale, None, [1, 16], torch.float32),
        test_utils=("test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"),
    )


if __name__ == "__main__":
    main(globals())

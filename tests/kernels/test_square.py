# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops_examples.square against torch.square."""

from example_testing import DTYPES, main, normal, opcheck, ops, refusal, shapes
from example_testing import pytest_generate_tests  # noqa: F401

import torch


def test_equals_torch(device):
    for dtype in DTYPES:
        for shape in shapes("square"):
            input = normal(*shape, dtype=dtype, device=device)
            out = ops.square(input)
            assert out.dtype == dtype and out.shape == input.shape and out.device == input.device
            assert torch.equal(out, input.square()), (dtype, shape)


def test_every_16_bit_pattern(device):
    for dtype in (torch.float16, torch.bfloat16):
        bits = torch.arange(-32768, 32768, dtype=torch.int32).to(torch.int16).to(device)
        input = bits.view(dtype)
        torch.testing.assert_close(
            ops.square(input), input.square(), rtol=0, atol=0, equal_nan=True
        )


def test_takes_slices_and_strides(device):
    for dtype in DTYPES:
        matrix = normal(64, 66, dtype=dtype, device=device)
        for input in (matrix.flatten()[1:], matrix.flatten()[7:-3], matrix.t(), matrix[:, ::2]):
            out = ops.square(input)
            assert out.is_contiguous()
            assert torch.equal(out, input.square())


def test_refuses_in_one_sentence(device):
    assert refusal(lambda: ops.square(torch.zeros(3, dtype=torch.int32, device=device))) == (
        "square: wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for input, "
        "found Int."
    )


def test_opcheck(device):
    for dtype in DTYPES:
        input = normal(33, 65, dtype=dtype, device=device)
        opcheck(ops.square.default, (input,))
        opcheck(ops.square.default, (input.t(),))
        opcheck(ops.square.default, (input[:0],))
        opcheck(ops.square.default, (input.requires_grad_(),))


def test_gradient(device):
    input = normal(100, dtype=torch.float32, device=device).requires_grad_()
    ops.square(input).sum().backward()
    assert torch.equal(input.grad, 2 * input.detach())


if __name__ == "__main__":
    main(globals())

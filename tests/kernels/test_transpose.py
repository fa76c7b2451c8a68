# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.transpose against torch: the same bits."""

from kernel_testing import DTYPES, kernels, main, normal, opcheck, ops, refusal, shapes
from kernel_testing import pytest_generate_tests  # noqa: F401

import torch

SHAPES = shapes("transpose")


def same(found, input):
    wanted = input.swapaxes(-2, -1).contiguous()
    assert found.is_contiguous() and found.shape == wanted.shape and found.dtype == wanted.dtype
    bits = torch.int32 if found.dtype == torch.float32 else torch.int16
    assert torch.equal(found.view(bits), wanted.view(bits)), (input.shape, input.stride())


def test_forward(device):
    for dtype in DTYPES:
        for shape in SHAPES:
            input = normal(*shape, dtype=dtype, device=device)
            same(ops.transpose(input), input)


def test_twice_is_the_input(device):
    for dtype in DTYPES:
        input = normal(3, 77, 1000, dtype=dtype, device=device)
        assert torch.equal(ops.transpose(ops.transpose(input)), input)


def test_takes_strided_input(device):
    for dtype in DTYPES:
        wide = normal(4, 70, 150, dtype=dtype, device=device)
        for input in (
            wide[:, :, :129],
            wide[:, 1:, 1:66],
            wide[:, ::2, 3:],
            wide[::2],
            wide[:1].expand(3, 70, 150),
            wide[:, :1].expand(4, 70, 150),
            wide.swapaxes(0, 1),
            wide[..., 7:8],
            wide[:, 5:6],
            wide.view(2, 2, 70, 150).swapaxes(0, 1),  # batches without one stride: copied
            wide.swapaxes(1, 2),  # rows whose elements lie apart: copied
            wide[..., ::2],
        ):
            found = ops.transpose(input)
            same(found, input)
            assert found.data_ptr() != input.data_ptr()


def test_moves_bits(device):
    """NaNs with their payload, infinities, subnormals, negative zero."""
    words = torch.arange(-(2**15), 2**15, dtype=torch.int16, device=device).view(256, 256)
    for dtype in (torch.float16, torch.bfloat16):
        same(ops.transpose(words.view(dtype)), words.view(dtype))
    words = torch.arange(-(2**31), 2**31 - 1, 65521, dtype=torch.int32, device=device)
    words = words[:65536].view(256, 256)
    same(ops.transpose(words.view(torch.float32)), words.view(torch.float32))


def test_autograd(device):
    for dtype in DTYPES:
        input = normal(2, 33, 65, dtype=dtype, device=device).requires_grad_()
        grad = normal(2, 65, 33, dtype=dtype, device=device, seed=1)
        (found,) = torch.autograd.grad(kernels.transpose(input), input, grad)
        same(found, grad)
        (found,) = torch.autograd.grad(kernels.transpose(input).sum(), input)
        assert torch.equal(found, torch.ones_like(input))


def test_refuses_in_one_sentence(device):
    x = torch.zeros(8, device=device)
    for call, sentence in (
        (
            lambda: ops.transpose(x.int().view(2, 4)),
            "transpose: wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for input, "
            "found Int.",
        ),
        (
            lambda: ops.transpose(x),
            "transpose: wanted at least two dimensions for input, found shape [8].",
        ),
    ):
        assert refusal(call) == sentence, refusal(call)


def test_opcheck(device):
    for dtype in DTYPES:
        input = normal(3, 4, 33, dtype=dtype, device=device)
        opcheck(ops.transpose.default, (input,))
        opcheck(ops.transpose.default, (input.requires_grad_(),))


if __name__ == "__main__":
    main(globals())

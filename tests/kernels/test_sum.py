# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops_examples.sum against torch.sum."""

from example_testing import DTYPES, main, normal, opcheck, ops, refusal, shapes
from example_testing import pytest_generate_tests  # noqa: F401

import torch


def test_is_close_to_the_exact_sum(device):
    for dtype in DTYPES:
        for shape in shapes("sum") + ((1000003,),):
            input = normal(*shape, dtype=dtype, device=device)
            out = ops.sum(input)
            assert out.dtype == dtype and out.shape == () and out.device == input.device
            exact = input.double().sum()
            # Half a last place of the result, and what sum.h allows for additions in float.
            allowed = (
                torch.finfo(dtype).eps / 2 * exact.abs()
                + 2**-24 * 256 * input.double().abs().sum()
            )
            assert (out.double() - exact).abs() <= allowed, (dtype, shape, out, exact)


def test_equals_torch_for_whole_numbers(device):
    generator = torch.Generator().manual_seed(0)
    whole = torch.randint(-8, 9, (100003,), generator=generator)
    for dtype in DTYPES:
        input = whole.to(dtype).to(device)
        assert ops.sum(input).item() == torch.tensor(whole.sum().item()).to(dtype).item()


def test_has_the_same_bits_on_every_run(device):
    for dtype in DTYPES:
        input = normal(1000003, dtype=dtype, device=device)
        first = ops.sum(input)
        for _ in range(20):
            assert torch.equal(ops.sum(input), first)
    if device == "cpu":
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        alone = ops.sum(input)
        torch.set_num_threads(threads)
        assert torch.equal(alone, first)


def test_takes_slices_and_strides(device):
    matrix = torch.arange(64 * 66, device=device).remainder(7).reshape(64, 66)
    for dtype in DTYPES:
        values = matrix.to(dtype)
        for input in (values.flatten()[1:], values.flatten()[7:-3], values.t(), values[:, ::2]):
            assert ops.sum(input).item() == input.double().sum().to(dtype).item()


def test_refuses_in_one_sentence(device):
    assert refusal(lambda: ops.sum(torch.zeros(3, dtype=torch.float64, device=device))) == (
        "sum: wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for input, "
        "found Double."
    )


def test_opcheck(device):
    for dtype in DTYPES:
        input = normal(33, 65, dtype=dtype, device=device)
        opcheck(ops.sum.default, (input,))
        opcheck(ops.sum.default, (input.t(),))
        opcheck(ops.sum.default, (input[:0],))
        opcheck(ops.sum.default, (input.requires_grad_(),))


def test_gradient(device):
    input = normal(10, 10, dtype=torch.float32, device=device).requires_grad_()
    ops.sum(input).backward()
    assert torch.equal(input.grad, torch.ones_like(input))


if __name__ == "__main__":
    main(globals())

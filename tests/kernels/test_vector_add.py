# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops_examples.vector_add against torch.add."""

import unittest

from example_testing import DTYPES, main, normal, opcheck, ops, refusal, shapes
from example_testing import pytest_generate_tests  # noqa: F401

import torch


def pair(*shape, dtype, device):
    return (
        normal(*shape, dtype=dtype, device=device, seed=1),
        normal(*shape, dtype=dtype, device=device, seed=2),
    )


def test_equals_torch(device):
    for dtype in DTYPES:
        for shape in shapes("vector_add"):
            a, b = pair(*shape, dtype=dtype, device=device)
            out = ops.vector_add(a, b)
            assert out.dtype == dtype and out.shape == a.shape and out.device == a.device
            assert torch.equal(out, a + b), (dtype, shape)


def test_takes_slices_and_strides(device):
    for dtype in DTYPES:
        a, b = pair(64, 66, dtype=dtype, device=device)
        for left, right in (
            (a.flatten()[1:], b.flatten()[1:]),
            (a.flatten()[1:], b.flatten()[:-1]),
            (a.flatten()[3:-2], b.flatten()[5:]),
            (a.t(), b.t()),
            (a[:, ::2], b[:, 1::2]),
            (a[0].expand(5, -1), b[:5]),
        ):
            out = ops.vector_add(left, right)
            assert out.is_contiguous()
            assert torch.equal(out, left + right)


def test_keeps_its_inputs(device):
    a, b = pair(1000, dtype=torch.float32, device=device)
    kept_a, kept_b = a.clone(), b.clone()
    ops.vector_add(a, b)
    assert torch.equal(a, kept_a) and torch.equal(b, kept_b)


def test_refuses_in_one_sentence(device):
    a = torch.zeros(2, 3, device=device)
    assert refusal(lambda: ops.vector_add(a, a[0])) == (
        "vector_add: wanted one shape for a and b, found [2, 3] and [3]."
    )
    assert refusal(lambda: ops.vector_add(a, a.half())) == (
        "vector_add: wanted one dtype for a and b, found Float and Half."
    )
    assert refusal(lambda: ops.vector_add(a.double(), a.double())) == (
        "vector_add: wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for a, "
        "found Double."
    )
    if device == "cuda":
        assert refusal(lambda: ops.vector_add(a, a.cpu())) == (
            "vector_add: wanted one device for a and b, found cuda:0 and cpu."
        )


def test_opcheck(device):
    for dtype in DTYPES:
        a, b = pair(33, 65, dtype=dtype, device=device)
        opcheck(ops.vector_add.default, (a, b))
        opcheck(ops.vector_add.default, (a.requires_grad_(), b.t().contiguous().t()))
        opcheck(ops.vector_add.default, (a[:0], b[:0]))


def test_gradient(device):
    a, b = (t.requires_grad_() for t in pair(100, dtype=torch.float32, device=device))
    weight = normal(100, dtype=torch.float32, device=device, seed=3)
    (ops.vector_add(a, b) * weight).sum().backward()
    assert torch.equal(a.grad, weight) and torch.equal(b.grad, weight)


def test_runs_on_the_current_stream(device):
    if device != "cuda":
        raise unittest.SkipTest("streams are a GPU's")
    # The input is written late on a stream of its own: a launch on any other stream reads it early.
    a = torch.zeros(1 << 20, device=device)
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        a.fill_(3)
        out = ops.vector_add(a, a)
    stream.synchronize()
    assert torch.equal(out, torch.full_like(a, 6))


if __name__ == "__main__":
    main(globals())

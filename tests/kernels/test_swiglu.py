# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.swiglu against float64 and torch."""

import gated_unit_testing as testing
from kernel_testing import kernels, main, ops
from kernel_testing import pytest_generate_tests  # noqa: F401
from torch.nn.functional import silu


def test_forward_and_backward(device):
    testing.check_forward_and_backward("swiglu", ops.swiglu, ops.swiglu_backward, silu, device)


def test_autograd(device):
    testing.check_autograd(kernels.swiglu, silu, device)


def test_takes_strided_rows(device):
    testing.check_strided_rows(ops.swiglu, ops.swiglu_backward, silu, device)


def test_keeps_nan_and_infinity_in_their_place(device):
    testing.check_nan_and_infinity(ops.swiglu, ops.swiglu_backward, device)


def test_same_bits_each_run(device):
    testing.check_same_bits(ops.swiglu, ops.swiglu_backward, device)


def test_refuses_in_one_sentence(device):
    testing.check_refusals("swiglu", ops.swiglu, ops.swiglu_backward, device)


def test_opcheck(device):
    testing.check_opcheck(ops.swiglu.default, ops.swiglu_backward.default, device)


if __name__ == "__main__":
    main(globals())

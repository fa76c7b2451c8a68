# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.geglu against float64 and torch."""

import gated_unit_testing as testing
import torch
from kernel_testing import kernels, main, ops, refusal
from kernel_testing import pytest_generate_tests  # noqa: F401
from torch.nn.functional import gelu


def of_each_kind():
    """(function, backward, activation) for both values of `approximate`."""
    for kind in ("none", "tanh"):
        yield (
            lambda gate, up: ops.geglu(gate, up, kind),
            lambda grad, gate, up: ops.geglu_backward(grad, gate, up, kind),
            lambda x: gelu(x, approximate=kind),
        )


def test_forward_and_backward(device):
    for function, backward, activation in of_each_kind():
        testing.check_forward_and_backward("geglu", function, backward, activation, device)


def test_autograd(device):
    for kind in ("none", "tanh"):
        testing.check_autograd(
            lambda gate, up: kernels.geglu(gate, up, approximate=kind),
            lambda x: gelu(x, approximate=kind),
            device,
        )


def test_takes_strided_rows(device):
    for function, backward, activation in of_each_kind():
        testing.check_strided_rows(function, backward, activation, device)


def test_keeps_nan_and_infinity_in_their_place(device):
    for function, backward, _ in of_each_kind():
        testing.check_nan_and_infinity(function, backward, device)


def test_same_bits_each_run(device):
    for function, backward, _ in of_each_kind():
        testing.check_same_bits(function, backward, device)


def test_refuses_in_one_sentence(device):
    testing.check_refusals("geglu", ops.geglu, ops.geglu_backward, device)
    x = torch.zeros(2, 8, device=device)
    for op, call in (
        ("geglu", lambda: ops.geglu(x, x, "quick")),
        ("geglu_backward", lambda: ops.geglu_backward(x, x, x, "quick")),
    ):
        sentence = f'{op}: wanted "none" or "tanh" for approximate, found "quick".'
        assert refusal(call) == sentence, refusal(call)


def test_opcheck(device):
    for arguments in ((), ("tanh",)):
        testing.check_opcheck(ops.geglu.default, ops.geglu_backward.default, device, *arguments)


if __name__ == "__main__":
    main(globals())

# SPDX-License-Identifier: Apache-2.0
"""geglu: fake kernels, gradients, the function."""


import torch
from torch import Tensor

from ._autograd import differentiable, gradient
from ._gelu import gelu_and_slope
from ._registration import Rows, register_op
from ._rows import halves


@register_op(
    "geglu_backward", Rows("gate", "up", "grad_output", num_outputs=2, last=0), gradient
)
def _gradient(grad_output, gate, up, approximate):
    return gate.new_empty(gate.shape), up.new_empty(up.shape)


def _jvp(args, tangents):
    gate, up, approximate = args
    gate_tangent, up_tangent = tangents
    value, slope = gelu_and_slope(gate.float(), approximate)
    tangent = torch.zeros_like(value)
    if gate_tangent is not None:
        tangent = tangent + slope * up.float() * gate_tangent.float()
    if up_tangent is not None:
        tangent = tangent + value * up_tangent.float()
    return tangent.to(gate.dtype)


def _setup(ctx, args, output):
    gate, up, ctx.approximate = args
    ctx.save_for_backward(gate, up)


def _backward(ctx, grad_output):
    return *_gradient(grad_output, *ctx.saved_tensors, ctx.approximate), None


@register_op(
    "geglu",
    Rows("gate", "up", last=0),
    differentiable(setup=_setup, backward=_backward, jvp=_jvp),
)
def _geglu(gate, up, approximate):
    return gate.new_empty(gate.shape)


def geglu(gate: Tensor, up: Tensor, approximate: str = "none") -> Tensor:
    """torch.nn.functional.gelu(gate, approximate=approximate) * up in one pass; gate and up may be
    halves of one tensor."""
    return _geglu(gate, up, approximate)


def gelu_and_mul(x: Tensor, approximate: str = "none") -> Tensor:
    """gelu of the first half of the last dimension times the second: geglu() of a packed tensor."""
    return geglu(*halves("gelu_and_mul", x), approximate)

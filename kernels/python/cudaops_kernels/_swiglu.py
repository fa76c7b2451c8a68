# SPDX-License-Identifier: Apache-2.0
"""swiglu: fake kernels, gradients, the function."""


import torch
from torch import Tensor

from ._autograd import differentiable, gradient
from ._registration import Rows, register_op
from ._rows import halves


@register_op(
    "swiglu_backward", Rows("gate", "up", "grad_output", num_outputs=2, last=0), gradient
)
def _gradient(grad_output, gate, up):
    return gate.new_empty(gate.shape), up.new_empty(up.shape)


def _jvp(args, tangents):
    gate, up = (tensor.float() for tensor in args)
    gate_tangent, up_tangent = tangents
    sigmoid = torch.sigmoid(gate)
    tangent = torch.zeros_like(gate)
    if gate_tangent is not None:
        slope = sigmoid * (1 + gate * (1 - sigmoid))
        tangent = tangent + slope * up * gate_tangent.float()
    if up_tangent is not None:
        tangent = tangent + gate * sigmoid * up_tangent.float()
    return tangent.to(args[0].dtype)


@register_op(
    "swiglu",
    Rows("gate", "up", last=0),
    differentiable(
        setup=lambda ctx, args, output: ctx.save_for_backward(*args),
        backward=lambda ctx, grad_output: _gradient(grad_output, *ctx.saved_tensors),
        jvp=_jvp,
    ),
)
def _swiglu(gate, up):
    return gate.new_empty(gate.shape)


def swiglu(gate: Tensor, up: Tensor) -> Tensor:
    """torch.nn.functional.silu(gate) * up in one pass; gate and up may be halves of one tensor."""
    return _swiglu(gate, up)


def silu_and_mul(x: Tensor) -> Tensor:
    """silu of the first half of the last dimension times the second: swiglu() of a packed tensor."""
    return swiglu(*halves("silu_and_mul", x))

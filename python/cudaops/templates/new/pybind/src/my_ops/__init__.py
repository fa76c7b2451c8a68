"""Operators for torch."""

import torch

from . import _C

__all__ = ["scaled_add"]


# A function of the module as an operator: torch.compile, opcheck and gradients know it as torch.ops.my_ops.scaled_add.
@torch.library.custom_op("my_ops::scaled_add", mutates_args=())
def scaled_add(a: torch.Tensor, b: torch.Tensor, scale: float) -> torch.Tensor:
    """a + scale * b in one pass: float32, contiguous, of one shape and on one device."""
    return _C.scaled_add(a, b, scale)


# What torch.compile needs to know: the result without the computation.
@scaled_add.register_fake
def _(a, b, scale):
    return torch.empty_like(a)


def _setup_context(ctx, inputs, output):
    ctx.scale = inputs[2]


def _backward(ctx, grad_output):
    return grad_output, ctx.scale * grad_output, None


scaled_add.register_autograd(_backward, setup_context=_setup_context)

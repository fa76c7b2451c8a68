# SPDX-License-Identifier: Apache-2.0
"""geglu: fake kernels, gradients, the function."""

import torch

from ._library import ops
from ._registration import register_fake, register_once_differentiable


@register_fake("geglu")
def _(gate, up, approximate="none"):
    return gate.new_empty(gate.shape)


@register_fake("geglu_backward")
def _(grad_output, gate, up, approximate="none"):
    return gate.new_empty(gate.shape), up.new_empty(up.shape)


register_once_differentiable("geglu_backward")


def _setup(ctx, inputs, output):
    gate, up, approximate = inputs
    ctx.save_for_backward(gate, up)
    ctx.approximate = approximate


def _backward(ctx, grad_output):
    gate, up = ctx.saved_tensors
    return *ops.geglu_backward(grad_output, gate, up, ctx.approximate), None


torch.library.register_autograd("cudaops::geglu", _backward, setup_context=_setup)


def geglu(gate, up, approximate="none"):
    """torch.nn.functional.gelu(gate, approximate=approximate) * up in one pass; gate and up may be
    halves of one tensor."""
    return ops.geglu(gate, up, approximate)

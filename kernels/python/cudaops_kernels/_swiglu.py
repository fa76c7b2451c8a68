# SPDX-License-Identifier: Apache-2.0
"""swiglu: fake kernels, gradients, the function."""

import torch

from ._library import ops
from ._registration import register_fake, register_once_differentiable


@register_fake("swiglu")
def _(gate, up):
    return gate.new_empty(gate.shape)


@register_fake("swiglu_backward")
def _(grad_output, gate, up):
    return gate.new_empty(gate.shape), up.new_empty(up.shape)


register_once_differentiable("swiglu_backward")


def _setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _backward(ctx, grad_output):
    return ops.swiglu_backward(grad_output, *ctx.saved_tensors)


torch.library.register_autograd("cudaops::swiglu", _backward, setup_context=_setup)


def swiglu(gate, up):
    """torch.nn.functional.silu(gate) * up in one pass; gate and up may be halves of one tensor."""
    return ops.swiglu(gate, up)

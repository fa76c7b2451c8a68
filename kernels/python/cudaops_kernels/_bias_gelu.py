# SPDX-License-Identifier: Apache-2.0
"""bias_gelu: fake kernels, gradients, the function."""

import torch

from ._library import ops
from ._registration import register_fake, register_once_differentiable


@register_fake("bias_gelu")
def _(input, bias, approximate="none"):
    return input.new_empty(input.shape)


@register_fake("bias_gelu_backward")
def _(grad_output, input, bias, approximate="none"):
    grad_bias = input.new_empty(0) if bias is None else bias.new_empty(bias.shape)
    return input.new_empty(input.shape), grad_bias


register_once_differentiable("bias_gelu_backward")


def _setup(ctx, inputs, output):
    input, bias, approximate = inputs
    ctx.save_for_backward(input, bias)
    ctx.approximate = approximate


def _backward(ctx, grad_output):
    input, bias = ctx.saved_tensors
    grad_input, grad_bias = ops.bias_gelu_backward(grad_output, input, bias, ctx.approximate)
    return grad_input, None if bias is None else grad_bias, None


torch.library.register_autograd("cudaops::bias_gelu", _backward, setup_context=_setup)


def bias_gelu(input, bias=None, approximate="none"):
    """torch.nn.functional.gelu(input + bias, approximate=approximate) in one pass.

    bias has one element for each of input's last dimension, and may be float32 where input is not.
    """
    return ops.bias_gelu(input, bias, approximate)

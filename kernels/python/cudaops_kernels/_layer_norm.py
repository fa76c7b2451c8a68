# SPDX-License-Identifier: Apache-2.0
"""layer_norm: fake kernels, gradients, functions."""

import torch

from ._library import ops
from ._registration import register_fake, register_once_differentiable
from ._rows import flat_rows, per_row, shaped_as


@register_fake("layer_norm")
def _(input, weight, bias, eps):
    return input.new_empty(input.shape), per_row(input), per_row(input)


@register_fake("layer_norm_backward")
def _(grad_output, input, weight, bias, mean, rstd):
    grads = [input.new_empty(0) if t is None else t.new_empty(t.shape) for t in (weight, bias)]
    return input.new_empty(input.shape), *grads


register_once_differentiable("layer_norm_backward")


def _setup(ctx, inputs, output):
    input, weight, bias, _ = inputs
    _, mean, rstd = output
    ctx.mark_non_differentiable(mean, rstd)
    ctx.save_for_backward(input, weight, bias, mean, rstd)


def _backward(ctx, grad_output, *_):
    input, weight, bias, mean, rstd = ctx.saved_tensors
    grad_input, grad_weight, grad_bias = ops.layer_norm_backward(
        grad_output, input, weight, bias, mean, rstd
    )
    return (
        grad_input,
        None if weight is None else grad_weight,
        None if bias is None else grad_bias,
        None,
    )


torch.library.register_autograd("cudaops::layer_norm", _backward, setup_context=_setup)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """torch.nn.functional.layer_norm; weight and bias may be float32 where input is not."""
    rows, columns = flat_rows(
        "layer_norm", input, normalized_shape, {"weight": weight, "bias": bias}
    )
    output, _, _ = ops.layer_norm(rows, *columns, eps)
    return shaped_as(input, rows, output)


class LayerNorm(torch.nn.LayerNorm):
    """torch.nn.LayerNorm, computed by layer_norm()."""

    def forward(self, input):
        return layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

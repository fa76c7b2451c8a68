# SPDX-License-Identifier: Apache-2.0
"""layer_norm: fake kernels, gradients, functions."""

from typing import Optional, cast

import torch
from torch import Tensor
from torch.fx import wrap

from ._autograd import differentiable, gradient
from ._batching import has_no_sums
from ._registration import Rows, register_op
from ._rows import Shape, flat_rows, is_last_dimension, per_row, shaped_as


@register_op(
    "layer_norm_backward",
    Rows(
        "input",
        "grad_output",
        "mean",
        "rstd",
        num_sums=2,
        is_one_call=lambda arguments: has_no_sums("needs_grad_weight", "weight")(arguments)
        and has_no_sums("needs_grad_bias", "bias")(arguments),
    ),
    gradient,
)
def _gradient(
    grad_output,
    input,
    weight,
    bias,
    mean,
    rstd,
    needs_grad_weight,
    needs_grad_bias,
):
    return (
        input.new_empty(input.shape),
        *(
            t.new_empty(t.shape) if t is not None and is_needed else input.new_empty(0)
            for t, is_needed in ((weight, needs_grad_weight), (bias, needs_grad_bias))
        ),
    )


def _setup(ctx, args, outputs):
    input, weight, bias, _ = args
    _, mean, rstd = outputs
    ctx.save_for_backward(input, weight, bias, mean, rstd)


def _backward(ctx, grad_output):
    input, weight, bias, mean, rstd = ctx.saved_tensors
    _, needs_weight, needs_bias, *_ = ctx.needs_input_grad
    needs_weight = needs_weight and weight is not None
    needs_bias = needs_bias and bias is not None
    grad_input, grad_weight, grad_bias = _gradient(
        grad_output, input, weight, bias, mean, rstd, needs_weight, needs_bias
    )
    return (
        grad_input,
        grad_weight if needs_weight else None,
        grad_bias if needs_bias else None,
        None,
    )


def _jvp(args, tangents):
    input, weight, _, eps = args
    input_tangent, weight_tangent, bias_tangent = tangents
    x = input.float()
    x = x - x.mean(-1, keepdim=True)
    rstd = torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    normed = x * rstd
    tangent = torch.zeros_like(normed)
    if input_tangent is not None:
        t = input_tangent.float()
        t = t - t.mean(-1, keepdim=True)
        tangent = rstd * (t - normed * (normed * t).mean(-1, keepdim=True))
    if weight is not None:
        tangent = tangent * weight.float()
    if weight_tangent is not None:
        tangent = tangent + normed * weight_tangent.float()
    if bias_tangent is not None:
        tangent = tangent + bias_tangent.float()
    return tangent.to(input.dtype)


@register_op(
    "layer_norm",
    Rows("input", num_outputs=3),
    differentiable(setup=_setup, backward=_backward, jvp=_jvp),
)
def _layer_norm(input, weight, bias, eps):
    return input.new_empty(input.shape), per_row(input), per_row(input)


def layer_norm(
    input: Tensor,
    normalized_shape: Shape,
    weight: Optional[Tensor] = None,
    bias: Optional[Tensor] = None,
    eps: float = 1e-5,
) -> Tensor:
    """torch.nn.functional.layer_norm; weight and bias may be float32 where input is not."""
    if is_last_dimension(input, normalized_shape):
        return _layer_norm(input, weight, bias, eps)
    rows, columns = flat_rows(
        "layer_norm", input, normalized_shape, {"weight": weight, "bias": bias}
    )
    output = _layer_norm(rows, *columns, eps)
    return cast(Tensor, shaped_as(input, rows, output))


wrap("layer_norm")  # within the module, for torch.fx.symbolic_trace


class LayerNorm(torch.nn.LayerNorm):
    """torch.nn.LayerNorm, computed by layer_norm()."""

    def forward(self, input: Tensor) -> Tensor:
        return layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

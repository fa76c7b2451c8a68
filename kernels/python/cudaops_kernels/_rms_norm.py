# SPDX-License-Identifier: Apache-2.0
"""rms_norm: fake kernels, gradients, functions."""

import torch

from ._library import ops
from ._registration import (
    refuse_gradients,
    register_fake,
    register_in_place,
    register_once_differentiable,
)
from ._rows import flat_rows, per_row, shaped_as


@register_fake("rms_norm")
def _(input, weight, eps, weight_offset=0.0):
    return input.new_empty(input.shape), per_row(input)


@register_fake("fused_add_rms_norm")
def _(input, residual, weight, eps, weight_offset=0.0):
    return input.new_empty(input.shape), input.new_empty(input.shape), per_row(input)


@register_fake("fused_add_rms_norm_")
def _(input, residual, weight, eps):
    return None


@register_fake("rms_norm_backward")
def _(grad_output, grad_residual_out, x, weight, rstd, weight_offset=0.0):
    return x.new_empty(x.shape), x.new_empty(0) if weight is None else weight.new_empty(weight.shape)


register_once_differentiable("rms_norm_backward")
register_in_place("fused_add_rms_norm_")


def _setup(ctx, inputs, output):
    _, weight, _, weight_offset = inputs
    _, rstd = output
    ctx.mark_non_differentiable(rstd)
    ctx.save_for_backward(inputs[0], weight, rstd)
    ctx.weight_offset = weight_offset


def _backward(ctx, grad_output, _):
    x, weight, rstd = ctx.saved_tensors
    grad_x, grad_weight = ops.rms_norm_backward(
        grad_output, None, x, weight, rstd, ctx.weight_offset
    )
    return grad_x, None if weight is None else grad_weight, None, None


def _setup_fused(ctx, inputs, output):
    _, _, weight, _, weight_offset = inputs
    _, residual_out, rstd = output
    ctx.mark_non_differentiable(rstd)
    ctx.save_for_backward(residual_out, weight, rstd)
    ctx.weight_offset = weight_offset


def _backward_fused(ctx, grad_output, grad_residual_out, _):
    x, weight, rstd = ctx.saved_tensors
    grad_x, grad_weight = ops.rms_norm_backward(
        grad_output, grad_residual_out, x, weight, rstd, ctx.weight_offset
    )
    return grad_x, grad_x, None if weight is None else grad_weight, None, None


torch.library.register_autograd("cudaops::rms_norm", _backward, setup_context=_setup)
torch.library.register_autograd(
    "cudaops::fused_add_rms_norm", _backward_fused, setup_context=_setup_fused
)


def _torch_eps(dtype):
    """torch's own default, asked of it: its versions take that of the type, or of float32, in which
    they calculate."""
    of_type, of_float32 = torch.finfo(dtype).eps, torch.finfo(torch.float32).eps
    x = torch.full((1,), 1e-2, dtype=dtype, device="cpu")
    # x / sqrt(x * x + eps): 1 for the smaller one, 0.3 or less for the larger.
    return of_float32 if torch.nn.functional.rms_norm(x, (1,)).item() > 0.6 else of_type


_EPS_OF_FLOAT32 = torch.finfo(torch.float32).eps
_EPS = {dtype: _torch_eps(dtype) for dtype in (torch.float16, torch.bfloat16)}


def eps_or_default(eps, input):
    return _EPS.get(input.dtype, _EPS_OF_FLOAT32) if eps is None else eps


def rms_norm(input, normalized_shape, weight=None, eps=None, *, weight_offset=0.0):
    """torch.nn.functional.rms_norm in one pass.

    weight may be float32 where input is not. weight_offset is added to it (1 for Gemma's norm).
    """
    rows, (columns,) = flat_rows("rms_norm", input, normalized_shape, {"weight": weight})
    output, _ = ops.rms_norm(rows, columns, eps_or_default(eps, input), weight_offset)
    return shaped_as(input, rows, output)


def fused_add_rms_norm(
    input, residual, normalized_shape, weight=None, eps=None, *, weight_offset=0.0
):
    """(rms_norm(input + residual), input + residual) in one pass, both differentiable."""
    op = "fused_add_rms_norm"
    rows, (columns,) = flat_rows(op, input, normalized_shape, {"weight": weight})
    residual_rows, _ = flat_rows(op, residual, normalized_shape, {})
    output, residual_out, _ = ops.fused_add_rms_norm(
        rows, residual_rows, columns, eps_or_default(eps, input), weight_offset
    )
    return shaped_as(input, rows, output), shaped_as(input, rows, residual_out)


def fused_add_rms_norm_(input, residual, weight=None, eps=1e-6):
    """The same over the last dimension without new tensors and without gradients: input becomes the
    normalised sum, residual the sum."""
    refuse_gradients("fused_add_rms_norm_", input=input, residual=residual)
    ops.fused_add_rms_norm_(input, residual, weight, eps)


class RMSNorm(torch.nn.RMSNorm):
    """torch.nn.RMSNorm, computed by rms_norm()."""

    def forward(self, input):
        return rms_norm(input, self.normalized_shape, self.weight, self.eps)

# SPDX-License-Identifier: Apache-2.0
"""rms_norm: fake kernels, gradients, functions."""

from typing import Any, Optional, Union, cast

import torch
from torch import Tensor
from torch.fx import wrap

from ._autograd import differentiable, gradient
from ._batching import has_no_sums
from ._library import ops
from ._registration import Rows, in_place, refuse_gradients, register_op
from ._rows import Shape, flat_rows, is_last_dimension, per_row, shaped_as


@register_op("fused_add_rms_norm_", autograd=in_place)
def _in_place(input, residual, weight, eps, weight_offset):
    return None


@register_op(
    "rms_norm_backward",
    Rows(
        "x",
        "grad_output",
        "grad_residual_out",
        "rstd",
        num_sums=1,
        is_one_call=has_no_sums("needs_grad_weight", "weight"),
    ),
    gradient,
)
def _gradient(
    grad_output, grad_residual_out, x, weight, rstd, weight_offset, needs_grad_weight
):
    has_grad_weight = weight is not None and needs_grad_weight
    grad_weight = weight.new_empty(weight.shape) if has_grad_weight else x.new_empty(0)
    return x.new_empty(x.shape), grad_weight


def _setup(ctx, args, outputs):
    input, weight, _, ctx.weight_offset = args
    ctx.save_for_backward(input, weight, outputs[1])


def _backward(ctx, grad_output):
    x, weight, rstd = ctx.saved_tensors
    needs_grad_weight = weight is not None and ctx.needs_input_grad[1]
    grad_x, grad_weight = _gradient(
        grad_output, None, x, weight, rstd, ctx.weight_offset, needs_grad_weight
    )
    return grad_x, grad_weight if needs_grad_weight else None, None, None


def _setup_fused(ctx, args, outputs):
    _, _, weight, _, ctx.weight_offset = args
    _, residual_out, rstd = outputs
    ctx.save_for_backward(residual_out, weight, rstd)


def _backward_fused(ctx, grad_output, grad_residual_out):
    x, weight, rstd = ctx.saved_tensors
    if grad_output is None:
        return grad_residual_out, grad_residual_out, None, None, None
    needs_grad_weight = weight is not None and ctx.needs_input_grad[2]
    grad_x, grad_weight = _gradient(
        grad_output, grad_residual_out, x, weight, rstd, ctx.weight_offset, needs_grad_weight
    )
    return grad_x, grad_x, grad_weight if needs_grad_weight else None, None, None


def _jvp_of_norm(x, weight, eps, weight_offset, x_tangent, weight_tangent):
    x32 = x.float()
    rstd = torch.rsqrt(x32.square().mean(-1, keepdim=True) + eps)
    normed = x32 * rstd
    tangent = torch.zeros_like(normed)
    if x_tangent is not None:
        t = x_tangent.float()
        tangent = rstd * (t - normed * (normed * t).mean(-1, keepdim=True))
    if weight is not None:
        tangent = tangent * (weight.float() + weight_offset)
    if weight_tangent is not None:
        tangent = tangent + normed * weight_tangent.float()
    return tangent.to(x.dtype)


def _jvp(args, tangents):
    return _jvp_of_norm(*args, *tangents)


def _jvp_fused(args, tangents):
    input, residual, *others = args
    input_tangent, residual_tangent, weight_tangent = tangents
    sums = [t for t in (input_tangent, residual_tangent) if t is not None]
    sum_tangent = sum(sums) if sums else torch.zeros_like(input)
    output = _jvp_of_norm(input + residual, *others, sum_tangent, weight_tangent)
    return output, sum_tangent


@register_op(
    "rms_norm",
    Rows("input", num_outputs=2),
    differentiable(setup=_setup, backward=_backward, jvp=_jvp),
)
def _rms_norm(input, weight, eps, weight_offset):
    return input.new_empty(input.shape), per_row(input)


@register_op(
    "fused_add_rms_norm",
    Rows("input", "residual", num_outputs=3),
    differentiable(
        setup=_setup_fused, backward=_backward_fused, jvp=_jvp_fused, num_differentiable=2
    ),
)
def _fused_add_rms_norm(input, residual, weight, eps, weight_offset):
    return input.new_empty(input.shape), input.new_empty(input.shape), per_row(input)


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
    return _EPS.get(getattr(input, "dtype", None), _EPS_OF_FLOAT32) if eps is None else eps


def rms_norm(
    input: Tensor,
    normalized_shape: Shape,
    weight: Optional[Tensor] = None,
    eps: Optional[float] = None,
    *,
    weight_offset: float = 0.0,
) -> Tensor:
    """torch.nn.functional.rms_norm in one pass.

    weight may be float32 where input is not. weight_offset is added to it (1 for Gemma's norm).
    """
    if is_last_dimension(input, normalized_shape):
        return _rms_norm(input, weight, eps_or_default(eps, input), weight_offset)
    rows, (columns,) = flat_rows("rms_norm", input, normalized_shape, {"weight": weight})
    output = _rms_norm(rows, columns, eps_or_default(eps, input), weight_offset)
    return cast(Tensor, shaped_as(input, rows, output))


def fused_add_rms_norm(
    input: Tensor,
    residual: Tensor,
    normalized_shape: Shape,
    weight: Optional[Tensor] = None,
    eps: Optional[float] = None,
    *,
    weight_offset: float = 0.0,
    residual_dtype: Optional[torch.dtype] = None,
) -> tuple[Tensor, Tensor]:
    """(rms_norm(input + residual), input + residual) in one pass, both differentiable.

    The first result is of input's dtype, the second of residual's, or of residual_dtype. Where these
    differ the sum is taken before the norm, which reads it again.
    """
    op = "fused_add_rms_norm"
    rows, (columns,) = flat_rows(op, input, normalized_shape, {"weight": weight})
    residual_rows, _ = flat_rows(op, residual, normalized_shape, {})
    if residual_dtype is None:
        residual_dtype = residual.dtype if residual is not None else None
    if residual is not None and (residual_dtype, residual.dtype) != (input.dtype, input.dtype):
        return _of_two_dtypes(
            input, residual, residual_dtype, normalized_shape, weight, eps, weight_offset
        )
    output, residual_out = _fused_add_rms_norm(
        rows, residual_rows, columns, eps_or_default(eps, input), weight_offset
    )
    return shaped_as(input, rows, output), shaped_as(input, rows, residual_out)


def _of_two_dtypes(input, residual, residual_dtype, normalized_shape, weight, eps, weight_offset):
    if input.shape != residual.shape:
        raise ValueError(
            f"fused_add_rms_norm: wanted one shape for input and residual, found "
            f"{list(input.shape)} and {list(residual.shape)}."
        )
    residual_out = (input.float() + residual.float()).to(residual_dtype)
    total = residual_out.float()
    weight = None if weight is None else weight.float()
    output = rms_norm(
        total, normalized_shape, weight, eps_or_default(eps, input), weight_offset=weight_offset
    )
    return output.to(input.dtype), residual_out


def fused_add_rms_norm_(
    input: Tensor,
    residual: Tensor,
    normalized_shape: Shape,
    weight: Optional[Tensor] = None,
    eps: Optional[float] = None,
    *,
    weight_offset: float = 0.0,
) -> None:
    """The same without new tensors and without gradients: input becomes the normalised sum, residual
    the sum."""
    op = "fused_add_rms_norm_"
    refuse_gradients(op, input=input, residual=residual)
    rows, (columns,) = flat_rows(op, input, normalized_shape, {"weight": weight}, is_written=True)
    residual_rows, _ = flat_rows(op, residual, normalized_shape, {}, is_written=True)
    if residual is not None and residual.dtype != input.dtype:
        output, total = _of_two_dtypes(
            input, residual, residual.dtype, normalized_shape, weight, eps, weight_offset
        )
        input.copy_(output)
        residual.copy_(total)
        return
    _in_place(rows, residual_rows, columns, eps_or_default(eps, input), weight_offset)


wrap("rms_norm")  # within the module, for torch.fx.symbolic_trace


class RMSNorm(torch.nn.RMSNorm):
    """torch.nn.RMSNorm, computed by rms_norm(). weight_offset is added to the weight: with 1, as
    Gemma's, it begins as zeros, else as ones."""

    def __init__(
        self,
        normalized_shape: Union[int, list[int], torch.Size],
        eps: Optional[float] = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        weight_offset: float = 0.0,
    ) -> None:
        self.weight_offset = weight_offset
        super().__init__(normalized_shape, eps, elementwise_affine, device, dtype)

    def reset_parameters(self) -> None:
        if self.elementwise_affine:
            torch.nn.init.constant_(self.weight, 1.0 - self.weight_offset)

    def forward(self, input: Tensor) -> Tensor:
        return rms_norm(
            input, self.normalized_shape, self.weight, self.eps, weight_offset=self.weight_offset
        )

    def extra_repr(self) -> str:
        offset = f", weight_offset={self.weight_offset}" if self.weight_offset else ""
        return super().extra_repr() + offset

# SPDX-License-Identifier: Apache-2.0
"""linear_cross_entropy: the last layer of a language model and its loss, a part of the rows at a
time, so that there are never logits of all of them."""

from typing import Any, Optional, cast

import torch
from torch import Tensor

from ._errors import raise_again
from ._library import ops

# Rows of logits at a time: a quarter of all, as three times that is what torch's way holds, but
# enough for matrix products at full speed and at most so many.
_FEWEST, _MOST = 256, 4096


def _rows_at_a_time(num_rows: int) -> int:
    return max(1, min(num_rows, _MOST, max(_FEWEST, -(-num_rows // 4))))


class _Loss(torch.autograd.Function):
    """The sum or mean with its gradients, computed in one go; or a loss for each row, of which
    backward() computes the logits again."""

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        weight: Tensor,
        bias: Optional[Tensor],
        target: Tensor,
        reduction: str,
        ignore_index: int,
        label_smoothing: float,
    ) -> Tensor:
        ctx.one_a_row = reduction == "none"
        needs_rows, needs_weight, needs_bias, *_ = ctx.needs_input_grad
        needs_any = (needs_rows or needs_weight or needs_bias) and not ctx.one_a_row
        options = (ignore_index, label_smoothing, 0.0, 0.0)
        ctx.options = options
        ctx.needs = needs_rows, needs_weight, needs_bias
        losses = rows.new_empty(rows.shape[0], dtype=torch.float32)
        lses = torch.empty_like(losses)
        grad_rows = torch.empty_like(rows) if needs_any and needs_rows else None
        grad_weight = torch.zeros_like(weight) if needs_any and needs_weight else None
        grad_bias = (
            torch.zeros_like(bias, dtype=torch.float32)
            if needs_any and needs_bias and bias is not None
            else None
        )
        factor = None
        if reduction == "mean":
            factor = 1.0 / (target != ignore_index).sum().to(torch.float32)
        size = _rows_at_a_time(rows.shape[0])
        for first in range(0, rows.shape[0], size):
            part = slice(first, first + size)
            logits = torch.nn.functional.linear(rows[part], weight, bias)
            run = ops.cross_entropy_ if needs_any else ops.cross_entropy
            losses[part], lses[part] = run(logits, target[part], *options, "none")
            if needs_any:
                _add_gradients(
                    logits, rows[part], weight, factor, part, grad_rows, grad_weight, grad_bias
                )
            del logits
        if ctx.one_a_row:
            ctx.save_for_backward(rows, weight, bias, target, lses)
            return losses
        if grad_bias is not None and bias is not None:
            grad_bias = grad_bias.to(bias.dtype)
        ctx.save_for_backward(grad_rows, grad_weight, grad_bias)
        ctx.is_used = False
        return losses.sum() if factor is None else losses.sum() * factor

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad_loss: Tensor) -> Any:
        if not ctx.one_a_row:
            # Out of place: what was saved serves another backward pass.
            grads = (
                None if grad is None else (grad * grad_loss).to(grad.dtype)
                for grad in ctx.saved_tensors
            )
            return *grads, None, None, None, None
        rows, weight, bias, target, lses = ctx.saved_tensors
        needs_rows, needs_weight, needs_bias = ctx.needs
        grad_rows = torch.empty_like(rows) if needs_rows else None
        grad_weight = torch.zeros_like(weight) if needs_weight else None
        grad_bias = torch.zeros_like(bias, dtype=torch.float32) if needs_bias else None
        size = _rows_at_a_time(rows.shape[0])
        for first in range(0, rows.shape[0], size):
            part = slice(first, first + size)
            logits = torch.nn.functional.linear(rows[part], weight, bias)
            grad = ops.cross_entropy_backward(
                grad_loss[part].contiguous(),
                logits,
                target[part],
                lses[part],
                *ctx.options,
                "none",
            )
            _add_gradients(grad, rows[part], weight, None, part, grad_rows, grad_weight, grad_bias)
        if grad_bias is not None:
            grad_bias = grad_bias.to(bias.dtype)
        return grad_rows, grad_weight, grad_bias, None, None, None, None


def _add_gradients(
    grad: Tensor,
    rows: Tensor,
    weight: Tensor,
    factor: Optional[Tensor],
    part: slice,
    grad_rows: Optional[Tensor],
    grad_weight: Optional[Tensor],
    grad_bias: Optional[Tensor],
) -> None:
    """factor multiplies the small factors, not the gradient of all classes."""
    if grad_rows is not None:
        torch.mm(grad, weight, out=grad_rows[part])
        if factor is not None:
            grad_rows[part].mul_(factor)
    if grad_weight is not None:
        if factor is not None:
            rows = (rows * factor).to(rows.dtype)
        grad_weight.addmm_(grad.t(), rows)
    if grad_bias is not None:
        sums = grad.sum(0, dtype=torch.float32)
        grad_bias.add_(sums if factor is None else sums * factor)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Optional[Tensor] = None,
    weight: None = None,
    reduction: str = "mean",
    ignore_index: Optional[int] = None,
    label_smoothing: float = 0.0,
    options: None = None,
) -> Tensor:
    """cross_entropy(linear(input, linear_weight, linear_bias), target) without the logits of all
    rows: torch.nn.functional.linear_cross_entropy of torch 2.15. The loss is float32.

    input is [*, features], linear_weight [classes, features], target [*]. Gradients are computed
    along with the loss where it is one number; weight and options must be None.
    """
    op = "linear_cross_entropy"
    for name, value in (("weight", weight), ("options", options)):
        if value is not None:
            raise ValueError(f"{op}: wanted None for {name}, found {type(value).__name__}.")
    if linear_weight.dim() != 2 or input.dim() == 0 or input.shape[-1] != linear_weight.shape[1]:
        raise ValueError(
            f"{op}: wanted [*, features] for input and [classes, features] for linear_weight, found "
            f"shapes {list(input.shape)} and {list(linear_weight.shape)}."
        )
    if target.shape != input.shape[:-1]:
        raise ValueError(
            f"{op}: wanted input's shape without the last dimension for target, found "
            f"{list(target.shape)} for input's {list(input.shape)}."
        )
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(
            f'{op}: wanted "none", "mean" or "sum" for reduction, found "{reduction}".'
        )
    if torch.is_autocast_enabled(input.device.type):
        dtype = torch.get_autocast_dtype(input.device.type)
        input, linear_weight = input.to(dtype), linear_weight.to(dtype)
        linear_bias = None if linear_bias is None else linear_bias.to(dtype)
    try:
        loss = _Loss.apply(
            input.reshape(-1, input.shape[-1]),
            linear_weight,
            linear_bias,
            target.reshape(-1),
            reduction,
            -100 if ignore_index is None else ignore_index,
            label_smoothing,
        )
    except RuntimeError as error:
        raise_again(error)
    return cast(Tensor, loss.view(target.shape) if reduction == "none" else loss)

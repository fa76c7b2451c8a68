# SPDX-License-Identifier: Apache-2.0
"""linear_cross_entropy: the last layer of a language model and its loss, a part of the rows at a
time, so that there are never logits of all of them."""

from collections.abc import Iterator, Sequence
from typing import Any, Optional, cast

import torch
from torch import Tensor

from ._autograd import is_compiling
from ._cross_entropy import cross_entropy
from ._errors import raise_again
from ._library import ops

# Rows of logits at a time. torch's way holds the logits of all and their gradient: a fifth of the rows
# is a tenth of that. Enough for matrix products at full speed, and at most so many.
_FEWEST, _MOST, _MULTIPLE = 256, 4096, 64


def _rows_at_a_time(num_rows: int) -> int:
    fifth = -(-num_rows // (5 * _MULTIPLE)) * _MULTIPLE
    return max(1, min(num_rows, _MOST, max(_FEWEST, fifth)))


def _parts(num_rows: int) -> Iterator[slice]:
    """How many they are is what a compiled graph is made for, not num_rows."""
    size = _rows_at_a_time(num_rows)
    for index in range(-(-num_rows // size)):
        yield slice(index * size, (index + 1) * size)


class _Gradients:
    """What the parts of the rows add to."""

    def __init__(self, needs: Sequence[bool], rows: Tensor, weight: Tensor, bias: Optional[Tensor]):
        needs_rows, needs_weight, needs_bias = needs
        self.weight_of_call, self.bias_of_call = weight, bias
        self.rows = torch.empty_like(rows) if needs_rows else None
        self.weight: Optional[Tensor] = None
        if needs_weight:
            # Written by the first part.
            make = torch.empty_like if rows.shape[0] else torch.zeros_like
            self.weight = make(weight)
        self.bias: Optional[Tensor] = None
        if needs_bias and bias is not None:
            self.bias = torch.zeros_like(bias, dtype=torch.float32)

    def add(self, grad: Tensor, rows: Tensor, factor: Optional[Tensor], part: slice) -> None:
        """grad: of logits. factor multiplies the small factors, not the gradient of all classes."""
        if self.rows is not None:
            torch.mm(grad, self.weight_of_call, out=self.rows[part])
            if factor is not None:
                self.rows[part].mul_(factor)
        if self.weight is not None:
            if factor is not None:
                rows = (rows * factor).to(rows.dtype)
            if part.start == 0:
                torch.mm(grad.t(), rows, out=self.weight)
            else:
                self.weight.addmm_(grad.t(), rows)
        if self.bias is not None:
            sums = grad.sum(0, dtype=torch.float32)
            self.bias.add_(sums if factor is None else sums * factor)

    def result(self) -> tuple[Optional[Tensor], ...]:
        bias = self.bias
        if bias is not None and self.bias_of_call is not None:
            bias = bias.to(self.bias_of_call.dtype)
        return self.rows, self.weight, bias


def _factor_of(reduction: str, target: Tensor, ignore_index: int) -> Optional[Tensor]:
    """Of gradients. Where all rows are ignored they are zeros, as torch's, and the mean is NaN."""
    if reduction != "mean":
        return None
    return 1.0 / (target != ignore_index).sum().clamp(min=1).to(torch.float32)


def _run(
    needs: Sequence[bool],
    rows: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    target: Tensor,
    reduction: str,
    options: tuple[int, float, float, float],
) -> tuple[Tensor, Tensor, Optional[tuple[Optional[Tensor], ...]]]:
    """The loss, the rows' lse, and of a sum or mean the gradients that are needed."""
    gradients = None
    if any(needs) and reduction != "none":
        gradients = _Gradients(needs, rows, weight, bias)
    losses = rows.new_empty(rows.shape[0], dtype=torch.float32)
    lses = torch.empty_like(losses)
    factor = _factor_of(reduction, target, options[0])
    for part in _parts(rows.shape[0]):
        logits = torch.nn.functional.linear(rows[part], weight, bias)
        run = ops.cross_entropy if gradients is None else ops.cross_entropy_
        losses[part], lses[part] = run(logits, target[part], *options, "none")
        if gradients is not None:
            gradients.add(logits, rows[part], factor, part)
        del logits
    loss = losses if reduction == "none" else losses.sum()
    if reduction == "mean":
        loss = loss / (target != options[0]).sum()
    return loss, lses, None if gradients is None else gradients.result()


class _Loss(torch.autograd.Function):
    """The sum or mean with its gradients, computed in one go, which the first backward pass takes; of a
    loss for each row, and in another pass, backward() computes the logits again."""

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        weight: Tensor,
        bias: Optional[Tensor],
        target: Tensor,
        reduction: str,
        options: tuple[int, float, float, float],
    ) -> Tensor:
        ctx.needs = ctx.needs_input_grad[:3]
        ctx.reduction, ctx.options = reduction, options
        loss, lses, ctx.gradients = _run(ctx.needs, rows, weight, bias, target, reduction, options)
        ctx.save_for_backward(rows, weight, bias, target, lses)
        return loss

    @staticmethod
    def backward(ctx: Any, grad_loss: Tensor) -> Any:
        # With gradients enabled here someone wants the second derivative.
        if torch.is_grad_enabled() and not is_compiling():
            raise RuntimeError("linear_cross_entropy: there is no second derivative.")
        if ctx.gradients is not None:
            # In place, and without another user: as the weight's gradient, it needs no copy.
            grads, ctx.gradients = ctx.gradients, None
            for grad in grads:
                if grad is not None:
                    ops.cross_entropy_scale_(grad, grad_loss)
            return *grads, None, None, None
        rows, weight, bias, target, lses = ctx.saved_tensors
        gradients = _Gradients(ctx.needs, rows, weight, bias)
        factor = _factor_of(ctx.reduction, target, ctx.options[0])
        grad_losses = grad_loss if factor is None else grad_loss * factor
        grad_losses = grad_losses.expand(rows.shape[0])
        for part in _parts(rows.shape[0]):
            logits = torch.nn.functional.linear(rows[part], weight, bias)
            grad = ops.cross_entropy_backward(
                grad_losses[part].contiguous(),
                logits,
                target[part],
                lses[part],
                *ctx.options,
                "none",
            )
            gradients.add(grad, rows[part], None, part)
        return *gradients.result(), None, None, None


def _check_tensors(op: str, input: Any, weight: Any, target: Any, bias: Any) -> None:
    for name, value in (("input", input), ("linear_weight", weight), ("target", target)):
        if not isinstance(value, Tensor):
            raise TypeError(f"{op}: wanted a tensor for {name}, found {type(value).__name__}.")
    if not (bias is None or isinstance(bias, Tensor)):
        raise TypeError(
            f"{op}: wanted a tensor or None for linear_bias, found {type(bias).__name__}."
        )
    if weight.dim() != 2 or input.dim() == 0 or input.shape[-1] != weight.shape[1]:
        raise ValueError(
            f"{op}: wanted [*, features] for input and [classes, features] for linear_weight, found "
            f"shapes {list(input.shape)} and {list(weight.shape)}."
        )
    if target.shape != input.shape[:-1]:
        raise ValueError(
            f"{op}: wanted input's shape without the last dimension for target, found "
            f"{list(target.shape)} for input's {list(input.shape)}."
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(
            f"{op}: wanted [classes] for linear_bias, found {list(bias.shape)} for linear_weight's "
            f"{list(weight.shape)}."
        )


def _is_composed(needs_grad: bool, *tensors: Optional[Tensor]) -> bool:
    """Whether this call is cross_entropy(linear(...)) as such, which has rules for all of it: shards,
    transforms, tangents, and an exported program, which holds no backward pass of a function of Python."""
    return (
        torch._C._are_functorch_transforms_active()
        or (needs_grad and torch.compiler.is_exporting())
        or torch.autograd.forward_ad._current_level >= 0
        or any(hasattr(tensor, "_local_tensor") for tensor in tensors)
    )


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

    input is [*, features], linear_weight [classes, features], target [*], linear_bias [classes], of
    one dtype but under autocast. Gradients are computed along with the loss where it is one number;
    there is no second derivative. weight and options must be None. Of DTensors, under torch.func's
    transforms, with tangents and in torch.export with gradients it is cross_entropy(linear(...)), with the
    logits.
    """
    op = "linear_cross_entropy"
    for name, value in (("weight", weight), ("options", options)):
        if value is not None:
            raise ValueError(f"{op}: wanted None for {name}, found {type(value).__name__}.")
    _check_tensors(op, input, linear_weight, target, linear_bias)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(
            f'{op}: wanted "none", "mean" or "sum" for reduction, found "{reduction}".'
        )
    # Of meta tensors torch has no autocast.
    if not input.is_meta and torch.is_autocast_enabled(input.device.type):
        dtype = torch.get_autocast_dtype(input.device.type)
        input, linear_weight = input.to(dtype), linear_weight.to(dtype)
        linear_bias = None if linear_bias is None else linear_bias.to(dtype)
    for name, tensor in (("linear_weight", linear_weight), ("linear_bias", linear_bias)):
        if tensor is not None and tensor.dtype != input.dtype:
            raise TypeError(
                f"{op}: wanted one dtype for input and {name}, found {input.dtype} and {tensor.dtype}."
            )
    ignore_index = -100 if ignore_index is None else ignore_index
    needs_grad = torch.is_grad_enabled() and any(
        tensor is not None and tensor.requires_grad for tensor in (input, linear_weight, linear_bias)
    )
    if _is_composed(needs_grad, input, linear_weight, linear_bias, target):
        logits = torch.nn.functional.linear(input, linear_weight, linear_bias)
        return cross_entropy(
            logits,
            target,
            ignore_index=ignore_index,
            reduction=reduction,
            label_smoothing=label_smoothing,
        )
    tensors = (
        input.reshape(target.numel(), input.shape[-1]),
        linear_weight,
        linear_bias,
        target.reshape(-1),
    )
    loss_options = (ignore_index, label_smoothing, 0.0, 0.0)
    try:
        if needs_grad:
            loss = _Loss.apply(*tensors, reduction, loss_options)
        else:  # torch.jit.trace() keeps ops, no function of Python
            loss = _run((False,) * 3, *tensors, reduction, loss_options)[0]
    except RuntimeError as error:
        raise_again(error)
    return cast(Tensor, loss.view(target.shape) if reduction == "none" else loss)

# SPDX-License-Identifier: Apache-2.0
"""cross_entropy: fake kernels, gradients, functions."""

import torch

from ._autograd import differentiable, gradient
from ._library import ops
from ._registration import register_fake, register_in_place


@register_fake("cross_entropy")
def _fake(
    logits,
    target,
    ignore_index=-100,
    label_smoothing=0.0,
    lse_square_scale=0.0,
    softcap=0.0,
    reduction="mean",
):
    shape = target.shape if reduction == "none" else ()
    return (
        logits.new_empty(shape, dtype=torch.float32),
        logits.new_empty(target.shape, dtype=torch.float32),
    )


register_fake("cross_entropy_")(_fake)


@register_fake("cross_entropy_backward")
def _(
    grad_loss,
    logits,
    target,
    lse,
    ignore_index=-100,
    label_smoothing=0.0,
    lse_square_scale=0.0,
    softcap=0.0,
    reduction="mean",
):
    return logits.new_empty(logits.shape)


@register_fake("cross_entropy_scale_")
def _(grad_logits, grad_loss):
    return None


register_in_place("cross_entropy_")
register_in_place("cross_entropy_scale_")


_gradient = gradient("cross_entropy_backward")


def _backward(ctx, saved, others, grad_loss):
    return _gradient(grad_loss, *saved, *others), None


def _jvp(args, tangents):
    logits, target, *options = args
    tangent = tangents[0]
    x = logits.float()
    loss, lse = ops.cross_entropy(x, target, *options)
    if tangent is None:
        return torch.zeros_like(loss)
    # Not differentiable again, and says so.
    slopes = _gradient(torch.ones_like(loss), x, target, lse, *options)
    per_row = (slopes * tangent.float()).sum(-1)
    return per_row if options[-1] == "none" else per_row.sum()


_cross_entropy = differentiable(
    "cross_entropy",
    save=lambda args, outputs: (*args[:2], outputs[1]),
    backward=_backward,
    jvp=_jvp,
)


class _InPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, *options):
        loss, lse = ops.cross_entropy_(logits.detach(), target, *options)
        ctx.mark_non_differentiable(lse)
        ctx.save_for_backward(logits)
        ctx.is_used = False
        return loss, lse

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_loss, _):
        if ctx.is_used:
            raise RuntimeError(
                "cross_entropy_: wanted one backward pass, found a second: the first one has used "
                "up the gradient that stands in place of logits."
            )
        ctx.is_used = True
        grad = ctx.saved_tensors[0].detach()
        ops.cross_entropy_scale_(grad, grad_loss)
        return grad, None, None, None, None, None, None


def _refuse(name, **arguments):
    """Arguments of torch's function, in its order, that this one doesn't have."""
    for argument, value in arguments.items():
        if value is not None:
            raise ValueError(
                f"{name}: wanted None for {argument}, found {type(value).__name__}."
            )


def cross_entropy(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
    *,
    lse_square_scale=0.0,
    softcap=0.0,
):
    """torch.nn.functional.cross_entropy of logits [*, classes], targets [*]; the loss is float32.

    weight, and size_average and reduce, which torch has given up, must be None. lse_square_scale
    adds so much of the squared log-sum-exp (z-loss); softcap bounds logits to
    softcap * tanh(input / softcap).
    """
    _refuse("cross_entropy", weight=weight, size_average=size_average, reduce=reduce)
    return _cross_entropy(
        input, target, ignore_index, label_smoothing, lse_square_scale, softcap, reduction
    )


def cross_entropy_(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
    *,
    lse_square_scale=0.0,
    softcap=0.0,
):
    """The same, with the gradient computed at once and kept in input's memory: half the traffic and
    no second tensor of logits. input must not be used afterwards; backward() works once.

    The gradient is rounded to input's dtype before it is multiplied by the loss's own: with float16
    and a loss scale (torch.amp.GradScaler) small gradients are lost that cross_entropy() keeps.
    """
    _refuse("cross_entropy_", weight=weight, size_average=size_average, reduce=reduce)
    options = (ignore_index, label_smoothing, lse_square_scale, softcap, reduction)
    if not (input.requires_grad and torch.is_grad_enabled()):
        return _cross_entropy(input, target, *options)
    base = None if torch.compiler.is_compiling() else input._base
    if input.is_leaf or (base is not None and base.is_leaf and base.requires_grad):
        raise RuntimeError(
            "cross_entropy_: wanted an input that was computed, found a leaf that requires a "
            "gradient, or a view of one: it would be overwritten."
        )
    return _InPlace.apply(input, target, *options)[0]

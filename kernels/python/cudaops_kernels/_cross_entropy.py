# SPDX-License-Identifier: Apache-2.0
"""cross_entropy: fake kernels, gradients, functions."""

from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor

from ._autograd import differentiable, gradient, is_compiling
from ._library import ops
from ._registration import Rows, in_place, register_op


def _placements(arguments: dict) -> list:
    from torch.distributed.tensor import Shard

    if arguments["reduction"] != "none":
        return []
    return [
        ([Shard(dim)] * 2, {"logits": Shard(dim), "target": Shard(dim)})
        for dim in range(len(arguments["logits"].shape) - 1)
    ]


def _placements_of_backward(arguments: dict) -> list:
    from torch.distributed.tensor import Shard

    if arguments["reduction"] != "none":
        return []
    keys = ("logits", "target", "grad_loss", "lse")
    return [
        ([Shard(dim)], {key: Shard(dim) for key in keys})
        for dim in range(len(arguments["logits"].shape) - 1)
    ]


def _is_by_row(arguments: dict) -> bool:
    return bool(arguments["reduction"] == "none")


@register_op(
    "cross_entropy_backward",
    Rows(
        "logits",
        "target",
        "grad_loss",
        "lse",
        placements=_placements_of_backward,
        is_one_call=_is_by_row,
        is_jagged=False,
    ),
    gradient,
)
def _gradient(
    grad_loss,
    logits,
    target,
    lse,
    ignore_index,
    label_smoothing,
    lse_square_scale,
    softcap,
    reduction,
):
    return logits.new_empty(logits.shape)


@register_op("cross_entropy_scale_", autograd=in_place)
def _(grad_logits, grad_loss):
    return None


def _setup(ctx, args, outputs):
    logits, target, *ctx.options = args
    ctx.save_for_backward(logits, target, outputs[1])


def _backward(ctx, grad_loss):
    grad = _gradient(grad_loss, *ctx.saved_tensors, *ctx.options)
    return grad, None, None, None, None, None, None


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


_cross_entropy: Callable[..., Tensor] = register_op(
    "cross_entropy",
    Rows(
        "logits", "target", placements=_placements, is_one_call=_is_by_row, is_jagged=False
    ),
    differentiable(setup=_setup, backward=_backward, jvp=_jvp),
)(_fake)
register_op("cross_entropy_", autograd=in_place)(_fake)


class _OfShards(torch.autograd.Function):
    """A loss for each row, where every process of a group has some of the classes: as torch's
    loss_parallel, numbers a row are exchanged, no logits. Written with torch's ops."""

    @staticmethod
    def forward(ctx, logits, target, first, num_classes, group, options):
        ignore_index, label_smoothing, lse_square_scale, softcap = options

        def over_all(numbers, reduction):
            numbers = numbers.contiguous()
            torch.distributed.all_reduce(numbers, reduction, group=group)
            return numbers

        kinds = torch.distributed.ReduceOp
        x = logits.float()
        slopes = None
        if softcap:
            tanh = torch.tanh(x / softcap)
            x, slopes = softcap * tanh, 1 - tanh * tanh
        most = x.amax(-1) if x.shape[-1] else x.new_full(x.shape[:-1], -torch.inf)
        most = over_all(most, kinds.MAX)
        total = over_all((x - most.unsqueeze(-1)).exp().sum(-1), kinds.SUM)
        lse = most + total.log()
        counts = target != ignore_index
        is_here = (target >= first) & (target < first + x.shape[-1]) & counts
        index = torch.where(is_here, target - first, 0).long().unsqueeze(-1)
        # One message for both.
        picked = torch.zeros_like(lse)
        if x.shape[-1]:
            picked = torch.where(is_here, x.gather(-1, index).squeeze(-1), 0.0)
        picked, sums = over_all(torch.stack((picked, x.sum(-1))), kinds.SUM)
        loss = lse - (1 - label_smoothing) * picked - label_smoothing / num_classes * sums
        loss = torch.where(counts, loss + lse_square_scale * lse.square(), 0.0)
        ctx.save_for_backward(x, lse, index, is_here, counts, slopes)
        ctx.options = label_smoothing / num_classes, label_smoothing, lse_square_scale
        ctx.dtype = logits.dtype
        return loss

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_loss):
        x, lse, index, is_here, counts, slopes = ctx.saved_tensors
        everywhere, label_smoothing, lse_square_scale = ctx.options
        grad = (x - lse.unsqueeze(-1)).exp() * (1 + 2 * lse_square_scale * lse).unsqueeze(-1)
        grad -= everywhere
        if x.shape[-1]:
            grad.scatter_add_(-1, index, -(1 - label_smoothing) * is_here.float().unsqueeze(-1))
        if slopes is not None:
            grad *= slopes
        grad *= torch.where(counts, grad_loss, 0.0).unsqueeze(-1)
        return grad.to(ctx.dtype), None, None, None, None, None


def _of_dtensor(input, target, options, reduction, in_place=False):
    """Rows stay where they are, and so do classes, of one dimension of the mesh. in_place: where a
    process has all classes of its rows."""
    from torch.distributed.tensor import DTensor, Replicate, Shard
    from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

    mesh, classes = input.device_mesh, input.dim() - 1
    replicated = [Replicate()] * mesh.ndim
    if not isinstance(target, DTensor):
        target = DTensor.from_local(target, mesh, replicated, run_check=False)
    placements = [p if isinstance(p, Shard) else Replicate() for p in input.placements]
    shards = [i for i, p in enumerate(placements) if isinstance(p, Shard) and p.dim == classes]
    for place in shards[1:]:
        placements[place] = Replicate()
    if tuple(placements) != tuple(input.placements):
        input = input.redistribute(placements=placements)
    if shards:
        rows = [Replicate() if i == shards[0] else p for i, p in enumerate(placements)]
        target = target.redistribute(placements=rows)
        shape = input.shape
        _, offsets = compute_local_shape_and_global_offset(shape, mesh, placements)
        loss = _OfShards.apply(
            input.to_local(grad_placements=placements),
            target.to_local(),
            offsets[classes],
            shape[classes],
            mesh.get_group(shards[0]),
            options,
        )
        loss = DTensor.from_local(
            loss, mesh, rows, run_check=False, shape=target.shape, stride=target.stride()
        )
    elif in_place:
        target = target.redistribute(placements=placements)
        logits = input.to_local(grad_placements=placements)
        loss, _ = _InPlace.apply(logits, target.to_local(), *options, "none")
        loss = DTensor.from_local(
            loss, mesh, placements, run_check=False, shape=target.shape, stride=target.stride()
        )
    else:
        loss = _cross_entropy(input, target.redistribute(placements=placements), *options, "none")
    if reduction == "none":
        return loss
    total = loss.sum()
    if reduction == "sum":
        return total
    # NaN where all rows are ignored, with gradients of zeros, as torch's.
    count = (target != options[0]).sum()
    return (total / count.clamp(min=1)).masked_fill(count == 0, torch.nan)


class _InPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, *options):
        grad = logits.detach()
        loss, lse = ops.cross_entropy_(grad, target, *options)
        ctx.mark_non_differentiable(lse)
        ctx.save_for_backward(grad)
        ctx.is_used = False
        return loss, lse

    @staticmethod
    def backward(ctx, grad_loss, _):
        # With gradients enabled here someone wants the second derivative.
        if torch.is_grad_enabled() and not is_compiling():
            raise RuntimeError("cross_entropy_: there is no second derivative.")
        if ctx.is_used:
            raise RuntimeError(
                "cross_entropy_: wanted one backward pass, found a second: the first one has used "
                "up the gradient that stands in place of logits."
            )
        ctx.is_used = True
        (grad,) = ctx.saved_tensors
        ops.cross_entropy_scale_(grad, grad_loss)
        return grad, None, None, None, None, None, None


def _refuse(name, **arguments):
    """Arguments of torch's function, in its order, that this one doesn't have."""
    for argument, value in arguments.items():
        if value is not None:
            raise ValueError(
                f"{name}: wanted None for {argument}, found {type(value).__name__}."
            )


def _check_reduction(name, reduction):
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(
            f'{name}: wanted "none", "mean" or "sum" for reduction, found "{reduction}".'
        )


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: None = None,
    size_average: None = None,
    ignore_index: int = -100,
    reduce: None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    *,
    lse_square_scale: float = 0.0,
    softcap: float = 0.0,
) -> Tensor:
    """torch.nn.functional.cross_entropy of logits [*, classes], targets [*]; the loss is float32.

    weight, and size_average and reduce, which torch has given up, must be None. lse_square_scale
    adds so much of the squared log-sum-exp (z-loss); softcap bounds logits to
    softcap * tanh(input / softcap).
    """
    _refuse("cross_entropy", weight=weight, size_average=size_average, reduce=reduce)
    if type(input) is not torch.Tensor and hasattr(input, "_local_tensor"):
        _check_reduction("cross_entropy", reduction)
        options = (ignore_index, label_smoothing, lse_square_scale, softcap)
        return _of_dtensor(input, target, options, reduction)
    return _cross_entropy(
        input, target, ignore_index, label_smoothing, lse_square_scale, softcap, reduction
    )


def cross_entropy_(
    input: Tensor,
    target: Tensor,
    weight: None = None,
    size_average: None = None,
    ignore_index: int = -100,
    reduce: None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    *,
    lse_square_scale: float = 0.0,
    softcap: float = 0.0,
) -> Tensor:
    """The same, with the gradient computed at once and kept in input's memory: half the traffic and
    no second tensor of logits. input must not be used afterwards; backward() works once.

    Under torch.func's transforms and in torch.export it is cross_entropy(), which overwrites nothing.

    The gradient is rounded to input's dtype before it is multiplied by the loss's own: with float16
    and a loss scale (torch.amp.GradScaler) small gradients are lost that cross_entropy() keeps.
    """
    _refuse("cross_entropy_", weight=weight, size_average=size_average, reduce=reduce)
    options = (ignore_index, label_smoothing, lse_square_scale, softcap, reduction)
    is_sharded = type(input) is not torch.Tensor and hasattr(input, "_local_tensor")
    if is_sharded:
        _check_reduction("cross_entropy_", reduction)
    needs_grad = input.requires_grad and torch.is_grad_enabled()
    # An exported program holds no backward pass of a function of Python, and a transform none of this one.
    if not needs_grad or torch._C._are_functorch_transforms_active() or torch.compiler.is_exporting():
        if is_sharded:
            return _of_dtensor(input, target, options[:-1], reduction)
        return _cross_entropy(input, target, *options)
    base = None if torch.compiler.is_compiling() else input._base
    if input.is_leaf or (base is not None and base.is_leaf and base.requires_grad):
        raise RuntimeError(
            "cross_entropy_: wanted an input that was computed, found a leaf that requires a "
            "gradient, or a view of one: it would be overwritten."
        )
    if is_sharded:
        return _of_dtensor(input, target, options[:-1], reduction, in_place=True)
    return cast(Tensor, _InPlace.apply(input, target, *options)[0])

# SPDX-License-Identifier: Apache-2.0
"""softmax: fake kernels, gradients, the function."""

from typing import Optional

import torch
from torch import Tensor

from ._autograd import differentiable, gradient
from ._registration import Rows, register_op


def _placements(arguments: dict) -> list:
    from torch.distributed.tensor import Shard

    mask, num_dims = arguments["mask"], len(arguments["input"].shape)
    result = []
    for dim in range(num_dims - (2 if arguments["causal"] else 1)):
        inputs = {"input": Shard(dim)}
        if mask is not None:
            own = dim - (num_dims - len(mask.shape))
            if own >= 0 and mask.shape[own] != 1:
                inputs["mask"] = Shard(own)
        result.append(([Shard(dim)], inputs))
    return result


def _columns(arguments: dict) -> int:
    """How many of the last dimensions the mask, or the triangle, tells apart."""
    mask = arguments.get("mask")
    return max(2 if arguments["causal"] else 1, 0 if mask is None else len(mask.shape))


def _has_its_queries(arguments: dict) -> bool:
    return not arguments["causal"] or arguments["own_dims"] > 1


def _place_mask(arguments: dict, dims: dict) -> None:
    mask, dim = arguments["mask"], dims["mask"]
    if dim is None:
        return
    mask = mask.movedim(dim, 0)
    # Dimensions are counted from the last: those that it doesn't have come behind the batch's.
    missing = arguments["input"].dim() - mask.dim()
    shape = (mask.shape[0], *(1 for _ in range(missing)), *mask.shape[1:])
    arguments["mask"], dims["mask"] = mask.reshape(shape), None


@register_op(
    "softmax_backward",
    Rows("output", "grad_output", last=_columns, is_one_call=_has_its_queries),
    gradient,
)
def _gradient(grad_output, output, scale, causal):
    return output.new_empty(output.shape)


def _setup(ctx, args, output):
    _, mask, ctx.scale, ctx.causal = args
    ctx.save_for_backward(output)
    ctx.mask = None if mask is None else (mask.shape, mask.dtype)


def _backward(ctx, grad_output):
    (output,) = ctx.saved_tensors
    grad_input = grad_mask = None
    if ctx.needs_input_grad[0]:
        grad_input = _gradient(grad_output, output, ctx.scale, ctx.causal)
    if ctx.mask is not None and ctx.needs_input_grad[1]:
        shape, dtype = ctx.mask
        grad_mask = _gradient(grad_output, output, 1.0, ctx.causal)
        grad_mask = grad_mask.sum_to_size(shape).to(dtype)
    return grad_input, grad_mask, None, None


def _jvp(args, tangents):
    input, mask, scale, causal = args
    input_tangent, mask_tangent = tangents
    logits = input.float() * scale
    seen = torch.ones((), dtype=torch.bool, device=input.device)
    if mask is not None and mask.dtype == torch.bool:
        seen = mask
    elif mask is not None:
        logits = logits + mask.float()
    if causal:
        queries, keys = input.shape[-2:]
        triangle = torch.ones(queries, keys, dtype=torch.bool, device=input.device)
        seen = seen & triangle.tril(keys - queries)
    logits = logits.masked_fill(~seen, -torch.inf)
    # A row that sees nothing is zeros.
    sees_nothing = (logits == -torch.inf).all(-1, keepdim=True)
    output = torch.softmax(logits.masked_fill(sees_nothing, 0.0), -1)
    output = output.masked_fill(sees_nothing, 0.0)
    tangent = torch.zeros_like(output)
    if input_tangent is not None:
        tangent = tangent + scale * input_tangent.float()
    if mask_tangent is not None:
        tangent = tangent + mask_tangent.float()
    tangent = output * (tangent - (output * tangent).sum(-1, keepdim=True))
    return tangent.to(input.dtype)


@register_op(
    "softmax",
    Rows(
        "input",
        last=_columns,
        placements=_placements,
        is_one_call=_has_its_queries,
        prepare=_place_mask,
    ),
    differentiable(setup=_setup, backward=_backward, jvp=_jvp),
)
def _softmax(input, mask, scale, causal):
    return input.new_empty(input.shape)


def softmax(
    input: Tensor,
    dim: int = -1,
    *,
    mask: Optional[Tensor] = None,
    scale: float = 1.0,
    causal: bool = False,
) -> Tensor:
    """torch.softmax(scale * input + mask, dim) in one pass, as attention needs it; dim is the last.

    mask broadcasts to input's shape: added if it is of input's dtype or float32, otherwise bool and
    True where a column is seen. causal: of input [..., queries, keys] query i sees the keys up to
    i + keys - queries. A row that sees nothing is zeros.
    """
    if isinstance(dim, torch.Tensor):
        raise TypeError("softmax: wanted an int for dim, found a tensor; mask is a keyword.")
    if isinstance(input, Tensor) and dim not in (-1, input.dim() - 1):
        raise ValueError(
            f"softmax: wanted the last dimension, -1 or {input.dim() - 1}, for dim, found {dim}."
        )
    is_last_broadcast = isinstance(mask, Tensor) and (mask.dim() == 0 or mask.shape[-1] == 1)
    if is_last_broadcast and isinstance(input, Tensor) and input.dim() > 0:
        mask = mask.expand(*mask.shape[:-1], input.shape[-1])
    return _softmax(input, mask, scale, causal)

# SPDX-License-Identifier: Apache-2.0
"""The ops of attention and attention_varlen: fake kernels, gradients, how they are divided."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ._attention_dropout import kept_weights
from ._autograd import differentiable, gradient
from ._checks import check
from ._registration import Rows, register_op


def _divides_alike(q: Any, k: Any, heads: int) -> bool:
    """Whether a shard of q's heads (DTensor's specs) has the heads of k that they read."""
    num_kv_heads = k.shape[heads]
    if q.shape[heads] == num_kv_heads:
        return True
    # Over which of the mesh's dimensions heads will lie isn't known here.
    shards = {1}
    for size in q.mesh.shape:
        shards |= {size * others for others in shards}
    return all(num_kv_heads % count == 0 for count in shards if count <= num_kv_heads)


def placements_of(is_varlen: bool, is_backward: bool) -> Callable[[dict], list]:
    """For DTensor: by sequences that have a dimension, and by heads if those of keys divide alike."""

    def placements(arguments: dict) -> list:
        from torch.distributed.tensor import Partial, Replicate, Shard

        q, k = arguments["q"], arguments["k"]
        bias, slopes = arguments.get("bias"), arguments["alibi_slopes"]
        sinks = arguments["sinks"]
        if arguments.get("dropout_p"):
            return []  # batches and heads of a part would have the random numbers of the first ones
        heads = len(q.shape) - 2
        # The dimension of tensors with rows, and that of numbers a query.
        dims = [] if is_varlen else [(0, 0)]
        if _divides_alike(q, k, heads):
            dims.append((heads, heads - 1 if heads == 2 else 0))
        result = []
        for dim, own in dims:
            by_heads = dim == heads
            inputs: dict = {
                key: Shard(dim) for key in ("q", "k", "v", "output", "grad_output") if key in arguments
            }
            inputs.update({key: Shard(own) for key in ("lse", "grad_lse") if key in arguments})
            if bias is not None and bias.shape[own] > 1:
                inputs["bias"] = Shard(own)
            if slopes is not None and (by_heads or len(slopes.shape) == 2):
                inputs["alibi_slopes"] = Shard(len(slopes.shape) - 1 if by_heads else 0)
            if by_heads and sinks is not None:
                inputs["sinks"] = Shard(0)
            for key in ("q_descale", "k_descale", "v_descale"):
                shape = getattr(arguments.get(key), "shape", ())
                if math.prod(shape) > 1 and (by_heads or len(shape) == 2):
                    inputs[key] = Shard(len(shape) - 1 if by_heads else 0)
            if not is_backward:
                outputs: list = [Shard(dim), Shard(own)]
            else:
                of_sinks: Any = Replicate()
                if sinks is not None:
                    of_sinks = Shard(0) if by_heads else Partial()
                outputs = [Shard(dim)] * 3
                if not is_varlen:
                    has_grad = bias is not None and arguments.get("needs_grad_bias", True)
                    outputs.append(Shard(own) if has_grad else Replicate())
                outputs.append(of_sinks)
            result.append((outputs, inputs))
        return result

    return placements


def _statistics(q: Tensor, *shape: Any) -> Tensor:
    dtype = torch.float64 if q.dtype == torch.float64 else torch.float32
    return q.new_empty(shape, dtype=dtype)


# One call a member of torch.vmap's batch: the op has its own batch.
ONE_BY_ONE: dict = {
    "num_dims": 4,
    "is_one_call": lambda arguments: False,
    "is_jagged": False,
}


@register_op(
    "attention_backward", Rows("q", placements=placements_of(False, True), **ONE_BY_ONE), gradient
)
def _gradient(*, q, k, v, bias, sinks, needs_grad_bias, **_):
    grad_bias, grad_sinks = q.new_empty((0,)), q.new_empty((0,))
    if bias is not None and needs_grad_bias:
        full = (q.shape[0], q.shape[2], q.shape[1], k.shape[1])
        if tuple(bias.shape) == full:
            grad_bias = bias.new_empty(full)
        else:
            grad_bias = _statistics(q, *full)
    if sinks is not None:
        grad_sinks = sinks.new_empty(sinks.shape)
    return (*(tensor.new_empty(tensor.shape) for tensor in (q, k, v)), grad_bias, grad_sinks)


@register_op(
    "attention_varlen_backward",
    Rows("q", placements=placements_of(True, True), **ONE_BY_ONE),
    gradient,
)
def _varlen_gradient(*, q, k, v, sinks, **_):
    grad_sinks = q.new_empty((0,)) if sinks is None else sinks.new_empty(sinks.shape)
    return (*(tensor.new_empty(tensor.shape) for tensor in (q, k, v)), grad_sinks)


def _refuse_slopes(name, alibi_slopes):
    if alibi_slopes is not None and alibi_slopes.requires_grad:
        raise RuntimeError(
            f"{name}: wanted alibi_slopes without a gradient, found requires_grad."
        )


def _some_grad(grad_output, output):
    """Where only lse has a gradient."""
    return torch.zeros_like(output) if grad_output is None else grad_output


def _setup(ctx, args, outputs):
    q, k, v, bias, alibi_slopes, sinks, seed, *ctx.numbers_of_scores = args
    _refuse_slopes("attention", alibi_slopes)
    ctx.save_for_backward(q, k, v, *outputs, bias, alibi_slopes, sinks, seed)


def _backward(ctx, grad_output, grad_lse):
    q, k, v, output, lse, bias, alibi_slopes, sinks, seed = ctx.saved_tensors
    needs_bias = bias is not None and ctx.needs_input_grad[3]
    grad_q, grad_k, grad_v, grad_bias, grad_sinks = _gradient(
        _some_grad(grad_output, output),
        grad_lse,
        q,
        k,
        v,
        output,
        lse,
        bias,
        alibi_slopes,
        sinks,
        seed,
        *ctx.numbers_of_scores,
        needs_bias,
    )
    return (
        grad_q,
        grad_k,
        grad_v,
        grad_bias.sum_to_size(bias.shape).to(bias.dtype) if needs_bias else None,
        None,
        None if sinks is None else grad_sinks,
        None,
        *(None,) * len(ctx.numbers_of_scores),
    )


def _seen(seq_q, seq_k, causal, window_left, window_right, device):
    """The distance from each query's own key, and where a key is visible."""
    own = torch.arange(seq_q, device=device)[:, None] + seq_k - seq_q
    distance = torch.arange(seq_k, device=device) - own
    right = 0 if causal else window_right
    seen = torch.ones_like(distance, dtype=torch.bool)
    if window_left >= 0:
        seen = seen & (distance >= -window_left)
    if right >= 0:
        seen = seen & (distance <= right)
    return distance, seen


def _tangents(args, tangents, first_batch=0):
    """Of output and lse, by torch's own ops, from [batch, seq, heads, head_dim] and numbers.
    first_batch: for dropout, the first sequence's index."""
    q, k, v, bias, slopes, sinks, seed, scale, causal, left, right, cap, _, dropout_p = args
    if tangents[4] is not None:
        raise RuntimeError("attention: wanted alibi_slopes without a tangent, found one.")
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    dtype, heads = q.dtype, q.shape[2]
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale

    def every_head(tensor):
        """[batch, heads, seq, head_dim]; a key head for each query head."""
        if tensor is None:
            return None
        return tensor.to(wide).repeat_interleave(heads // tensor.shape[2], 2).transpose(1, 2)

    q, k, v, t_q, t_k, t_v = (every_head(tensor) for tensor in (q, k, v, *tangents[:3]))
    scores = scale * (q @ k.mT)
    tangent = torch.zeros_like(scores)
    if t_q is not None:
        tangent = tangent + scale * (t_q @ k.mT)
    if t_k is not None:
        tangent = tangent + scale * (q @ t_k.mT)
    if cap:
        t = torch.tanh(scores / cap)
        scores, tangent = cap * t, tangent * (1 - t.square())
    distance, seen = _seen(q.shape[2], k.shape[2], causal, left, right, q.device)
    if slopes is not None:
        scores = scores - slopes.to(wide)[..., None, None] * distance.abs()
    if bias is not None:
        scores = scores + bias.to(wide)
    if tangents[3] is not None:
        tangent = tangent + tangents[3].to(wide)
    scores = scores.masked_fill(~seen, -torch.inf)
    columns, column_tangents = [scores], [tangent]
    if sinks is not None:
        shape = (*scores.shape[:3], 1)
        columns.append(sinks.to(wide)[:, None, None].expand(shape))
        own = torch.zeros_like(sinks) if tangents[5] is None else tangents[5]
        column_tangents.append(own.to(wide)[:, None, None].expand(shape))
    scores, tangent = torch.cat(columns, -1), torch.cat(column_tangents, -1)
    if scores.shape[-1] == 0:
        t_lse = scores.new_zeros(scores.shape[:3])
    else:
        lse = scores.logsumexp(-1, keepdim=True)
        # A row that sees nothing has no weights.
        weights = torch.exp(scores - lse.masked_fill(lse == -torch.inf, 0.0))
        t_lse = (weights * tangent).sum(-1)
        tangent = weights * (tangent - t_lse[..., None])
        scores = weights
    num_keys = v.shape[2]
    weights, tangent = scores[..., :num_keys], tangent[..., :num_keys]
    if dropout_p:
        kept = kept_weights(seed, dropout_p, weights.shape, first_batch, wide)
        weights, tangent = weights * kept, tangent * kept
    t_output = tangent @ v
    if t_v is not None:
        t_output = t_output + weights @ t_v
    return t_output.transpose(1, 2).to(dtype), t_lse


def _is_known(condition):
    """Of sizes, while something is traced: whether it holds whatever they are when it runs."""
    if isinstance(condition, bool):
        return condition
    from torch.fx.experimental.symbolic_shapes import guard_or_false  # imports sympy

    return guard_or_false(condition)


def empty_output(q, width, dtype=None):
    """torch_attention.h's: in the order of q's memory, but for what is broadcast. A size that isn't known while something is
    traced is taken for one of more than 1: of 1, a dimension's place among the others changes no address."""
    strides = q.stride()[:3]
    order = [0, 1, 2]
    pairs = ((1, 2),) if any(_is_known(stride == 0) for stride in strides) else ((0, 1), (1, 2), (0, 1))
    for i, j in pairs:
        if not _is_known(strides[order[j]] <= strides[order[i]]):
            order[i], order[j] = order[j], order[i]
    output = q.new_empty([q.shape[i] for i in order] + [width], dtype=dtype or q.dtype)
    return output.permute(*(order.index(i) for i in range(3)), 3)


@register_op(
    "attention",
    Rows("q", placements=placements_of(False, False), **ONE_BY_ONE),
    differentiable(setup=_setup, backward=_backward, jvp=_tangents, num_differentiable=2),
)
def attention_op(*, q, k, v, **options):
    check("attention", q=q, k=k, v=v, **options)
    batch, seq_q, heads, _ = q.shape
    return empty_output(q, v.shape[-1]), _statistics(q, batch, heads, seq_q)


def _setup_varlen(ctx, args, outputs):
    q, k, v, cu_seqlens_q, cu_seqlens_k, alibi_slopes, *others = args
    sinks, seed, *ctx.numbers_of_scores = others
    _refuse_slopes("attention_varlen", alibi_slopes)
    ctx.save_for_backward(q, k, v, *outputs, cu_seqlens_q, cu_seqlens_k, alibi_slopes, sinks, seed)


def _backward_varlen(ctx, grad_output, grad_lse):
    q, k, v, output, *others = ctx.saved_tensors
    grad_q, grad_k, grad_v, grad_sinks = _varlen_gradient(
        _some_grad(grad_output, output), grad_lse, q, k, v, output, *others, *ctx.numbers_of_scores
    )
    grad_sinks = None if others[-2] is None else grad_sinks
    nothing = (None,) * (1 + len(ctx.numbers_of_scores))
    return grad_q, grad_k, grad_v, None, None, None, grad_sinks, *nothing


def _tangents_varlen(args, tangents):
    q, k, v, cu_seqlens_q, cu_seqlens_k, slopes, sinks, seed, _, _, *numbers = args
    if tangents[5] is not None:
        raise RuntimeError("attention_varlen: wanted alibi_slopes without a tangent, found one.")
    outputs, lses = [], []
    ends_q, ends_k = cu_seqlens_q.tolist(), cu_seqlens_k.tolist()
    for index, (begin_q, end_q) in enumerate(zip(ends_q, ends_q[1:])):
        begin_k, end_k = ends_k[index], ends_k[index + 1]

        def part(tensor, begin, end):
            return None if tensor is None else tensor[None, begin:end]

        slope = slopes[index] if slopes is not None and slopes.dim() == 2 else slopes
        q_of, k_of, v_of = part(q, begin_q, end_q), part(k, begin_k, end_k), part(v, begin_k, end_k)
        output, lse = _tangents(
            (q_of, k_of, v_of, None, slope, sinks, seed, *numbers),
            (
                part(tangents[0], begin_q, end_q),
                part(tangents[1], begin_k, end_k),
                part(tangents[2], begin_k, end_k),
                None,
                None,
                tangents[6],
            ),
            index,
        )
        outputs.append(output[0])
        lses.append(lse[0])
    if not outputs:
        return q.new_zeros((*q.shape[:2], v.shape[-1])), _statistics(q, q.shape[1], 0)
    return torch.cat(outputs), torch.cat(lses, -1)


@register_op(
    "attention_varlen",
    Rows("q", placements=placements_of(True, False), **ONE_BY_ONE),
    differentiable(
        setup=_setup_varlen, backward=_backward_varlen, jvp=_tangents_varlen, num_differentiable=2
    ),
)
def attention_varlen_op(*, q, k, v, **options):
    check("attention_varlen", q=q, k=k, v=v, **options)
    total, heads, _ = q.shape
    return q.new_empty((total, heads, v.shape[-1])), _statistics(q, heads, total)

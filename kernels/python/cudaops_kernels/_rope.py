# SPDX-License-Identifier: Apache-2.0
"""rope: fake kernels, gradients, functions."""

from typing import Any, Optional

import torch
from torch import Tensor

from ._autograd import differentiable, tangent_or_zero
from ._library import ops
from ._registration import Rows, in_place, refuse_gradients, register_op
from ._rows import is_size
from ._sharding import Placements, token_dims


def _own_dims(arguments: dict) -> int:
    """A token's heads, and without positions its place in the sequence."""
    return 3 if arguments["positions"] is None else 2


def _placements(q: str, k: str) -> Placements:
    def placements(arguments: dict) -> list:
        from torch.distributed.tensor import Shard

        num_dims = len(arguments[q].shape)
        result = [
            ([Shard(dim)] * 2, {q: Shard(dim), k: Shard(dim), "positions": Shard(dim)})
            for dim in token_dims(num_dims, arguments["positions"] is not None)
        ]
        # Heads: of both, which may differ in their number.
        heads = Shard(num_dims - 2)
        return [*result, ([heads] * 2, {q: heads, k: heads})]

    return placements


@register_op("rope_", autograd=in_place)
def _rope_in_place(q, k, cos, sin, positions, interleaved):
    return None


def _or_zeros(grad, other):
    """A gradient that isn't there has no heads: any number of them will do."""
    if grad is not None:
        return grad
    return other.new_zeros((*other.shape[:-2], 1, other.shape[-1]))


def _linear(name, op_of_gradients):
    """The rotation is linear: each of the two ops is the other's gradient."""

    def setup(ctx, args, outputs):
        _, _, *tables, positions, ctx.interleaved = args
        if any(table.requires_grad for table in tables):
            raise RuntimeError(f"{name}: wanted cos and sin without gradients, found requires_grad.")
        ctx.save_for_backward(*tables, positions)

    def backward(ctx, grad_q, grad_k):
        grads = op_of_gradients(
            _or_zeros(grad_q, grad_k),
            _or_zeros(grad_k, grad_q),
            *ctx.saved_tensors,
            ctx.interleaved,
        )
        return (
            None if grad_q is None else grads[0],
            None if grad_k is None else grads[1],
            None,
            None,
            None,
            None,
        )

    def jvp(args, tangents):
        if any(tangent is not None for tangent in tangents[2:4]):
            raise RuntimeError(f"{name}: wanted cos and sin without tangents, found one.")
        q, k, *others = args
        op = getattr(ops, name)
        return op(tangent_or_zero(tangents[0], q), tangent_or_zero(tangents[1], k), *others)

    return differentiable(setup=setup, backward=backward, jvp=jvp, num_differentiable=2)


@register_op(
    "rope",
    Rows("q", "k", "positions", last=_own_dims, num_dims=3, placements=_placements("q", "k")),
    _linear("rope", ops.rope_backward),
)
def _rope(q, k, cos, sin, positions, interleaved):
    return q.new_empty(q.shape), k.new_empty(k.shape)


@register_op(
    "rope_backward",
    Rows(
        "grad_q",
        "grad_k",
        "positions",
        last=_own_dims,
        num_dims=3,
        placements=_placements("grad_q", "grad_k"),
    ),
    _linear("rope_backward", ops.rope),
)
def _(grad_q, grad_k, cos, sin, positions, interleaved):
    return grad_q.new_empty(grad_q.shape), grad_k.new_empty(grad_k.shape)


def rope(
    q: Tensor,
    k: Tensor,
    cos: Tensor,
    sin: Tensor,
    positions: Optional[Tensor] = None,
    interleaved: bool = False,
) -> tuple[Tensor, Tensor]:
    """q and k with their rotary position embedding, by one kernel.

    q is [..., seq, heads, head_dim], k the same with its own number of heads; both may be views,
    also of one tensor. cos and sin are [positions, rotary_dim / 2], of q's dtype or float32; where
    rotary_dim is less than head_dim the rest of each head is copied. positions, of shape
    [..., seq], are int32 or int64; without them the position is the index in seq. Pairs are
    elements i and i + rotary_dim / 2, or 2i and 2i + 1 with interleaved=True.

    A position that cos has no row for is refused on the CPU; on a GPU, where positions aren't
    looked at, its rotated elements become NaN.
    """
    return _rope(q, k, cos, sin, positions, interleaved)


def rope_(
    q: Tensor,
    k: Tensor,
    cos: Tensor,
    sin: Tensor,
    positions: Optional[Tensor] = None,
    interleaved: bool = False,
) -> None:
    """The same in place and without gradients: q and k themselves are rotated."""
    refuse_gradients("rope_", q=q, k=k)
    _rope_in_place(q, k, cos, sin, positions, interleaved)


def rotary_cos_sin(
    seq_len: int,
    head_dim: int,
    base: float = 10000.0,
    *,
    device: Any = None,
    dtype: Optional[torch.dtype] = None,
) -> tuple[Tensor, Tensor]:
    """The tables of rope(): cosine and sine of position * base ** (-2 i / head_dim), both [seq_len,
    head_dim / 2], in torch's default dtype if none is given; angles are float64."""
    for name, value in (("seq_len", seq_len), ("head_dim", head_dim)):
        if not is_size(value):
            raise TypeError(
                f"rotary_cos_sin: wanted an int for {name}, found {type(value).__name__}."
            )
    if head_dim <= 0 or head_dim % 2:
        raise ValueError(f"rotary_cos_sin: wanted an even head_dim above 0, found {head_dim}.")
    if seq_len < 0:
        raise ValueError(f"rotary_cos_sin: wanted a seq_len from 0 on, found {seq_len}.")
    pairs = torch.arange(0, head_dim, 2, device=device, dtype=torch.float64)
    positions = torch.arange(seq_len, device=device, dtype=torch.float64)
    angles = positions[:, None] * base ** (-pairs / head_dim)
    dtype = torch.get_default_dtype() if dtype is None else dtype
    return angles.cos().to(dtype), angles.sin().to(dtype)


def apply_rotary_pos_emb(
    q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, unsqueeze_dim: int = 1
) -> tuple[Tensor, Tensor]:
    """rope() with the arguments that models of Hugging Face's transformers pass.

    q and k are [batch, heads, seq, head_dim] with unsqueeze_dim=1, [batch, seq, heads, head_dim]
    with 2. cos and sin are [batch or 1, seq, rotary_dim], where the second half of the last
    dimension repeats the first, as transformers' rotary embeddings make them; the second is not
    read.
    """
    if unsqueeze_dim not in (1, 2):
        raise ValueError(
            f"apply_rotary_pos_emb: wanted 1 or 2 for unsqueeze_dim, found {unsqueeze_dim}."
        )
    if q.dim() != 4 or k.dim() != 4 or cos.dim() != 3 or cos.shape != sin.shape:
        raise ValueError(
            f"apply_rotary_pos_emb: wanted four dimensions for q and k, three for cos and sin, "
            f"found shapes {list(q.shape)}, {list(k.shape)}, {list(cos.shape)} and "
            f"{list(sin.shape)}."
        )
    if unsqueeze_dim == 1:
        q, k = q.transpose(1, 2), k.transpose(1, 2)
    batch, seq = q.shape[:2]
    if cos.shape[0] not in (1, batch) or cos.shape[1] != seq:
        raise ValueError(
            f"apply_rotary_pos_emb: wanted shape [{batch} or 1, {seq}, rotary_dim] for cos, found "
            f"{list(cos.shape)}."
        )
    half = cos.shape[-1] // 2
    positions = None
    if cos.shape[0] > 1:  # each batch has its own
        positions = torch.arange(batch * seq, device=q.device).view(batch, seq)
    cos, sin = (table[..., :half].reshape(-1, half) for table in (cos, sin))
    q, k = rope(q, k, cos, sin, positions)
    return (q.transpose(1, 2), k.transpose(1, 2)) if unsqueeze_dim == 1 else (q, k)

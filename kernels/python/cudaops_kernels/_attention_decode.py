# SPDX-License-Identifier: Apache-2.0
"""attention_decode: fake kernel, function."""

import math
from typing import Literal, Optional, Union, overload

import torch
from torch import Tensor

from ._attention import checked_window, sinks_of_call
from ._autograd import without_gradient
from ._checks import check
from ._registration import refuse_gradients, register_op


@register_op("attention_decode", autograd=without_gradient)
def _attention_decode(*, q, **options):
    check("attention_decode", q=q, **options)
    batch, q_len, heads, _ = q.shape
    return q.new_empty(q.shape), q.new_empty((batch, heads, q_len), dtype=torch.float32)


@overload
def attention_decode(
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    block_table: Tensor,
    seq_lens: Tensor,
    *,
    scale: Optional[float] = ...,
    window: tuple[int, int] = ...,
    softcap: float = ...,
    sinks: Optional[Tensor] = ...,
    k_scale: Optional[Tensor] = ...,
    v_scale: Optional[Tensor] = ...,
    return_lse: Literal[False] = ...,
) -> Tensor: ...


@overload
def attention_decode(
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    block_table: Tensor,
    seq_lens: Tensor,
    *,
    scale: Optional[float] = ...,
    window: tuple[int, int] = ...,
    softcap: float = ...,
    sinks: Optional[Tensor] = ...,
    k_scale: Optional[Tensor] = ...,
    v_scale: Optional[Tensor] = ...,
    return_lse: Literal[True],
) -> tuple[Tensor, Tensor]: ...


def attention_decode(
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    block_table: Tensor,
    seq_lens: Tensor,
    *,
    scale: Optional[float] = None,
    window: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    sinks: Optional[Tensor] = None,
    k_scale: Optional[Tensor] = None,
    v_scale: Optional[Tensor] = None,
    return_lse: bool = False,
) -> Union[Tensor, tuple[Tensor, Tensor]]:
    """Attention of each sequence's last q_len tokens to all of it, from a paged cache.

    q is [batch, q_len, heads, head_dim] with q_len from 1 to 1024 (1 to 16 are fast; longer prompts
    in several calls with growing seq_lens) and head_dim up to 256; the caches are [blocks, page_size, kv_heads, head_dim] of q's dtype or float8_e4m3fn, any
    view whose last dimension is contiguous; heads is a multiple of kv_heads. block_table (int32,
    [batch, blocks]) names a sequence's blocks in their order, seq_lens (int32, [batch]) counts its
    tokens, those of q among them: token i of q has position seq_lens - q_len + i and sees the keys
    up to its own, with a window (left, right) at most `left` before it; right changes nothing. The keys and values of q's
    tokens are in the cache already (rope_append_kv_).

    scale: 1 / sqrt(head_dim) if it is None. softcap: scores become softcap * tanh(score / softcap).
    sinks: [heads], a score that takes part in each softmax without a value. k_scale and v_scale:
    float32, one element or one for each of kv_heads, multiply numbers of a float8 cache.

    Returns the output like q; with return_lse also the natural logarithm of each softmax's
    denominator, float32, [batch, heads, q_len]. A token that sees no key gets 0, and -inf or its
    sink.

    On the CPU lengths and blocks out of range are refused. On a GPU they aren't looked at before
    the launch, without CUDAOPS_CHECK=1 in the environment: a length counts up to what block_table has
    room for, and keys of a block that the caches don't have are not read and not seen. Not
    differentiable: tensors that require gradients are refused.
    """
    refuse_gradients(
        "attention_decode",
        "there is no derivative",
        q=q,
        k_cache=k_cache,
        v_cache=v_cache,
        sinks=sinks,
        k_scale=k_scale,
        v_scale=v_scale,
    )
    if scale is None and isinstance(q, Tensor) and q.dim() > 0:
        scale = 1.0 / math.sqrt(max(q.shape[-1], 1))
    left, right = checked_window("attention_decode", window)
    if left < -1 or right < -1:
        raise ValueError(
            f"attention_decode: wanted -1 (no bound) or more for window, found {(left, right)}."
        )
    output, lse = _attention_decode(
        q,
        k_cache,
        v_cache,
        block_table,
        seq_lens,
        scale,
        left,  # later keys are never seen
        softcap,
        sinks_of_call("attention_decode", q, sinks),
        k_scale,
        v_scale,
    )
    return (output, lse) if return_lse else output

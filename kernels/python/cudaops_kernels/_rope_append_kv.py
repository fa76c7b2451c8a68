# SPDX-License-Identifier: Apache-2.0
"""rope_append_kv_: fake kernel, function."""

from typing import Optional

from torch import Tensor

from ._checks import check
from ._registration import in_place, refuse_gradients, register_op


@register_op("rope_append_kv_", autograd=in_place)
def _append(*, q, **options):
    check("rope_append_kv_", q=q, **options)
    return q.new_empty(q.shape)


def rope_append_kv_(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cos: Tensor,
    sin: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    block_table: Tensor,
    positions: Tensor,
    *,
    interleaved: bool = False,
    k_scale: Optional[Tensor] = None,
    v_scale: Optional[Tensor] = None,
) -> Tensor:
    """rope() of new tokens' q and k, with k and v written to a paged cache, by one kernel; returns
    the rotated q, which attention_decode() takes next.

    q is [batch, seq, heads, head_dim], k and v the same with kv_heads. cos, sin and interleaved are
    rope()'s. positions (int32 or int64, [batch, seq]) are the tokens' places in their sequences;
    caches and block_table are attention_decode()'s. k_scale and v_scale, of a float8_e4m3fn cache:
    float32, one element or one for each of kv_heads, by which numbers are divided before they are
    rounded.

    A token with a negative position is padding: nothing is written of it, and its q comes back as
    it is. On the CPU positions and blocks out of range are refused before anything is written, on a
    GPU too with CUDAOPS_CHECK=1 in the environment; else nothing is written of such a token, and
    where cos has no row for it q's pairs are NaN. Not differentiable: q, k and v that require
    gradients are refused.
    """
    refuse_gradients("rope_append_kv_", "there is no derivative", q=q, k=k, v=v)
    return _append(
        q, k, v, cos, sin, k_cache, v_cache, block_table, positions, interleaved, k_scale, v_scale
    )

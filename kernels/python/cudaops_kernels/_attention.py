# SPDX-License-Identifier: Apache-2.0
"""attention and attention_varlen."""

from typing import Any, Literal, Optional, Union, overload

import torch
from torch import Tensor

from ._attention_dropout import seed_of_call
from ._attention_float8 import attention_float8_op, attention_varlen_float8_op, is_float8
from ._attention_ops import attention_op, attention_varlen_op

# What attention() gives: the output, or that and lse.
Result = Union[Tensor, tuple[Tensor, Tensor]]


def _is_deterministic(wanted: bool) -> bool:
    return wanted or torch.are_deterministic_algorithms_enabled()


def checked_window(op: str, window: Any) -> tuple[int, int]:
    if not isinstance(window, (tuple, list)) or len(window) != 2:
        raise TypeError(f"{op}: wanted a pair (left, right) for window, found {window!r}.")
    # Dynamo of torch 2.10 can't ask a number that is a symbol for its attributes.
    if not all(isinstance(side, int) or hasattr(side, "__index__") for side in window):
        raise TypeError(f"{op}: wanted two ints, -1 for all, for window, found {window!r}.")
    return window[0], window[1]


def _as_numbers(op: str, name: str, numbers: Tensor, dtype: torch.dtype) -> Tensor:
    if numbers.dtype == torch.bool or numbers.is_complex():
        raise TypeError(f"{op}: wanted real numbers for {name}, found {numbers.dtype}.")
    return numbers.to(dtype)


def _slopes(op: str, slopes: Any) -> Any:
    if not isinstance(slopes, Tensor):
        return slopes
    return _as_numbers(op, "alibi_slopes", slopes, torch.float32)


def sinks_of_call(op: str, q: Any, sinks: Any) -> Any:
    """As the op has them; anything that isn't a tensor has the op's own sentence."""
    if not isinstance(sinks, Tensor) or not isinstance(q, Tensor):
        return sinks
    dtype = torch.float64 if q.dtype == torch.float64 else torch.float32
    return _as_numbers(op, "sinks", sinks, dtype)


@overload
def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: Optional[float] = ...,
    causal: bool = ...,
    window: tuple[int, int] = ...,
    softcap: float = ...,
    bias: Optional[Tensor] = ...,
    alibi_slopes: Optional[Tensor] = ...,
    sinks: Optional[Tensor] = ...,
    dropout_p: float = ...,
    seed: Union[int, Tensor, None] = ...,
    deterministic: bool = ...,
    q_descale: Optional[Tensor] = ...,
    k_descale: Optional[Tensor] = ...,
    v_descale: Optional[Tensor] = ...,
    out_dtype: Optional[torch.dtype] = ...,
    return_lse: Literal[False] = ...,
) -> Tensor: ...


@overload
def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: Optional[float] = ...,
    causal: bool = ...,
    window: tuple[int, int] = ...,
    softcap: float = ...,
    bias: Optional[Tensor] = ...,
    alibi_slopes: Optional[Tensor] = ...,
    sinks: Optional[Tensor] = ...,
    dropout_p: float = ...,
    seed: Union[int, Tensor, None] = ...,
    deterministic: bool = ...,
    q_descale: Optional[Tensor] = ...,
    k_descale: Optional[Tensor] = ...,
    v_descale: Optional[Tensor] = ...,
    out_dtype: Optional[torch.dtype] = ...,
    return_lse: Literal[True],
) -> tuple[Tensor, Tensor]: ...


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: Optional[float] = None,
    causal: bool = False,
    window: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    bias: Optional[Tensor] = None,
    alibi_slopes: Optional[Tensor] = None,
    sinks: Optional[Tensor] = None,
    dropout_p: float = 0.0,
    seed: Union[int, Tensor, None] = None,
    deterministic: bool = False,
    q_descale: Optional[Tensor] = None,
    k_descale: Optional[Tensor] = None,
    v_descale: Optional[Tensor] = None,
    out_dtype: Optional[torch.dtype] = None,
    return_lse: bool = False,
) -> Result:
    """softmax(scores) @ v without the scores in memory; output [batch, seq_q, heads, head_dim of v].

    q is [batch, seq_q, heads, head_dim], k and v [batch, seq_k, kv_heads, head_dim] with heads a
    multiple of kv_heads; v may have a head_dim of its own, both are at most 256. Transposed views of
    [batch, heads, seq, head_dim] are taken without a copy, and of such a q the output is one. float32,
    float16, bfloat16, and float64 on the CPU. A tensor whose heads' elements don't stand side by side
    (a last stride other than 1) is copied, which CUDAOPS_VERBOSE=1 in the environment says. The
    kernels with tensor cores read rows at multiples of 16 bytes with head dimensions that are multiples
    of 8; other tensors are not copied, and the kernels for any GPU take them.

    scores = softcap(scale * q·k) - alibi_slopes * |i + seq_k - seq_q - j| + bias of query i and key
    j, with softcap(x) = softcap * tanh(x / softcap); scale: 1 / sqrt(head_dim) if None. Visible are
    keys with -left <= j - (i + seq_k - seq_q) <= right for window=(left, right), -1: all; causal is
    a right of 0. So the last query is aligned with the last key. bias broadcasts to [batch, heads,
    seq_q, seq_k], of q's dtype or float32; alibi_slopes are [heads] or [batch, heads], taken as
    float32; sinks [heads] are scores of a key more a head, with a value of zeros.

    H100 and H200 read a bias of q's dtype fastest where its rows begin at multiples of 16 bytes (a
    contiguous one's seq_k is a multiple of 8); others are copied to such rows first, broadcast
    dimensions once. The gradient by a bias takes room for a number for each score, in float32 where
    it is broadcast.

    A query that sees no key gives zeros. What is masked by a whole tile of keys is not read; a NaN
    or an infinity in a masked row of v beside visible ones reaches the output. With return_lse also
    lse, float32 (of float64 float64) [batch, heads, seq_q]: log(sum(exp(scores))), sinks included,
    minus infinity where nothing is visible.

    dropout_p: each weight is 0 with this probability (rounded to a multiple of 2^-16), else
    1 / (1 - dropout_p) times what it was; lse isn't changed. seed decides which: an int, or one int64
    element on q's device. None draws one from torch's generator of that device, so that
    torch.manual_seed() repeats it, torch.utils.checkpoint too, and a CUDA graph has new ones each
    time. With one seed and the same shapes the same weights are dropped on all devices, in all dtypes,
    and in the backward pass, which keeps the seed alone; sequences of attention_varlen() are numbered
    as those of a batch. Under torch.vmap a seed that is given, or randomness="same", drops the same
    weights of each member.

    q, k and v may be torch.float8_e4m3fn, without dropout and gradients: they count as
    q * q_descale and so on. A descale is float32, one element, [kv_heads] or [batch, kv_heads] with
    any strides; None is 1. A query head has the factor of the key head that it reads. q_descale and
    k_descale must be above 0, which is not checked. The output is out_dtype (torch.bfloat16 if None;
    float16, float32). H100 and H200 multiply float8 where head dimensions are multiples of 16, as
    addresses and strides are, and out_dtype has 16 bits; weights are rounded to float8 there, as in
    FlashAttention-3. Elsewhere q, k and v are converted to out_dtype first, on the CPU to float32.

    Of few queries (up to 8, of a key head's query heads 32 together) and more than 128 keys, float16 or
    bfloat16, with one head_dim and without bias, slopes and dropout, GPUs with tensor cores divide the
    keys, into parts that the sizes and the window decide, not the batch: a sequence's results are the same, bit for bit, in
    any batch. attention_decode() divides them by how much work there is, which is a little faster.

    There are gradients by q, k, v, bias and sinks, also through lse; not by alibi_slopes. All results
    are the same from run to run, but for the gradient by q on H100 and H200: its parts are added up
    in any order, unless deterministic or torch.use_deterministic_algorithms(True), which is slower.
    """
    left, right = checked_window("attention", window)
    if isinstance(bias, Tensor):
        if bias.dim() < 4:
            bias = bias[(None,) * (4 - bias.dim())]
        if bias.dtype == torch.float32 and isinstance(q, Tensor) and q.dtype == torch.float64:
            bias = bias.double()
    descales = {"q_descale": q_descale, "k_descale": k_descale, "v_descale": v_descale}
    others = {"k": k, "v": v, "bias": bias, "alibi_slopes": alibi_slopes, "sinks": sinks}
    if is_float8("attention", q, descales, out_dtype, dropout_p, others):
        output, lse = attention_float8_op(
            q,
            k,
            v,
            q_descale,
            k_descale,
            v_descale,
            bias,
            _slopes("attention", alibi_slopes),
            sinks_of_call("attention", q, sinks),
            out_dtype,
            scale,
            causal,
            left,
            right,
            softcap,
        )
        return (output, lse) if return_lse else output
    output, lse = attention_op(
        q,
        k,
        v,
        bias,
        _slopes("attention", alibi_slopes),
        sinks_of_call("attention", q, sinks),
        seed_of_call("attention", q, dropout_p, seed),
        scale,
        causal,
        left,
        right,
        softcap,
        _is_deterministic(deterministic),
        dropout_p,
    )
    return (output, lse) if return_lse else output


@overload
def attention_varlen(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    *,
    scale: Optional[float] = ...,
    causal: bool = ...,
    window: tuple[int, int] = ...,
    softcap: float = ...,
    alibi_slopes: Optional[Tensor] = ...,
    sinks: Optional[Tensor] = ...,
    dropout_p: float = ...,
    seed: Union[int, Tensor, None] = ...,
    deterministic: bool = ...,
    q_descale: Optional[Tensor] = ...,
    k_descale: Optional[Tensor] = ...,
    v_descale: Optional[Tensor] = ...,
    out_dtype: Optional[torch.dtype] = ...,
    return_lse: Literal[False] = ...,
) -> Tensor: ...


@overload
def attention_varlen(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    *,
    scale: Optional[float] = ...,
    causal: bool = ...,
    window: tuple[int, int] = ...,
    softcap: float = ...,
    alibi_slopes: Optional[Tensor] = ...,
    sinks: Optional[Tensor] = ...,
    dropout_p: float = ...,
    seed: Union[int, Tensor, None] = ...,
    deterministic: bool = ...,
    q_descale: Optional[Tensor] = ...,
    k_descale: Optional[Tensor] = ...,
    v_descale: Optional[Tensor] = ...,
    out_dtype: Optional[torch.dtype] = ...,
    return_lse: Literal[True],
) -> tuple[Tensor, Tensor]: ...


def attention_varlen(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    *,
    scale: Optional[float] = None,
    causal: bool = False,
    window: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    alibi_slopes: Optional[Tensor] = None,
    sinks: Optional[Tensor] = None,
    dropout_p: float = 0.0,
    seed: Union[int, Tensor, None] = None,
    deterministic: bool = False,
    q_descale: Optional[Tensor] = None,
    k_descale: Optional[Tensor] = None,
    v_descale: Optional[Tensor] = None,
    out_dtype: Optional[torch.dtype] = None,
    return_lse: bool = False,
) -> Result:
    """attention() of sequences that stand one after the other: q [tokens, heads, head_dim], k and v
    [tokens, kv_heads, head_dim]. Sequence i has the queries from cu_seqlens_q[i] to
    cu_seqlens_q[i + 1] and the keys between cu_seqlens_k's, both int32 and on the device. Keywords are
    attention()'s but for bias: scores of sequences of different lengths are no tensor.

    max_seqlen_q and max_seqlen_k: at least the lengths of the longest sequences; a larger bound costs
    blocks that find nothing to do. lse is [heads, tokens]. On the CPU offsets and lengths that
    don't fit are refused; on a GPU, where they aren't looked at without CUDAOPS_CHECK=1 in the
    environment, offsets must go from 0 to the number of tokens, and rows of a sequence that is longer
    than the bound may be left unwritten.
    """
    left, right = checked_window("attention_varlen", window)
    descales = {"q_descale": q_descale, "k_descale": k_descale, "v_descale": v_descale}
    others = {"k": k, "v": v, "alibi_slopes": alibi_slopes, "sinks": sinks}
    if is_float8("attention_varlen", q, descales, out_dtype, dropout_p, others):
        output, lse = attention_varlen_float8_op(
            q,
            k,
            v,
            cu_seqlens_q,
            cu_seqlens_k,
            q_descale,
            k_descale,
            v_descale,
            _slopes("attention_varlen", alibi_slopes),
            sinks_of_call("attention_varlen", q, sinks),
            max_seqlen_q,
            max_seqlen_k,
            out_dtype,
            scale,
            causal,
            left,
            right,
            softcap,
        )
        return (output, lse) if return_lse else output
    output, lse = attention_varlen_op(
        q,
        k,
        v,
        cu_seqlens_q,
        cu_seqlens_k,
        _slopes("attention_varlen", alibi_slopes),
        sinks_of_call("attention_varlen", q, sinks),
        seed_of_call("attention_varlen", q, dropout_p, seed),
        max_seqlen_q,
        max_seqlen_k,
        scale,
        causal,
        left,
        right,
        softcap,
        _is_deterministic(deterministic),
        dropout_p,
    )
    return (output, lse) if return_lse else output

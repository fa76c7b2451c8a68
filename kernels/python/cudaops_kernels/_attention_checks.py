# SPDX-License-Identifier: Apache-2.0
"""What the ops on sequences refuse, for tensors without data: the sentences of their C++ bindings, so
that torch.compile and meta tensors have them too. Sizes that aren't known yet are refused when the
compiled code runs. Each function takes the arguments of its op by their names; of those that it
doesn't list no value is wrong."""

import math
from typing import Any, NoReturn, Optional

import torch
from torch import Tensor

_NAMES = {
    torch.float64: "Double",
    torch.float32: "Float",
    torch.float16: "Half",
    torch.bfloat16: "BFloat16",
    torch.float8_e4m3fn: "Float8_e4m3fn",
    torch.float8_e5m2: "Float8_e5m2",
    torch.bool: "Bool",
    torch.uint8: "Byte",
    torch.int8: "Char",
    torch.int16: "Short",
    torch.int32: "Int",
    torch.int64: "Long",
    torch.complex64: "ComplexFloat",
    torch.complex128: "ComplexDouble",
}
_MAX_HEAD_DIM = 256
_MOST_DECODE_TOKENS = 1024


def _refuse(op: str, sentence: str) -> NoReturn:
    raise RuntimeError(f"{op}: wanted {sentence}.")


def _name(tensor: Tensor) -> str:
    return _NAMES.get(tensor.dtype, str(tensor.dtype))


def _shape(tensor: Tensor) -> str:
    return "[" + ", ".join(str(size) for size in tensor.shape) + "]"


def _is_true(condition: Any) -> bool:
    """Certainly, also of sizes that torch.compile knows as symbols; nothing is guarded."""
    if isinstance(condition, bool):
        return condition
    from torch.fx.experimental.symbolic_shapes import statically_known_true

    return statically_known_true(condition)


def _differ(a: Any, b: Any) -> bool:
    return _is_true(a != b)


def _is_double(q: Tensor) -> bool:
    return q.dtype == torch.float64 and q.device.type in ("cpu", "meta")


def _check_numbers(op: str, scale: Optional[float], softcap: float, dropout_p: float) -> None:
    largest = torch.finfo(torch.float32).max
    if scale is not None and not (math.isfinite(scale) and abs(scale) <= largest):
        _refuse(op, f"a finite float32 number for scale, found {scale:g}")
    if not 0 <= softcap <= largest:
        _refuse(op, f"a finite float32 number from 0 on for softcap, found {softcap:g}")
    if not 0 <= dropout_p <= 1:
        _refuse(op, f"a probability from 0 to 1 for dropout_p, found {dropout_p:g}")


def _check_heads(
    op: str, q: Tensor, k: Tensor, v: Tensor, is_varlen: bool, out_dtype: Optional[torch.dtype]
) -> None:
    if out_dtype is not None:
        if q.dtype != torch.float8_e4m3fn:
            _refuse(op, f"float8_e4m3fn (Float8_e4m3fn) for q, found {_name(q)}")
        if out_dtype not in (torch.float32, torch.float16, torch.bfloat16):
            _refuse(
                op,
                "float32 (Float), float16 (Half) or bfloat16 (BFloat16) for out_dtype, found "
                f"{_NAMES.get(out_dtype, out_dtype)}",
            )
    elif not _is_double(q) and q.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        _refuse(
            op,
            "float32 (Float), float16 (Half), bfloat16 (BFloat16) or, on the CPU, float64 (Double) "
            f"for q, found {_name(q)}",
        )
    if q.dtype != k.dtype or q.dtype != v.dtype:
        _refuse(op, f"one dtype for q, k and v, found {_name(q)}, {_name(k)} and {_name(v)}")
    found = f", found shapes {_shape(q)}, {_shape(k)} and {_shape(v)}"
    layout = "[tokens, heads, head_dim]" if is_varlen else "[batch, seq, heads, head_dim]"
    dims = 3 if is_varlen else 4
    if not q.dim() == k.dim() == v.dim() == dims:
        _refuse(op, f"{layout} for q, k and v{found}")
    differs = _differ(k.shape[-3], v.shape[-3])
    if not is_varlen:
        differs = differs or _differ(q.shape[0], k.shape[0]) or _differ(q.shape[0], v.shape[0])
    if differs:
        batch = "" if is_varlen else "batch for q, k and v and one "
        _refuse(op, f"one {batch}length for k and v{found}")
    heads, kv_heads = q.shape[-2], k.shape[-2]
    if (
        _is_true(heads == 0)
        or _is_true(kv_heads == 0)
        or _differ(kv_heads, v.shape[-2])
        or _is_true(heads % kv_heads != 0)
    ):
        _refuse(
            op, f"{layout} with as many heads in k as in v, and a multiple of them in q{found}"
        )
    widths = q.shape[-1], v.shape[-1]
    if _differ(widths[0], k.shape[-1]) or any(
        _is_true(width < 1) or _is_true(width > _MAX_HEAD_DIM) for width in widths
    ):
        _refuse(op, f"one head_dim for q and k, and 1 to {_MAX_HEAD_DIM} for q, k and v{found}")


def _check_per_head(
    op: str, q: Tensor, slopes: Optional[Tensor], sinks: Optional[Tensor], batch: Any
) -> None:
    heads = q.shape[-2]
    if slopes is not None:
        if slopes.dtype != torch.float32:
            _refuse(op, f"float32 (Float) for alibi_slopes, found {_name(slopes)}")
        wrong = slopes.dim() not in (1, 2) or _differ(slopes.shape[-1], heads)
        if wrong or (slopes.dim() == 2 and _differ(slopes.shape[0], batch)):
            _refuse(
                op,
                f"shape [heads] or [batch, heads] = [{batch}, {heads}] for alibi_slopes, found "
                f"{_shape(slopes)}",
            )
    if sinks is not None:
        if sinks.dtype != (torch.float64 if _is_double(q) else torch.float32):
            _refuse(
                op, f"float32 (Float; with q of float64 Double) for sinks, found {_name(sinks)}"
            )
        if sinks.dim() != 1 or _differ(sinks.shape[0], heads):
            _refuse(op, f"shape [heads] = [{heads}] for sinks, found {_shape(sinks)}")


def _check_bias(
    op: str, q: Tensor, k: Tensor, bias: Optional[Tensor], out_dtype: Optional[torch.dtype]
) -> None:
    if bias is None:
        return
    if bias.dtype != (out_dtype or q.dtype) and (_is_double(q) or bias.dtype != torch.float32):
        own = "q's dtype" if out_dtype is None else "out_dtype"
        _refuse(op, f"{own} or float32 (Float) for bias, found {_name(bias)}")
    full = (q.shape[0], q.shape[2], q.shape[1], k.shape[1])
    if bias.dim() != 4 or any(
        _differ(size, wanted) and _differ(size, 1) for size, wanted in zip(bias.shape, full)
    ):
        sizes = ", ".join(str(size) for size in full)
        _refuse(
            op,
            "a bias that broadcasts to [batch, heads, seq_q, seq_k] = "
            f"[{sizes}], found shape {_shape(bias)}",
        )


def check_attention(
    op: str,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    bias: Optional[Tensor] = None,
    alibi_slopes: Optional[Tensor],
    sinks: Optional[Tensor],
    seed: Optional[Tensor] = None,
    scale: Optional[float],
    window_left: int,
    window_right: int,
    softcap: float,
    dropout_p: float = 0.0,
    cu_seqlens_q: Optional[Tensor] = None,
    cu_seqlens_k: Optional[Tensor] = None,
    max_seqlen_q: int = 0,
    max_seqlen_k: int = 0,
    out_dtype: Optional[torch.dtype] = None,
    **_: Any,
) -> None:
    """out_dtype: of float8 alone."""
    _check_heads(op, q, k, v, cu_seqlens_q is not None, out_dtype)
    batch = q.shape[0]
    if cu_seqlens_q is not None and cu_seqlens_k is not None:
        for name, offsets in (("cu_seqlens_q", cu_seqlens_q), ("cu_seqlens_k", cu_seqlens_k)):
            if offsets.dtype != torch.int32:
                _refuse(op, f"int32 (Int) for {name}, found {_name(offsets)}")
        if (
            cu_seqlens_q.dim() != 1
            or cu_seqlens_k.dim() != 1
            or _is_true(cu_seqlens_q.shape[0] < 1)
            or _differ(cu_seqlens_q.shape[0], cu_seqlens_k.shape[0])
        ):
            _refuse(
                op,
                "shape [sequences + 1] for cu_seqlens_q and cu_seqlens_k, found "
                f"{_shape(cu_seqlens_q)} and {_shape(cu_seqlens_k)}",
            )
        if _is_true(max_seqlen_q < 0) or _is_true(max_seqlen_k < 0):
            _refuse(
                op,
                "lengths from 0 on for max_seqlen_q and max_seqlen_k, found "
                f"{max_seqlen_q} and {max_seqlen_k}",
            )
        batch = cu_seqlens_q.shape[0] - 1
    else:
        _check_bias(op, q, k, bias, out_dtype)
    _check_per_head(op, q, alibi_slopes, sinks, batch)
    _check_numbers(op, scale, softcap, 0.0)
    for name, window in (("window_left", window_left), ("window_right", window_right)):
        if _is_true(window < -1):
            _refuse(op, f"a number of keys, or -1 for all, for {name}, found {window}")
    _check_numbers(op, None, 0.0, dropout_p)
    if dropout_p > 0:
        if seed is None:
            _refuse(op, "a seed with a dropout_p above 0, found None")
        if seed.dtype != torch.int64:
            _refuse(op, f"int64 (Long) for seed, found {_name(seed)}")
        if _differ(seed.numel(), 1):
            _refuse(op, f"one element for seed, found shape {_shape(seed)}")


def check_attention_float8(
    op: str,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    q_descale: Optional[Tensor],
    k_descale: Optional[Tensor],
    v_descale: Optional[Tensor],
    out_dtype: torch.dtype,
    cu_seqlens_q: Optional[Tensor] = None,
    **options: Any,
) -> None:
    check_attention(op, q, k, v, out_dtype=out_dtype, cu_seqlens_q=cu_seqlens_q, **options)
    batch = q.shape[0] if cu_seqlens_q is None else cu_seqlens_q.shape[0] - 1
    kv_heads = k.shape[-2]
    for name, descale in (
        ("q_descale", q_descale),
        ("k_descale", k_descale),
        ("v_descale", v_descale),
    ):
        if descale is None:
            continue
        if descale.dtype != torch.float32:
            _refuse(op, f"float32 (Float) for {name}, found {_name(descale)}")
        if not _differ(descale.numel(), 1):
            continue
        fits = descale.dim() in (1, 2) and not _differ(descale.shape[-1], kv_heads)
        if not fits or (descale.dim() == 2 and _differ(descale.shape[0], batch)):
            _refuse(
                op,
                f"one element or shape [kv_heads] or [batch, kv_heads] = [{batch}, {kv_heads}] for "
                f"{name}, found shape {_shape(descale)}",
            )


def _check_same(op: str, name_a: str, a: Tensor, name_b: str, b: Tensor) -> None:
    names = f"{name_a} and {name_b}"
    if a.dtype != b.dtype:
        _refuse(op, f"one dtype for {names}, found {_name(a)} and {_name(b)}")
    if a.dim() != b.dim() or any(_differ(*sizes) for sizes in zip(a.shape, b.shape)):
        _refuse(op, f"one shape for {names}, found {_shape(a)} and {_shape(b)}")


def _check_pages(
    op: str,
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    block_table: Tensor,
    scales: dict[str, Optional[Tensor]],
) -> None:
    _check_same(op, "k_cache", k_cache, "v_cache", v_cache)
    is_float8 = k_cache.dtype == torch.float8_e4m3fn
    if not is_float8 and k_cache.dtype != q.dtype:
        _refuse(
            op,
            f"q's dtype or float8_e4m3fn (Float8_e4m3fn) for k_cache, found {_name(k_cache)}",
        )
    width = q.shape[-1]
    if (
        k_cache.dim() != 4
        or _differ(k_cache.shape[3], width)
        or _is_true(k_cache.shape[1] == 0)
    ):
        _refuse(
            op,
            f"shape [blocks, page_size, kv_heads, {width}] for k_cache, found {_shape(k_cache)}",
        )
    if block_table.dtype != torch.int32:
        _refuse(op, f"int32 (Int) for block_table, found {_name(block_table)}")
    if block_table.dim() != 2 or _differ(block_table.shape[0], q.shape[0]):
        _refuse(
            op,
            f"shape [{q.shape[0]}, blocks], the blocks of each sequence of q, for block_table, "
            f"found {_shape(block_table)}",
        )
    kv_heads = k_cache.shape[2]
    for name, scale in scales.items():
        if scale is None:
            continue
        if not is_float8:
            _refuse(
                op,
                f"caches of float8_e4m3fn (Float8_e4m3fn) with {name}, found a cache of q's dtype",
            )
        if scale.dtype != torch.float32:
            _refuse(op, f"float32 (Float) for {name}, found {_name(scale)}")
        if _differ(scale.numel(), 1) and _differ(scale.numel(), kv_heads):
            _refuse(
                op,
                f"one element or one for each of {kv_heads} heads for {name}, found shape "
                f"{_shape(scale)}",
            )


def check_rope_append_kv(
    op: str,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cos: Tensor,
    sin: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    block_table: Tensor,
    positions: Tensor,
    k_scale: Optional[Tensor],
    v_scale: Optional[Tensor],
    **_: Any,
) -> None:
    if q.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        _refuse(
            op,
            f"float32 (Float), float16 (Half) or bfloat16 (BFloat16) for q, found {_name(q)}",
        )
    _check_same(op, "k", k, "v", v)
    if q.dim() != 4 or k.dim() != 4 or any(_differ(q.shape[i], k.shape[i]) for i in (0, 1, 3)):
        _refuse(
            op,
            "shapes [batch, seq, heads, head_dim] that differ in heads only for q, k and v, found "
            f"{_shape(q)}, {_shape(k)} and {_shape(v)}",
        )
    if q.dtype != k.dtype:
        _refuse(op, f"one dtype for q, k and v, found {_name(q)} and {_name(k)}")
    _check_same(op, "cos", cos, "sin", sin)
    if cos.dtype not in (q.dtype, torch.float32):
        _refuse(op, f"q's dtype or float32 (Float) for cos, found {_name(cos)}")
    if cos.dim() != 2 or _is_true(cos.shape[1] > q.shape[3] // 2):
        _refuse(
            op,
            f"shape [positions, rotary_dim / 2] with rotary_dim at most {q.shape[3]} for cos, found "
            f"{_shape(cos)}",
        )
    if positions.dtype not in (torch.int32, torch.int64):
        _refuse(op, f"int32 (Int) or int64 (Long) for positions, found {_name(positions)}")
    if positions.dim() != 2 or any(_differ(positions.shape[i], q.shape[i]) for i in (0, 1)):
        _refuse(
            op,
            f"shape [{q.shape[0]}, {q.shape[1]}] for positions, found {_shape(positions)}",
        )
    scales = {"k_scale": k_scale, "v_scale": v_scale}
    _check_pages(op, q, k_cache, v_cache, block_table, scales)
    if _differ(k_cache.shape[2], k.shape[2]):
        _refuse(
            op,
            f"one number of heads for k and k_cache, found shapes {_shape(k)} and {_shape(k_cache)}",
        )


def check_attention_decode(
    op: str,
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    block_table: Tensor,
    seq_lens: Tensor,
    *,
    scale: float,
    softcap: float,
    sinks: Optional[Tensor],
    k_scale: Optional[Tensor],
    v_scale: Optional[Tensor],
    **_: Any,
) -> None:
    if q.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        _refuse(
            op,
            f"float32 (Float), float16 (Half) or bfloat16 (BFloat16) for q, found {_name(q)}",
        )
    if q.dim() != 4:
        _refuse(op, f"shape [batch, q_len, heads, head_dim] for q, found {_shape(q)}")
    width = q.shape[3]
    if _is_true(width < 1) or _is_true(width > _MAX_HEAD_DIM):
        _refuse(
            op, f"a head_dim from 1 to {_MAX_HEAD_DIM} for q, found shape {_shape(q)}"
        )
    if _is_true(q.shape[1] > _MOST_DECODE_TOKENS):
        _refuse(
            op,
            f"at most {_MOST_DECODE_TOKENS} tokens of a sequence in a call for q, found shape "
            f"{_shape(q)}",
        )
    scales = {"k_scale": k_scale, "v_scale": v_scale}
    _check_pages(op, q, k_cache, v_cache, block_table, scales)
    heads, kv_heads = q.shape[2], k_cache.shape[2]
    no_heads = _is_true(kv_heads == 0)
    if _is_true(heads > 0) if no_heads else _is_true(heads % kv_heads != 0):
        _refuse(
            op,
            f"[batch, q_len, heads, head_dim] with a multiple of k_cache's {kv_heads} heads for q, "
            f"found shape {_shape(q)}",
        )
    if seq_lens.dtype != torch.int32:
        _refuse(op, f"int32 (Int) for seq_lens, found {_name(seq_lens)}")
    if seq_lens.dim() != 1 or _differ(seq_lens.shape[0], q.shape[0]):
        _refuse(
            op,
            f"shape [{q.shape[0]}], a length for each sequence of q, for seq_lens, found "
            f"{_shape(seq_lens)}",
        )
    if sinks is not None:
        if sinks.dtype != torch.float32:
            _refuse(op, f"float32 (Float) for sinks, found {_name(sinks)}")
        if sinks.dim() != 1 or _differ(sinks.shape[0], heads):
            _refuse(
                op,
                f"shape [{heads}], a number for each head of q, for sinks, found {_shape(sinks)}",
            )
    _check_numbers(op, scale, softcap, 0.0)

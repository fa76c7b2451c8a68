# SPDX-License-Identifier: Apache-2.0
"""register_attention: attention() as an implementation for Hugging Face's transformers."""

import functools
import inspect
import warnings
from typing import Any, NamedTuple, Optional, Union

import torch
import torch.nn.functional as F
from torch import Tensor

from ._attention import attention, attention_varlen
from ._attention_decode import attention_decode
from ._library import constant_when_compiled

_MOST_QUERIES_OF_DECODE = 16
_EVERYTHING, _CAUSAL = (-1, -1), (-1, 0)


def _read_by_model(how: str) -> str:
    return (
        f"cudaops: wanted a model that only hands its mask to its attention function, found one that reads it ({how}). "
        'Fix: attn_implementation="sdpa" or "eager"'
    )


class Pattern(NamedTuple):
    """What stands in the place of a mask of [batch, 1, queries, keys]. As it is a tuple, whoever moves
    or casts a model's arguments (FSDP, accelerate) does so with these tensors."""

    window: tuple[int, int]  # attention()'s: the last query is aligned with the last key
    num_keys: Optional[int] = None  # the first ones, where a static cache has more
    bias: Optional[Tensor] = None  # added to the scores
    cu_seqlens_q: Optional[Tensor] = None  # attention_varlen()'s, of the tokens of all rows
    cu_seqlens_k: Optional[Tensor] = None
    max_seqlen_q: int = 0
    max_seqlen_k: int = 0
    seq_lens: Optional[Tensor] = None  # attention_decode()'s; a page has the keys of a sequence
    block_table: Optional[Tensor] = None
    # For a static cache generate() makes masks ahead. The model asks whether one has two dimensions, and
    # has a mask made of what is no tensor of four, which gives the same again.
    ndim: int = 4

    # What else a model does with a mask.
    def __getattr__(self, name: str) -> Any:
        raise AttributeError(_read_by_model(f"mask.{name}") if hasattr(Tensor, name) else name)

    @classmethod
    def __torch_function__(cls, function: Any, *_: Any) -> Any:
        raise NotImplementedError(_read_by_model(f"{function.__name__}(mask)"))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            raise NotImplementedError(_read_by_model("mask[...]"))
        return tuple.__getitem__(self, key)


class _Parts(NamedTuple):
    window: tuple[int, int]
    sequence_ids: Optional[Tensor]  # [batch, queries], of packed sequences


def _parts(function: Any) -> Optional[_Parts]:
    """What a mask function of transformers is made of; None if of anything else. They are closures: names
    and cells tell a window from a chunk, which calls don't."""
    left, right, ids, is_remapped = -1, -1, None, False
    functions = [function]
    while functions:
        part = functions.pop()
        if getattr(part, "__module__", None) != "transformers.masking_utils":
            return None
        cells = (cell.cell_contents for cell in part.__closure__ or ())
        values = dict(zip(part.__code__.co_freevars, cells))
        name = part.__qualname__
        if name == "and_masks.<locals>.and_mask":
            functions.extend(values["mask_functions"])
        elif name == "causal_mask_function":
            right = 0
        elif name == "sliding_window_overlay.<locals>.inner_mask":
            left = values["sliding_window"] - 1
        elif name == "sliding_window_bidirectional_overlay.<locals>.inner_mask":
            left = right = values["sliding_window"]
        elif name == "packed_sequence_mask_function.<locals>.inner_mask":
            ids = values["packed_sequence_mask"]
        elif name == "remap_positions_for_packed_sequence.<locals>.inner_mask":
            # Positions of each sequence: distances in it stay what they are.
            functions.append(values["mask_function"])
            is_remapped = True
        elif name != "bidirectional_mask_function":
            return None
    return None if is_remapped and ids is None else _Parts((left, right), ids)


def _added(visible: Tensor, dtype: torch.dtype) -> Tensor:
    """0 or -inf, in rows at multiples of 16 bytes, which attention() reads as they are."""
    num_keys = visible.shape[-1]
    visible = F.pad(visible, (0, -num_keys % 8))
    zeros = torch.zeros((), dtype=dtype, device=visible.device)
    return torch.where(visible, zeros, -torch.inf)[..., :num_keys]


def _packed(window: tuple[int, int], ids: Tensor) -> Pattern:
    begins = torch.ones_like(ids, dtype=torch.bool)
    begins[:, 1:] = ids[:, 1:] != ids[:, :-1]
    offsets = F.pad(begins.flatten().nonzero()[:, 0].to(torch.int32), (0, 1), value=ids.numel())
    longest = int(offsets.diff().max())
    return Pattern(window, None, None, offsets, offsets, longest, longest)


def _pattern(
    parts: _Parts,
    shape: tuple[int, int, int],  # batch, queries, keys
    num_keys: int,  # up to the one at the last query's position
    padding: Optional[Tensor],  # False: a key that isn't one; [batch, some keys], where the rest aren't either
    dtype: torch.dtype,
    device: Any,
) -> Optional[Pattern]:
    """None where it takes a mask."""
    window, is_causal = parts.window, parts.window[1] == 0
    batch_size, num_queries, all_keys = shape
    if parts.sequence_ids is not None:
        is_whole = padding is None and num_queries == all_keys
        return _packed(window, parts.sequence_ids) if is_whole else None
    if window == _EVERYTHING:
        num_keys = all_keys
    # Beyond the last query's there are keys that it doesn't see.
    if not (0 < num_keys <= all_keys) or (num_keys < all_keys and not is_causal):
        return None
    bias = None
    if padding is not None:
        padding = F.pad(padding, (0, num_keys - padding.shape[1]))
        # What is behind all tokens, they don't see as it is.
        is_behind = is_causal and num_queries == num_keys
        if not padding.all() and not (is_behind and (padding[:, 1:] <= padding[:, :-1]).all()):
            bias = _added(padding[:, None, None, :], dtype)
    is_short = is_causal and num_queries <= _MOST_QUERIES_OF_DECODE
    if bias is None and is_short and not torch.is_grad_enabled():
        return Pattern(
            window,
            seq_lens=torch.full((batch_size,), num_keys, dtype=torch.int32, device=device),
            block_table=torch.arange(batch_size, dtype=torch.int32, device=device)[:, None],
        )
    if num_keys == all_keys:
        return Pattern(window, None, bias)
    # Of one query, which a static cache has a compiled graph for, shapes mustn't change.
    return None if num_queries == 1 else Pattern(window, num_keys, bias)


def _mask(
    masking_utils: Any,
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: Union[int, Tensor] = 0,
    kv_offset: int = 0,
    mask_function: Any = None,
    attention_mask: Union[Tensor, Pattern, None] = None,
    dtype: torch.dtype = torch.float32,
    use_vmap: bool = False,
    device: Any = "cpu",
    **_: Any,
) -> Union[Tensor, Pattern]:
    """For transformers' AttentionMaskInterface. Never None, which leaves it to the layer whether it is causal: not
    all of them say so."""
    if isinstance(attention_mask, Pattern):
        return attention_mask
    # A graph that is captured can't depend on numbers.
    parts = None if use_vmap or masking_utils.is_tracing(attention_mask) else _parts(mask_function)
    if parts is not None:
        pattern = _pattern(
            parts,
            (batch_size, q_length, kv_length),
            int(q_offset) + q_length - kv_offset,
            None if attention_mask is None else attention_mask.bool()[:, kv_offset:],
            dtype,
            device,
        )
        if pattern is not None:
            return pattern
    visible = masking_utils.sdpa_mask(
        batch_size=batch_size,
        q_length=q_length,
        kv_length=kv_length,
        q_offset=q_offset,
        kv_offset=kv_offset,
        mask_function=mask_function,
        attention_mask=attention_mask,
        allow_is_causal_skip=False,
        use_vmap=use_vmap,
        device=device,
    )
    return _added(visible, dtype)


def _visible(window: tuple[int, int], seq_lens: Tensor, num_queries: int, num_keys: int) -> Tensor:
    """[batch, 1, queries, keys]: what attention_decode() sees."""
    keys, queries = (torch.arange(size, device=seq_lens.device) for size in (num_keys, num_queries))
    own = seq_lens[:, None, None, None] - num_queries + queries[:, None]
    return (keys <= own) & (keys >= own - window[0] if window[0] >= 0 else keys >= 0)


def _without_pattern(
    mask: Optional[Tensor], is_causal: bool, num_queries: int, num_keys: int, dtype: torch.dtype
) -> Pattern:
    if mask is not None:
        return Pattern(_EVERYTHING, None, _added(mask, dtype) if mask.dtype == torch.bool else mask)
    if not is_causal or num_queries == 1:
        return Pattern(_EVERYTHING)
    # As torch's own is_causal, which aligns the first query with the first key.
    return Pattern(_CAUSAL, num_queries if num_queries < num_keys else None)


@constant_when_compiled
def _warn_of_weights() -> None:
    """As transformers' own implementations do: the other outputs are what was asked for."""
    warnings.warn(
        "cudaops: wanted output_attentions=False, as attention weights are never in memory, found True: "
        'there are none. Fix: model.set_attn_implementation("eager")'
    )


def _attention(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Union[Tensor, Pattern, None],
    dropout: float = 0.0,
    scaling: Optional[float] = None,
    is_causal: Optional[bool] = None,
    sliding_window: Optional[int] = None,
    softcap: Optional[float] = None,
    s_aux: Optional[Tensor] = None,
    position_bias: Optional[Tensor] = None,
    cu_seq_lens_q: Optional[Tensor] = None,
    cu_seq_lens_k: Optional[Tensor] = None,
    max_length_q: Optional[int] = None,
    max_length_k: Optional[int] = None,
    output_attentions: Optional[bool] = None,
    sinks: Optional[Tensor] = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """For transformers' AttentionInterface: of [batch, heads, seq, head_dim] [batch, seq, heads, head_dim]."""
    if output_attentions:
        _warn_of_weights()
    if sinks is not None:
        raise NotImplementedError(
            f"cudaops: wanted a sink for each head (s_aux), found sinks of shape {list(sinks.shape)}. "
            'Fix: attn_implementation="eager"'
        )
    q, k, v = (tensor.transpose(1, 2) for tensor in (query, key, value))
    batch, num_queries = q.shape[:2]
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    options: dict[str, Any] = {"scale": scaling, "softcap": softcap or 0.0, "sinks": s_aux}
    if isinstance(attention_mask, Pattern):
        pattern = attention_mask
    else:
        pattern = _without_pattern(attention_mask, is_causal, num_queries, k.shape[1], q.dtype)
    if cu_seq_lens_q is not None and max_length_q is not None:
        # As in transformers' flash attention these stand for a mask.
        left = -1 if sliding_window is None else sliding_window - 1
        pattern = Pattern(
            (left, 0 if is_causal else left),
            None,
            None,
            cu_seq_lens_q,
            cu_seq_lens_q if cu_seq_lens_k is None else cu_seq_lens_k,
            int(max_length_q),
            int(max_length_q if max_length_k is None else max_length_k),
        )

    if pattern.cu_seqlens_q is not None:
        if position_bias is not None:
            raise NotImplementedError(
                "cudaops: wanted no position_bias beside packed sequences, found one."
            )
        output = attention_varlen(
            *(tensor.flatten(0, 1) for tensor in (q, k, v)),
            pattern.cu_seqlens_q,  # by name: torch.compile can't follow Pattern's own __getitem__
            pattern.cu_seqlens_k,
            pattern.max_seqlen_q,
            pattern.max_seqlen_k,
            window=pattern.window,
            dropout_p=dropout,
            **options,
        )
        return output.unflatten(0, (batch, num_queries)), None
    tensors = [x for x in (q, k, v, s_aux) if x is not None]
    if pattern.seq_lens is not None and pattern.block_table is not None:
        if (
            position_bias is None
            and dropout == 0
            and q.shape[-1] == v.shape[-1]
            and not (torch.is_grad_enabled() and any(x.requires_grad for x in tensors))
        ):
            output = attention_decode(
                q, k, v, pattern.block_table, pattern.seq_lens, window=pattern.window, **options
            )
            return output, None
        visible = _visible(pattern.window, pattern.seq_lens, num_queries, k.shape[1])
        pattern = Pattern(_EVERYTHING, None, _added(visible, q.dtype))
    bias = pattern.bias
    if bias is not None:
        bias = bias.to(q.dtype)
    if pattern.num_keys is not None:
        k, v = k[:, : pattern.num_keys], v[:, : pattern.num_keys]
    if position_bias is not None:
        position_bias = position_bias[..., : k.shape[1]]
        bias = position_bias if bias is None else position_bias + bias
    output = attention(
        q, k, v, bias=bias, window=pattern.window, dropout_p=dropout, **options
    )
    return output.contiguous(), None


def register_attention(name: str = "cudaops") -> None:
    """Makes attention(), attention_varlen() and attention_decode() an implementation of attention for
    Hugging Face's transformers (5.4 or later), by this name::

        cudaops_kernels.register_attention()
        model = AutoModelForCausalLM.from_pretrained(..., attn_implementation="cudaops")
        model.set_attn_implementation("cudaops")  # a model that is there

    Sliding windows, soft caps, sinks, grouped heads, dropout and position biases are served, and any
    mask. Causal attention, windows and packed sequences need none; padding before the tokens is a
    row of numbers for each sequence, padding behind them nothing: what a model gives there has no
    meaning, as causal tokens don't see it. Calls without gradients of at most 16 tokens after others,
    generate()'s, are attention_decode()'s.

    Packed sequences are told by position_ids that start again, where the model makes its masks by
    them; or by cu_seq_lens_q and max_length_q among the model's arguments, as
    DataCollatorWithFlattening(return_flash_attn_kwargs=True) gives them, which stand for the mask.

    If torch.compile() captures a whole model, what masks hold isn't known: they are made as for
    torch's own function, and cu_seq_lens_q alone avoids them. Layers that are compiled each, as
    accelerate's use_regional_compilation does, and generate() with a static cache have what is above.
    """
    from transformers import AttentionInterface, AttentionMaskInterface, masking_utils

    if "q_offset" not in inspect.signature(masking_utils.sdpa_mask).parameters:
        import transformers

        raise RuntimeError(
            f"register_attention: wanted transformers 5.4 or later, found {transformers.__version__}."
        )
    AttentionInterface.register(name, _attention)
    # Torch 2.10 can't capture an import of theirs.
    AttentionMaskInterface.register(name, functools.partial(_mask, masking_utils))

# SPDX-License-Identifier: Apache-2.0
"""sdpa_patch: torch.nn.functional.scaled_dot_product_attention by attention()."""

from typing import Any, Optional

import torch
import torch.nn.functional as F
from torch import Tensor

from ._attention import attention
from ._library import constant_when_compiled, ops

_MAX_HEAD_DIM = 256
_FEWEST_QUERIES_ON_CPU = 128
_FEWEST_ON_HOPPER = 2048
_FEWEST_WITH_MASK_ON_HOPPER = 1024
_HEAD_DIMS_WITH_MASK = (64, 96, 128, 192, 256)
_DTYPES = (torch.float32, torch.float16, torch.bfloat16)


@constant_when_compiled
def _allows_fused() -> bool:
    """Not under torch.nn.attention.sdpa_kernel(SDPBackend.MATH): for second derivatives, say."""
    backends = torch.backends.cuda
    allowed: bool = (
        backends.flash_sdp_enabled()
        or backends.mem_efficient_sdp_enabled()
        or backends.cudnn_sdp_enabled()
    )
    return allowed


def _serves(query: Any, key: Any, value: Any, dropout_p: float, enable_gqa: bool) -> bool:
    """Whether attention() takes these: what it doesn't is torch's, also to refuse."""
    for tensor in (query, key, value):
        # Subclasses have functions of their own: nested tensors, DTensors.
        if type(tensor) not in (Tensor, torch.nn.Parameter) or tensor.is_nested:
            return False
    if dropout_p != 0 or not 3 <= query.dim() == key.dim() == value.dim():
        return False
    if not _allows_fused():
        return False
    if query.device != key.device or query.device != value.device:
        return False
    if query.device.type not in ("cpu", "cuda"):
        return False
    if query.shape[:-3] != key.shape[:-3] or key.shape[:-1] != value.shape[:-1]:
        return False
    heads, kv_heads = query.shape[-3], key.shape[-3]
    if heads == 0 or kv_heads == 0 or heads % kv_heads or (heads != kv_heads and not enable_gqa):
        return False
    if query.shape[-1] != key.shape[-1]:
        return False
    if not all(1 <= tensor.shape[-1] <= _MAX_HEAD_DIM for tensor in (query, value)):
        return False
    if torch.is_autocast_enabled(query.device.type):
        return all(tensor.dtype in _DTYPES for tensor in (query, key, value))
    return query.dtype in _DTYPES and query.dtype == key.dtype == value.dtype


_hopper: dict[int, bool] = {}


@constant_when_compiled
def _has_hopper_kernel(index: int) -> bool:
    """Whether the library has kernels for sm_90a that this device runs. Asked of a device that has
    tensors: asking makes a context there."""
    if index not in _hopper:
        _hopper[index] = bool(
            torch._C._dispatch_has_kernel_for_dispatch_key(
                "cudaops::attention_has_hopper_kernel", "CUDA"
            )
            and torch.cuda.get_device_capability(index) == (9, 0)
            and ops.attention_has_hopper_kernel(torch.empty(0, device=f"cuda:{index}"))
        )
    return _hopper[index]


def _is_faster_mask(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, dtype: torch.dtype
) -> bool:
    """One for each query and key, in whole vectors. Not gradients by it, nor a row for all queries:
    cuDNN is faster there, or was not compared."""
    return (
        mask.dtype in (torch.bool, dtype)
        and query.dtype == dtype
        and not (torch.is_grad_enabled() and mask.requires_grad)
        and mask.shape[-2:] == (query.shape[-2], key.shape[-2])
        and key.shape[-2] % 8 == 0
        and mask.stride(-2) != 0
        and (mask.dtype == torch.bool or mask.stride(-1) == 1)
        and query.shape[-1] == value.shape[-1]
        and query.shape[-1] in _HEAD_DIMS_WITH_MASK
    )


def _is_faster(query: Tensor, key: Tensor, value: Tensor, attn_mask: Optional[Tensor]) -> bool:
    """On the CPU without gradients, but for a few queries: with them nothing has been compared. On
    Hopper where sequences are long, in 16 bits: beside what torch takes there, cuDNN's, the forward
    pass is at 1.04 to 1.26 from 2048 tokens on, the backward pass at 1.02 to 1.67 with 1024 and at 1.00
    to 1.89 with 4096 (H100, torch 2.11, 2026-11-26; cuDNN forced: bench/kernels/attention.py). Not the
    kernel for gradients that are the same each time. With a mask from 1024 tokens on: forward at 1.2 to
    2.8, backward at 1.3 to 1.9 (H200, torch 2.11, 2026-11-27)."""
    needs_grad = torch.is_grad_enabled() and (
        query.requires_grad or key.requires_grad or value.requires_grad
    )
    if query.device.type == "cpu":
        # A few queries are sooner done by torch's matrix products than divided among threads.
        return not needs_grad and attn_mask is None and query.shape[-2] >= _FEWEST_QUERIES_ON_CPU
    if needs_grad and torch.are_deterministic_algorithms_enabled():
        return False
    dtype = query.dtype
    if torch.is_autocast_enabled("cuda"):
        dtype = torch.get_autocast_dtype("cuda")
    if attn_mask is not None and not _is_faster_mask(query, key, value, attn_mask, dtype):
        return False
    fewest = _FEWEST_ON_HOPPER if attn_mask is None else _FEWEST_WITH_MASK_ON_HOPPER
    return (
        dtype in (torch.float16, torch.bfloat16)
        and min(query.shape[-2], key.shape[-2]) >= fewest
        and query.shape[-1] % 8 == value.shape[-1] % 8 == 0
        and _has_hopper_kernel(query.device.index)
    )


def _is_causal_bias(mask: Any) -> bool:
    """Of torch.nn.attention.bias, which whoever has one has imported: it imports the compiler."""
    return (type(mask).__module__, type(mask).__name__) == ("torch.nn.attention.bias", "CausalBias")


def _as_bias(query: Tensor, mask: Tensor) -> Tensor:
    """[batch, heads, seq_q, seq_k] or 1 in its place. A bool mask is True where a key is visible."""
    if mask.dtype == torch.bool:
        zeros = torch.zeros((), dtype=query.dtype, device=query.device)
        mask = torch.where(mask, zeros, -torch.inf)
    mask = mask[(None,) * (query.dim() - mask.dim())]
    while mask.dim() < 4:
        mask = mask[None]
    if mask.dim() > 4:
        mask = mask.expand(*query.shape[:-3], *mask.shape[-3:]).flatten(0, -4)
    return mask


def _sdpa(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Optional[Tensor],
    is_causal: bool,
    scale: Optional[float],
) -> Tensor:
    """By attention(), whose heads come behind the sequence."""
    seq_q, seq_k = query.shape[-2], key.shape[-2]
    batch = query.shape[:-3]
    bias = None if attn_mask is None else _as_bias(query, attn_mask)
    window = (-1, -1)
    if is_causal:
        # Here the first query is aligned with the first key.
        if seq_q < seq_k:
            key, value = key[..., :seq_q, :], value[..., :seq_q, :]
        window = (-1, max(seq_q - seq_k, 0))

    def own(tensor: Tensor) -> Tensor:
        # Without -1: there may be no elements.
        tensor = tensor[None] if len(batch) == 0 else tensor.flatten(0, len(batch) - 1)
        return tensor.transpose(1, 2)

    output = attention(
        own(query), own(key), own(value), bias=bias, window=window, scale=scale
    )
    output = output.transpose(1, 2)
    return output if len(batch) == 1 else output.reshape(*batch, *output.shape[1:])


class SdpaPatch:
    """What sdpa_patch() gives: a context manager, or remove() ends it."""

    def __init__(self, always: bool) -> None:
        plain = F.scaled_dot_product_attention

        def scaled_dot_product_attention(
            query: Tensor,
            key: Tensor,
            value: Tensor,
            attn_mask: Optional[Tensor] = None,
            dropout_p: float = 0.0,
            is_causal: bool = False,
            scale: Optional[float] = None,
            enable_gqa: bool = False,
        ) -> Tensor:
            if _is_causal_bias(attn_mask):
                # Its handler is asked for the function that stands in torch's place now.
                replaced = F.scaled_dot_product_attention
                own = (query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
                of_mask: Tensor = type(attn_mask).__torch_function__(
                    replaced, (type(attn_mask),), own
                )
                return of_mask
            takes_mask = attn_mask is None or (
                not is_causal
                and type(attn_mask) in (Tensor, torch.nn.Parameter)
                and 2 <= attn_mask.dim() <= query.dim()
            )
            if (
                takes_mask
                and _serves(query, key, value, dropout_p, enable_gqa)
                and (always or _is_faster(query, key, value, attn_mask))
            ):
                return _sdpa(query, key, value, attn_mask, is_causal, scale)
            result: Tensor = plain(
                query,
                key,
                value,
                attn_mask=attn_mask,
                dropout_p=dropout_p,
                is_causal=is_causal,
                scale=scale,
                enable_gqa=enable_gqa,
            )
            return result

        # Pickled by reference to torch's name, as torch's own is.
        scaled_dot_product_attention.__module__ = F.__name__
        scaled_dot_product_attention.__qualname__ = scaled_dot_product_attention.__name__
        self._plain = plain
        # torch.jit.script has torch's own.
        torch.jit._builtins._register_builtin(
            scaled_dot_product_attention, "aten::scaled_dot_product_attention"
        )
        self._own: Any = scaled_dot_product_attention
        setattr(F, "scaled_dot_product_attention", self._own)

    def remove(self) -> None:
        """torch's own function is back; the second time does nothing. Patches are removed in any
        order but those that others stand on, which is refused."""
        if self._own is None:
            return
        if F.scaled_dot_product_attention is not self._own:
            raise RuntimeError(
                "sdpa_patch: wanted the last patch to be removed first, found another function in "
                "its place."
            )
        setattr(F, "scaled_dot_product_attention", self._plain)
        self._own = None

    def __enter__(self) -> "SdpaPatch":
        if self._own is None:
            raise RuntimeError("sdpa_patch: wanted a patch that is there, found one that was removed.")
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()


def sdpa_patch(*, always: bool = False) -> SdpaPatch:
    """Lets torch.nn.functional.scaled_dot_product_attention, and all that calls it by that name, go
    through attention() where that is faster, until the result's remove(), or as a context manager::

        with cudaops_kernels.sdpa_patch():
            model(tokens)

    Arguments mean what they mean in torch: is_causal aligns the first query with the first key,
    attn_mask is bool (True where a key is visible) or added, enable_gqa, autocast. Calls that
    attention() doesn't serve (dropout, subclasses of tensors, heads of more than 256 elements,
    broadcast batches), and all where sdpa_kernel() allows SDPBackend.MATH alone, are torch's, and so
    are modules that don't call it by that name, as torch.nn.MultiheadAttention in eval mode; of masks
    those of one row for all queries and those that have gradients. always: also where torch's is
    faster, for comparisons.
    """
    return SdpaPatch(always)

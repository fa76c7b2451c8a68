# SPDX-License-Identifier: Apache-2.0
"""attention's dropout: seeds, and by torch's ops the weights that the kernels drop."""

import struct
from typing import Any, Sequence

import torch
from torch import Tensor

_LOW = 0xFFFFFFFF


def seed_of_call(op: str, q: Any, dropout_p: Any, seed: Any) -> Any:
    """What the op takes: one number where q lies. A drawn one is a tensor that torch's own op gives,
    so that checkpoints, CUDA graphs and torch.compile treat it as all random numbers."""
    if not isinstance(q, Tensor) or not isinstance(dropout_p, (int, float)) or dropout_p == 0:
        return None
    if isinstance(seed, Tensor):
        return seed
    if hasattr(q, "_local_tensor"):
        raise TypeError(
            f"{op}: wanted a replicated DTensor for seed where q is a DTensor, found "
            f"{type(seed).__name__}."
        )
    if seed is None:
        return torch.randint(0, 2**63 - 1, (), dtype=torch.int64, device=q.device)
    if not isinstance(seed, int):
        raise TypeError(
            f"{op}: wanted an int, a tensor or None for seed, found {type(seed).__name__}."
        )
    if not -(2**63) <= seed < 2**63:
        raise ValueError(f"{op}: wanted 64 bits for seed, found {seed}.")
    return torch.full((), seed, dtype=torch.int64, device=q.device)


def _float32(number: float) -> float:
    rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    return rounded


def _products(factor: int, words: Tensor) -> tuple[Tensor, Tensor]:
    """The upper and the lower half of what wraps around at 64 bits."""
    product = factor * words
    return (product >> 32) & _LOW, product & _LOW


def _philox(seed: Tensor, words: Sequence[Tensor]) -> list[Tensor]:
    """Philox4x32-10 of a counter's words, each in an int64."""
    a, b, c, d = words
    key_0, key_1 = seed & _LOW, (seed >> 32) & _LOW
    for _ in range(10):
        high_0, low_0 = _products(0xD2511F53, a)
        high_1, low_1 = _products(0xCD9E8D57, c)
        a, b, c, d = high_1 ^ b ^ key_0, low_1, high_0 ^ d ^ key_1, low_0
        key_0, key_1 = (key_0 + 0x9E3779B9) & _LOW, (key_1 + 0xBB67AE85) & _LOW
    return [a, b, c, d]


def kept_weights(
    seed: Tensor, dropout_p: float, shape: Sequence[int], first_batch: int, dtype: torch.dtype
) -> Tensor:
    """What weights [batch, heads, seq_q, seq_k] are multiplied with: attention_dropout.h's rule."""
    batch, heads, seq_q, seq_k = shape

    def numbers(size: int, dim: int) -> Tensor:
        view = [1] * 4
        view[dim] = size
        return torch.arange(size, device=seed.device).view(view)

    i, j = numbers(seq_q, 2), numbers(seq_k, 3)
    rows, columns = i // 16 * 8 + i % 8, j // 16 * 4 + j % 8 // 2
    counter = torch.broadcast_tensors(
        rows, columns, numbers(heads, 1), numbers(batch, 0) + first_batch
    )
    words = torch.stack(_philox(seed.reshape(()), counter))
    which = (i // 8 % 2 * 2 + j // 8 % 2).expand(words.shape[1:])
    bits = words.gather(0, which[None])[0] >> (j % 2 * 16) & 0xFFFF
    threshold = int(_float32(_float32(dropout_p) * 65536 + 0.5))
    factor = 65536 / (65536 - threshold) if threshold < 65536 else 0.0
    return (bits >= threshold).to(dtype) * factor

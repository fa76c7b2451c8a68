# SPDX-License-Identifier: Apache-2.0
"""What the quantised ops share on Python's side."""

from typing import Any

import torch

from ._sharding import Placements


def empty_per_block(input, block_size, dtype, column_major=False):
    """For a fake kernel: a number a block of input's last two dimensions, or of the only one."""
    num_entries = len(block_size)
    counts = []
    for size, block in zip(input.shape[input.dim() - num_entries :], block_size):
        block = size if block == -1 else block
        counts.append((size + block - 1) // block if block > 0 else 0)
    leading = input.shape[: input.dim() - num_entries]
    if column_major and num_entries == 2:
        return input.new_empty((*leading, *reversed(counts)), dtype=dtype).transpose(-1, -2)
    return input.new_empty((*leading, *counts), dtype=dtype)


def empty_per_group(input, group_size, column_major):
    """For a fake kernel: scales of groups of rows; -1 is whole rows."""
    block_size = (1, group_size)[-min(input.dim(), 2) :]
    return empty_per_block(input, block_size, torch.float32, column_major)


def sum_per_block(values, block_size):
    """The sum of each block's elements, in the shape that a number a block has."""
    for dim, block in zip(range(-len(block_size), 0), block_size):
        size = values.shape[dim]
        block = max(size, 1) if block == -1 or block > size else block
        missing = -size % block
        padding = [0, 0] * (-dim - 1) + [0, missing]
        values = torch.nn.functional.pad(values, padding) if missing else values
        values = values.unflatten(dim, ((size + missing) // block, block))
        values = values.sum(dim)
    return values


def placements_of_fused(*rows: str) -> Placements:
    """Of an op that makes what it quantises: by rows."""

    def placements(arguments: dict) -> list:
        from torch.distributed.tensor import Replicate, Shard

        def choice(shard: Any) -> tuple:
            # What there is none of has no rows.
            outputs = [shard, shard if arguments["scale"] is None else Replicate()]
            if "residual" in arguments:
                outputs.append(Replicate() if arguments["residual"] is None else shard)
            return outputs, {key: shard for key in rows}

        return [choice(Shard(dim)) for dim in range(len(arguments[rows[0]].shape) - 1)]

    return placements

# SPDX-License-Identifier: Apache-2.0
"""quantize and dequantize: fake kernels, functions."""

from collections.abc import Sequence
from typing import Optional

import torch
from torch import Tensor

from ._autograd import differentiable, without_gradient
from ._blocks import empty_per_block, sum_per_block
from ._library import ops
from ._registration import Rows, register_op


def _block_dims(arguments: dict) -> int:
    """A row may have scales of its own."""
    block_size = arguments["block_size"]
    return 1 if len(block_size) == 2 and block_size[0] == 1 else 2


def _whole_blocks(arguments: dict) -> list:
    """Dimensions of which a shard has whole blocks: the batch's, and rows with scales of their
    own."""
    from torch.distributed.tensor import Shard

    num_dims = len(arguments["input"].shape) - _block_dims(arguments)
    return [Shard(dim) for dim in range(num_dims)]


def _placements(arguments: dict) -> list:
    from torch.distributed.tensor import Replicate

    if arguments["seed"] is not None:  # counts the elements of all
        return []
    scale, none = arguments["scale"], Replicate()
    is_one_number = scale is not None and len(scale.shape) != len(arguments["input"].shape)
    return [
        (
            [shard, shard if scale is None else none, none if arguments["symmetric"] else shard],
            {"input": shard, "scale": none if is_one_number else shard},
        )
        for shard in _whole_blocks(arguments)
    ]


def _placements_of_dequantize(arguments: dict) -> list:
    if len(arguments["scale"].shape) != len(arguments["input"].shape):
        return []
    keys = ("input", "scale", "zero_point")
    return [([shard], {key: shard for key in keys}) for shard in _whole_blocks(arguments)]


@register_op(
    "quantize",
    Rows(
        "input",
        last=_block_dims,
        num_dims=2,
        placements=_placements,
        is_one_call=lambda arguments: arguments["scale"] is None and arguments["seed"] is None,
    ),
    without_gradient,
)
def _quantize(
    input,
    dtype,
    block_size,
    scale,
    scale_ub,
    symmetric,
    ue8m0,
    scales_column_major,
    seed,
):
    def per_block(dtype):
        return empty_per_block(input, block_size, dtype, scales_column_major)

    return (
        input.new_empty(input.shape, dtype=dtype),
        per_block(torch.float32) if scale is None else input.new_empty(0, dtype=torch.float32),
        input.new_empty(0, dtype=torch.int32) if symmetric else per_block(torch.int32),
    )


def _setup(ctx, args, output):
    input, scale, zero_point, ctx.block_size, _ = args
    ctx.save_for_backward(input, scale, zero_point)


def _backward(ctx, grad_output):
    input, scale, zero_point = ctx.saved_tensors
    block_size = ctx.block_size
    if not ctx.needs_input_grad[1]:
        return None, None, None, None, None
    # By a scale of 1 what is multiplied by it.
    factors = ops.dequantize(input, torch.ones_like(scale), zero_point, block_size, torch.float32)
    sums = sum_per_block(grad_output.float() * factors, block_size)
    return None, sums.reshape(scale.shape), None, None, None


def _jvp(args, tangents):
    input, scale, *others = args
    if tangents[0] is not None:
        raise RuntimeError("dequantize: wanted input without a tangent, found one.")
    # Linear in its scale.
    tangent = torch.zeros_like(scale) if tangents[1] is None else tangents[1]
    return ops.dequantize(input, tangent, *others)


@register_op(
    "dequantize",
    Rows(
        "input",
        "scale",
        "zero_point",
        last=_block_dims,
        num_dims=2,
        placements=_placements_of_dequantize,
        is_one_call=lambda arguments: False,
    ),
    differentiable(setup=_setup, backward=_backward, jvp=_jvp),
)
def _dequantize(input, scale, zero_point, block_size, dtype):
    return input.new_empty(input.shape, dtype=dtype)


def quantize(
    input: Tensor,
    dtype: torch.dtype,
    block_size: Sequence[int],
    scale: Optional[Tensor] = None,
    *,
    scale_ub: Optional[Tensor] = None,
    symmetric: bool = True,
    ue8m0: bool = False,
    scales_column_major: bool = False,
    seed: Optional[int] = None,
) -> tuple[Tensor, Tensor, Optional[Tensor]]:
    """(output, scale, zero_point): input as torch.int8 or torch.float8_e4m3fn, block by block.

    block_size: an entry for each of the last two dimensions, -1 for all of one: (1, -1) is a scale
    a row, (1, 128) one for each 128 elements of one, (128, 128) one a tile, (-1, -1) one a matrix.
    Leading dimensions are a batch. The last block of a dimension may be smaller.

    scale: float32, a number a block, by which the output is multiplied to have the input back. One
    that is given must be positive, finite and no subnormal number; it is returned as it is.
    scale_ub: an upper bound of a block's largest magnitude, such a number too. symmetric=False
    (int8): the range from a block's least to its largest element, and 0, with a zero_point of
    int32; else zero_point is None. ue8m0: scales are powers of two. scales_column_major: scale's
    strides are those of a transposed matrix. seed: rounds up or down at random, by the distance
    and 16 bits of Philox4x32-10 an element; the same everywhere for the same seed. No gradients.
    """
    output, new_scale, zero_point = _quantize(
        input, dtype, block_size, scale, scale_ub, symmetric, ue8m0, scales_column_major, seed
    )
    return output, new_scale if scale is None else scale, None if symmetric else zero_point


def dequantize(
    input: Tensor,
    scale: Tensor,
    zero_point: Optional[Tensor] = None,
    *,
    block_size: Sequence[int],
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """(input - zero_point) * scale, with the blocks that quantize() had; differentiable by scale."""
    return _dequantize(input, scale, zero_point, block_size, dtype)

# SPDX-License-Identifier: Apache-2.0
"""swiglu_quantize: fake kernel, the function."""

from typing import Optional

import torch
from torch import Tensor

from ._autograd import without_gradient
from ._blocks import empty_per_group, placements_of_fused
from ._registration import Rows, register_op


@register_op(
    "swiglu_quantize",
    Rows("gate", "up", placements=placements_of_fused("gate", "up")),
    without_gradient,
)
def _swiglu_quantize(
    gate,
    up,
    dtype,
    group_size,
    scale_ub,
    ue8m0,
    scales_column_major,
    scale,
):
    return (
        gate.new_empty(gate.shape, dtype=dtype),
        empty_per_group(gate, group_size, scales_column_major)
        if scale is None
        else gate.new_empty(0, dtype=torch.float32),
    )


def swiglu_quantize(
    gate: Tensor,
    up: Tensor,
    *,
    dtype: torch.dtype,
    group_size: int = -1,
    scale_ub: Optional[Tensor] = None,
    ue8m0: bool = False,
    scales_column_major: bool = False,
    scale: Optional[Tensor] = None,
) -> tuple[Tensor, Tensor]:
    """(output, scale): swiglu(), and quantize() with a scale a row or for each group_size elements
    of one, in one pass. No gradients.

    scale: one float32 number for all, known beforehand (static), from 2^-126 to 2^126; it is
    returned as it is.
    """
    output, new_scale = _swiglu_quantize(
        gate, up, dtype, group_size, scale_ub, ue8m0, scales_column_major, scale
    )
    return output, new_scale if scale is None else scale

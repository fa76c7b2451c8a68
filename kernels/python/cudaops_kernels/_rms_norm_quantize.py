# SPDX-License-Identifier: Apache-2.0
"""rms_norm_quantize: fake kernel, the function."""

from typing import Optional

import torch
from torch import Tensor

from ._autograd import without_gradient
from ._blocks import empty_per_group, placements_of_fused
from ._registration import Rows, register_op
from ._rms_norm import eps_or_default


@register_op(
    "rms_norm_quantize",
    Rows("input", "residual", placements=placements_of_fused("input", "residual")),
    without_gradient,
)
def _rms_norm_quantize(
    input,
    residual,
    weight,
    eps,
    dtype,
    group_size,
    scale_ub,
    ue8m0,
    scales_column_major,
    weight_offset,
    scale,
):
    return (
        input.new_empty(input.shape, dtype=dtype),
        empty_per_group(input, group_size, scales_column_major)
        if scale is None
        else input.new_empty(0, dtype=torch.float32),
        input.new_empty(0) if residual is None else input.new_empty(input.shape),
    )


def rms_norm_quantize(
    input: Tensor,
    weight: Optional[Tensor] = None,
    eps: Optional[float] = None,
    *,
    dtype: torch.dtype,
    residual: Optional[Tensor] = None,
    group_size: int = -1,
    scale_ub: Optional[Tensor] = None,
    ue8m0: bool = False,
    scales_column_major: bool = False,
    weight_offset: float = 0.0,
    scale: Optional[Tensor] = None,
) -> tuple[Tensor, Tensor, Optional[Tensor]]:
    """(output, scale, residual_out): rms_norm() over the last dimension, and quantize() with a
    scale a row or for each group_size elements of one, in one pass. No gradients.

    With a residual the norm is that of input + residual, which is residual_out; else that is None.
    scale: one float32 number for all, known beforehand (static), from 2^-126 to 2^126; it is
    returned as it is.
    """
    output, new_scale, residual_out = _rms_norm_quantize(
        input,
        residual,
        weight,
        eps_or_default(eps, input),
        dtype,
        group_size,
        scale_ub,
        ue8m0,
        scales_column_major,
        weight_offset,
        scale,
    )
    return (
        output,
        new_scale if scale is None else scale,
        None if residual is None else residual_out,
    )

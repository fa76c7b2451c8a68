# SPDX-License-Identifier: Apache-2.0
"""rms_norm_quantize: fake kernel, the function."""

from typing import Any, Optional

import torch
from torch import Tensor

from ._autograd import without_gradient
from ._blocks import empty_per_group
from ._quantize import check_static, quantize_by_number
from ._registration import register_fake
from ._rms_norm import eps_or_default, fused_add_rms_norm, rms_norm


@register_fake("rms_norm_quantize")
def _(
    input,
    residual,
    weight,
    eps,
    dtype,
    group_size=-1,
    scale_ub=None,
    ue8m0=False,
    scales_column_major=False,
    weight_offset=0.0,
):
    return (
        input.new_empty(input.shape, dtype=dtype),
        empty_per_group(input, group_size, scales_column_major),
        input.new_empty(0) if residual is None else input.new_empty(input.shape),
    )


_rms_norm_quantize = without_gradient("rms_norm_quantize")


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
    scale: one float32 number for all, known beforehand (static); it is returned as it is, and the
    norm, rounded to input's dtype, is quantised in a second pass.
    """
    if scale is not None:
        return _by_number(
            input,
            weight,
            eps,
            dtype,
            residual,
            scale,
            weight_offset,
            group_size=(group_size, -1),
            scale_ub=(scale_ub, None),
            ue8m0=(ue8m0, False),
            scales_column_major=(scales_column_major, False),
        )
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
    )
    return output, new_scale, None if residual is None else residual_out


@torch.no_grad()
def _by_number(
    input: Tensor,
    weight: Optional[Tensor],
    eps: Optional[float],
    dtype: torch.dtype,
    residual: Optional[Tensor],
    scale: Tensor,
    weight_offset: float,
    **options: Any,
) -> tuple[Tensor, Tensor, Optional[Tensor]]:
    check_static("rms_norm_quantize", **options)
    width, residual_out = input.shape[-1], None
    if residual is None:
        normed = rms_norm(input, width, weight, eps, weight_offset=weight_offset)
    else:
        normed, residual_out = fused_add_rms_norm(
            input, residual, width, weight, eps, weight_offset=weight_offset
        )
    return quantize_by_number(normed, dtype, scale), scale, residual_out

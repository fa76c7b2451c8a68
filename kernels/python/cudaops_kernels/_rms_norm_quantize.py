# SPDX-License-Identifier: Apache-2.0
"""rms_norm_quantize: fake kernel, the function."""

from ._autograd import without_gradient
from ._blocks import empty_per_group
from ._registration import register_fake
from ._rms_norm import eps_or_default


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
    input,
    weight=None,
    eps=None,
    *,
    dtype,
    residual=None,
    group_size=-1,
    scale_ub=None,
    ue8m0=False,
    scales_column_major=False,
    weight_offset=0.0,
):
    """(output, scale, residual_out): rms_norm() over the last dimension, and quantize() with a
    scale a row or for each group_size elements of one, in one pass. No gradients.

    With a residual the norm is that of input + residual, which is residual_out; else that is None.
    """
    output, scale, residual_out = _rms_norm_quantize(
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
    return output, scale, None if residual is None else residual_out

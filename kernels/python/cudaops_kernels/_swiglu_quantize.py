# SPDX-License-Identifier: Apache-2.0
"""swiglu_quantize: fake kernel, the function."""

import torch

from ._autograd import without_gradient
from ._blocks import empty_per_group
from ._registration import register_fake


@register_fake("swiglu_quantize")
def _(gate, up, dtype, group_size=-1, scale_ub=None, ue8m0=False, scales_column_major=False):
    return (
        gate.new_empty(gate.shape, dtype=dtype),
        empty_per_group(gate, group_size, scales_column_major),
    )


_swiglu_quantize = without_gradient("swiglu_quantize")


def swiglu_quantize(
    gate,
    up,
    *,
    dtype,
    group_size=-1,
    scale_ub=None,
    ue8m0=False,
    scales_column_major=False,
):
    """(output, scale): swiglu(), and quantize() with a scale a row or for each group_size elements
    of one, in one pass. No gradients."""
    return _swiglu_quantize(gate, up, dtype, group_size, scale_ub, ue8m0, scales_column_major)

# SPDX-License-Identifier: Apache-2.0
"""attention and attention_varlen of float8: the ops' fake kernels, and what the functions call."""

from typing import Any, Optional

import torch
from torch import Tensor

from ._attention_ops import ONE_BY_ONE, empty_output, placements_of
from ._autograd import without_gradient
from ._checks import check
from ._registration import Rows, refuse_gradients, register_op


@register_op(
    "attention_float8", Rows("q", placements=placements_of(False, False), **ONE_BY_ONE), without_gradient
)
def attention_float8_op(*, q, k, v, out_dtype, **options):
    out_dtype = torch.bfloat16 if out_dtype is None else out_dtype
    check("attention_float8", q=q, k=k, v=v, out_dtype=out_dtype, **options)
    batch, seq_q, heads, _ = q.shape
    output = empty_output(q, v.shape[-1], out_dtype)
    return output, q.new_empty((batch, heads, seq_q), dtype=torch.float32)


@register_op(
    "attention_varlen_float8",
    Rows("q", placements=placements_of(True, False), **ONE_BY_ONE),
    without_gradient,
)
def attention_varlen_float8_op(*, q, k, v, out_dtype, **options):
    out_dtype = torch.bfloat16 if out_dtype is None else out_dtype
    check("attention_varlen_float8", q=q, k=k, v=v, out_dtype=out_dtype, **options)
    total, heads, _ = q.shape
    output = q.new_empty((total, heads, v.shape[-1]), dtype=out_dtype)
    return output, q.new_empty((heads, total), dtype=torch.float32)


def is_float8(
    op: str,
    q: Any,
    descales: dict[str, Optional[Tensor]],
    out_dtype: Optional[torch.dtype],
    dropout_p: float,
    others: dict[str, Any],
) -> bool:
    """Whether a call is of float8; what it has that goes with float8 alone, or without it, is refused.
    others: tensors that may not require gradients."""
    if not isinstance(q, Tensor) or q.dtype != torch.float8_e4m3fn:
        for name, value in {**descales, "out_dtype": out_dtype}.items():
            if value is not None and isinstance(q, Tensor):
                raise ValueError(f"{op}: wanted q of float8_e4m3fn with {name}, found {q.dtype}.")
        return False
    if dropout_p != 0:
        raise ValueError(
            f"{op}: wanted a dropout_p of 0 with q of float8_e4m3fn, found {dropout_p!r}."
        )
    refuse_gradients(op, "there is no derivative of float8", q=q, **others, **descales)
    return True

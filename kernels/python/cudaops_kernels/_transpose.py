# SPDX-License-Identifier: Apache-2.0
"""transpose: fake kernel, gradient, the function."""


from torch import Tensor

from ._autograd import differentiable
from ._library import ops
from ._registration import Rows, register_op


@register_op(
    "transpose",
    Rows("input", last=2),
    differentiable(
        setup=lambda ctx, args, output: None,
        backward=lambda ctx, grad_output: ops.transpose(grad_output),
        jvp=lambda args, tangents: ops.transpose(tangents[0]),
    ),
)
def _transpose(input):
    return input.new_empty(input.mT.shape)


def transpose(input: Tensor) -> Tensor:
    """input.mT.contiguous() as one copy; the dimensions before are batches."""
    return _transpose(input)

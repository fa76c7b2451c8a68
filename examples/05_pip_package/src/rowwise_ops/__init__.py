# SPDX-License-Identifier: Apache-2.0
"""Row-wise operators for torch."""

import torch

from . import _C  # noqa: F401  (importing it registers torch.ops.rowwise_ops)

__all__ = ["absmax"]


def absmax(input: torch.Tensor) -> torch.Tensor:
    """The largest magnitude of each row of the last dimension (float32)."""
    return torch.ops.rowwise_ops.absmax(input)


# What torch.compile needs to know: the result without the computation.
@torch.library.register_fake("rowwise_ops::absmax")
def _(input):
    return input.new_empty(input.shape[:-1])

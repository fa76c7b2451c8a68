# SPDX-License-Identifier: Apache-2.0
"""a + scale * b as an op for torch: from the wheel, else built here, else in Python."""

import torch

import cudaops


def _scaled_add(a, b, scale):
    return a + scale * b


library = cudaops.OpLibrary(__package__, "scaled_ops", fallback={"scaled_add": _scaled_add})

if library.state != "FALLBACK":
    # What autograd and torch.compile need to know of the library's kernels. Of the Python code they see every step.
    @torch.library.register_fake("scaled_ops::scaled_add")
    def _(a, b, scale):
        return torch.empty_like(a)

    def _setup(ctx, inputs, output):
        ctx.scale = inputs[2]

    def _backward(ctx, grad):
        return grad, grad * ctx.scale, None

    torch.library.register_autograd("scaled_ops::scaled_add", _backward, setup_context=_setup)


def scaled_add(a: torch.Tensor, b: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.ops.scaled_ops.scaled_add(a, b, scale)

# SPDX-License-Identifier: Apache-2.0
"""The kernel in Numba: Python for one thread, as in CUDA C++."""

import torch
from numba import cuda


@cuda.jit
def add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@torch.library.custom_op("numba_add::add", mutates_args=())
def add(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(a)
    n = a.numel()
    if n > 0:
        stream = cuda.external_stream(torch.cuda.current_stream().cuda_stream)
        # Numba takes tensors without a gradient, by their __cuda_array_interface__.
        flat = [tensor.detach().view(-1) for tensor in (a, b, out)]
        add_kernel[(n + 255) // 256, 256, stream](*flat)
    return out


add.register_fake(lambda a, b: torch.empty_like(a))

# SPDX-License-Identifier: Apache-2.0
"""The kernel as a text that NVRTC compiles in this process: no nvcc, no g++. The function that torch has for it is
still a private one."""

import torch

KERNEL = r"""
extern "C" __global__ void add_kernel(const float* a, const float* b, float* out, int num_elements) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < num_elements) out[i] = a[i] + b[i];
}
"""
add_kernel = torch.cuda._compile_kernel(KERNEL, "add_kernel")


@torch.library.custom_op("nvrtc_add::add", mutates_args=())
def add(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(a)
    n = a.numel()
    if n > 0:
        add_kernel(grid=((n + 255) // 256, 1, 1), block=(256, 1, 1), args=[a, b, out, n])
    return out


add.register_fake(lambda a, b: torch.empty_like(a))

# SPDX-License-Identifier: Apache-2.0
"""The op from two texts, built by nvcc and g++ when this file is first imported."""

import torch

import cudaops

DECLARATION = "torch::Tensor add(torch::Tensor a, torch::Tensor b);"
KERNEL = r"""
#include <c10/cuda/CUDAStream.h>

__global__ void add_kernel(const float* a, const float* b, float* out, int64_t num_elements) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < num_elements) out[i] = a[i] + b[i];
}

torch::Tensor add(torch::Tensor a, torch::Tensor b) {
  auto out = torch::empty_like(a);
  const int64_t n = a.numel();
  if (n == 0) return out;
  add_kernel<<<(n + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}
"""

module = cudaops.load_inline("inline_add", DECLARATION, KERNEL, functions=["add"])


@torch.library.custom_op("inline_add::add", mutates_args=())
def add(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return module.add(a, b)


add.register_fake(lambda a, b: torch.empty_like(a))

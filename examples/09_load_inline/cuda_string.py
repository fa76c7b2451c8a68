# SPDX-License-Identifier: Apache-2.0
"""A CUDA vector add from a string, bound by a list of functions. The declaration in cpp_sources is what is bound; its
definition is in the CUDA text."""

import sys

import torch

import cudaops

DECLARATION = "torch::Tensor add(torch::Tensor a, torch::Tensor b);"

KERNEL = r"""
__global__ void add_kernel(const float* a, const float* b, float* out, int64_t num_elements) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < num_elements) out[i] = a[i] + b[i];
}

torch::Tensor add(torch::Tensor a, torch::Tensor b) {
  TORCH_CHECK(a.is_cuda() && b.is_cuda(), "add: wanted CUDA tensors, found ", a.device(), " and ", b.device());
  auto out = torch::empty_like(a);
  const int64_t num_elements = a.numel();
  if (num_elements > 0) {
    add_kernel<<<(num_elements + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), num_elements);
  }
  return out;
}
"""

if not torch.cuda.is_available():
    print("SKIPPED: torch sees no GPU")
    sys.exit(77)
module = cudaops.load_inline("vector_cuda", DECLARATION, KERNEL, functions=["add"])
a, b = torch.randn(1000, device="cuda"), torch.randn(1000, device="cuda")
torch.testing.assert_close(module.add(a, b), a + b, rtol=0, atol=0)
print("%s, architectures of the visible GPUs" % module.__cudaops__["state"])

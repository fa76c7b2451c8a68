# SPDX-License-Identifier: Apache-2.0
"""Vector add against torch's stable ABI: seconds to build, and one library for torch 2.10 and every later one.

The binding names no header of ATen's, the device code none of torch's: that is what makes it quick. Without a CUDA
toolkit the same binding is built for the CPU alone.
"""

import shutil

import torch

import cudaops

BINDING = r"""
#include <torch/csrc/stable/library.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
using torch::stable::Tensor;

Tensor add_on_cpu(const Tensor& a, const Tensor& b) {
  STD_TORCH_CHECK(a.numel() == b.numel(), "vectors.add: wanted one size, found ", a.numel(), " and ", b.numel());
  const Tensor out = torch::stable::empty_like(a);
  for (int64_t i = 0; i < a.numel(); ++i)
    out.mutable_data_ptr<float>()[i] = a.const_data_ptr<float>()[i] + b.const_data_ptr<float>()[i];
  return out;
}
STABLE_TORCH_LIBRARY(vectors, library) { library.def("add(Tensor a, Tensor b) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(vectors, CPU, library) { library.impl("add", TORCH_BOX(&add_on_cpu)); }

#ifdef USE_CUDA
void launch_add(const float* a, const float* b, float* out, int64_t num_elements, void* stream);

Tensor add_on_cuda(const Tensor& a, const Tensor& b) {
  STD_TORCH_CHECK(a.numel() == b.numel(), "vectors.add: wanted one size, found ", a.numel(), " and ", b.numel());
  const Tensor out = torch::stable::empty_like(a);
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(a.get_device_index(), &stream));
  launch_add(a.const_data_ptr<float>(), b.const_data_ptr<float>(), out.mutable_data_ptr<float>(), a.numel(), stream);
  return out;
}
STABLE_TORCH_LIBRARY_IMPL(vectors, CUDA, library) { library.impl("add", TORCH_BOX(&add_on_cuda)); }
#endif
"""

KERNEL = r"""
#include <cstdint>

__global__ void add_kernel(const float* a, const float* b, float* out, int64_t num_elements) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < num_elements) out[i] = a[i] + b[i];
}

void launch_add(const float* a, const float* b, float* out, int64_t num_elements, void* stream) {
  if (num_elements == 0) return;  // a grid of 0 blocks is a launch error
  const auto num_blocks = static_cast<unsigned>((num_elements + 255) / 256);
  add_kernel<<<num_blocks, 256, 0, static_cast<cudaStream_t>(stream)>>>(a, b, out, num_elements);
}
"""

has_toolkit = torch.version.cuda is not None and shutil.which("nvcc") is not None
module = cudaops.load_inline("vectors", BINDING, KERNEL if has_toolkit else None)
devices = ["cpu"] + (["cuda"] if has_toolkit and torch.cuda.is_available() else [])
for device in devices:
    a, b = torch.randn(1000, device=device), torch.randn(1000, device=device)
    torch.testing.assert_close(torch.ops.vectors.add(a, b), a + b, rtol=0, atol=0)
print("%s, ABI %s, on %s" % (module.__cudaops__["state"], module.__cudaops__["abi"], " and ".join(devices)))

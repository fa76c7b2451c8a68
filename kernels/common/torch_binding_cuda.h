// SPDX-License-Identifier: Apache-2.0
// What only bindings of CUDA (or HIP) kernels need.
#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>

#include "torch_binding.h"

namespace cudaops_kernels {

using torch::stable::accelerator::DeviceGuard;

// The stream that torch's caller has made current on the tensor's device. From torch 2.13 on the
// stable ABI has a typed way to it; the C function is what 2.10 offers.
inline void* current_stream(const Tensor& tensor) {
  void* stream = nullptr;
  if (aoti_torch_get_current_cuda_stream(tensor.get_device_index(), &stream) != TORCH_SUCCESS) {
    throw std::runtime_error("torch has no current CUDA stream for " + device_text(tensor) + ".");
  }
  return stream;
}

// Device memory for the length of a call: torch's allocator gives it to others only behind the
// call's work on the stream.
class Workspace {
 public:
  Workspace(const Tensor& like, int64_t bytes)
      : bytes_(make_empty(like, {bytes}, torch::headeronly::ScalarType::Byte)) {}
  void* data() const { return bytes_.mutable_data_ptr(); }

 private:
  Tensor bytes_;
};

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// Where an op runs. The function of an op is a template over the device, so that both devices have
// the same checks and outputs; a build without CUDA has OnCpu alone, and names no launcher:
//
//   template <typename Device>
//   Tensor square(const Tensor& input) {
//     const Device device(input);
//     ...
//     if constexpr (Device::kIsGpu) {
//       launch_square(..., device.stream());
//     } else {
//       square_cpu(..., torch_threads);
//     }
#pragma once

#ifdef USE_CUDA
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#endif

#include <cudaops/nvtx.h>

#include <cstring>
#include <string>

#include "torch_binding.h"

namespace cudaops_kernels {

// With CUDAOPS_NVTX, what profilers show of an op: a range as long as its device lives. Its name is
// that of the function which makes the device, without template arguments.
#ifdef CUDAOPS_HAS_NVTX
struct OpRange : cudaops::Range {
  explicit OpRange(const char* op) : Range(std::string(op, std::strcspn(op, "<")).c_str()) {}
};
#else
struct OpRange {
  explicit OpRange(const char*) {}
};
#endif

class OnCpu : OpRange {
 public:
  static constexpr bool kIsGpu = false;
  static constexpr bool kHasData = true;
  explicit OnCpu(const Tensor&, const char* op = __builtin_FUNCTION()) : OpRange(op) {}
};

#ifdef USE_CUDA
// CUDA or HIP: the tensor's device, which is the current one as long as this lives.
class OnCuda : OpRange {
 public:
  static constexpr bool kIsGpu = true;
  static constexpr bool kHasData = true;
  explicit OnCuda(const Tensor& tensor, const char* op = __builtin_FUNCTION())
      : OpRange(op), index_(tensor.get_device_index()), guard_(index_) {}

  // The one that torch's caller has made current there. From torch 2.13 on the stable ABI has a
  // typed way to it; the C function is what 2.10 offers.
  void* stream() const {
    void* stream = nullptr;
    if (aoti_torch_get_current_cuda_stream(index_, &stream) != TORCH_SUCCESS) {
      throw std::runtime_error(
          "torch has no current CUDA stream for cuda:" + std::to_string(index_) + ".");
    }
    return stream;
  }

 private:
  int32_t index_;
  torch::stable::accelerator::DeviceGuard guard_;
};
#endif

// Tensors that have sizes and no data: the op checks its arguments, makes its outputs and runs
// nothing. Of an op with define_check() (torch_binding.h).
class OnMeta {
 public:
  static constexpr bool kIsGpu = false;
  static constexpr bool kHasData = false;
  explicit OnMeta(const Tensor&) {}
};

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

// The kernels of a file's ops, for each device that there is:
//
//   CUDAOPS_DEVICE_KERNELS(cudaops_examples, Device, library) {
//     library.impl("square", TORCH_BOX(&square<Device>));
//   }
#define CUDAOPS_DEVICE_KERNELS(library_namespace, Device, library)                             \
  CUDAOPS_DEVICE_KERNELS_BY(C10_CONCATENATE(implement_on_device_, C10_UID), library_namespace, \
                            Device, library)
// Several files may be compiled as one (UNITY_BUILD): each `function` has a name of its own.
#define CUDAOPS_DEVICE_KERNELS_BY(function, library_namespace, Device, library) \
  template <typename Device>                                                    \
  static void function(torch::stable::detail::StableLibrary& library);          \
  STABLE_TORCH_LIBRARY_IMPL(library_namespace, CPU, library) {                  \
    function<::cudaops_kernels::OnCpu>(library);                                \
  }                                                                             \
  CUDAOPS_DEVICE_KERNELS_OF_CUDA(function, library_namespace)                   \
  template <typename Device>                                                    \
  void function(torch::stable::detail::StableLibrary& library)

#ifdef USE_CUDA
#define CUDAOPS_DEVICE_KERNELS_OF_CUDA(function, library_namespace) \
  STABLE_TORCH_LIBRARY_IMPL(library_namespace, CUDA, library) {     \
    function<::cudaops_kernels::OnCuda>(library);                   \
  }
#else
#define CUDAOPS_DEVICE_KERNELS_OF_CUDA(function, library_namespace)
#endif

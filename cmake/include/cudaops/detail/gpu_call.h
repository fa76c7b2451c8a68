// SPDX-License-Identifier: Apache-2.0
//
// Private: calls of the runtime from headers that use it on the host. CUDAOPS_HAS_GPU_RUNTIME is
// defined where the runtime is linked as well: by cudaops_add_gtest() and cudaops_add_benchmark()
// where CUDA is on, and for every file that nvcc or HIP's compiler sees.
#pragma once

#include <stdexcept>
#include <string>

#include "gpu_runtime.h"

#if defined(CUDAOPS_WITH_CUDA) || defined(__CUDACC__) || CUDAOPS_HIP

#define CUDAOPS_HAS_GPU_RUNTIME 1

// CUDAOPS_GPU_CALL(Free, pointer) calls cudaFree or hipFree; throws with its name if it fails.
#define CUDAOPS_GPU_CALL(name, ...) \
  ::cudaops::detail::require(CUDAOPS_GPU(name)(__VA_ARGS__), CUDAOPS_GPU_PREFIX #name)

namespace cudaops {
namespace detail {

using GpuError = CUDAOPS_GPU(Error_t);
using GpuStream = CUDAOPS_GPU(Stream_t);
using GpuEvent = CUDAOPS_GPU(Event_t);

inline void require(GpuError error, const char* what) {
  if (error == CUDAOPS_GPU(Success)) return;
  throw std::runtime_error(std::string(what) + ": " + CUDAOPS_GPU(GetErrorName)(error) + ", " +
                           CUDAOPS_GPU(GetErrorString)(error));
}

}  // namespace detail
}  // namespace cudaops

#endif

namespace cudaops {
namespace detail {

// Why no GPU can be used here; empty if one can.
inline std::string no_gpu_reason() {
#if defined(CUDAOPS_HAS_GPU_RUNTIME)
  int num_devices = 0;
  const GpuError error = CUDAOPS_GPU(GetDeviceCount)(&num_devices);
  if (error != CUDAOPS_GPU(Success)) return CUDAOPS_GPU(GetErrorString)(error);
  if (num_devices > 0) return "";
  return CUDAOPS_HIP ? "no HIP device" : "no CUDA device";
#else
  return "built without CUDA";
#endif
}

}  // namespace detail
}  // namespace cudaops

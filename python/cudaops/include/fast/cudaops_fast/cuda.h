// SPDX-License-Identifier: Apache-2.0
// The current stream, guards of devices, checks of CUDA's results.
#pragma once

#include <cuda_runtime_api.h>

#include "device.h"

// Torch's headers of numbers open these namespaces, too.
namespace c10 {
namespace cuda {
inline namespace cudaops_fast_1 {

class CUDAStream {
 public:
  CUDAStream(int64_t id, DeviceIndex device, cudaStream_t stream)
      : id_(id), device_(device), stream_(stream) {}
  operator cudaStream_t() const { return stream_; }
  cudaStream_t stream() const { return stream_; }
  int64_t id() const { return id_; }
  DeviceIndex device_index() const { return device_; }
  Device device() const { return Device(DeviceType::CUDA, device_); }
  bool operator==(const CUDAStream& other) const noexcept {
    return id_ == other.id_ && device_ == other.device_;
  }
  bool operator!=(const CUDAStream& other) const noexcept { return !(*this == other); }

 private:
  int64_t id_;
  DeviceIndex device_;
  cudaStream_t stream_;
};

inline CUDAStream getCurrentCUDAStream(DeviceIndex device_index = -1) {
  int64_t id, index;
  void* stream;
  cudaops_fast::bridge()->current_stream(static_cast<int32_t>(DeviceType::CUDA), device_index, &id,
                                         &index, &stream);
  return CUDAStream(id, static_cast<DeviceIndex>(index), static_cast<cudaStream_t>(stream));
}
inline DeviceIndex current_device() {
  return static_cast<DeviceIndex>(
      cudaops_fast::bridge()->current_device(static_cast<int32_t>(DeviceType::CUDA)));
}

inline cudaError_t MaybeSetDevice(DeviceIndex device) {
  return static_cast<cudaError_t>(cudaops_fast::bridge()->maybe_set_device(device));
}

inline Device cuda_device(Device device) {
  TORCH_CHECK(device.is_cuda() || !device.has_index(), "Expected a CUDA device, but got ", device);
  return Device(DeviceType::CUDA, device.index());
}
class CUDAGuard : public DeviceGuard {
 public:
  explicit CUDAGuard(DeviceIndex index) : DeviceGuard(Device(DeviceType::CUDA, index)) {}
  explicit CUDAGuard(Device device) : DeviceGuard(cuda_device(device)) {}
};
class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  explicit OptionalCUDAGuard(std::optional<DeviceIndex> index) {
    if (index) guard_.emplace(*index);
  }

 private:
  std::optional<CUDAGuard> guard_;
};

}  // namespace cudaops_fast_1
}  // namespace cuda
}  // namespace c10

namespace at {
namespace cuda {
using namespace c10::cuda;
inline namespace cudaops_fast_1 {

inline cudaDeviceProp* getDeviceProperties(DeviceIndex device) {
  return static_cast<cudaDeviceProp*>(
      const_cast<void*>(cudaops_fast::bridge()->device_properties(device)));
}
inline cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(-1); }
inline int warp_size() { return getCurrentDeviceProperties()->warpSize; }

}  // namespace cudaops_fast_1
}  // namespace cuda
}  // namespace at

#define C10_CUDA_CHECK(EXPR)                                                              \
  do {                                                                                    \
    const cudaError_t __err = EXPR;                                                       \
    ::cudaops_fast::bridge()->check_cuda(static_cast<int32_t>(__err), __FILE__, __func__, \
                                         static_cast<uint32_t>(__LINE__));                \
  } while (0)
#define AT_CUDA_CHECK(EXPR) C10_CUDA_CHECK(EXPR)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())

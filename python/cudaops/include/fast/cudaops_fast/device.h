// SPDX-License-Identifier: Apache-2.0
// Guards of devices of any kind.
#pragma once

#include "torch.h"

namespace c10 {
inline namespace cudaops_fast_1 {

// Of any device: as it was before, when the guard ends.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device)
      : guard_(cudaops_fast::bridge()->new_guard(static_cast<int32_t>(device.type()),
                                                 device.index())) {}
  ~DeviceGuard() { cudaops_fast::bridge()->delete_guard(guard_); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  void* guard_;
};
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }

 private:
  std::optional<DeviceGuard> guard_;
};

}  // namespace cudaops_fast_1
}  // namespace c10

namespace at {
inline namespace cudaops_fast_1 {
inline std::optional<Device> device_of(const Tensor& tensor) {
  return tensor.defined() ? std::make_optional(tensor.device()) : std::nullopt;
}
}  // namespace cudaops_fast_1
}  // namespace at

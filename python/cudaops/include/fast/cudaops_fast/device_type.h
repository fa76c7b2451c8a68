// SPDX-License-Identifier: Apache-2.0
// Devices, layouts and memory formats.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "base.h"

namespace c10 {
inline namespace cudaops_fast_1 {

enum class DeviceType : int8_t {
  CPU = 0,
  CUDA = 1,
  XPU = 12,
  MPS = 13,
  Meta = 14,
  HPU = 15,
  PrivateUse1 = 20
};
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kMeta = DeviceType::Meta,
                     kXPU = DeviceType::XPU, kMPS = DeviceType::MPS,
                     kPrivateUse1 = DeviceType::PrivateUse1;
using DeviceIndex = int8_t;
enum class Layout : int8_t {
  Strided = 0,
  Sparse = 1,
  SparseCsr = 2,
  Mkldnn = 3,
  SparseCsc = 4,
  SparseBsr = 5,
  SparseBsc = 6,
  Jagged = 7
};
constexpr Layout kStrided = Layout::Strided;
enum class MemoryFormat : int8_t {
  Contiguous = 0,
  Preserve = 1,
  ChannelsLast = 2,
  ChannelsLast3d = 3
};

inline std::string DeviceTypeName(DeviceType type, bool lower_case = false) {
  return cudaops_fast::bridge()->device_name(static_cast<int32_t>(type), lower_case);
}

struct Device {
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  Device(const std::string& text) {
    int64_t type, index;
    cudaops_fast::bridge()->device_of_string(text.c_str(), &type, &index);
    type_ = static_cast<DeviceType>(type);
    index_ = static_cast<DeviceIndex>(index);
  }
  bool operator==(const Device& other) const {
    return type_ == other.type_ && index_ == other.index_;
  }
  bool operator!=(const Device& other) const { return !(*this == other); }
  void set_index(DeviceIndex index) { index_ = index; }
  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }
  bool has_index() const { return index_ != -1; }
  bool is_cuda() const { return type_ == DeviceType::CUDA; }
  bool is_cpu() const { return type_ == DeviceType::CPU; }
  bool is_meta() const { return type_ == DeviceType::Meta; }
  bool is_mps() const { return type_ == DeviceType::MPS; }
  bool is_xpu() const { return type_ == DeviceType::XPU; }
  std::string str() const {
    std::string text = DeviceTypeName(type_, true);
    return has_index() ? text + ":" + std::to_string(index_) : text;
  }

 private:
  DeviceType type_;
  DeviceIndex index_;
};

template <class C, class R>
std::basic_ostream<C, R>& operator<<(std::basic_ostream<C, R>& stream, const Device& value) {
  return stream << value.str();
}
template <class C, class R>
std::basic_ostream<C, R>& operator<<(std::basic_ostream<C, R>& stream, DeviceType value) {
  return stream << DeviceTypeName(value, true);
}

}  // namespace cudaops_fast_1
}  // namespace c10

// SPDX-License-Identifier: Apache-2.0
// What a new tensor shall be.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "check.h"

namespace c10 {
inline namespace cudaops_fast_1 {

struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(Layout layout) : layout_(layout) {}
  template <class T, class = std::enable_if_t<std::is_same<std::decay_t<T>, Device>::value>>
  TensorOptions(T&& device) : device_(std::forward<T>(device)) {}
  // What a Device can be made of: a DeviceType, a text.
  template <class... Args,
            class = std::enable_if_t<std::is_constructible<Device, Args&&...>::value>, class = void>
  TensorOptions(Args&&... args) : TensorOptions(Device(std::forward<Args>(args)...)) {}
  TensorOptions(TypeMeta dtype) : dtype_(dtype) {}
  TensorOptions(ScalarType dtype) : dtype_(TypeMeta(dtype)) {}
  TensorOptions(MemoryFormat format) : memory_format_(format) {}

  TensorOptions device(std::optional<Device> device) const noexcept {
    return with(&TensorOptions::device_, device);
  }
  template <class... Args>
  TensorOptions device(Args&&... args) const noexcept {
    return device(std::optional<Device>(std::in_place, std::forward<Args>(args)...));
  }
  TensorOptions device_index(DeviceIndex index) const noexcept {
    return device(Device(DeviceType::CUDA, index));
  }
  TensorOptions dtype(std::optional<TypeMeta> dtype) const noexcept {
    return with(&TensorOptions::dtype_, dtype);
  }
  TensorOptions dtype(std::optional<ScalarType> dtype) const noexcept {
    return with(&TensorOptions::dtype_, dtype ? std::optional<TypeMeta>(*dtype) : std::nullopt);
  }
  template <class T>
  TensorOptions dtype() const {
    return dtype(std::optional<ScalarType>(CppTypeToScalarType<T>::value));
  }
  TensorOptions layout(std::optional<Layout> layout) const noexcept {
    return with(&TensorOptions::layout_, layout);
  }
  TensorOptions requires_grad(std::optional<bool> value) const noexcept {
    return with(&TensorOptions::requires_grad_, value);
  }
  TensorOptions pinned_memory(std::optional<bool> value) const noexcept {
    return with(&TensorOptions::pinned_memory_, value);
  }
  TensorOptions memory_format(std::optional<MemoryFormat> value) const noexcept {
    return with(&TensorOptions::memory_format_, value);
  }

  Device device() const noexcept { return device_ ? *device_ : Device(kCPU); }
  bool has_device() const noexcept { return device_.has_value(); }
  std::optional<Device> device_opt() const noexcept { return device_; }
  TypeMeta dtype() const noexcept {
    return dtype_ ? *dtype_ : TypeMeta(get_default_dtype_as_scalartype());
  }
  bool has_dtype() const noexcept { return dtype_.has_value(); }
  std::optional<TypeMeta> dtype_opt() const noexcept { return dtype_; }
  Layout layout() const noexcept { return layout_ ? *layout_ : kStrided; }
  bool has_layout() const noexcept { return layout_.has_value(); }
  std::optional<Layout> layout_opt() const noexcept { return layout_; }
  bool requires_grad() const noexcept { return requires_grad_ ? *requires_grad_ : false; }
  bool has_requires_grad() const noexcept { return requires_grad_.has_value(); }
  std::optional<bool> requires_grad_opt() const noexcept { return requires_grad_; }
  bool pinned_memory() const noexcept { return pinned_memory_ ? *pinned_memory_ : false; }
  bool has_pinned_memory() const noexcept { return pinned_memory_.has_value(); }
  std::optional<bool> pinned_memory_opt() const noexcept { return pinned_memory_; }
  bool has_memory_format() const noexcept { return memory_format_.has_value(); }
  std::optional<MemoryFormat> memory_format_opt() const noexcept { return memory_format_; }

 private:
  template <class M, class V>
  TensorOptions with(M member, const V& value) const {
    TensorOptions made = *this;
    made.*member = value;
    return made;
  }
  std::optional<Device> device_;
  std::optional<TypeMeta> dtype_;
  std::optional<Layout> layout_;
  std::optional<bool> requires_grad_, pinned_memory_;
  std::optional<MemoryFormat> memory_format_;
};
inline TensorOptions dtype(ScalarType value) { return TensorOptions().dtype(value); }
inline TensorOptions dtype(TypeMeta value) { return TensorOptions().dtype(value); }
template <class T>
TensorOptions dtype() {
  return TensorOptions().dtype<T>();
}
inline TensorOptions layout(Layout value) { return TensorOptions().layout(value); }
inline TensorOptions device(Device value) { return TensorOptions().device(value); }
inline TensorOptions requires_grad(bool value = true) {
  return TensorOptions().requires_grad(value);
}
inline TensorOptions memory_format(MemoryFormat value) {
  return TensorOptions().memory_format(value);
}

namespace impl {
inline std::optional<MemoryFormat> check_tensor_options_and_extract_memory_format(
    const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(
      options.requires_grad_opt() == std::nullopt || options.requires_grad_opt().value() == false,
      "Operators taking TensorOptions cannot take a TensorOptions with options.requires_grad set "
      "as true. "
      "This isn't implemented yet.");
  TORCH_CHECK(!(options.has_memory_format() && memory_format.has_value()),
              "Cannot set memory_format both in TensorOptions and explicit argument; please delete "
              "the redundant setter.");
  return memory_format.has_value() ? memory_format : options.memory_format_opt();
}
}  // namespace impl

}  // namespace cudaops_fast_1
}  // namespace c10

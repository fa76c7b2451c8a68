// SPDX-License-Identifier: Apache-2.0
// What a new tensor shall be.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "check.h"

namespace c10 {
inline namespace cudaops_fast_1 {

// In one register: its parts set one by one and copied as a whole would wait for one another.
struct TensorOptions {
  TensorOptions() = default;
  // Of a tensor: as cudaops_fast::q_options has them.
  explicit TensorOptions(cudaops_fast::OptionsOfTensor found)
      : bits_(found.bits | 0xfull << (8 * flags)) {}
  TensorOptions(Layout layout) : TensorOptions(TensorOptions().layout(layout)) {}
  template <class T, class = std::enable_if_t<std::is_same<std::decay_t<T>, Device>::value>>
  TensorOptions(T&& device)
      : TensorOptions(TensorOptions().device(std::optional<Device>(device))) {}
  // What a Device can be made of: a DeviceType, a text.
  template <class... Args,
            class = std::enable_if_t<std::is_constructible<Device, Args&&...>::value>, class = void>
  TensorOptions(Args&&... args) : TensorOptions(Device(std::forward<Args>(args)...)) {}
  TensorOptions(TypeMeta dtype) : TensorOptions(TensorOptions().dtype(std::optional(dtype))) {}
  TensorOptions(ScalarType dtype) : TensorOptions(TypeMeta(dtype)) {}
  TensorOptions(MemoryFormat format) : TensorOptions(TensorOptions().memory_format(format)) {}

  TensorOptions device(std::optional<Device> device) const noexcept {
    return with<type_of_device>(device ? std::optional(device->type()) : std::nullopt)
        .with<index_of_device>(device ? std::optional(device->index()) : std::nullopt);
  }
  template <class... Args>
  TensorOptions device(Args&&... args) const noexcept {
    return device(std::optional<Device>(std::in_place, std::forward<Args>(args)...));
  }
  TensorOptions device_index(DeviceIndex index) const noexcept {
    return device(Device(DeviceType::CUDA, index));
  }
  TensorOptions dtype(std::optional<TypeMeta> dtype) const noexcept {
    return with<dtype_>(dtype ? std::optional(dtype->toScalarType()) : std::nullopt);
  }
  TensorOptions dtype(std::optional<ScalarType> dtype) const noexcept {
    return with<dtype_>(dtype);
  }
  template <class T>
  TensorOptions dtype() const {
    return dtype(std::optional<ScalarType>(CppTypeToScalarType<T>::value));
  }
  TensorOptions layout(std::optional<Layout> value) const noexcept { return with<layout_>(value); }
  TensorOptions requires_grad(std::optional<bool> value) const noexcept {
    return with<requires_grad_>(value);
  }
  TensorOptions pinned_memory(std::optional<bool> value) const noexcept {
    return with<pinned_memory_>(value);
  }
  TensorOptions memory_format(std::optional<MemoryFormat> value) const noexcept {
    return with<memory_format_>(value);
  }

  Device device() const noexcept { return device_opt().value_or(Device(kCPU)); }
  bool has_device() const noexcept { return has(type_of_device); }
  std::optional<Device> device_opt() const noexcept {
    if (!has_device()) return std::nullopt;
    return Device(get<DeviceType>(type_of_device), get<DeviceIndex>(index_of_device));
  }
  TypeMeta dtype() const noexcept {
    return TypeMeta(has_dtype() ? get<ScalarType>(dtype_) : get_default_dtype_as_scalartype());
  }
  bool has_dtype() const noexcept { return has(dtype_); }
  std::optional<TypeMeta> dtype_opt() const noexcept {
    return has_dtype() ? std::optional(TypeMeta(get<ScalarType>(dtype_))) : std::nullopt;
  }
  Layout layout() const noexcept { return layout_opt().value_or(kStrided); }
  bool has_layout() const noexcept { return has(layout_); }
  std::optional<Layout> layout_opt() const noexcept { return opt<Layout>(layout_); }
  bool requires_grad() const noexcept { return requires_grad_opt().value_or(false); }
  bool has_requires_grad() const noexcept { return has(requires_grad_); }
  std::optional<bool> requires_grad_opt() const noexcept { return opt<bool>(requires_grad_); }
  bool pinned_memory() const noexcept { return pinned_memory_opt().value_or(false); }
  bool has_pinned_memory() const noexcept { return has(pinned_memory_); }
  std::optional<bool> pinned_memory_opt() const noexcept { return opt<bool>(pinned_memory_); }
  bool has_memory_format() const noexcept { return has(memory_format_); }
  std::optional<MemoryFormat> memory_format_opt() const noexcept {
    return opt<MemoryFormat>(memory_format_);
  }

 private:
  // Bytes from the lowest one on; the last one has a bit for each that there is.
  enum Part {
    dtype_,
    layout_,
    type_of_device,
    index_of_device,
    requires_grad_,
    pinned_memory_,
    memory_format_,
    flags
  };
  bool has(Part part) const { return bits_ >> (8 * flags + part) & 1; }
  template <class T>
  T get(Part part) const {
    return static_cast<T>(static_cast<int8_t>(bits_ >> 8 * part));
  }
  template <class T>
  std::optional<T> opt(Part part) const {
    return has(part) ? std::optional<T>(get<T>(part)) : std::nullopt;
  }
  template <Part part, class T>
  TensorOptions with(std::optional<T> value) const {
    TensorOptions made;
    made.bits_ = bits_ & ~(0xffull << 8 * part | 1ull << (8 * flags + part));
    if (value)
      made.bits_ |= static_cast<uint64_t>(static_cast<uint8_t>(*value)) << 8 * part |
                    1ull << (8 * flags + part);
    return made;
  }
  uint64_t bits_ = 0;
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

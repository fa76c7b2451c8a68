// SPDX-License-Identifier: Apache-2.0
// from_blob(): tensors of memory that is somebody else's.
#pragma once

#include <optional>
#include <type_traits>

#include "tensor.h"

namespace cudaops_fast {

// Freed as the text says, or not at all.
struct Deleter {
  void (*run)(void*, void*) = nullptr;
  void* context = nullptr;

  Deleter() = default;
  template <class D>
  explicit Deleter(const D& deleter) {
    // An empty std::function is none.
    if constexpr (std::is_constructible<bool, const D&>::value && !std::is_empty<D>::value) {
      if (!static_cast<bool>(deleter)) return;
    }
    run = [](void* data, void* context) {
      D* deleter = static_cast<D*>(context);
      (*deleter)(data);
      delete deleter;
    };
    context = new D(deleter);
  }
};

inline at::Tensor make_blob(bool is_variable, void* data, at::IntArrayRef sizes,
                            const at::IntArrayRef* strides, const at::TensorOptions& options,
                            const Deleter& deleter = Deleter(),
                            const std::optional<at::Device>& target = std::nullopt) {
  Value values[6];
  to_values(options, values);
  Blob blob{};
  blob.data = data;
  blob.sizes = sizes.data();
  blob.count = static_cast<int64_t>(sizes.size());
  if (strides) {
    blob.strides = strides->data();
    blob.stride_count = static_cast<int64_t>(strides->size());
  }
  blob.options = values;
  blob.target_device = to_value(target);
  blob.deleter = deleter.run;
  blob.context = deleter.context;
  blob.is_variable = is_variable;
  return at::Tensor::steal(bridge()->from_blob(blob));
}

template <class D>
using if_deleter = std::enable_if_t<std::is_invocable<const D&, void*>::value>;

}  // namespace cudaops_fast

namespace at {
inline namespace cudaops_fast_1 {

inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                        const TensorOptions& options = {}) {
  return cudaops_fast::make_blob(false, data, sizes, &strides, options);
}
inline Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {}) {
  return cudaops_fast::make_blob(false, data, sizes, nullptr, options);
}
template <class D, class = cudaops_fast::if_deleter<D>>
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const D& deleter,
                 const TensorOptions& options = {},
                 const std::optional<Device> target_device = std::nullopt) {
  return cudaops_fast::make_blob(false, data, sizes, &strides, options,
                                 cudaops_fast::Deleter(deleter), target_device);
}
template <class D, class = cudaops_fast::if_deleter<D>>
Tensor from_blob(void* data, IntArrayRef sizes, const D& deleter, const TensorOptions& options = {},
                 const std::optional<Device> target_device = std::nullopt) {
  return cudaops_fast::make_blob(false, data, sizes, nullptr, options,
                                 cudaops_fast::Deleter(deleter), target_device);
}

}  // namespace cudaops_fast_1
}  // namespace at

namespace torch {
inline namespace cudaops_fast_1 {

inline at::Tensor from_blob(void* data, at::IntArrayRef sizes, at::IntArrayRef strides,
                            const at::TensorOptions& options = at::TensorOptions()) {
  return cudaops_fast::make_blob(true, data, sizes, &strides, options);
}
inline at::Tensor from_blob(void* data, at::IntArrayRef sizes,
                            const at::TensorOptions& options = at::TensorOptions()) {
  return cudaops_fast::make_blob(true, data, sizes, nullptr, options);
}
template <class D, class = cudaops_fast::if_deleter<D>>
at::Tensor from_blob(void* data, at::IntArrayRef sizes, at::IntArrayRef strides, const D& deleter,
                     const at::TensorOptions& options = at::TensorOptions()) {
  return cudaops_fast::make_blob(true, data, sizes, &strides, options,
                                 cudaops_fast::Deleter(deleter));
}
template <class D, class = cudaops_fast::if_deleter<D>>
at::Tensor from_blob(void* data, at::IntArrayRef sizes, const D& deleter,
                     const at::TensorOptions& options = at::TensorOptions()) {
  return cudaops_fast::make_blob(true, data, sizes, nullptr, options,
                                 cudaops_fast::Deleter(deleter));
}

}  // namespace cudaops_fast_1
}  // namespace torch

// SPDX-License-Identifier: Apache-2.0
// What torch:: adds to at::, as torch/types.h brings it.
#pragma once

#include "dispatch.h"

namespace torch {
using namespace at;
constexpr auto kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt, kInt64 = kLong;
constexpr auto kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble;
using std::nullopt;
using std::optional;
using Dtype = at::ScalarType;
inline namespace cudaops_fast_1 {

namespace autograd {
inline at::Tensor make_variable(at::Tensor data, bool requires_grad = false) {
  cudaops_fast::Impl bits = data.unsafe_release();
  cudaops_fast::bridge()->make_variable(&bits, requires_grad);
  return at::Tensor::steal(bits);
}
}  // namespace autograd

namespace detail {
inline at::Tensor from_blob(void* data, at::IntArrayRef sizes, const at::IntArrayRef* strides,
                            const at::TensorOptions& options, void (*deleter)(void*, void*),
                            void* context) {
  cudaops_fast::Value values[6];
  cudaops_fast::to_values(options, values);
  return at::Tensor::steal(cudaops_fast::bridge()->from_blob(
      data, sizes.data(), static_cast<int64_t>(sizes.size()), strides ? strides->data() : nullptr,
      strides ? static_cast<int64_t>(strides->size()) : 0, values, deleter, context));
}
template <class D>
void run_deleter(void* data, void* context) {
  D* deleter = static_cast<D*>(context);
  (*deleter)(data);
  delete deleter;
}
}  // namespace detail

inline at::Tensor from_blob(void* data, at::IntArrayRef sizes, at::IntArrayRef strides,
                            const at::TensorOptions& options = at::TensorOptions()) {
  return detail::from_blob(data, sizes, &strides, options, nullptr, nullptr);
}
inline at::Tensor from_blob(void* data, at::IntArrayRef sizes,
                            const at::TensorOptions& options = at::TensorOptions()) {
  return detail::from_blob(data, sizes, nullptr, options, nullptr, nullptr);
}
template <class D, class = std::enable_if_t<std::is_invocable<D&, void*>::value>>
at::Tensor from_blob(void* data, at::IntArrayRef sizes, at::IntArrayRef strides, const D& deleter,
                     const at::TensorOptions& options = at::TensorOptions()) {
  return detail::from_blob(data, sizes, &strides, options, detail::run_deleter<D>, new D(deleter));
}
template <class D, class = std::enable_if_t<std::is_invocable<D&, void*>::value>>
at::Tensor from_blob(void* data, at::IntArrayRef sizes, const D& deleter,
                     const at::TensorOptions& options = at::TensorOptions()) {
  return detail::from_blob(data, sizes, nullptr, options, detail::run_deleter<D>, new D(deleter));
}

#include <cudaops_fast_factories.h>

}  // namespace cudaops_fast_1
}  // namespace torch

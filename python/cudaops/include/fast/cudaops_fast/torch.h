// SPDX-License-Identifier: Apache-2.0
// What torch:: adds to at::, as torch/types.h brings it.
#pragma once

#include "blob.h"
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

#include <cudaops_fast_factories.h>

}  // namespace cudaops_fast_1
}  // namespace torch

// Of ATen/TensorUtils.h, which torch's own header brings.
#ifdef CUDAOPS_FAST_WITH_CHECKS
#include "check_tensors.h"
#endif

// SPDX-License-Identifier: Apache-2.0
// Checks of arguments by name and position, of ATen/TensorUtils.h: torch's own, through the bridge.
#pragma once

#include <initializer_list>
#include <vector>

#include "torch.h"

namespace at {
inline namespace cudaops_fast_1 {

using CheckedFrom = const char*;

struct TensorArg {
  const Tensor& tensor;
  const char* name;
  int pos;
  TensorArg(const Tensor& tensor, const char* name, int pos)
      : tensor(tensor), name(name), pos(pos) {}
  TensorArg(Tensor&& tensor, const char* name, int pos) = delete;
  const Tensor* operator->() const { return &tensor; }
  const Tensor& operator*() const { return tensor; }
};

}  // namespace cudaops_fast_1
}  // namespace at

namespace cudaops_fast {

inline void check_tensors(Check what, at::CheckedFrom from, at::ArrayRef<at::TensorArg> tensors,
                          at::IntArrayRef numbers = {}) {
  std::vector<CheckedTensor> all;
  all.reserve(tensors.size());
  for (const at::TensorArg& one : tensors) all.push_back({one.tensor.bits(), one.name, one.pos});
  bridge()->check_tensors(what, from, all.data(), static_cast<int64_t>(all.size()), numbers.data(),
                          static_cast<int64_t>(numbers.size()));
}

}  // namespace cudaops_fast

namespace at {
inline namespace cudaops_fast_1 {

#define CUDAOPS_FAST_CHECK_ONE(name, what)                 \
  inline void name(CheckedFrom c, const TensorArg& t) {    \
    cudaops_fast::check_tensors(cudaops_fast::what, c, t); \
  }
#define CUDAOPS_FAST_CHECK_TWO(name, what)                                    \
  inline void name(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) { \
    cudaops_fast::check_tensors(cudaops_fast::what, c, {t1, t2});             \
  }
#define CUDAOPS_FAST_CHECK_ALL(name, what)                       \
  inline void name(CheckedFrom c, ArrayRef<TensorArg> tensors) { \
    cudaops_fast::check_tensors(cudaops_fast::what, c, tensors); \
  }
CUDAOPS_FAST_CHECK_ONE(checkContiguous, c_contiguous)
CUDAOPS_FAST_CHECK_ONE(checkDefined, c_defined)
CUDAOPS_FAST_CHECK_TWO(checkSameDim, c_same_dim)
CUDAOPS_FAST_CHECK_TWO(checkSameNumel, c_same_numel)
CUDAOPS_FAST_CHECK_TWO(checkSameGPU, c_same_gpu)
CUDAOPS_FAST_CHECK_TWO(checkSameType, c_same_type)
CUDAOPS_FAST_CHECK_TWO(checkSameSize, c_same_size)
CUDAOPS_FAST_CHECK_ALL(checkAllContiguous, c_all_contiguous)
CUDAOPS_FAST_CHECK_ALL(checkAllSameNumel, c_all_same_numel)
CUDAOPS_FAST_CHECK_ALL(checkAllSameGPU, c_all_same_gpu)
CUDAOPS_FAST_CHECK_ALL(checkAllSameType, c_all_same_type)
CUDAOPS_FAST_CHECK_ALL(checkAllSameSize, c_all_same_size)
CUDAOPS_FAST_CHECK_ALL(checkAllDefined, c_all_defined)
#undef CUDAOPS_FAST_CHECK_ONE
#undef CUDAOPS_FAST_CHECK_TWO
#undef CUDAOPS_FAST_CHECK_ALL

inline void checkDim(CheckedFrom c, const TensorArg& t, int64_t dim) {
  cudaops_fast::check_tensors(cudaops_fast::c_dim, c, t, dim);
}
inline void checkDim(CheckedFrom c, const Tensor& tensor, const char* name, int pos, int64_t dim) {
  cudaops_fast::check_tensors(cudaops_fast::c_dim_of_tensor, c, TensorArg(tensor, name, pos), dim);
}
inline void checkDimRange(CheckedFrom c, const TensorArg& t, int64_t dim_start, int64_t dim_end) {
  cudaops_fast::check_tensors(cudaops_fast::c_dim_range, c, t, {dim_start, dim_end});
}
inline void checkSize(CheckedFrom c, const TensorArg& t, IntArrayRef sizes) {
  cudaops_fast::check_tensors(cudaops_fast::c_size, c, t, sizes);
}
inline void checkSize(CheckedFrom c, const TensorArg& t, int64_t dim, int64_t size) {
  cudaops_fast::check_tensors(cudaops_fast::c_size_of_dim, c, t, {dim, size});
}
inline void checkNumel(CheckedFrom c, const TensorArg& t, int64_t numel) {
  cudaops_fast::check_tensors(cudaops_fast::c_numel, c, t, numel);
}
inline void checkScalarType(CheckedFrom c, const TensorArg& t, ScalarType s) {
  cudaops_fast::check_tensors(cudaops_fast::c_scalar_type, c, t, static_cast<int64_t>(s));
}
inline void checkScalarTypes(CheckedFrom c, const TensorArg& t, ArrayRef<ScalarType> l) {
  std::vector<int64_t> numbers;
  for (const ScalarType one : l) numbers.push_back(static_cast<int64_t>(one));
  cudaops_fast::check_tensors(cudaops_fast::c_scalar_types, c, t, numbers);
}

}  // namespace cudaops_fast_1
}  // namespace at

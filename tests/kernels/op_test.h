// SPDX-License-Identifier: Apache-2.0
// What the tests of all ops share: the three types, and the shapes of shapes.json.
#pragma once

#include <cudaops/testing.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/dtype.h"
#include "shapes.h"

namespace op_test {

using Types = ::testing::Types<float, cudaops::testing::Float16, cudaops::testing::BFloat16>;

struct TypeNames {
  template <typename T>
  static std::string GetName(int) {
    return cudaops::testing::DtypeOf<T>::kName;
  }
};

template <typename T>
constexpr cudaops_kernels::DType kDType = cudaops_kernels::DType::kFloat32;
template <>
constexpr cudaops_kernels::DType kDType<cudaops::testing::Float16> =
    cudaops_kernels::DType::kFloat16;
template <>
constexpr cudaops_kernels::DType kDType<cudaops::testing::BFloat16> =
    cudaops_kernels::DType::kBFloat16;

// The op's shapes in shapes.json.
inline const TestShapes& shapes_of(const std::string& op) {
  for (const TestShapes& kind : all_shapes()) {
    if (std::find(kind.ops.begin(), kind.ops.end(), op) != kind.ops.end()) return kind;
  }
  throw std::runtime_error("tests/kernels/shapes.json has no kind with " + op + " among its ops.");
}

inline int64_t num_elements(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (const int64_t size : shape) product *= size;
  return product;
}

// Numbers of elements: of the shapes, and the widths.
inline std::vector<int64_t> sizes_of(const std::string& op) {
  const TestShapes& of_op = shapes_of(op);
  std::vector<int64_t> result = of_op.widths;
  for (const std::vector<int64_t>& shape : of_op.shapes) result.push_back(num_elements(shape));
  return result;
}

// Two real threads' worth of ranges without threads: calls come out of order and in odd lengths, so
// that a body which relies on either shows.
inline void scattered_for(int64_t begin, int64_t end, int64_t, cudaops_kernels::ParallelBody body,
                          void* context) {
  const int64_t middle = begin + (end - begin) / 3;
  if (middle < end) body(middle, end, context);
  if (begin < middle) body(begin, middle, context);
}

// Arrays beyond 2^31 elements take gigabytes: only on request.
inline bool large_arrays_wanted() { return std::getenv("CUDAOPS_TEST_LARGE") != nullptr; }

// Under a tool that takes a hundred times as long, where CUDAOPS_TEST_FEW is set: all but each
// eleventh of the cases that ask here, over all of a program's lists.
inline bool is_left_out() {
  static int64_t count = 0;
  return std::getenv("CUDAOPS_TEST_FEW") != nullptr && count++ % 11 != 0;
}

constexpr int64_t kLargeSize = (int64_t{1} << 31) + 5;

}  // namespace op_test

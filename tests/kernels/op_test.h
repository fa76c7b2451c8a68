// SPDX-License-Identifier: Apache-2.0
// What the tests of all ops share: the three types, and the sizes and alignments that find mistakes
// in head, vectors, tail and tiles.
#pragma once

#include <cudaops/testing.h>

#include <cstdlib>
#include <vector>

#include "common/dtype.h"

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

inline const std::vector<int64_t>& sizes() {
  static const std::vector<int64_t> values{0,    1,    2,    3,     7,     8,     9,     15,   17,
                                           255,  256,  257,  1023,  1024,  1025,  2047,  2049, 8191,
                                           8192, 8193, 8199, 16384, 16391, 65537, 100003};
  return values;
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

// SPDX-License-Identifier: Apache-2.0
// What the benchmarks of pointwise ops share: references from what the arrays were filled with.
#pragma once

#include "row_benchmark.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace op_benchmark {

using cudaops::benchmark::DeviceSets;

// The elements of an array that values() filled.
template <typename T>
double element(const std::vector<T>& pattern, int64_t index) {
  return cudaops::testing::exact(pattern[static_cast<size_t>(index % kPeriod)]);
}

// Compares some rows of set 0 with expected(row, column).
template <typename T, typename Expected>
std::string wrong_rows(const DeviceSets& out, int64_t rows, int64_t width,
                       const Expected& expected) {
  auto tolerance = cudaops::testing::DtypeOf<T>::kTolerance;
  tolerance.atol = 1e-5;
  for (const int64_t row : checked_rows(rows)) {
    const auto compared = cudaops::testing::compare(
        out.to_host<T>(row * width, width), [&](int64_t i) { return expected(row, i); }, {},
        tolerance);
    if (!compared.ok) return "row " + std::to_string(row) + ": " + compared.text;
  }
  return "";
}

}  // namespace op_benchmark

#endif  // CUDAOPS_BENCH_WITH_CUDA

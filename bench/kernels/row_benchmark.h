// SPDX-License-Identifier: Apache-2.0
// What the benchmarks of row ops share: shapes, and references for single rows.
#pragma once

#include <cmath>

#include "op_benchmark.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace op_benchmark {

// Rows × width: small, the hidden sizes of language models at about 256 MiB of float32 and below,
// long rows, and awkward ones (odd widths, so that rows start anywhere).
inline void row_shapes(cudaops::benchmark::Registered registered) {
  cudaops::benchmark::timed_on_gpu(registered);
  registered->ArgNames({"rows", "width"});
  for (const auto& shape : {std::pair<int64_t, int64_t>{64, 4096},
                            {4096, 4096},
                            {32768, 4096},
                            {16384, 8192},
                            {131072, 1024},
                            {8192, 16384},
                            {1024, 131072},
                            {1048576, 128},
                            {32768, 4097},
                            {32768, 4099},
                            {131072, 1000},
                            {1048576, 127}}) {
    registered->Args({shape.first, shape.second});
  }
}

// The rows whose results are compared before anything is timed.
inline std::vector<int64_t> checked_rows(int64_t num_rows) {
  return {0, num_rows / 2, num_rows - 1};
}

template <typename T>
std::vector<double> exact_row(const cudaops::benchmark::DeviceSets& sets, int64_t row,
                              int64_t width) {
  std::vector<double> values;
  for (const T value : sets.to_host<T>(row * width, width)) {
    values.push_back(cudaops::testing::exact(value));
  }
  return values;
}

}  // namespace op_benchmark

#endif  // CUDAOPS_BENCH_WITH_CUDA

// SPDX-License-Identifier: Apache-2.0
// What the CPU kernels of several row ops share.
#pragma once

#include <cstdint>

#include "dtype.h"
#include "half_types.h"
#include "parallel_for.h"
#include "rows.h"

namespace cudaops_kernels {

// Call::run<T>(arguments...) with the element type that dtype names.
template <typename Call, typename... Arguments>
void for_host_type(DType dtype, const Arguments&... arguments) {
  switch (dtype) {
    case DType::kFloat32:
      return Call::template run<float>(arguments...);
    case DType::kFloat16:
      return Call::template run<Float16>(arguments...);
    case DType::kBFloat16:
      return Call::template run<BFloat16>(arguments...);
  }
}

// Rows that are worth a thread: below 32768 elements it costs more than it brings.
inline int64_t row_grain(int64_t width) { return width >= 32768 ? 1 : 32768 / (width + 1) + 1; }

// The sum of term(0) … term(count - 1), in eight lanes of double: vectorised, and exact enough that
// only the terms' own rounding shows.
template <typename Term>
double sum_over(int64_t count, const Term& term) {
  constexpr int kLanes = 8;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
  }
  for (; i < count; ++i) lanes[0] += term(i);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

// body(column): body gets a function that reads `data`, of T or float, as float. data may be null;
// then the function must not be called.
template <typename T, typename Body>
void with_columns(const void* data, DType dtype, const Body& body) {
  if (dtype == DType::kFloat32) {
    body([columns = static_cast<const float*>(data)](int64_t i) { return columns[i]; });
  } else {
    body([columns = static_cast<const T*>(data)](int64_t i) { return to_float(columns[i]); });
  }
}

struct StoreColumns {
  template <typename T>
  static void run(const double* sums, int64_t begin, int64_t end, void* out) {
    for (int64_t i = begin; i < end; ++i) {
      static_cast<T*>(out)[i] = from_float<T>(static_cast<float>(sums[i - begin]));
    }
  }
};

// out[column] = sum over rows of term(row, column), in the order of the rows whatever the threads.
template <typename Term>
void sum_columns(ParallelFor parallel_for, int64_t num_rows, int64_t width, DType dtype, void* out,
                 const Term& term) {
  constexpr int64_t kColumns = 256;  // together in the cache, and whole cache lines of a row
  const int64_t num_chunks = (width + kColumns - 1) / kColumns;
  const int64_t grain = num_rows >= 128 ? 1 : 128 / (num_rows + 1) + 1;
  run_parallel(parallel_for, 0, num_chunks, grain, [&](int64_t first, int64_t last) {
    for (int64_t chunk = first; chunk < last; ++chunk) {
      const int64_t begin = chunk * kColumns;
      const int64_t end = begin + kColumns < width ? begin + kColumns : width;
      double sums[kColumns] = {};
      for (int64_t row = 0; row < num_rows; ++row) {
        for (int64_t column = begin; column < end; ++column) {
          sums[column - begin] += term(row, column);
        }
      }
      for_host_type<StoreColumns>(dtype, static_cast<const double*>(sums), begin, end, out);
    }
  });
}

}  // namespace cudaops_kernels

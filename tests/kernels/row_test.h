// SPDX-License-Identifier: Apache-2.0
// What the tests of row ops share.
#pragma once

#include <cmath>

#include "op_test.h"

namespace op_test {

// Around what a thread, a warp and a block hold in vectors of 4 and 8 elements, with and without a
// row's ends apart; so few that there is nothing between the ends.
inline const std::vector<int64_t>& widths() {
  static const std::vector<int64_t> values{
      1,   2,    3,    5,    7,    8,    9,    13,   17,   25,   31,   32,   33,  41,
      47,  64,   127,  128,  129,  145,  161,  255,  256,  281,  289,  511,  512, 513,
      545, 1000, 1023, 1024, 1025, 1057, 2048, 2081, 4095, 4096, 4097, 8192, 8200};
  return values;
}

// Rows of `width` elements, moved `stride` apart; NaN between them.
template <typename T>
std::vector<T> spread(const std::vector<T>& rows, int64_t width, int64_t stride) {
  if (stride == width || width == 0) return rows;
  const int64_t num_rows = static_cast<int64_t>(rows.size()) / width;
  std::vector<T> result(static_cast<size_t>(num_rows * stride), cudaops::testing::poison<T>());
  for (int64_t row = 0; row < num_rows; ++row) {
    for (int64_t i = 0; i < width; ++i) {
      result[static_cast<size_t>(row * stride + i)] = rows[static_cast<size_t>(row * width + i)];
    }
  }
  return result;
}

// Of a float32 sum of `count` terms around 1: errors of either sign, a step each.
inline cudaops::testing::Tolerance sum_tolerance(int64_t count) {
  cudaops::testing::Tolerance tolerance = cudaops::testing::DtypeOf<float>::kTolerance;
  tolerance.atol = 1e-6 * std::sqrt(static_cast<double>(count));
  return tolerance;
}

}  // namespace op_test

// SPDX-License-Identifier: Apache-2.0
// What the tests of row ops share.
#pragma once

#include <cmath>

#include "op_test.h"

namespace op_test {

struct RowShape {
  int64_t num_rows, width;
};

// The op's shapes of some elements as rows, and `few_rows` of each width.
inline std::vector<RowShape> row_shapes(const std::string& op, int64_t few_rows = 3) {
  const TestShapes& of_op = shapes_of(op);
  std::vector<RowShape> result;
  for (const int64_t width : of_op.widths) result.push_back({few_rows, width});
  for (const std::vector<int64_t>& shape : of_op.shapes) {
    const int64_t elements = num_elements(shape);
    if (elements > 0) result.push_back({elements / shape.back(), shape.back()});
  }
  return result;
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

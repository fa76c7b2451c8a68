// SPDX-License-Identifier: Apache-2.0
// What the benchmarks of quantised ops share: blocks of rows, and the gate.
#pragma once

#include "../../tests/kernels/quantized_reference.h"
#include "pointwise_benchmark.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace op_benchmark {

using cudaops_kernels::BlockGrid;
using cudaops_kernels::BlockStrides;
using cudaops_kernels::QuantizedType;

// Scales without gaps.
inline BlockStrides dense(const BlockGrid& grid) { return {0, grid.columns_of_blocks(), 1}; }

// Compares some rows of set 0, and their scales, with number(row, column). is_random: either
// neighbour is right.
template <typename Number>
std::string wrong_bytes(const DeviceSets& out, const DeviceSets& scales, const BlockGrid& grid,
                        QuantizedType type, const Number& number, bool is_random = false) {
  for (const int64_t row : checked_rows(grid.num_rows)) {
    const auto bytes = out.to_host<uint8_t>(row * grid.width, grid.width);
    const int64_t columns = grid.columns_of_blocks(), block_row = row / grid.block_rows;
    const auto of_row = scales.to_host<float>(block_row * columns, columns);
    double largest = 0;
    for (int64_t column = 0; column < grid.width; ++column) {
      const double scale = of_row[static_cast<size_t>(column / grid.block_columns)];
      if (column % grid.block_columns == 0) {
        largest = 0;
        const int64_t first = block_row * grid.block_rows;
        const int64_t last = std::min(first + grid.block_rows, grid.num_rows);
        for (int64_t r = first; r < last; ++r) {
          // An array repeats itself: what comes later was there already.
          if (grid.block_columns == grid.width && (r - first) * grid.width > kPeriod) break;
          for (int64_t c = column; c < std::min(column + grid.block_columns, grid.width); ++c) {
            largest = std::max(largest, std::fabs(number(r, c)));
          }
        }
        const double wanted = largest / op_test::largest_number(type);
        if (std::fabs(scale - wanted) > 1e-6 * wanted) {
          return "row " + std::to_string(row) + ", column " + std::to_string(column) + ": scale " +
                 std::to_string(scale) + ", wanted " + std::to_string(wanted);
        }
      }
      const double found = op_test::stored(bytes[static_cast<size_t>(column)], type);
      const double x = number(row, column) / scale;
      const bool is_right = is_random ? std::fabs(found - x) <= 1.0001 * op_test::step_at(x, type)
                                      : op_test::is_nearest(found, x, type);
      if (!is_right) {
        return "row " + std::to_string(row) + ", column " + std::to_string(column) + ": " +
               std::to_string(found) + " for " + std::to_string(x);
      }
    }
  }
  return "";
}

// The same where number(row, column) is what another op makes, before it is rounded to its type:
// within a step of the quantised type, and what that rounding is worth. Bit for bit is the tests'
// matter. begin(row) comes before a row's numbers.
template <typename Begin, typename Number>
std::string wrong_fused_bytes(const DeviceSets& out, const DeviceSets& scales,
                              const BlockGrid& grid, QuantizedType type, const Begin& begin,
                              const Number& number) {
  for (const int64_t row : checked_rows(grid.num_rows)) {
    const auto bytes = out.to_host<uint8_t>(row * grid.width, grid.width);
    const int64_t columns = grid.columns_of_blocks();
    const auto of_row = scales.to_host<float>(row * columns, columns);
    begin(row);
    for (int64_t column = 0; column < grid.width; ++column) {
      const double scale = of_row[static_cast<size_t>(column / grid.block_columns)];
      const double wanted = number(row, column) / scale;
      const double found = op_test::stored(bytes[static_cast<size_t>(column)], type);
      const double allowed = 0.5 * op_test::step_at(wanted * 1.01, type) + 0.01 * std::fabs(wanted);
      if (!(std::fabs(found - wanted) <= allowed)) {
        return "row " + std::to_string(row) + ", column " + std::to_string(column) + ": " +
               std::to_string(found) + " for " + std::to_string(wanted);
      }
    }
  }
  return "";
}

}  // namespace op_benchmark

#endif  // CUDAOPS_BENCH_WITH_CUDA

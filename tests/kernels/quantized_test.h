// SPDX-License-Identifier: Apache-2.0
// What the tests of quantised ops share: blocks, and results judged by the reference.
#pragma once

#include "quantized_reference.h"
#include "row_test.h"

namespace op_test {

using namespace cudaops::testing;
using cudaops_kernels::BlockGrid;
using cudaops_kernels::BlockStrides;

// The block of an element, counted row by row; as scales lie without gaps.
inline size_t block_of(const BlockGrid& grid, int64_t row, int64_t column) {
  const int64_t matrix = row / grid.num_rows, block_row = row % grid.num_rows / grid.block_rows;
  const int64_t rows = (grid.num_rows + grid.block_rows - 1) / grid.block_rows;
  const int64_t columns = (grid.width + grid.block_columns - 1) / grid.block_columns;
  return static_cast<size_t>((matrix * rows + block_row) * columns + column / grid.block_columns);
}

// The op's cases in shapes.json, which are shape and block_size as torchao has them: -1 is all of a
// dimension.
inline std::vector<BlockGrid> grids_of(const std::string& op) {
  std::vector<BlockGrid> result;
  for (const std::vector<std::vector<int64_t>>& of_case : shapes_of(op).cases) {
    const auto of_dim = [](const std::vector<int64_t>& sizes, size_t from_end) {
      return from_end < sizes.size() ? sizes[sizes.size() - 1 - from_end] : 1;
    };
    const std::vector<int64_t>&shape = of_case[0], &block = of_case[1];
    const int64_t rows = of_dim(shape, 1), width = of_dim(shape, 0);
    const auto up_to = [](int64_t size, int64_t most) {
      return size < 0 ? most : std::min(size, most);
    };
    result.push_back({num_elements(shape) / rows / width, rows, width,
                      up_to(of_dim(block, 1), rows), up_to(of_dim(block, 0), width)});
  }
  return result;
}

inline BlockStrides dense(const BlockGrid& grid) {
  return {grid.rows_of_blocks() * grid.columns_of_blocks(), grid.columns_of_blocks(), 1};
}

template <typename T>
std::vector<double> largest_of_blocks(const BlockGrid& grid, const std::vector<T>& rows) {
  std::vector<double> largest(static_cast<size_t>(grid.num_blocks()));
  for (int64_t row = 0; row < grid.total_rows(); ++row) {
    for (int64_t column = 0; column < grid.width; ++column) {
      double& of_block = largest[block_of(grid, row, column)];
      const double x = std::fabs(exact(rows[static_cast<size_t>(row * grid.width + column)]));
      of_block = std::fmax(of_block, x);
    }
  }
  return largest;
}

// Of a symmetric result whose scales were computed: `scale` and `output` by the rows' numbers.
template <typename T>
::testing::AssertionResult quantized_well(const BlockGrid& grid, QuantizedType type,
                                          const std::vector<T>& rows,
                                          const std::vector<uint8_t>& output,
                                          const std::vector<float>& scale) {
  const std::vector<double> largest = largest_of_blocks(grid, rows);
  for (size_t block = 0; block < largest.size(); ++block) {
    const double wanted = std::fmax(largest[block] / largest_number(type), 0x1p-126);
    if (std::fabs(scale[block] - wanted) > 2e-7 * wanted) {
      return ::testing::AssertionFailure()
             << "scale of block " << block << " is " << scale[block] << ", wanted " << wanted;
    }
  }
  for (int64_t row = 0; row < grid.total_rows(); ++row) {
    for (int64_t column = 0; column < grid.width; ++column) {
      const size_t i = static_cast<size_t>(row * grid.width + column);
      const double x = exact(rows[i]) / scale[block_of(grid, row, column)];
      const double found = stored(output[i], type);
      if (!is_nearest(found, x, type)) {
        return ::testing::AssertionFailure() << "row " << row << ", column " << column << ": "
                                             << found << " for " << x << "; " << seed_text();
      }
    }
  }
  return ::testing::AssertionSuccess();
}

inline const std::vector<QuantizedType>& types() {
  static const std::vector<QuantizedType> values{QuantizedType::kInt8, QuantizedType::kFloat8};
  return values;
}

}  // namespace op_test

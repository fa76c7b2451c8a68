// SPDX-License-Identifier: Apache-2.0
// Walks over blocks on the CPU.
#pragma once

#include "cpu_pointwise.h"
#include "quantized.h"

namespace cudaops_kernels {

// body(block's place, row, first, last) for parts of blocks' rows that cover all elements.
template <typename Body>
void for_block_parts(ParallelFor parallel_for, const BlockGrid& grid, const BlockStrides& strides,
                     const Body& body) {
  for_row_parts(parallel_for, grid.total_rows(), grid.width,
                [&](int64_t row, int64_t begin, int64_t end) {
                  const int64_t matrix = row / grid.num_rows;
                  const int64_t block_row = row % grid.num_rows / grid.block_rows;
                  while (begin < end) {
                    const int64_t block_column = begin / grid.block_columns;
                    const int64_t left = grid.block_columns - begin % grid.block_columns;
                    const int64_t last = left < end - begin ? begin + left : end;
                    body(strides.at(matrix, block_row, block_column), row, begin, last);
                    begin = last;
                  }
                });
}

// body(block's place)
template <typename Body>
void for_blocks(const BlockGrid& grid, const BlockStrides& strides, const Body& body) {
  for (int64_t matrix = 0; matrix < grid.num_matrices; ++matrix) {
    for (int64_t row = 0; row < grid.rows_of_blocks(); ++row) {
      for (int64_t column = 0; column < grid.columns_of_blocks(); ++column) {
        body(strides.at(matrix, row, column));
      }
    }
  }
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// transpose on the CPU: threads over tiles that fit into the L1 cache.
#include "transpose.h"

namespace cudaops_kernels {
namespace {

template <typename T>
void run(const Transpose& call, ParallelFor parallel_for) {
  constexpr int64_t kTile = 32;
  constexpr int64_t kGrain = 32768 / (kTile * kTile);  // tiles that are worth a thread
  const auto smaller = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const int64_t row_tiles = (call.num_rows + kTile - 1) / kTile;
  const int64_t column_tiles = (call.num_columns + kTile - 1) / kTile;
  const auto tiles = [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      const int64_t first_row = index % row_tiles * kTile;
      const int64_t first_column = index / row_tiles % column_tiles * kTile;
      const int64_t batch = index / row_tiles / column_tiles;
      const int64_t rows = smaller(kTile, call.num_rows - first_row);
      const int64_t columns = smaller(kTile, call.num_columns - first_column);
      const T* const input = static_cast<const T*>(call.input) + batch * call.batch_stride +
                             first_row * call.row_stride + first_column;
      T* const output = static_cast<T*>(call.output) +
                        (batch * call.num_columns + first_column) * call.num_rows + first_row;
      for (int64_t column = 0; column < columns; ++column) {
        for (int64_t row = 0; row < rows; ++row) {
          output[column * call.num_rows + row] = input[row * call.row_stride + column];
        }
      }
    }
  };
  run_parallel(parallel_for, 0, call.num_batches * row_tiles * column_tiles, kGrain, tiles);
}

}  // namespace

void transpose_cpu(const Transpose& call, ParallelFor parallel_for) {
  if (size_of(call.dtype) == 4) {
    run<uint32_t>(call, parallel_for);
  } else {
    run<uint16_t>(call, parallel_for);
  }
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// transpose on the CPU: threads over tiles, by way of a buffer, so that each cache line of both
// sides is touched once in a tile; rows a power of two apart would push each other out of the
// cache. Out of the buffer come blocks of 16 by 16 bytes, which compilers turn in vector registers.
#include <cstring>

#include "transpose.h"

namespace cudaops_kernels {
namespace {

template <typename T>
struct Tile {
  static constexpr int64_t kSize = 128 / sizeof(T);   // rows and columns
  static constexpr int64_t kBlock = 16 / sizeof(T);   // the same of a block
  static constexpr int64_t kStride = kSize + kBlock;  // no power of two
  T elements[kSize * kStride] = {};

  // output[column * stride + row] = elements of the tile.
  void store(T* output, int64_t stride, int64_t rows, int64_t columns) const {
    for (int64_t column = 0; column < columns; column += kBlock) {
      for (int64_t row = 0; row < rows; row += kBlock) {
        T block[kBlock][kBlock];
        for (int64_t c = 0; c < kBlock; ++c) {
          for (int64_t r = 0; r < kBlock; ++r) {
            block[c][r] = elements[(row + r) * kStride + column + c];
          }
        }
        T* const destination = output + column * stride + row;
        if (rows - row >= kBlock && columns - column >= kBlock) {
          for (int64_t c = 0; c < kBlock; ++c) {
            std::memcpy(destination + c * stride, block[c], sizeof block[c]);
          }
        } else {
          for (int64_t c = 0; c < kBlock && column + c < columns; ++c) {
            for (int64_t r = 0; r < kBlock && row + r < rows; ++r) {
              destination[c * stride + r] = block[c][r];
            }
          }
        }
      }
    }
  }
};

template <typename T>
void run(const Transpose& call, ParallelFor parallel_for) {
  constexpr int64_t kSize = Tile<T>::kSize;
  constexpr int64_t kGrain = 32768 / (kSize * kSize);  // tiles that are worth a thread
  const auto smaller = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const int64_t row_tiles = (call.num_rows + kSize - 1) / kSize;
  const int64_t column_tiles = (call.num_columns + kSize - 1) / kSize;
  const auto tiles = [&](int64_t begin, int64_t end) {
    Tile<T> tile;
    for (int64_t index = begin; index < end; ++index) {
      const int64_t first_row = index % row_tiles * kSize;
      const int64_t first_column = index / row_tiles % column_tiles * kSize;
      const int64_t batch = index / row_tiles / column_tiles;
      const int64_t rows = smaller(kSize, call.num_rows - first_row);
      const int64_t columns = smaller(kSize, call.num_columns - first_column);
      const T* const input = static_cast<const T*>(call.input) + batch * call.batch_stride +
                             first_row * call.row_stride + first_column;
      T* const output = static_cast<T*>(call.output) +
                        (batch * call.num_columns + first_column) * call.num_rows + first_row;
      for (int64_t row = 0; row < rows; ++row) {
        std::memcpy(tile.elements + row * Tile<T>::kStride, input + row * call.row_stride,
                    static_cast<size_t>(columns) * sizeof(T));
      }
      tile.store(output, call.num_rows, rows, columns);
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

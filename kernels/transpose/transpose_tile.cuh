// SPDX-License-Identifier: Apache-2.0
// transpose on CUDA devices: what a block does with its tile.
//
// By way of shared memory, with 16-byte loads and stores on both sides. Where rows start anywhere:
// of each input row a block takes the vectors that lie at multiples of 16 bytes, one more than a
// tile's width, and looks for elements behind the row's own shift. An output vector lies where its
// row has its multiples of 16 bytes, and so reaches up to kSize - 1 rows back: the block loads
// those as well, so that only the ends of the output's rows are stored in parts.
#pragma once

#include "../common/unaligned.cuh"
#include "transpose.h"

namespace cudaops_kernels {
namespace transpose {

constexpr int kThreads = 512;
constexpr int kTileRows = 64;
constexpr int kTileVectors = 16;  // a row

// Where in the input.
struct Corner {
  uint32_t batch;
  int64_t row;
  int64_t column;
};

// A tile in shared memory. T: bits of an element's size. kWhole: all rows of both sides start at
// multiples of 16 bytes and have whole vectors only.
template <typename T, bool kWhole>
struct Tile {
  static constexpr int kSize = Vector<T>::kSize;
  static constexpr int kBefore = kWhole ? 0 : kSize;  // rows before the first, one of them unused
  static constexpr int kRows = kBefore + kTileRows;
  static constexpr int kVectors = kTileVectors + (kWhole ? 0 : 1);  // a row

  // Where a row starts, in vectors. Vectors are written along rows; elements are read by eight
  // lanes whose rows are kSize apart: neither meets a bank twice. The warp's other columns do so
  // only where rows are shifted.
  static __device__ __forceinline__ uint32_t row(uint32_t index) {
    return index * kVectors + index / kSize;
  }

  Packed vectors[kRows * kVectors + kRows / kSize];
};

__device__ __forceinline__ int at_most(int64_t count, int most) {
  return count < most ? static_cast<int>(count) : most;
}

// The end of an array of matrices.
template <typename T>
__device__ __forceinline__ const T* end_of_input(const Transpose& call) {
  return static_cast<const T*>(call.input) + (call.num_batches - 1) * call.batch_stride +
         (call.num_rows - 1) * call.row_stride + call.num_columns;
}

// kInner: all of the tile is there, and so is what its loads touch around it.
template <typename T, bool kWhole, bool kInner>
__device__ __forceinline__ void move_tile(const Transpose& call, const Corner& corner,
                                          Tile<T, kWhole>& tile) {
  using TileOf = Tile<T, kWhole>;
  constexpr uint32_t kSize = TileOf::kSize, kBefore = TileOf::kBefore, kRows = TileOf::kRows;
  const uint32_t thread = threadIdx.x;
  const T* const input = static_cast<const T*>(call.input);
  const T* const matrix = input + corner.batch * call.batch_stride +
                          (corner.row - kBefore) * call.row_stride + corner.column;
  // Elements from a multiple of 16 bytes to the tile's part of a row, by the low bits alone.
  const uint32_t matrix_shift =
      static_cast<uint32_t>(reinterpret_cast<uintptr_t>(matrix) / sizeof(T));
  const uint32_t row_shift = static_cast<uint32_t>(call.row_stride);
  const auto shift_of = [&](uint32_t row) {
    return kWhole ? 0 : (matrix_shift + row * row_shift) % kSize;
  };

  // Vector `vector` of the tile's row `row`, counted from the multiple of 16 bytes at or before the
  // row. Outside of the array nothing is touched.
  const auto load = [&](uint32_t row, uint32_t vector) -> Packed {
    const uint32_t shift = shift_of(row);
    const T* const data = matrix + row * call.row_stride - shift + vector * kSize;
    if constexpr (!kInner) {
      const int64_t row_of_input = corner.row + row - kBefore;
      const int64_t columns_left = call.num_columns - corner.column;
      if (row_of_input < 0 || row_of_input >= call.num_rows ||
          int64_t{vector * kSize} - shift >= columns_left) {
        return {};
      }
      const T* const last = end_of_input<T>(call);
      if (!kWhole && (data < input || last - data < kSize)) {
        return load_unaligned_looped(data, vector == 0 ? static_cast<int>(shift) : 0,
                                     at_most(last - data, kSize));
      }
    }
    return load_aligned(data);
  };
  // The tile's own rows without their last vector; then all last vectors and the rows before.
  constexpr uint32_t kRowsAtOnce = kThreads / kTileVectors;
  const uint32_t row = kBefore + thread / kTileVectors, vector = thread % kTileVectors;
  const Packed first = load(row, vector), second = load(row + kRowsAtOnce, vector);
  if constexpr (!kWhole) {
    const bool is_last = thread < kRows;
    const uint32_t other_row = is_last ? thread : (thread - kRows) / kTileVectors;
    const uint32_t other_vector = is_last ? kTileVectors : (thread - kRows) % kTileVectors;
    if (other_row < (is_last ? kRows : kBefore)) {
      const Packed other = load(other_row, other_vector);
      tile.vectors[TileOf::row(other_row) + other_vector] = other;
    }
  }
  tile.vectors[TileOf::row(row) + vector] = first;
  tile.vectors[TileOf::row(row + kRowsAtOnce) + vector] = second;
  __syncthreads();

  // A warp has the columns of one vector: eight lanes go down each of its words. A word has one
  // column or two; each thread has two vectors of the output, below or beside each other.
  constexpr uint32_t kWordColumns = 4 / sizeof(T);
  const uint32_t word_column = thread / 32 * kSize + thread % 32 / 8 * kWordColumns;
  uint32_t bits[kSize];  // of elements, or of words
#pragma unroll
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t half = kWordColumns == 1 ? 0 : i;
    const uint32_t part = thread % 8 + (kWordColumns == 1 ? 8 * i : 0);
    const int64_t column = corner.column + word_column + half;
    if (!kInner && column >= call.num_columns) continue;
    T* const output =
        static_cast<T*>(call.output) + (corner.batch * call.num_columns + column) * call.num_rows;
    const uint32_t shift =
        kWhole ? 0 : static_cast<uint32_t>(reinterpret_cast<uintptr_t>(output) / sizeof(T)) % kSize;
    const int64_t row_of_input = corner.row + part * kSize - shift;
    if (!kInner && row_of_input >= call.num_rows) continue;
    const uint32_t row_of_tile = kBefore + part * kSize - shift;
    if constexpr (kWhole) {
      const uint32_t* const words = reinterpret_cast<const uint32_t*>(tile.vectors) +
                                    4 * TileOf::row(row_of_tile) + word_column / kWordColumns;
#pragma unroll
      for (uint32_t k = 0; k < kSize && half == 0; ++k) bits[k] = words[4 * k * kTileVectors];
    } else {
      const T* const elements = reinterpret_cast<const T*>(tile.vectors) + word_column + half;
#pragma unroll
      for (uint32_t k = 0; k < kSize; ++k) {
        bits[k] = elements[kSize * TileOf::row(row_of_tile + k) + shift_of(row_of_tile + k)];
      }
    }
    Packed packed;
    if constexpr (kWordColumns == 1) {
      packed = {bits[0], bits[1], bits[2], bits[3]};
    } else {
      uint32_t pairs[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const uint32_t low = bits[2 * k], high = bits[2 * k + 1];
        pairs[k] =
            kWhole && half == 1 ? low >> 16 | (high & 0xffff0000u) : (low & 0xffffu) | high << 16;
      }
      packed = {pairs[0], pairs[1], pairs[2], pairs[3]};
    }
    Packed* const destination =
        reinterpret_cast<Packed*>(output - shift) + (corner.row / kSize + part);
    const int begin = row_of_input < 0 ? static_cast<int>(shift) : 0;
    const int end = at_most(call.num_rows - row_of_input, kSize);
    if (kWhole || kInner || end - begin == kSize) {
      *destination = packed;
    } else {
      store_unaligned(reinterpret_cast<T*>(destination), packed, begin, end);
    }
  }
}

}  // namespace transpose
}  // namespace cudaops_kernels

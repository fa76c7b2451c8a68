// SPDX-License-Identifier: Apache-2.0
// transpose on CUDA devices. Moves 2 * sizeof(T) bytes an element.
//
// A block moves a tile by way of shared memory, with 16-byte loads and stores on both sides. Tiles
// follow each other along the rows of the output: what a tile stores and its neighbour continues
// meets in the L2 cache. The input it reads in pieces of 256 bytes, which nothing continues soon.
//
// Where rows start anywhere: of each input row a block takes the vectors that lie at multiples of
// 16 bytes, one more than a tile's width, and looks for elements behind the row's own shift. An
// output vector lies where its row has its multiples of 16 bytes, and so reaches up to kSize - 1
// rows back: the block loads those as well, so that only the ends of the output's rows are stored
// in parts.
#include <cuda_runtime.h>
#include <cudaops/check.h>

#include <stdexcept>

#include "../common/pointwise.cuh"
#include "transpose.h"

namespace cudaops_kernels {
namespace {

constexpr int kThreads = 512;
constexpr int kTileRows = 64;
constexpr int kTileVectors = 16;  // a row

struct TransposeGrid {
  Transpose call;
  detail::Divider row_tiles;     // of a tile of columns
  detail::Divider column_tiles;  // of a batch
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
  // lanes whose rows are kSize apart: neither meets a bank twice.
  static __device__ __forceinline__ int row(int index) { return index * kVectors + index / kSize; }

  Packed vectors[kRows * kVectors + kRows / kSize];
};

__device__ __forceinline__ int at_most(int64_t count, int most) {
  return count < most ? static_cast<int>(count) : most;
}

// Vector `vector` of the part of a row that starts at `data`, counted from the multiple of 16 bytes
// at or before that; `shift` elements lie between. Of an array that reaches from `first` to `last`
// nothing else is touched.
template <typename T>
__device__ __forceinline__ Packed load_shifted(const T* data, int shift, int vector, const T* first,
                                               const T* last) {
  constexpr int kSize = Vector<T>::kSize;
  const T* const aligned = data - shift + vector * kSize;
  if (aligned >= first && last - aligned >= kSize) return load_aligned(aligned);
  return load_part(aligned, vector == 0 ? shift : 0, at_most(last - aligned, kSize));
}

template <typename T, bool kWhole>
__global__ void __launch_bounds__(kThreads) transpose_kernel(const TransposeGrid grid) {
  using TileOf = Tile<T, kWhole>;
  constexpr int kSize = TileOf::kSize, kBefore = TileOf::kBefore, kVectors = TileOf::kVectors;
  constexpr int kLoads = (TileOf::kRows * kVectors + kThreads - 1) / kThreads;
  __shared__ TileOf tile;

  const Transpose& call = grid.call;
  const uint32_t column_tile = grid.row_tiles.quotient(blockIdx.x);
  const uint32_t row_tile = blockIdx.x - column_tile * grid.row_tiles.divisor();
  const uint32_t batch = grid.column_tiles.quotient(column_tile);
  const int64_t first_row = int64_t{row_tile} * kTileRows;
  const int64_t first_column =
      int64_t{column_tile - batch * grid.column_tiles.divisor()} * (kTileVectors * kSize);
  const int thread = static_cast<int>(threadIdx.x);

  const T* const input = static_cast<const T*>(call.input);
  const T* const matrix = input + batch * call.batch_stride + first_column;
  // Elements from a multiple of 16 bytes to the tile's part of a row, by the low bits alone.
  const uint32_t matrix_shift =
      static_cast<uint32_t>(reinterpret_cast<uintptr_t>(matrix) / sizeof(T));
  const uint32_t row_shift = static_cast<uint32_t>(call.row_stride);
  const auto shift_of = [&](uint32_t row) {
    return kWhole ? 0 : static_cast<int>((matrix_shift + row * row_shift) % kSize);
  };

  // What there is of the tile.
  const int first_there = first_row < kBefore ? kBefore : 0;
  const int rows_there = at_most(call.num_rows - first_row + kBefore, TileOf::kRows);
  const int columns_there = at_most(call.num_columns - first_column, kTileVectors * kSize);
  Packed loaded[kLoads];
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int index = i * kThreads + thread;
    const int row_of_tile = index / kVectors, vector = index % kVectors;
    const int64_t row = first_row + row_of_tile - kBefore;
    const int shift = shift_of(static_cast<uint32_t>(row));
    loaded[i] = {};
    if (row_of_tile < first_there || row_of_tile >= rows_there ||
        vector * kSize - shift >= columns_there) {
      continue;
    }
    const T* const data = matrix + row * call.row_stride;
    if constexpr (kWhole) {
      loaded[i] = load_aligned(data + vector * kSize);
    } else {
      const T* const last = input + (call.num_batches - 1) * call.batch_stride +
                            (call.num_rows - 1) * call.row_stride + call.num_columns;
      loaded[i] = load_shifted(data, shift, vector, input, last);
    }
  }
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int index = i * kThreads + thread;
    if (!kWhole && index >= TileOf::kRows * kVectors) break;
    tile.vectors[TileOf::row(index / kVectors) + index % kVectors] = loaded[i];
  }
  __syncthreads();

  // A warp has the columns of one vector: eight lanes go down each of its words. A word has one
  // column or two; each thread has two vectors of the output, below or beside each other.
  const int vector = thread / 32, word = thread % 32 / 8;
  uint32_t bits[kSize];  // of elements, or of words
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int half = sizeof(T) == 4 ? 0 : i;
    const int part = thread % 8 + (sizeof(T) == 4 ? 8 * i : 0);
    const int column_of_tile = vector * kSize + word * (sizeof(T) == 4 ? 1 : 2) + half;
    const int64_t column = first_column + column_of_tile;
    if (column >= call.num_columns) continue;
    T* const output =
        static_cast<T*>(call.output) + (batch * call.num_columns + column) * call.num_rows;
    const int shift =
        kWhole ? 0 : static_cast<int>(reinterpret_cast<uintptr_t>(output) / sizeof(T) % kSize);
    const int64_t row = first_row + part * kSize - shift;
    if (row >= call.num_rows) continue;
    const int row_of_tile = kBefore + part * kSize - shift;
    Packed packed;
    if constexpr (kWhole) {
      const uint32_t* const words = reinterpret_cast<const uint32_t*>(tile.vectors) +
                                    4 * (TileOf::row(row_of_tile) + vector) + word;
#pragma unroll
      for (int k = 0; k < kSize && half == 0; ++k) bits[k] = words[4 * k * kVectors];
    } else {
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        const int shift_of_row = shift_of(static_cast<uint32_t>(row + k));
        bits[k] = reinterpret_cast<const T*>(
            tile.vectors)[kSize * TileOf::row(row_of_tile + k) + column_of_tile + shift_of_row];
      }
    }
    if constexpr (sizeof(T) == 4) {
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
        reinterpret_cast<Packed*>(output - shift) + (first_row / kSize + part);
    const int begin = row < 0 ? shift : 0;
    const int end = at_most(call.num_rows - row, kSize);
    if (kWhole || end - begin == kSize) {
      *destination = packed;
    } else {
      store_part(reinterpret_cast<T*>(destination), packed, begin, end);
    }
  }
}

template <typename T>
void launch_of_size(const Transpose& call, cudaStream_t stream) {
  constexpr int64_t kSize = Vector<T>::kSize, kTileColumns = kTileVectors * kSize;
  const bool is_whole = call.num_rows % kSize == 0 && call.num_columns % kSize == 0 &&
                        call.row_stride % kSize == 0 && call.batch_stride % kSize == 0 &&
                        reinterpret_cast<uintptr_t>(call.input) % 16 == 0 &&
                        reinterpret_cast<uintptr_t>(call.output) % 16 == 0;
  // Rows of the output may start before a multiple of 16 bytes and so end that much later.
  const int64_t more_rows = is_whole ? 0 : kSize - 1;
  const int64_t row_tiles = (call.num_rows + more_rows + kTileRows - 1) / kTileRows;
  const int64_t column_tiles = (call.num_columns + kTileColumns - 1) / kTileColumns;
  constexpr int64_t kMost = 0x7fffffff;
  if (row_tiles > kMost || column_tiles > kMost || column_tiles > kMost / row_tiles ||
      call.num_batches > kMost / (row_tiles * column_tiles)) {
    throw std::runtime_error(
        "transpose: wanted at most 2147483647 tiles of 64 rows and 256 bytes, found more.");
  }
  const TransposeGrid grid{call, detail::Divider(static_cast<uint32_t>(row_tiles)),
                           detail::Divider(static_cast<uint32_t>(column_tiles))};
  const unsigned int blocks =
      static_cast<unsigned int>(call.num_batches * column_tiles * row_tiles);
  if (is_whole) {
    transpose_kernel<T, true><<<blocks, kThreads, 0, stream>>>(grid);
  } else {
    transpose_kernel<T, false><<<blocks, kThreads, 0, stream>>>(grid);
  }
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace

void launch_transpose(const Transpose& call, void* stream) {
  if (call.num_batches == 0 || call.num_rows == 0 || call.num_columns == 0) return;
  if (size_of(call.dtype) == 4) {
    launch_of_size<uint32_t>(call, static_cast<cudaStream_t>(stream));
  } else {
    launch_of_size<uint16_t>(call, static_cast<cudaStream_t>(stream));
  }
}

}  // namespace cudaops_kernels

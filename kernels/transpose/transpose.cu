// SPDX-License-Identifier: Apache-2.0
// transpose on CUDA devices. Moves 2 * sizeof(T) bytes an element.
//
// A block moves a tile (transpose_tile.cuh). Tiles follow each other along the rows of the output:
// what a tile stores and its neighbour continues meets in the L2 cache. The input it reads in
// segments of 256 bytes, which nothing continues soon.
#include <cuda_runtime.h>
#include <cudaops/check.h>

#include "../common/divider.cuh"
#include "transpose_tile.cuh"

namespace cudaops_kernels {
namespace transpose {
namespace {

struct TransposeGrid {
  Transpose call;
  detail::Divider row_tiles;     // of a tile of columns
  detail::Divider column_tiles;  // of a batch
};

template <typename T, bool kWhole>
__global__ void __launch_bounds__(kThreads) transpose_kernel(const TransposeGrid grid) {
  constexpr int64_t kTileColumns = kTileVectors * Vector<T>::kSize;
  __shared__ Tile<T, kWhole> tile;
  const Transpose& call = grid.call;
  const uint32_t column_tile = grid.row_tiles.quotient(blockIdx.x);
  const uint32_t row_tile = blockIdx.x - column_tile * grid.row_tiles.divisor();
  const uint32_t batch = grid.column_tiles.quotient(column_tile);
  const Corner corner{batch, int64_t{row_tile} * kTileRows,
                      int64_t{column_tile - batch * grid.column_tiles.divisor()} * kTileColumns};
  // Loads touch less than a vector before and behind a row: with a row of the array before and one
  // behind the tile that is the array's too.
  const bool is_inner = call.num_columns - corner.column >= kTileColumns &&
                        (kWhole ? call.num_rows - corner.row >= kTileRows
                                : corner.row > 0 && call.num_rows - corner.row > kTileRows &&
                                      call.row_stride >= kTileColumns);
  if (is_inner) {
    move_tile<T, kWhole, true>(call, corner, tile);
  } else {
    move_tile<T, kWhole, false>(call, corner, tile);
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
    cudaops::throw_runtime_error(
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
}  // namespace transpose

void launch_transpose(const Transpose& call, void* stream) {
  if (call.num_batches == 0 || call.num_rows == 0 || call.num_columns == 0) return;
  if (size_of(call.dtype) == 4) {
    transpose::launch_of_size<uint32_t>(call, static_cast<cudaStream_t>(stream));
  } else {
    transpose::launch_of_size<uint16_t>(call, static_cast<cudaStream_t>(stream));
  }
}

}  // namespace cudaops_kernels

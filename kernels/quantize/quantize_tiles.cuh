// SPDX-License-Identifier: Apache-2.0
// quantize by tiles, n × n: a block of threads each, in registers, in one pass.
#pragma once

#include "../common/quantized/segments.cuh"
#include "../common/quantized/source.cuh"
#include "quantize.h"

namespace cudaops_kernels {
namespace quantizing {

constexpr int kTileThreads = 512;

// A block's tile. Its last rows and columns may be none.
struct TilePlace {
  int64_t matrix, block_row, block_column;
  int64_t first_row, num_rows;
  int64_t first_column;

  __device__ __forceinline__ TilePlace(const BlockGrid& grid, const detail::Divider& tile_columns,
                                       const detail::Divider& tile_rows) {
    const uint32_t tile_row_of_all = tile_columns.quotient(blockIdx.x);
    block_column = blockIdx.x - tile_row_of_all * tile_columns.divisor();
    matrix = tile_rows.quotient(tile_row_of_all);
    block_row = tile_row_of_all - matrix * tile_rows.divisor();
    first_column = block_column * grid.block_columns;
    num_rows = min(grid.block_rows, grid.num_rows - block_row * grid.block_rows);
    first_row = matrix * grid.num_rows + block_row * grid.block_rows;
  }
};

// Its scale's reciprocal; the scale is stored. largest: of a thread. All the block's threads, so
// many, call this.
__device__ __forceinline__ float reciprocal_of_tile(const Quantize& call, const TilePlace& place,
                                                    float largest, int num_threads) {
  constexpr int kGroup = 32;
  __shared__ float maxima[kTileThreads / kGroup];
  largest = max_over_lanes(largest, kGroup);
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  if (thread % kGroup == 0) maxima[thread / kGroup] = largest;
  __syncthreads();
  largest = thread % kGroup < num_threads / kGroup ? maxima[thread % kGroup] : 0;
  const float scale = scale_for(max_over_lanes(largest, kGroup), call.type, call.rule);
  if (thread == 0) {
    call.scale[call.strides.at(place.matrix, place.block_row, place.block_column)] = scale;
  }
  return reciprocal_of_scale(scale);
}

// Tiles of `block_columns` elements, a power of two of vectors up to 32, by kTileThreads /
// threads_x * kSlots rows at most. Rows start at multiples of 16 bytes, those of bytes accordingly,
// and have whole vectors.
template <typename T, int kSlots>
__global__ void __launch_bounds__(kTileThreads)
    tile_whole_kernel(const Quantize call, const detail::Divider tile_columns,
                      const detail::Divider tile_rows) {
  constexpr int kSize = Vector<T>::kSize;
  wait_for_kernels_before();
  let_next_kernel_start();
  const TilePlace place(call.grid, tile_columns, tile_rows);
  const int64_t column = place.first_column + int64_t{threadIdx.x} * kSize;
  // No rows where there are no columns.
  const int64_t num_rows = column < call.grid.width ? place.num_rows : 0;
  Packed vectors[kSlots];
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    const int64_t row = int64_t{threadIdx.y} + slot * int64_t{blockDim.y};
    vectors[slot] = {0, 0, 0, 0};
    if (row < num_rows)
      vectors[slot] = load_ordered(call.input.row<T>(place.first_row + row) + column);
  }
  AbsMax<T> of_thread;
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) of_thread.add(vectors[slot]);
  const float reciprocal = reciprocal_of_tile(call, place, of_thread.value(), kTileThreads);
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    const int64_t row = int64_t{threadIdx.y} + slot * int64_t{blockDim.y};
    if (row >= num_rows) continue;
    store_aligned(
        call.output.row<uint8_t>(place.first_row + row) + column,
        quantized_bytes(unpack<T>(kept_packed<T>(vectors[slot])) * reciprocal, call.type));
  }
}

// Any rows: segments of the tile, one a row, neighbours in a warp.
template <typename T, int kSlots, bool kSameAlignment>
__global__ void __launch_bounds__(kTileThreads, kSameAlignment || sizeof(T) < 4 ? 2 : 1)
    tile_kernel(const Quantize call, const detail::Divider tile_columns,
                const detail::Divider tile_rows, const int log2_lanes) {
  wait_for_kernels_before();
  let_next_kernel_start();
  const BlockGrid& grid = call.grid;
  const TilePlace place(grid, tile_columns, tile_rows);
  const int per_warp = Segments<T>::template num_segments<kSlots>(log2_lanes);
  const int segment = Segments<T>::own_segment();
  const int64_t row_of_tile = int64_t{threadIdx.x / 32} * per_warp + segment;
  const bool exists = segment < per_warp && row_of_tile < place.num_rows;
  const int64_t row = place.first_row + row_of_tile;
  const int64_t num = min(grid.block_columns, grid.width - place.first_column);
  const Segments<T> segments(log2_lanes, call.output.row<uint8_t>(row) + place.first_column,
                             exists ? static_cast<int>(num) : 0);
  const LoadedSegments<T, kSlots, kSameAlignment> loaded(
      segments, PointwiseSource<Identity>{{call.input}}, row, place.first_column, exists,
      grid.total_rows(), grid.width);
  const int num_threads = static_cast<int>(blockDim.x);
  loaded.store(segments, call.type,
               reciprocal_of_tile(call, place, loaded.max_of_lane(), num_threads));
}

// False: a block has no room for such tiles.
template <typename T>
bool launch_tiles(const Quantize& call, bool is_whole, cudaStream_t stream) {
  constexpr int kMostSlots = sizeof(T) == 4 ? 8 : 4;
  const BlockGrid& grid = call.grid;
  const int lanes = lanes_of(call.dtype, grid.block_columns);
  const int64_t tiles = grid.num_blocks();
  if (lanes == 0 || tiles >> 31 != 0) return false;
  const detail::Divider columns(static_cast<uint32_t>(grid.columns_of_blocks()));
  const detail::Divider rows(static_cast<uint32_t>(grid.rows_of_blocks()));
  if (is_whole) {
    const dim3 block(static_cast<unsigned int>(lanes),
                     static_cast<unsigned int>(kTileThreads / lanes));
    if (grid.block_rows > int64_t{block.y} * kMostSlots) return false;
    launch_overlapping(&tile_whole_kernel<T, kMostSlots>, static_cast<unsigned int>(tiles), block,
                       stream, call, columns, rows);
    return true;
  }
  const int log2_lanes = detail::log2_of(lanes);
  const auto launch = [&](auto kernel, int per_warp) {
    const int64_t rows_of_tile = min(grid.block_rows, grid.num_rows);
    const int64_t threads = (rows_of_tile + per_warp - 1) / per_warp * 32;
    if (threads > kTileThreads) return false;
    launch_overlapping(kernel, static_cast<unsigned int>(tiles), static_cast<unsigned int>(threads),
                       stream, call, columns, rows, log2_lanes);
    return true;
  };
  constexpr int kAlignedSlots = 8, kOther = kMostSlots;
  if (PointwiseSource<Identity>{{call.input}}.has_same_alignment<T>(call.output,
                                                                    grid.total_rows())) {
    return launch(&tile_kernel<T, kAlignedSlots, true>,
                  Segments<T>::template num_segments<kAlignedSlots>(log2_lanes));
  }
  return launch(&tile_kernel<T, kOther, false>,
                Segments<T>::template num_segments<kOther>(log2_lanes));
}

}  // namespace quantizing
}  // namespace cudaops_kernels

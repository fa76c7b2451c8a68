// SPDX-License-Identifier: Apache-2.0
// The first of quantize's two passes: the ranges of all blocks, and the scales that follow from
// them. A block's vectors, row after row, are distributed over the threads of one or several blocks
// of these.
//
// A call's kernels (zeros, ranges, scales, elements) each start while the one before ends. Only the
// first one waits for what came before the call, and then lets the next one start: those may read
// the input at once, and wait where they need what the kernel before them writes.
#pragma once

#include "../common/abs_max.cuh"
#include "../common/quantized/scales.cuh"
#include "quantize.h"

namespace cudaops_kernels {
namespace quantizing {

constexpr int kRangeThreads = 256;

struct RangeGrid {
  int64_t num_blocks;
  int64_t vectors_per_row;  // of a block
  detail::LongDivider by_vectors_per_row, by_columns_of_blocks, by_rows_of_blocks;
  detail::Divider parts_per_block;
};

constexpr int kRangeVectors = 4;

__device__ __forceinline__ void raise_to(float* shared, float largest) {
  // Most have nothing to add: a load, perhaps of an older value, keeps them from queueing up.
  const unsigned int bits = __float_as_uint(fabsf(largest));  // a zero may have a sign
  unsigned int* const word = reinterpret_cast<unsigned int*>(shared);
  if (bits > *word) atomicMax(word, bits);
}

template <typename T, bool kWhole>
__global__ void __launch_bounds__(kRangeThreads)
    ranges_kernel(const Quantize call, const RangeGrid ranges) {
  constexpr int kSize = Vector<T>::kSize, kGroup = 32;
  __shared__ float maxima[2][kRangeThreads / kGroup];
  let_next_kernel_start();
  const BlockGrid& grid = call.grid;
  const uint32_t group = ranges.parts_per_block.quotient(blockIdx.x);
  const uint32_t part = blockIdx.x - group * ranges.parts_per_block.divisor();
  const int64_t block = int64_t{group} * blockDim.y + threadIdx.y;
  const int64_t block_row_of_all = ranges.by_columns_of_blocks.quotient(block);
  const int64_t block_column = block - block_row_of_all * ranges.by_columns_of_blocks.divisor();
  const int64_t matrix = ranges.by_rows_of_blocks.quotient(block_row_of_all);
  const int64_t block_row = block_row_of_all - matrix * ranges.by_rows_of_blocks.divisor();
  const int64_t first_row = matrix * grid.num_rows + block_row * grid.block_rows;
  const int64_t num_rows = min(grid.block_rows, grid.num_rows - block_row * grid.block_rows);
  const int64_t first_column = block_column * grid.block_columns;
  const int64_t num_columns = min(grid.block_columns, grid.width - first_column);
  const T* const first = call.input.row<T>(0);
  const T* const last = call.input.row<T>(grid.total_rows() - 1) + grid.width;
  detail::Window<T> windows[kRangeVectors];
  int ends[kRangeVectors];
#pragma unroll
  for (int slot = 0; slot < kRangeVectors; ++slot) {
    const int64_t vector = (int64_t{part} * kRangeVectors + slot) * blockDim.x + threadIdx.x;
    // Of a single row without a division; beyond it any other is none.
    const int64_t row = grid.block_rows == 1 ? vector >= ranges.vectors_per_row
                                             : ranges.by_vectors_per_row.quotient(vector);
    const int64_t column = (vector - row * ranges.vectors_per_row) * kSize;
    const int64_t left = num_columns - column;
    const bool exists = block < ranges.num_blocks && row < num_rows && left > 0;
    ends[slot] = exists ? static_cast<int>(left < kSize ? left : kSize) : 0;
    windows[slot] = {{0, 0, 0, 0}, {0, 0, 0, 0}, 0};
    if (exists) {
      const T* const data = call.input.row<T>(first_row + row) + first_column + column;
      if constexpr (kWhole) {
        windows[slot].low = load_ordered(data);
      } else {
        windows[slot] = detail::load_window(data, 0, ends[slot], first, last);
      }
    }
  }
  wait_for_kernels_before();  // for the zeros
  // Largest and, with a zero point, largest of what is negative.
  AbsMax<T> largest, largest_negative;
#pragma unroll
  for (int slot = 0; slot < kRangeVectors; ++slot) {
    Packed x = windows[slot].vector();
    if constexpr (!kWhole) x = masked<T>(x, 0, ends[slot]);
    if (call.zero_point == nullptr) {
      largest.add(x);
    } else {
      largest.add_signed(x);
      largest_negative.add_signed(negated<T>(x));
    }
  }
  float high = largest.value(), low = largest_negative.value();
  const int width = blockDim.x < kGroup ? static_cast<int>(blockDim.x) : kGroup;
  high = max_over_lanes(high, width);
  low = max_over_lanes(low, width);
  if (blockDim.x > kGroup) {
    const int lane = static_cast<int>(threadIdx.x % kGroup);
    const int first_warp = static_cast<int>(threadIdx.y * blockDim.x) / kGroup;
    const int num_warps = static_cast<int>(blockDim.x) / kGroup;
    if (lane == 0) {
      maxima[0][first_warp + threadIdx.x / kGroup] = high;
      maxima[1][first_warp + threadIdx.x / kGroup] = low;
    }
    __syncthreads();
    high = max_over_lanes(lane < num_warps ? maxima[0][first_warp + lane] : 0, kGroup);
    low = max_over_lanes(lane < num_warps ? maxima[1][first_warp + lane] : 0, kGroup);
  }
  if (threadIdx.x != 0 || block >= ranges.num_blocks) return;
  const int64_t at = call.strides.at(matrix, block_row, block_column);
  raise_to(call.scale + at, high);
  if (call.zero_point != nullptr) raise_to(reinterpret_cast<float*>(call.zero_point + at), low);
}

// Before the ranges are gathered, and after.
template <bool kGathered>
__global__ void __launch_bounds__(kRangeThreads)
    scales_kernel(const Quantize call, const RangeGrid ranges) {
  if constexpr (kGathered) let_next_kernel_start();  // it loads while the ranges are gathered
  wait_for_kernels_before();
  if constexpr (!kGathered) let_next_kernel_start();
  const int64_t block = int64_t{blockIdx.x} * kRangeThreads + threadIdx.x;
  if (block >= ranges.num_blocks) return;
  const int64_t row = ranges.by_columns_of_blocks.quotient(block);
  const int64_t matrix = ranges.by_rows_of_blocks.quotient(row);
  const int64_t at = call.strides.at(matrix, row - matrix * ranges.by_rows_of_blocks.divisor(),
                                     block - row * ranges.by_columns_of_blocks.divisor());
  if constexpr (!kGathered) {
    call.scale[at] = 0;
    if (call.zero_point != nullptr) call.zero_point[at] = 0;
  } else if (call.zero_point == nullptr) {
    call.scale[at] = scale_for(call.scale[at], call.type, call.rule);
  } else {
    const ScaleAndZero both = asymmetric_scale(static_cast<uint32_t>(call.zero_point[at]),
                                               __float_as_uint(call.scale[at]), call.rule);
    call.scale[at] = both.scale;
    call.zero_point[at] = both.zero_point;
  }
}

template <typename T>
void launch_ranges(const Quantize& call, bool is_whole, cudaStream_t stream) {
  constexpr int64_t kSize = Vector<T>::kSize;
  const BlockGrid& grid = call.grid;
  const int64_t columns = grid.block_columns < grid.width ? grid.block_columns : grid.width;
  const int64_t rows = grid.block_rows < grid.num_rows ? grid.block_rows : grid.num_rows;
  const int64_t vectors_per_row = (columns + kSize - 1) / kSize;
  const int64_t num_vectors = vectors_per_row * rows;
  int64_t threads = 1;
  while (threads < kRangeThreads && threads * kRangeVectors < num_vectors) threads *= 2;
  const int64_t parts = (num_vectors + threads * kRangeVectors - 1) / (threads * kRangeVectors);
  const RangeGrid ranges{grid.num_blocks(),
                         vectors_per_row,
                         detail::LongDivider(vectors_per_row),
                         detail::LongDivider(grid.columns_of_blocks()),
                         detail::LongDivider(grid.rows_of_blocks()),
                         detail::Divider(static_cast<uint32_t>(parts))};
  const unsigned int of_scales = num_blocks(ranges.num_blocks, kRangeThreads);
  launch_overlapping(&scales_kernel<false>, of_scales, kRangeThreads, stream, call, ranges);
  const dim3 block(static_cast<unsigned int>(threads),
                   static_cast<unsigned int>(kRangeThreads / threads));
  const unsigned int blocks =
      num_blocks(ranges.num_blocks, block.y) * static_cast<unsigned int>(parts);
  const auto kernel = is_whole && grid.block_columns % kSize == 0 ? &ranges_kernel<T, true>
                                                                  : &ranges_kernel<T, false>;
  launch_overlapping(kernel, blocks, block, stream, call, ranges);
  launch_overlapping(&scales_kernel<true>, of_scales, kRangeThreads, stream, call, ranges);
}

}  // namespace quantizing
}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// The second of quantize's two passes: elements by scales that are there.
#pragma once

#include "../common/quantized/scales.cuh"
#include "quantize.h"

namespace cudaops_kernels {
namespace quantizing {

constexpr int kScaledThreads = 256;

struct ScaledGrid {
  int64_t vectors_per_row;
  detail::Divider blocks_per_row;
  ScalePlaces places;
  bool one_scale_a_row;
  PhiloxKeys keys;  // at random
};

__device__ __forceinline__ float reciprocal_of_any(float scale) { return 1.0f / scale; }

// What the ranges' pass has read last is still in the cache: from the end.
__device__ __forceinline__ uint32_t block_from_the_end() { return gridDim.x - 1 - blockIdx.x; }

// Vectors a thread: with random numbers it has enough to do.
template <bool kRandom>
constexpr int kScaledSlots = kRandom ? 1 : 4;

// Rows of numbers start at multiples of 16 bytes, those of bytes accordingly, and have whole
// vectors, each in one block.
template <typename T, bool kRandom>
__global__ void __launch_bounds__(kScaledThreads)
    scaled_whole_kernel(const Quantize call, const ScaledGrid grid) {
  constexpr int kSize = Vector<T>::kSize, kSlots = kScaledSlots<kRandom>;
  if (call.has_scale) wait_for_kernels_before();  // else the first pass has, for the input
  const detail::RowPart part(grid.blocks_per_row, kSlots, block_from_the_end());
  if (part.index >= call.grid.total_rows()) return;
  const T* const input = call.input.row<T>(part.index);
  uint8_t* const output = call.output.row<uint8_t>(part.index);
  const int64_t row_at = grid.places.row_at(part.index);
  Packed vectors[kSlots];
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    const int64_t vector = part.vector + slot * int64_t{blockDim.x};
    if (vector < grid.vectors_per_row) vectors[slot] = load_ordered(input + vector * kSize);
  }
  wait_for_kernels_before();
  let_next_kernel_start();
  BlockScale scale;
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    const int64_t vector = part.vector + slot * int64_t{blockDim.x};
    if (vector >= grid.vectors_per_row) continue;
    if (slot == 0 || !grid.one_scale_a_row) {
      scale = BlockScale::load(call.scale, call.zero_point,
                               row_at + grid.places.column_at(vector * kSize), reciprocal_of_any);
    }
    const Numbers<T> x = unpack<T>(vectors[slot]) * scale.factor;
    const bool has_zero_point = call.zero_point != nullptr;
    const auto zero_point = [&](int) { return scale.zero_point; };
    Bytes<kSize> bytes;
    if constexpr (kRandom) {
      bytes = random_bytes(x, call.type, has_zero_point, zero_point, grid.keys,
                           static_cast<uint64_t>(part.index * call.grid.width) / kSize +
                               static_cast<uint64_t>(vector));
    } else {
      bytes = quantized_bytes(x, call.type, has_zero_point, zero_point);
    }
    store_aligned(output + vector * kSize, bytes);
  }
}

template <typename T, bool kRandom>
__global__ void __launch_bounds__(kScaledThreads)
    scaled_kernel(const Quantize call, const ScaledGrid grid) {
  constexpr int kSize = Vector<T>::kSize;
  wait_for_kernels_before();
  let_next_kernel_start();
  const detail::RowPart part(grid.blocks_per_row, 1, block_from_the_end());
  const int64_t width = call.grid.width, total_rows = call.grid.total_rows();
  if (part.index >= total_rows || part.vector >= grid.vectors_per_row) return;
  uint8_t* const output = call.output.row<uint8_t>(part.index);
  // Vectors lie so that whole ones are stored at once. With random numbers they start at
  // multiples of kSize elements, which is the same where rows have no gaps.
  const uint64_t place = kRandom ? static_cast<uint64_t>(part.index) * static_cast<uint64_t>(width)
                                 : reinterpret_cast<uintptr_t>(output);
  const int shift = static_cast<int>(place % kSize);
  const int64_t column = part.vector * kSize - shift;
  const int begin = column < 0 ? static_cast<int>(-column) : 0;
  const int end = column + kSize > width ? static_cast<int>(width - column) : kSize;
  if (end <= begin) return;
  const detail::Window<T> window = detail::load_window_of_row<T, false>(
      call.input, part.index, part.vector, shift, begin, end, total_rows, width);
  const VectorScales<kSize> scales(call.scale, call.zero_point, grid.places,
                                   grid.places.row_at(part.index), {column, begin, end},
                                   reciprocal_of_any);
  const Numbers<T> x = window.numbers() * scales.factor;
  const bool has_zero_point = call.zero_point != nullptr;
  const auto zero_point = [&](int k) { return scales.zero_point[k]; };
  Bytes<kSize> bytes;
  if constexpr (kRandom) {
    bytes = random_bytes(x, call.type, has_zero_point, zero_point, grid.keys,
                         static_cast<uint64_t>(part.index * width + column) / kSize);
  } else {
    bytes = quantized_bytes(x, call.type, has_zero_point, zero_point);
  }
  store_unaligned(output + column, bytes, begin, end);
}

template <typename T, bool kRandom>
void launch_scaled(const Quantize& call, bool is_whole, cudaStream_t stream) {
  constexpr int64_t kSize = Vector<T>::kSize;
  const BlockGrid& grid = call.grid;
  is_whole = is_whole && vectors_are_in_blocks<T>(grid, true);
  const int64_t vectors_per_row = (grid.width + (is_whole ? 1 : 2) * (kSize - 1)) / kSize;
  const int64_t slots = is_whole ? kScaledSlots<kRandom> : 1;
  const detail::RowParts parts(grid.total_rows(), (vectors_per_row + slots - 1) / slots);
  const ScaledGrid scaled{vectors_per_row, parts.blocks_per_row, ScalePlaces(grid, call.strides),
                          is_scale_a_row(grid), PhiloxKeys(call.seed)};
  const auto kernel = is_whole ? &scaled_whole_kernel<T, kRandom> : &scaled_kernel<T, kRandom>;
  launch_overlapping(kernel, parts.blocks, parts.block, stream, call, scaled);
}

}  // namespace quantizing
}  // namespace cudaops_kernels

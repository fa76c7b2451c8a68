// SPDX-License-Identifier: Apache-2.0
// dequantize of rows that follow each other without gaps, as one long row: vectors lie where the
// output has its multiples of 16 bytes.
#pragma once

#include <algorithm>

#include "../common/quantized/scales.cuh"
#include "dequantize.h"

namespace cudaops_kernels {
namespace dequantizing {

// A thread's vectors. Fewer than of other rows: each has registers for its scales, and more warps
// at once do as well.
constexpr int kFlatSlots = 2;

// Input and output begin `shift` elements before their first row.
struct FlatGrid {
  detail::FlatRows rows;
  int32_t step_rows;  // from a thread's vector to its next: so many rows and columns
  uint32_t step_columns;
  detail::Divider block_rows, block_columns;
  BlockStrides strides;
  int32_t total_rows;
  uint32_t num_vectors;
  uint32_t num_inner;  // vectors from the third on: all before the last two
  int shift;
  int end;  // of the last vector's elements

  __device__ __forceinline__ int64_t row_at(int32_t row) const {
    return strides.row * block_rows.quotient(static_cast<uint32_t>(row));
  }
};

// Of a vector's elements: up to `second` they lie in one block, up to `third` in the next; from
// there on in the first of the next row. Rows and blocks are at least a vector long, but a row's
// last block may be shorter.
struct FlatScales {
  BlockScale scales[3];
  int second, third;

  template <int kSize>
  __device__ __forceinline__ static FlatScales load(const Dequantize& call, const FlatGrid& grid,
                                                    detail::FlatRows::Place place) {
    const auto load_at = [&](int64_t at) {
      return BlockScale::load(call.scale, call.zero_point, at, [](float scale) { return scale; });
    };
    const int64_t column_stride = grid.strides.column;
    const uint32_t block_columns = grid.block_columns.divisor();
    const uint32_t block = grid.block_columns.quotient(place.column);
    const int left_of_row = static_cast<int>(grid.rows.width() - place.column);
    const int left_of_block = static_cast<int>((block + 1) * block_columns - place.column);
    const int64_t at = grid.row_at(max(place.row, 0)) + column_stride * block;
    const bool row_ends = left_of_row < kSize && place.row + 1 < grid.total_rows;
    FlatScales result{{load_at(at)}, left_of_row, kSize};
    if (left_of_block < left_of_row) {
      result.second = left_of_block;
      if (left_of_block < kSize) result.scales[1] = load_at(at + column_stride);
      if (row_ends) {
        result.third = left_of_row;
        result.scales[2] = load_at(grid.row_at(place.row + 1));
      }
    } else if (row_ends) {
      result.scales[1] = load_at(grid.row_at(place.row + 1));
    }
    return result;
  }

  // combine(x, of its scale) for each element.
  template <int kSize, typename Of, typename Combine>
  __device__ __forceinline__ Floats<kSize> map(const Floats<kSize>& x, const Of& of,
                                               const Combine& combine) const {
    Floats<kSize> result;
    if (second >= kSize) {
#pragma unroll
      for (int k = 0; k < kSize; ++k) result[k] = combine(x[k], of(scales[0]));
      return result;
    }
    Floats<kSize> own;
#pragma unroll
    for (int k = 0; k < kSize; ++k) own[k] = k < second ? of(scales[0]) : of(scales[1]);
    if (third < kSize) {
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        if (k >= third) own[k] = of(scales[2]);
      }
    }
#pragma unroll
    for (int k = 0; k < kSize; ++k) result[k] = combine(x[k], own[k]);
    return result;
  }
};

// kAligned: a vector's bytes lie at a multiple of their number.
template <typename T, bool kAligned>
__global__ void __launch_bounds__(detail::kPointwiseThreads)
    dequantize_flat_kernel(const Dequantize call, const FlatGrid grid) {
  constexpr int kSize = Vector<T>::kSize;
  constexpr uint32_t kThreads = detail::kPointwiseThreads;
  wait_for_kernels_before();
  let_next_kernel_start();
  const uint32_t first = blockIdx.x * (kFlatSlots * kThreads) + threadIdx.x;
  T* const output = static_cast<T*>(call.output.data);
  const uint8_t* const input = static_cast<const uint8_t*>(call.input.data);
  const auto is_inner = [&](uint32_t vector) { return vector - 2 < grid.num_inner; };
  const auto begin = [&](uint32_t vector) { return vector == 0 ? grid.shift : 0; };
  const auto end = [&](uint32_t vector) {
    return vector == grid.num_vectors - 1 ? grid.end : kSize;
  };
  detail::Window<uint8_t, Bytes<kSize>> windows[kFlatSlots];
  FlatScales scales[kFlatSlots];
  detail::FlatRows::Place place = grid.rows.of(first);
#pragma unroll
  for (int slot = 0; slot < kFlatSlots; ++slot) {
    const uint32_t vector = first + slot * kThreads;
    if (vector >= grid.num_vectors) break;
    if (slot > 0) {
      place.row += grid.step_rows;
      place.column += grid.step_columns;
      if (place.column >= grid.rows.width()) {
        place.column -= grid.rows.width();
        ++place.row;
      }
    }
    const uint8_t* const data = input + uint64_t{vector} * kSize;
    if (!is_inner(vector)) {
      const uint8_t* const last = input + (grid.num_vectors - 1) * uint64_t{kSize} + grid.end;
      windows[slot] = detail::load_window<Bytes<kSize>>(data, begin(vector), end(vector),
                                                        input + grid.shift, last);
    } else if constexpr (kAligned) {
      windows[slot].low = load_aligned<Bytes<kSize>>(data);
    } else {
      windows[slot] = detail::load_window<Bytes<kSize>>(data);
    }
    scales[slot] = FlatScales::load<kSize>(call, grid, place);
  }
#pragma unroll
  for (int slot = 0; slot < kFlatSlots; ++slot) {
    const uint32_t vector = first + slot * kThreads;
    if (vector >= grid.num_vectors) break;
    Numbers<T> x = numbers_of(kAligned ? windows[slot].low : windows[slot].vector(), call.type);
    if (call.zero_point != nullptr) {
      x = scales[slot].map(
          x, [](const BlockScale& scale) { return static_cast<float>(scale.zero_point); },
          [](float number, float zero_point) { return number - zero_point; });
    }
    x = scales[slot].map(
        x, [](const BlockScale& scale) { return scale.factor; },
        [](float number, float factor) { return number * factor; });
    T* const destination = output + uint64_t{vector} * kSize;
    if (is_inner(vector) || end(vector) - begin(vector) == kSize) {
      store_aligned(destination, pack<T>(x));
    } else {
      store_unaligned(destination, pack<T>(x), begin(vector), end(vector));
    }
  }
}

// Over how many rows scales go on by strides.row, in all matrices alike; 0: they do not.
inline int64_t rows_of_scale(const BlockGrid& grid, const ScalePlaces& places) {
  if (places.rows_are_apart) return 1;
  const BlockStrides& strides = places.strides;
  const bool go_on =
      grid.num_matrices == 1 || (grid.num_rows % grid.block_rows == 0 &&
                                 strides.matrix == grid.rows_of_blocks() * strides.row);
  return go_on ? std::min(grid.block_rows, grid.total_rows()) : 0;
}

template <typename T>
bool is_flat(const Dequantize& call, const ScalePlaces& places) {
  constexpr int64_t kSize = Vector<T>::kSize;
  const BlockGrid& grid = call.grid;
  const int64_t total_rows = grid.total_rows();
  return (total_rows == 1 ||
          (call.input.stride == grid.width && call.output.stride == grid.width)) &&
         grid.width > kSize && grid.block_columns >= kSize && total_rows < INT32_MAX &&
         rows_of_scale(grid, places) > 0 &&
         detail::FlatRows::are_possible(total_rows, grid.width, kSize);
}

template <typename T>
void launch_flat(const Dequantize& call, const ScalePlaces& places, cudaStream_t stream) {
  constexpr int64_t kSize = Vector<T>::kSize;
  const BlockGrid& grid = call.grid;
  const int64_t shift =
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(call.output.data) % 16 / sizeof(T));
  const int64_t num = shift + grid.total_rows() * grid.width;
  const int64_t num_vectors = (num + kSize - 1) / kSize;
  constexpr int64_t kStep = kSize * detail::kPointwiseThreads;
  Dequantize moved = call;
  moved.input.data = static_cast<const uint8_t*>(call.input.data) - shift;
  moved.output.data = static_cast<T*>(call.output.data) - shift;
  const FlatGrid flat{
      detail::FlatRows(grid.width, kSize, shift),
      static_cast<int32_t>(kStep / grid.width),
      static_cast<uint32_t>(kStep % grid.width),
      detail::Divider(static_cast<uint32_t>(rows_of_scale(grid, places))),
      detail::Divider(static_cast<uint32_t>(std::min(grid.block_columns, grid.width))),
      places.strides,
      static_cast<int32_t>(grid.total_rows()),
      static_cast<uint32_t>(num_vectors),
      static_cast<uint32_t>(std::max<int64_t>(num_vectors - 4, 0)),
      static_cast<int>(shift),
      static_cast<int>(num - (num_vectors - 1) * kSize)};
  const unsigned int blocks = num_blocks(num_vectors, kFlatSlots * detail::kPointwiseThreads);
  const auto kernel = bytes_are_aligned<T>(moved.input.data, 0) ? &dequantize_flat_kernel<T, true>
                                                                : &dequantize_flat_kernel<T, false>;
  launch_overlapping(kernel, blocks, detail::kPointwiseThreads, stream, moved, flat);
}

}  // namespace dequantizing
}  // namespace cudaops_kernels

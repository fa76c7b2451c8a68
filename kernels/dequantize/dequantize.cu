// SPDX-License-Identifier: Apache-2.0
// dequantize on CUDA devices: sizeof(T) + 1 bytes an element.
//
// Three kernels, in the order in which a call is tried:
//   whole  Rows start with aligned vectors and have only whole ones, each in one block.
//   flat   Rows follow each other without gaps. They are taken as one long row, and vectors lie
//          where the output has its multiples of 16 bytes: a vector may begin in one block and end
//          in the next, also in that of the next row.
//   else   Vectors lie where each row of the output has its multiples of 16 bytes.
#include <climits>

#include "../common/quantized/scales.cuh"
#include "../common/row/row.h"
#include "dequantize.h"
#include "dequantize_flat.cuh"

namespace cudaops_kernels {
namespace {

struct DequantizeGrid {
  int64_t vectors_per_row;
  detail::Divider blocks_per_row;
  ScalePlaces places;
  detail::Divider vectors_per_block;  // of rows of whole vectors
  bool one_scale_a_row;
};

// A vector has half or a quarter of the bytes of other ops': one a thread would be too few in
// flight.
constexpr int kSlots = 4;

// Of a row that is counted in int.
constexpr int64_t kMostVectors = INT_MAX - kSlots * detail::kPointwiseThreads;

// Rows of numbers start at multiples of 16 bytes, those of bytes accordingly, and have whole
// vectors, each in one block.
template <typename T>
__global__ void __launch_bounds__(detail::kPointwiseThreads)
    dequantize_whole_kernel(const Dequantize call, const DequantizeGrid grid) {
  constexpr int kSize = Vector<T>::kSize;
  wait_for_kernels_before();
  let_next_kernel_start();
  const detail::RowPart part(grid.blocks_per_row, kSlots);
  if (part.index >= call.grid.total_rows()) return;
  T* const output = kept_address(call.output.row<T>(part.index));
  const uint8_t* const input = kept_address(call.input.row<uint8_t>(part.index));
  const int64_t row_at = grid.places.row_at(part.index);
  const float* const row_scales = kept_address(call.scale + row_at);
  const int first = static_cast<int>(part.vector), num = static_cast<int>(grid.vectors_per_row);
  const int step = static_cast<int>(blockDim.x);
  // All loads are in flight before the first is waited for.
  Bytes<kSize> bytes[kSlots];
  BlockScale scales[kSlots];
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    const int vector = first + slot * step;
    if (vector >= num) break;
    bytes[slot] = load_aligned<Bytes<kSize>>(input + vector * int64_t{kSize});
    if (grid.one_scale_a_row) {
      if (slot == 0) {
        scales[0] = {row_scales[0], call.zero_point == nullptr ? 0 : call.zero_point[row_at]};
      }
      scales[slot] = scales[0];
    } else {
      const int64_t at = grid.places.strides.column *
                         grid.vectors_per_block.quotient(static_cast<uint32_t>(vector));
      scales[slot] = {row_scales[at],
                      call.zero_point == nullptr ? 0 : call.zero_point[row_at + at]};
    }
  }
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    const int vector = first + slot * step;
    if (vector >= num) break;
    Numbers<T> x = numbers_of(bytes[slot], call.type);
    if (call.zero_point != nullptr) x = x - static_cast<float>(scales[slot].zero_point);
    store_aligned(output + vector * int64_t{kSize}, pack<T>(x * scales[slot].factor));
  }
}

template <typename T>
__global__ void __launch_bounds__(detail::kPointwiseThreads)
    dequantize_kernel(const Dequantize call, const DequantizeGrid grid) {
  constexpr int kSize = Vector<T>::kSize;
  wait_for_kernels_before();
  let_next_kernel_start();
  const detail::RowPart part(grid.blocks_per_row, kSlots);
  const int64_t width = call.grid.width, total_rows = call.grid.total_rows();
  if (part.index >= total_rows) return;
  T* const output = kept_address(call.output.row<T>(part.index));
  const uint8_t* const input = kept_address(call.input.row<uint8_t>(part.index));
  const uint8_t* const array = call.input.row<uint8_t>(0);
  const uint8_t* const array_end = call.input.row<uint8_t>(total_rows - 1) + width;
  const bool is_between =
      detail::is_between<uint8_t>(call.input, part.index, total_rows, 2 * kSize);
  const int shift = static_cast<int>(reinterpret_cast<uintptr_t>(output) % 16 / sizeof(T));
  const auto place = [&](int slot) {
    const int64_t column = (part.vector + slot * int64_t{blockDim.x}) * kSize - shift;
    const int64_t left = width - column;
    return VectorPlace{column, column < 0 ? static_cast<int>(-column) : 0,
                       left < kSize ? static_cast<int>(left > 0 ? left : 0) : kSize};
  };
  const int64_t row_at = grid.places.row_at(part.index);
  detail::Window<uint8_t, Bytes<kSize>> windows[kSlots];
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    const VectorPlace at = place(slot);
    if (at.end <= at.begin) break;
    windows[slot] = is_between ? detail::load_window<Bytes<kSize>>(input + at.column)
                               : detail::load_window<Bytes<kSize>>(input + at.column, at.begin,
                                                                   at.end, array, array_end);
  }
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    const VectorPlace at = place(slot);
    if (at.end <= at.begin) break;
    const VectorScales<kSize> scales(call.scale, call.zero_point, grid.places, row_at, at,
                                     [](float scale) { return scale; });
    Numbers<T> x = numbers_of(windows[slot].vector(), call.type);
    if (call.zero_point != nullptr) {
#pragma unroll
      for (int k = 0; k < kSize; ++k) x[k] -= static_cast<float>(scales.zero_point[k]);
    }
    const Packed packed = pack<T>(x * scales.factor);
    if (at.end - at.begin == kSize) {
      store_aligned(output + at.column, packed);
    } else {
      store_unaligned(output + at.column, packed, at.begin, at.end);
    }
  }
}

struct Launch {
  template <typename T>
  static void run(const Dequantize& call, cudaStream_t stream) {
    constexpr int64_t kSize = Vector<T>::kSize;
    const BlockGrid& grid = call.grid;
    const ScalePlaces places(grid, call.strides);
    const bool starts_with_vectors = rows_are_aligned<T>(call.output);
    const bool is_whole = grid.width % kSize == 0 && starts_with_vectors &&
                          bytes_are_aligned<T>(call.input.data, call.input.stride) &&
                          vectors_are_in_blocks<T>(grid, starts_with_vectors) &&
                          grid.width / kSize < kMostVectors;
    if (!is_whole && dequantizing::is_flat<T>(call, places))
      return dequantizing::launch_flat<T>(call, places, stream);
    const int64_t vectors_per_row = (grid.width + (is_whole ? 1 : 2) * (kSize - 1)) / kSize;
    const detail::RowParts parts(grid.total_rows(), (vectors_per_row + kSlots - 1) / kSlots);
    const int64_t block_columns = grid.block_columns < grid.width ? grid.block_columns : grid.width;
    const DequantizeGrid of_rows{
        vectors_per_row, parts.blocks_per_row, places,
        detail::Divider(is_whole ? static_cast<uint32_t>((block_columns + kSize - 1) / kSize) : 1),
        is_scale_a_row(grid)};
    const auto kernel = is_whole ? &dequantize_whole_kernel<T> : &dequantize_kernel<T>;
    launch_overlapping(kernel, parts.blocks, parts.block, stream, call, of_rows);
  }
};

}  // namespace

void launch_dequantize(const Dequantize& call, void* stream) {
  if (call.grid.num_blocks() == 0) return;  // a grid of 0 blocks is a launch error
  for_device_type<Launch>(call.dtype, call, static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels

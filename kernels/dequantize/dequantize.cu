// SPDX-License-Identifier: Apache-2.0
// dequantize on CUDA devices: sizeof(T) + 1 bytes an element.
#include "../common/quantized.cuh"
#include "dequantize.h"

namespace cudaops_kernels {
namespace {

struct DequantizeGrid {
  int64_t vectors_per_slot;  // a thread's vectors of a row are so many apart
  detail::Divider blocks_per_row;
  ScalePlaces places;
  bool one_scale_a_vector;
};

// A vector has half or a quarter of the bytes of other ops': one a thread were too few on their
// way.
template <bool kWhole>
constexpr int kSlots = kWhole ? 4 : 1;

// kWhole: rows of numbers start at multiples of 16 bytes, those of bytes accordingly, and have
// whole vectors.
template <typename T, bool kWhole>
__global__ void __launch_bounds__(detail::kPointwiseThreads)
    dequantize_kernel(const Dequantize call, const DequantizeGrid grid) {
  constexpr int kSize = Vector<T>::kSize, kCount = kSlots<kWhole>;
  const detail::RowPart part(grid.blocks_per_row);
  const int64_t width = call.grid.width;
  if (part.index >= call.grid.total_rows() || part.vector >= grid.vectors_per_slot) return;
  T* const output = call.output.row<T>(part.index);
  const uint8_t* const input = call.input.row<uint8_t>(part.index);
  int shift = 0;
  if constexpr (!kWhole) {
    shift = static_cast<int>(reinterpret_cast<uintptr_t>(output) % 16 / sizeof(T));
  }
  Bytes<kSize> bytes[kCount];
  int64_t columns[kCount];
  int begins[kCount], ends[kCount];
#pragma unroll
  for (int slot = 0; slot < kCount; ++slot) {
    const int64_t column = (part.vector + slot * grid.vectors_per_slot) * kSize - shift;
    columns[slot] = column;
    begins[slot] = column < 0 ? static_cast<int>(-column) : 0;
    ends[slot] = column + kSize > width ? static_cast<int>(width - column) : kSize;
    if (column < width) {
      bytes[slot] = load_bytes<kWhole, kSize>(input + column, begins[slot], ends[slot]);
    }
  }
#pragma unroll
  for (int slot = 0; slot < kCount; ++slot) {
    const int64_t column = columns[slot];
    const int begin = begins[slot], end = ends[slot];
    if (end <= begin) continue;
    const VectorScales<kSize> scales(call.scale, call.zero_point, grid.places, part.index, column,
                                     begin, end, grid.one_scale_a_vector,
                                     [](float scale) { return scale; });
    Numbers<T> x = numbers_of(bytes[slot], call.type);
    if (call.zero_point != nullptr) {
#pragma unroll
      for (int k = 0; k < kSize; ++k) x[k] -= static_cast<float>(scales.zero_point[k]);
    }
    const Packed packed = pack<T>(x * scales.factor);
    if (kWhole || end - begin == kSize) {
      store_aligned(output + column, packed);
    } else {
      store_part(output + column, packed, begin, end);
    }
  }
}

struct Launch {
  template <typename T>
  static void run(const Dequantize& call, cudaStream_t stream) {
    constexpr int64_t kSize = Vector<T>::kSize;
    const BlockGrid& grid = call.grid;
    const bool starts_with_vectors = rows_are_aligned<T>(call.output);
    const bool is_whole = grid.width % kSize == 0 && starts_with_vectors &&
                          bytes_are_aligned<T>(call.input.data, call.input.stride);
    const int64_t vectors_per_row = (grid.width + (is_whole ? 1 : 2) * (kSize - 1)) / kSize;
    const int64_t slots = is_whole ? kSlots<true> : kSlots<false>;
    const int64_t vectors_per_slot = (vectors_per_row + slots - 1) / slots;
    const detail::RowParts parts(grid.total_rows(), vectors_per_slot);
    const DequantizeGrid of_rows{vectors_per_slot, parts.blocks_per_row,
                                 ScalePlaces(grid, call.strides),
                                 vectors_are_in_blocks<T>(grid, starts_with_vectors)};
    if (is_whole) {
      dequantize_kernel<T, true><<<parts.blocks, parts.block, 0, stream>>>(call, of_rows);
    } else {
      dequantize_kernel<T, false><<<parts.blocks, parts.block, 0, stream>>>(call, of_rows);
    }
    CUDAOPS_CHECK_LAUNCH();
  }
};

}  // namespace

void launch_dequantize(const Dequantize& call, void* stream) {
  if (call.grid.num_blocks() == 0) return;  // a grid of 0 blocks is a launch error
  for_device_type<Launch>(call.dtype, call, static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels

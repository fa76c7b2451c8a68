// SPDX-License-Identifier: Apache-2.0
// dequantize on CUDA devices: sizeof(T) + 1 bytes an element.
//
// Three kernels, in the order in which a call is tried:
//   whole  Rows start with aligned vectors and have only whole ones, each in one block.
//   flat   Rows follow each other without gaps. They are taken as one long row, and vectors lie
//          where the output has its multiples of 16 bytes: a vector may begin in one block and end
//          in the next, also in that of the next row.
//   else   Vectors lie where each row of the output has its multiples of 16 bytes.
#include <algorithm>
#include <climits>

#include "../common/quantized/scales.cuh"
#include "../common/row/row.h"
#include "dequantize.h"

namespace cudaops_kernels {
namespace {

struct DequantizeGrid {
  int64_t vectors_per_row;
  detail::Divider blocks_per_row;
  ScalePlaces places;
  detail::Divider vectors_per_block;  // of rows of whole vectors
  bool one_scale_a_row;
};

// A vector has half or a quarter of the bytes of other ops': one a thread were too few on their
// way.
constexpr int kSlots = 4;

// Of a row that is counted in int.
constexpr int64_t kMostVectors = INT_MAX - kSlots * detail::kPointwiseThreads;

// Rows of numbers start at multiples of 16 bytes, those of bytes accordingly, and have whole
// vectors, each in one block.
template <typename T>
__global__ void __launch_bounds__(detail::kPointwiseThreads)
    dequantize_whole_kernel(const Dequantize call, const DequantizeGrid grid) {
  constexpr int kSize = Vector<T>::kSize;
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
    bytes[slot] = load_aligned_bytes<kSize>(input + vector * int64_t{kSize});
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
  BytesWindow<kSize> windows[kSlots];
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    const VectorPlace at = place(slot);
    if (at.end <= at.begin) break;
    windows[slot] = is_between
                        ? load_bytes<kSize>(input + at.column)
                        : load_bytes<kSize>(input + at.column, at.begin, at.end, array, array_end);
  }
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    const VectorPlace at = place(slot);
    if (at.end <= at.begin) break;
    const VectorScales<kSize> scales(call.scale, call.zero_point, grid.places, row_at, at,
                                     [](float scale) { return scale; });
    Numbers<T> x = numbers_of(windows[slot].bytes(), call.type);
    if (call.zero_point != nullptr) {
#pragma unroll
      for (int k = 0; k < kSize; ++k) x[k] -= static_cast<float>(scales.zero_point[k]);
    }
    const Packed packed = pack<T>(x * scales.factor);
    if (at.end - at.begin == kSize) {
      store_aligned(output + at.column, packed);
    } else {
      store_elements(output + at.column, packed, at.begin, at.end);
    }
  }
}

// Fewer than kSlots: each has registers for its scales, and more warps at once do as well.
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
  const uint32_t first = blockIdx.x * (kFlatSlots * kThreads) + threadIdx.x;
  T* const output = static_cast<T*>(call.output.data);
  const uint8_t* const input = static_cast<const uint8_t*>(call.input.data);
  const auto is_inner = [&](uint32_t vector) { return vector - 2 < grid.num_inner; };
  const auto begin = [&](uint32_t vector) { return vector == 0 ? grid.shift : 0; };
  const auto end = [&](uint32_t vector) {
    return vector == grid.num_vectors - 1 ? grid.end : kSize;
  };
  BytesWindow<kSize> windows[kFlatSlots];
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
      windows[slot] = load_bytes<kSize>(data, begin(vector), end(vector), input + grid.shift, last);
    } else if constexpr (kAligned) {
      windows[slot].low = load_aligned_bytes<kSize>(data);
    } else {
      windows[slot] = load_bytes<kSize>(data);
    }
    scales[slot] = FlatScales::load<kSize>(call, grid, place);
  }
#pragma unroll
  for (int slot = 0; slot < kFlatSlots; ++slot) {
    const uint32_t vector = first + slot * kThreads;
    if (vector >= grid.num_vectors) break;
    Numbers<T> x = numbers_of(kAligned ? windows[slot].low : windows[slot].bytes(), call.type);
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
      store_elements(destination, pack<T>(x), begin(vector), end(vector));
    }
  }
}

// Over how many rows scales go on by strides.row, in all matrices alike; 0: they do not.
int64_t rows_of_scale(const BlockGrid& grid, const ScalePlaces& places) {
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
  if (bytes_are_aligned<T>(moved.input.data, 0)) {
    dequantize_flat_kernel<T, true><<<blocks, detail::kPointwiseThreads, 0, stream>>>(moved, flat);
  } else {
    dequantize_flat_kernel<T, false><<<blocks, detail::kPointwiseThreads, 0, stream>>>(moved, flat);
  }
  CUDAOPS_CHECK_LAUNCH();
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
    if (!is_whole && is_flat<T>(call, places)) return launch_flat<T>(call, places, stream);
    const int64_t vectors_per_row = (grid.width + (is_whole ? 1 : 2) * (kSize - 1)) / kSize;
    const detail::RowParts parts(grid.total_rows(), (vectors_per_row + kSlots - 1) / kSlots);
    const int64_t block_columns = grid.block_columns < grid.width ? grid.block_columns : grid.width;
    const DequantizeGrid of_rows{
        vectors_per_row, parts.blocks_per_row, places,
        detail::Divider(is_whole ? static_cast<uint32_t>((block_columns + kSize - 1) / kSize) : 1),
        is_scale_a_row(grid)};
    if (is_whole) {
      dequantize_whole_kernel<T><<<parts.blocks, parts.block, 0, stream>>>(call, of_rows);
    } else {
      dequantize_kernel<T><<<parts.blocks, parts.block, 0, stream>>>(call, of_rows);
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

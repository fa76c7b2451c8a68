// SPDX-License-Identifier: Apache-2.0
// The engine of pointwise ops on devices; pointwise.h says what an op is.
//
// A thread takes one 16-byte vector of each input and output and is done: many short-lived blocks
// keep more loads in flight than a persistent grid or a loop does. Blocks follow the memory: a
// block has several short rows, or a part of a long one.
//
// Alignment, in the order in which a call is tried:
//   whole  All rows start at multiples of 16 bytes and have only whole vectors.
//   flat   Rows have no gaps between them, and all operands the same alignment. They are taken as
//          one long row: vectors are whole and aligned everywhere but at the array's two ends, also
//          those in which one row ends and the next begins. Only the columns of a vector differ
//          from row to row.
//   else   Vectors lie where the first output's row has its multiples of 16 bytes, so that its
//          stores are whole; a row that starts elsewhere has a shorter first and last vector. An
//          operand with another alignment takes two aligned loads and a funnel shift; the second
//          load hits L1.
// All loads are issued before the first is used, in each case.
#pragma once

#include <cuda_runtime.h>
#include <cudaops/check.h>

#include "divider.cuh"
#include "hopper.cuh"
#include "pointwise.h"
#include "unaligned.cuh"

namespace cudaops_kernels {
namespace detail {

constexpr int kPointwiseThreads = 256;

// Where the vectors of flat rows begin: rows of `width` elements without gaps, in vectors of `size`
// elements, of which the first begins `shift` < size elements before the first row.
//
// Vector n begins at element n * size - shift. The row of n * size is n * (size / width), rounded
// down, by a multiplication with that fraction, which is rounded up to a multiple of 2^-64: with
// width < 2^31 and n < 2^32 the product is too large by less than n * 2^-64 < 1 / width, and the
// row is right. Multiples of the width are left out of `size` before: the fraction is below 1.
class FlatRows {
 public:
  struct Place {
    int32_t row;      // -1 before the first; only where width > size and there are fewer than 2^31
    uint32_t column;  // below width, also where the vector begins before the first row
  };

  static bool are_possible(int64_t num_rows, int64_t width, int64_t size) {
    return width < INT32_MAX && num_rows * width / size < UINT32_MAX - 1024;
  }

  FlatRows(int64_t width, int64_t size, int64_t shift)
      : width_(static_cast<uint32_t>(width)),
        step_(static_cast<uint32_t>(size % width)),
        first_row_(shift > 0 ? -1 : 0),
        first_column_(static_cast<uint32_t>((width - shift % width) % width)) {
    // (2^64 * step) / width + 1, in two halves.
    const uint64_t upper = uint64_t{step_} << 32;
    const uint64_t lower = upper % width_ << 32;
    factor_high_ = static_cast<uint32_t>(upper / width_);
    factor_low_ = static_cast<uint32_t>(lower / width_);
    if (++factor_low_ == 0) ++factor_high_;
  }

  __device__ __forceinline__ Place of(uint32_t vector) const {
    const uint64_t low = uint64_t{vector} * factor_low_ >> 32;
    const uint32_t row = static_cast<uint32_t>((uint64_t{vector} * factor_high_ + low) >> 32);
    Place place{static_cast<int32_t>(row) + first_row_,
                vector * step_ - row * width_ + first_column_};
    if (place.column >= width_) {
      place.column -= width_;
      ++place.row;
    }
    return place;
  }
  __device__ __forceinline__ uint32_t width() const { return width_; }

 private:
  uint32_t width_, step_;
  uint32_t factor_low_, factor_high_;
  int32_t first_row_;
  uint32_t first_column_;
};

// The blocks of threads for rows of so many vectors: each has several short rows, or a part of a
// long one.
struct RowParts {
  dim3 block;
  unsigned int blocks;
  Divider blocks_per_row;

  RowParts(int64_t num_rows, int64_t vectors_per_row) : blocks_per_row(1) {
    constexpr int64_t kThreads = kPointwiseThreads;
    const int64_t num_parts = (vectors_per_row + kThreads - 1) / kThreads;
    int64_t threads_x = vectors_per_row, threads_y = 1, per_row = 1;
    if (num_parts == 1) {
      threads_y = kThreads / vectors_per_row;
      if (threads_y > num_rows) threads_y = num_rows;
    } else {
      // Parts of one size, of whole warps.
      threads_x = ((vectors_per_row + num_parts - 1) / num_parts + 31) / 32 * 32;
      per_row = (vectors_per_row + threads_x - 1) / threads_x;
    }
    block = dim3(static_cast<unsigned int>(threads_x), static_cast<unsigned int>(threads_y));
    blocks = num_blocks(num_rows, threads_y) * static_cast<unsigned int>(per_row);
    blocks_per_row = Divider(static_cast<uint32_t>(per_row));
  }
};

// A thread's row and its vector in it; perhaps none that there is.
struct RowPart {
  int64_t index;
  int64_t vector;

  // per_thread: vectors of a thread, blockDim.x apart; `vector` is the first.
  __device__ __forceinline__ explicit RowPart(const Divider& blocks_per_row, int per_thread = 1,
                                              uint32_t block = blockIdx.x) {
    const uint32_t row_block = blocks_per_row.quotient(block);
    const uint32_t part = block - row_block * blocks_per_row.divisor();
    index = int64_t{row_block} * blockDim.y + threadIdx.y;
    vector = int64_t{part} * per_thread * blockDim.x + threadIdx.x;
  }
};

template <int kNumInputs, int kNumOutputs>
struct PointwiseGrid {
  PointwiseCall<kNumInputs, kNumOutputs> call;
  int64_t vectors_per_row;  // at most
  Divider blocks_per_row;
};

// Whether so many elements before and behind a row belong to the array too.
template <typename T>
__device__ __forceinline__ bool is_between(const ConstRows& rows, int64_t index, int64_t num_rows,
                                           int margin) {
  const T* const row = rows.template row<T>(index);
  return row - rows.template row<T>(0) >= margin &&
         rows.template row<T>(num_rows - 1) - row >= margin;
}

// Vector `vector` of a row, counted from `shift` elements before it.
template <typename T, bool kWhole>
__device__ __forceinline__ Window<T> load_window_of_row(const ConstRows& rows, int64_t index,
                                                        int64_t vector, int shift, int begin,
                                                        int end, int64_t num_rows, int64_t width) {
  const Packed* data =
      reinterpret_cast<const Packed*>(rows.template row<T>(index) - shift) + vector;
  if constexpr (kWhole) {
    const Packed packed = *data;
    return {packed, packed, 0};
  } else {
    return load_window(reinterpret_cast<const T*>(data), begin, end, rows.template row<T>(0),
                       rows.template row<T>(num_rows - 1) + width);
  }
}

// What is the same for all rows, of T or float.
template <typename T, bool kWhole>
__device__ __forceinline__ Numbers<T> load_columns(const void* columns, DType dtype, int64_t width,
                                                   int64_t column, int begin, int end) {
  constexpr int kSize = Vector<T>::kSize, kFloats = Vector<float>::kSize;
  if (sizeof(T) == 4 || dtype != DType::kFloat32) {
    const T* data = static_cast<const T*>(columns);
    if constexpr (kWhole) return unpack<T>(load_aligned(data + column));
    return load_window(data + column, begin, end, data, data + width).numbers();
  }
  const float* data = static_cast<const float*>(columns);
  Numbers<T> numbers;
#pragma unroll
  for (int k = 0; k < kSize; k += kFloats) {
    Floats<kFloats> part;
    if constexpr (kWhole) {
      part = unpack<float>(load_aligned(data + column + k));
    } else {
      const auto clamp = [](int i) { return i < 0 ? 0 : (i > kFloats ? kFloats : i); };
      part = load_window(data + column + k, clamp(begin - k), clamp(end - k), data, data + width)
                 .numbers();
    }
#pragma unroll
    for (int i = 0; i < kFloats; ++i) numbers[k + i] = part[i];
  }
  return numbers;
}

// kCount numbers from `column` on of what is the same for all rows, which are at least as long,
// going on at column 0 behind the last. Nothing else is touched.
template <int kCount, typename C>
__device__ __forceinline__ Floats<kCount> load_around(const C* columns, uint32_t width,
                                                      uint32_t column) {
  constexpr uint32_t kSize = Vector<C>::kSize, kVectors = kCount / kSize;
  // Rows that are not longer end in at least every other warp, which then went both ways.
  constexpr uint32_t kShortRow = 2 * 32 * kCount;
  Floats<kCount> numbers;
  if (width >= kShortRow && column - (kSize - 1) <= width - (kCount + 2 * kSize - 1)) {
    Window<C> windows[kVectors];
#pragma unroll
    for (uint32_t i = 0; i < kVectors; ++i) windows[i] = load_window(columns + column + i * kSize);
#pragma unroll
    for (uint32_t i = 0; i < kVectors; ++i) {
      const Numbers<C> part = windows[i].numbers();
#pragma unroll
      for (uint32_t k = 0; k < kSize; ++k) numbers[i * kSize + k] = part[k];
    }
  } else {
#pragma unroll
    for (uint32_t k = 0; k < kCount; ++k) {
      // The second is huge before the row's end.
      numbers[k] = to_float(columns[min(column + k, column + k - width)]);
    }
  }
  return numbers;
}

// Of T or float.
template <typename T>
__device__ __forceinline__ Numbers<T> load_columns_around(const void* columns, DType dtype,
                                                          uint32_t width, uint32_t column) {
  constexpr int kSize = Vector<T>::kSize;
  if (sizeof(T) == 4 || dtype != DType::kFloat32) {
    return load_around<kSize>(static_cast<const T*>(columns), width, column);
  }
  return load_around<kSize>(static_cast<const float*>(columns), width, column);
}

// The formula for each element of the vectors x.
template <typename T, typename Formula>
__device__ __forceinline__ void apply(const Formula& formula,
                                      const Numbers<T> (&x)[Formula::kNumInputs],
                                      const Numbers<T>& columns,
                                      Numbers<T> (&y)[Formula::kNumOutputs]) {
#pragma unroll
  for (int k = 0; k < Numbers<T>::kSize; ++k) {
    float x_of_one[Formula::kNumInputs], y_of_one[Formula::kNumOutputs];
#pragma unroll
    for (int j = 0; j < Formula::kNumInputs; ++j) x_of_one[j] = x[j][k];
    formula(x_of_one, columns[k], y_of_one);
#pragma unroll
    for (int j = 0; j < Formula::kNumOutputs; ++j) y[j][k] = y_of_one[j];
  }
}

// kWhole: all rows start at multiples of 16 bytes and have only whole vectors.
template <typename T, bool kWhole, typename Formula, typename Grid>
__global__ void __launch_bounds__(kPointwiseThreads)
    pointwise_kernel(const Formula formula, const Grid grid) {
  constexpr int kSize = Vector<T>::kSize;
  constexpr int kNumInputs = Formula::kNumInputs, kNumOutputs = Formula::kNumOutputs;
  const auto& call = grid.call;
  wait_for_kernels_before();
  let_next_kernel_start();
  const RowPart part(grid.blocks_per_row);
  const int64_t index = part.index, vector = part.vector;
  if (index >= call.num_rows || vector >= grid.vectors_per_row) return;

  int64_t column = vector * kSize;
  int shift = 0, begin = 0,
      end = kSize;  // shift: elements of the row's first vector before the row
  if constexpr (!kWhole) {
    const uintptr_t anchor = reinterpret_cast<uintptr_t>(call.outputs[0].template row<T>(index));
    shift = static_cast<int>(anchor % 16 / sizeof(T));
    column -= shift;
    if (column < 0) begin = static_cast<int>(-column);
    if (column + kSize > call.width) end = static_cast<int>(call.width - column);
    if (end <= begin) return;
  }

  Window<T> windows[kNumInputs];
#pragma unroll
  for (int j = 0; j < kNumInputs; ++j) {
    windows[j] = load_window_of_row<T, kWhole>(call.inputs[j], index, vector, shift, begin, end,
                                               call.num_rows, call.width);
  }
  Numbers<T> x[kNumInputs], y[kNumOutputs], columns = {};
  if (call.columns != nullptr) {
    columns =
        load_columns<T, kWhole>(call.columns, call.columns_dtype, call.width, column, begin, end);
  }
#pragma unroll
  for (int j = 0; j < kNumInputs; ++j) x[j] = windows[j].numbers();
  apply<T>(formula, x, columns, y);
#pragma unroll
  for (int j = 0; j < kNumOutputs; ++j) {
    // The address in vectors: computed in elements, nvcc 13.0 makes four stores of each.
    Packed* const destination =
        reinterpret_cast<Packed*>(call.outputs[j].template row<T>(index) - shift) + vector;
    const Packed packed = pack<T>(y[j]);
    if (kWhole || (end - begin == kSize && is_aligned_to_16(destination))) {
      *destination = packed;
    } else {
      store_unaligned(reinterpret_cast<T*>(destination), packed, begin, end);
    }
  }
}

// Operands begin at multiples of 16 bytes, `shift` elements before their first row.
template <int kNumInputs, int kNumOutputs>
struct FlatGrid {
  PointwiseCall<kNumInputs, kNumOutputs> call;
  FlatRows rows;
  uint32_t num_vectors;
  uint32_t first_whole, num_whole;  // vectors; at most the first and the last one are not
  int shift;
  int end;  // of the last vector's elements
};

template <typename T, typename Formula, typename Grid>
__global__ void __launch_bounds__(kPointwiseThreads)
    pointwise_flat_kernel(const Formula formula, const Grid grid) {
  constexpr int kSize = Vector<T>::kSize;
  constexpr int kNumInputs = Formula::kNumInputs, kNumOutputs = Formula::kNumOutputs;
  const auto& call = grid.call;
  wait_for_kernels_before();
  let_next_kernel_start();
  const uint32_t vector = blockIdx.x * kPointwiseThreads + threadIdx.x;
  if (vector >= grid.num_vectors) return;
  const bool is_whole = vector - grid.first_whole < grid.num_whole;
  const auto begin = [&] { return vector == 0 ? grid.shift : 0; };
  const auto end = [&] { return vector == grid.num_vectors - 1 ? grid.end : kSize; };

  Packed packed[kNumInputs];
#pragma unroll
  for (int j = 0; j < kNumInputs; ++j) {
    const Packed* const source = static_cast<const Packed*>(call.inputs[j].data) + vector;
    packed[j] =
        is_whole ? *source : load_unaligned(reinterpret_cast<const T*>(source), begin(), end());
  }
  Numbers<T> x[kNumInputs], y[kNumOutputs], columns = {};
  if (call.columns != nullptr) {
    columns = load_columns_around<T>(call.columns, call.columns_dtype, grid.rows.width(),
                                     grid.rows.of(vector).column);
  }
#pragma unroll
  for (int j = 0; j < kNumInputs; ++j) x[j] = unpack<T>(packed[j]);
  apply<T>(formula, x, columns, y);
#pragma unroll
  for (int j = 0; j < kNumOutputs; ++j) {
    Packed* const destination = static_cast<Packed*>(call.outputs[j].data) + vector;
    const Packed result = pack<T>(y[j]);
    if (is_whole) {
      *destination = result;
    } else {
      store_unaligned(reinterpret_cast<T*>(destination), result, begin(), end());
    }
  }
}

template <typename T>
bool all_start_aligned(const void* data, int64_t num_rows, int64_t stride) {
  return reinterpret_cast<uintptr_t>(data) % 16 == 0 &&
         (num_rows == 1 || stride % Vector<T>::kSize == 0);
}

// Whether vectors lie at multiples of 16 bytes everywhere, and no other number of them in a row.
template <typename T, int kNumInputs, int kNumOutputs>
bool is_whole(const PointwiseCall<kNumInputs, kNumOutputs>& call) {
  if (call.width % Vector<T>::kSize != 0 || !all_start_aligned<T>(call.columns, 1, 0)) return false;
  for (const ConstRows& rows : call.inputs) {
    if (!all_start_aligned<T>(rows.data, call.num_rows, rows.stride)) return false;
  }
  for (const Rows& rows : call.outputs) {
    if (!all_start_aligned<T>(rows.data, call.num_rows, rows.stride)) return false;
  }
  return true;
}

// Whether rows can be taken as one long one, in which all operands have the same alignment.
template <typename T, int kNumInputs, int kNumOutputs>
bool is_flat(const PointwiseCall<kNumInputs, kNumOutputs>& call) {
  const auto is_alike = [&](const auto& rows) {
    return (call.num_rows == 1 || rows.stride == call.width) &&
           same_alignment(rows.data, call.outputs[0].data);
  };
  for (const ConstRows& rows : call.inputs) {
    if (!is_alike(rows)) return false;
  }
  for (const Rows& rows : call.outputs) {
    if (!is_alike(rows)) return false;
  }
  return (call.columns == nullptr || call.width >= Vector<T>::kSize) &&
         FlatRows::are_possible(call.num_rows, call.width, Vector<T>::kSize);
}

// Elements of the first output between a multiple of 16 bytes and its start.
template <typename T, int kNumInputs, int kNumOutputs>
int64_t elements_before(const PointwiseCall<kNumInputs, kNumOutputs>& call) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(call.outputs[0].data) % 16 / sizeof(T));
}

// The same call with operands that begin so many elements earlier.
template <typename T, int kNumInputs, int kNumOutputs>
PointwiseCall<kNumInputs, kNumOutputs> moved_back(PointwiseCall<kNumInputs, kNumOutputs> call,
                                                  int64_t elements) {
  for (ConstRows& rows : call.inputs) rows.data = static_cast<const T*>(rows.data) - elements;
  for (Rows& rows : call.outputs) rows.data = static_cast<T*>(rows.data) - elements;
  return call;
}

template <typename Formula>
struct LaunchPointwise {
  template <typename T>
  static void run(const Formula& formula, const PointwiseCallOf<Formula>& call,
                  cudaStream_t stream) {
    constexpr int64_t kSize = Vector<T>::kSize;
    constexpr int kNumInputs = Formula::kNumInputs, kNumOutputs = Formula::kNumOutputs;
    const bool whole = is_whole<T>(call);
    if (!whole && is_flat<T>(call)) return run_flat<T>(formula, call, stream);
    const bool one_shift = call.num_rows == 1 || call.outputs[0].stride % kSize == 0;
    const int64_t shift = one_shift ? elements_before<T>(call) : kSize - 1;
    const int64_t vectors_per_row = (call.width + shift + kSize - 1) / kSize;
    const RowParts parts(call.num_rows, vectors_per_row);
    using Grid = PointwiseGrid<kNumInputs, kNumOutputs>;
    const Grid grid{call, vectors_per_row, parts.blocks_per_row};
    const auto kernel = whole ? &pointwise_kernel<T, true, Formula, Grid>
                              : &pointwise_kernel<T, false, Formula, Grid>;
    launch_overlapping(kernel, parts.blocks, parts.block, stream, formula, grid);
  }

  template <typename T>
  static void run_flat(const Formula& formula, const PointwiseCallOf<Formula>& call,
                       cudaStream_t stream) {
    constexpr int64_t kSize = Vector<T>::kSize;
    const int64_t shift = elements_before<T>(call);
    const int64_t num = shift + call.num_rows * call.width, num_vectors = (num + kSize - 1) / kSize;
    const int64_t first_whole = shift > 0 ? 1 : 0;
    const int64_t num_whole = num / kSize > first_whole ? num / kSize - first_whole : 0;
    using Grid = FlatGrid<Formula::kNumInputs, Formula::kNumOutputs>;
    const Grid grid{moved_back<T>(call, shift),
                    FlatRows(call.width, kSize, shift),
                    static_cast<uint32_t>(num_vectors),
                    static_cast<uint32_t>(first_whole),
                    static_cast<uint32_t>(num_whole),
                    static_cast<int>(shift),
                    static_cast<int>(num - (num_vectors - 1) * kSize)};
    launch_overlapping(&pointwise_flat_kernel<T, Formula, Grid>,
                       num_blocks(grid.num_vectors, kPointwiseThreads), kPointwiseThreads, stream,
                       formula, grid);
  }
};

}  // namespace detail

// stream: a cudaStream_t.
template <typename Formula>
void launch_pointwise(const Formula& formula, const PointwiseCallOf<Formula>& call, DType dtype,
                      void* stream) {
  if (call.num_rows == 0 || call.width == 0) return;  // a grid of 0 blocks is a launch error
  for_device_type<detail::LaunchPointwise<Formula>>(dtype, formula, with_fewest_rows(call),
                                                    static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// The engine of pointwise ops on devices; pointwise.h says what an op is.
//
// A thread takes one 16-byte vector of each input and output and is done: many short-lived blocks
// keep more loads in flight than a persistent grid or a loop does. Blocks follow the memory: a
// block has several short rows, or a part of a long one.
//
// Alignment: vectors lie where the first output's row has its multiples of 16 bytes, so that its
// stores are whole; a row that starts elsewhere has a shorter first and last vector. An operand
// that lies differently is put together from two aligned loads, of which one comes from the cache.
// All loads are issued before the first is used, in either case.
#pragma once

#include <cuda_runtime.h>
#include <cudaops/check.h>

#include "pointwise.h"
#include "vectors.cuh"

namespace cudaops_kernels {
namespace detail {

constexpr int kPointwiseThreads = 256;

// n / divisor for n < 2^31, by a multiplication (Granlund, Montgomery: Division by invariant
// integers using multiplication, 1994).
class Divider {
 public:
  explicit Divider(uint32_t divisor) : divisor_(divisor) {
    int log2 = 0;
    while ((uint64_t{1} << log2) < divisor) ++log2;
    shift_ = 31 + log2;
    factor_ = static_cast<uint32_t>((uint64_t{1} << shift_) / divisor + 1);
  }

  __device__ __forceinline__ uint32_t quotient(uint32_t n) const {
    return static_cast<uint32_t>(uint64_t{n} * factor_ >> shift_);
  }
  __device__ __forceinline__ uint32_t divisor() const { return divisor_; }

 private:
  uint32_t divisor_;
  uint32_t factor_;
  int shift_;
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

// A vector on its way: loaded as two aligned ones.
template <typename T>
struct Window {
  Packed low, high;
  unsigned int offset;  // bytes in `low` before the vector
  __device__ __forceinline__ Packed packed() const { return across<T>(low, high, offset); }
  __device__ __forceinline__ Numbers<T> numbers() const { return unpack<T>(packed()); }
};

// The vector at `data`, of which elements begin … end - 1 are wanted. Of an array that reaches from
// `first` to `last` nothing else is touched; the other elements are what lies there, or 0.
template <typename T>
__device__ __forceinline__ Window<T> load_window(const T* data, int begin, int end, const T* first,
                                                 const T* last) {
  Window<T> window;
  window.offset = static_cast<unsigned int>(reinterpret_cast<uintptr_t>(data) % 16);
  const bool is_aligned = window.offset == 0;
  // By way of an integer the compiler would lose sight of which memory this is.
  const char* aligned = reinterpret_cast<const char*>(data) - window.offset;
  if (aligned >= reinterpret_cast<const char*>(first) &&
      aligned + (is_aligned ? 16 : 32) <= reinterpret_cast<const char*>(last)) {
    window.low = window.high = reinterpret_cast<const Packed*>(aligned)[0];
    if (!is_aligned) window.high = reinterpret_cast<const Packed*>(aligned)[1];
  } else {
    window.low = window.high = load_part(data, begin, end);
    window.offset = 0;
  }
  return window;
}

// The same between others: all of both vectors may be read.
template <typename T>
__device__ __forceinline__ Window<T> load_window(const T* data) {
  const unsigned int offset = static_cast<unsigned int>(reinterpret_cast<uintptr_t>(data) % 16);
  const Packed* const aligned =
      reinterpret_cast<const Packed*>(reinterpret_cast<const char*>(data) - offset);
  return {aligned[0], aligned[1], offset};
}

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
__device__ __forceinline__ Window<T> load_window(const ConstRows& rows, int64_t index,
                                                 int64_t vector, int shift, int begin, int end,
                                                 int64_t num_rows, int64_t width) {
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
    windows[j] = load_window<T, kWhole>(call.inputs[j], index, vector, shift, begin, end,
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
      store_part(reinterpret_cast<T*>(destination), packed, begin, end);
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

template <typename Formula>
struct LaunchPointwise {
  template <typename T>
  static void run(const Formula& formula, const PointwiseCallOf<Formula>& call,
                  cudaStream_t stream) {
    constexpr int64_t kSize = Vector<T>::kSize;
    const Rows& anchor = call.outputs[0];
    const bool one_shift = call.num_rows == 1 || anchor.stride % kSize == 0;
    const int64_t shift =
        one_shift ? static_cast<int64_t>(reinterpret_cast<uintptr_t>(anchor.data) % 16 / sizeof(T))
                  : kSize - 1;
    const int64_t vectors_per_row = (call.width + shift + kSize - 1) / kSize;
    const RowParts parts(call.num_rows, vectors_per_row);
    const PointwiseGrid<Formula::kNumInputs, Formula::kNumOutputs> grid{call, vectors_per_row,
                                                                        parts.blocks_per_row};
    if (is_whole<T>(call)) {
      pointwise_kernel<T, true><<<parts.blocks, parts.block, 0, stream>>>(formula, grid);
    } else {
      pointwise_kernel<T, false><<<parts.blocks, parts.block, 0, stream>>>(formula, grid);
    }
    CUDAOPS_CHECK_LAUNCH();
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

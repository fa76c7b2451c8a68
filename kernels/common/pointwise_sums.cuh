// SPDX-License-Identifier: Apache-2.0
// Pointwise ops with one output, of which the sums over all rows are wanted too: a gradient and the
// gradient of a bias.
//
// A block has 32 vectors of a row side by side (all of them, where a row has fewer) and takes a
// part of the rows in a loop, some at once, so that enough loads are in flight. Its threads keep
// the sums of their columns in registers. A second kernel (column_sums.cuh) adds up what the blocks
// have. Who takes which row depends on the shape and the alignment alone: results are the same bits
// from run to run and on every device.
//
// Vectors lie at the same columns in each row:
//   whole    All rows start at multiples of 16 bytes and have only whole vectors.
//   periods  Rows have no gaps between them, and all operands the same alignment. After a period of
//            1, 2, 4 or 8 rows vectors have the same columns again: periods are taken as rows, of
//            whole aligned vectors but for the array's two ends. What a block leaves has the width
//            of a period, and as many parts as a period has rows stand in it side by side.
//   else     Vectors start with the row. Where that is not at multiples of 16 bytes, loads are put
//            together from two, and neighbouring lanes join their vectors to store whole ones.
#pragma once

#include <algorithm>

#include "column_sums.cuh"
#include "pointwise.cuh"

namespace cudaops_kernels {
namespace detail {

constexpr int kSumThreads = 256;

struct SumShape {
  int threads_x;  // a power of two
  int threads_y;
  int64_t num_chunks;  // blocks side by side
  int64_t num_parts;   // blocks one below the other
  int64_t rows_per_part;
};

// Measured with bias_gelu's backward pass on an H200, 2026-11-27. Order: which rows a thread adds
// up follows from the number of parts.
constexpr int64_t kMaxParts = 1024;     // of narrow rows; the second kernel reads all of them
constexpr int64_t kPeriodBlocks = 396;  // that run at once, three a multiprocessor

// round: of narrow rows the number of blocks is a multiple of it, where there are so many.
inline SumShape sum_shape(int64_t num_rows, int64_t width, int64_t elements_per_vector,
                          int64_t max_parts = kMaxParts, int64_t round = 1) {
  // Several thousand blocks, if their threads get eight rows each; a thousand, if they get four;
  // two a multiprocessor in any case.
  constexpr int64_t kMaxBlocks = 4096, kGoodBlocks = 1024, kMinBlocks = 264;
  constexpr int64_t kNarrowChunks = 8;
  const int64_t num_vectors = (width + elements_per_vector - 1) / elements_per_vector;
  SumShape shape;
  shape.threads_x = 1;
  while (shape.threads_x < 32 && shape.threads_x < num_vectors) shape.threads_x *= 2;
  shape.threads_y = kSumThreads / shape.threads_x;
  shape.num_chunks = (num_vectors + shape.threads_x - 1) / shape.threads_x;
  const int64_t chunks = shape.num_chunks > 0 ? shape.num_chunks : 1;
  const int64_t by_one = num_rows / shape.threads_y;  // parts whose threads have a row each
  int64_t parts = std::max({by_one / 8, std::min(by_one / 4, kGoodBlocks / chunks),
                            std::min(by_one, kMinBlocks / chunks)});
  parts = std::max(int64_t{1}, std::min({parts, kMaxBlocks / chunks, max_parts}));
  if (chunks <= kNarrowChunks && parts * chunks >= round) {
    parts = parts * chunks / round * round / chunks;
  }
  const int64_t iterations = (num_rows + parts * shape.threads_y - 1) / (parts * shape.threads_y);
  shape.rows_per_part = iterations * shape.threads_y;
  shape.num_parts = num_rows == 0 ? 0 : (num_rows + shape.rows_per_part - 1) / shape.rows_per_part;
  return shape;
}

// The fewest rows without gaps that have whole vectors together.
inline int64_t rows_of_period(int64_t width, int64_t elements_per_vector) {
  int64_t rows = 1;
  while (rows * width % elements_per_vector != 0) rows *= 2;
  return rows;
}

// For periods as rows, wherever in a vector the first one starts.
inline SumShape period_shape(int64_t num_rows, int64_t width, int64_t elements_per_vector) {
  const int64_t rows = rows_of_period(width, elements_per_vector);
  const int64_t most = num_rows == 0 ? 0 : num_rows * width + elements_per_vector - 1;
  // The second kernel has to read `rows` times as many parts; some full rounds of blocks are worth
  // it (1048576 × 127: 215 µs, 268 by 1.3 rounds).
  return sum_shape((most + rows * width - 1) / (rows * width), rows * width, elements_per_vector,
                   4 * kMaxParts / rows, kPeriodBlocks);
}

// Periods are counted from `shift` elements before the first row, where its first vector begins.
struct Periods {
  FlatRows rows;
  int64_t last;  // period
  int64_t end;   // of its elements
  int shift;
};

enum class SumLayout { kWhole, kPeriods, kAny };

// kPeriods: the call's rows are periods, from the start of their first vector on. Three blocks of
// these have registers at once as those of kWhole have by themselves (0: nvcc is not asked).
template <typename T, SumLayout kLayout, typename Formula, typename Call>
__global__ void __launch_bounds__(kSumThreads, kLayout == SumLayout::kPeriods ? 3 : 0)
    pointwise_sums_kernel(const Formula formula, const Call call, const Periods periods,
                          const int64_t rows_per_part, float* parts) {
  constexpr bool kPeriods = kLayout == SumLayout::kPeriods;
  constexpr bool kWhole = kLayout != SumLayout::kAny;  // vectors
  static_assert(Formula::kNumOutputs == 1, "sums of one output only");
  constexpr int kSize = Vector<T>::kSize, kNumInputs = Formula::kNumInputs;
  const int64_t first_vector = int64_t{blockIdx.x} * blockDim.x;
  const int64_t vector = first_vector + threadIdx.x, column = vector * kSize;
  const int end = call.width - column < kSize ? static_cast<int>(call.width - column) : kSize;
  const bool exists = end > 0;
  const int64_t first = int64_t{blockIdx.y} * rows_per_part;
  const int64_t last =
      first + rows_per_part < call.num_rows ? first + rows_per_part : call.num_rows;

  Numbers<T> sums = {}, columns = {};
  if (exists && call.columns != nullptr) {
    if constexpr (kPeriods) {
      columns = load_columns_around<T>(call.columns, call.columns_dtype, periods.rows.width(),
                                       periods.rows.of(static_cast<uint32_t>(vector)).column);
    } else {
      columns =
          load_columns<T, kWhole>(call.columns, call.columns_dtype, call.width, column, 0, end);
    }
  }
  const auto finish = [&](int64_t index, const Numbers<T>(&x)[kNumInputs]) {
    Numbers<T> y[1];
    apply<T>(formula, x, columns, y);
    sums = sums + y[0];
    const Packed packed = pack<T>(y[0]);
    T* const row = call.outputs[0].template row<T>(index);
    // The address in vectors: computed in elements, nvcc 13.0 makes four stores of each.
    Packed* const destination = reinterpret_cast<Packed*>(row) + vector;
    if (kWhole || (end == kSize && is_aligned_to_16(destination))) {
      *destination = packed;
    } else if (blockDim.x == 32 && !is_aligned_to_16(destination)) {
      const int64_t num_lanes = (call.width + kSize - 1) / kSize - first_vector;
      store_unaligned(reinterpret_cast<T*>(destination), packed, 0, end,
                      num_lanes < 32 ? static_cast<int>(num_lanes) : 32);
    } else {
      store_unaligned(reinterpret_cast<T*>(destination), packed, 0, end);
    }
  };

  // As many rows at once as leave several blocks their registers.
  constexpr int kBatch = kWhole ? 4 : 2;
  const int64_t step = blockDim.y;  // a power of two
  int64_t from = first + threadIdx.y, to = last;
  if constexpr (kPeriods) {
    // Where this thread's vectors are whole.
    const int64_t num_whole = periods.last + (column + kSize <= periods.end ? 1 : 0);
    if (to > num_whole) to = num_whole;
    if (from == 0 && vector == 0 && periods.shift > 0) from = step;
  }
  for (int64_t index = from; exists && index < to; index += kBatch * step) {
    Window<T> windows[kBatch][kNumInputs];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      if (index + i * step >= to) break;
#pragma unroll
      for (int j = 0; j < kNumInputs; ++j) {
        windows[i][j] = load_window_of_row<T, kWhole>(call.inputs[j], index + i * step, vector, 0,
                                                      0, end, call.num_rows, call.width);
      }
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      if (index + i * step >= to) break;
      Numbers<T> x[kNumInputs];
#pragma unroll
      for (int j = 0; j < kNumInputs; ++j) x[j] = windows[i][j].numbers();
      finish(index + i * step, x);
    }
  }

  if constexpr (kPeriods) {
    // The array's first and last vector, where they are none.
#pragma unroll 1
    for (int i = 0; exists && i < (periods.last == 0 ? 1 : 2); ++i) {
      const int64_t index = i == 0 ? 0 : periods.last;
      if (index < first || index >= last || ((index - first) & (step - 1)) != threadIdx.y) continue;
      const int from_element = index == 0 && vector == 0 ? periods.shift : 0;
      int to_element = kSize;
      if (index == periods.last && column + kSize > periods.end) {
        to_element = column < periods.end ? static_cast<int>(periods.end - column) : 0;
      }
      if (from_element >= to_element || to_element - from_element == kSize) continue;
      Numbers<T> x[kNumInputs], y[1];
#pragma unroll
      for (int j = 0; j < kNumInputs; ++j) {
        const T* const row = call.inputs[j].template row<T>(index);
        x[j] = unpack<T>(load_unaligned(row + column, from_element, to_element));
      }
      apply<T>(formula, x, columns, y);
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        if (k >= from_element && k < to_element) sums[k] += y[0][k];
      }
      store_unaligned(call.outputs[0].template row<T>(index) + column, pack<T>(y[0]), from_element,
                      to_element);
    }
  }

  // Over the block's rows of threads, always in the same order.
  __shared__ float of_threads[kSumThreads][kSize + 1];
#pragma unroll
  for (int k = 0; k < kSize; ++k) of_threads[threadIdx.y * blockDim.x + threadIdx.x][k] = sums[k];
  __syncthreads();
  const int num_columns = static_cast<int>(blockDim.x) * kSize;
  let_next_kernel_start();
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (int i = thread; i < num_columns; i += kSumThreads) {
    int64_t at = first_vector * kSize + i;
    if (at >= call.width) break;
    if constexpr (kPeriods) {
      at -= periods.shift;
      if (at < 0) at += call.width;
    }
    float sum = 0;
    for (unsigned int y = 0; y < blockDim.y; ++y) {
      sum += of_threads[y * blockDim.x + i / kSize][i % kSize];
    }
    parts[int64_t{blockIdx.y} * call.width + at] = sum;
  }
}

// Writes the parts and says how many.
template <typename Formula>
struct LaunchPointwiseWithSums {
  template <typename T>
  static void run(const Formula& formula, const PointwiseCallOf<Formula>& call, float* parts,
                  int64_t* num_parts, cudaStream_t stream) {
    constexpr int64_t kSize = Vector<T>::kSize;
    if (!is_whole<T>(call) && call.width >= kSize && is_flat<T>(call)) {
      return run_periods<T>(formula, call, parts, num_parts, stream);
    }
    const SumShape shape = sum_shape(call.num_rows, call.width, kSize);
    *num_parts = shape.num_parts;
    const Periods none{FlatRows(1, kSize, 0), 0, 0, 0};
    if (is_whole<T>(call)) {
      run_layout<T, SumLayout::kWhole>(formula, call, none, shape, parts, stream);
    } else {
      run_layout<T, SumLayout::kAny>(formula, call, none, shape, parts, stream);
    }
  }

  template <typename T>
  static void run_periods(const Formula& formula, const PointwiseCallOf<Formula>& call,
                          float* parts, int64_t* num_parts, cudaStream_t stream) {
    constexpr int64_t kSize = Vector<T>::kSize;
    const int64_t rows = rows_of_period(call.width, kSize), width = rows * call.width;
    const int64_t shift = elements_before<T>(call), last = shift + call.num_rows * call.width - 1;
    const SumShape shape = period_shape(call.num_rows, call.width, kSize);
    *num_parts = shape.num_parts * rows;
    PointwiseCallOf<Formula> of_periods = moved_back<T>(call, shift);
    of_periods.num_rows = last / width + 1;
    of_periods.width = width;
    for (ConstRows& input : of_periods.inputs) input.stride = width;
    of_periods.outputs[0].stride = width;
    run_layout<T, SumLayout::kPeriods>(formula, of_periods,
                                       {FlatRows(call.width, kSize, shift), last / width,
                                        last % width + 1, static_cast<int>(shift)},
                                       shape, parts, stream);
  }

  template <typename T, SumLayout kLayout>
  static void run_layout(const Formula& formula, const PointwiseCallOf<Formula>& call,
                         const Periods& periods, const SumShape& shape, float* parts,
                         cudaStream_t stream) {
    const dim3 grid(static_cast<unsigned int>(shape.num_chunks),
                    static_cast<unsigned int>(shape.num_parts));
    const dim3 block(static_cast<unsigned int>(shape.threads_x),
                     static_cast<unsigned int>(shape.threads_y));
    pointwise_sums_kernel<T, kLayout>
        <<<grid, block, 0, stream>>>(formula, call, periods, shape.rows_per_part, parts);
    CUDAOPS_CHECK_LAUNCH();
  }
};

}  // namespace detail

// Enough for either layout: it depends on where operands lie.
inline int64_t pointwise_sums_workspace_bytes(int64_t num_rows, int64_t width, DType dtype) {
  if (width == 0) return 0;
  const int64_t size = 16 / size_of(dtype);
  const int64_t of_rows = detail::sum_shape(num_rows, width, size).num_parts;
  const int64_t of_periods =
      detail::period_shape(num_rows, width, size).num_parts * detail::rows_of_period(width, size);
  return (of_rows > of_periods ? of_rows : of_periods) * width * int64_t{sizeof(float)};
}

// sums: `width` elements of sums_dtype. Inputs and outputs must not overlap.
template <typename Formula>
void launch_pointwise_with_sums(const Formula& formula, const PointwiseCallOf<Formula>& call,
                                DType dtype, void* sums, DType sums_dtype, void* workspace,
                                void* stream) {
  if (call.width == 0) return;
  const cudaStream_t cuda_stream = static_cast<cudaStream_t>(stream);
  float* const parts = static_cast<float*>(workspace);
  int64_t num_parts = 0;
  if (call.num_rows > 0) {
    for_device_type<detail::LaunchPointwiseWithSums<Formula>>(dtype, formula, call, parts,
                                                              &num_parts, cuda_stream);
  }
  const detail::SumsOfParts all{parts, num_parts, call.width, {sums}};
  for_device_type<detail::AddParts>(sums_dtype, all, 1, cuda_stream);
}

}  // namespace cudaops_kernels

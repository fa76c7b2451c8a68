// SPDX-License-Identifier: Apache-2.0
// Pointwise ops with one output, of which the sums over all rows are wanted too: a gradient and the
// gradient of a bias.
//
// A block has 32 vectors of a row side by side (all of them, where a row has fewer) and takes a
// part of the rows in turns, some at once, so that enough loads are in flight. Its threads keep the
// sums of their columns in registers. A second kernel (column_sums.cuh) adds up what the blocks
// have. Who takes which row depends on the shape alone: results are the same bits from run to run
// and on every device.
//
// Vectors lie at the same columns in each row. Where that is not at multiples of 16 bytes, loads
// are put together from two, and neighbouring lanes join their vectors to store whole ones.
#pragma once

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

inline SumShape sum_shape(int64_t num_rows, int64_t width, int64_t elements_per_vector) {
  // The second kernel reads all parts; the first wants several thousand blocks.
  constexpr int64_t kMostParts = 512, kManyBlocks = 4096;
  const int64_t num_vectors = (width + elements_per_vector - 1) / elements_per_vector;
  SumShape shape;
  shape.threads_x = 1;
  while (shape.threads_x < 32 && shape.threads_x < num_vectors) shape.threads_x *= 2;
  shape.threads_y = kSumThreads / shape.threads_x;
  shape.num_chunks = (num_vectors + shape.threads_x - 1) / shape.threads_x;
  int64_t parts = shape.num_chunks == 0 ? 1 : kManyBlocks / shape.num_chunks;
  if (parts > kMostParts) parts = kMostParts;
  if (parts < 1) parts = 1;
  const int64_t turns = (num_rows + parts * shape.threads_y - 1) / (parts * shape.threads_y);
  shape.rows_per_part = turns * shape.threads_y;
  shape.num_parts = num_rows == 0 ? 0 : (num_rows + shape.rows_per_part - 1) / shape.rows_per_part;
  return shape;
}

template <typename T, bool kWhole, typename Formula, typename Call>
__global__ void __launch_bounds__(kSumThreads)
    pointwise_sums_kernel(const Formula formula, const Call call, const int64_t rows_per_part,
                          float* parts) {
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
    columns = load_columns<T, kWhole>(call.columns, call.columns_dtype, call.width, column, 0, end);
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
      store_across(reinterpret_cast<T*>(destination), packed, 0, end,
                   num_lanes < 32 ? static_cast<int>(num_lanes) : 32);
    } else {
      store_part(reinterpret_cast<T*>(destination), packed, 0, end);
    }
  };

  // As many rows at once as leave several blocks their registers.
  constexpr int kBatch = kWhole ? 4 : 2;
  const int64_t step = blockDim.y;
  for (int64_t index = first + threadIdx.y; exists && index < last; index += kBatch * step) {
    Window<T> windows[kBatch][kNumInputs];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      if (index + i * step >= last) break;
#pragma unroll
      for (int j = 0; j < kNumInputs; ++j) {
        windows[i][j] = load_window<T, kWhole>(call.inputs[j], index + i * step, vector, 0, 0, end,
                                               call.num_rows, call.width);
      }
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      if (index + i * step >= last) break;
      Numbers<T> x[kNumInputs];
#pragma unroll
      for (int j = 0; j < kNumInputs; ++j) x[j] = windows[i][j].numbers();
      finish(index + i * step, x);
    }
  }

  // Over the block's rows of threads, always in the same order.
  __shared__ float of_threads[kSumThreads][kSize + 1];
#pragma unroll
  for (int k = 0; k < kSize; ++k) of_threads[threadIdx.y * blockDim.x + threadIdx.x][k] = sums[k];
  __syncthreads();
  const int num_columns = static_cast<int>(blockDim.x) * kSize;
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (int i = thread; i < num_columns; i += kSumThreads) {
    const int64_t at = first_vector * kSize + i;
    if (at >= call.width) break;
    float sum = 0;
    for (unsigned int y = 0; y < blockDim.y; ++y) {
      sum += of_threads[y * blockDim.x + i / kSize][i % kSize];
    }
    parts[int64_t{blockIdx.y} * call.width + at] = sum;
  }
}

template <typename Formula>
struct LaunchPointwiseWithSums {
  template <typename T>
  static void run(const Formula& formula, const PointwiseCallOf<Formula>& call,
                  const SumShape& shape, float* parts, cudaStream_t stream) {
    const dim3 grid(static_cast<unsigned int>(shape.num_chunks),
                    static_cast<unsigned int>(shape.num_parts));
    const dim3 block(static_cast<unsigned int>(shape.threads_x),
                     static_cast<unsigned int>(shape.threads_y));
    if (is_whole<T>(call)) {
      pointwise_sums_kernel<T, true>
          <<<grid, block, 0, stream>>>(formula, call, shape.rows_per_part, parts);
    } else {
      pointwise_sums_kernel<T, false>
          <<<grid, block, 0, stream>>>(formula, call, shape.rows_per_part, parts);
    }
    CUDAOPS_CHECK_LAUNCH();
  }
};

}  // namespace detail

inline int64_t pointwise_sums_workspace_bytes(int64_t num_rows, int64_t width, DType dtype) {
  return detail::sum_shape(num_rows, width, 16 / size_of(dtype)).num_parts * width *
         int64_t{sizeof(float)};
}

// sums: `width` elements of sums_dtype. Inputs and outputs must not overlap.
template <typename Formula>
void launch_pointwise_with_sums(const Formula& formula, const PointwiseCallOf<Formula>& call,
                                DType dtype, void* sums, DType sums_dtype, void* workspace,
                                void* stream) {
  if (call.width == 0) return;
  const cudaStream_t cuda_stream = static_cast<cudaStream_t>(stream);
  const detail::SumShape shape = detail::sum_shape(call.num_rows, call.width, 16 / size_of(dtype));
  float* const parts = static_cast<float*>(workspace);
  if (call.num_rows > 0) {
    for_device_type<detail::LaunchPointwiseWithSums<Formula>>(dtype, formula, call, shape, parts,
                                                              cuda_stream);
  }
  for_device_type<detail::AddParts>(sums_dtype, static_cast<const float*>(parts), shape.num_parts,
                                    call.width, sums, cuda_stream);
}

}  // namespace cudaops_kernels

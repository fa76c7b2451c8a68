// SPDX-License-Identifier: Apache-2.0
// The last step of sums over all rows: blocks have added up some rows each and left a part, `width`
// floats; here the parts are added up, always in the same order. 32 columns a block, kSumRows rows
// of threads.
#pragma once

#include <cuda_runtime.h>
#include <cudaops/check.h>

#include "device_types.cuh"

namespace cudaops_kernels {
namespace detail {

constexpr int kSumRows = 16;

template <typename T>
__global__ void __launch_bounds__(32 * kSumRows)
    add_parts_kernel(const float* parts, int64_t num_parts, int64_t width, T* sums) {
  __shared__ float of_threads[kSumRows][33];
  const int64_t column = int64_t{blockIdx.x} * 32 + threadIdx.x;
  float sum = 0;
  if (column < width) {
    // Eight loads on their way: there are few parts, and each waits for memory.
    float several[8] = {};
    int64_t part = threadIdx.y;
    for (; part + 7 * kSumRows < num_parts; part += 8 * kSumRows) {
#pragma unroll
      for (int i = 0; i < 8; ++i) several[i] += parts[(part + i * kSumRows) * width + column];
    }
    for (; part < num_parts; part += kSumRows) sum += parts[part * width + column];
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += several[i];
  }
  of_threads[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= width) return;
#pragma unroll
  for (int y = 1; y < kSumRows; ++y) sum += of_threads[y][threadIdx.x];
  sums[column] = from_float<T>(sum);
}

// For for_device_type(): T is the sums' type.
struct AddParts {
  template <typename T>
  static void run(const float* parts, int64_t num_parts, int64_t width, void* sums,
                  cudaStream_t stream) {
    add_parts_kernel<T><<<num_blocks(width, 32), dim3(32, kSumRows), 0, stream>>>(
        parts, num_parts, width, static_cast<T*>(sums));
    CUDAOPS_CHECK_LAUNCH();
  }
};

}  // namespace detail
}  // namespace cudaops_kernels

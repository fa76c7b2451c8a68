// SPDX-License-Identifier: Apache-2.0
// One block a row: sum, then subtract. Reads a row twice, the second time from cache.
#include <cudaops/check.h>

#include "center.h"

namespace fallback_ops {
namespace {

constexpr int kBlockSize = 256;
constexpr int kWarpSize = 32;

__device__ float warp_sum(float value) {
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset);
  }
  return value;
}

__global__ void __launch_bounds__(kBlockSize)
    center_kernel(const float* input, float* out, int64_t row_size) {
  const int64_t first = int64_t{blockIdx.x} * row_size;
  float sum = 0;
  for (int64_t i = threadIdx.x; i < row_size; i += kBlockSize) sum += input[first + i];

  __shared__ float warp_sums[kBlockSize / kWarpSize];
  sum = warp_sum(sum);
  if (threadIdx.x % kWarpSize == 0) warp_sums[threadIdx.x / kWarpSize] = sum;
  __syncthreads();
  float total = 0;
  for (const float part : warp_sums) total += part;

  const float mean = total / static_cast<float>(row_size);
  for (int64_t i = threadIdx.x; i < row_size; i += kBlockSize) {
    out[first + i] = input[first + i] - mean;
  }
}

}  // namespace

void launch_center(const float* input, float* out, int64_t num_rows, int64_t row_size,
                   void* stream) {
  if (num_rows == 0) return;  // a grid of 0 blocks is a launch error
  center_kernel<<<static_cast<unsigned>(num_rows), kBlockSize, 0,
                  static_cast<cudaStream_t>(stream)>>>(input, out, row_size);
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace fallback_ops

// SPDX-License-Identifier: Apache-2.0
// Counts in shared memory first: one global atomic a bin and block instead of one a value.
#include <cudaops/check.h>

#include <algorithm>

#include "histogram.h"

namespace pybind_ops {
namespace {

constexpr int kBlockSize = 256;
constexpr int kMostBlocks = 1024;

__global__ void __launch_bounds__(kBlockSize)
    histogram_kernel(const uint8_t* values, int64_t num_values, int32_t* counts, int num_bins) {
  __shared__ int32_t block_counts[kBlockSize];
  block_counts[threadIdx.x] = 0;
  __syncthreads();
  for (int64_t i = int64_t{blockIdx.x} * kBlockSize + threadIdx.x; i < num_values;
       i += int64_t{gridDim.x} * kBlockSize) {
    atomicAdd(&block_counts[values[i]], 1);
  }
  __syncthreads();
  const int bin = static_cast<int>(threadIdx.x);
  if (bin < num_bins && block_counts[bin] != 0) atomicAdd(&counts[bin], block_counts[bin]);
}

}  // namespace

void launch_histogram(const uint8_t* values, int64_t num_values, int32_t* counts, int num_bins,
                      void* stream) {
  if (num_values == 0) return;  // a grid of 0 blocks is a launch error
  const int64_t num_blocks =
      std::min<int64_t>((num_values + kBlockSize - 1) / kBlockSize, kMostBlocks);
  histogram_kernel<<<static_cast<unsigned>(num_blocks), kBlockSize, 0,
                     static_cast<cudaStream_t>(stream)>>>(values, num_values, counts, num_bins);
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace pybind_ops

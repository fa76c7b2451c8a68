// SPDX-License-Identifier: Apache-2.0
// The last step of sums over all rows: blocks have added up some rows each and left a part, `width`
// floats; here the parts are added up, always in the same order. A block takes kColumns columns:
// fewer of narrow rows, so that there are blocks for all multiprocessors.
#pragma once

#include <cuda_runtime.h>
#include <cudaops/check.h>

#include "device_types.cuh"
#include "hopper.cuh"

namespace cudaops_kernels {
namespace detail {

constexpr int kPartsThreads = 512;
constexpr int kMostSums = 2;

// One or two sums a column: the parts of each follow those of the one before, and each has its
// place; null: it isn't wanted.
struct SumsOfParts {
  const float* parts;
  int64_t num_parts;  // fits 32 bits
  int64_t width;
  void* sums[kMostSums];
};

// blockIdx.y: which sum.
template <typename T, int kColumns>
__global__ void __launch_bounds__(kPartsThreads) add_parts_kernel(const SumsOfParts call) {
  constexpr int kRows = kPartsThreads / kColumns, kWarps = kPartsThreads / 32;
  // Loads in flight: there are few parts, and each waits for memory.
  constexpr int kLoads = 8;
  __shared__ float of_warps[kWarps][kColumns];
  wait_for_kernels_before();
  let_next_kernel_start();
  T* const sums = static_cast<T*>(blockIdx.y == 0 ? call.sums[0] : call.sums[1]);
  if (sums == nullptr) return;
  const int thread = static_cast<int>(threadIdx.x), own_column = thread % kColumns;
  const int64_t column = int64_t{blockIdx.x} * kColumns + own_column;
  const bool exists = column < call.width;
  const int num_parts = exists ? static_cast<int>(call.num_parts) : 0;
  const int64_t step = call.width * kRows;
  int part = thread / kColumns;
  const float* at = call.parts + (blockIdx.y * call.num_parts + part) * call.width + column;
  float sum = 0;
  while (part < num_parts) {
    float several[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      several[i] = part < num_parts ? *at : 0;
      part += kRows;
      at += step;
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) sum += several[i];
  }
#pragma unroll
  for (int lanes = 16; lanes >= kColumns; lanes /= 2) {
    sum += cudaops::shfl_xor(sum, lanes, 32);
  }
  if (thread % 32 < kColumns) of_warps[thread / 32][own_column] = sum;
  __syncthreads();
  if (thread >= kColumns || !exists) return;
  sum = 0;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) sum += of_warps[warp][own_column];
  sums[column] = from_float<T>(sum);
}

// For for_device_type(): T is the sums' type.
struct AddParts {
  template <typename T>
  static void run(const SumsOfParts& call, int num_sums, cudaStream_t stream) {
    if (call.width > 4096) {
      launch<T, 32>(call, num_sums, stream);
    } else if (call.width > 2048) {
      launch<T, 16>(call, num_sums, stream);
    } else {
      launch<T, 8>(call, num_sums, stream);
    }
  }

 private:
  template <typename T, int kColumns>
  static void launch(const SumsOfParts& call, int num_sums, cudaStream_t stream) {
    const dim3 grid(num_blocks(call.width, kColumns), static_cast<unsigned int>(num_sums));
    launch_overlapping(&add_parts_kernel<T, kColumns>, grid, dim3(kPartsThreads), stream, call);
  }
};

}  // namespace detail
}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// The same on Hopper's tensor cores: one warpgroup (128 threads) a tile of 64 x 8, with wgmma,
// which only sm_90a has. Both operands are read from shared memory, 16 of k at a time.
#include <cudaops/check.h>

#include "matmul.h"

namespace matmul {
namespace {

constexpr int kTileM = 64;
constexpr int kTileN = 8;
constexpr int kTileK = 16;
constexpr int kBlockSize = 128;

// wgmma reads tiles as core matrices of 8 rows by 16 bytes, each in 128 contiguous bytes (PTX ISA,
// "matrix-descriptor", no swizzle). Here the two along k are neighbours.
constexpr int kChunk = 8;  // elements in 16 bytes
constexpr int kCoreMatrix = 8 * kChunk;
constexpr int kStrideK = 128;         // bytes to the next core matrix along k
constexpr int kStrideRows = 2 * 128;  // and along m or n

__device__ uint64_t descriptor(const uint16_t* tile) {
  const auto address = static_cast<uint64_t>(__cvta_generic_to_shared(tile));
  return ((address & 0x3ffff) >> 4) | (uint64_t{kStrideK >> 4} << 16) |
         (uint64_t{kStrideRows >> 4} << 32);
}

// Eight elements of a row, zeros beyond the matrix's edge.
__device__ void load_chunk(uint16_t* tile, const uint16_t* matrix, int64_t num_rows, int64_t num_k,
                           int64_t first_row, int64_t first_k, int index) {
  const int row = index / 2, half = index % 2;
  uint16_t* to = tile + (row / 8 * 2 + half) * kCoreMatrix + row % 8 * kChunk;
  for (int i = 0; i < kChunk; ++i) {
    const int64_t m = first_row + row, k = first_k + half * kChunk + i;
    to[i] = m < num_rows && k < num_k ? matrix[m * num_k + k] : 0;
  }
}

__global__ void __launch_bounds__(kBlockSize) hopper_kernel(Problem problem) {
  alignas(128) __shared__ uint16_t a_tile[kTileM * kTileK];
  alignas(128) __shared__ uint16_t b_tile[kTileN * kTileK];
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t first_m = int64_t{blockIdx.x} * kTileM, first_n = int64_t{blockIdx.y} * kTileN;

  float sum[4] = {0, 0, 0, 0};
  for (int64_t k = 0; k < problem.num_k; k += kTileK) {
    load_chunk(a_tile, problem.a, problem.num_m, problem.num_k, first_m, k, thread);
    if (thread < 2 * kTileN) {
      load_chunk(b_tile, problem.b, problem.num_n, problem.num_k, first_n, k, thread);
    }
    // wgmma reads shared memory by another way than the stores above took.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, "
        "0;"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "l"(descriptor(a_tile)), "l"(descriptor(b_tile))
        : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])::"memory");
    __syncthreads();
  }

  // A thread holds two neighbours in each of two rows.
  const int lane = thread % 32;
  const int64_t m = first_m + thread / 32 * 16 + lane / 4, n = first_n + lane % 4 * 2;
  for (int i = 0; i < 4; ++i) {
    const int64_t row = m + i / 2 * 8, column = n + i % 2;
    if (row < problem.num_m && column < problem.num_n) {
      problem.out[row * problem.num_n + column] = sum[i];
    }
  }
}

}  // namespace

bool is_hopper() {
  int device = 0, major = 0, minor = 0;
  CUDAOPS_CHECK(cudaGetDevice(&device));
  CUDAOPS_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  CUDAOPS_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return major == 9 && minor == 0;
}

void launch_hopper(const Problem& problem, void* stream) {
  if (problem.num_m == 0 || problem.num_n == 0) return;  // a grid of 0 blocks is a launch error
  const dim3 grid(static_cast<unsigned>((problem.num_m + kTileM - 1) / kTileM),
                  static_cast<unsigned>((problem.num_n + kTileN - 1) / kTileN));
  hopper_kernel<<<grid, kBlockSize, 0, static_cast<cudaStream_t>(stream)>>>(problem);
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace matmul

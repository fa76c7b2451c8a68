// SPDX-License-Identifier: Apache-2.0
// The steps of a reduction over a row's threads: within 32 lanes, then over what warps have left in
// shared memory. The order of operations depends on the number of threads alone.
#pragma once

#include <cudaops/gpu_compat.h>

#include <cstdint>
#include <type_traits>

#include "../cluster.cuh"
#include "../vectors.cuh"

namespace cudaops_kernels {

// What the warps of a block, and the blocks of a cluster, exchange in a reduction. Double-buffered:
// a buffer is written again only after the barrier of the reduction between, so one barrier a
// reduction is enough.
struct RowScratch {
  static constexpr int kMaxValueBytes = 16;
  alignas(16) char warps[2][32 * kMaxValueBytes];
  alignas(16) char blocks[2][kMaxClusterSize * kMaxValueBytes];
};

namespace detail {

constexpr int kReduceLanes = 32;  // on GPUs with warps of 64 too: the same bits everywhere

struct AddValues {
  template <typename Value>
  __device__ __forceinline__ Value operator()(const Value& a, const Value& b) const {
    return a + b;
  }
};

// The larger of two non-negative floats, by their bits.
struct MaxOfBits {
  __device__ __forceinline__ uint32_t operator()(uint32_t a, uint32_t b) const {
    return a < b ? b : a;
  }
};

// Over kLanes neighbours.
template <int kLanes, typename Value, typename Op>
__device__ __forceinline__ Value reduce_over_group(Value value, const Op& op) {
#if !CUDAOPS_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  // redux.sync, which only integers have.
  if constexpr (std::is_same<Op, MaxOfBits>::value && kLanes == kReduceLanes) {
    return __reduce_max_sync(cudaops::kAllLanes, value);
  } else
#endif
  {
    return cudaops::warp_reduce(value, op, kLanes);
  }
}

// The block's value, from one a warp. kMayBeFew: blocks of up to four warps shuffle twice rather
// than five times; pairs are added in the same order, except those that don't exist.
template <bool kMayBeFew, typename Value, typename Op>
__device__ __forceinline__ Value reduce_over_warps(void* buffer, Value value, const Value& identity,
                                                   const Op& op) {
  constexpr int kFewWarps = 4;
  Value* const warps = static_cast<Value*>(buffer);
  const int block_threads = blockDim.x;
  const int lane = threadIdx.x % kReduceLanes, num_warps = block_threads / kReduceLanes;
  if (lane == 0) warps[threadIdx.x / kReduceLanes] = value;
  __syncthreads();
  const bool are_few = kMayBeFew && num_warps <= kFewWarps;
  const int own = are_few ? lane % kFewWarps : lane;
  value = own < num_warps ? warps[own] : identity;
  return are_few ? reduce_over_group<kFewWarps>(value, op)
                 : reduce_over_group<kReduceLanes>(value, op);
}

}  // namespace detail
}  // namespace cudaops_kernels

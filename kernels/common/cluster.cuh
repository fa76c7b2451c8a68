// SPDX-License-Identifier: Apache-2.0
// Thread block clusters (sm_90 and later): blocks that run at the same time and write into each
// other's shared memory. PTX ISA, barrier.cluster and mapa.
#pragma once

#include <cstdint>
#include <cstring>

#include "hopper.cuh"

namespace cudaops_kernels {

// The most blocks that every GPU with clusters can run as one.
constexpr int kMaxClusterSize = 8;

#if CUDAOPS_HAS_HOPPER

__device__ __forceinline__ unsigned int cluster_rank() {
  unsigned int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ unsigned int cluster_size() {
  unsigned int size;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}

// Threads of all blocks; what was written before arriving is seen after waiting.
__device__ __forceinline__ void arrive_at_cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void wait_at_cluster_barrier() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// A word into the shared memory of block `rank`, at the address that `own` has in this block's.
__device__ __forceinline__ void store_in_cluster(void* own, unsigned int rank, uint32_t word) {
  uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(shared_address(own)), "r"(rank));
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(word) : "memory");
}

// The same of four words.
__device__ __forceinline__ void store_in_cluster(float4* own, unsigned int rank,
                                                 const float4& numbers) {
  uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(shared_address(own)), "r"(rank));
  asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(remote), "f"(numbers.x),
               "f"(numbers.y), "f"(numbers.z), "f"(numbers.w)
               : "memory");
}

// The blocks' values, reduced in the order of their ranks; all threads get the result. Each thread
// of a block brings the same value; of kEach values a block, threads kMaxClusterSize * i and the
// next ones bring the i-th. `slots`: kMaxClusterSize values, at one place in all blocks; free again
// after a next reduction with other slots.
template <int kEach = 1, typename Value, typename Op>
__device__ __forceinline__ Value reduce_over_cluster(void* slots, const Value& value,
                                                     const Value& identity, const Op& op) {
  static_assert(sizeof(Value) % 4 == 0, "wanted whole words");
  constexpr int kWords = sizeof(Value) / 4;
  Value* const values = static_cast<Value*>(slots);
  const unsigned int rank = kEach == 1 ? threadIdx.x : threadIdx.x % kMaxClusterSize;
  const unsigned int which = kEach == 1 ? 0 : threadIdx.x / kMaxClusterSize;
  if (which < kEach && rank < cluster_size()) {
    uint32_t words[kWords];
    memcpy(words, &value, sizeof value);
    uint32_t* const own = reinterpret_cast<uint32_t*>(values + kEach * cluster_rank() + which);
#pragma unroll
    for (int i = 0; i < kWords; ++i) store_in_cluster(own + i, rank, words[i]);
  }
  arrive_at_cluster_barrier();
  wait_at_cluster_barrier();
  Value result = identity;
  for (unsigned int i = 0; i < kEach * cluster_size(); ++i) result = op(result, values[i]);
  return result;
}

#endif

}  // namespace cudaops_kernels

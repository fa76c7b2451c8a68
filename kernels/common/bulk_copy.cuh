// SPDX-License-Identifier: Apache-2.0
// Hopper's copy engine (sm_90 and later): memory to shared memory without registers, completion on
// a barrier in shared memory, and sums the other way. PTX ISA, cp.async.bulk, cp.reduce.async.bulk
// and mbarrier.
#pragma once

#include <cstdint>

#include "hopper/mbarrier.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_HOPPER

// Addresses and size are multiples of 16.
__device__ __forceinline__ void copy_to_shared(void* to, const void* from, uint32_t bytes,
                                               uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}
// One number, which need not lie at a multiple of 16 bytes.
__device__ __forceinline__ void copy_to_shared(float* to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(to)), "l"(from)
               : "memory");
}
// Until all numbers that this thread copies are there: for others after a barrier of the block.
__device__ __forceinline__ void wait_for_numbers() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// Numbers in shared memory are added to as many in memory; addresses and size are multiples of 16.
// What was written to shared memory by ordinary stores is fenced before (hopper/wgmma.cuh).
__device__ __forceinline__ void add_to_memory(float* to, const void* from, uint32_t bytes) {
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to),
      "r"(shared_address(from)), "r"(bytes)
      : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Until all that this thread adds has been read from shared memory, and until it is added.
__device__ __forceinline__ void wait_for_reads() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ __forceinline__ void wait_for_additions() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#endif

}  // namespace cudaops_kernels

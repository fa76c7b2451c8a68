// SPDX-License-Identifier: Apache-2.0
// Barriers in shared memory (sm_90 and later) that count arrivals of threads and bytes of the copy
// engine. PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
//
// A barrier is in one phase at a time. A phase completes when all arrivals and all announced bytes
// have come; the next begins at once. wait_for_phase(barrier, parity) returns when the phase of
// that parity is complete; the first phase has parity 0. For a barrier in its first phase the phase
// before it, of parity 1, counts as complete: one who waits for room in an empty buffer starts with
// parity 1 and does not block.
#pragma once

#include <cstdint>

#include "../hopper.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_HOPPER

// `arrivals` of them complete a phase, together with the bytes that they announce.
__device__ __forceinline__ void init_barrier(uint64_t* barrier, uint32_t arrivals = 1) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
// Makes initialised barriers visible to the copy engine.
__device__ __forceinline__ void fence_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}
// An arrival that announces bytes.
__device__ __forceinline__ void expect_bytes(uint64_t* barrier, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
__device__ __forceinline__ void wait_for_phase(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{\n"
      "  .reg .pred done;\n"
      "again:\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "  @!done bra again;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

#endif

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// Counters in device memory of work that other blocks wait for (sm_90 and later). PTX ISA, "red",
// "ld" with .release and .acquire.
#pragma once

#include "../hopper.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_HOPPER

// By one thread, when what it counts is done.
__device__ __forceinline__ void count(int* counter) {
  asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(counter) : "memory");
}
// Until so much is counted; by one thread.
__device__ __forceinline__ void wait_for_count(const int* counter, int wanted) {
  int found;
  do {
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(found) : "l"(counter) : "memory");
  } while (found < wanted);
  asm volatile("fence.proxy.async.global;" ::: "memory");  // for what the copy engine does next
}

#endif

}  // namespace cudaops_kernels

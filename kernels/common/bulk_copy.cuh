// SPDX-License-Identifier: Apache-2.0
// Hopper's copy engine (sm_90 and later): memory to shared memory without registers, completion on
// a barrier in shared memory. PTX ISA, cp.async.bulk and mbarrier.
//
// Code for it is compiled where CUDAOPS_HAS_BULK_COPY; a launcher asks has_bulk_copy(kernel),
// because what the binary holds for this device decides, not the device.
#pragma once

#include <cuda_runtime.h>
#include <cudaops/gpu_compat.h>

#include <cstdint>

#if !CUDAOPS_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define CUDAOPS_HAS_BULK_COPY 1
#else
#define CUDAOPS_HAS_BULK_COPY 0
#endif

namespace cudaops_kernels {

#if CUDAOPS_HAS_BULK_COPY

__device__ __forceinline__ uint32_t shared_address(const void* data) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(data));
}

// One arrival completes a phase, together with the bytes that it announces.
__device__ __forceinline__ void init_barrier(uint64_t* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
}
// Makes initialised barriers visible to the copy engine.
__device__ __forceinline__ void fence_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
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
// Addresses and size are multiples of 16.
__device__ __forceinline__ void copy_to_shared(void* to, const void* from, uint32_t bytes,
                                               uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

#endif

#if !CUDAOPS_HIP

// Whether the code of this kernel that runs on the current device was compiled for sm_90 or later.
// The answer of the first call is kept for each device.
template <typename Kernel>
bool has_bulk_copy(Kernel* kernel, signed char (&known)[64]) {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device >= 64) return false;
  if (known[device] == 0) {
    cudaFuncAttributes attributes;
    const bool answered =
        cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)) == cudaSuccess;
    if (!answered) (void)cudaGetLastError();
    known[device] =
        answered && attributes.binaryVersion >= 90 && attributes.ptxVersion >= 90 ? 1 : -1;
  }
  return known[device] > 0;
}

#endif

}  // namespace cudaops_kernels

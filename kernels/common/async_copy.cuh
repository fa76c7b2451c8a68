// SPDX-License-Identifier: Apache-2.0
// Copies from device to shared memory that need no registers (PTX ISA: cp.async), for sm_80 and
// later, where CUDAOPS_HAS_ASYNC_COPY.
#pragma once

#include <cudaops/gpu_compat.h>

#include <cstdint>

#if !CUDAOPS_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define CUDAOPS_HAS_ASYNC_COPY 1
#else
#define CUDAOPS_HAS_ASYNC_COPY 0
#endif

namespace cudaops_kernels {

#if CUDAOPS_HAS_ASYNC_COPY

// Shared memory, in bytes: 32 bits, and offsets that are part of an instruction.
using SharedAddress = uint32_t;
__device__ __forceinline__ SharedAddress shared_address(const void* data) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(data));
}

// The first `bytes` of sixteen, and zeros behind them; both addresses are multiples of 16. Past the
// first-level cache.
__device__ __forceinline__ void begin_partial_copy(SharedAddress to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
               "l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
}
// Sixteen bytes, or zeros where `is_there` is false.
__device__ __forceinline__ void begin_copy(SharedAddress to, const void* from, bool is_there) {
  begin_partial_copy(to, from, is_there ? 16 : 0);
}
__device__ __forceinline__ void begin_copy(SharedAddress to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
               "l"(__cvta_generic_to_global(from))
               : "memory");
}
// Likewise, of what is read once: in the second-level cache it makes room before other data does.
__device__ __forceinline__ void begin_copy_once(SharedAddress to, const void* from) {
  // What ptxas makes of createpolicy.fractional.L2::evict_first with 1.0 (and CUTLASS passes as
  // EVICT_FIRST): of a constant it makes uniform registers, where each copy wants it, once.
  constexpr uint64_t kEvictFirst = 0x12f0000000000000;
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to),
               "l"(__cvta_generic_to_global(from)), "l"(kEvictFirst)
               : "memory");
}
// The 128 bytes with this address to the second-level cache.
__device__ __forceinline__ void prefetch_line(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(address)));
}
// What was begun since the last such call is a group.
__device__ __forceinline__ void close_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Until at most kOpen of this thread's latest groups are under way.
template <int kOpen>
__device__ __forceinline__ void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kOpen) : "memory");
}
// Until all of this thread's are done.
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

#endif

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// One .cu for CUDA and HIP: what differs in more than its name.
//
//   #include <cudaops/gpu_compat.h>
//
//   __global__ void row_sum_kernel(const cudaops::bfloat16* input, float* out, int row_size) {
//     constexpr int kWarpSize = cudaops::warp_size();
//     float sum = 0;
//     for (int i = cudaops::lane_id(); i < row_size; i += kWarpSize) {
//       sum += cudaops::to_float(input[blockIdx.x * row_size + i]);
//     }
//     sum = cudaops::warp_sum(sum);
//     if (cudaops::lane_id() == 0) out[blockIdx.x] = sum;
//   }
//
// Names that differ (cudaMalloc, cudaStream_t, cuda_fp16.h, launches, cooperative groups) are
// written as in CUDA; hipify translates them. This header has what hipify can't translate:
//
//   written here                        on CUDA                     on HIP
//   ---------------------------------------------------------------------------------------------
//   CUDAOPS_HIP                         0                           1
//   CUDAOPS_DEVICE_CODE                 1 in the passes for a       the same; __CUDA_ARCH__ is not
//                                       device, else 0              defined there
//   warp_size()          device code    32                          64 (GCN, CDNA) or 32 (RDNA)
//   device_warp_size(d)  host code      asked from the runtime      the same
//   lane_id()                           %laneid                     __lane_id()
//   LaneMask, kAllLanes                 32 bits                     64 bits
//   shfl shfl_up shfl_down shfl_xor     __shfl_*_sync               __shfl_*; *_sync since 6.2,
//   with
//                                                                   64-bit masks
//   ballot any all active_lanes         __*_sync, __activemask      __ballot
//   count_lanes first_lane              __popc, __ffs               __popcll, __ffsll
//   sync_warp()                         __syncwarp()                a fence and a wave barrier
//   warp_reduce warp_sum _max _min      shuffles                    shuffles; cg::reduce is missing
//   bfloat16                            __nv_bfloat16               __hip_bfloat16; before ROCm 6.1
//                                                                   hip_bfloat16
//   to_float from_float<T>              __bfloat162float …          the type's own conversion
//   atomic_add                          atomicAdd                   atomicAdd; float16 and bfloat16
//                                                                   by compare-and-swap
//   ldg(pointer)                        __ldg                       a plain load
//   allow_dynamic_shared_memory(k, n)   cudaFuncSetAttribute        takes the kernel as const void*
//
// Rules that hold for both:
// - warp_size() is a constant (array sizes, template arguments), for device code only: the kernels
//   of a host function may run on devices of both sizes, so that it is an error there. (HIP's
//   warpSize is a constant up to ROCm 6, not from ROCm 7 on.)
// - A shuffle's `width` is a power of two, at most warp_size(): groups of that many neighbouring
//   lanes shuffle among themselves. With width 32 a kernel adds in the same order on every GPU.
// - `lanes` is the mask of participating lanes, as for CUDA's *_sync functions; all of them must
//   reach the call. On HIP the hardware knows the active lanes; only ballot, any and all use it.
// - Any trivially copyable value can be shuffled.
//
// HIP has no launch attributes (clusters, programmatic launches), inline PTX or mma: put them in
// #if !CUDAOPS_HIP. For a host compiler there are CUDAOPS_HIP, CUDAOPS_DEVICE_CODE and
// device_warp_size() only.
#pragma once

#include "detail/gpu_runtime.h"
#include "error.h"

#if defined(__CUDA_ARCH__) || (defined(__HIP_DEVICE_COMPILE__) && __HIP_DEVICE_COMPILE__)
#define CUDAOPS_DEVICE_CODE 1
#else
#define CUDAOPS_DEVICE_CODE 0
#endif

#if defined(CUDAOPS_GPU)

namespace cudaops {

// Lanes a warp of that device. Throws std::runtime_error if the runtime can't say.
inline int device_warp_size(int device) {
  int size = 0;
  const CUDAOPS_GPU(Error_t) error =
      CUDAOPS_GPU(DeviceGetAttribute)(&size, CUDAOPS_GPU_ATTRIBUTE(WarpSize), device);
  if (error == CUDAOPS_GPU(Success)) return size;
  // Otherwise the next check of a launch would report this error.
  (void)CUDAOPS_GPU(GetLastError)();
  ErrorText text;
  text << "device " << device << " has no warp size: " << CUDAOPS_GPU(GetErrorName)(error) << ", "
       << CUDAOPS_GPU(GetErrorString)(error);
  throw_runtime_error(text.c_str());
}

}  // namespace cudaops

#endif

#if defined(__CUDACC__) || defined(__HIP__)

#if CUDAOPS_HIP
#include <hip/hip_fp16.h>
// 5.7 and 6.0 have hip_bf16.h too, but define functions in it that are not inline: two files that
// include it don't link.
#if HIP_VERSION_MAJOR > 6 || (HIP_VERSION_MAJOR == 6 && HIP_VERSION_MINOR >= 1)
#include <hip/hip_bf16.h>
#define CUDAOPS_HIP_HAS_BF16 1
#else
#include <hip/hip_bfloat16.h>
#define CUDAOPS_HIP_HAS_BF16 0
#endif
#if CUDAOPS_DEVICE_CODE && defined(__SPIRV__)
#error \
    "cudaops/gpu_compat.h: amdgcnspirv has no warp size at compile time; name gfx targets instead"
#endif
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace cudaops {

// ---------------------------------------------------------------------------------------------------
// The warp

__device__ constexpr int warp_size() {
#if CUDAOPS_HIP && CUDAOPS_DEVICE_CODE && defined(__AMDGCN_WAVEFRONT_SIZE) && __clang_major__ < 20
  return __AMDGCN_WAVEFRONT_SIZE;  // deprecated from clang 20 on
#elif CUDAOPS_HIP && CUDAOPS_DEVICE_CODE && \
    (defined(__GFX6__) || defined(__GFX7__) || defined(__GFX8__) || defined(__GFX9__))
  return 64;
#else
  // RDNA, CUDA, and HIP's host pass, which generates no code from it; a block that is a multiple of
  // 64 lanes is a multiple of 32.
  return 32;
#endif
}

#if CUDAOPS_HIP
using LaneMask = uint64_t;
#else
using LaneMask = uint32_t;
#endif

constexpr LaneMask kAllLanes = ~LaneMask{0};

// The caller's place in its warp. threadIdx.x % warp_size() is that in one-dimensional blocks only.
__device__ __forceinline__ int lane_id() {
#if CUDAOPS_HIP
  return static_cast<int>(__lane_id());
#else
  unsigned int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return static_cast<int>(lane);
#endif
}

__device__ __forceinline__ LaneMask active_lanes() {
#if CUDAOPS_HIP
  return __ballot(1);
#else
  return __activemask();
#endif
}

__device__ __forceinline__ LaneMask ballot(bool predicate, LaneMask lanes = kAllLanes) {
#if CUDAOPS_HIP
  return __ballot(predicate) & lanes;
#else
  return __ballot_sync(lanes, predicate);
#endif
}

__device__ __forceinline__ bool any(bool predicate, LaneMask lanes = kAllLanes) {
#if CUDAOPS_HIP
  return ballot(predicate, lanes) != 0;
#else
  return __any_sync(lanes, predicate) != 0;
#endif
}

__device__ __forceinline__ bool all(bool predicate, LaneMask lanes = kAllLanes) {
#if CUDAOPS_HIP
  return ballot(!predicate, lanes) == 0;
#else
  return __all_sync(lanes, predicate) != 0;
#endif
}

__device__ __forceinline__ int count_lanes(LaneMask lanes) {
#if CUDAOPS_HIP
  return __popcll(lanes);
#else
  return __popc(lanes);
#endif
}

// The lowest lane in the mask, -1 if there is none.
__device__ __forceinline__ int first_lane(LaneMask lanes) {
#if CUDAOPS_HIP
  return __ffsll(static_cast<unsigned long long>(lanes)) - 1;
#else
  return __ffs(static_cast<int>(lanes)) - 1;
#endif
}

// Makes what the warp's lanes wrote to memory visible to all of them.
__device__ __forceinline__ void sync_warp(LaneMask lanes = kAllLanes) {
#if CUDAOPS_HIP
  (void)lanes;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#else
  __syncwarp(lanes);
#endif
}

// ---------------------------------------------------------------------------------------------------
// Shuffles

namespace detail {

enum class Shuffle { kIndex, kUp, kDown, kXor };

template <Shuffle kKind>
__device__ __forceinline__ uint32_t shuffled_word(uint32_t value, int argument, int width,
                                                  LaneMask lanes) {
  const unsigned int delta = static_cast<unsigned int>(argument);
#if CUDAOPS_HIP
  (void)lanes;
  if constexpr (kKind == Shuffle::kUp) return __shfl_up(value, delta, width);
  if constexpr (kKind == Shuffle::kDown) return __shfl_down(value, delta, width);
  if constexpr (kKind == Shuffle::kXor) return __shfl_xor(value, argument, width);
  return __shfl(value, argument, width);
#else
  if constexpr (kKind == Shuffle::kUp) return __shfl_up_sync(lanes, value, delta, width);
  if constexpr (kKind == Shuffle::kDown) return __shfl_down_sync(lanes, value, delta, width);
  if constexpr (kKind == Shuffle::kXor) return __shfl_xor_sync(lanes, value, argument, width);
  return __shfl_sync(lanes, value, argument, width);
#endif
}

// By 32-bit words, as the hardware does it, for every type. From the last word to the first, as
// CUDA's shuffle of a double, for the same instructions.
template <Shuffle kKind, typename T>
__device__ __forceinline__ T shuffled(T value, int argument, int width, LaneMask lanes) {
  static_assert(std::is_trivially_copyable<T>::value, "only plain values can be shuffled");
  constexpr int kNumWords = (sizeof(T) + 3) / 4;
  uint32_t words[kNumWords] = {};
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = kNumWords - 1; i >= 0; --i) {
    words[i] = shuffled_word<kKind>(words[i], argument, width, lanes);
  }
  memcpy(&value, words, sizeof(T));
  return value;
}

}  // namespace detail

// The value of the group's lane `lane` (modulo width).
template <typename T>
__device__ __forceinline__ T shfl(T value, int lane, int width = warp_size(),
                                  LaneMask lanes = kAllLanes) {
  return detail::shuffled<detail::Shuffle::kIndex>(value, lane, width, lanes);
}

// The value of the lane `delta` below; lanes without one keep their own.
template <typename T>
__device__ __forceinline__ T shfl_up(T value, int delta, int width = warp_size(),
                                     LaneMask lanes = kAllLanes) {
  return detail::shuffled<detail::Shuffle::kUp>(value, delta, width, lanes);
}

// The value of the lane `delta` above; lanes without one keep their own.
template <typename T>
__device__ __forceinline__ T shfl_down(T value, int delta, int width = warp_size(),
                                       LaneMask lanes = kAllLanes) {
  return detail::shuffled<detail::Shuffle::kDown>(value, delta, width, lanes);
}

// The value of lane (own lane ^ lane_mask).
template <typename T>
__device__ __forceinline__ T shfl_xor(T value, int lane_mask, int width = warp_size(),
                                      LaneMask lanes = kAllLanes) {
  return detail::shuffled<detail::Shuffle::kXor>(value, lane_mask, width, lanes);
}

// ---------------------------------------------------------------------------------------------------
// Reductions: every lane of a group of `width` lanes gets the same bits. All lanes of the warp must
// take part.

// op(a, b) must be commutative; the order of the pairs depends on width alone.
template <typename T, typename Op>
__device__ __forceinline__ T warp_reduce(T value, Op op, int width = warp_size()) {
#pragma unroll
  for (int distance = warp_size() / 2; distance > 0; distance /= 2) {
    if (distance < width) value = op(value, shfl_xor(value, distance, width));
  }
  return value;
}

namespace detail {

struct Add {
  template <typename T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Max {
  template <typename T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Min {
  template <typename T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

}  // namespace detail

// For arithmetic types: convert 16-bit values with to_float() first. warp_sum propagates NaN; with
// warp_max and warp_min the result is unspecified if a value is NaN.
template <typename T>
__device__ __forceinline__ T warp_sum(T value, int width = warp_size()) {
  static_assert(std::is_arithmetic<T>::value, "not an arithmetic type: use to_float() first");
  return warp_reduce(value, detail::Add{}, width);
}
template <typename T>
__device__ __forceinline__ T warp_max(T value, int width = warp_size()) {
  static_assert(std::is_arithmetic<T>::value, "not an arithmetic type: use to_float() first");
  return warp_reduce(value, detail::Max{}, width);
}
template <typename T>
__device__ __forceinline__ T warp_min(T value, int width = warp_size()) {
  static_assert(std::is_arithmetic<T>::value, "not an arithmetic type: use to_float() first");
  return warp_reduce(value, detail::Min{}, width);
}

// ---------------------------------------------------------------------------------------------------
// 16-bit types. __half has one name and one set of conversions on both sides.

#if !CUDAOPS_HIP
using bfloat16 = __nv_bfloat16;
#elif CUDAOPS_HIP_HAS_BF16
using bfloat16 = __hip_bfloat16;
#else
using bfloat16 = hip_bfloat16;
#endif

__device__ __forceinline__ float to_float(float value) { return value; }
__device__ __forceinline__ float to_float(__half value) { return __half2float(value); }
__device__ __forceinline__ float to_float(bfloat16 value) {
#if !CUDAOPS_HIP || CUDAOPS_HIP_HAS_BF16
  return __bfloat162float(value);
#else
  return static_cast<float>(value);
#endif
}

// Rounds to nearest, ties to even.
template <typename T>
__device__ __forceinline__ T from_float(float value);
template <>
__device__ __forceinline__ float from_float<float>(float value) {
  return value;
}
template <>
__device__ __forceinline__ __half from_float<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ __forceinline__ bfloat16 from_float<bfloat16>(float value) {
#if !CUDAOPS_HIP
  return __float2bfloat16_rn(value);
#elif CUDAOPS_HIP_HAS_BF16
  return __float2bfloat16(value);
#else
  return bfloat16(value);
#endif
}

// ---------------------------------------------------------------------------------------------------
// Memory

namespace detail {

// Adds to one half of the aligned 32-bit word around the element. Another thread's change of the
// other half makes the swap fail and be tried again, so that neither is lost.
template <typename T>
__device__ __forceinline__ T atomic_add_in_word(T* address, T value) {
  static_assert(sizeof(T) == 2, "not a 16-bit type");
  const uintptr_t location = reinterpret_cast<uintptr_t>(address);
  unsigned int* word = reinterpret_cast<unsigned int*>(location & ~uintptr_t{2});
  const unsigned int shift = (location & 2) != 0 ? 16 : 0;
  unsigned int seen = *word;
  while (true) {
    const uint16_t old_bits = static_cast<uint16_t>(seen >> shift);
    T old;
    memcpy(&old, &old_bits, sizeof(T));
    const T sum = from_float<T>(to_float(old) + to_float(value));
    uint16_t sum_bits;
    memcpy(&sum_bits, &sum, sizeof(T));
    const unsigned int wanted = (seen & ~(0xffffu << shift)) | (unsigned{sum_bits} << shift);
    const unsigned int found = atomicCAS(word, seen, wanted);
    if (found == seen) return old;
    seen = found;
  }
}

}  // namespace detail

// Adds, and returns the old value. Relaxed order, device scope, like atomicAdd.
template <typename T>
__device__ __forceinline__ T atomic_add(T* address, T value) {
  return atomicAdd(address, value);
}
template <>
__device__ __forceinline__ __half atomic_add<__half>(__half* address, __half value) {
#if CUDAOPS_HIP || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700)
  return detail::atomic_add_in_word(address, value);
#else
  return atomicAdd(address, value);
#endif
}
template <>
__device__ __forceinline__ bfloat16 atomic_add<bfloat16>(bfloat16* address, bfloat16 value) {
#if CUDAOPS_HIP || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800)
  return detail::atomic_add_in_word(address, value);
#else
  return atomicAdd(address, value);
#endif
}

// A load through the read-only cache, for memory that isn't written while the kernel runs.
template <typename T>
__device__ __forceinline__ T ldg(const T* address) {
#if CUDAOPS_HIP
  return *address;
#else
  return __ldg(address);
#endif
}

// ---------------------------------------------------------------------------------------------------
// Host side

// Before a launch with more dynamic shared memory than 48 KiB. Returns the runtime's error:
// CUDAOPS_CHECK(cudaops::allow_dynamic_shared_memory(my_kernel<float>, num_bytes)).
template <typename Kernel>
CUDAOPS_GPU(Error_t)
allow_dynamic_shared_memory(Kernel* kernel, int num_bytes) {
  return CUDAOPS_GPU(FuncSetAttribute)(reinterpret_cast<const void*>(kernel),
                                       CUDAOPS_GPU(FuncAttributeMaxDynamicSharedMemorySize),
                                       num_bytes);
}

}  // namespace cudaops

#endif  // __CUDACC__ || __HIP__

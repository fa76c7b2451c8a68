// SPDX-License-Identifier: Apache-2.0
// A warp's matrix products by mma.sync, and what feeds them: copies to shared memory that need no
// registers, loads of fragments. For sm_80 and later, where CUDAOPS_HAS_TENSOR_CORES; section
// numbers are those of the PTX ISA 9.0, 9.7.
//
// Lane l of a warp has, with g = l / 4 and t = l % 4 (9.7.14.5.8, mma.m16n8k16):
//   A, 16 x 16, four words  rows g and g + 8, columns 2t, 2t + 1; then columns 8 + 2t, 9 + 2t
//   B, 16 x 8, two words    rows 2t, 2t + 1; then 8 + 2t, 9 + 2t; column g
//   C, 16 x 8, four floats  row g, columns 2t, 2t + 1; then row g + 8
#pragma once

#include <cudaops/gpu_compat.h>

#include <cstdint>

#if !CUDAOPS_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define CUDAOPS_HAS_TENSOR_CORES 1
#else
#define CUDAOPS_HAS_TENSOR_CORES 0
#endif

namespace cudaops_kernels {

#if CUDAOPS_HAS_TENSOR_CORES

namespace tensor_cores {

__device__ __forceinline__ uint32_t shared_address(const void* data) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(data));
}

// Sixteen bytes from device to shared memory, zeros instead where `is_there` is false (cp.async,
// 9.7.9.25). Past the first-level cache: each is read once.
__device__ __forceinline__ void copy_16(uint32_t to, const void* from, bool is_there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
               "l"(__cvta_generic_to_global(from)), "r"(is_there ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void copy_16(uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
               "l"(__cvta_generic_to_global(from))
               : "memory");
}
__device__ __forceinline__ void end_group_of_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Until at most kGroups of this thread's groups are on their way.
template <int kGroups>
__device__ __forceinline__ void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

// Four 8 x 8 matrices of 16-bit elements; lanes 8i … 8i + 7 name the rows of matrix i (ldmatrix,
// 9.7.14.5.15). Lane l gets elements 2t and 2t + 1 of row g; transposed: of column g.
struct Four {
  uint32_t word[4];
};
__device__ __forceinline__ Four load_matrices(uint32_t row) {
  Four f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f.word[0]), "=r"(f.word[1]), "=r"(f.word[2]), "=r"(f.word[3])
               : "r"(row)
               : "memory");
  return f;
}
__device__ __forceinline__ Four load_transposed(uint32_t row) {
  Four f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f.word[0]), "=r"(f.word[1]), "=r"(f.word[2]), "=r"(f.word[3])
               : "r"(row)
               : "memory");
  return f;
}

// c += a * b, of 16-bit numbers of type T and float32 sums.
template <typename T>
__device__ __forceinline__ void multiply_add(float (&c)[4], const Four& a, uint32_t b0,
                                             uint32_t b1);
template <>
__device__ __forceinline__ void multiply_add<__half>(float (&c)[4], const Four& a, uint32_t b0,
                                                     uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b0), "r"(b1));
}
template <>
__device__ __forceinline__ void multiply_add<cudaops::bfloat16>(float (&c)[4], const Four& a,
                                                                uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b0), "r"(b1));
}

// Two numbers as one word, the first in the lower half.
template <typename T>
__device__ __forceinline__ uint32_t pack(float first, float second);
template <>
__device__ __forceinline__ uint32_t pack<__half>(float first, float second) {
  uint32_t word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  return word;
}
template <>
__device__ __forceinline__ uint32_t pack<cudaops::bfloat16>(float first, float second) {
  uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  return word;
}

// 2^x by the special function unit; 0 for -infinity.
__device__ __forceinline__ float exp2_fast(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

}  // namespace tensor_cores

#endif

#if !CUDAOPS_HIP

// Whether the code of this kernel that runs on the current device was compiled for `least` (80 of
// sm_80) or later: what the binary holds decides, not the device.
template <typename Kernel>
bool is_compiled_for(Kernel* kernel, int least) {
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  return attributes.binaryVersion >= least && attributes.ptxVersion >= least;
}

#endif

}  // namespace cudaops_kernels

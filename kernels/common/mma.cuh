// SPDX-License-Identifier: Apache-2.0
// Matrix products of a warp on sm_80 and later (PTX ISA: mma.m16n8k16; what feeds them:
// matrices.cuh, async_copy.cuh): C[16 x 8] += A[16 x 16] * B[16 x 8], 16-bit elements, float32
// sums.
//
// Who has what, with lane l: of C, c[0] and c[1] are row l / 4, columns 2 * (l % 4) and the next,
// c[2] and c[3] the same of row l / 4 + 8. Two neighbouring Cs, packed in pairs, are an A: what
// comes out of one product goes into the next without leaving registers.
#pragma once

#include <cuda_runtime.h>
#include <cudaops/gpu_compat.h>

#include <cstdint>
#include <type_traits>

#include "async_copy.cuh"
#include "device_types.cuh"
#include "matrices.cuh"
#if !CUDAOPS_HIP
#include "per_device.cuh"
#endif

#define CUDAOPS_HAS_MMA CUDAOPS_HAS_ASYNC_COPY

namespace cudaops_kernels {

#if !CUDAOPS_HIP

// Each source has a probe of its own: what of one was compiled says nothing of another.
namespace {

// A kernel of the same architectures as all others of the source, which costs nothing to compile.
template <int>
__global__ void mma_probe_kernel() {}

// The architecture, 80 or later, that the code of this source that runs on the current device was
// compiled for; else 0. What the binary holds for this device decides, not the device.
inline int compiled_for_mma() {
  static int known[64];
  return known_for_device(known, [](int) {
    cudaFuncAttributes attributes;
    if (cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&mma_probe_kernel<0>)) !=
        cudaSuccess) {
      (void)cudaGetLastError();
      return 0;
    }
    return attributes.binaryVersion >= 80 && attributes.ptxVersion >= 80 ? attributes.ptxVersion
                                                                         : 0;
  });
}
inline bool is_compiled_for_mma() { return compiled_for_mma() != 0; }

}  // namespace

#endif

#if CUDAOPS_HAS_MMA

template <typename T>
__device__ __forceinline__ void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                             uint32_t b1) {
  if constexpr (std::is_same<T, bfloat16>::value) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

#endif

}  // namespace cudaops_kernels

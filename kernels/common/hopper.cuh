// SPDX-License-Identifier: Apache-2.0
// What code for sm_90 and later needs, whatever it uses of it: it is compiled where
// CUDAOPS_HAS_HOPPER, and a launcher asks is_compiled_for_hopper(kernel), because what the binary
// holds for this device decides, not the device.
#pragma once

#include <cuda_runtime.h>
#include <cudaops/check.h>
#include <cudaops/gpu_compat.h>

#include <cstdint>

#include "async_copy.cuh"
#if !CUDAOPS_HIP
#include "per_device.cuh"
#endif

#if !CUDAOPS_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define CUDAOPS_HAS_HOPPER 1
#else
#define CUDAOPS_HAS_HOPPER 0
#endif

namespace cudaops_kernels {

// For a kernel that is launched by launch_overlapping(), before it reads what kernels before it in
// the stream have written.
__device__ __forceinline__ void wait_for_kernels_before() {
#if CUDAOPS_HAS_HOPPER
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// In the kernel before it, by all blocks: from now on that one may be started as blocks end. What
// it reads it waits for itself.
__device__ __forceinline__ void let_next_kernel_start() {
#if CUDAOPS_HAS_HOPPER
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

#if !CUDAOPS_HIP

// Whether the code of this kernel that runs on the current device was compiled for sm_90 or later.
// The answer of the first call is kept for each device.
template <typename Kernel>
bool is_compiled_for_hopper(Kernel* kernel, int (&known)[64]) {
  return known_for_device(known, [kernel](int) {
           cudaFuncAttributes attributes;
           if (cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)) !=
               cudaSuccess) {
             (void)cudaGetLastError();
             return 0;
           }
           return attributes.binaryVersion >= 90 && attributes.ptxVersion >= 90 ? 1 : 0;
         }) == 1;
}

#endif

#if !CUDAOPS_HIP
// Whether a graph can capture such launches.
constexpr bool kCapturesOverlapping = CUDART_VERSION >= 12030;

// For cudaLaunchKernelEx(): clusters of `size` blocks of a kernel that calls
// wait_for_kernels_before().
struct OverlappingCluster {
  cudaLaunchAttribute of[2] = {};
  unsigned int number = kCapturesOverlapping ? 2 : 1;
  explicit OverlappingCluster(unsigned int size) {
    of[0].id = cudaLaunchAttributeClusterDimension;
    of[0].val.clusterDim.x = size;
    of[0].val.clusterDim.y = of[0].val.clusterDim.z = 1;
    of[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    of[1].val.programmaticStreamSerializationAllowed = 1;
  }
};
#endif

// Launches a kernel that calls wait_for_kernels_before() so that, on sm_90 and later, it is started
// while the one before it ends.
template <typename... Parameters>
void launch_overlapping_with(void (*kernel)(Parameters...), dim3 grid, dim3 block, int shared_bytes,
                             cudaStream_t stream, const Parameters&... arguments) {
#if !CUDAOPS_HIP
  static int known[64];
  if (kCapturesOverlapping && is_compiled_for_hopper(kernel, known)) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = static_cast<size_t>(shared_bytes);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CUDAOPS_CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
    return;
  }
#endif
  kernel<<<grid, block, static_cast<size_t>(shared_bytes), stream>>>(arguments...);
  CUDAOPS_CHECK_LAUNCH();
}
template <typename... Parameters>
void launch_overlapping(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream,
                        const Parameters&... arguments) {
  launch_overlapping_with(kernel, grid, block, 0, stream, arguments...);
}

}  // namespace cudaops_kernels

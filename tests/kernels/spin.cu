// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>
#include <cudaops/check.h>
#include <cudaops/gpu_compat.h>

#include "spin.h"

namespace cudaops_tests {
namespace {

__device__ int64_t now_ns() {
#if !CUDAOPS_HIP
  int64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#elif CUDAOPS_DEVICE_CODE
  return wall_clock64() * 10;  // ticks at 100 MHz from MI200 on
#else
  return 0;  // HIP 5 declares the clock for the device only
#endif
}

__global__ void spin_kernel(int64_t duration_ns) {
  const int64_t end = now_ns() + duration_ns;
  while (now_ns() < end) {
  }
}

}  // namespace

void launch_spin(int64_t duration_ns, void* stream) {
  spin_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(duration_ns);
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace cudaops_tests

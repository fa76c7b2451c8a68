// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cudaops/check.h>

#include "silu.h"

namespace silu {
namespace {

constexpr int kBlockSize = 256;
// Several independent loads in flight for each thread.
constexpr int kElementsPerThread = 8;

__device__ float to_float(float value) { return value; }
__device__ float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ void store(float* to, float value) { *to = value; }
__device__ void store(__nv_bfloat16* to, float value) { *to = __float2bfloat16_rn(value); }

template <typename T>
__global__ void __launch_bounds__(kBlockSize)
    silu_kernel(const T* input, T* out, int64_t num_elements) {
  const int64_t first = int64_t{blockIdx.x} * (kBlockSize * kElementsPerThread) + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kElementsPerThread; ++i) {
    const int64_t index = first + i * kBlockSize;
    if (index >= num_elements) return;
    const float x = to_float(input[index]);
    store(&out[index], x / (1.0f + expf(-x)));
  }
}

template <typename T>
void launch_for(const void* input, void* out, int64_t num_elements, void* stream) {
  constexpr int64_t kPerBlock = kBlockSize * kElementsPerThread;
  const auto num_blocks = static_cast<unsigned>((num_elements + kPerBlock - 1) / kPerBlock);
  silu_kernel<<<num_blocks, kBlockSize, 0, static_cast<cudaStream_t>(stream)>>>(
      static_cast<const T*>(input), static_cast<T*>(out), num_elements);
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace

void launch(const void* input, void* out, int64_t num_elements, DType dtype, void* stream) {
  if (num_elements == 0) return;  // a grid of 0 blocks is a launch error
  switch (dtype) {
    case DType::kFloat32:
      return launch_for<float>(input, out, num_elements, stream);
    case DType::kBFloat16:
      return launch_for<__nv_bfloat16>(input, out, num_elements, stream);
  }
}

}  // namespace silu

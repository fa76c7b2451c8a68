// Device code without torch's headers. Arithmetic of __half must not be switched off by anybody's
// flags.
#include <cuda_fp16.h>

#include "op.h"

__global__ void twice(const float* in, float* out, long count) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < count) {
    const __half half = __float2half(in[i]);
    out[i] = __half2float(half + half);
  }
}

void launch_twice(const float* in, float* out, long count, cudaStream_t stream) {
  if (count > 0) twice<<<(count + 255) / 256, 256, 0, stream>>>(in, out, count);
}

#ifdef EXPECTED_STANDARD
static_assert(__cplusplus >= EXPECTED_STANDARD, "the C++ standard of device sources");
#endif

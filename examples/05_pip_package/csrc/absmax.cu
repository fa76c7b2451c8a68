// SPDX-License-Identifier: Apache-2.0
// One warp a row.
#include <cudaops/check.h>

#include "absmax.h"

namespace rowwise_ops {
namespace {

constexpr int kWarpSize = 32;
constexpr int kRowsPerBlock = 8;

// Magnitudes compare like their bits; a NaN's are above infinity's, so it wins.
__device__ unsigned magnitude_bits(float value) { return __float_as_uint(value) & 0x7fffffffu; }

__global__ void __launch_bounds__(kWarpSize* kRowsPerBlock)
    absmax_kernel(const float* input, float* out, int64_t num_rows, int64_t row_size) {
  const int64_t row = int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.y;
  if (row >= num_rows) return;
  unsigned largest = 0;
  for (int64_t i = threadIdx.x; i < row_size; i += kWarpSize) {
    largest = max(largest, magnitude_bits(input[row * row_size + i]));
  }
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
    largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  }
  if (threadIdx.x == 0) out[row] = __uint_as_float(largest);
}

}  // namespace

void launch_absmax(const float* input, float* out, int64_t num_rows, int64_t row_size,
                   void* stream) {
  if (num_rows == 0) return;  // a grid of 0 blocks is a launch error
  const auto num_blocks = static_cast<unsigned>((num_rows + kRowsPerBlock - 1) / kRowsPerBlock);
  absmax_kernel<<<num_blocks, dim3(kWarpSize, kRowsPerBlock), 0,
                  static_cast<cudaStream_t>(stream)>>>(input, out, num_rows, row_size);
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace rowwise_ops

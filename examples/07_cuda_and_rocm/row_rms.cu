// SPDX-License-Identifier: Apache-2.0
// One warp a row: 32 lanes on NVIDIA's GPUs and on RDNA, 64 on CDNA. There is no #if here; what the
// two back ends spell differently is in cudaops/gpu_compat.h.
#include <cuda_runtime.h>
#include <cudaops/check.h>
#include <cudaops/gpu_compat.h>

#include "row_rms.h"

namespace both_ops {
namespace {

constexpr int kBlockSize = 256;  // a multiple of either warp size

template <typename T>
__global__ void __launch_bounds__(kBlockSize)
    row_rms_kernel(const T* input, float* out, int64_t num_rows, int64_t row_size) {
  constexpr int kWarpSize = cudaops::warp_size();
  const int lane = cudaops::lane_id();
  const int64_t row =
      int64_t{blockIdx.x} * (kBlockSize / kWarpSize) + static_cast<int>(threadIdx.x) / kWarpSize;
  if (row >= num_rows) return;  // the whole warp leaves
  float sum = 0;
  for (int64_t i = lane; i < row_size; i += kWarpSize) {
    const float value = cudaops::to_float(input[row * row_size + i]);
    sum += value * value;
  }
  sum = cudaops::warp_sum(sum);
  if (lane == 0) out[row] = sqrtf(sum / static_cast<float>(row_size));
}

template <typename T>
void launch(const T* input, float* out, int64_t num_rows, int64_t row_size, void* stream) {
  if (num_rows == 0) return;  // a grid of 0 blocks is a launch error
  int device = 0;
  CUDAOPS_CHECK(cudaGetDevice(&device));
  // The host asks the device that it launches on: one binary may hold code for both warp sizes.
  const int64_t rows_per_block = kBlockSize / cudaops::device_warp_size(device);
  const auto num_blocks = static_cast<unsigned>((num_rows + rows_per_block - 1) / rows_per_block);
  row_rms_kernel<<<num_blocks, kBlockSize, 0, static_cast<cudaStream_t>(stream)>>>(
      input, out, num_rows, row_size);
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace

void launch_row_rms(const void* input, bool is_bfloat16, float* out, int64_t num_rows,
                    int64_t row_size, void* stream) {
  if (is_bfloat16) {
    launch(static_cast<const cudaops::bfloat16*>(input), out, num_rows, row_size, stream);
  } else {
    launch(static_cast<const float*>(input), out, num_rows, row_size, stream);
  }
}

}  // namespace both_ops

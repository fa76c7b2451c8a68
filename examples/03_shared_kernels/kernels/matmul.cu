// SPDX-License-Identifier: Apache-2.0
// One thread an element of out, for every architecture. Small on purpose: the example is about how
// kernels are shared.
#include <cuda_bf16.h>
#include <cudaops/check.h>

#include "matmul.h"

namespace matmul {
namespace {

constexpr int kBlockSize = 256;

__global__ void __launch_bounds__(kBlockSize) common_kernel(Problem problem) {
  const int64_t i = int64_t{blockIdx.x} * kBlockSize + threadIdx.x;
  if (i >= problem.num_m * problem.num_n) return;
  const auto* a =
      reinterpret_cast<const __nv_bfloat16*>(problem.a) + i / problem.num_n * problem.num_k;
  const auto* b =
      reinterpret_cast<const __nv_bfloat16*>(problem.b) + i % problem.num_n * problem.num_k;
  float sum = 0;
  for (int64_t k = 0; k < problem.num_k; ++k)
    sum += __bfloat162float(a[k]) * __bfloat162float(b[k]);
  problem.out[i] = sum;
}

}  // namespace

void launch_common(const Problem& problem, void* stream) {
  const int64_t num_elements = problem.num_m * problem.num_n;
  if (num_elements == 0) return;  // a grid of 0 blocks is a launch error
  const auto num_blocks = static_cast<unsigned>((num_elements + kBlockSize - 1) / kBlockSize);
  common_kernel<<<num_blocks, kBlockSize, 0, static_cast<cudaStream_t>(stream)>>>(problem);
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace matmul

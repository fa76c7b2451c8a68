// SPDX-License-Identifier: Apache-2.0
// A launch that fails on every GPU but those of compute capability 7.5.
#include <cuda_runtime.h>
#include <cudaops/check.h>

namespace cudaops_tests {
namespace {

__global__ void nothing_kernel() {}

}  // namespace

void launch_for_other_arch() {
  nothing_kernel<<<1, 1>>>();
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace cudaops_tests

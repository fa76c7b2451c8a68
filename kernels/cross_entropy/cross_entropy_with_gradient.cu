// SPDX-License-Identifier: Apache-2.0
// cross_entropy on CUDA devices: the loss and, in the same pass, the gradient.
#include "cross_entropy_row.cuh"

namespace cudaops_kernels {
namespace cross_entropy {
namespace {

struct LaunchBoth {
  template <typename T>
  static void run(const CrossEntropy& call, const Workspace& workspace, cudaStream_t stream) {
    launch_forward<T, true>(call, workspace, stream);
  }
};

}  // namespace

void launch_with_gradient(const CrossEntropy& call, const Workspace& workspace,
                          cudaStream_t stream) {
  for_device_type<LaunchBoth>(call.problem.dtype, call, workspace, stream);
}

}  // namespace cross_entropy
}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.cross_entropy and its relatives: CUDA kernels.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "cross_entropy_torch.h"

namespace cudaops_kernels {
namespace {

auto forward_on(const Tensor& logits) {
  return [&](const CrossEntropy& call) {
    const Workspace workspace(logits, cross_entropy_workspace_bytes());
    launch_cross_entropy(call, workspace.data(), current_stream(logits));
  };
}

std::tuple<Tensor, Tensor> cross_entropy_on_cuda(const Tensor& logits, const Tensor& target,
                                                 int64_t ignore_index, double label_smoothing,
                                                 double lse_square_scale, double softcap,
                                                 const std::string& reduction) {
  const DeviceGuard guard(logits.get_device_index());
  return cross_entropy_on(logits, target,
                          {ignore_index, label_smoothing, lse_square_scale, softcap, reduction},
                          forward_on(logits));
}

std::tuple<Tensor, Tensor> cross_entropy_in_place_on_cuda(Tensor logits, const Tensor& target,
                                                          int64_t ignore_index,
                                                          double label_smoothing,
                                                          double lse_square_scale, double softcap,
                                                          const std::string& reduction) {
  const DeviceGuard guard(logits.get_device_index());
  return cross_entropy_in_place_on(
      logits, target, {ignore_index, label_smoothing, lse_square_scale, softcap, reduction},
      forward_on(logits));
}

Tensor cross_entropy_backward_on_cuda(const Tensor& grad_loss, const Tensor& logits,
                                      const Tensor& target, const Tensor& lse, int64_t ignore_index,
                                      double label_smoothing, double lse_square_scale,
                                      double softcap, const std::string& reduction) {
  const DeviceGuard guard(logits.get_device_index());
  return cross_entropy_backward_on(
      grad_loss, logits, target, lse,
      {ignore_index, label_smoothing, lse_square_scale, softcap, reduction},
      [&](const CrossEntropyBackward& call) {
        const Workspace workspace(logits, cross_entropy_workspace_bytes());
        launch_cross_entropy_backward(call, workspace.data(), current_stream(logits));
      });
}

void cross_entropy_scale_on_cuda(Tensor grad_logits, const Tensor& grad_loss) {
  const DeviceGuard guard(grad_logits.get_device_index());
  cross_entropy_scale_on(grad_logits, grad_loss, [&](const CrossEntropyScale& call) {
    launch_cross_entropy_scale(call, current_stream(grad_logits));
  });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  implement(library, "cross_entropy", TORCH_BOX(&cross_entropy_on_cuda));
  library.impl("cross_entropy_", TORCH_BOX(&cross_entropy_in_place_on_cuda));
  implement(library, "cross_entropy_backward", TORCH_BOX(&cross_entropy_backward_on_cuda));
  library.impl("cross_entropy_scale_", TORCH_BOX(&cross_entropy_scale_on_cuda));
}

}  // namespace cudaops_kernels

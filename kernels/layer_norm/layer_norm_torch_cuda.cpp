// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.layer_norm and layer_norm_backward: CUDA kernels.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "layer_norm_torch.h"

namespace cudaops_kernels {
namespace {

std::tuple<Tensor, Tensor, Tensor> layer_norm_on_cuda(const Tensor& input,
                                                      const OptionalTensor& weight,
                                                      const OptionalTensor& bias, double eps) {
  const DeviceGuard guard(input.get_device_index());
  return layer_norm_on(input, weight, bias, eps, [&](const LayerNorm& call) {
    launch_layer_norm(call, current_stream(input));
  });
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_backward_on_cuda(
    const Tensor& grad_output, const Tensor& input, const OptionalTensor& weight,
    const OptionalTensor& bias, const Tensor& mean, const Tensor& rstd, bool needs_grad_weight,
    bool needs_grad_bias) {
  const DeviceGuard guard(input.get_device_index());
  return layer_norm_backward_on(
      grad_output, input, weight, bias, mean, rstd, needs_grad_weight, needs_grad_bias,
      [&](const LayerNormBackward& call) {
        const bool has_sums = call.grad_weight != nullptr || call.grad_bias != nullptr;
        const Workspace workspace(input, has_sums ? layer_norm_backward_workspace_bytes(call) : 0);
        launch_layer_norm_backward(call, workspace.data(), current_stream(input));
      });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  implement(library, "layer_norm", TORCH_BOX(&layer_norm_on_cuda));
  implement(library, "layer_norm_backward", TORCH_BOX(&layer_norm_backward_on_cuda));
}

}  // namespace cudaops_kernels

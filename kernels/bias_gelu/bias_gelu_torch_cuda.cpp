// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.bias_gelu and its backward: CUDA kernels.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "bias_gelu_torch.h"

namespace cudaops_kernels {
namespace {

Tensor bias_gelu_on_cuda(const Tensor& input, const OptionalTensor& bias,
                         const std::string& approximate) {
  const DeviceGuard guard(input.get_device_index());
  return bias_gelu_on(input, bias, approximate,
                      [&](const BiasGelu& call) { launch_bias_gelu(call, current_stream(input)); });
}

std::tuple<Tensor, Tensor> bias_gelu_backward_on_cuda(const Tensor& grad_output,
                                                      const Tensor& input,
                                                      const OptionalTensor& bias,
                                                      const std::string& approximate,
                                                      bool needs_grad_bias) {
  const DeviceGuard guard(input.get_device_index());
  return bias_gelu_backward_on(
      grad_output, input, bias, approximate, needs_grad_bias, [&](const BiasGeluBackward& call) {
        const Workspace workspace(input, bias_gelu_backward_workspace_bytes(call));
        launch_bias_gelu_backward(call, workspace.data(), current_stream(input));
      });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  implement(library, "bias_gelu", TORCH_BOX(&bias_gelu_on_cuda));
  implement(library, "bias_gelu_backward", TORCH_BOX(&bias_gelu_backward_on_cuda));
}

}  // namespace cudaops_kernels

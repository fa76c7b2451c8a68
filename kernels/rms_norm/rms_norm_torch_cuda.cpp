// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.rms_norm and its relatives: CUDA kernels.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "rms_norm_torch.h"

namespace cudaops_kernels {
namespace {

auto forward_on(const Tensor& tensor) {
  return [&](const RmsNorm& call) { launch_rms_norm(call, current_stream(tensor)); };
}

std::tuple<Tensor, Tensor> rms_norm_on_cuda(const Tensor& input, const OptionalTensor& weight,
                                            double eps, double weight_offset) {
  const DeviceGuard guard(input.get_device_index());
  return rms_norm_on(input, weight, eps, weight_offset, forward_on(input));
}

std::tuple<Tensor, Tensor, Tensor> fused_add_rms_norm_on_cuda(const Tensor& input,
                                                              const Tensor& residual,
                                                              const OptionalTensor& weight,
                                                              double eps, double weight_offset) {
  const DeviceGuard guard(input.get_device_index());
  return fused_add_rms_norm_on(input, residual, weight, eps, weight_offset, forward_on(input));
}

void fused_add_rms_norm_in_place_on_cuda(Tensor input, Tensor residual,
                                         const OptionalTensor& weight, double eps,
                                         double weight_offset) {
  const DeviceGuard guard(input.get_device_index());
  fused_add_rms_norm_in_place_on(input, residual, weight, eps, weight_offset, forward_on(input));
}

std::tuple<Tensor, Tensor> rms_norm_backward_on_cuda(const Tensor& grad_output,
                                                     const OptionalTensor& grad_residual_out,
                                                     const Tensor& x, const OptionalTensor& weight,
                                                     const Tensor& rstd, double weight_offset,
                                                     bool needs_grad_weight) {
  const DeviceGuard guard(x.get_device_index());
  return rms_norm_backward_on(grad_output, grad_residual_out, x, weight, rstd, weight_offset,
                              needs_grad_weight, [&](const RmsNormBackward& call) {
                                const bool has_sums = call.grad_weight != nullptr;
                                const Workspace workspace(
                                    x, has_sums ? rms_norm_backward_workspace_bytes(call) : 0);
                                launch_rms_norm_backward(call, workspace.data(), current_stream(x));
                              });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  implement(library, "rms_norm", TORCH_BOX(&rms_norm_on_cuda));
  implement(library, "fused_add_rms_norm", TORCH_BOX(&fused_add_rms_norm_on_cuda));
  library.impl("fused_add_rms_norm_", TORCH_BOX(&fused_add_rms_norm_in_place_on_cuda));
  implement(library, "rms_norm_backward", TORCH_BOX(&rms_norm_backward_on_cuda));
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.layer_norm and layer_norm_backward: schemas and CPU kernels.
#include "layer_norm_torch.h"

namespace cudaops_kernels {
namespace {

std::tuple<Tensor, Tensor, Tensor> layer_norm_on_cpu(const Tensor& input,
                                                     const OptionalTensor& weight,
                                                     const OptionalTensor& bias, double eps) {
  return layer_norm_on(input, weight, bias, eps,
                       [](const LayerNorm& call) { layer_norm_cpu(call, torch_threads); });
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_backward_on_cpu(
    const Tensor& grad_output, const Tensor& input, const OptionalTensor& weight,
    const OptionalTensor& bias, const Tensor& mean, const Tensor& rstd, bool needs_grad_weight,
    bool needs_grad_bias) {
  return layer_norm_backward_on(
      grad_output, input, weight, bias, mean, rstd, needs_grad_weight, needs_grad_bias,
      [](const LayerNormBackward& call) { layer_norm_backward_cpu(call, torch_threads); });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "layer_norm(Tensor input, Tensor? weight, Tensor? bias, float eps) "
         "-> (Tensor output, Tensor mean, Tensor rstd)");
  define(library,
         "layer_norm_backward(Tensor grad_output, Tensor input, Tensor? weight, Tensor? bias, "
         "Tensor mean, Tensor rstd, bool needs_grad_weight=True, bool needs_grad_bias=True) "
         "-> (Tensor grad_input, Tensor grad_weight, Tensor grad_bias)");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  implement(library, "layer_norm", TORCH_BOX(&layer_norm_on_cpu));
  implement(library, "layer_norm_backward", TORCH_BOX(&layer_norm_backward_on_cpu));
}

}  // namespace cudaops_kernels

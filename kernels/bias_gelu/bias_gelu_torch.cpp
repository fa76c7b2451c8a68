// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.bias_gelu and its backward: schemas and CPU kernels.
#include "bias_gelu_torch.h"

namespace cudaops_kernels {
namespace {

Tensor bias_gelu_on_cpu(const Tensor& input, const OptionalTensor& bias,
                        const std::string& approximate) {
  return bias_gelu_on(input, bias, approximate,
                      [](const BiasGelu& call) { bias_gelu_cpu(call, torch_threads); });
}

std::tuple<Tensor, Tensor> bias_gelu_backward_on_cpu(const Tensor& grad_output, const Tensor& input,
                                                     const OptionalTensor& bias,
                                                     const std::string& approximate,
                                                     bool needs_grad_bias) {
  return bias_gelu_backward_on(
      grad_output, input, bias, approximate, needs_grad_bias,
      [](const BiasGeluBackward& call) { bias_gelu_backward_cpu(call, torch_threads); });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library, "bias_gelu(Tensor input, Tensor? bias, str approximate=\"none\") -> Tensor");
  define(library,
         "bias_gelu_backward(Tensor grad_output, Tensor input, Tensor? bias, "
         "str approximate=\"none\", bool needs_grad_bias=True) "
         "-> (Tensor grad_input, Tensor grad_bias)");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  implement(library, "bias_gelu", TORCH_BOX(&bias_gelu_on_cpu));
  implement(library, "bias_gelu_backward", TORCH_BOX(&bias_gelu_backward_on_cpu));
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.rms_norm and its relatives: schemas and CPU kernels.
#include "rms_norm_torch.h"

namespace cudaops_kernels {
namespace {

const auto kForward = [](const RmsNorm& call) { rms_norm_cpu(call, torch_threads); };

std::tuple<Tensor, Tensor> rms_norm_on_cpu(const Tensor& input, const OptionalTensor& weight,
                                           double eps, double weight_offset) {
  return rms_norm_on(input, weight, eps, weight_offset, kForward);
}

std::tuple<Tensor, Tensor, Tensor> fused_add_rms_norm_on_cpu(const Tensor& input,
                                                             const Tensor& residual,
                                                             const OptionalTensor& weight,
                                                             double eps, double weight_offset) {
  return fused_add_rms_norm_on(input, residual, weight, eps, weight_offset, kForward);
}

void fused_add_rms_norm_in_place_on_cpu(Tensor input, Tensor residual, const OptionalTensor& weight,
                                        double eps, double weight_offset) {
  fused_add_rms_norm_in_place_on(input, residual, weight, eps, weight_offset, kForward);
}

std::tuple<Tensor, Tensor> rms_norm_backward_on_cpu(const Tensor& grad_output,
                                                    const OptionalTensor& grad_residual_out,
                                                    const Tensor& x, const OptionalTensor& weight,
                                                    const Tensor& rstd, double weight_offset,
                                                    bool needs_grad_weight) {
  return rms_norm_backward_on(
      grad_output, grad_residual_out, x, weight, rstd, weight_offset, needs_grad_weight,
      [](const RmsNormBackward& call) { rms_norm_backward_cpu(call, torch_threads); });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "rms_norm(Tensor input, Tensor? weight, float eps, float weight_offset=0) "
         "-> (Tensor output, Tensor rstd)");
  define(library,
         "fused_add_rms_norm(Tensor input, Tensor residual, Tensor? weight, float eps, "
         "float weight_offset=0) -> (Tensor output, Tensor residual_out, Tensor rstd)");
  library.def(
      "fused_add_rms_norm_(Tensor(a!) input, Tensor(b!) residual, Tensor? weight, float eps, "
      "float weight_offset=0) -> ()");
  define(
      library,
      "rms_norm_backward(Tensor grad_output, Tensor? grad_residual_out, Tensor x, Tensor? weight, "
      "Tensor rstd, float weight_offset=0, bool needs_grad_weight=True) "
      "-> (Tensor grad_x, Tensor grad_weight)");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  implement(library, "rms_norm", TORCH_BOX(&rms_norm_on_cpu));
  implement(library, "fused_add_rms_norm", TORCH_BOX(&fused_add_rms_norm_on_cpu));
  library.impl("fused_add_rms_norm_", TORCH_BOX(&fused_add_rms_norm_in_place_on_cpu));
  implement(library, "rms_norm_backward", TORCH_BOX(&rms_norm_backward_on_cpu));
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.cross_entropy and its relatives: schemas and CPU kernels.
#include "cross_entropy_torch.h"

namespace cudaops_kernels {
namespace {

const auto kForward = [](const CrossEntropy& call) { cross_entropy_cpu(call, torch_threads); };

std::tuple<Tensor, Tensor> cross_entropy_on_cpu(const Tensor& logits, const Tensor& target,
                                                int64_t ignore_index, double label_smoothing,
                                                double lse_square_scale, double softcap,
                                                const std::string& reduction) {
  return cross_entropy_on(logits, target,
                          {ignore_index, label_smoothing, lse_square_scale, softcap, reduction},
                          kForward);
}

std::tuple<Tensor, Tensor> cross_entropy_in_place_on_cpu(Tensor logits, const Tensor& target,
                                                         int64_t ignore_index,
                                                         double label_smoothing,
                                                         double lse_square_scale, double softcap,
                                                         const std::string& reduction) {
  return cross_entropy_in_place_on(
      logits, target, {ignore_index, label_smoothing, lse_square_scale, softcap, reduction},
      kForward);
}

Tensor cross_entropy_backward_on_cpu(const Tensor& grad_loss, const Tensor& logits,
                                     const Tensor& target, const Tensor& lse, int64_t ignore_index,
                                     double label_smoothing, double lse_square_scale,
                                     double softcap, const std::string& reduction) {
  return cross_entropy_backward_on(
      grad_loss, logits, target, lse,
      {ignore_index, label_smoothing, lse_square_scale, softcap, reduction},
      [](const CrossEntropyBackward& call) { cross_entropy_backward_cpu(call, torch_threads); });
}

void cross_entropy_scale_on_cpu(Tensor grad_logits, const Tensor& grad_loss) {
  cross_entropy_scale_on(grad_logits, grad_loss, [](const CrossEntropyScale& call) {
    cross_entropy_scale_cpu(call, torch_threads);
  });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "cross_entropy(Tensor logits, Tensor target, int ignore_index=-100, "
         "float label_smoothing=0, float lse_square_scale=0, float softcap=0, "
         "str reduction=\"mean\") -> (Tensor loss, Tensor lse)");
  library.def(
      "cross_entropy_(Tensor(a!) logits, Tensor target, int ignore_index=-100, "
      "float label_smoothing=0, float lse_square_scale=0, float softcap=0, "
      "str reduction=\"mean\") -> (Tensor loss, Tensor lse)");
  define(library,
         "cross_entropy_backward(Tensor grad_loss, Tensor logits, Tensor target, Tensor lse, "
         "int ignore_index=-100, float label_smoothing=0, float lse_square_scale=0, "
         "float softcap=0, str reduction=\"mean\") -> Tensor");
  library.def("cross_entropy_scale_(Tensor(a!) grad_logits, Tensor grad_loss) -> ()");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  implement(library, "cross_entropy", TORCH_BOX(&cross_entropy_on_cpu));
  library.impl("cross_entropy_", TORCH_BOX(&cross_entropy_in_place_on_cpu));
  implement(library, "cross_entropy_backward", TORCH_BOX(&cross_entropy_backward_on_cpu));
  library.impl("cross_entropy_scale_", TORCH_BOX(&cross_entropy_scale_on_cpu));
}

}  // namespace cudaops_kernels

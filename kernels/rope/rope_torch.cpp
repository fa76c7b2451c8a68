// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.rope and its relatives: schemas and CPU kernels.
#include "rope_torch.h"

namespace cudaops_kernels {
namespace {

const auto kRun = [](const Rope& call) { rope_cpu(call, torch_threads); };

std::tuple<Tensor, Tensor> rope_on_cpu(const Tensor& q, const Tensor& k, const Tensor& cos,
                                       const Tensor& sin, const OptionalTensor& positions,
                                       bool interleaved) {
  return rope_on({"rope", "q", "k"}, q, k, cos, sin, positions, interleaved, false, kRun);
}

std::tuple<Tensor, Tensor> rope_backward_on_cpu(const Tensor& grad_q, const Tensor& grad_k,
                                                const Tensor& cos, const Tensor& sin,
                                                const OptionalTensor& positions, bool interleaved) {
  return rope_on({"rope_backward", "grad_q", "grad_k"}, grad_q, grad_k, cos, sin, positions,
                 interleaved, true, kRun);
}

void rope_in_place_on_cpu(Tensor q, Tensor k, const Tensor& cos, const Tensor& sin,
                          const OptionalTensor& positions, bool interleaved) {
  rope_in_place_on(q, k, cos, sin, positions, interleaved, kRun);
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "rope(Tensor q, Tensor k, Tensor cos, Tensor sin, Tensor? positions, "
         "bool interleaved=False) -> (Tensor q_out, Tensor k_out)");
  library.def(
      "rope_(Tensor(a!) q, Tensor(b!) k, Tensor cos, Tensor sin, Tensor? positions, "
      "bool interleaved=False) -> ()");
  define(library,
         "rope_backward(Tensor grad_q, Tensor grad_k, Tensor cos, Tensor sin, Tensor? positions, "
         "bool interleaved=False) -> (Tensor grad_q_in, Tensor grad_k_in)");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  implement(library, "rope", TORCH_BOX(&rope_on_cpu));
  library.impl("rope_", TORCH_BOX(&rope_in_place_on_cpu));
  implement(library, "rope_backward", TORCH_BOX(&rope_backward_on_cpu));
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.swiglu and its backward: schemas and CPU kernels.
#include <torch/csrc/stable/library.h>

#include "../common/torch_gated_unit.h"
#include "swiglu.h"

namespace cudaops_kernels {
namespace {

Tensor swiglu_on_cpu(const Tensor& gate, const Tensor& up) {
  return gated_unit_on("swiglu", gate, up,
                       [](const GatedUnit& call) { swiglu_cpu(call, torch_threads); });
}

std::tuple<Tensor, Tensor> swiglu_backward_on_cpu(const Tensor& grad_output, const Tensor& gate,
                                                  const Tensor& up) {
  return gated_unit_backward_on(
      "swiglu_backward", grad_output, gate, up,
      [](const GatedUnitBackward& call) { swiglu_backward_cpu(call, torch_threads); });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library, "swiglu(Tensor gate, Tensor up) -> Tensor");
  define(library,
         "swiglu_backward(Tensor grad_output, Tensor gate, Tensor up) "
         "-> (Tensor grad_gate, Tensor grad_up)");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  implement(library, "swiglu", TORCH_BOX(&swiglu_on_cpu));
  implement(library, "swiglu_backward", TORCH_BOX(&swiglu_backward_on_cpu));
}

}  // namespace cudaops_kernels

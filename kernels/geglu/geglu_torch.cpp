// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.geglu and its backward: schemas and CPU kernels.
#include <torch/csrc/stable/library.h>

#include "../common/torch_gated_unit.h"
#include "../common/torch_gelu.h"
#include "geglu.h"

namespace cudaops_kernels {
namespace {

Tensor geglu_on_cpu(const Tensor& gate, const Tensor& up, const std::string& approximate) {
  const GeluKind kind = gelu_kind("geglu", approximate);
  return gated_unit_on("geglu", gate, up,
                       [&](const GatedUnit& call) { geglu_cpu(call, kind, torch_threads); });
}

std::tuple<Tensor, Tensor> geglu_backward_on_cpu(const Tensor& grad_output, const Tensor& gate,
                                                 const Tensor& up, const std::string& approximate) {
  const GeluKind kind = gelu_kind("geglu_backward", approximate);
  return gated_unit_backward_on(
      "geglu_backward", grad_output, gate, up,
      [&](const GatedUnitBackward& call) { geglu_backward_cpu(call, kind, torch_threads); });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library, "geglu(Tensor gate, Tensor up, str approximate=\"none\") -> Tensor");
  define(library,
         "geglu_backward(Tensor grad_output, Tensor gate, Tensor up, str approximate=\"none\") "
         "-> (Tensor grad_gate, Tensor grad_up)");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  implement(library, "geglu", TORCH_BOX(&geglu_on_cpu));
  implement(library, "geglu_backward", TORCH_BOX(&geglu_backward_on_cpu));
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.geglu and its backward: CUDA kernels.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "../common/torch_gated_unit.h"
#include "../common/torch_gelu.h"
#include "geglu.h"

namespace cudaops_kernels {
namespace {

Tensor geglu_on_cuda(const Tensor& gate, const Tensor& up, const std::string& approximate) {
  const DeviceGuard guard(gate.get_device_index());
  const GeluKind kind = gelu_kind("geglu", approximate);
  return gated_unit_on("geglu", gate, up, [&](const GatedUnit& call) {
    launch_geglu(call, kind, current_stream(gate));
  });
}

std::tuple<Tensor, Tensor> geglu_backward_on_cuda(const Tensor& grad_output, const Tensor& gate,
                                                  const Tensor& up,
                                                  const std::string& approximate) {
  const DeviceGuard guard(gate.get_device_index());
  const GeluKind kind = gelu_kind("geglu_backward", approximate);
  return gated_unit_backward_on("geglu_backward", grad_output, gate, up,
                                [&](const GatedUnitBackward& call) {
                                  launch_geglu_backward(call, kind, current_stream(gate));
                                });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  implement(library, "geglu", TORCH_BOX(&geglu_on_cuda));
  implement(library, "geglu_backward", TORCH_BOX(&geglu_backward_on_cuda));
}

}  // namespace cudaops_kernels

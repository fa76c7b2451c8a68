// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.swiglu and its backward: CUDA kernels.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "../common/torch_gated_unit.h"
#include "swiglu.h"

namespace cudaops_kernels {
namespace {

Tensor swiglu_on_cuda(const Tensor& gate, const Tensor& up) {
  const DeviceGuard guard(gate.get_device_index());
  return gated_unit_on("swiglu", gate, up,
                       [&](const GatedUnit& call) { launch_swiglu(call, current_stream(gate)); });
}

std::tuple<Tensor, Tensor> swiglu_backward_on_cuda(const Tensor& grad_output, const Tensor& gate,
                                                   const Tensor& up) {
  const DeviceGuard guard(gate.get_device_index());
  return gated_unit_backward_on(
      "swiglu_backward", grad_output, gate, up,
      [&](const GatedUnitBackward& call) { launch_swiglu_backward(call, current_stream(gate)); });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  implement(library, "swiglu", TORCH_BOX(&swiglu_on_cuda));
  implement(library, "swiglu_backward", TORCH_BOX(&swiglu_backward_on_cuda));
}

}  // namespace cudaops_kernels

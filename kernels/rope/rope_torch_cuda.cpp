// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.rope and its relatives: CUDA kernels.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "rope_torch.h"

namespace cudaops_kernels {
namespace {

std::tuple<Tensor, Tensor> rope_on_cuda(const Tensor& q, const Tensor& k, const Tensor& cos,
                                        const Tensor& sin, const OptionalTensor& positions,
                                        bool interleaved) {
  const DeviceGuard guard(q.get_device_index());
  return rope_on({"rope", "q", "k"}, q, k, cos, sin, positions, interleaved, false,
                 [&](const Rope& call) { launch_rope(call, current_stream(q)); });
}

std::tuple<Tensor, Tensor> rope_backward_on_cuda(const Tensor& grad_q, const Tensor& grad_k,
                                                 const Tensor& cos, const Tensor& sin,
                                                 const OptionalTensor& positions,
                                                 bool interleaved) {
  const DeviceGuard guard(grad_q.get_device_index());
  return rope_on({"rope_backward", "grad_q", "grad_k"}, grad_q, grad_k, cos, sin, positions,
                 interleaved, true,
                 [&](const Rope& call) { launch_rope(call, current_stream(grad_q)); });
}

void rope_in_place_on_cuda(Tensor q, Tensor k, const Tensor& cos, const Tensor& sin,
                           const OptionalTensor& positions, bool interleaved) {
  const DeviceGuard guard(q.get_device_index());
  rope_in_place_on(q, k, cos, sin, positions, interleaved,
                   [&](const Rope& call) { launch_rope(call, current_stream(q)); });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  implement(library, "rope", TORCH_BOX(&rope_on_cuda));
  library.impl("rope_", TORCH_BOX(&rope_in_place_on_cuda));
  implement(library, "rope_backward", TORCH_BOX(&rope_backward_on_cuda));
}

}  // namespace cudaops_kernels

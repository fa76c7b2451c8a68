// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.swiglu_quantize: CUDA kernel.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "swiglu_quantize_torch.h"

namespace cudaops_kernels {
namespace {

std::tuple<Tensor, Tensor> swiglu_quantize_on_cuda(const Tensor& gate, const Tensor& up,
                                                   ScalarType dtype, int64_t group_size,
                                                   const std::optional<Tensor>& scale_ub,
                                                   bool ue8m0, bool scales_column_major,
                                                   const OptionalTensor& scale) {
  const DeviceGuard guard(gate.get_device_index());
  return swiglu_quantize_on(gate, up, dtype, group_size, scale_ub, ue8m0, scales_column_major,
                            scale, [&](const SwigluQuantize& call) {
                              const Workspace workspace(gate,
                                                        swiglu_quantize_workspace_bytes(call));
                              launch_swiglu_quantize(call, workspace.data(), current_stream(gate));
                            });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  implement(library, "swiglu_quantize", TORCH_BOX(&swiglu_quantize_on_cuda));
}

}  // namespace cudaops_kernels

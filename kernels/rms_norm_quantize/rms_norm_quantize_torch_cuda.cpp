// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.rms_norm_quantize: CUDA kernel.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "rms_norm_quantize_torch.h"

namespace cudaops_kernels {
namespace {

std::tuple<Tensor, Tensor, Tensor> rms_norm_quantize_on_cuda(
    const Tensor& input, const OptionalTensor& residual, const OptionalTensor& weight, double eps,
    ScalarType dtype, int64_t group_size, const OptionalTensor& scale_ub, bool ue8m0,
    bool scales_column_major, double weight_offset, const OptionalTensor& scale) {
  const DeviceGuard guard(input.get_device_index());
  return rms_norm_quantize_on(
      input, residual, weight, eps, dtype, group_size, scale_ub, ue8m0, scales_column_major,
      weight_offset, scale, [&](const RmsNormQuantize& call) {
        const Workspace workspace(input, rms_norm_quantize_workspace_bytes(call));
        launch_rms_norm_quantize(call, workspace.data(), current_stream(input));
      });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  implement(library, "rms_norm_quantize", TORCH_BOX(&rms_norm_quantize_on_cuda));
}

}  // namespace cudaops_kernels

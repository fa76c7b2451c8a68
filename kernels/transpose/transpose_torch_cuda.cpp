// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.transpose: CUDA kernel.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "transpose_torch.h"

namespace cudaops_kernels {
namespace {

Tensor transpose_on_cuda(const Tensor& input) {
  const DeviceGuard guard(input.get_device_index());
  return transpose_on(
      input, [&](const Transpose& call) { launch_transpose(call, current_stream(input)); });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  implement(library, "transpose", TORCH_BOX(&transpose_on_cuda));
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.softmax: CUDA kernels.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "softmax_torch.h"

namespace cudaops_kernels {
namespace {

Tensor softmax_on_cuda(const Tensor& input, const OptionalTensor& mask, double scale, bool causal) {
  const DeviceGuard guard(input.get_device_index());
  return softmax_on(input, mask, scale, causal,
                    [&](const Softmax& call) { launch_softmax(call, current_stream(input)); });
}

Tensor softmax_backward_on_cuda(const Tensor& grad_output, const Tensor& output, double scale,
                                bool causal) {
  const DeviceGuard guard(output.get_device_index());
  return softmax_backward_on(grad_output, output, scale, causal, [&](const SoftmaxBackward& call) {
    launch_softmax_backward(call, current_stream(output));
  });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  implement(library, "softmax", TORCH_BOX(&softmax_on_cuda));
  implement(library, "softmax_backward", TORCH_BOX(&softmax_backward_on_cuda));
}

}  // namespace cudaops_kernels

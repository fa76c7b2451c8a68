// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.softmax: schemas and CPU kernels.
#include "softmax_torch.h"

namespace cudaops_kernels {
namespace {

Tensor softmax_on_cpu(const Tensor& input, const OptionalTensor& mask, double scale, bool causal) {
  return softmax_on(input, mask, scale, causal,
                    [](const Softmax& call) { softmax_cpu(call, torch_threads); });
}

Tensor softmax_backward_on_cpu(const Tensor& grad_output, const Tensor& output, double scale,
                               bool causal) {
  return softmax_backward_on(grad_output, output, scale, causal, [](const SoftmaxBackward& call) {
    softmax_backward_cpu(call, torch_threads);
  });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "softmax(Tensor input, Tensor? mask=None, float scale=1, bool causal=False) -> Tensor");
  define(library,
         "softmax_backward(Tensor grad_output, Tensor output, float scale=1, bool causal=False) "
         "-> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  implement(library, "softmax", TORCH_BOX(&softmax_on_cpu));
  implement(library, "softmax_backward", TORCH_BOX(&softmax_backward_on_cpu));
}

}  // namespace cudaops_kernels

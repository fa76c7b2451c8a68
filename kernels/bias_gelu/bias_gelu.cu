// SPDX-License-Identifier: Apache-2.0
// bias_gelu on CUDA devices. Forward moves 2 * sizeof(T) bytes an element, backward 3.
#include "../common/pointwise_sums.cuh"
#include "bias_gelu_formula.h"

namespace cudaops_kernels {

void launch_bias_gelu(const BiasGelu& call, void* stream) {
  for_gelu(call.kind, [&](auto gelu) {
    launch_pointwise(BiasGeluFormula<decltype(gelu)>{}, pointwise_of(call), call.dtype, stream);
  });
}

int64_t bias_gelu_backward_workspace_bytes(const BiasGeluBackward& call) {
  if (call.grad_bias == nullptr) return 0;
  return pointwise_sums_workspace_bytes(call.num_rows, call.width, call.dtype);
}

void launch_bias_gelu_backward(const BiasGeluBackward& call, void* workspace, void* stream) {
  for_gelu(call.kind, [&](auto gelu) {
    const BiasGeluBackwardFormula<decltype(gelu)> formula;
    if (call.grad_bias != nullptr) {
      launch_pointwise_with_sums(formula, pointwise_of(call), call.dtype, call.grad_bias,
                                 call.bias_dtype, workspace, stream);
    } else {
      launch_pointwise(formula, pointwise_of(call), call.dtype, stream);
    }
  });
}

}  // namespace cudaops_kernels

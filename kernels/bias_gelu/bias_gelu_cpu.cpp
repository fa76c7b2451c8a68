// SPDX-License-Identifier: Apache-2.0
// bias_gelu on the CPU.
#include "../common/cpu_pointwise.h"
#include "bias_gelu_formula.h"

namespace cudaops_kernels {

void bias_gelu_cpu(const BiasGelu& call, ParallelFor parallel_for) {
  for_gelu(call.kind, [&](auto gelu) {
    run_pointwise_on_cpu(BiasGeluFormula<decltype(gelu)>{}, pointwise_of(call), call.dtype,
                         parallel_for);
  });
}

void bias_gelu_backward_cpu(const BiasGeluBackward& call, ParallelFor parallel_for) {
  for_gelu(call.kind, [&](auto gelu) {
    const BiasGeluBackwardFormula<decltype(gelu)> formula;
    run_pointwise_on_cpu(formula, pointwise_of(call), call.dtype, parallel_for);
    if (call.grad_bias != nullptr) {
      sum_pointwise_on_cpu(formula, pointwise_of(call), call.dtype, call.grad_bias, call.bias_dtype,
                           parallel_for);
    }
  });
}

}  // namespace cudaops_kernels

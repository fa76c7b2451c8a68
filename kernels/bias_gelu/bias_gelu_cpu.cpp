// SPDX-License-Identifier: Apache-2.0
// bias_gelu on the CPU.
#include "../common/cpu_pointwise.h"
#include "bias_gelu_formula.h"

namespace cudaops_kernels {
namespace {

template <typename Gelu>
struct SumGradients {
  template <typename T>
  static void run(const BiasGeluBackward& call, ParallelFor parallel_for) {
    const auto sum = [&](auto bias) {
      sum_columns(parallel_for, call.num_rows, call.width, call.bias_dtype, call.grad_bias,
                  [&](int64_t index, int64_t column) {
                    const float x[] = {to_float(call.grad_output.row<T>(index)[column]),
                                       to_float(call.input.row<T>(index)[column])};
                    float grad;
                    BiasGeluBackwardFormula<Gelu>{}(x, bias(column), &grad);
                    return grad;
                  });
    };
    if (call.bias == nullptr) {
      sum([](int64_t) { return 0.0f; });
    } else {
      with_columns<T>(call.bias, call.bias_dtype, sum);
    }
  }
};

}  // namespace

void bias_gelu_cpu(const BiasGelu& call, ParallelFor parallel_for) {
  for_gelu(call.kind, [&](auto gelu) {
    run_pointwise_on_cpu(BiasGeluFormula<decltype(gelu)>{}, pointwise_of(call), call.dtype,
                         parallel_for);
  });
}

void bias_gelu_backward_cpu(const BiasGeluBackward& call, ParallelFor parallel_for) {
  for_gelu(call.kind, [&](auto gelu) {
    if (call.grad_bias != nullptr) {
      for_host_type<SumGradients<decltype(gelu)>>(call.dtype, call, parallel_for);
    }
    run_pointwise_on_cpu(BiasGeluBackwardFormula<decltype(gelu)>{}, pointwise_of(call), call.dtype,
                         parallel_for);
  });
}

}  // namespace cudaops_kernels

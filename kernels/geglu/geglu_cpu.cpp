// SPDX-License-Identifier: Apache-2.0
// geglu on the CPU.
#include "../common/cpu_pointwise.h"
#include "geglu.h"

namespace cudaops_kernels {

void geglu_cpu(const GatedUnit& call, GeluKind kind, ParallelFor parallel_for) {
  for_gelu(kind, [&](auto gelu) {
    run_pointwise_on_cpu(GatedUnitFormula<decltype(gelu)>{}, pointwise_of(call), call.dtype,
                         parallel_for);
  });
}

void geglu_backward_cpu(const GatedUnitBackward& call, GeluKind kind, ParallelFor parallel_for) {
  for_gelu(kind, [&](auto gelu) {
    run_pointwise_on_cpu(GatedUnitBackwardFormula<decltype(gelu)>{}, pointwise_of(call), call.dtype,
                         parallel_for);
  });
}

}  // namespace cudaops_kernels

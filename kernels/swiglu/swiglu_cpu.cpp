// SPDX-License-Identifier: Apache-2.0
// swiglu on the CPU.
#include "../common/activations.h"
#include "../common/cpu_pointwise.h"
#include "swiglu.h"

namespace cudaops_kernels {

void swiglu_cpu(const GatedUnit& call, ParallelFor parallel_for) {
  run_pointwise_on_cpu(GatedUnitFormula<Silu>{}, pointwise_of(call), call.dtype, parallel_for);
}

void swiglu_backward_cpu(const GatedUnitBackward& call, ParallelFor parallel_for) {
  run_pointwise_on_cpu(GatedUnitBackwardFormula<Silu>{}, pointwise_of(call), call.dtype,
                       parallel_for);
}

}  // namespace cudaops_kernels

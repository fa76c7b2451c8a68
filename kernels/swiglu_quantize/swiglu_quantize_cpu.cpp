// SPDX-License-Identifier: Apache-2.0
// swiglu_quantize on the CPU.
#include "../quantize/quantize_rows.h"
#include "swiglu_quantize.h"

namespace cudaops_kernels {

void swiglu_quantize_cpu(const SwigluQuantize& call, void* workspace, ParallelFor parallel_for) {
  GatedUnit unit = call.unit;
  unit.output = {workspace, unit.width};
  swiglu_cpu(unit, parallel_for);
  quantize_cpu(quantize_of_rows(call, unit.dtype, workspace), parallel_for);
}

}  // namespace cudaops_kernels

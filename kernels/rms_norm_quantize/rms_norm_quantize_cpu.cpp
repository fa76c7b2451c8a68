// SPDX-License-Identifier: Apache-2.0
// rms_norm_quantize on the CPU.
#include "../quantize/quantize_rows.h"
#include "rms_norm_quantize.h"

namespace cudaops_kernels {

void rms_norm_quantize_cpu(const RmsNormQuantize& call, void* workspace, ParallelFor parallel_for) {
  RmsNorm norm = call.norm;
  norm.output = {workspace, norm.width};
  rms_norm_cpu(norm, parallel_for);
  quantize_cpu(quantize_of_rows(call, norm.dtype, workspace), parallel_for);
}

}  // namespace cudaops_kernels

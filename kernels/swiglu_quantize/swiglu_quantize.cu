// SPDX-License-Identifier: Apache-2.0
// swiglu_quantize on CUDA devices: 2 * sizeof(T) + 1 bytes an element.
#include "../common/activations.h"
#include "../common/quantized/groups.cuh"
#include "../quantize/quantize_rows.h"
#include "swiglu_quantize.h"

namespace cudaops_kernels {
namespace {

// Vectors a group, where groups can be quantised in one pass; else 0.
int lanes_a_group(const SwigluQuantize& call) {
  return lanes_of(call.unit.dtype, call.grid.block_columns);
}

bool takes_one_pass(const SwigluQuantize& call) {
  return is_scale_a_row(call.grid) || lanes_a_group(call) > 0;
}

struct Launch {
  template <typename T>
  static void run(const SwigluQuantize& call, cudaStream_t stream) {
    const GatedUnit& unit = call.unit;
    const PointwiseSource<GatedUnitFormula<Silu>> source{{unit.gate, unit.up}};
    const QuantizedRows result{call.type, call.output, call.scale,
                               ScalePlaces(call.grid, call.strides), call.rule};
    if (is_scale_a_row(call.grid)) {
      launch_pointwise_row_quantize<T>(source, result, unit.num_rows, unit.width, stream);
    } else {
      launch_group_quantize<T>(source, result, unit.num_rows, unit.width, lanes_a_group(call),
                               stream);
    }
  }
};

}  // namespace

int64_t swiglu_quantize_workspace_bytes(const SwigluQuantize& call) {
  if (takes_one_pass(call)) return 0;
  return call.unit.num_rows * call.unit.width * size_of(call.unit.dtype);
}

void launch_swiglu_quantize(const SwigluQuantize& call, void* workspace, void* stream) {
  if (call.grid.num_blocks() == 0) return;
  if (takes_one_pass(call)) {
    for_device_type<Launch>(call.unit.dtype, call, static_cast<cudaStream_t>(stream));
    return;
  }
  GatedUnit unit = call.unit;
  unit.output = {workspace, unit.width};
  launch_swiglu(unit, stream);
  launch_quantize(quantize_of_rows(call, unit.dtype, workspace), stream);
}

}  // namespace cudaops_kernels

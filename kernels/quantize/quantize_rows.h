// SPDX-License-Identifier: Apache-2.0
// The second of two passes of an op that quantises what another op made.
#pragma once

#include "quantize.h"

namespace cudaops_kernels {

// `call`: one of the fused ops'. rows: contiguous.
template <typename Call>
Quantize quantize_of_rows(const Call& call, DType dtype, const void* rows) {
  Quantize result{};
  result.grid = call.grid;
  result.dtype = dtype;
  result.type = call.type;
  result.input = {rows, call.grid.width};
  result.output = call.output;
  result.scale = call.scale;
  result.strides = call.strides;
  result.rule = call.rule;
  return result;
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// The kernels of rms_norm_quantize for one element type.
#pragma once

#include "rms_norm_quantize.cuh"

namespace cudaops_kernels {

template <typename T, typename Source>
void launch_normed(const Source& source, const RmsNormQuantize& call, cudaStream_t stream) {
  const QuantizedRows result{call.type, call.output, call.scale,
                             ScalePlaces(call.grid, call.strides), call.rule};
  if (is_scale_a_row(call.grid)) {
    launch_row_quantize<T>(source, result, call.norm.num_rows, call.norm.width, stream);
  } else {
    launch_row_group_quantize<T>(source, result, call.norm.num_rows, call.norm.width,
                                 lanes_of(call.norm.dtype, call.grid.block_columns),
                                 groups_are_whole<T>(call), stream);
  }
}

template <typename T>
void launch_rms_norm_quantize_of(const RmsNormQuantize& call, cudaStream_t stream) {
  if (call.norm.residual.data != nullptr) {
    launch_normed<T>(Normed<true>{call.norm}, call, stream);
  } else {
    launch_normed<T>(Normed<false>{call.norm}, call, stream);
  }
}

}  // namespace cudaops_kernels

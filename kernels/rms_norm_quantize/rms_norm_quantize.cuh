// SPDX-License-Identifier: Apache-2.0
// rms_norm as a source of rows that are quantised, and which calls take one pass.
#pragma once

#include "../common/quantized/row_groups.cuh"
#include "../rms_norm/rms_norm_row.cuh"
#include "rms_norm_quantize.h"

namespace cudaops_kernels {

template <bool kResidual>
struct Normed {
  static constexpr int kNumTiles = kResidual ? 2 : 1;  // as rms_norm's, to add in its order
  static constexpr bool kReadsColumns = true;
  static constexpr int kNumPackedInputs = kNumTiles, kNumPackedOutputs = kResidual ? 1 : 0;
  RmsNorm call;

  CUDAOPS_HOST_DEVICE ConstRows input(int i) const { return i == 0 ? call.input : call.residual; }
  CUDAOPS_HOST_DEVICE Rows output(int) const { return call.residual_out; }

  template <typename Row>
  __device__ __forceinline__ auto load(Row& row) const {
    const auto x = rms_norm_input<kResidual>(row, call);
    const float rstd = rms_norm_rstd(row, call, x);
    const RmsNorm& norm = call;
    return row.compute(conditional(is_plain<typename Row::Element>(call),
                                   [&row, &norm, x, rstd](const auto& place, bool is_plain) {
                                     return rms_norm_output(row, norm, x, rstd, place, is_plain);
                                   }));
  }

  template <typename T>
  bool is_aligned(int64_t) const {
    return rms_norm_is_aligned<T>(call);
  }
};

// Whether everything is aligned, and rows have whole groups.
template <typename T>
bool groups_are_whole(const RmsNormQuantize& call) {
  return call.grid.width % call.grid.block_columns == 0 && rms_norm_is_aligned<T>(call.norm) &&
         bytes_are_aligned<T>(call.output.data, call.output.stride);
}

// In one pass: for a scale a row, or where groups_take_one_pass(). Defined in
// rms_norm_quantize_of.cuh: a file for each element type (ops.cmake).
template <typename T>
void launch_rms_norm_quantize_of(const RmsNormQuantize& call, cudaStream_t stream);

template <typename T>
bool groups_take_one_pass(const RmsNormQuantize& call) {
  const int num_lanes = lanes_of(call.norm.dtype, call.grid.block_columns);
  if (num_lanes == 0) return false;
  return groups_are_whole<T>(call) ||
         QuantizeAnyRowGroups<T, Normed<false>>::fits_block(call.norm.width, num_lanes);
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.rms_norm_quantize on any device: checks, outputs, the call. `run` is the CPU's
// function or the launcher of CUDA.
#pragma once

#include <torch/csrc/stable/library.h>

#include <tuple>

#include "../common/torch_quantized.h"
#include "../rms_norm/rms_norm_torch.h"
#include "rms_norm_quantize.h"

namespace cudaops_kernels {

// residual_out has no elements where there is no residual.
template <typename Run>
std::tuple<Tensor, Tensor, Tensor> rms_norm_quantize_on(
    const Tensor& input, const OptionalTensor& residual, const OptionalTensor& weight, double eps,
    ScalarType type, int64_t group_size, const OptionalTensor& scale_ub, bool ue8m0,
    bool scales_column_major, double weight_offset, const OptionalTensor& scale, const Run& run) {
  const char* const op = "rms_norm_quantize";
  const DType dtype = checked_dtype(op, "input", input);
  RmsNormQuantize call{};
  call.type = quantized_type(op, "dtype", type);
  const TensorRows rows = rows_of(op, "input", input);
  const Columns columns = columns_of(op, "weight", weight, "input", input, rows.width);
  call.norm = rms_norm_call(op, rows, dtype, columns, eps, weight_offset);
  std::optional<TensorRows> residual_rows;
  if (residual.has_value()) {
    check_same(op, "input", input, "residual", *residual);
    residual_rows = rows_of(op, "residual", *residual);
    call.norm.residual = residual_rows->read();
  }
  const Blocks blocks = groups_of(op, input, group_size);
  const ScaleOptions options =
      scale_options(op, "input", input, scale_ub, ue8m0, group_size, scales_column_major, scale);
  const BlockNumbers scales =
      empty_block_numbers(input, blocks, ScalarType::Float, scales_column_major);
  const Tensor output = make_empty(input, input.sizes(), type);
  const Tensor residual_out = empty_like_or_none(residual, input);
  if (residual.has_value()) {
    call.norm.residual_out = {residual_out.mutable_data_ptr(), rows.width};
  }
  call.grid = blocks.grid;
  call.output = {output.mutable_data_ptr(), rows.width};
  call.scale = static_cast<float*>(scales.tensor.mutable_data_ptr());
  call.strides = scales.strides;
  call.rule = options.rule();
  run(call);
  return {output, scale_output(input, options, scales.tensor), residual_out};
}

}  // namespace cudaops_kernels

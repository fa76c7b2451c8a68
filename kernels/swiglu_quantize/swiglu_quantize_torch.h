// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.swiglu_quantize on any device: checks, outputs, the call. `run` is the CPU's
// function or the launcher of CUDA.
#pragma once

#include <torch/csrc/stable/library.h>

#include <tuple>

#include "../common/torch_quantized.h"
#include "swiglu_quantize.h"

namespace cudaops_kernels {

template <typename Run>
std::tuple<Tensor, Tensor> swiglu_quantize_on(const Tensor& gate, const Tensor& up, ScalarType type,
                                              int64_t group_size,
                                              const std::optional<Tensor>& scale_ub, bool ue8m0,
                                              bool scales_column_major, const OptionalTensor& scale,
                                              const Run& run) {
  const char* const op = "swiglu_quantize";
  SwigluQuantize call{};
  const DType dtype = checked_dtype(op, "gate", gate);
  check_same(op, "gate", gate, "up", up);
  call.type = quantized_type(op, "dtype", type);
  const TensorRows gate_rows = rows_of(op, "gate", gate), up_rows = rows_of(op, "up", up);
  const Blocks blocks = groups_of(op, gate, group_size);
  const ScaleOptions options =
      scale_options(op, "gate", gate, scale_ub, ue8m0, group_size, scales_column_major, scale);
  const BlockNumbers scales =
      empty_block_numbers(gate, blocks, ScalarType::Float, scales_column_major);
  const Tensor output = make_empty(gate, gate.sizes(), type);
  call.unit = {gate_rows.num_rows, gate_rows.width, dtype, gate_rows.read(), up_rows.read(), {}};
  call.grid = blocks.grid;
  call.output = {output.mutable_data_ptr(), gate_rows.width};
  call.scale = static_cast<float*>(scales.tensor.mutable_data_ptr());
  call.strides = scales.strides;
  call.rule = options.rule();
  run(call);
  return {output, scale_output(gate, options, scales.tensor)};
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.rms_norm and its relatives on any device: checks, outputs, the call. `run` is
// the CPU's function or the launcher of CUDA.
#pragma once

#include <torch/csrc/stable/library.h>

#include <tuple>

#include "../common/torch_memory.h"
#include "../common/torch_rows.h"
#include "rms_norm.h"

namespace cudaops_kernels {

// What all of them have: the inputs.
inline RmsNorm rms_norm_call(const char* op, const TensorRows& rows, DType dtype,
                             const Columns& weight, double eps, double weight_offset) {
  RmsNorm call{};
  call.num_rows = rows.num_rows;
  call.width = rows.width;
  call.dtype = dtype;
  call.weight_dtype = weight.dtype;
  call.input = rows.read();
  call.weight = weight.data();
  call.eps = checked_from_zero(op, "eps", eps);
  call.weight_offset = checked_finite(op, "weight_offset", weight_offset);
  return call;
}

template <typename Run>
std::tuple<Tensor, Tensor> rms_norm_on(const Tensor& input, const OptionalTensor& weight,
                                       double eps, double weight_offset, const Run& run) {
  const char* const op = "rms_norm";
  const DType dtype = checked_dtype(op, "input", input);
  const TensorRows rows = rows_of(op, "input", input);
  const Columns scale = columns_of(op, "weight", weight, "input", input, rows.width);
  const Tensor output = empty_of_shape(input), rstd = empty_per_row(input);
  RmsNorm call = rms_norm_call(op, rows, dtype, scale, eps, weight_offset);
  call.output = {output.mutable_data_ptr(), rows.width};
  call.rstd = static_cast<float*>(rstd.mutable_data_ptr());
  run(call);
  return {output, rstd};
}

template <typename Run>
std::tuple<Tensor, Tensor, Tensor> fused_add_rms_norm_on(const Tensor& input,
                                                         const Tensor& residual,
                                                         const OptionalTensor& weight, double eps,
                                                         double weight_offset, const Run& run) {
  const char* const op = "fused_add_rms_norm";
  const DType dtype = checked_dtype(op, "input", input);
  check_same(op, "input", input, "residual", residual);
  const TensorRows rows = rows_of(op, "input", input);
  const TensorRows residual_rows = rows_of(op, "residual", residual);
  const Columns scale = columns_of(op, "weight", weight, "input", input, rows.width);
  const Tensor output = empty_of_shape(input), residual_out = empty_of_shape(input);
  const Tensor rstd = empty_per_row(input);
  RmsNorm call = rms_norm_call(op, rows, dtype, scale, eps, weight_offset);
  call.residual = residual_rows.read();
  call.output = {output.mutable_data_ptr(), rows.width};
  call.residual_out = {residual_out.mutable_data_ptr(), rows.width};
  call.rstd = static_cast<float*>(rstd.mutable_data_ptr());
  run(call);
  return {output, residual_out, rstd};
}

// input becomes the output, residual the sum.
template <typename Run>
void fused_add_rms_norm_in_place_on(Tensor input, Tensor residual, const OptionalTensor& weight,
                                    double eps, double weight_offset, const Run& run) {
  const char* const op = "fused_add_rms_norm_";
  const DType dtype = checked_dtype(op, "input", input);
  check_same(op, "input", input, "residual", residual);
  const TensorRows rows = rows_of(op, "input", input);
  const TensorRows residual_rows = rows_of(op, "residual", residual);
  const Columns scale = columns_of(op, "weight", weight, "input", input, rows.width);
  check_writable(op, "input", input);
  check_writable(op, "residual", residual);
  check_apart(op, "input", input, "residual", residual);
  if (weight.has_value()) {
    check_apart(op, "input", input, "weight", *weight);
    check_apart(op, "residual", residual, "weight", *weight);
  }
  RmsNorm call = rms_norm_call(op, rows, dtype, scale, eps, weight_offset);
  call.residual = residual_rows.read();
  call.output = rows.write();
  call.residual_out = residual_rows.write();
  run(call);
  // Rows that had to be copied go back to where they came from.
  write_back(input, rows.tensor);
  write_back(residual, residual_rows.tensor);
}

// grad_weight has no elements where there is no weight or it isn't wanted.
template <typename Run>
std::tuple<Tensor, Tensor> rms_norm_backward_on(const Tensor& grad_output,
                                                const OptionalTensor& grad_residual_out,
                                                const Tensor& x, const OptionalTensor& weight,
                                                const Tensor& rstd, double weight_offset,
                                                bool needs_grad_weight, const Run& run) {
  const char* const op = "rms_norm_backward";
  const DType dtype = checked_dtype(op, "grad_output", grad_output);
  check_same(op, "grad_output", grad_output, "x", x);
  const TensorRows grad_rows = rows_of(op, "grad_output", grad_output);
  const TensorRows x_rows = rows_of(op, "x", x);
  const Columns scale = columns_of(op, "weight", weight, "x", x, x_rows.width);
  const Tensor contiguous_rstd = per_row(op, "rstd", rstd, "x", x, x_rows.num_rows);
  const Tensor grad_x = empty_of_shape(x);
  const bool has_grad_weight = weight.has_value() && needs_grad_weight;
  const Tensor grad_weight = empty_like_or_none(has_grad_weight ? weight : std::nullopt, x);
  std::optional<TensorRows> residual_rows;
  RmsNormBackward call{};
  call.num_rows = x_rows.num_rows;
  call.width = x_rows.width;
  call.dtype = dtype;
  call.weight_dtype = scale.dtype;
  call.grad_output = grad_rows.read();
  if (grad_residual_out.has_value()) {
    check_same(op, "grad_output", grad_output, "grad_residual_out", *grad_residual_out);
    residual_rows = rows_of(op, "grad_residual_out", *grad_residual_out);
    call.grad_residual_out = residual_rows->read();
  }
  call.x = x_rows.read();
  call.weight = scale.data();
  call.rstd = static_cast<const float*>(contiguous_rstd.const_data_ptr());
  call.grad_x = {grad_x.mutable_data_ptr(), x_rows.width};
  if (has_grad_weight) call.grad_weight = grad_weight.mutable_data_ptr();
  call.weight_offset = checked_finite(op, "weight_offset", weight_offset);
  run(call);
  return {grad_x, grad_weight};
}

}  // namespace cudaops_kernels

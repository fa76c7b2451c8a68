// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.rms_norm and its relatives: schemas and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include <tuple>

#include "../common/torch_device.h"
#include "../common/torch_memory.h"
#include "torch_rms_norm.h"

namespace cudaops_kernels {
namespace {

template <typename Device>
void run_forward(const Device& device, const RmsNorm& call) {
  if constexpr (Device::kIsGpu) {
    launch_rms_norm(call, device.stream());
  } else {
    rms_norm_cpu(call, torch_threads);
  }
}

template <typename Device>
std::tuple<Tensor, Tensor> rms_norm(const Tensor& input, const OptionalTensor& weight, double eps,
                                    double weight_offset) {
  const Device device(input);
  const char* const op = "rms_norm";
  const DType dtype = checked_dtype(op, "input", input);
  const TensorRows rows = rows_of(op, "input", input);
  const Columns scale = columns_of(op, "weight", weight, "input", input, rows.width);
  const Tensor output = empty_of_shape(input), rstd = empty_per_row(input);
  RmsNorm call = rms_norm_call(op, rows, dtype, scale, eps, weight_offset);
  call.output = {output.mutable_data_ptr(), rows.width};
  call.rstd = static_cast<float*>(rstd.mutable_data_ptr());
  run_forward(device, call);
  return {output, rstd};
}

template <typename Device>
std::tuple<Tensor, Tensor, Tensor> fused_add_rms_norm(const Tensor& input, const Tensor& residual,
                                                      const OptionalTensor& weight, double eps,
                                                      double weight_offset) {
  const Device device(input);
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
  run_forward(device, call);
  return {output, residual_out, rstd};
}

// input becomes the output, residual the sum.
template <typename Device>
void fused_add_rms_norm_in_place(Tensor input, Tensor residual, const OptionalTensor& weight,
                                 double eps, double weight_offset) {
  const Device device(input);
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
  run_forward(device, call);
  // Rows that had to be copied go back to where they came from.
  write_back(input, rows.tensor);
  write_back(residual, residual_rows.tensor);
}

// grad_weight has no elements where there is no weight or it isn't wanted.
template <typename Device>
std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor& grad_output,
                                             const OptionalTensor& grad_residual_out,
                                             const Tensor& x, const OptionalTensor& weight,
                                             const Tensor& rstd, double weight_offset,
                                             bool needs_grad_weight) {
  const Device device(x);
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
  if constexpr (Device::kIsGpu) {
    const Workspace workspace(x, rms_norm_backward_workspace_bytes(call));
    launch_rms_norm_backward(call, workspace.data(), device.stream());
  } else {
    rms_norm_backward_cpu(call, torch_threads);
  }
  return {grad_x, grad_weight};
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "rms_norm(Tensor input, Tensor? weight, float eps, float weight_offset=0) "
         "-> (Tensor output, Tensor rstd)");
  define(library,
         "fused_add_rms_norm(Tensor input, Tensor residual, Tensor? weight, float eps, "
         "float weight_offset=0) -> (Tensor output, Tensor residual_out, Tensor rstd)");
  library.def(
      "fused_add_rms_norm_(Tensor(a!) input, Tensor(b!) residual, Tensor? weight, float eps, "
      "float weight_offset=0) -> ()");
  define(
      library,
      "rms_norm_backward(Tensor grad_output, Tensor? grad_residual_out, Tensor x, Tensor? weight, "
      "Tensor rstd, float weight_offset=0, bool needs_grad_weight=True) "
      "-> (Tensor grad_x, Tensor grad_weight)");
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  implement(library, "rms_norm", TORCH_BOX(&rms_norm<Device>));
  implement(library, "fused_add_rms_norm", TORCH_BOX(&fused_add_rms_norm<Device>));
  library.impl("fused_add_rms_norm_", TORCH_BOX(&fused_add_rms_norm_in_place<Device>));
  implement(library, "rms_norm_backward", TORCH_BOX(&rms_norm_backward<Device>));
}

}  // namespace cudaops_kernels

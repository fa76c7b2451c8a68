// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.layer_norm and layer_norm_backward: schemas and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include <tuple>

#include "../common/torch_device.h"
#include "../common/torch_rows.h"
#include "layer_norm.h"

namespace cudaops_kernels {
namespace {

template <typename Device>
std::tuple<Tensor, Tensor, Tensor> layer_norm(const Tensor& input, const OptionalTensor& weight,
                                              const OptionalTensor& bias, double eps) {
  const Device device(input);
  const char* const op = "layer_norm";
  const DType dtype = checked_dtype(op, "input", input);
  const TensorRows rows = rows_of(op, "input", input);
  const Columns scale = columns_of(op, "weight", weight, "input", input, rows.width);
  const Columns shift = columns_of(op, "bias", bias, "input", input, rows.width);
  if (weight.has_value() && bias.has_value()) check_same(op, "weight", *weight, "bias", *bias);
  const Tensor output = empty_of_shape(input);
  const Tensor mean = empty_per_row(input), rstd = empty_per_row(input);
  LayerNorm call{};
  call.num_rows = rows.num_rows;
  call.width = rows.width;
  call.dtype = dtype;
  call.weight_dtype = weight.has_value() ? scale.dtype : shift.dtype;
  call.input = rows.read();
  call.weight = scale.data();
  call.bias = shift.data();
  call.output = {output.mutable_data_ptr(), rows.width};
  call.mean = static_cast<float*>(mean.mutable_data_ptr());
  call.rstd = static_cast<float*>(rstd.mutable_data_ptr());
  call.eps = checked_from_zero(op, "eps", eps);
  if constexpr (Device::kIsGpu) {
    launch_layer_norm(call, device.stream());
  } else {
    layer_norm_cpu(call, torch_threads);
  }
  return {output, mean, rstd};
}

// grad_weight and grad_bias have no elements where there is no weight, no bias, or they aren't
// wanted.
template <typename Device>
std::tuple<Tensor, Tensor, Tensor> layer_norm_backward(
    const Tensor& grad_output, const Tensor& input, const OptionalTensor& weight,
    const OptionalTensor& bias, const Tensor& mean, const Tensor& rstd, bool needs_grad_weight,
    bool needs_grad_bias) {
  const Device device(input);
  const char* const op = "layer_norm_backward";
  const DType dtype = checked_dtype(op, "grad_output", grad_output);
  check_same(op, "grad_output", grad_output, "input", input);
  const TensorRows grad_rows = rows_of(op, "grad_output", grad_output);
  const TensorRows rows = rows_of(op, "input", input);
  const Columns scale = columns_of(op, "weight", weight, "input", input, rows.width);
  const Columns shift = columns_of(op, "bias", bias, "input", input, rows.width);
  if (weight.has_value() && bias.has_value()) check_same(op, "weight", *weight, "bias", *bias);
  const Tensor means = per_row(op, "mean", mean, "input", input, rows.num_rows);
  const Tensor rstds = per_row(op, "rstd", rstd, "input", input, rows.num_rows);
  const Tensor grad_input = empty_of_shape(input);
  const bool has_grad_weight = weight.has_value() && needs_grad_weight;
  const bool has_grad_bias = bias.has_value() && needs_grad_bias;
  const Tensor grad_weight = empty_like_or_none(has_grad_weight ? weight : std::nullopt, input);
  const Tensor grad_bias = empty_like_or_none(has_grad_bias ? bias : std::nullopt, input);
  LayerNormBackward call{};
  call.num_rows = rows.num_rows;
  call.width = rows.width;
  call.dtype = dtype;
  call.weight_dtype = weight.has_value() ? scale.dtype : shift.dtype;
  call.grad_output = grad_rows.read();
  call.input = rows.read();
  call.weight = scale.data();
  call.mean = static_cast<const float*>(means.const_data_ptr());
  call.rstd = static_cast<const float*>(rstds.const_data_ptr());
  call.grad_input = {grad_input.mutable_data_ptr(), rows.width};
  if (has_grad_weight) call.grad_weight = grad_weight.mutable_data_ptr();
  if (has_grad_bias) call.grad_bias = grad_bias.mutable_data_ptr();
  if constexpr (Device::kIsGpu) {
    const Workspace workspace(input, layer_norm_backward_workspace_bytes(call));
    launch_layer_norm_backward(call, workspace.data(), device.stream());
  } else {
    layer_norm_backward_cpu(call, torch_threads);
  }
  return {grad_input, grad_weight, grad_bias};
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "layer_norm(Tensor input, Tensor? weight, Tensor? bias, float eps) "
         "-> (Tensor output, Tensor mean, Tensor rstd)");
  define(library,
         "layer_norm_backward(Tensor grad_output, Tensor input, Tensor? weight, Tensor? bias, "
         "Tensor mean, Tensor rstd, bool needs_grad_weight=True, bool needs_grad_bias=True) "
         "-> (Tensor grad_input, Tensor grad_weight, Tensor grad_bias)");
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  implement(library, "layer_norm", TORCH_BOX(&layer_norm<Device>));
  implement(library, "layer_norm_backward", TORCH_BOX(&layer_norm_backward<Device>));
}

}  // namespace cudaops_kernels

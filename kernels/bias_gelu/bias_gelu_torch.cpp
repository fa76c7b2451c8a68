// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.bias_gelu and its backward: schemas and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include <string>
#include <tuple>

#include "../common/torch_device.h"
#include "../common/torch_gelu.h"
#include "../common/torch_rows.h"
#include "bias_gelu.h"

namespace cudaops_kernels {
namespace {

template <typename Device>
Tensor bias_gelu(const Tensor& input, const OptionalTensor& bias, const std::string& approximate) {
  const Device device(input);
  const char* const op = "bias_gelu";
  BiasGelu call{};
  call.kind = gelu_kind(op, approximate);
  call.dtype = checked_dtype(op, "input", input);
  const TensorRows rows = rows_of(op, "input", input);
  const Columns columns = columns_of(op, "bias", bias, "input", input, rows.width);
  const Tensor output = empty_of_shape(input);
  call.num_rows = rows.num_rows;
  call.width = rows.width;
  call.bias_dtype = columns.dtype;
  call.input = rows.read();
  call.bias = columns.data();
  call.output = {output.mutable_data_ptr(), rows.width};
  if constexpr (Device::kIsGpu) {
    launch_bias_gelu(call, device.stream());
  } else {
    bias_gelu_cpu(call, torch_threads);
  }
  return output;
}

// grad_bias has no elements where there is no bias or it isn't wanted.
template <typename Device>
std::tuple<Tensor, Tensor> bias_gelu_backward(const Tensor& grad_output, const Tensor& input,
                                              const OptionalTensor& bias,
                                              const std::string& approximate,
                                              bool needs_grad_bias) {
  const Device device(input);
  const char* const op = "bias_gelu_backward";
  BiasGeluBackward call{};
  call.kind = gelu_kind(op, approximate);
  call.dtype = checked_dtype(op, "grad_output", grad_output);
  check_same(op, "grad_output", grad_output, "input", input);
  const TensorRows grad_rows = rows_of(op, "grad_output", grad_output);
  const TensorRows rows = rows_of(op, "input", input);
  const Columns columns = columns_of(op, "bias", bias, "input", input, rows.width);
  const Tensor grad_input = empty_of_shape(input);
  const bool has_grad_bias = bias.has_value() && needs_grad_bias;
  const Tensor grad_bias = empty_like_or_none(has_grad_bias ? bias : std::nullopt, input);
  call.num_rows = rows.num_rows;
  call.width = rows.width;
  call.bias_dtype = columns.dtype;
  call.grad_output = grad_rows.read();
  call.input = rows.read();
  call.bias = columns.data();
  call.grad_input = {grad_input.mutable_data_ptr(), rows.width};
  if (has_grad_bias) call.grad_bias = grad_bias.mutable_data_ptr();
  if constexpr (Device::kIsGpu) {
    const Workspace workspace(input, bias_gelu_backward_workspace_bytes(call));
    launch_bias_gelu_backward(call, workspace.data(), device.stream());
  } else {
    bias_gelu_backward_cpu(call, torch_threads);
  }
  return {grad_input, grad_bias};
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library, "bias_gelu(Tensor input, Tensor? bias, str approximate=\"none\") -> Tensor");
  define(library,
         "bias_gelu_backward(Tensor grad_output, Tensor input, Tensor? bias, "
         "str approximate=\"none\", bool needs_grad_bias=True) "
         "-> (Tensor grad_input, Tensor grad_bias)");
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  implement(library, "bias_gelu", TORCH_BOX(&bias_gelu<Device>));
  implement(library, "bias_gelu_backward", TORCH_BOX(&bias_gelu_backward<Device>));
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.rms_norm_quantize: schema and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include <tuple>

#include "../common/torch_device.h"
#include "../common/torch_quantized.h"
#include "../rms_norm/torch_rms_norm.h"
#include "rms_norm_quantize.h"

namespace cudaops_kernels {
namespace {

// residual_out has no elements where there is no residual.
template <typename Device>
std::tuple<Tensor, Tensor, Tensor> rms_norm_quantize(
    const Tensor& input, const OptionalTensor& residual, const OptionalTensor& weight, double eps,
    ScalarType type, int64_t group_size, const OptionalTensor& scale_ub, bool ue8m0,
    bool scales_column_major, double weight_offset, const OptionalTensor& scale) {
  const Device device(input);
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
  if constexpr (Device::kIsGpu) {
    const Workspace workspace(input, rms_norm_quantize_workspace_bytes(call));
    launch_rms_norm_quantize(call, workspace.data(), device.stream());
  } else {
    const Tensor normed = empty_of_shape(input);
    rms_norm_quantize_cpu(call, normed.mutable_data_ptr(), torch_threads);
  }
  return {output, scale_output(input, options, scales.tensor), residual_out};
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "rms_norm_quantize(Tensor input, Tensor? residual, Tensor? weight, float eps, "
         "ScalarType dtype, int group_size=-1, Tensor? scale_ub=None, bool ue8m0=False, "
         "bool scales_column_major=False, float weight_offset=0, Tensor? scale=None) "
         "-> (Tensor output, Tensor scale, Tensor residual_out)");
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  implement(library, "rms_norm_quantize", TORCH_BOX(&rms_norm_quantize<Device>));
}

}  // namespace cudaops_kernels

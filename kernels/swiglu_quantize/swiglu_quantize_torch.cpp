// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.swiglu_quantize: schema and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include <tuple>

#include "../common/torch_device.h"
#include "../common/torch_quantized.h"
#include "swiglu_quantize.h"

namespace cudaops_kernels {
namespace {

template <typename Device>
std::tuple<Tensor, Tensor> swiglu_quantize(const Tensor& gate, const Tensor& up, ScalarType type,
                                           int64_t group_size,
                                           const std::optional<Tensor>& scale_ub, bool ue8m0,
                                           bool scales_column_major, const OptionalTensor& scale) {
  const Device device(gate);
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
  if constexpr (Device::kIsGpu) {
    const Workspace workspace(gate, swiglu_quantize_workspace_bytes(call));
    launch_swiglu_quantize(call, workspace.data(), device.stream());
  } else {
    const Tensor product = empty_of_shape(gate);
    swiglu_quantize_cpu(call, product.mutable_data_ptr(), torch_threads);
  }
  return {output, scale_output(gate, options, scales.tensor)};
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "swiglu_quantize(Tensor gate, Tensor up, ScalarType dtype, int group_size=-1, "
         "Tensor? scale_ub=None, bool ue8m0=False, bool scales_column_major=False, Tensor? "
         "scale=None) "
         "-> (Tensor output, Tensor scale)");
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  implement(library, "swiglu_quantize", TORCH_BOX(&swiglu_quantize<Device>));
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.dequantize: schema and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include "../common/torch_device.h"
#include "../common/torch_quantized.h"
#include "dequantize.h"

namespace cudaops_kernels {
namespace {

template <typename Device>
Tensor dequantize(const Tensor& input, const Tensor& scale, std::optional<Tensor> zero_point,
                  std::vector<int64_t> block_size, ScalarType dtype) {
  const Device device(input);
  const char* const op = "dequantize";
  Dequantize call{};
  call.type = quantized_type(op, "input", input.scalar_type());
  call.dtype = checked_dtype(op, "dtype", dtype);
  const TensorRows rows = rows_of(op, "input", input);
  const Blocks blocks = blocks_of(op, input, block_size);
  BlockNumbers scales =
      block_numbers_of(op, "scale", scale, ScalarType::Float, "input", input, blocks);
  std::optional<BlockNumbers> zeros;
  if (zero_point.has_value()) {
    if (call.type == QuantizedType::kFloat8) {
      refuse(op, "wanted no zero_point for input of Float8_e4m3fn.");
    }
    zeros =
        block_numbers_of(op, "zero_point", *zero_point, ScalarType::Int, "input", input, blocks);
    const BlockStrides &a = scales.strides, &b = zeros->strides;
    if (a.matrix != b.matrix || a.row != b.row || a.column != b.column) {
      const int64_t num_rows = blocks.grid.rows_of_blocks();
      const int64_t columns = blocks.grid.columns_of_blocks();
      scales = {as_contiguous(op, "scale", scales.tensor), {num_rows * columns, columns, 1}};
      zeros = {as_contiguous(op, "zero_point", zeros->tensor), scales.strides};
    }
    call.zero_point = static_cast<const int32_t*>(zeros->tensor.const_data_ptr());
  }
  const Tensor output = make_empty(input, input.sizes(), dtype);
  call.grid = blocks.grid;
  call.input = rows.read();
  call.output = {output.mutable_data_ptr(), rows.width};
  call.scale = static_cast<const float*>(scales.tensor.const_data_ptr());
  call.strides = scales.strides;
  if constexpr (Device::kIsGpu) {
    launch_dequantize(call, device.stream());
  } else {
    dequantize_cpu(call, torch_threads);
  }
  return output;
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "dequantize(Tensor input, Tensor scale, Tensor? zero_point, int[] block_size, "
         "ScalarType dtype) -> Tensor");
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  implement(library, "dequantize", TORCH_BOX(&dequantize<Device>));
}

}  // namespace cudaops_kernels

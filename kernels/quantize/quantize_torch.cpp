// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.quantize: schema and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include <tuple>

#include "../common/torch_device.h"
#include "../common/torch_quantized.h"
#include "quantize.h"

namespace cudaops_kernels {
namespace {

// What a scale is made by is of no use where one is given.
void check_quantize_options(bool has_scale, bool has_bound, bool symmetric, bool ue8m0,
                            bool scales_column_major, QuantizedType type) {
  const char* const op = "quantize";
  if (!symmetric && type == QuantizedType::kFloat8) {
    refuse(op, "wanted symmetric=True for dtype Float8_e4m3fn, found False.");
  }
  if (!has_scale) return;
  if (!symmetric) refuse(op, "wanted symmetric=True with a given scale, found False.");
  if (has_bound) refuse(op, "wanted no scale_ub with a given scale.");
  if (ue8m0) refuse(op, "wanted ue8m0=False with a given scale, found True.");
  if (scales_column_major) {
    refuse(op, "wanted scales_column_major=False with a given scale, found True.");
  }
}

template <typename Device>
std::tuple<Tensor, Tensor, Tensor> quantize(const Tensor& input, ScalarType dtype,
                                            std::vector<int64_t> block_size,
                                            std::optional<Tensor> scale,
                                            std::optional<Tensor> scale_ub, bool symmetric,
                                            bool ue8m0, bool scales_column_major,
                                            std::optional<int64_t> seed) {
  const Device device(input);
  const char* const op = "quantize";
  Quantize call{};
  call.dtype = checked_dtype(op, "input", input);
  call.type = quantized_type(op, "dtype", dtype);
  check_quantize_options(scale.has_value(), scale_ub.has_value(), symmetric, ue8m0,
                         scales_column_major, call.type);
  const TensorRows rows = rows_of(op, "input", input);
  const Blocks blocks = blocks_of(op, input, block_size);
  const ScaleOptions options = scale_options(op, "input", input, scale_ub, ue8m0);
  const BlockNumbers scales =
      scale.has_value()
          ? block_numbers_of(op, "scale", *scale, ScalarType::Float, "input", input, blocks)
          : empty_block_numbers(input, blocks, ScalarType::Float, scales_column_major);
  if (scale.has_value() && input.is_cpu()) {
    const float* const numbers = static_cast<const float*>(scales.tensor.const_data_ptr());
    const BlockGrid& grid = blocks.grid;
    for (int64_t matrix = 0; matrix < grid.num_matrices; ++matrix) {
      for (int64_t row = 0; row < grid.rows_of_blocks(); ++row) {
        for (int64_t column = 0; column < grid.columns_of_blocks(); ++column) {
          check_positive(op, "scale", numbers[scales.strides.at(matrix, row, column)]);
        }
      }
    }
  }
  const Tensor none = make_empty(input, {0}, ScalarType::Int);
  const Tensor zero_point =
      symmetric ? none
                : empty_block_numbers(input, blocks, ScalarType::Int, scales_column_major).tensor;
  const Tensor output = make_empty(input, input.sizes(), dtype);
  call.grid = blocks.grid;
  call.input = rows.read();
  call.output = {output.mutable_data_ptr(), rows.width};
  // Only read where it is given.
  call.scale = static_cast<float*>(const_cast<void*>(scales.tensor.const_data_ptr()));
  if (!symmetric) call.zero_point = static_cast<int32_t*>(zero_point.mutable_data_ptr());
  call.strides = scales.strides;
  call.rule = options.rule();
  call.has_scale = scale.has_value();
  call.is_random = seed.has_value();
  if (seed.has_value()) call.seed = static_cast<uint64_t>(*seed);
  if constexpr (Device::kIsGpu) {
    launch_quantize(call, device.stream());
  } else {
    quantize_cpu(call, torch_threads);
  }
  // An output must not be an input.
  if (scale.has_value()) {
    return {output, make_empty(input, {0}, ScalarType::Float), zero_point};
  }
  return {output, scales.tensor, zero_point};
}

}  // namespace

// Where a scale is given, the scale that is returned has no elements.
STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "quantize(Tensor input, ScalarType dtype, int[] block_size, Tensor? scale=None, "
         "Tensor? scale_ub=None, bool symmetric=True, bool ue8m0=False, "
         "bool scales_column_major=False, int? seed=None) "
         "-> (Tensor output, Tensor scale, Tensor zero_point)");
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  implement(library, "quantize", TORCH_BOX(&quantize<Device>));
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/util/Exception.h>

namespace rowwise_ops {

// Checks the input, makes out, and calls run(input data, out data, number and size of rows).
template <typename Run>
torch::stable::Tensor absmax_with(const torch::stable::Tensor& input, const Run& run) {
  STD_TORCH_CHECK(input.scalar_type() == torch::headeronly::ScalarType::Float,
                  "absmax: wanted float32");
  STD_TORCH_CHECK(input.dim() > 0 && input.size(input.dim() - 1) > 0,
                  "absmax: wanted rows of at least one element");
  const auto sizes = input.sizes();
  const int64_t row_size = sizes[sizes.size() - 1];
  const auto contiguous_input = torch::stable::contiguous(input);
  const auto out = torch::stable::new_empty(
      input, torch::headeronly::IntHeaderOnlyArrayRef(sizes.data(), sizes.size() - 1));
  run(contiguous_input.const_data_ptr<float>(), out.mutable_data_ptr<float>(), out.numel(),
      row_size);
  return out;
}

}  // namespace rowwise_ops

// SPDX-License-Identifier: Apache-2.0
// What both bindings share.
#pragma once

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/util/Exception.h>

namespace both_ops {

// Checks the input, makes out, and calls run(data, is_bfloat16, out data, number and size of rows).
template <typename Run>
torch::stable::Tensor row_rms_with(const torch::stable::Tensor& input, const Run& run) {
  using torch::headeronly::ScalarType;
  const bool is_bfloat16 = input.scalar_type() == ScalarType::BFloat16;
  STD_TORCH_CHECK(is_bfloat16 || input.scalar_type() == ScalarType::Float,
                  "row_rms: wanted float32 or bfloat16");
  STD_TORCH_CHECK(input.dim() > 0, "row_rms: wanted at least one dimension");
  const auto sizes = input.sizes();
  const torch::headeronly::IntHeaderOnlyArrayRef out_sizes(sizes.data(), sizes.size() - 1);
  const auto contiguous_input = torch::stable::contiguous(input);
  const auto out = torch::stable::new_empty(input, out_sizes, ScalarType::Float);
  run(contiguous_input.const_data_ptr(), is_bfloat16, out.mutable_data_ptr<float>(), out.numel(),
      sizes[sizes.size() - 1]);
  return out;
}

}  // namespace both_ops

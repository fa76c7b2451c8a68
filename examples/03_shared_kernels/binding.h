// SPDX-License-Identifier: Apache-2.0
// What the bindings of both ops share.
#pragma once

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/util/Exception.h>

#include "matmul.h"

// A @ B.T in a new tensor; run(problem) does the work.
template <typename Run>
torch::stable::Tensor matmul_of(const torch::stable::Tensor& a, const torch::stable::Tensor& b,
                                const Run& run) {
  using torch::headeronly::ScalarType;
  STD_TORCH_CHECK(a.scalar_type() == ScalarType::BFloat16 && b.scalar_type() == a.scalar_type(),
                  "wanted bfloat16");
  STD_TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(1),
                  "wanted two matrices with rows of one length");
  STD_TORCH_CHECK(a.device() == b.device(), "wanted one device");
  const auto contiguous_a = torch::stable::contiguous(a),
             contiguous_b = torch::stable::contiguous(b);
  const int64_t sizes[] = {a.size(0), b.size(0)};
  const auto out = torch::stable::new_empty(a, torch::headeronly::IntHeaderOnlyArrayRef(sizes, 2),
                                            ScalarType::Float);
  run(matmul::Problem{static_cast<const uint16_t*>(contiguous_a.const_data_ptr()),
                      static_cast<const uint16_t*>(contiguous_b.const_data_ptr()),
                      out.mutable_data_ptr<float>(), sizes[0], sizes[1], a.size(1)});
  return out;
}

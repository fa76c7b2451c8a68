// What both bindings ask of their inputs; the error is Python's RuntimeError.
#pragma once

#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/util/Exception.h>

#include <algorithm>

namespace my_ops {

inline void check_inputs(const torch::stable::Tensor& a, const torch::stable::Tensor& b) {
  for (const auto* tensor : {&a, &b}) {
    // Python's None is a tensor that isn't defined.
    STD_TORCH_CHECK(
        tensor->defined() && tensor->scalar_type() == torch::headeronly::ScalarType::Float,
        "scaled_add: wanted float32");
    STD_TORCH_CHECK(tensor->is_contiguous(), "scaled_add: wanted contiguous tensors");
  }
  STD_TORCH_CHECK(a.device() == b.device(), "scaled_add: wanted one device for a and b");
  const auto a_sizes = a.sizes(), b_sizes = b.sizes();
  STD_TORCH_CHECK(std::equal(a_sizes.begin(), a_sizes.end(), b_sizes.begin(), b_sizes.end()),
                  "scaled_add: wanted one shape for a and b");
}

}  // namespace my_ops

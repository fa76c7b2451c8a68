// SPDX-License-Identifier: Apache-2.0
// torch.ops.scaled_ops.scaled_add: schema and CPU kernel.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

namespace scaled_ops {
namespace {

using torch::stable::Tensor;

Tensor scaled_add_on_cpu(const Tensor& a, const Tensor& b, double scale) {
  STD_TORCH_CHECK(a.numel() == b.numel(), "scaled_add: wanted one size, found ", a.numel(), " and ",
                  b.numel());
  const Tensor out = torch::stable::empty_like(a);
  const float* a_data = a.const_data_ptr<float>();
  const float* b_data = b.const_data_ptr<float>();
  float* out_data = out.mutable_data_ptr<float>();
  const float factor = static_cast<float>(scale);
  for (int64_t i = 0; i < a.numel(); ++i) out_data[i] = a_data[i] + factor * b_data[i];
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY(scaled_ops, library) {
  library.def("scaled_add(Tensor a, Tensor b, float scale) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(scaled_ops, CPU, library) {
  library.impl("scaled_add", TORCH_BOX(&scaled_add_on_cpu));
}

}  // namespace scaled_ops

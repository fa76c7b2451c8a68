// SPDX-License-Identifier: Apache-2.0
// torch.ops.my_ops.add: schema and CPU kernel.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include "check_inputs.h"

namespace my_ops {
namespace {

using torch::stable::Tensor;

Tensor add_on_cpu(const Tensor& a, const Tensor& b) {
  check_inputs(a, b);
  const Tensor out = torch::stable::empty_like(a);
  const float* a_data = a.const_data_ptr<float>();
  const float* b_data = b.const_data_ptr<float>();
  float* out_data = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < a.numel(); ++i) out_data[i] = a_data[i] + b_data[i];
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY(my_ops, library) { library.def("add(Tensor a, Tensor b) -> Tensor"); }

STABLE_TORCH_LIBRARY_IMPL(my_ops, CPU, library) { library.impl("add", TORCH_BOX(&add_on_cpu)); }

}  // namespace my_ops

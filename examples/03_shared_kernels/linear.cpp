// SPDX-License-Identifier: Apache-2.0
// torch.ops.linear_ops.linear: input @ weight.T
#include <torch/csrc/stable/library.h>

#include "binding.h"

namespace {

using torch::stable::Tensor;

Tensor linear_on_cpu(const Tensor& input, const Tensor& weight) {
  return matmul_of(input, weight, matmul::run_on_cpu);
}

}  // namespace

STABLE_TORCH_LIBRARY(linear_ops, library) {
  library.def("linear(Tensor input, Tensor weight) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(linear_ops, CPU, library) {
  library.impl("linear", TORCH_BOX(&linear_on_cpu));
}

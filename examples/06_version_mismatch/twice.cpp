// SPDX-License-Identifier: Apache-2.0
// torch.ops.mismatch_ops.twice: schema and CPU kernel.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

namespace {

using torch::stable::Tensor;

Tensor twice_on_cpu(const Tensor& input) { return torch::stable::subtract(input, input, -1.0); }

}  // namespace

STABLE_TORCH_LIBRARY(mismatch_ops, library) { library.def("twice(Tensor input) -> Tensor"); }

STABLE_TORCH_LIBRARY_IMPL(mismatch_ops, CPU, library) {
  library.impl("twice", TORCH_BOX(&twice_on_cpu));
}

// SPDX-License-Identifier: Apache-2.0
// torch.ops.gram_ops.gram: input @ input.T
#include <torch/csrc/stable/library.h>

#include "binding.h"

namespace {

using torch::stable::Tensor;

Tensor gram_on_cpu(const Tensor& input) { return matmul_of(input, input, matmul::run_on_cpu); }

}  // namespace

STABLE_TORCH_LIBRARY(gram_ops, library) { library.def("gram(Tensor input) -> Tensor"); }

STABLE_TORCH_LIBRARY_IMPL(gram_ops, CPU, library) { library.impl("gram", TORCH_BOX(&gram_on_cpu)); }

// SPDX-License-Identifier: Apache-2.0
#include <torch/csrc/stable/library.h>

#include "binding_cuda.h"

namespace {

using torch::stable::Tensor;

Tensor gram_on_cuda(const Tensor& input) { return matmul_on_cuda(input, input); }

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(gram_ops, CUDA, library) {
  library.impl("gram", TORCH_BOX(&gram_on_cuda));
}

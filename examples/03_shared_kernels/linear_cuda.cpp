// SPDX-License-Identifier: Apache-2.0
#include <torch/csrc/stable/library.h>

#include "binding_cuda.h"

STABLE_TORCH_LIBRARY_IMPL(linear_ops, CUDA, library) {
  library.impl("linear", TORCH_BOX(&matmul_on_cuda));
}

// SPDX-License-Identifier: Apache-2.0
// torch.ops.rowwise_ops.absmax: schema and CPU kernel.
#include <torch/csrc/stable/library.h>

#include <cmath>

#include "binding.h"

namespace rowwise_ops {
namespace {

using torch::stable::Tensor;

void absmax_rows(const float* input, float* out, int64_t num_rows, int64_t row_size) {
  for (int64_t row = 0; row < num_rows; ++row) {
    float largest = 0;
    for (int64_t i = 0; i < row_size; ++i) {
      const float magnitude = std::fabs(input[row * row_size + i]);
      // True for a NaN as well, and then for nothing else.
      if (!(magnitude <= largest)) largest = std::isnan(largest) ? largest : magnitude;
    }
    out[row] = largest;
  }
}

Tensor absmax_on_cpu(const Tensor& input) { return absmax_with(input, absmax_rows); }

}  // namespace

STABLE_TORCH_LIBRARY(rowwise_ops, library) { library.def("absmax(Tensor input) -> Tensor"); }

STABLE_TORCH_LIBRARY_IMPL(rowwise_ops, CPU, library) {
  library.impl("absmax", TORCH_BOX(&absmax_on_cpu));
}

}  // namespace rowwise_ops

// SPDX-License-Identifier: Apache-2.0
// torch.ops.both_ops.row_rms: schema and CPU kernel.
#include <torch/csrc/stable/library.h>
#include <torch/headeronly/util/BFloat16.h>

#include <cmath>

#include "binding.h"

namespace both_ops {
namespace {

using torch::stable::Tensor;

template <typename T>
void row_rms(const T* input, float* out, int64_t num_rows, int64_t row_size) {
  for (int64_t row = 0; row < num_rows; ++row) {
    float sum = 0;
    for (int64_t i = 0; i < row_size; ++i) {
      const float value = static_cast<float>(input[row * row_size + i]);
      sum += value * value;
    }
    out[row] = std::sqrt(sum / static_cast<float>(row_size));
  }
}

Tensor row_rms_on_cpu(const Tensor& input) {
  return row_rms_with(input, [](const void* data, bool is_bfloat16, float* out, int64_t num_rows,
                                int64_t row_size) {
    if (is_bfloat16) {
      row_rms(static_cast<const c10::BFloat16*>(data), out, num_rows, row_size);
    } else {
      row_rms(static_cast<const float*>(data), out, num_rows, row_size);
    }
  });
}

}  // namespace

STABLE_TORCH_LIBRARY(both_ops, library) { library.def("row_rms(Tensor input) -> Tensor"); }

STABLE_TORCH_LIBRARY_IMPL(both_ops, CPU, library) {
  library.impl("row_rms", TORCH_BOX(&row_rms_on_cpu));
}

}  // namespace both_ops

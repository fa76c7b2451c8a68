// SPDX-License-Identifier: Apache-2.0
// torch.ops.fallback_ops.center: schema, and a kernel for every device that has none of its own.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/util/Exception.h>

#include "center_anywhere.h"

namespace fallback_ops {

using torch::stable::Tensor;

Tensor center_anywhere(const Tensor& input) {
  STD_TORCH_CHECK(input.dim() > 0, "center: wanted at least one dimension");
  const int64_t last_dim = input.dim() - 1;
  const Tensor sums =
      torch::stable::sum(input, torch::headeronly::IntHeaderOnlyArrayRef(&last_dim, 1), true);
  return torch::stable::subtract(input, sums, 1.0 / static_cast<double>(input.size(last_dim)));
}

STABLE_TORCH_LIBRARY(fallback_ops, library) { library.def("center(Tensor input) -> Tensor"); }

// Not CompositeImplicitAutograd: the op keeps a gradient of its own, and its name in a graph.
STABLE_TORCH_LIBRARY_IMPL(fallback_ops, CompositeExplicitAutograd, library) {
  library.impl("center", TORCH_BOX(&center_anywhere));
}

}  // namespace fallback_ops

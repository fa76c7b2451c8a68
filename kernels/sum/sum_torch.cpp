// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops_examples.sum: schema and CPU kernel.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding.h"
#include "sum.h"

namespace cudaops_examples {
namespace {

Tensor sum_on_cpu(const Tensor& input) {
  const DType dtype = checked_dtype("sum", "input", input);
  const Tensor contiguous_input = as_contiguous(input);
  const Tensor out = make_empty(input, {});
  sum_cpu(contiguous_input.const_data_ptr(), out.mutable_data_ptr(), input.numel(), dtype,
          torch_threads);
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops_examples, library) {
  library.def("sum(Tensor input) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops_examples, CPU, library) {
  library.impl("sum", TORCH_BOX(&sum_on_cpu));
}

}  // namespace cudaops_examples

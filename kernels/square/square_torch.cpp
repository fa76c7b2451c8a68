// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops_examples.square: schema and CPU kernel.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding.h"
#include "square.h"

namespace cudaops_examples {
namespace {

Tensor square_on_cpu(const Tensor& input) {
  const DType dtype = checked_dtype("square", "input", input);
  const Tensor contiguous_input = as_contiguous(input);
  const Tensor out = make_empty(input, input.sizes());
  square_cpu(contiguous_input.const_data_ptr(), out.mutable_data_ptr(), input.numel(), dtype,
             torch_threads);
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops_examples, library) {
  library.def("square(Tensor input) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops_examples, CPU, library) {
  library.impl("square", TORCH_BOX(&square_on_cpu));
}

}  // namespace cudaops_examples

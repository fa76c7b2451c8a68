// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops_examples.vector_add: schema and CPU kernel.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding.h"
#include "vector_add.h"

namespace cudaops_examples {
namespace {

Tensor vector_add_on_cpu(const Tensor& a, const Tensor& b) {
  check_same("vector_add", "a", a, "b", b);
  const DType dtype = checked_dtype("vector_add", "a", a);
  const Tensor contiguous_a = as_contiguous(a);
  const Tensor contiguous_b = as_contiguous(b);
  const Tensor out = make_empty(a, a.sizes());
  vector_add_cpu(contiguous_a.const_data_ptr(), contiguous_b.const_data_ptr(),
                 out.mutable_data_ptr(), a.numel(), dtype, torch_threads);
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops_examples, library) {
  library.def("vector_add(Tensor a, Tensor b) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops_examples, CPU, library) {
  library.impl("vector_add", TORCH_BOX(&vector_add_on_cpu));
}

}  // namespace cudaops_examples

// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops_examples.vector_add: CUDA kernel.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "vector_add.h"

namespace cudaops_examples {
namespace {

Tensor vector_add_on_cuda(const Tensor& a, const Tensor& b) {
  check_same("vector_add", "a", a, "b", b);
  const DType dtype = checked_dtype("vector_add", "a", a);
  const torch::stable::accelerator::DeviceGuard guard(a.get_device_index());
  const Tensor contiguous_a = as_contiguous(a);
  const Tensor contiguous_b = as_contiguous(b);
  const Tensor out = make_empty(a, a.sizes());
  launch_vector_add(contiguous_a.const_data_ptr(), contiguous_b.const_data_ptr(),
                    out.mutable_data_ptr(), a.numel(), dtype, current_stream(a));
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops_examples, CUDA, library) {
  library.impl("vector_add", TORCH_BOX(&vector_add_on_cuda));
}

}  // namespace cudaops_examples

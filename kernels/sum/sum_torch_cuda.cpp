// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops_examples.sum: CUDA kernel.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "sum.h"

namespace cudaops_examples {
namespace {

Tensor sum_on_cuda(const Tensor& input) {
  const DType dtype = checked_dtype("sum", "input", input);
  const torch::stable::accelerator::DeviceGuard guard(input.get_device_index());
  const Tensor contiguous_input = as_contiguous(input);
  const Tensor out = make_empty(input, {});
  // From torch's allocator, which hands the memory to nobody else before the stream is done with
  // it.
  const int64_t workspace_floats =
      sum_workspace_bytes(input.numel(), dtype) / int64_t{sizeof(float)};
  const Tensor workspace =
      make_empty(input, {workspace_floats}, torch::headeronly::ScalarType::Float);
  launch_sum(contiguous_input.const_data_ptr(), out.mutable_data_ptr(), input.numel(), dtype,
             workspace.mutable_data_ptr(), current_stream(input));
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops_examples, CUDA, library) {
  library.impl("sum", TORCH_BOX(&sum_on_cuda));
}

}  // namespace cudaops_examples

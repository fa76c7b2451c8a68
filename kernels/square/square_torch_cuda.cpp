// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops_examples.square: CUDA kernel.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "square.h"

namespace cudaops_examples {
namespace {

Tensor square_on_cuda(const Tensor& input) {
  const DType dtype = checked_dtype("square", "input", input);
  const torch::stable::accelerator::DeviceGuard guard(input.get_device_index());
  const Tensor contiguous_input = as_contiguous(input);
  const Tensor out = make_empty(input, input.sizes());
  launch_square(contiguous_input.const_data_ptr(), out.mutable_data_ptr(), input.numel(), dtype,
                current_stream(input));
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops_examples, CUDA, library) {
  library.impl("square", TORCH_BOX(&square_on_cuda));
}

}  // namespace cudaops_examples

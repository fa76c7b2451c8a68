// SPDX-License-Identifier: Apache-2.0
// torch.ops.mismatch_ops.twice: CUDA kernel.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/util/Exception.h>

#include "twice.h"

namespace {

using torch::stable::Tensor;

Tensor twice_on_cuda(const Tensor& input) {
  STD_TORCH_CHECK(input.scalar_type() == torch::headeronly::ScalarType::Float,
                  "twice: wanted float32");
  const int32_t device = input.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  const Tensor contiguous_input = torch::stable::contiguous(input);
  const Tensor out = torch::stable::empty_like(contiguous_input);
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(device, &stream));
  mismatch_ops::launch_twice(contiguous_input.const_data_ptr<float>(),
                             out.mutable_data_ptr<float>(), input.numel(), stream);
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(mismatch_ops, CUDA, library) {
  library.impl("twice", TORCH_BOX(&twice_on_cuda));
}

// SPDX-License-Identifier: Apache-2.0
// torch.ops.rowwise_ops.absmax: CUDA kernel.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>

#include "absmax.h"
#include "binding.h"

namespace rowwise_ops {
namespace {

using torch::stable::Tensor;

Tensor absmax_on_cuda(const Tensor& input) {
  const int32_t device = input.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(device, &stream));
  return absmax_with(input, [&](const float* rows, float* out, int64_t num_rows, int64_t row_size) {
    launch_absmax(rows, out, num_rows, row_size, stream);
  });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(rowwise_ops, CUDA, library) {
  library.impl("absmax", TORCH_BOX(&absmax_on_cuda));
}

}  // namespace rowwise_ops

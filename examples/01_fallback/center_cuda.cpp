// SPDX-License-Identifier: Apache-2.0
// torch.ops.fallback_ops.center: CUDA kernel for float32; other types take the general way.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include "center.h"
#include "center_anywhere.h"

namespace fallback_ops {
namespace {

using torch::stable::Tensor;

Tensor center_on_cuda(const Tensor& input) {
  if (input.scalar_type() != torch::headeronly::ScalarType::Float || input.dim() == 0) {
    return center_anywhere(input);
  }
  const int32_t device = input.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  const Tensor contiguous_input = torch::stable::contiguous(input);
  const Tensor out = torch::stable::empty_like(contiguous_input);
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(device, &stream));
  const int64_t row_size = input.size(input.dim() - 1);
  const int64_t num_rows = row_size == 0 ? 0 : input.numel() / row_size;
  launch_center(contiguous_input.const_data_ptr<float>(), out.mutable_data_ptr<float>(), num_rows,
                row_size, stream);
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fallback_ops, CUDA, library) {
  library.impl("center", TORCH_BOX(&center_on_cuda));
}

}  // namespace fallback_ops

// SPDX-License-Identifier: Apache-2.0
// torch.ops.scaled_ops.scaled_add: CUDA kernel.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include "scaled_add.h"

namespace scaled_ops {
namespace {

using torch::stable::Tensor;

Tensor scaled_add_on_cuda(const Tensor& a, const Tensor& b, double scale) {
  STD_TORCH_CHECK(a.numel() == b.numel(), "scaled_add: wanted one size, found ", a.numel(), " and ",
                  b.numel());
  const Tensor out = torch::stable::empty_like(a);
  const int32_t device = a.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(device, &stream));
  launch_scaled_add(a.const_data_ptr<float>(), b.const_data_ptr<float>(), scale,
                    out.mutable_data_ptr<float>(), a.numel(), stream);
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(scaled_ops, CUDA, library) {
  library.impl("scaled_add", TORCH_BOX(&scaled_add_on_cuda));
}

}  // namespace scaled_ops

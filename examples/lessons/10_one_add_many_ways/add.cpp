// SPDX-License-Identifier: Apache-2.0
// torch.ops.one_add.add, for CUDA tensors.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

using torch::stable::Tensor;

void launch_add(const float* a, const float* b, float* out, int64_t num_elements, void* stream);

Tensor add(const Tensor& a, const Tensor& b) {
  STD_TORCH_CHECK(
      a.numel() == b.numel() && a.device() == b.device() && a.is_contiguous() && b.is_contiguous(),
      "add: wanted two contiguous tensors of one size on one device");
  const Tensor out = torch::stable::empty_like(a);
  const int32_t device = a.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(device, &stream));
  launch_add(a.const_data_ptr<float>(), b.const_data_ptr<float>(), out.mutable_data_ptr<float>(),
             a.numel(), stream);
  return out;
}

STABLE_TORCH_LIBRARY(one_add, library) { library.def("add(Tensor a, Tensor b) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(one_add, CUDA, library) { library.impl("add", TORCH_BOX(&add)); }

// SPDX-License-Identifier: Apache-2.0
// torch.ops.lesson.saxpy: a x + y.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

using torch::stable::Tensor;

void check_inputs(const Tensor& x, const Tensor& y) {
  STD_TORCH_CHECK(
      x.numel() == y.numel() && x.device() == y.device() && x.is_contiguous() && y.is_contiguous(),
      "saxpy: wanted two contiguous tensors of one size on one device");
}

Tensor saxpy_on_cpu(double a, const Tensor& x, const Tensor& y) {
  check_inputs(x, y);
  const Tensor out = torch::stable::empty_like(x);
  const auto *x_data = x.const_data_ptr<float>(), *y_data = y.const_data_ptr<float>();
  auto* out_data = out.mutable_data_ptr<float>();
  const float factor = static_cast<float>(a);
  for (int64_t i = 0; i < x.numel(); ++i) out_data[i] = factor * x_data[i] + y_data[i];
  return out;
}

STABLE_TORCH_LIBRARY(lesson, library) {
  library.def("saxpy(float a, Tensor x, Tensor y) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(lesson, CPU, library) { library.impl("saxpy", TORCH_BOX(&saxpy_on_cpu)); }

#ifdef USE_CUDA

// saxpy.cu
void launch_saxpy(float a, const float* x, const float* y, float* out, int64_t num_elements,
                  void* stream);

Tensor saxpy_on_cuda(double a, const Tensor& x, const Tensor& y) {
  check_inputs(x, y);
  const Tensor out = torch::stable::empty_like(x);
  const int32_t device = x.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(device, &stream));
  launch_saxpy(static_cast<float>(a), x.const_data_ptr<float>(), y.const_data_ptr<float>(),
               out.mutable_data_ptr<float>(), x.numel(), stream);
  return out;
}

STABLE_TORCH_LIBRARY_IMPL(lesson, CUDA, library) {
  library.impl("saxpy", TORCH_BOX(&saxpy_on_cuda));
}

#endif

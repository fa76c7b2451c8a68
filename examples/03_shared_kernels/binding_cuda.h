// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>

#include "binding.h"

inline torch::stable::Tensor matmul_on_cuda(const torch::stable::Tensor& a,
                                            const torch::stable::Tensor& b) {
  const int32_t device = a.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(device, &stream));
  return matmul_of(
      a, b, [&](const matmul::Problem& problem) { matmul::launch_on_cuda(problem, stream); });
}

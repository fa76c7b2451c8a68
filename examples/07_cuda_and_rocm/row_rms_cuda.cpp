// SPDX-License-Identifier: Apache-2.0
// torch.ops.both_ops.row_rms: GPU kernel. A torch for ROCm calls its devices, its streams and its
// dispatch key CUDA, too.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>

#include "binding.h"
#include "row_rms.h"

namespace both_ops {
namespace {

using torch::stable::Tensor;

Tensor row_rms_on_gpu(const Tensor& input) {
  const int32_t device = input.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(device, &stream));
  return row_rms_with(input, [&](const void* data, bool is_bfloat16, float* out, int64_t num_rows,
                                 int64_t row_size) {
    launch_row_rms(data, is_bfloat16, out, num_rows, row_size, stream);
  });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(both_ops, CUDA, library) {
  library.impl("row_rms", TORCH_BOX(&row_rms_on_gpu));
}

}  // namespace both_ops

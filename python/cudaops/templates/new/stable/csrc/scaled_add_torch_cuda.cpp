// torch.ops.my_ops.scaled_add: CUDA kernel.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include "check_inputs.h"
#include "scaled_add.h"

namespace my_ops {
namespace {

using torch::stable::Tensor;

Tensor scaled_add_cuda(const Tensor& a, const Tensor& b, double scale) {
  check_inputs(a, b);
  const Tensor out = torch::stable::empty_like(a);
  const int32_t device = a.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(device, &stream));
  launch_scaled_add(a.const_data_ptr<float>(), b.const_data_ptr<float>(), static_cast<float>(scale),
                    out.mutable_data_ptr<float>(), a.numel(), stream);
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(my_ops, CUDA, library) {
  library.impl("scaled_add", TORCH_BOX(&scaled_add_cuda));
}

}  // namespace my_ops

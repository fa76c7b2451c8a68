// torch.ops.real_op.twice: registration of the CUDA kernel. CUDA 13 hides Thrust from host
// compilers.
#include <torch/csrc/stable/library.h>
#include <cuda_runtime_api.h>
#include <thrust/complex.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include "op.h"

using torch::stable::Tensor;

static Tensor twice_on_cuda(const Tensor& self) {
  Tensor result = torch::stable::empty_like(self);
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(self.get_device_index(), &stream));
  launch_twice(self.const_data_ptr<float>(), result.mutable_data_ptr<float>(), self.numel(),
               static_cast<cudaStream_t>(stream));
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(real_op, CUDA, m) { m.impl("twice", TORCH_BOX(&twice_on_cuda)); }

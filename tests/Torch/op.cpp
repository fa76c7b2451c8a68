// An op with a CPU kernel here and a CUDA kernel in op.cu.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

using torch::stable::Tensor;

static Tensor twice_cpu(Tensor self) {
  Tensor result = torch::stable::empty_like(self);
  auto* in = static_cast<const float*>(self.data_ptr());
  auto* out = static_cast<float*>(result.data_ptr());
  for (int64_t i = 0; i < self.numel(); ++i) {
    out[i] = 2 * in[i];
  }
  return result;
}

STABLE_TORCH_LIBRARY(torches, m) { m.def("twice(Tensor self) -> Tensor"); }

STABLE_TORCH_LIBRARY_IMPL(torches, CPU, m) { m.impl("twice", TORCH_BOX(&twice_cpu)); }

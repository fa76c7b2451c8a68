// torch.ops.real_op.twice: schema and CPU kernel.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

using torch::stable::Tensor;

static Tensor twice_on_cpu(const Tensor& self) {
  Tensor result = torch::stable::empty_like(self);
  const float* in = self.const_data_ptr<float>();
  float* out = result.mutable_data_ptr<float>();
  for (int64_t i = 0; i < self.numel(); ++i) out[i] = 2 * in[i];
  return result;
}

STABLE_TORCH_LIBRARY(real_op, m) { m.def("twice(Tensor self) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(real_op, CPU, m) { m.impl("twice", TORCH_BOX(&twice_on_cpu)); }

#ifdef EXPECTED_STANDARD
static_assert(__cplusplus >= EXPECTED_STANDARD, "the C++ standard of host sources");
#endif

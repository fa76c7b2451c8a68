// torch.ops.my_ops.scaled_add: schema and CPU kernel.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include "check_inputs.h"
#include "scaled_add.h"

namespace my_ops {
namespace {

using torch::stable::Tensor;

Tensor scaled_add_cpu(const Tensor& a, const Tensor& b, double scale) {
  check_inputs(a, b);
  const Tensor out = torch::stable::empty_like(a);
  scaled_add_on_cpu(a.const_data_ptr<float>(), b.const_data_ptr<float>(), static_cast<float>(scale),
                    out.mutable_data_ptr<float>(), a.numel());
  return out;
}

}  // namespace

// FRAGMENT: another op of my_ops, in a file of its own, has such a block as well.
STABLE_TORCH_LIBRARY_FRAGMENT(my_ops, library) {
  library.def("scaled_add(Tensor a, Tensor b, float scale) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(my_ops, CPU, library) {
  library.impl("scaled_add", TORCH_BOX(&scaled_add_cpu));
}

}  // namespace my_ops

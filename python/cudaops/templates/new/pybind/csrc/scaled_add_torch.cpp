// The Python module my_ops._C.
#include "scaled_add_torch.h"

#include <torch/extension.h>

#include "scaled_add.h"

namespace my_ops {
namespace {

torch::Tensor scaled_add(const torch::Tensor& a, const torch::Tensor& b, double scale) {
  for (const auto* tensor : {&a, &b}) {
    TORCH_CHECK(tensor->scalar_type() == torch::kFloat, "scaled_add: wanted float32, found ",
                tensor->scalar_type());
    TORCH_CHECK(tensor->is_contiguous(), "scaled_add: wanted contiguous tensors");
  }
  TORCH_CHECK(a.device() == b.device(), "scaled_add: wanted one device for a and b");
  TORCH_CHECK(a.sizes() == b.sizes(), "scaled_add: wanted one shape for a and b");
  const torch::Tensor out = torch::empty_like(a);
  // Other Python threads may run meanwhile.
  const pybind11::gil_scoped_release no_gil;
#ifdef USE_CUDA
  if (a.is_cuda()) {
    scaled_add_cuda(a, b, scale, out);
    return out;
  }
#endif
  TORCH_CHECK(a.is_cpu(), "scaled_add: built without CUDA, found a tensor on ", a.device());
  scaled_add_on_cpu(a.const_data_ptr<float>(), b.const_data_ptr<float>(), static_cast<float>(scale),
                    out.mutable_data_ptr<float>(), a.numel());
  return out;
}

}  // namespace
}  // namespace my_ops

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("scaled_add", &my_ops::scaled_add, pybind11::arg("a"), pybind11::arg("b"),
             pybind11::arg("scale"));
}

// An op that refuses in two ways: by torch's check and by an exception of its own, both with
// numbers in their texts.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <sstream>
#include <stdexcept>

using torch::stable::Tensor;

static Tensor checked(Tensor self) {
  STD_TORCH_CHECK(self.dim() == 3, "wanted 3 dimensions, found ", self.dim(), " of ", 1.5);
  return self;
}

static Tensor thrown(Tensor self) {
  std::ostringstream text;
  text << "wanted 3 dimensions, found " << self.dim() << " of " << 1.5;
  throw std::runtime_error(text.str());
}

STABLE_TORCH_LIBRARY(refusing, m) {
  m.def("checked(Tensor self) -> Tensor");
  m.def("thrown(Tensor self) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(refusing, CPU, m) {
  m.impl("checked", TORCH_BOX(&checked));
  m.impl("thrown", TORCH_BOX(&thrown));
}

// The smallest stable op: one schema, one CPU kernel.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

using torch::stable::Tensor;

static Tensor package_identity(Tensor self) { return self; }

STABLE_TORCH_LIBRARY(package_op, m) { m.def("identity(Tensor self) -> Tensor"); }

STABLE_TORCH_LIBRARY_IMPL(package_op, CPU, m) { m.impl("identity", TORCH_BOX(&package_identity)); }

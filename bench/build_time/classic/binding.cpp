// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor add_cuda(const at::Tensor& a, const at::Tensor& b);

namespace {

at::Tensor add_cpu(const at::Tensor& a, const at::Tensor& b) { return a + b; }

}  // namespace

TORCH_LIBRARY(my_ops, library) { library.def("add(Tensor a, Tensor b) -> Tensor"); }
TORCH_LIBRARY_IMPL(my_ops, CPU, library) { library.impl("add", &add_cpu); }
TORCH_LIBRARY_IMPL(my_ops, CUDA, library) { library.impl("add", &add_cuda); }

// SPDX-License-Identifier: Apache-2.0
// Ops for compare.py and test_library.py.
#include <torch/library.h>
#include <torch/types.h>
at::Tensor scaled_above_zero(const at::Tensor& x, double s, int64_t n) {
  TORCH_CHECK(n > 0, "n ", n);
  TORCH_CHECK_INDEX(n < 9, "index");
  return x * s + n;
}
std::tuple<at::Tensor, at::Tensor> both(const at::Tensor& x, const std::optional<at::Tensor>& y) {
  return {x + 1, y ? *y : x};
}
at::Tensor joined(std::vector<at::Tensor> xs, std::string how, at::IntArrayRef n) {
  return at::cat(xs) + (double)how.size() + (double)n.size();
}
void grow(at::Tensor x) { x.add_(1); }
int64_t count(at::Tensor x) { return x.numel(); }
std::vector<at::Tensor> parts(at::Tensor x, const at::Scalar& s, std::optional<at::ScalarType> t,
                              bool b) {
  return {x * s, b ? x.to(t.value_or(at::kInt)) : x};
}
TORCH_LIBRARY(fast_ops, m) {
  m.def("scaled(Tensor x, float s, int n=2) -> Tensor");
  m.def("both(Tensor x, Tensor? y) -> (Tensor, Tensor)", &both);
  m.def("joined(Tensor[] xs, str how, int[] n) -> Tensor");
  m.def("grow(Tensor(a!) x) -> ()");
  m.def("count(Tensor x) -> int");
}
void define_more(torch::Library& m) {
  m.def("extra(Tensor x) -> Tensor", [](at::Tensor x) { return x - 1; });
  m.def("parts(Tensor x, Scalar s, ScalarType? t=None, bool b=True) -> Tensor[]", &parts);
}
TORCH_LIBRARY_FRAGMENT(fast_ops, m) { define_more(m); }
TORCH_LIBRARY_IMPL(fast_ops, CPU, m) {
  m.impl("scaled", &scaled_above_zero);
  m.impl("joined", joined);
  m.impl("grow", &grow);
  m.impl("count", &count);
}
TORCH_LIBRARY_IMPL(fast_ops, Meta, m) {
  m.impl("scaled", [](const at::Tensor& x, double, int64_t) { return at::empty_like(x); });
}

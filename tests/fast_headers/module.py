# SPDX-License-Identifier: Apache-2.0
"""The differential case of PYBIND11_MODULE: what a binding says of its functions. Not wrapped: pybind11 alone translates."""

TEXT = r"""
#include <torch/extension.h>
#include <algorithm>

torch::Tensor scaled(torch::Tensor x, double factor, int64_t shift) { return x * factor + shift; }
double over(double a) { return a; }
std::string over(const std::string& a) { return a + "?"; }
double over(torch::Tensor a, int64_t b) { return a.sum().item<double>() + b; }
int64_t checked(int64_t n) { TORCH_CHECK(n > 0, "n is ", n); TORCH_CHECK_INDEX(n > 1, "index ", n); TORCH_CHECK_VALUE(n > 2, "value ", n); TORCH_CHECK_TYPE(n > 3, "type ", n); return n; }
torch::Tensor maybe(torch::Tensor x, c10::optional<torch::Tensor> y, at::ScalarType dtype) { return (y ? x + *y : x).to(dtype); }

// Without std:: what the C++ library's math.h and stdlib.h have in the global namespace.
std::vector<double> functions_of_c(double value) {
  const float f = static_cast<float>(value);
  const long n = static_cast<long>(value);
  return {abs(f), abs(value), (double)abs(n), fabs(f), exp(f), log(f + 9), sqrt(abs(f)), pow(f, 3), pow(f, 2.5f), sin(f), tanh(f), floor(f), round(f), fmax(f, 1.0f), (double)isnan(f), (double)sizeof(exp(f)),
          (double)sizeof(pow(f, f)), (double)sizeof(abs(n)), (double)sizeof(floor(f)), (double)sizeof(pow(f, 2))};
}
int64_t asserted(int64_t n) { AT_ASSERTM(n > 0, "n is ", n); AT_ASSERT(n > 1); return n; }

torch::Tensor assigned(torch::Tensor x, torch::Tensor y, double value) {
  auto z = x.clone();
  z[0] = value;
  z[1] = y;
  z[2][1] = 7;
  z[2][2] = torch::ones({}, torch::kDouble);
  torch::Tensor other = z;
  other = y;
  return z;
}

void more(py::module_& m) {
  m.def("more", [] { return 3; });
  m.def("functions_of_c", &functions_of_c);
  m.def("asserted", &asserted);
  m.def("assigned", &assigned);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m, py::mod_gil_not_used()) {
  more(m);
  m.doc() = "what the module is for";
  m.attr("answer") = 42;
  m.attr("half") = 0.5;
  m.attr("name") = "fast";
  m.attr("is_true") = true;
  m.def("scaled", &scaled, "scales x", py::arg("x"), py::arg("factor") = 2, py::arg("shift") = 0);
  m.def("scaled_at", &scaled, py::arg("x"), py::arg_v("factor", 1.5, "1.5!"), py::kw_only(), py::arg("shift") = 7);
  m.def("positional", &scaled, py::arg("x"), py::pos_only(), py::arg("factor"), py::arg("shift"));
  m.def("strict", [](double a) { return a; }, py::arg("a").noconvert());
  m.def("over", static_cast<double (*)(double)>(&over));
  m.def("over", static_cast<std::string (*)(const std::string&)>(&over), "of a text");
  m.def("over", [](torch::Tensor a, int64_t b) { return over(a, b); }, py::arg("a"), py::arg("b") = 1);
  m.def("checked", &checked);
  m.def("checked_wrapped", torch::wrap_pybind_function(&checked));
  m.def("checked_no_gil", torch::wrap_pybind_function_no_gil(checked), "without the GIL");
  m.def("released", &scaled, py::call_guard<py::gil_scoped_release>(), py::return_value_policy::move);
  m.def("maybe", &maybe, py::arg("x"), py::arg("y") = c10::nullopt, py::arg("dtype") = torch::kFloat64);
  m.def("maybe_none", &maybe, py::arg("x").none(false), py::arg("y") = py::none(), py::arg("dtype"));
  using namespace py::literals;
  m.def("literal", [](const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }, "values"_a = std::vector<double>{1, 2});
}
"""

CALLS = [
    "m.__doc__",
    "[m.answer, m.half, m.name, m.is_true]",
    "[(name, getattr(m, name).__doc__) for name in sorted(dir(m)) if not name.startswith('__')]",
    "m.functions_of_c(-0.3)",
    "m.functions_of_c(2.7)",
    "m.functions_of_c(float('nan'))",
    "m.assigned(x, x[2], 1.5)",
    "m.assigned(x.long(), x[0], 1.5)",
    "m.assigned(x, torch.ones(3), 1)",
    "m.assigned(x.requires_grad_(), x[2], 1.5)",
    "m.asserted(0)",
    "m.asserted(1)",
    "m.asserted(2)",
    "m.scaled(x)",
    "m.scaled(x, 3)",
    "m.scaled(x=x, shift=2)",
    "m.scaled(x, 1, 2, 3)",
    "m.scaled(x, y=1)",
    "m.scaled(factor=2)",
    "m.scaled(x, '2')",
    "m.scaled(None)",
    "m.scaled_at(x, 3)",
    "m.scaled_at(x, 3, 4)",
    "m.scaled_at(x, shift=4)",
    "m.positional(x, 2, 3)",
    "m.positional(x=x, factor=2, shift=3)",
    "m.strict(1.5)",
    "m.strict(1)",
    "m.over(1)",
    "m.over(True)",
    "m.over('a')",
    "m.over(x)",
    "m.over(x, b=3)",
    "m.over([])",
    "m.checked(0)",
    "m.checked(1)",
    "m.checked(2)",
    "m.checked(3)",
    "m.checked(4)",
    "m.checked_wrapped(0)",
    "m.checked_wrapped(1)",
    "m.checked_wrapped(2)",
    "m.checked_wrapped(3)",
    "m.checked_wrapped(4)",
    "m.checked_no_gil(0)",
    "m.checked_no_gil(4)",
    "m.released(x, 1, 1)",
    "m.maybe(x)",
    "m.maybe(x, x)",
    "m.maybe(x, dtype=torch.int32)",
    "m.maybe(x, None, torch.float16)",
    "m.maybe(x, 3)",
    "m.maybe(x, dtype='int')",
    "m.maybe_none(x, dtype=torch.int32)",
    "m.maybe_none(None, dtype=torch.int32)",
    "m.literal()",
    "m.literal([3, 4.5])",
    "m.literal((3, 4))",
    "m.literal([7])",
    "m.literal('ab')",
    "m.literal({1: 2})",
]

# SPDX-License-Identifier: Apache-2.0
"""What calls cost with the fast headers and with torch's own (as few of them as the text names), side by side.

    python cost.py [NAME...]      ns of the real ones, of the fast ones, and their ratio: the least of 21 rounds each

Ops of four elements in a loop in C++; functions and an op of a library called from Python.
"""

import os
import sys
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")]

import torch  # noqa: E402

import cudaops  # noqa: E402

OPS = {
    "relu": "at::relu(x)",
    "exp": "at::exp(x)",
    "add": "x + x",
    "multiply by a number": "x * 2.0",
    "add in place": "x.add_(1)",
    "copy": "x.copy_(y)",
    "sum": "x.sum()",
    "mean of a dimension": "x.mean(0)",
    "maximum of a dimension": "std::get<0>(x.max(0))",
    "softmax": "at::softmax(x, 1)",
    "matmul": "at::matmul(x, y)",
    "linear": "at::linear(x, y)",
    "where": "at::where(m, x, y)",
    "index_select": "x.index_select(0, i)",
    "cat": "torch::cat({x, x})",
    "stack": "torch::stack({x, x}, 0)",
    "split": "x.split(1)",
    "select": "x[0]",
    "view": "x.view({4})",
    "transpose": "x.transpose(0, 1)",
    "contiguous": "x.contiguous()",
    "clone": "x.clone()",
    "to": "x.to(torch::kFloat64)",
    "empty": "torch::empty({2, 2}, x.options())",
    "empty_like": "torch::empty_like(x)",
    "zeros": "torch::zeros({2, 2}, x.options())",
    "zeros_like": "torch::zeros_like(x)",
    "ones": "torch::ones({2, 2})",
    "full": "torch::full({2, 2}, 1.5, x.options())",
    "arange": "torch::arange(4, x.options())",
}
# name: (C++, call)
FUNCTIONS = {
    "nothing": ("void nothing() {}", "m.nothing()"),
    "number": ("int64_t number(int64_t n) { return n; }", "m.number(3)"),
    "tensor": ("torch::Tensor tensor(torch::Tensor x) { return x; }", "m.tensor(x)"),
    "tensors": ("int64_t tensors(std::vector<torch::Tensor> x) { return x.size(); }", "m.tensors([x, x])"),
    "muladd": (
        """torch::Tensor muladd(const torch::Tensor& a, const torch::Tensor& b, double c) {
          TORCH_CHECK(a.sizes() == b.sizes());
          TORCH_CHECK(a.dtype() == at::kFloat);
          TORCH_CHECK(b.dtype() == at::kFloat);
          TORCH_INTERNAL_ASSERT(a.device().type() == at::DeviceType::CPU);
          torch::Tensor p = a.contiguous(), q = b.contiguous(), result = torch::empty(p.sizes(), p.options());
          const float *from = p.data_ptr<float>(), *by = q.data_ptr<float>();
          float* to = result.data_ptr<float>();
          for (int64_t k = 0; k < result.numel(); ++k) to[k] = from[k] * by[k] + c;
          return result;
        }
        TORCH_LIBRARY(cost_of_HEADERS, m) { m.def("muladd(Tensor a, Tensor b, float c) -> Tensor"); }
        TORCH_LIBRARY_IMPL(cost_of_HEADERS, CPU, m) { m.impl("muladd", &muladd); }""",
        "m.muladd(x, y, 1.0)",
    ),
    "muladd, an op of a library": ("", "o.muladd(x, y, 1.0)"),
}


def module(headers):
    loops = [
        "void loop%d(torch::Tensor x, torch::Tensor y, torch::Tensor i, torch::Tensor m, int64_t n) "
        "{ torch::NoGradGuard guard; for (int64_t k = 0; k < n; ++k) { auto result = %s; } }" % pair
        for pair in enumerate(OPS.values())
    ]
    texts = ["#include <torch/library.h>\n", *(code.replace("HEADERS", headers) for code, _ in FUNCTIONS.values()), *loops]
    names = [name for name, (code, _) in FUNCTIONS.items() if code] + ["loop%d" % number for number in range(len(OPS))]
    made = cudaops.load_inline("cost", ["\n".join(texts)], functions=names, headers=headers)
    assert (made.__cudaops__["headers"] == "fast") == (headers == "fast"), made.__cudaops__
    return made


def main():
    torch.set_num_threads(1)
    x = torch.ones(2, 2)
    spaces = {}
    for headers in ("slim", "fast"):
        space = {"m": module(headers), "o": getattr(torch.ops, "cost_of_" + headers), "x": x, "y": torch.ones(2, 2)}
        spaces[headers] = space
    arguments = x, torch.ones(2, 2), torch.tensor([0, 1]), x > 0
    timed = {}
    for number, name in enumerate(OPS):
        timed[name] = [(lambda n, f=getattr(space["m"], "loop%d" % number): f(*arguments, n)) for space in spaces.values()]
    for name, (_, call) in FUNCTIONS.items():
        code = "def run(n):\n  for _ in range(n): %s" % call
        timed[name] = []
        for space in spaces.values():
            exec(code, space)
            timed[name].append(space.pop("run"))
    for name in sys.argv[1:] or timed:
        least = [float("inf")] * 2
        for _ in range(21):
            for which, run in enumerate(timed[name]):
                started = time.perf_counter()
                run(2000)
                least[which] = min(least[which], (time.perf_counter() - started) / 2000 * 1e9)
        print("%-28s %6.0f %6.0f  %.2f" % (name, *least, least[1] / least[0]), flush=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""TORCH_LIBRARY with fast headers: the same calls as with torch's, in two processes (a process has an op once)."""

import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
CALLS = """
o.scaled(x, 2.5)
o.scaled(x, 2, n=3)
o.scaled(x, 2, -1)
o.scaled(x, 2, 9)
o.scaled(x.to("meta"), 2)
o.scaled(x.requires_grad_(), 2)
o.both(x, None)
o.both(x, x * 2)
o.both(x)
o.joined([x, x], "abc", [1, 2])
o.joined([], "", [])
o.grow(x)
o.count(x)
o.count("a")
o.count(x.to("meta"))
o.extra(x)
o.extra(x.clone().requires_grad_())
torch.func.vmap(o.extra)(torch.ones(2, 3))
o.parts(x, 2)
o.parts(x, 1.5, torch.float64)
o.parts(x, True, None, False)
torch.autograd.grad(o.extra(y).sum() + o.both(y, y)[1].sum(), y)
""".strip().split("\n")


def run(headers):
    done = subprocess.run([sys.executable, __file__, headers], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_ops_do_the_same_as_with_torchs_headers():
    pytest.importorskip("torch")
    fast, full = run("fast"), run("full")
    assert fast.pop("headers") == "fast" and full.pop("headers") == "full"
    assert fast == full


@pytest.mark.parametrize(
    "text, what",
    [
        ('m.def("f(Tensor x, int n) -> Tensor", [](at::Tensor x, double n) { return x; });', "isn't of the type"),
        ('m.def("f(Tensor x) -> Tensor", [](at::Tensor x, at::Tensor y) { return x; });', "isn't of the type"),
        ('m.def("f", [](at::Tensor x) { return x; });', "needs a whole schema"),
        ('m.def("f(int n) -> int"); m.impl("f", [](int n) { return static_cast<int64_t>(n); });', "takes int64_t and double"),
    ],
)
def test_a_schema_that_is_not_the_functions_own_is_an_error(text, what, tmp_path):
    pytest.importorskip("torch")
    code = "import sys; sys.path[:0] = [%r]; import torch, cudaops; cudaops.load(sys.argv[1], sys.argv[2], is_python_module=False, headers='fast')"
    path = tmp_path / "wrong.cpp"
    path.write_text("#include <torch/library.h>\nTORCH_LIBRARY(fast_wrong, m) { %s }\n" % text)
    command = [sys.executable, "-c", code % str(HERE.parents[1] / "python"), "wrong", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and what in done.stderr


def main(headers):
    sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]
    import torch
    from compare import outcome

    import cudaops

    kind = "auto" if headers == "full" else headers
    cudaops.load("fast_ops", str(HERE / "ops.cpp"), is_python_module=False, headers=kind)
    found = {"headers": "fast" if hasattr(cudaops, "_fast_bridge") else "full"}
    for number, call in enumerate(CALLS):
        space = {"o": torch.ops.fast_ops, "torch": torch, "x": torch.arange(3.0), "y": torch.ones(3, requires_grad=True)}
        result, text = outcome(lambda call=call, space=space: eval(call, space), ())
        found["%d %s" % (number, call)] = [result, (text or "").split("\nException raised")[0]]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])

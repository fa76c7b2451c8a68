# SPDX-License-Identifier: Apache-2.0
"""Libraries of ops with fast headers; what their ops do is compared in test_differential.py."""

import json
import pathlib

import pytest
from jit_store import jit, make_store  # noqa: F401
from torch_process import run_with_torch

import cudaops

HERE = pathlib.Path(__file__).parent
WRONG = [
    ('m.def("f(Tensor x, int n) -> Tensor", [](at::Tensor x, double n) { return x; });', "isn't of the type"),
    ('m.def("f(Tensor x) -> Tensor", [](at::Tensor x, at::Tensor y) { return x; });', "isn't of the type"),
    ('m.def("f", [](at::Tensor x) { return x; });', "needs a whole schema"),
]
OTHER_NUMBERS = """#include <torch/library.h>
TORCH_LIBRARY(fast_numbers, m) {
  m.def("f(int n) -> int"); m.impl("f", [](int n) { return static_cast<int64_t>(n); });
  m.def("g(Tensor x, float[] s) -> Tensor", [](at::Tensor x, std::vector<float> s) { return x; });
  m.def("h(Tensor x) -> float", [](at::Tensor x) { return 1.0f; });
}
"""


LOAD = """
import cudaops, json, torch
cudaops.load("fast_library", %r, is_python_module=False, headers="fast")
# Set where a module with fast headers was loaded.
assert cudaops._fast_bridge
print(json.dumps(torch.ops.fast_ops.count(torch.ones(3))))
"""


def start(path):
    """(exit code, stdout, stderr) of a process that loads it: an error in its static objects is the process's last one."""
    pytest.importorskip("torch")
    return run_with_torch(LOAD % str(path))


def test_a_library_registers_its_ops():
    code, output, error = start(HERE / "ops.cpp")
    assert code == 0, error
    assert json.loads(output) == 3


@pytest.mark.parametrize("text, what", WRONG)
def test_a_schema_that_is_not_the_functions_own_is_an_error(text, what, tmp_path):
    path = tmp_path / "wrong.cpp"
    path.write_text("#include <torch/library.h>\nTORCH_LIBRARY(fast_wrong, m) { %s }\n" % text)
    code, _, error = start(path)
    assert code != 0 and what in error


def test_numbers_that_no_schema_has_are_errors_of_the_compiler(jit):  # noqa: F811
    """As with torch's own headers, and not the end of the process that loads the library."""
    with pytest.raises(cudaops.BuildError, match="takes and gives int64_t and double") as raised:
        jit.load("numbers", jit.write("numbers.cpp", OTHER_NUMBERS), is_python_module=False, headers="fast")
    assert pathlib.Path(raised.value.log).read_text().count("static assertion failed") == 3

# SPDX-License-Identifier: Apache-2.0
"""Libraries of ops with fast headers; what their ops do is compared in test_differential.py."""

import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
WRONG = [
    ('m.def("f(Tensor x, int n) -> Tensor", [](at::Tensor x, double n) { return x; });', "isn't of the type"),
    ('m.def("f(Tensor x) -> Tensor", [](at::Tensor x, at::Tensor y) { return x; });', "isn't of the type"),
    ('m.def("f", [](at::Tensor x) { return x; });', "needs a whole schema"),
    ('m.def("f(int n) -> int"); m.impl("f", [](int n) { return static_cast<int64_t>(n); });', "takes int64_t and double"),
]


def start(path):
    """A process that loads it with fast headers: an error in its static objects is the process's last one."""
    return subprocess.run([sys.executable, __file__, str(path)], capture_output=True, text=True)


def test_a_library_registers_its_ops():
    pytest.importorskip("torch")
    done = start(HERE / "ops.cpp")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == 3


@pytest.mark.parametrize("text, what", WRONG)
def test_a_schema_that_is_not_the_functions_own_is_an_error(text, what, tmp_path):
    pytest.importorskip("torch")
    path = tmp_path / "wrong.cpp"
    path.write_text("#include <torch/library.h>\nTORCH_LIBRARY(fast_wrong, m) { %s }\n" % text)
    done = start(path)
    assert done.returncode != 0 and what in done.stderr


def main(path):
    sys.path[:0] = [str(HERE.parents[1] / "python")]
    import torch

    import cudaops

    cudaops.load("fast_library", path, is_python_module=False, headers="fast")
    # Set where a module with fast headers was loaded.
    assert cudaops._fast_bridge
    json.dump(torch.ops.fast_ops.count(torch.ones(3)), sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])

# SPDX-License-Identifier: Apache-2.0
"""What the fast headers say no to, before anything is compiled, and what happens then."""

import time

import pytest
from jit_store import Jit, jit, make_store  # noqa: F401

from cudaops.jit import fast
from cudaops.jit.request import Request


def request(cpp="", cuda="", kind="module", **flags):
    made = Request("ext", kind, "fast", None, None, (True, True, False))
    made.set_flags(flags.get("cflags"), flags.get("cuda_cflags"), flags.get("ldflags"), flags.get("include_paths"))
    made.cpp_texts, made.cuda_texts = [cpp], [cuda] if cuda else []
    return made


FINE = """#include <torch/extension.h>
#include <vector>
namespace py = pybind11;
using namespace torch;
// torch::nn in a comment, and "torch::nn" in a text
torch::Tensor f(torch::Tensor x) { return at::relu(x.to(torch::kFloat64)); }
"""


@pytest.mark.parametrize(
    "text, line, what",
    [
        ("torch::nn::Linear a(1, 2);", 1, "torch::nn::Linear"),
        ("int a;\nstruct F : torch::autograd::Function<F> {};", 2, "torch::autograd::Function"),
        ("py::object f();", 1, "py::object"),
        ("py::dict f();", 1, "py::dict"),
        ("py::class_<int>(m, 0);", 1, "py::class_"),
        ("at::Generator g;", 1, "at::Generator"),
        ("c10::IValue v;", 1, "c10::IValue"),
        ("try {} catch (const c10::Error& e) {}", 1, "c10::Error"),
        ("x.index({torch::indexing::Slice()})", 1, "torch::indexing::Slice"),
        ("auto t = torch::tensor({1, 2});", 1, "torch::tensor"),
        ("at::native::f();", 1, "at::native::f"),
        ("namespace at { int a; }", 1, "namespace at"),
        ("namespace F = torch::nn::functional;", 1, "namespace F = torch"),
        ("PyObject* f();", 1, "PyObject"),
        ("\n\nPYBIND11_EMBEDDED_MODULE(a, m) {}", 3, "PYBIND11_EMBEDDED_MODULE"),
        ("AT_DISPATCH_QINT_TYPES(a, b, c)", 1, "AT_DISPATCH_QINT_TYPES"),
        ("TORCH_MAKE_SOMETHING(a)", 1, "TORCH_MAKE_SOMETHING"),
        ("#ifndef TORCH_MINE\n#define TORCH_MINE 1\n#endif\nint a = TORCH_MINE;", 1, "TORCH_MINE"),
        ("#define TORCH_CHECK(a)\n#ifdef TORCH_VERSION_MAJOR\n#endif", 2, "TORCH_VERSION_MAJOR"),
        ("#include <torch/nn.h>", 1, "torch/nn.h"),
        ("int a;\n#include <ATen/native/Resize.h>", 2, "ATen/native/Resize.h"),
        ("#include <Python.h>", 1, "Python.h"),
        ("#ifndef CHECK\n#define CHECK(x) x\n#endif", 1, "CHECK"),
        ("int a;\n#if CUDA_VERSION >= 12000\n#endif", 2, "CUDA_VERSION"),
        ("#if defined(HAVE_UNISTD_H)\n#endif", 1, "HAVE_UNISTD_H"),
    ],
)
def test_a_name_that_is_not_known_is_refused_with_its_line(text, line, what):
    found = fast.refusal(request(text))
    assert found and found.startswith("ext.cpp_sources[0]:%d: " % line) and what in found


@pytest.mark.parametrize(
    "flags, what",
    [
        ({"cflags": ["-std=c++14"]}, "-std=c++14"),
        ({"cflags": ["-include x.h"]}, "-include"),
        ({"cflags": ["-fopenmp"]}, "-fopenmp"),
        ({"cflags": ["-D_GLIBCXX_DEBUG"]}, "-D_GLIBCXX_DEBUG"),
    ],
)
def test_flags_that_change_torchs_headers_are_refused(flags, what):
    assert what in fast.refusal(request(FINE, **flags))


def test_a_macro_of_the_texts_own_is_known():
    assert fast.refusal(request("#define TORCH_BIND(f) f\nint TORCH_BIND(a);\n" + FINE)) is None


def test_the_version_of_cuda_is_known_where_cuda_h_is_included():
    asks = "#if CUDA_VERSION >= 12000\nint a;\n#endif\n"
    assert fast.refusal(request(FINE, asks)) is None
    assert fast.refusal(request("#include <cuda.h>\n" + asks)) is None


def test_functions_of_c_are_refused_where_their_overloads_depend_on_torchs_headers(tmp_path):
    """abs(float) is abs(int) where nothing brings stdlib.h of the C++ library; torch/types.h does, but not math.h."""
    calls = "float f(at::Tensor x, float y) { return abs(y); }\n"

    def of(text):
        path = tmp_path / "file.cpp"
        path.write_text(text)
        made = request()
        made.cpp_texts = made.cuda_texts = None
        made.set_paths(str(path))
        return fast.refusal(made)

    assert of("#include <torch/extension.h>\n" + calls) is None
    assert of("#include <torch/types.h>\n" + calls).startswith("%s:2: what abs() means depends" % (tmp_path / "file.cpp"))
    assert of("#include <torch/types.h>\n" + calls.replace("abs(", "std::abs(")) is None
    assert fast.refusal(request(calls)) is None


def test_half_operators_are_switched_off_as_with_torchs_headers(tmp_path):
    from cudaops.jit.project import Project

    Project(request(FINE, "#include <torch/extension.h>\n"), str(tmp_path / "project"), "fast")
    assert "__CUDA_NO_HALF_OPERATORS__" in (tmp_path / "project" / "CMakeLists.txt").read_text()


def test_device_code_with_torchs_own_headers_of_numbers_compiles():
    """The text that compare_gpu.py runs, with nvcc's front ends alone (2 s): it takes torch's Atomic.cuh and complex.h."""
    import ast
    import os
    import pathlib

    import units

    if not os.environ.get("CUDACXX"):
        pytest.skip("no nvcc")
    tree = ast.parse((pathlib.Path(__file__).parent / "compare_gpu.py").read_text())
    texts = {node.targets[0].id: node.value.value for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)}
    one = request(texts["CPP"], texts["CUDA"])
    assert fast.refusal(one) is None
    assert units.front_end(one) is None


def test_an_include_directory_with_a_torch_of_its_own_is_refused(tmp_path):
    (tmp_path / "ATen").mkdir()
    assert "of its own" in fast.refusal(request(FINE, include_paths=[str(tmp_path)]))
    assert fast.refusal(request(FINE, include_paths=[str(tmp_path / "ATen")])) is None


def test_a_header_of_the_users_is_read_too(tmp_path):
    (tmp_path / "mine.h").write_text("int a;\ntorch::nn::Linear b;\n")
    found = fast.refusal(request('#include "mine.h"\n' + FINE, include_paths=[str(tmp_path)]))
    assert found == "%s:2: the fast headers don't know torch::nn::Linear" % (tmp_path / "mine.h")


def test_a_text_is_read_in_a_millisecond():
    fast.refusal(request(FINE))
    one = request(FINE * 10)
    times = []
    for _ in range(10):
        started = time.process_time()
        assert fast.refusal(one) is None
        times.append(time.process_time() - started)
    # Ten times the text of a usual example; the quickest, because other programs run beside.
    assert min(times) < 0.003


def test_a_refused_text_gets_torchs_headers_and_one_line(jit, capfd):  # noqa: F811
    text = "#include <string>\nstd::string f(std::string a) { return a; }\npy::int_ g() { return 3; }"
    arguments = {"functions": ["f", "g"], "headers": "fast", "inline": True, "extra_cflags": ["-O0"]}
    module = jit.load("refused", text, **arguments)
    assert (module.f("a"), module.g(), module.__cudaops__["headers"]) == ("a", 3, "slim")
    lines = [line for line in capfd.readouterr().err.split("\n") if "fast" in line]
    assert lines == [
        "cudaops: refused: torch's own headers, not the fast ones: "
        "refused.cpp_sources[0]:3: the fast headers don't know py::int_"
    ]
    with jit.no_process():
        jit.load("refused", text, **arguments)


def test_an_error_of_the_users_is_shown_at_once(jit):  # noqa: F811
    from cudaops import BuildError

    with pytest.raises(BuildError, match=r"broken.cpp_sources\[0\]:1: error: expected") as error:
        jit.load("broken", "int f( { return 3 }", functions=["f"], headers="fast", inline=True)
    assert "slim" not in str(error.value)

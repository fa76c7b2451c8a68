# SPDX-License-Identifier: Apache-2.0
"""cudaops.load_inline(): which text becomes which file, and which headers stand before it."""

import os
import pathlib
import shutil

import pytest
from jit_store import jit, op, plain  # noqa: F401

import cudaops
from cudaops.jit.project import Project, _architectures
from cudaops.jit.request import Request


def project(directory, headers="slim", kind="module", functions=None, inline=(True, True, False), cpp=(), cuda=()):
    request = Request("ext", kind, "auto", None, functions, inline)
    request.set_flags(None, None, None, None)
    request.cpp_texts, request.cuda_texts = list(cpp), list(cuda)
    return Project(request, str(directory / "p"), headers)


def text(directory, name="main.cpp"):
    return (directory / "p" / name).read_text()


CPP = "torch::Tensor add(torch::Tensor a, torch::Tensor b) { return a + b; }"
CUDA = "__global__ void k(float*) {}\nvoid launch(float* p) { k<<<1, 1>>>(p); }"


def test_full_headers_are_those_of_torch(tmp_path):
    made = project(tmp_path, "full", cpp=[CPP], cuda=[CUDA], functions={"add": "adds"})
    assert text(tmp_path).startswith("#include <torch/extension.h>\n")
    assert text(tmp_path, "cuda.cu").startswith("#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n")
    assert 'm.def("add", torch::wrap_pybind_function(add), "adds");' in text(tmp_path)
    assert (made.abi, made.headers) == ("PYBIND", "full")


def test_slim_headers_are_those_that_the_names_of_a_text_ask_for(tmp_path, torch_dir):
    made = project(tmp_path, cpp=[CPP], cuda=[CUDA], functions={"add": "adds"})
    found = text(tmp_path)
    assert "torch/extension.h" not in found and "torch/types.h" not in found and "#include <ATen/core/Tensor.h>" in found
    assert found.index("#define AT_PER_OPERATOR_HEADERS") < found.index("#include <ATen/TensorOperators.h>")
    assert "torch/csrc/utils/pybind.h" in found and "variable_factories.h" not in found and "using namespace at;" in found
    # Device code that names nothing of torch's needs none of its headers, which take nvcc half a minute.
    assert "torch" not in text(tmp_path, "cuda.cu")
    assert (made.abi, made.headers, made.slim_differs) == ("PYBIND", "slim", True)


@pytest.mark.parametrize(
    "code, headers",
    [
        ("torch::sin(a)", ["ATen/ops/sin.h"]),
        ("at::add_out(a, b, c)", ["ATen/ops/add.h"]),
        ("torch::ones_like(a, torch::kFloat32)", ["torch/csrc/autograd/generated/variable_factories.h"]),
        ("torch::tensor({1, 2})", ["torch/csrc/autograd/generated/variable_factories.h"]),
        ("AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), \"f\", [&] {})", ["ATen/Dispatch.h"]),
        ("at::parallel_for(0, 1, 1, f)", ["ATen/Parallel.h"]),
        ("at::cuda::getCurrentCUDAStream()", []),
        ("f(\"torch::nn\") /* torch::nn */", []),
    ],
)
def test_headers_of_a_name(torch_dir, code, headers):
    from cudaops.jit import headers as torch_headers

    assert torch_headers.of_text(code) == torch_headers.TENSOR + headers


@pytest.mark.parametrize(
    "code",
    [
        "torch::nn::Linear l(1, 2);",
        "using namespace torch;",
        "namespace t = at;",
        "a.index({0});",
        "at::unheard_of(a)",
        "c10::List<int> l;",
        "using at::sin;",
        "namespace torch { int mine; }",
    ],
)
def test_names_that_are_not_known_keep_more_headers(tmp_path, torch_dir, code):
    from cudaops.jit import headers as torch_headers

    assert torch_headers.of_text(code) is None
    project(tmp_path, cpp=[CPP + "\n" + code], functions={"add": "adds"})
    assert "#include <torch/%s.h>" % ("extension" if "nn::" in code else "types") in text(tmp_path)


@pytest.mark.parametrize("cuda", ["torch::Tensor f(torch::Tensor a);", "void f(at::Tensor a);"])
def test_device_code_that_names_torch_gets_what_it_names(tmp_path, torch_dir, cuda):
    project(tmp_path, cpp=[CPP], cuda=[cuda])
    assert "#include <ATen/core/Tensor.h>" in text(tmp_path, "cuda.cu") and "pybind" not in text(tmp_path, "cuda.cu")
    for own in ("#include <torch/all.h>\n", "using namespace at;\n"):
        shutil.rmtree(tmp_path / "p")
        project(tmp_path, cpp=[CPP], cuda=[own + cuda])
        assert "#include <torch/types.h>" in text(tmp_path, "cuda.cu")


def test_torch_headers_are_optimised_no_further_than_they_need(tmp_path, torch_dir):
    """Never slower than torch, which doesn't optimise at all; an -O of the caller's comes later."""
    project(tmp_path, "full", cpp=[CPP])
    assert text(tmp_path, "CMakeLists.txt").count('_FLAGS_RELEASE "-O1 -DNDEBUG")') == 2
    assert "--param=ggc-min-heapsize" in text(tmp_path, "CMakeLists.txt")
    shutil.rmtree(tmp_path / "p")
    project(tmp_path, cpp=[op("inline_stable")])
    assert "-O1" not in text(tmp_path, "CMakeLists.txt")


def test_own_torch_headers_of_a_text_keep_the_full_one(tmp_path):
    made = project(tmp_path, cpp=["#include <torch/nn.h>\n" + CPP])
    assert text(tmp_path).startswith("#include <torch/extension.h>\n")
    assert (made.headers, made.slim_differs) == ("full", False)


def test_library_of_ops_with_all_headers_has_pythons_too(tmp_path, torch_dir):
    """As in torch's load(): torch/extension.h asks for Python.h, whatever comes out."""
    text_of_op = "#include <torch/library.h>\nTORCH_LIBRARY(my, m) {}"
    for headers, header in (("full", "torch/extension.h"), ("slim", "torch/types.h")):
        made = project(tmp_path / headers, headers, "library", cpp=[text_of_op])
        assert text(tmp_path / headers).startswith("#include <%s>\n" % header) and made.abi == "FULL"
        assert ("CudaOps::torch_python" in text(tmp_path / headers, "CMakeLists.txt")) == (headers == "full")


def test_stable_text_gets_no_header_of_another_abi(tmp_path):
    made = project(tmp_path, cpp=[op("inline_stable")], cuda=[CUDA])
    assert "extension.h" not in text(tmp_path) and made.abi == "STABLE"
    assert made.ops == ["inline_stable::twice"]


def test_text_with_its_own_module_is_not_given_a_second_one(tmp_path):
    own = "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"add\", &add); }"
    project(tmp_path, cpp=[CPP, own], functions={"add": "add"})
    assert text(tmp_path).count("PYBIND11_MODULE") == 1


def test_error_handling_implicit_headers_and_gil_follow_their_arguments(tmp_path):
    project(tmp_path, cpp=[CPP], functions={"add": 'says "add"\n'}, inline=(False, False, True))
    made = text(tmp_path)
    assert "#include" not in made
    assert "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m, pybind11::mod_gil_not_used()) {" in made
    assert r'm.def("add", add, "says \"add\"\n");' in made


def test_errors_name_the_argument(jit):  # noqa: F811
    with pytest.raises(cudaops.BuildError) as raised:
        jit.load("ext", ["int a;", "int b;\nint broken = nowhere;"], no_implicit_headers=True, inline=True)
    assert (raised.value.file, raised.value.line) == ("ext.cpp_sources[1]", 2)


def test_text_is_built_once_and_kept_beside_the_library(jit):  # noqa: F811
    for answer in ("5", "6", "5"):
        arguments = ("plain", plain("plain", answer))
        keywords = {"no_implicit_headers": True, "inline": True}
        assert jit.answer(*arguments, **keywords)[0] == int(answer)
    assert jit.hit(*arguments, **keywords) == (5, "CACHED", "")
    module = jit.load(*arguments, **keywords)
    kept = pathlib.Path(module.__cudaops__["path"]).parent / "source" / "main.cpp"
    assert "#define ANSWER 5" in kept.read_text()


def test_function_that_the_module_lacks_is_named_with_what_it_has(jit):  # noqa: F811
    text = plain("plain") + "// PYBIND11_MODULE\n#define PYBIND11_MODULE\n"
    with pytest.raises(AttributeError, match="module plain has no ask.\n  it has  answer"):
        jit.load("plain", text, functions=["answer", "ask"], no_implicit_headers=True, inline=True)


def test_cuda_text_alone_makes_a_stable_op(jit):  # noqa: F811
    if not os.environ.get("CUDACXX"):
        pytest.skip("no nvcc: set CUDACXX")
    import torch

    cuda = CUDA + "\n#include <cstdint>\nextern \"C\" int64_t cudaops_answer() { launch(nullptr); return 1; }"
    module = jit.load("ext", op("inline_cuda"), cuda, inline=True)
    assert torch.ops.inline_cuda.twice(torch.ones(2)).tolist() == [2, 2]
    assert module.__cudaops__["abi"] == "STABLE"
    from cudaops import inspect

    assert inspect(module.__cudaops__["path"])["architectures"] == ["sm_90"]


def test_functions_of_a_text_with_tensors_are_bound(jit):  # noqa: F811
    """Compiles torch's headers for pybind11: 15 s of CPU, the one test here that does."""
    import torch

    module = jit.load("tensors", CPP, functions={"add": "adds two tensors"}, inline=True)
    assert module.add(torch.ones(2), torch.ones(2)).tolist() == [2, 2]
    assert module.add.__doc__.strip().endswith("adds two tensors")
    assert (module.__cudaops__["headers"], module.__cudaops__["abi"]) == ("slim", "PYBIND")
    with pytest.raises(RuntimeError, match="must match"):
        module.add(torch.ones(2), torch.ones(3))


@pytest.mark.parametrize(
    "flags, architectures, rest",
    [
        (["-O2"], None, ["-O2"]),
        (["-gencode=arch=compute_90,code=sm_90", "-O2"], "90-real", ["-O2"]),
        (["-gencode", "arch=compute_80,code=[sm_80,compute_80]"], "80-real;80-virtual", []),
        (["--generate-code arch=compute_90a,code=sm_90a -lineinfo"], "90a-real", ["-lineinfo"]),
        (["-arch=sm_89"], "89", []),
        (["-arch=native"], "native", []),
        (["--offload-arch=gfx90a", "--offload-arch=gfx942", "-O2"], "gfx90a;gfx942", ["-O2"]),
    ],
)
def test_architectures_among_the_flags_win(flags, architectures, rest):
    assert _architectures(flags) == (architectures, rest)

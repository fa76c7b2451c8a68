# SPDX-License-Identifier: Apache-2.0
"""Each name that the fast headers know is in a differential case; each op's declaration that can be had compiles."""

import os
import re
import subprocess

import pytest
from cases import CPP
from module import TEXT

from cudaops.jit import fast, fast_ops
from cudaops.jit.key import torch_directory

TEXTS = "\n".join(code for _, code in CPP.values()) + TEXT


@pytest.fixture(scope="module")
def include():
    if torch_directory() is None:
        pytest.skip("no torch")
    return os.path.join(torch_directory(), "include")


def names(texts, pattern):
    return set(re.findall(pattern, texts))


def test_each_known_name_has_a_case():
    words = names(TEXTS, r"\w+")
    known = fast._AT | fast._CHECKS | fast._TORCH_ONLY | fast._CONSTANTS | fast._TORCH_CONSTANTS | fast._PYTHON | fast._MACROS
    known |= {name for nested in fast._NESTED.values() for name in nested}
    assert sorted(known - words - NEEDS_A_DEVICE) == []


# Of other devices, of dtypes that no code here computes with, of nvcc, and of ops (test_library.py).
NEEDS_A_DEVICE = set(
    "RestrictPtrTraits C10_HOST_DEVICE C10_HOST C10_DEVICE XPU MPS HPU PrivateUse1 Sparse SparseCsr Mkldnn SparseCsc SparseBsr "
    "SparseBsc Jagged MaybeSetDevice getCurrentDeviceProperties getDeviceProperties warp_size getCurrentCUDAStream CUDAStream CUDAGuard OptionalCUDAGuard current_device C10_CUDA_CHECK AT_CUDA_CHECK "
    "C10_CUDA_KERNEL_LAUNCH_CHECK C10_WARP_SIZE DeviceGuard OptionalDeviceGuard device_of Library TORCH_LIBRARY TORCH_LIBRARY_FRAGMENT TORCH_LIBRARY_IMPL".split()
)


def test_each_member_of_a_tensor_has_a_case():
    with open(os.path.join(fast.INCLUDE, "cudaops_fast", "tensor.h"), encoding="utf-8") as file:
        text = file.read()
    body = text[text.index("class Tensor {") : text.index(" private:\n  Tensor convert")]
    members = names(body, r"\b(\w+)\((?:[^()]|\([^()]*\))*\) (?:const|&&|const&)")
    members -= {"Tensor", "TORCH_CHECK", "bits", "operator", "static_assert"}
    assert len(members) > 40
    assert sorted(members - names(TEXTS, r"[.](\w+)")) == []


def test_each_kind_of_parameter_and_result_of_ops_has_a_case(include):
    ops = fast_ops.Ops(include)
    called = names(TEXTS, r"(\w+)\s*[(<]")

    def kinds(pairs):
        found = set()
        for declaration, _ in pairs:
            result, _, rest = declaration.partition("(")
            if result.rpartition(" ")[2].startswith("_"):
                continue
            # A tuple is read in the same way, however long it is.
            found.add(re.sub(r"(?:at::Tensor,){3,}", "at::Tensor," * 3, result.rpartition(" ")[0]))
            found |= {fast_ops._parameter(part)[0] for part in fast_ops.split(rest[: rest.rindex(")")])}
        return found

    methods = ops.methods(ops.method_names())
    functions = [pair for name in all_names(include) for pair in ops.functions(name)]
    covered = kinds(pair for pair in methods + functions if pair[0].partition("(")[0].rpartition(" ")[2] in called)
    assert len(methods) > 600 and len(functions) > 1500
    assert sorted(kinds(methods + functions) - covered - {"::std::optional<at::Generator>"}) == []


def all_names(include):
    headers = [name[:-2] for name in os.listdir(os.path.join(include, "ATen", "ops"))]
    return sorted(name for name in headers if not name.endswith(("_ops", "_native", "_dispatch", "_meta")))


def test_declarations_of_all_ops_compile(include, tmp_path):
    ops = fast_ops.Ops(include)
    methods = ops.methods(ops.method_names())
    every = all_names(include)
    functions = [pair for name in every for one in (name, name + "_", name + "_out", name + "_outf") for pair in ops.functions(one)]
    functions = list(dict.fromkeys(functions))
    factories = [text for name in sorted(ops.factory_names()) for text in ops.factories(name)]
    fast.write_files(
        str(tmp_path),
        include,
        ["#define CUDAOPS_FAST_%s" % part for part in ("HALF", "COMPLEX", "WITH_LIBRARY", "WITH_PYTHON")],
        methods,
        functions,
        factories,
        ["c10/util/complex.h"],
    )
    (tmp_path / "all.cpp").write_text("#include <torch/extension.h>\n")
    command = [os.environ.get("CXX", "c++"), "-std=c++%s" % fast.cxx_standard(), "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    command += ["-I", str(tmp_path), "-I", fast.INCLUDE, str(tmp_path / "all.cpp")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]

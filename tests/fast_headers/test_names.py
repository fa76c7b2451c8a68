# SPDX-License-Identifier: Apache-2.0
"""Each name that the fast headers know is in a differential case; each op's declaration that can be had compiles."""

import ast
import os
import pathlib
import re
import subprocess

import pytest
from cases import CPP, OPS
from module import TEXT

from cudaops.jit import fast, fast_ops
from cudaops.jit.key import torch_directory

HERE = pathlib.Path(__file__).parent
TEXTS = "\n".join(code for _, code in CPP.values()) + TEXT + OPS


def gpu_texts():
    """Of compare_gpu.py, which imports torch."""
    tree = ast.parse((HERE / "compare_gpu.py").read_text(encoding="utf-8"))
    assigned = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
    return assigned["CPP"].value, assigned["CUDA"].value


@pytest.fixture(scope="module")
def include():
    if torch_directory() is None:
        pytest.skip("no torch")
    return os.path.join(torch_directory(), "include")


def names(texts, pattern):
    return set(re.findall(pattern, texts))


def test_each_known_name_has_a_case():
    words = names(TEXTS + "".join(gpu_texts()), r"\w+")
    known = fast._AT | fast._CHECKS | fast._TORCH_ONLY | fast._CONSTANTS | fast._TORCH_CONSTANTS | fast._PYTHON | fast._MACROS
    known |= {name for nested in fast._NESTED.values() for name in nested}
    assert sorted(known - words) == []


# What texts don't name: the headers' own.
INTERNAL = set("Op Results NumberResults Text Deleter TorchLibraryInit arg_v mod_gil_not_used".split())
INTERNAL_MEMBERS = set("bits steal unsafe_release sign module_pointer cudaStream_t".split())


def test_each_member_of_a_class_has_a_case():
    called = names(TEXTS + "".join(gpu_texts()), r"(?:[.]|->)(\w+)")
    found = {}
    for path in pathlib.Path(fast.INCLUDE, "cudaops_fast").glob("*.h"):
        if path.name in ("bridge.h", "binder.h"):
            continue
        text = path.read_text(encoding="utf-8")
        for name, body in re.findall(r"^(?:class|struct) (\w+)[^;{]*\{\n(.*?)^(?: private:|\};)", text, re.MULTILINE | re.DOTALL):
            members = names(body, r"(?<![~\w])([a-z]\w*[a-z])\((?:[^()]|\([^()]*\))*\) (?:const|noexcept|&&|const&|\{)")
            found.setdefault(name, set()).update(members - {name, "bool"})
    assert len(found["Tensor"]) > 40 and len(found["TensorOptions"]) > 15
    missing = ["%s.%s" % (name, member) for name in found.keys() - INTERNAL for member in found[name] - called - INTERNAL_MEMBERS]
    assert sorted(missing) == []


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

# SPDX-License-Identifier: Apache-2.0
"""A store of the tests' own, and what is built in it."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess

import pytest
from torch_process import run_with_torch

OP = """
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
%s
using torch::stable::Tensor;
Tensor twice(const Tensor& a) {
  Tensor out = torch::stable::empty_like(a);
  for (int64_t i = 0; i < a.numel(); ++i) out.mutable_data_ptr<float>()[i] = FACTOR * a.const_data_ptr<float>()[i];
  return out;
}
STABLE_TORCH_LIBRARY(%s, m) { m.def("twice(Tensor a) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(%s, CPU, m) { m.impl("twice", TORCH_BOX(&twice)); }
"""
# A Python module without torch's headers: compiles in a third of a second.
PLAIN = """
#include <Python.h>
%s
static PyObject* answer(PyObject*, PyObject*) { return PyLong_FromLong(ANSWER); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "plain", "", -1, methods};
PyMODINIT_FUNC PyInit_%s() { return PyModule_Create(&definition); }
"""

# Before a test changes the variable.
USER_STORE = pathlib.Path(os.environ.get("CUDAOPS_STORE") or os.path.expanduser("~/.cache/cudaops"))

# Fails the process that starts another one; importing torch starts ldconfig.
NO_PROCESS = """
import sys, torch
def hook(event, arguments):
    if event in ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system"):
        raise SystemExit("started a process: %s %s" % (event, arguments))
sys.addaudithook(hook)
"""


def op(namespace, factor="2"):
    return OP % ("#define FACTOR %s" % factor if factor is not None else "", namespace, namespace)


def plain(name, answer="42"):
    return PLAIN % ("#define ANSWER %s" % answer if answer is not None else "", name)


class Jit:
    """store: what CUDAOPS_STORE is; directory: for sources.

    load() and inline() run in this process, which has imported torch once; run() in one that ends afterwards.
    """

    def __init__(self, directory, monkeypatch):
        self.patch = monkeypatch
        self.directory = directory / "sources"
        self.directory.mkdir()
        self.store = make_store(directory / "store")
        self.variables = {
            "CUDAOPS_STORE": str(self.store),
            "CUDAOPS_JIT": "",
            "CUDAOPS_JIT_PATH": "",
            "CUDAOPS_JIT_MAX_SIZE": "",
            "TORCH_CUDA_ARCH_LIST": "9.0",
            "MAX_JOBS": "2",
        }
        for name, value in self.variables.items():
            monkeypatch.setenv(name, value)

    @property
    def root(self):
        return self.store / "jit"

    def write(self, name, text):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def load(self, *arguments, **keywords):
        """As another process would: what this one has loaded is forgotten."""
        import cudaops
        from cudaops.jit import loader

        loader.loaded.clear()
        function = cudaops.load_inline if keywords.pop("inline", False) else cudaops.load
        return function(*arguments, **keywords)

    def answer(self, *arguments, **keywords):
        """(answer of a plain module, state, reason)"""
        module = self.load(*arguments, **keywords)
        return module.answer(), module.__cudaops__["state"], module.__cudaops__["reason"]

    @contextlib.contextmanager
    def no_process(self):
        def refuse(*arguments, **keywords):
            raise AssertionError("started a process: %s" % (arguments,))

        with self.patch.context() as patch:
            patch.setattr(subprocess, "Popen", refuse)
            yield

    def hit(self, *arguments, **keywords):
        with self.no_process():
            return self.answer(*arguments, **keywords)

    def run(self, code, expect=0, **variables):
        """A Python process with cudaops imported: what its last line prints, as JSON; stderr where it must fail."""
        code, out, err = run_with_torch("import json, cudaops\n" + code, **{**self.variables, **variables})
        assert code == expect, out + err
        return err if expect else json.loads(out.strip().splitlines()[-1])

    def objects(self):
        return sorted(path.name for path in (self.root / "o").iterdir() if not path.name.startswith("log-"))

    def left(self):
        """What builds have left behind."""
        return sorted(path.name for path in (self.root / "t").iterdir())


def make_store(store):
    """An empty one. What CMake's part keeps is the user's, as links: it isn't looked at, and making it takes seconds."""
    store.mkdir()
    for name in ("launch", "link", "precompiled", "probes", "seeds"):
        (USER_STORE / name).mkdir(parents=True, exist_ok=True)
        (store / name).symlink_to(USER_STORE / name)
    return store


@pytest.fixture
def jit(tmp_path, monkeypatch, torch_dir):
    for program in ("cmake", "ninja"):
        if shutil.which(program) is None:
            pytest.skip("no " + program)
    place = tmp_path / "with blank"
    place.mkdir()
    return Jit(place, monkeypatch)

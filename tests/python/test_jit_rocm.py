# SPDX-License-Identifier: Apache-2.0
"""load() of CUDA sources where torch is built for ROCm: translated, and compiled for gfx90a by Debian's HIP. Nothing runs."""

import json
import os
import subprocess
import sys

import pytest
from conftest import REPOSITORY, execute
from jit_store import jit, make_store  # noqa: F401

import cudaops

BINDING = """
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include "launch.h"
using torch::stable::Tensor;
Tensor scaled(const Tensor& a) {
  Tensor out = torch::stable::empty_like(a);
  launch(out.mutable_data_ptr<float>());
  return out;
}
STABLE_TORCH_LIBRARY(jit_rocm, m) { m.def("scaled(Tensor a) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(jit_rocm, CUDA, m) { m.impl("scaled", TORCH_BOX(&scaled)); }
"""
KERNEL = """
#include <cuda_runtime.h>
#include "launch.h"
#include "below/factor.h"
#include <shared.h>
__global__ void scale(float* out) { out[threadIdx.x] *= FACTOR + SHARED; }
void launch(float* out) {
  cudaStream_t stream = nullptr;
  scale<<<1, 32, 0, stream>>>(out);
}
"""
OBTAIN = """
import json, sys
sys.path.insert(0, %r)
import cudaops
from cudaops.jit import api
request = api.Request("ops", "module")
request.set_flags(None, None, None, json.loads(sys.argv[2]))
request.set_paths(json.loads(sys.argv[1]))
try:
    found, state, reason, _ = api.obtain(request)
    print(json.dumps([state, reason, found.path]))
except cudaops.BuildError as error:
    print(json.dumps(["ERROR", error.message, error.file]))
""" % str(REPOSITORY / "python")


@pytest.fixture
def python(tmp_path, torch_dir):
    """A Python whose torch is one for ROCm as far as files tell: headers and libraries are those of this Python's torch."""
    for place in ("/usr/bin/hipcc", "/usr/include/hip/hip_runtime.h"):
        if not os.path.exists(place):
            pytest.skip("no " + place)
    place = tmp_path / "venv"
    execute([getattr(sys, "_base_executable", sys.executable), "-m", "venv", "--without-pip", place])
    torch = place / "lib" / ("python%d.%d" % sys.version_info[:2]) / "site-packages" / "torch"
    (torch / "lib").mkdir(parents=True)
    for name in ("include", "utils"):
        (torch / name).symlink_to(torch_dir / name)
    for name in ("c10", "torch_cpu", "torch", "torch_python"):
        (torch / "lib" / ("lib%s.so" % name)).symlink_to(torch_dir / "lib" / ("lib%s.so" % name))
    for name in ("c10_hip", "torch_hip"):
        library = "lib%s.so" % name
        execute(["cc", "-shared", "-o", torch / "lib" / library, "-x", "c", "/dev/null", "-Wl,-soname," + library])
    (torch / "__init__.py").write_text("raise ImportError('these are only files')\n")
    version = next(line for line in (torch_dir / "version.py").read_text().splitlines() if line.startswith("__version__"))
    number = version.split("=")[1].strip(" '").partition("+")[0]
    (torch / "version.py").write_text("__version__ = '%s+rocm5.2'\ncuda = None\nhip = '5.2.21153-0'\n" % number)
    return place / "bin" / "python"


def test_cuda_sources_are_translated_and_every_file_of_theirs_is_an_input(jit, python):  # noqa: F811
    """Compiled three times, 2 s of CPU each: what is edited is behind a translation."""
    sources = [jit.write("src/ops.cpp", BINDING), jit.write("src/kernel.cu", KERNEL)]
    jit.write("src/launch.h", "#pragma once\nvoid launch(float* out);\n")
    jit.write("src/below/factor.h", "#define FACTOR 2\n")
    shared = "#include <cuda_runtime.h>\ninline cudaError_t wait() { return cudaDeviceSynchronize(); }\n#define SHARED %d\n"
    jit.write("include/shared.h", shared % 1)
    variables = {**os.environ, **jit.variables, "PYTORCH_ROCM_ARCH": "gfx90a"}
    for name in ("CUDACXX", "PYTHONPATH", "TORCH_CUDA_ARCH_LIST"):
        variables.pop(name, None)

    def obtain():
        arguments = [json.dumps(sources), json.dumps([str(jit.directory / "include")])]
        done = subprocess.run([python, "-B", "-c", OBTAIN, *arguments], env=variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    state, _, path = obtain()
    assert state == "COMPILED", path
    assert cudaops.inspect(path)["architectures"] == ["gfx90a"]
    assert obtain() == ["CACHED", "", path]
    for name, text in (("src/below/factor.h", "#define FACTOR 7\n"), ("include/shared.h", shared % 7)):
        jit.write(name, text)
        state, reason, path = obtain()
        assert (state, reason) == ("COMPILED", "header %s changed" % (jit.directory / name))
    jit.write("src/kernel.cu", KERNEL.replace("*= FACTOR", "*= nowhere"))
    state, message, file = obtain()
    assert state == "ERROR" and "undeclared identifier 'nowhere'" in message and file == sources[1]

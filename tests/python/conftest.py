# SPDX-License-Identifier: Apache-2.0
"""Builds the small libraries that the tests look into, with the compilers of this machine.

CXX, CUDACXX and HIPCXX choose them; without nvcc or a clang for HIP the tests of their device code are skipped, without
torch those that load.
"""

import glob
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "python" / "cudaops"
# Before the name of a module: as the CMake modules run it.
RUN = ("-I", "-S", "-B", PACKAGE / "_run.py")
sys.path.insert(0, str(REPOSITORY / "python"))
sys.dont_write_bytecode = True

NOTE = {
    "cudaops": "0.1.0",
    "state": "BUILT",
    "reason": "",
    "abi": "STABLE",
    "torch_target": "2.10",
    "torch": "2.15.0+cu132",
    "torch_cuda": "13.2",
    "toolkit": "13.0.88",
    "cuda_runtime": "static",
    "architectures": ["90a-real"],
}


# tests/unchanged.py: a file with the names of the tests that were skipped when all others passed. Where it is there, only
# they are run.
SKIPPED_NAMES = os.environ.get("CUDAOPS_TEST_SKIPPED", "")
skipped_names = {}


def pytest_collection_modifyitems(config, items):
    if os.path.exists(SKIPPED_NAMES):
        names = pathlib.Path(SKIPPED_NAMES).read_text(encoding="utf-8").splitlines()
        others = [item for item in items if item.nodeid not in names]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item.nodeid in names]


def pytest_runtest_logreport(report):
    if report.skipped and not hasattr(report, "wasxfail"):
        skipped_names[report.nodeid] = True


def pytest_sessionfinish():
    if SKIPPED_NAMES:
        pathlib.Path(SKIPPED_NAMES).write_text("".join(name + "\n" for name in skipped_names), encoding="utf-8")


def execute(command, **options):
    """Runs a command that must succeed; its output is in the failure's text."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, "%s\n%s%s" % (" ".join(map(str, command)), done.stdout, done.stderr)
    return done.stdout


def run_python(*arguments, **variables):
    """(exit code, stdout, stderr) of this Python, which sees the package of this checkout."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python"), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    return done.returncode, done.stdout, done.stderr


class Builder:
    """Makes libraries in a directory of the test session."""

    def __init__(self, directory):
        self.directory = directory
        self.cxx = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
        self._hip = None
        self.nvcc = os.environ.get("CUDACXX") or shutil.which("nvcc")
        if self.nvcc is None and os.access("/usr/local/cuda/bin/nvcc", os.X_OK):
            self.nvcc = "/usr/local/cuda/bin/nvcc"

    def write(self, name, text):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def note_source(self, project="tests", op="my_ops", content=None, **changes):
        """The source that the CMake function _cudaops_op_provenance writes for such a note."""
        members = {**NOTE, **changes} if content is None else content
        text = json.dumps({"project": project, "op": op, **members}, separators=(",", ":"))
        key = json.dumps({"project": project, "op": op}, separators=(",", ":"))[:-1]
        lines = [
            "#define CUDAOPS_NOTE_OP %s" % json.dumps(op),
            "#define CUDAOPS_NOTE_SIZE %d" % len(text.encode()),
            "#define CUDAOPS_NOTE_KEY_SIZE %d" % len(key.encode()),
            '#define CUDAOPS_NOTE_BYTES "%s"' % ",".join("0x%02x" % byte for byte in text.encode()),
            '#include "cudaops/detail/provenance.h"',
        ]
        return "\n".join(lines) + "\n"

    def library(self, name, source="int answer() { return 42; }\n", note=None, options=()):
        """lib<name>.so from C++ text, with a note where `note` is the text of its source."""
        sources = [self.write(name + ".cpp", source)]
        if note is not None:
            sources.append(self.write(name + "_provenance.cpp", note))
        path = self.directory / ("lib%s.so" % name)
        include = "-I%s" % (REPOSITORY / "cmake" / "include")
        execute([self.cxx, "-std=c++17", "-O1", "-shared", "-fPIC", include, *sources, "-o", path, *options])
        return path

    def cuda(self, name, source, archs, options=(), shared=True):
        """lib<name>.so (or <name>.o) of device code for archs such as sm_90a and compute_120."""
        if self.nvcc is None:
            pytest.skip("no nvcc: set CUDACXX")
        known = subprocess.run([self.nvcc, "--help"], capture_output=True, text=True).stdout
        command = [self.nvcc, "-Xcompiler", "-fPIC", "--threads=2", *options]
        for arch in archs:
            number = arch.split("_")[1]
            if "compute_%s'" % number not in known:
                pytest.skip("this nvcc knows no compute_%s" % number)
            command.append("--generate-code=arch=compute_%s,code=%s" % (number, arch))
        path = self.directory / ("lib%s.so" % name if shared else name + ".o")
        execute([*command, "-shared" if shared else "-c", self.write(name + ".cu", source), "-o", path])
        return path

    def hip(self, name, source, archs, options=(), shared=True):
        """lib<name>.so (or <name>.o) of device code for archs such as gfx90a and gfx906:xnack-."""
        command = self.hip_command(archs)
        path = self.directory / ("lib%s.so" % name if shared else name + ".o")
        file = self.write(name + ".hip", source)
        execute([*command, "-x", "hip", file, "-x", "none", *options, "-shared" if shared else "-c", "-o", path])
        return path

    def hip_command(self, archs):
        if self._hip is None:
            self._hip = self._find_hip()
        command = [*self._hip, *("--offload-arch=" + arch for arch in archs)]
        trial = [*command, "-x", "hip", "-c", os.devnull, "-o", os.devnull]
        if subprocess.run(trial, capture_output=True).returncode != 0:
            pytest.skip("this clang can't build for %s" % " ".join(archs))
        return command

    def _find_hip(self):
        """clang with HIP's headers and device libraries; by its place beside its own lld, which -fgpu-rdc runs."""
        places = [os.environ.get("HIPCXX"), "/opt/rocm/llvm/bin/clang++"]
        places += sorted(glob.glob("/usr/lib/llvm-*/bin/clang++"), reverse=True)
        options = ["-D__HIP_PLATFORM_AMD__=1", "-fPIC", "-O1", "-Wno-unused-command-line-argument"]
        bitcode = glob.glob("/usr/lib/*/amdgcn/bitcode") if os.path.exists("/usr/include/hip/hip_runtime.h") else []
        options += ["--rocm-path=/usr", "--rocm-device-lib-path=" + bitcode[0]] if bitcode else []
        source = self.write("find_hip.hip", "#include <hip/hip_runtime.h>\n__global__ void nothing() {}\n")
        for place in places:
            if place and shutil.which(place):
                command = [place, *options]
                trial = [*command, "--offload-arch=gfx90a", "-x", "hip", "-c", source, "-o", os.devnull]
                if subprocess.run(list(map(str, trial)), capture_output=True).returncode == 0:
                    return command
        pytest.skip("no clang that compiles HIP for gfx90a: set HIPCXX")


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    builder = Builder(tmp_path_factory.mktemp("libraries with blank"))
    if builder.cxx is None:
        pytest.skip("no C++ compiler: set CXX")
    return builder


@pytest.fixture(scope="session")
def reader():
    from cudaops import inspect_library

    return inspect_library


@pytest.fixture(scope="session")
def torch_dir():
    spec = importlib.util.find_spec("torch")
    if spec is None:
        pytest.skip("this Python has no torch")
    return pathlib.Path(spec.origin).parent


def make_fake_torch(directory, version, cuda=None, symbols=("aoti_torch_known",), hip=None):
    """A directory for PYTHONPATH with the files of a torch that can't be imported; returns it."""
    builder = Builder(directory)
    if builder.cxx is None:
        pytest.skip("no C++ compiler: set CXX")
    (directory / "torch" / "lib").mkdir(parents=True)
    (directory / "torch" / "__init__.py").write_text("raise ImportError('nobody may import this torch')\n")
    cuda_text, hip_text = ("'%s'" % text if text else "None" for text in (cuda, hip))
    (directory / "torch" / "version.py").write_text(
        "from typing import Optional\n__version__ = '%s'\ncuda: Optional[str] = %s\nhip: Optional[str] = %s\n"
        % (version, cuda_text, hip_text)
    )
    names = ["torch_cpu", "c10"] + (["torch_cuda", "c10_cuda"] if cuda else ["torch_hip", "c10_hip"] if hip else [])
    for name in names:
        exported = symbols if name == "torch_cpu" else ()
        source = "".join('extern "C" void %s() {}\n' % symbol for symbol in exported)
        built = builder.library(name, source, options=["-Wl,-soname,lib%s.so" % name])
        shutil.move(built, directory / "torch" / "lib" / built.name)
    return directory


@pytest.fixture
def fake_torch(tmp_path):
    return lambda *arguments, **keywords: make_fake_torch(tmp_path / "fake torch", *arguments, **keywords)

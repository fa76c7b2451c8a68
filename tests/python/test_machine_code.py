# SPDX-License-Identifier: Apache-2.0
"""The targets <name>.ptx and <name>.sass, and that line numbers leave the machine code as it is."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import REPOSITORY, RUN

from cudaops.nvidia_tools import machine_code
from cudaops.binaries.elf import Elf, File

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
KERNEL = """// Scales by 2, in \u00b5s.
#include <cstdint>
__global__ void scale(float* out, int64_t n) {
  if (threadIdx.x < n)
    out[threadIdx.x] *= 2;
}
"""
# Names the source in place of a cubin's table of lines.
DISASSEMBLER = """#!/bin/sh
test "$1 $2" = "-g -c" && test -s "$3" || exit 3
printf '\\t//## File "%s", line 5\\n        /*0000*/                   FADD R5, R0, R0 ;\\n\\t//## File "/nowhere.cu", line 2\\n'
"""


def run(kind, build, *objects, path="/usr/bin:/bin", toolkit=""):
    command = [sys.executable, *RUN, "nvidia_tools.machine_code", "--kind", kind, "--build", build, "--name", "ops", "--toolkit", toolkit, "--", *objects]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, PATH=path))
    return done.returncode, done.stdout, done.stderr


def project(directory, options="", suffix=""):
    """A build directory of Ninja's with one object, csrc/scale.cu.o."""
    source = directory / "src" / "scale.cu"
    source.parent.mkdir(exist_ok=True)
    source.write_text(KERNEL)
    rule = "rule CUDA\n  command = launcher settings %s -DTEXT=\\\"a\\ b\\\" -O3 %s -MD -MT $out -MF $out.d -x cu $FLAGS -o $out\n"
    edge = "build CMakeFiles/ops.dir/csrc/scale.cu.o: CUDA %s\n  FLAGS = -c %s\n"
    (directory / "build.ninja").write_text(rule % (shutil.which("nvcc") or "/usr/bin/nvcc", options) + edge % (source, source))
    return directory, directory / "CMakeFiles/ops.dir/./csrc/scale.cu.o"


GENERATE = "--generate-code=arch=compute_80,code=[sm_80] --generate-code=arch=compute_90,code=[compute_90,sm_90]"


@needs_nvcc
def test_ptx_has_the_source_and_a_file_for_each_architecture(tmp_path):
    tmp_path = tmp_path / "\u00fcbung"
    tmp_path.mkdir()
    build, path = project(tmp_path, GENERATE)
    (tmp_path / "ops.ptx" / "csrc").mkdir(parents=True)
    (tmp_path / "ops.ptx" / "csrc" / "scale.compute_70.ptx").write_text("of yesterday")
    (tmp_path / "ops.ptx" / "notes.txt").write_text("mine")
    code, out, err = run("ptx", build, path, build / "CMakeFiles/ops.dir/host.cpp.o", path=os.environ["PATH"])
    assert (code, err) == (0, "") and out.startswith("ops.ptx: 2 files in %s/ops.ptx\n" % build)
    found = sorted(str(file.relative_to(tmp_path / "ops.ptx")) for file in (tmp_path / "ops.ptx").rglob("*") if file.is_file())
    assert found == ["csrc/scale.compute_80.ptx", "csrc/scale.compute_90.ptx", "notes.txt"]
    text = (tmp_path / "ops.ptx/csrc/scale.compute_90.ptx").read_text()
    assert ".target sm_90" in text and "scale.cu:5 out[threadIdx.x] *= 2;" in text


@needs_nvcc
def test_machine_code_has_the_source(tmp_path):
    build, path = project(tmp_path, GENERATE)
    (tmp_path / "toolkit/bin").mkdir(parents=True)
    tool = tmp_path / "toolkit/bin/nvdisasm"
    tool.write_text(DISASSEMBLER % (tmp_path / "src/scale.cu"))
    tool.chmod(0o755)
    code, out, err = run("sass", build, path, path=os.environ["PATH"], toolkit=tmp_path / "toolkit")
    assert (code, err) == (0, "") and "csrc/scale.sm_80.sass" in out and "csrc/scale.sm_90.sass" in out
    lines = (tmp_path / "ops.sass/csrc/scale.sm_90.sass").read_text().splitlines()
    assert lines[0].endswith('scale.cu", line 5: out[threadIdx.x] *= 2;') and lines[2].endswith('"/nowhere.cu", line 2')


@needs_nvcc
def test_what_does_not_compile_leaves_no_file(tmp_path):
    build, path = project(tmp_path, GENERATE)
    (tmp_path / "src/scale.cu").write_text("#error not today\n")
    code, out, err = run("ptx", build, path, path=os.environ["PATH"])
    assert (code, out) == (1, "") and "ops.ptx: nvcc failed for csrc/scale.compute_80.ptx." in err and "not today" in err
    assert "Fix: the command: " in err and not (tmp_path / "ops.ptx").exists()


@needs_nvcc
def test_result_that_cannot_be_written_is_said(tmp_path):
    build, path = project(tmp_path, GENERATE)
    (tmp_path / "ops.ptx").write_text("a file")
    code, out, err = run("ptx", build, path, path=os.environ["PATH"])
    assert (code, out) == (1, "") and err.startswith("ops.ptx: the result can't be written.\n  found   %s/ops.ptx: " % tmp_path)
    assert "\n Fix: a build directory that can be written" in err


def test_causes_for_which_there_is_nothing_to_see_are_said(tmp_path):
    build, path = project(tmp_path, "--generate-code=arch=compute_90,code=[compute_90]")
    packages = "/lib/python%d.%d/site-packages" % sys.version_info[:2]
    if not os.path.exists(os.path.dirname(os.path.dirname(sys.executable)) + packages + "/nvidia/cu13/bin/nvdisasm"):
        code, out, err = run("sass", build, path)
        assert (code, out) == (1, "") and err.startswith("ops.sass: nvdisasm was not found.\n  searched  PATH\n")
        assert " Fix: pip install nvidia-cuda-nvdisasm\n" in err
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/nvdisasm").write_text("#!/bin/sh\n")
    (tmp_path / "bin/nvdisasm").chmod(0o755)
    code, out, err = run("sass", build, path, toolkit=tmp_path)
    assert code == 1 and "there is no machine code: the architectures are virtual." in err and "CMAKE_CUDA_ARCHITECTURES=<arch>-real" in err
    code, out, err = run("ptx", build, build / "CMakeFiles/ops.dir/host.cpp.o")
    assert code == 1 and "nvcc compiles nothing of it." in err
    (tmp_path / "make").mkdir()
    code, out, err = run("ptx", tmp_path / "make", path)
    assert code == 1 and "the compile commands of this build directory aren't known." in err and "-G Ninja" in err


def test_commands_of_makefiles_and_of_separate_compilation(tmp_path):
    build, path = project(tmp_path, GENERATE)
    command = "/cuda/bin/nvcc -DA=1 %s -x cu -c /src/a.cu -o CMakeFiles/ops.dir/csrc/a.cu.o" % GENERATE
    (build / "build.ninja").unlink()
    (build / "compile_commands.json").write_text(json.dumps([{"directory": str(build), "command": command, "file": "/src/a.cu"}]))
    (compiled,) = machine_code.read_compiles(str(build), [str(build / "CMakeFiles/ops.dir") + "/./csrc/a.cu.o"])
    assert (compiled.name, compiled.source, compiled.directory) == ("csrc/a.cu", "/src/a.cu", str(build))
    assert [step.name for step in machine_code.steps_of(compiled, "sass")] == ["csrc/a.sm_80.sass", "csrc/a.sm_90.sass"]
    words, source = machine_code.compiler_words("/l s /cuda/bin/nvcc -Ia -MD -MT o -MF o.d -x cu -dc /s/a.cu -o o")
    assert (words, source) == (["/cuda/bin/nvcc", "-Ia", "-x", "cu", "-rdc=true"], "/s/a.cu")
    assert machine_code.compiler_words("/usr/bin/c++ -c a.cpp -o o") == ([], "")


def machine_code_of(path):
    """{kernel: its bytes} of a cubin."""
    with File(path) as file:
        return {name: file.read(at, size, name) for name, _, at, size in Elf(file).sections() if name.startswith(".text.")}


@needs_nvcc
@pytest.mark.parametrize("name", ["square", "vector_add", "transpose"])
def test_line_numbers_leave_the_machine_code_as_it_is(name, tmp_path):
    """CUDAOPS_PROFILE measures what ships: each kernel has the same bytes. Two compiles."""
    source = REPOSITORY / "kernels" / name / (name + ".cu")
    command = ["nvcc", "-std=c++17", "-O3", "-DNDEBUG", "-I" + str(REPOSITORY / "cmake/include"), "-I" + str(REPOSITORY / "kernels")]
    command += ["--generate-code=arch=compute_89,code=sm_89", "-cubin", source, "-o"]
    for options, output in (([], "plain.cubin"), (["-lineinfo", "--no-compress"], "profile.cubin")):
        subprocess.run([*command, tmp_path / output, *options], check=True)
    plain, profile = machine_code_of(tmp_path / "plain.cubin"), machine_code_of(tmp_path / "profile.cubin")
    assert len(plain) > 0 and plain == profile
    assert b".debug_line" in (tmp_path / "profile.cubin").read_bytes()
    assert b".debug_line" not in (tmp_path / "plain.cubin").read_bytes()

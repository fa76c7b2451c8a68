# SPDX-License-Identifier: Apache-2.0
"""What the tests of CUDAOPS_SANITIZER run, with a tool and a driver that stand for NVIDIA's."""

import os
import shutil
import subprocess
import sys

import pytest
from conftest import REPOSITORY

from cudaops.nvidia_tools import sanitize

REPORT = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at scale(float *, long)+0x70 in /src/my ops/scale.cu:12
=========     by thread (32,0,0) in block (0,0,0)
=========     Address 0x7f0 is out of bounds
=========         Host Frame: main in main.cpp:9 [0x1]
=========
========= Invalid __global__ write of size 4 bytes
=========     at scale(float *, long)+0x70 in /src/my ops/scale.cu:12
=========     by thread (33,0,0) in block (0,0,0)
=========
../../tests/test_sum.py s.========= Uninitialized __global__ memory read of size 4 bytes
=========     at 0x90 in /src/sum.cu:7:sum(float *)
=========
========= Error: Race reported between Write access at reduce(float *)+0x90 in /src/reduce.cu:9
=========     and Read access at reduce(float *)+0xd0 in /src/reduce.cu:11 [1984 hazards]
=========
========= Host API memory access error at host access to 0x7f7198800600 of size 1 bytes
=========     Uninitialized access to 0x7f7198800600 on access by cudaMemcpy source
=========     Saved host backtrace up to driver entry point at error
=========         Host Frame: cudaMemcpyAsync [0x70eec] in libcudart.so.13
=========
========= Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaMemcpy.
=========     Saved host backtrace up to driver entry point at error
=========
========= Barrier error detected. Divergent thread(s) in block
=========     at reduce(float *)+0x20 in /src/reduce.cu:20
=========
========= ERROR SUMMARY: 7 errors
"""

TOOL = """\
#!/bin/sh
test "$1" = --help && { echo "--kernel-name"; exit 0; }
printf '%s\\n' "arguments: $*" "caching: $PYTORCH_NO_CUDA_MEMORY_CACHING $PYTORCH_CUDA_ALLOC_CONF $CUDAOPS_SANITIZER_TOOL"
while test "$1" != program; do shift; done
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """A directory with a libcuda.so.1 that has one device."""
    directory = tmp_path_factory.mktemp("driver")
    (directory / "cuda.c").write_text("int cuInit(unsigned f) { return 0; }\nint cuDeviceGetCount(int* n) { *n = 1; return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", directory / "libcuda.so.1", directory / "cuda.c"], check=True)
    return directory


def run(toolkit, driver, *arguments):
    command = [sys.executable, "-I", "-S", "-B", REPOSITORY / "python" / "cudaops" / "_run.py", "nvidia_tools.sanitize", "--tool", "memcheck"]
    environment = dict(os.environ, PATH="/usr/bin:/bin", LD_LIBRARY_PATH=str(driver), PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True")
    done = subprocess.run([*command, "--toolkit", toolkit, *arguments], env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def tool(directory, ending):
    (directory / "bin").mkdir()
    place = directory / "bin" / "compute-sanitizer"
    place.write_text(TOOL + ending)
    place.chmod(0o755)
    return directory


def test_summary_names_each_place_once():
    assert sanitize.summary(REPORT) == [
        "Invalid __global__ write of size 4 bytes at scale(float *, long)+0x70 in /src/my ops/scale.cu:12 (2 times)",
        "Uninitialized __global__ memory read of size 4 bytes at sum(float *) in /src/sum.cu:7",
        "Race reported between Write access at reduce(float *)+0x90 in /src/reduce.cu:9",
        "Host API memory access error of size 1 bytes: Uninitialized access on access by cudaMemcpy source",
        'Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaMemcpy',
        "Barrier error detected. Divergent thread(s) in block at reduce(float *)+0x20 in /src/reduce.cu:20",
    ]
    assert sanitize.summary("========= test session starts =========\n    at x\n") == []
    assert sanitize.summary("a\n========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n") == []


def test_what_is_found_fails_the_test_and_is_said_at_the_end(tmp_path, driver):
    (tmp_path / "report").write_text(REPORT)
    toolkit = tool(tmp_path, 'cat "%s/report"\nexit 86\n' % tmp_path)
    code, out, err = run(toolkit, driver, "--", "program", "--gtest_filter=*Gpu*")
    assert (code, err) == (86, "")
    assert "arguments: --tool memcheck --error-exitcode 86 --target-processes all program --gtest_filter=*Gpu*" in out
    assert "caching: 1 expandable_segments:False memcheck" in out
    assert out.splitlines()[-6].startswith("memcheck: Invalid __global__ write of size 4 bytes at scale(float *, long)")


def test_without_a_tool_a_gpu_or_a_test_it_is_skipped(tmp_path, driver):
    code, out, err = run(tmp_path, driver, "--", "program")
    assert (code, err) == (77, "") and out.startswith("SKIPPED: compute-sanitizer was not found.\n  searched  %s/bin\n" % tmp_path)
    toolkit = tool(tmp_path, 'echo "[==========] Running 0 tests from 0 test suites."\n')
    code, out, err = run(toolkit, driver, "--", "program")
    assert (code, err) == (77, "") and out.endswith("SKIPPED: no test of the program has Gpu or GPU in its name\n")
    (tmp_path / "driver").mkdir()
    subprocess.run(["cc", "-shared", "-o", tmp_path / "driver/libcuda.so.1", "-x", "c", "-"], input="int cuInit(unsigned f) { return 100; }", text=True, check=True)
    code, out, err = run(toolkit, tmp_path / "driver", "--", "program")
    assert (code, err) == (77, "") and out == (
        "SKIPPED: no GPU can be used here.\n  found   the driver's error 100\n Fix: nvidia-smi, and the value of CUDA_VISIBLE_DEVICES\n"
    )


@pytest.mark.parametrize("ending, expected", [(0, 86), (255, 255)])
def test_a_test_without_a_call_of_cuda_fails_with_the_cures(tmp_path, driver, ending, expected):
    said = "========= Error: Target application terminated before first instrumented API call"
    toolkit = tool(tmp_path, 'echo "%s"\nexit %d\n' % (said, ending))
    code, out, err = run(toolkit, driver, "--", "program", "a b")
    assert code == expected
    assert err.startswith("memcheck: nothing was checked: the tool saw no call of CUDA.\n  found   %s/bin/compute-sanitizer\n" % tmp_path)
    assert "  in      program 'a b'\n Fix: where the test uses no GPU, the word cpu in its name: my_ops.cpu\n      where it uses one, " in err


def test_exit_code_of_the_test_itself_is_kept(tmp_path, driver):
    toolkit = tool(tmp_path, "exit 3\n")
    assert run(toolkit, driver, "--", "program")[0] == 3


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """{architectures: library} with two kernels, of nvcc."""
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc")
    directory = tmp_path_factory.mktemp("libraries")
    (directory / "a.cu").write_text('__global__ void scale(float*) {}\nextern "C" __global__ void plain(float*) {}\n')
    made = {}
    for kind, code in (("real", "sm_90"), ("virtual", "compute_90")):
        made[kind] = directory / (kind + ".so")
        generate = "--generate-code=arch=compute_90,code=" + code
        subprocess.run(["nvcc", "-shared", "-Xcompiler=-fPIC", generate, directory / "a.cu", "-o", made[kind]], check=True)
    return made


def test_kernels_of_the_ops_alone_are_checked(tmp_path, driver, libraries):
    toolkit = tool(tmp_path, "exit 0\n")
    code, out, err = run(toolkit, driver, "--library", libraries["real"], "--", "program")
    assert (code, err) == (0, "") and "--kernel-name kns=_Z5scalePf --kernel-name kns=plain program" in out
    # What the driver will compile isn't known yet, and initcheck has to see what all kernels write.
    code, out, err = run(toolkit, driver, "--library", libraries["virtual"], "--", "program")
    assert (code, err) == (0, "") and "--target-processes all program" in out
    code, out, err = run(toolkit, driver, "--library", libraries["real"], "--tool", "initcheck", "--", "program")
    assert (code, err) == (0, "") and "--target-processes all program" in out


@pytest.mark.parametrize(
    "names, parts",
    [
        (["_ZN3ops1aEv", "_ZN3ops6detail1bEv", "plain"], ["_ZN3ops", "plain"]),
        (["_ZN3ops1aEv"], ["_ZN3ops1aEv"]),
        (["_ZN3one1aEv", "_ZN3two1aEv"], ["_ZN3one1aEv", "_ZN3two1aEv"]),
        (["_Z1aPf", "_Z1bPf"], ["_Z1aPf", "_Z1bPf"]),
        (["_ZN12_GLOBAL__N_11aEv", "_ZN12_GLOBAL__N_11bEv"], ["_ZN12_GLOBAL__N_1"]),
        ([], []),
    ],
)
def test_many_kernels_are_named_by_their_namespace(names, parts):
    assert sanitize._name_parts(names) == parts


def test_library_without_kernels_is_said(tmp_path, driver):
    toolkit = tool(tmp_path, "exit 0\n")
    code, out, err = run(toolkit, driver, "--library", tmp_path / "none.so", "--", "program")
    assert code == 1 and err.startswith("memcheck: ") and "none.so can't be read: No such file or directory." in err
    subprocess.run(["cc", "-shared", "-o", tmp_path / "libhost.so", "-x", "c", "-"], input="int x;", text=True, check=True)
    code, out, err = run(toolkit, driver, "--library", tmp_path / "libhost.so", "--", "program")
    assert (code, out) == (77, "SKIPPED: libhost.so holds no kernel\n")

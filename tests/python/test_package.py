# SPDX-License-Identifier: Apache-2.0
"""python -m cudaops, cudaops.inspect and cudaops.load_library, against torches made of a few files."""

import json
import platform
import re
import shutil
import subprocess
import sys

import pytest
from conftest import REPOSITORY, run_python


def module(*arguments, torch=None):
    """python -m cudaops, seeing `torch` (the directory of a fake one) or no torch at all."""
    paths = [str(REPOSITORY / "python")] + ([str(torch)] if torch else [])
    return run_python("-S", "-m", "cudaops", *arguments, PYTHONPATH=":".join(paths))


def verdict(path, torch):
    """(exit code, last line) of inspect."""
    code, output, error = module("inspect", path, torch=torch)
    assert error == ""
    return code, output.splitlines()[-1].strip()


def test_version_is_the_packages():
    text = (REPOSITORY / "cmake" / "CudaOpsConfigVersion.cmake").read_text()
    version = re.search(r'PACKAGE_VERSION "(.*)"', text).group(1)
    assert module("--version") == (0, version + "\n", "")


def test_cmake_dir():
    assert module("--cmake-dir") == (0, "%s\n" % (REPOSITORY / "cmake"), "")


def test_help():
    code, output, error = module("--help")
    assert (code, error) == (0, "") and "--cmake-dir" in output and "inspect" in output
    assert module()[:2] == (0, output)
    code, output, error = module("inspect", "--help")
    assert (code, error) == (0, "") and "Exit code: 0 where this torch can run it, 1 where it can't" in output


def test_bad_usage():
    code, output, error = module("look")
    assert (code, output) == (2, "") and "invalid choice: 'look'" in error
    code, output, error = module("inspect")
    assert (code, output) == (2, "") and "the following arguments are required: library" in error


def test_unreadable(tmp_path):
    missing = tmp_path / "missing.so"
    assert module("inspect", missing) == (
        2,
        "",
        "cudaops inspect: %s can't be read: No such file or directory.\n" % missing,
    )
    missing.write_text("text")
    assert module("inspect", missing) == (2, "", "cudaops inspect: %s is not an ELF file.\n" % missing)


def test_can_run(build, fake_torch):
    torch = fake_torch("2.11.0+cpu")
    path = build.library("can_run", note=build.note_source())
    assert verdict(path, torch) == (0, "this Python  can run it: torch 2.11.0+cpu in %s/torch" % torch)
    code, output, error = module("inspect", path, "--json", torch=torch)
    info = json.loads(output)
    assert (code, error, info["problems"]) == (0, "", [])
    assert info["torch"] == {"version": "2.11.0+cpu", "cuda": None, "hip": None, "dir": "%s/torch" % torch}
    plain = build.library("can_run_plain")
    assert verdict(plain, torch) == (0, "this Python  has all that it links: torch 2.11.0+cpu in %s/torch" % torch)


def test_no_torch(build):
    path = build.library("no_torch", note=build.note_source())
    code, line = verdict(path, None)
    assert code == 1 and re.fullmatch(r"this Python  can't run it: the Python at \S+ has no torch\.", line)


@pytest.mark.parametrize(
    "version, target, runs",
    [
        ("2.10.0+cu128", "2.10", True),
        ("2.9.1+cu128", "2.10", False),
        ("2.10.1", "2.9", True),
        ("3.0.0", "2.10", True),
        ("2.14.0a0+gitabcdef", "2.14", True),
        ("2.14.0.dev20260601+cu132", "2.15", False),
    ],
)
def test_stable(build, fake_torch, version, target, runs):
    """STABLE: this torch is not older than the target (numbers, not text: 2.9 comes before 2.10)."""
    torch = fake_torch(version)
    path = build.library("stable_" + target, note=build.note_source(torch_target=target))
    code, line = verdict(path, torch)
    if runs:
        assert code == 0
    else:
        assert (code, line) == (
            1,
            "this Python  can't run it: it needs torch %s or later, and this is torch %s in %s/torch."
            % (target, version, torch),
        )


@pytest.mark.parametrize("abi", ["FULL", "PYBIND"])
def test_full_is_tied_to_the_minor(build, fake_torch, abi):
    torch = fake_torch("2.13.1+cu132", cuda="13.2")
    path = build.library("full_minor", note=build.note_source(abi=abi))
    assert verdict(path, torch) == (
        1,
        "this Python  can't run it: it runs in torch 2.15 only (ABI %s), and this is torch 2.13.1+cu132 in %s/torch."
        % (abi, torch),
    )


def test_full_is_tied_to_the_cuda_major(build, fake_torch):
    torch = fake_torch("2.15.1+cu128", cuda="12.8")
    note = build.note_source(abi="FULL")
    links = ["-Wl,--no-as-needed", torch / "torch" / "lib" / "libc10_cuda.so"]
    assert verdict(build.library("full_cuda", note=note, options=links), torch) == (
        1,
        "this Python  can't run it: it was built with a torch for CUDA 13, and this is torch 2.15.1+cu128 in %s/torch, "
        "for CUDA 12.8." % torch,
    )
    # Nothing of CUDA in it: nothing is tied.
    assert verdict(build.library("full_cpu", note=note), torch)[0] == 0


def test_shared_runtime_is_tied_to_the_cuda_major(build, fake_torch):
    torch = fake_torch("2.15.1+cu128", cuda="12.8")
    runtime = build.library("cudart", options=["-Wl,-soname,libcudart.so.13"])
    path = build.library("shared_runtime", note=build.note_source(), options=["-Wl,--no-as-needed", runtime])
    assert verdict(path, torch) == (
        1,
        "this Python  can't run it: it links libcudart.so.13 (a shared CUDA runtime), and this is torch 2.15.1+cu128 "
        "in %s/torch, for CUDA 12.8." % torch,
    )


def test_cuda_op_in_cpu_torch(build, fake_torch):
    torch = fake_torch("2.15.0+cpu")
    cuda = build.library("torch_cuda", options=["-Wl,-soname,libtorch_cuda.so"])
    path = build.library("needs_cuda", note=build.note_source(), options=["-Wl,--no-as-needed", cuda])
    assert verdict(path, torch) == (
        1,
        "this Python  can't run it: it links libtorch_cuda.so, and this is torch 2.15.0+cpu in %s/torch, built without "
        "CUDA, which has no such file." % torch,
    )


def test_condas_layout(build, fake_torch):
    """conda-forge keeps torch's libraries in <prefix>/lib."""
    torch = fake_torch("2.15.0+cpu")
    site = torch / "lib" / "python3.12" / "site-packages"
    site.mkdir(parents=True)
    for file in (torch / "torch" / "lib").iterdir():
        file.rename(torch / "lib" / file.name)
    (torch / "torch" / "lib").rmdir()
    (torch / "torch").rename(site / "torch")
    links = ["-Wl,--no-as-needed", torch / "lib" / "libtorch_cpu.so"]
    source = 'extern "C" void aoti_torch_%s(); void f() { aoti_torch_%s(); }'
    assert verdict(build.library("conda_known", source % (("known",) * 2), build.note_source(), links), site)[0] == 0
    code, line = verdict(build.library("conda_later", source % (("later",) * 2), build.note_source(), links), site)
    assert code == 1 and "it needs aoti_torch_later, and this is torch 2.15.0+cpu in " in line
    cuda = build.library("conda_cuda", options=["-Wl,-soname,libtorch_cuda.so"])
    path = build.library("conda_needs_cuda", note=build.note_source(), options=["-Wl,--no-as-needed", cuda])
    code, line = verdict(path, site)
    assert code == 1 and "it links libtorch_cuda.so, and this is torch 2.15.0+cpu in " in line


def test_cpu_only_is_no_refusal(build, fake_torch):
    torch = fake_torch("2.15.0+cu132", cuda="13.2")
    path = build.library("cpu_only_op", note=build.note_source(state="CPU_ONLY", reason="no CUDA toolkit was found"))
    code, output, error = module("inspect", path, torch=torch)
    assert (code, error) == (0, "") and "state        CPU_ONLY: no CUDA toolkit was found\n" in output


def test_missing_symbol(build, fake_torch):
    """The note says what was intended; a symbol that this torch lacks says more."""
    torch = fake_torch("2.15.0", symbols=("aoti_torch_known", "torch_known"))
    source = """
        extern "C" void aoti_torch_known(); extern "C" void aoti_torch_later(); extern "C" void torch_later();
        extern "C" void aoti_torch_optional() __attribute__((weak)); extern "C" void my_own();
        void f() { aoti_torch_known(); aoti_torch_later(); torch_later(); my_own(); if (aoti_torch_optional) f(); }
    """
    links = ["-Wl,--no-as-needed", torch / "torch" / "lib" / "libtorch_cpu.so"]
    path = build.library("symbols", source, build.note_source(), links)
    assert verdict(path, torch) == (
        1,
        "this Python  can't run it: it needs aoti_torch_later (and 1 more), and this is torch 2.15.0 in %s/torch, "
        "which has no such symbol: it was built for another torch." % torch,
    )
    known = build.library("symbols_known", source.replace("_later", "_known"), build.note_source(), links)
    assert verdict(known, torch)[0] == 0
    # Another library that it links may have them.
    friend = build.library("friend", options=["-Wl,-soname,libfriend.so"])
    path = build.library("symbols_friend", source, build.note_source(), [*links, friend])
    assert verdict(path, torch)[0] == 0


def test_other_things(build, fake_torch):
    torch = fake_torch("2.15.0")
    source = build.write("main.cpp", "int main() {}\n")
    program = build.directory / "program"
    subprocess.run([build.cxx, str(source), "-o", str(program), "-no-pie"], check=True)
    assert verdict(program, torch) == (1, "this Python  can't run it: it is no shared library but an executable.")
    other = "aarch64" if platform.machine() == "x86_64" else "x86_64"
    path = build.library("machine", note=build.note_source())
    content = bytearray(path.read_bytes())
    content[18] = 183 if other == "aarch64" else 62
    path.write_bytes(content)
    assert verdict(path, torch) == (
        1,
        "this Python  can't run it: it is for %s, this machine is %s." % (other, platform.machine()),
    )


def test_module_of_another_python(build, fake_torch):
    torch = fake_torch("2.15.0")
    path = build.library("module", note=build.note_source(abi="PYBIND", python_module="my_ops"))
    renamed = path.with_name("my_ops.cpython-37m-x86_64-linux-gnu.so")
    shutil.copy(path, renamed)
    assert verdict(renamed, torch)[1] == (
        "this Python  can't run it: it is a module for Python 3.7, this is Python %d.%d." % sys.version_info[:2]
    )
    same = path.with_name("my_ops.cpython-%d%d-x86_64-linux-gnu.so" % sys.version_info[:2])
    shutil.copy(path, same)
    assert verdict(same, torch)[0] == 0


def test_importing_is_light():
    """A build system imports the package to find its place."""
    code, output, error = run_python(
        "-S", "-c", "import sys, cudaops; print('torch' in sys.modules, 'numpy' in sys.modules)"
    )
    assert (code, output, error) == (0, "False False\n", "")

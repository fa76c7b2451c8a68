# SPDX-License-Identifier: Apache-2.0
"""python -m cudaops, cudaops.inspect and cudaops.load_library, against torches made of a few files."""

import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys

import hip_files
import pytest
from conftest import REPOSITORY, RUN, execute, run_python


def module(*arguments, torch=None):
    """python -m cudaops, seeing `torch` (the directory of a fake one) or no torch at all."""
    paths = [str(REPOSITORY / "python")] + ([str(torch)] if torch else [])
    return run_python("-S", "-m", "cudaops", *arguments, PYTHONPATH=":".join(paths))


def verdict(path, torch):
    """(exit code, last line) of inspect, without the cures below it."""
    code, output, error = module("inspect", path, torch=torch)
    lines = [line.strip() for line in output.splitlines()]
    assert error == "" and lines[-1].startswith("Fix: ") == (code == 1)
    return code, [line for line in lines if not line.startswith("Fix: ")][-1]


def test_version_is_the_packages():
    text = (REPOSITORY / "cmake" / "CudaOpsConfigVersion.cmake").read_text()
    version = re.search(r'PACKAGE_VERSION "(.*)"', text).group(1)
    assert module("--version") == (0, version + "\n", "")


def test_import_imports_nothing():
    """Builds start the package hundreds of times; what a function needs is imported when it is called."""
    script = "import sys; old = set(sys.modules); import cudaops; print(sorted(set(sys.modules) - old))"
    assert run_python("-S", "-c", script) == (0, "['cudaops']\n", "")
    script = "import cudaops; print(cudaops.LibraryError.__name__, cudaops.__version__, set(cudaops.__all__) <= set(dir(cudaops)))"
    code, output, error = run_python("-S", "-c", script)
    assert (code, error) == (0, "") and re.fullmatch(r"LibraryError \d+\.\d+\.\d+\S* True\n", output)


def test_cmake_dir():
    assert module("--cmake-dir") == (0, "%s\n" % (REPOSITORY / "cmake"), "")


def test_package_in_a_zip_file_is_said(tmp_path):
    archive = shutil.make_archive(str(tmp_path / "cudaops"), "zip", REPOSITORY / "python", "cudaops")
    (tmp_path / "op.cpp").write_text("")
    for call in ("cmake_dir()", "load('op', [%r])" % str(tmp_path / "op.cpp")):
        code, out, err = run_python("-c", "import cudaops; cudaops." + call, PYTHONPATH=archive)
        assert (code, out) == (1, "") and "can't be used from inside of a file" in err and err.endswith("Fix: unpack it\n"), err


def test_help():
    code, output, error = module("--help")
    assert (code, error) == (0, "") and "--cmake-dir" in output and "inspect" in output
    assert module()[:2] == (0, output)
    code, output, error = module("inspect", "--help")
    assert (code, error) == (0, "") and "Exit code: 0 where this torch can run it, 1 where it can't" in output


@pytest.mark.parametrize(
    "words, said",
    [
        ("look", "cudaops: unknown command. found look wanted new inspect kernels build-report port build doctor report cache help Fix: python -m cudaops --help"),
        ("buld x", "cudaops: unknown command. found buld wanted new inspect kernels build-report port build doctor report cache help Fix: python -m cudaops build"),
        ("cache lst", "cudaops cache: unknown command. found lst wanted list why verify trim export import Fix: python -m cudaops cache list"),
        ("cache why a b", "cudaops cache why: unknown argument. found b usage python -m cudaops cache why [-h] [--json] name Fix: python -m cudaops cache why --help"),
        ("new a --pybnd", "cudaops new: unknown argument. found --pybnd usage python -m cudaops new [-h] [--pybind | --kernels-only] name Fix: python -m cudaops new --pybind"),
        ("inspect", "cudaops inspect: the following arguments are required: library. usage python -m cudaops inspect [-h] [--json] library [library ...] Fix: python -m cudaops inspect --help"),
        ("cache export /nowhere/x.tar.gz", "cudaops cache: No such file or directory. found /nowhere/x.tar.gz Fix: a path that this user can read and write, on a disk with room; CUDAOPS_STORE=<directory> for another store"),
        ("port .", "cudaops port(.): the file can't be read. found Is a directory Fix: python -m cudaops port <setup.py, or a file that calls load()>"),
    ],
)
def test_what_is_typed_wrong_is_said_with_the_line_to_type(words, said, tmp_path, monkeypatch):
    (tmp_path / "jit" / "m").mkdir(parents=True)
    (tmp_path / "jit" / "o").mkdir()
    monkeypatch.setenv("CUDAOPS_STORE", str(tmp_path))
    code, output, error = module(*words.split())
    assert (code, output) == (2, "") and " ".join(error.split()) == said


def test_output_that_the_locale_or_the_disk_has_no_room_for(tmp_path):
    name = "n\u00f6_\u4e2d.py"
    (tmp_path / name).write_text("from torch.utils.cpp_extension import load\nload('a', ['n\u00f6 \u4e2d.cpp'])\n", encoding="utf-8")
    command = [sys.executable, "-m", "cudaops"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    for encoding, shown in (("utf-8", "n\u00f6 \u4e2d".encode()), ("ascii", rb"n\xf6 \u4e2d"), ("latin-1", b"n\xf6 \\u4e2d")):
        done = subprocess.run(
            [*command, "port", name, "-o", "-"], cwd=tmp_path, env={**environment, "PYTHONIOENCODING": encoding + ":strict"}, capture_output=True
        )
        assert done.returncode == 0 and shown in done.stdout, done.stderr
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*command, "help"], env=environment, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (
        2,
        "cudaops: the output can't be written: No space left on device.\n Fix: a disk with room, or another file\n",
    )
    closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command, "help"], env=environment, capture_output=True)
    assert (closed.returncode, closed.stderr) == (0, b"")


def test_file_whose_name_the_locale_does_not_have(tmp_path):
    (tmp_path / ".ninja_log").write_text("# ninja log v5\n0\t9\t5\ta.o\tff\n")
    (tmp_path / "build.ninja").write_text("")
    (tmp_path / "CMakeCache.txt").write_text("CMAKE_CACHEFILE_DIR:INTERNAL=%s/n\u00f6\n" % tmp_path, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.update(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    command = [sys.executable, "-m", "cudaops", "build-report", tmp_path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("cudaops: the locale's encoding doesn't have the name of a file.\n  found   ascii, for '/")
    assert done.stderr.endswith("n\\xf6' (LC_ALL, LC_CTYPE, LANG, PYTHONUTF8)\n Fix: PYTHONUTF8=1 in the environment\n")


def test_recipe_that_is_none_is_said(tmp_path):
    for text, found in (("{", "Expecting property name"), ("[1]", "it has no format"), ("{}", "it has no format")):
        path = tmp_path / "op.recipe.json"
        path.write_text(text)
        code, output, error = module("build", str(path))
        assert (code, output) == (2, "") and error.startswith("cudaops build: %s is no recipe.\n  found   %s" % (path, found))


def test_unreadable(tmp_path):
    missing = tmp_path / "missing.so"
    fix = " Fix: the path of a .so file; one that is damaged has to be built or copied again\n"
    assert module("inspect", missing) == (
        2,
        "",
        "cudaops inspect: %s can't be read: No such file or directory.\n%s" % (missing, fix),
    )
    missing.write_text("text")
    assert module("inspect", missing) == (2, "", "cudaops inspect: %s is not an ELF file.\n%s" % (missing, fix))


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


HIP_NOTE = {"backend": "HIP", "rocm": "6.4.1", "torch": "2.15.0+rocm6.4", "torch_cuda": "", "toolkit": ""}
ROCM = {"version": "2.15.0+rocm6.4", "hip": "6.4.43482-0f2d60242"}


def with_device_code(library, build, *targets):
    """The library with HIP device code for these targets beside what it has."""
    section = build.write("fatbin_of_" + library.name, "")
    section.write_bytes(hip_files.bundle(*targets))
    execute(["objcopy", "--add-section", ".hip_fatbin=%s" % section, library])
    return library


def test_hip_op_in_rocm_torch(build, fake_torch):
    torch = fake_torch(**ROCM)
    note = build.note_source(**HIP_NOTE)
    path = with_device_code(build.library("hip_op", note=note), build, "gfx90a", "gfx942:xnack-")
    code, output, error = module("inspect", path, torch=torch)
    assert (code, error) == (0, "")
    assert "  built with   torch 2.15.0+rocm6.4, ROCm 6.4.1, CudaOps 0.1.0\n" in output
    assert "  device code  gfx90a gfx942:xnack-\n" in output
    assert output.endswith("this Python  can run it: torch 2.15.0+rocm6.4 in %s/torch\n" % torch)
    info = json.loads(module("inspect", path, "--json", torch=torch)[1])
    assert info["architectures"] == ["gfx90a", "gfx942:xnack-"]
    assert info["provenance"]["backend"] == "HIP" and info["torch"]["hip"] == "6.4.43482-0f2d60242"


@pytest.mark.parametrize("abi", ["STABLE", "FULL"])
@pytest.mark.parametrize("noted", [True, False], ids=["note", "old note"])
def test_hip_op_in_cuda_torch(build, fake_torch, abi, noted):
    """Whatever else stands against it follows from that: one sentence."""
    torch = fake_torch("2.11.0+cu130", cuda="13.0")
    note = build.note_source(abi=abi, **(HIP_NOTE if noted else {"torch_cuda": ""}))
    runtime = build.library("amdhip64_6", options=["-Wl,-soname,libamdhip64.so.6"])
    hip = build.library("torch_hip", options=["-Wl,-soname,libtorch_hip.so"])
    path = build.library("hip_in_cuda", note=note, options=["-Wl,--no-as-needed", runtime, hip])
    text = "can't run it: it was built for HIP%s, and this is torch 2.11.0+cu130 in "
    text += "%s/torch, for CUDA 13.0." % torch
    assert verdict(path, torch) == (1, "this Python  " + text % "")
    with_device_code(path, build, "gfx90a")
    code, output, _ = module("inspect", path, torch=torch)
    assert code == 1 and output.count("can't run it") == 1 and text % " (gfx90a)" in output


@pytest.mark.parametrize("noted", [True, False], ids=["note", "old note"])
def test_cuda_op_in_rocm_torch(build, fake_torch, noted):
    torch = fake_torch(**ROCM)
    cuda = build.library("torch_cuda_for_rocm", options=["-Wl,-soname,libtorch_cuda.so"])
    note = build.note_source(**({"backend": "CUDA", "rocm": ""} if noted else {}))
    path = build.library("cuda_in_rocm", note=note, options=["-Wl,--no-as-needed", cuda])
    code, output, _ = module("inspect", path, torch=torch)
    assert code == 1 and output.count("can't run it") == 1
    text = "can't run it: it was built for CUDA, and this is torch 2.15.0+rocm6.4 in %s/torch, for ROCm 6.4.\n" % torch
    assert text + "               Fix: a torch for CUDA, or build it with this torch, -DPython_EXECUTABLE=" in output


def test_cuda_code_in_rocm_torch(build, fake_torch):
    """Without a note: by its device code."""
    torch = fake_torch(**ROCM)
    path = build.cuda("cuda_code", "__global__ void k() {}\nvoid f() { k<<<1, 1>>>(); }", ["sm_90a"])
    assert verdict(path, torch)[1] == (
        "this Python  can't run it: it was built for CUDA (sm_90a), and this is torch 2.15.0+rocm6.4 in %s/torch, for "
        "ROCm 6.4." % torch
    )


def test_cpu_op_in_any_torch(build, fake_torch):
    torch = fake_torch(**ROCM)
    for changes in ({"backend": "CPU", "state": "CPU_ONLY"}, {"state": "CPU_ONLY"}):
        assert verdict(build.library("cpu_in_rocm", note=build.note_source(**changes)), torch)[0] == 0


def test_hip_op_in_cpu_torch(build, fake_torch):
    torch = fake_torch("2.15.0+cpu")
    hip = build.library("torch_hip_for_cpu", options=["-Wl,-soname,libtorch_hip.so"])
    path = build.library("hip_in_cpu", note=build.note_source(**HIP_NOTE), options=["-Wl,--no-as-needed", hip])
    assert verdict(path, torch) == (
        1,
        "this Python  can't run it: it links libtorch_hip.so, and this is torch 2.15.0+cpu in %s/torch, built without "
        "ROCm, which has no such file." % torch,
    )
    # The runtime of HIP has none of torch's symbols: what is missing is missing.
    links = ["-Wl,--no-as-needed", torch / "torch" / "lib" / "libtorch_cpu.so"]
    links.append(build.library("amdhip64_cpu", options=["-Wl,-soname,libamdhip64.so.6"]))
    source = 'extern "C" void aoti_torch_get_current_cuda_stream(); void f() { aoti_torch_get_current_cuda_stream(); }'
    path = build.library("hip_symbol", source, build.note_source(**HIP_NOTE), links)
    assert verdict(path, torch)[1].startswith(
        "this Python  can't run it: it needs aoti_torch_get_current_cuda_stream, and this is torch 2.15.0+cpu in "
    )


def test_hip_is_tied_to_rocms_major(build, fake_torch):
    torch = fake_torch(**ROCM)
    path = build.library("rocm5", note=build.note_source(**{**HIP_NOTE, "rocm": "5.2.3"}))
    this = "this is torch 2.15.0+rocm6.4 in %s/torch, for ROCm 6.4." % torch
    assert verdict(path, torch) == (1, "this Python  can't run it: it was built with ROCm 5, and " + this)
    runtime = build.library("amdhip64_5", options=["-Wl,-soname,libamdhip64.so.5"])
    path = build.library("rocm5_runtime", options=["-Wl,--no-as-needed", runtime])
    assert verdict(path, torch) == (
        1,
        "this Python  can't run it: it links libamdhip64.so.5 (the HIP runtime), and " + this,
    )


def test_device_code_that_cant_be_read(build, fake_torch):
    """It is said, and stands against nothing."""
    torch = fake_torch(**ROCM)
    path = build.library("unread", note=build.note_source(**HIP_NOTE))
    section = build.write("unread.bin", "CCOB\x09\0\0\0")
    execute(["objcopy", "--add-section", ".hip_fatbin=%s" % section, path])
    code, output, error = module("inspect", path, torch=torch)
    assert (code, error) == (0, "")
    text = "its HIP device code is compressed in a form that isn't known (version 9)"
    assert "  device code  unknown\n  not read     %s\n" % text in output


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


@pytest.mark.parametrize("ignored", [False, True])
def test_reader_that_has_seen_enough(build, ignored):
    """`inspect | head`: no traceback, whatever the shell does with SIGPIPE."""
    library = build.library("piped", note=build.note_source())
    package = [sys.executable, "-S", "-m", "cudaops", "inspect", *[library] * 50]
    for command in (package, [sys.executable, *RUN, "inspect_library", library], [sys.executable, *RUN, "inspect_library", "--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [str(word) for word in command],
            stdout=writing,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY / "python")},
            preexec_fn=(lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)) if ignored else None,
        )
        os.close(writing)
        assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")

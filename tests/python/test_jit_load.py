# SPDX-License-Identifier: Apache-2.0
"""cudaops.load(): builds what torch's load() builds, once, and finds it again without starting a process."""

import inspect
import os
import shutil
import subprocess

import pytest
from conftest import run_python
from jit_store import NO_PROCESS, jit, op, plain  # noqa: F401

import cudaops
from cudaops.jit.failure import Failure, in_environment

pytestmark = pytest.mark.usefixtures("torch_dir")

def test_signatures_are_those_of_torch():
    from torch.utils import cpp_extension

    for name in ("load", "load_inline"):
        theirs = inspect.signature(getattr(cpp_extension, name)).parameters
        ours = inspect.signature(getattr(cudaops, name)).parameters
        shared = [parameter for parameter in ours.values() if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
        # Torch 2.15's; the last of them is newer than some.
        newer = {"gil_not_used"} - set(theirs)
        shared = [parameter for parameter in shared if parameter.name not in newer]
        assert [parameter.name for parameter in shared] == list(theirs)
        for parameter in shared:
            if parameter.name != "cpp_sources":  # may be left out here
                assert parameter.default == theirs[parameter.name].default, parameter.name
        added = [parameter.name for parameter in ours.values() if parameter.kind is parameter.KEYWORD_ONLY]
        assert added == ["headers", "reload", "policy"]


def test_stable_op_is_built_once_and_found_without_a_process(jit):  # noqa: F811
    path = jit.write("ops.cpp", op("jit_once"))
    code = (
        "import torch\nm = cudaops.load('ops', %r)\n"
        "print(json.dumps([torch.ops.jit_once.twice(torch.ones(2)).tolist(), m.__cudaops__]))" % path
    )
    values, facts = jit.run(code)
    assert values == [2, 2]
    assert (facts["state"], facts["abi"], facts["headers"], facts["reason"]) == ("COMPILED", "STABLE", "slim", "first build")
    values, again = jit.run(NO_PROCESS + code)
    assert values == [2, 2]
    assert again == {**facts, "state": "CACHED", "reason": ""}
    assert facts["path"].startswith(str(jit.root / "o"))
    assert jit.left() == []


def test_library_of_ops_is_loaded_and_its_path_returned(jit):  # noqa: F811
    path = jit.write("ops.cpp", op("jit_library"))
    place = jit.load("ops", [path], is_python_module=False)
    import torch

    assert torch.ops.jit_library.twice(torch.ones(1)).tolist() == [2]
    assert os.path.basename(place) == "libops.so" and place.startswith(str(jit.root / "o"))


def test_cpp_that_names_nothing_of_cuda_asks_no_toolkit(jit, monkeypatch):  # noqa: F811
    log = jit.directory / "asked"
    nvcc = jit.write("toolkit/bin/nvcc", "#!/bin/sh\necho \"$@\" >> '%s'\nexit 1\n" % log)
    os.chmod(nvcc, 0o755)
    for name, value in (("CUDA_HOME", jit.directory / "toolkit"), ("CUDAToolkit_ROOT", jit.directory / "toolkit"), ("CUDACXX", nvcc)):
        monkeypatch.setenv(name, str(value))
    path = jit.write("ops.cpp", op("jit_no_toolkit"))
    place = jit.load("ops", path, is_python_module=False)
    import torch

    assert torch.ops.jit_no_toolkit.twice(torch.ones(1)).tolist() == [2]
    assert not log.exists() and cudaops.inspect(place)["problems"] == []
    jit.write("ops.cpp", "#include <cuda_runtime.h>\n" + op("jit_no_toolkit"))
    with pytest.raises(cudaops.BuildError):
        jit.load("ops", path, is_python_module=False)
    assert "--version" in log.read_text()


def test_executable_is_built_and_its_path_returned(jit):  # noqa: F811
    path = jit.write("main.cpp", '#include <cstdio>\nint main() { std::puts("started"); }\n')
    place = jit.load("program", path, is_python_module=False, is_standalone=True)
    assert subprocess.run([place], capture_output=True, text=True).stdout == "started\n"
    with jit.no_process():
        assert jit.load("program", path, is_python_module=False, is_standalone=True) == place


def test_flags_reach_compiler_and_linker(jit):  # noqa: F811
    jit.write("include/shared.h", "int shared();\n")
    text = plain("plain", answer=None).replace("ANSWER", "ANSWER + shared() + sizeof(TEXT)")
    path = jit.write("plain.cpp", "#include <shared.h>\n" + text)
    library = jit.write("shared.cpp", "int shared() { return 100; }\n")
    subprocess.run(["c++", "-shared", "-fPIC", library, "-o", jit.directory / "libshared.so"], check=True)
    flags = {
        "extra_cflags": ["-DANSWER=11", '-DTEXT=\'"a, b > c; d"\''],
        "extra_include_paths": [str(jit.directory / "include")],
        "extra_ldflags": ["-L'%s'" % jit.directory, "-lshared", "-Wl,-rpath,'%s'" % jit.directory],
    }
    assert jit.answer("plain", [path], **flags)[:2] == (123, "COMPILED")
    assert jit.hit("plain", [path], **flags)[:2] == (123, "CACHED")
    flags["extra_cflags"][0] = "-DANSWER=12"
    assert jit.answer("plain", [path], **flags) == (124, "COMPILED", "extra_cflags changed")
    os.unlink(jit.directory / "libshared.so")
    jit.write("shared.cpp", "int shared() { return 200; }\n")
    subprocess.run(["c++", "-shared", "-fPIC", library, "-o", jit.directory / "libshared.so"], check=True)
    assert jit.answer("plain", [path], **flags)[2] == "library %s changed" % os.path.realpath(jit.directory / "libshared.so")


@pytest.mark.parametrize("flag", ["-Wl,-rpath,$ORIGIN/here", "-Wl,-rpath,'$$ORIGIN/here'"])
def test_dollar_of_a_linker_flag_is_kept(jit, flag):  # noqa: F811
    """The second is how it is written for torch's load(), which puts it into a file of Ninja's."""
    module = jit.load("plain", jit.write("plain.cpp", plain("plain")), extra_ldflags=[flag])
    path = module.__cudaops__["path"]
    assert "$ORIGIN/here" in subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout.replace("$$", "?")


def test_current_directory_that_was_deleted(jit):  # noqa: F811
    pytest.importorskip("torch")  # here: MKL ends a process that loads it from such a directory
    path = jit.write("plain.cpp", plain("plain"))
    gone = jit.directory / "gone"
    gone.mkdir()
    with jit.patch.context() as patch:
        patch.chdir(gone)
        gone.rmdir()
        assert jit.answer("plain", path)[:2] == (42, "COMPILED")
        assert jit.hit("plain", path)[0] == 42
        for arguments in ({"extra_include_paths": ["include"]}, {"extra_ldflags": ["part.o"]}):
            with pytest.raises(FileNotFoundError, match="the current directory doesn't exist any more.\\nFix: "):
                jit.load("plain", path, **arguments)
        os.chdir("/")  # where a test goes back to has to be found from somewhere


def test_edits_are_seen_and_an_old_text_is_found_again(jit):  # noqa: F811
    header = jit.write("answer.h", "#define ANSWER 1\n")
    path = jit.write("plain.cpp", '#include "answer.h"\n' + plain("plain", answer=None))
    assert jit.answer("plain", path) == (1, "COMPILED", "first build")
    before = os.stat(header)
    jit.write("answer.h", "#define ANSWER 2\n")
    os.utime(header, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert jit.answer("plain", path) == (2, "COMPILED", "header %s changed" % os.path.realpath(header))
    jit.write("answer.h", "#define ANSWER 1\n")
    assert jit.hit("plain", path) == (1, "CACHED", "")
    assert len(jit.objects()) == 2 and jit.left() == []


def test_header_that_hides_another_is_seen(jit):  # noqa: F811
    jit.write("second/answer.h", "#define ANSWER 1\n")
    path = jit.write("plain.cpp", "#include <answer.h>\n" + plain("plain", answer=None))
    places = {"extra_include_paths": [str(jit.directory / "first"), str(jit.directory / "second")]}
    (jit.directory / "first").mkdir()
    assert jit.answer("plain", path, **places)[0] == 1
    assert jit.hit("plain", path, **places)[0] == 1
    hiding = jit.write("first/answer.h", "#define ANSWER 2\n")
    answer, state, reason = jit.answer("plain", path, **places)
    assert (answer, state) == (2, "COMPILED") and hiding in reason and "is new" in reason
    os.unlink(hiding)
    assert jit.hit("plain", path, **places)[:2] == (1, "CACHED")
    # One that hides a header of the standard library's, or a part of torch's.
    for name in ("first/Python.h", "second/limits.h"):
        hiding = jit.write(name, "#include_next <%s>\n" % os.path.basename(name))
        assert jit.answer("plain", path, **places)[1] == "COMPILED", hiding


def test_answer_of_has_include_is_an_input(jit):  # noqa: F811
    text = '#if __has_include("option.h")\n#define ANSWER 2\n#else\n#define ANSWER 1\n#endif\n'
    path = jit.write("plain.cpp", text + plain("plain", answer=None))
    assert jit.answer("plain", path)[0] == 1
    jit.write("option.h", "")
    assert jit.answer("plain", path)[0] == 2
    assert jit.hit("plain", path)[0] == 2


def test_files_that_the_assembler_reads_are_inputs(jit):  # noqa: F811
    head = '#define EMBED(name, file) extern "C" const char name; asm(".data\\n" #name ": .incbin \\"" file "\\"\\n.text")\n'
    jit.write("incbin.h", head)
    path = jit.write("plain.cpp", '#include "incbin.h"\nEMBED(data, "data.bin");\n' + plain("plain", "data"))
    places = {"extra_include_paths": [str(jit.directory)]}
    assert "data.bin" in failure(jit, "plain", path, **places).message
    for text in ("A", "B"):
        jit.write("data.bin", text)
        assert jit.answer("plain", path, **places)[:2] == (ord(text), "COMPILED")
    jit.write("data.bin", "A")
    assert jit.hit("plain", path, **places)[0] == ord("A")


def test_files_that_the_linker_reads_are_inputs(jit, capfd):  # noqa: F811
    path = jit.write("plain.cpp", 'extern "C" int library();\n' + plain("plain", "library()"))
    for number in (1, 2):
        jit.write("%d.c" % number, "int library(void) { return %d; }\n" % number)
        os.mkdir(str(jit.directory / str(number)))
        subprocess.run(["cc", "-fPIC", "-c", "%d.c" % number, "-o", "%d/part.o" % number], cwd=str(jit.directory), check=True)
    part = str(jit.directory / "part.o")
    # A device isn't read: this one has no end.
    flags = {"extra_ldflags": ["'-Wl,-z,defs,%s'" % part], "extra_cflags": ['-DRANDOM=\\"/dev/urandom\\"']}
    failure(jit, "plain", path, **flags)
    for number in (1, 2):
        shutil.copyfile(str(jit.directory / str(number) / "part.o"), part)
        assert jit.answer("plain", path, **flags)[:2] == (number, "COMPILED")
    # They aren't copies of one op.
    assert "loaded already" not in capfd.readouterr().err
    for number in (1, 2):
        jit.patch.chdir(str(jit.directory / str(number)))
        assert jit.answer("plain", path, extra_ldflags=["part.o"])[0] == number


def test_c_file_is_compiled_as_cpp_as_in_torch(jit):  # noqa: F811
    part = jit.write("part.c", "int part() { return true; }\n")
    assert jit.answer("plain", [part, jit.write("plain.cpp", "int part();\n" + plain("plain", "part()"))])[0] == 1


def test_environment_of_the_compiler_is_an_input(jit, monkeypatch):  # noqa: F811
    path = jit.write("plain.cpp", "#include <answer.h>\n" + plain("plain", answer=None))
    for number in (1, 2):
        jit.write("%d/answer.h" % number, "#define ANSWER %d\n" % number)
    places = [str(jit.directory / str(number)) for number in (1, 2)]
    monkeypatch.setenv("CPATH", places[0])
    assert jit.answer("plain", path)[0] == 1
    monkeypatch.setenv("CPATH", places[1])
    answer, _, reason = jit.answer("plain", path)
    assert answer == 2 and reason == "environment variable CPATH was %s and is %s" % tuple(places)


def failure(jit, *arguments, **keywords):  # noqa: F811
    with pytest.raises(cudaops.BuildError) as raised:
        jit.load(*arguments, **keywords)
    return raised.value


def test_compile_error_names_file_line_command_and_log_and_is_kept(jit):  # noqa: F811
    path = jit.write("plain.cpp", "int broken = nowhere;\n")
    error = failure(jit, "plain", path)
    assert (error.file, error.line) == (path, 1) and "was not declared" in error.message
    assert error.message in str(error) and " -c " in error.command and error.command in str(error)
    assert error.message in open(error.log, encoding="utf-8").read()
    with jit.no_process():
        again = failure(jit, "plain", path)
    assert vars(again) == vars(error) and "as before with the same sources" in str(again)
    shutil.rmtree(os.path.dirname(error.log))  # as trim does
    assert "as before" not in str(failure(jit, "plain", path))
    jit.write("plain.cpp", plain("plain"))
    assert jit.answer("plain", path)[0] == 42


def test_cures_are_told_as_variables_of_the_environment():
    text = "CUDA REQUIRED, and HIP is not available.\nFix: %s\n     or leave CUDA REQUIRED out: the op is then built for the CPU"
    for cmake, ours in (
        ("-DCMAKE_CUDA_ARCHITECTURES=75, or CUDA 12 with -DCUDAToolkit_ROOT=<dir>", "TORCH_CUDA_ARCH_LIST=7.5, or CUDA 12 with CUDAToolkit_ROOT=<dir>"),
        ("-DCMAKE_CUDA_ARCHITECTURES=100a", "TORCH_CUDA_ARCH_LIST=10.0a"),
        ("-DCMAKE_HIP_ARCHITECTURES=gfx90a, or the like", "PYTORCH_ROCM_ARCH=gfx90a, or the like"),
        ("-DPython_EXECUTABLE=<python>", "-DPython_EXECUTABLE=<python>"),
    ):
        assert in_environment(text % cmake) == text.partition("\n     or")[0] % ours


def test_link_error_is_the_symbol_and_not_the_function_that_uses_it():
    output = (
        "FAILED: libops.so\nc++ -shared -o libops.so\n"
        "/usr/bin/ld: ops.o: in function `launch()':\nops.cpp:(.text+0x5): undefined reference to `missing'\n"
        "ninja: build stopped: subcommand failed.\n"
    )
    assert Failure(output, at_configure=False).message == "ops.cpp:(.text+0x5): undefined reference to `missing'"


def test_full_disk_is_the_error_in_one_line_whatever_it_stopped():
    compile_log = (
        "FAILED: plain.o\nc++ -c plain.cpp\nplain.cpp:3: error: 'x' was not declared\n"
        "fatal error: error writing to /tmp/ccPSq1.s: No space left on device\n"
    )
    configure_log = "CMake Error at CMakeDetermineCompilerId.cmake:739 (message):\n  Compiling the CUDA compiler failed.\n"
    configure_log += "  #$ nvcc\n\n" * 40 + "  /usr/bin/ld: final link failed: No space left on device\n"
    for output, at_configure, line in (
        (compile_log, False, "fatal error: error writing to /tmp/ccPSq1.s: No space left on device"),
        (configure_log, True, "/usr/bin/ld: final link failed: No space left on device"),
    ):
        failed = Failure(output, at_configure)
        assert failed.message == "the disk is full: " + line and not failed.kept


def test_long_message_of_cmake_is_its_first_lines_and_its_errors():
    output = "CMake Error at CMakeDetermineCompilerId.cmake:739 (message):\n  Compiling the CUDA compiler failed.\n\n  Compiler: nvcc\n"
    output += "  #$ nvcc\n\n" * 40 + "  cc1plus: fatal error: cuda_runtime.h: No such file or directory\nCall Stack (most recent call first):\n"
    assert Failure(output, at_configure=True).message == (
        "Compiling the CUDA compiler failed.\nCompiler: nvcc\ncc1plus: fatal error: cuda_runtime.h: No such file or directory"
    )


@pytest.mark.parametrize(
    "said, message, fix",
    [
        (
            "No CMAKE_CXX_COMPILER could be found.\n\n  Tell CMake where to find the compiler by setting the environment\n",
            "there is no C++ compiler: none on PATH, and CXX isn't set.",
            "CXX=<compiler>, or install one (Debian, Ubuntu: apt install g++)",
        ),
        (
            "Could not find compiler set in environment variable CXX:\n\n  /nowhere/g++.\n",
            "the compiler that CXX names isn't there: /nowhere/g++",
            "CXX=<compiler>, or unset it",
        ),
        (
            "find_package(CudaTorchMatch): the host compiler for nvcc doesn't exist.\n\n    found   /no/where (environment CUDAHOSTCXX)\n"
            "    wanted  the path of a C++ compiler, or its name on PATH\n   Fix: -DCMAKE_CUDA_HOST_COMPILER=/usr/bin/c++\n",
            "nvcc's host compiler, which CC names, isn't there: /no/where",
            "CC=<compiler>, or unset it",
        ),
        (
            "find_package(CudaTorchMatch): the host compiler for nvcc doesn't exist.\n\n    found   /no/where (environment NVCC_APPEND_FLAGS)\n"
            "    wanted  the path of a C++ compiler, or its name on PATH\n   Fix: another -ccbin in NVCC_APPEND_FLAGS, or none\n",
            "nvcc's host compiler, which NVCC_APPEND_FLAGS names, isn't there: /no/where",
            "NVCC_APPEND_FLAGS=-ccbin=<compiler>, or unset it",
        ),
        (
            'The C++ compiler\n\n    "/usr/bin/g++"\n\n  is not able to compile a simple test program.\n\n  It fails with:\n\n'
            "    [1/2] Building CXX object x.o\n    g++: error: unrecognized option\n\n  CMake will not be able to generate this project.\n",
            "the C++ compiler builds not even an empty program: /usr/bin/g++\ng++: error: unrecognized option",
            "CXX=<another compiler>",
        ),
    ],
)
def test_compiler_that_is_missing_or_broken_is_said_with_its_cure(said, message, fix, monkeypatch):
    monkeypatch.delenv("CUDAHOSTCXX", raising=False)
    failed = Failure("CMake Error at CMakeDetermineCXXCompiler.cmake:48 (message):\n  %sCall Stack (most recent call first):\n" % said, True)
    assert (failed.message, failed.fix) == (message, fix)


def test_kept_error_of_a_missing_header_ends_when_the_header_comes(jit):  # noqa: F811
    path = jit.write("plain.cpp", '#include "missing.h"\n' + plain("plain", answer=None))
    assert "missing.h" in failure(jit, "plain", path).message
    with jit.no_process():
        assert "missing.h" in failure(jit, "plain", path).message
    jit.write("missing.h", "#define ANSWER 3\n")
    assert jit.answer("plain", path)[0] == 3


def test_second_build_of_an_op_in_one_process_is_refused(jit):  # noqa: F811
    path = jit.write("ops.cpp", op("jit_twice"))
    jit.load("ops", path)
    with pytest.raises(RuntimeError, match="this process has jit_twice::twice already") as raised:
        jit.load("ops", path, extra_cflags=["-DOTHER"])
    assert "Fix: start a new process" in str(raised.value)


def test_two_op_libraries_of_one_name_are_two(jit):  # noqa: F811
    import torch

    for namespace in ("jit_first", "jit_second"):
        jit.load("ops", jit.write(namespace + ".cpp", op(namespace)), is_python_module=False)
        assert getattr(torch.ops, namespace).twice(torch.ones(1)).item() == 2


def test_second_build_of_a_pybind_module_is_another_module(jit):  # noqa: F811
    """pybind11 keeps modules by their names."""
    text = "#include <pybind11/pybind11.h>\nint answer();\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"answer\", &answer); }\n"
    paths = [jit.write("bound.cpp", text), jit.write("answer.cpp", "int answer() { return 1; }\n")]
    first = jit.load("bound", paths, extra_cflags=["-O0"])
    jit.write("answer.cpp", "int answer() { return 2; }\n")
    second = jit.load("bound", paths, extra_cflags=["-O0"])
    again = jit.load("bound", paths, extra_cflags=["-O0"], reload=True)
    assert [module.answer() for module in (first, second, again)] == [1, 2, 2]
    assert first.__name__ == "bound" and len({id(first), id(second), id(again)}) == 3


def test_library_that_this_torch_cannot_run_is_not_kept(jit, monkeypatch):  # noqa: F811
    """load_library()'s checks."""
    from cudaops import _library

    monkeypatch.setattr(_library, "_problems", lambda info: [("it is for tests.", "none")])
    path = jit.write("plain.cpp", plain("plain"))
    for _ in range(2):
        with pytest.raises(cudaops.BuildError, match="what was built can't be loaded: it is for tests"):
            jit.load("plain", path)


def test_reload_replaces_the_ops_of_another_build(jit):  # noqa: F811
    """OpOverload objects and what Python has registered for the op go on with the new build; nothing is said of two copies."""
    path = jit.write("ops.cpp", op("jit_reload", None))
    values = jit.run(
        """
import os, torch
said = %r
os.dup2(os.open(said, os.O_CREAT | os.O_WRONLY), 2)
def build(factor, **keywords):
    return cudaops.load("ops", %r, extra_cflags=["-DFACTOR=%%d" %% factor], **keywords)
one = torch.ones(1)
build(2)
kept = torch.ops.jit_reload.twice.default
torch.library.register_fake("jit_reload::twice")(torch.empty_like)
torch.library.register_autograd("jit_reload::twice", lambda ctx, grad: 5 * grad)
found = [kept(one).item()]
for factor in (3, 3, 4, 2):
    build(factor, reload=True)
    found += [kept(one).item(), torch.ops.jit_reload.twice(one).item()]
try:
    build(7)
except RuntimeError as error:
    found.append("reload=True" in str(error))
torch.library.opcheck(kept, (torch.ones(3, requires_grad=True),))
given = torch.ones(1, requires_grad=True)
kept(given).backward()
os.close(2)
print(json.dumps([*found, given.grad.item(), "second copy" in open(said).read()]))
"""
        % (str(jit.directory / "said"), path)
    )
    assert values == [2, 3, 3, 3, 3, 4, 4, 2, 2, True, 5, False]


def test_reload_with_a_schema_that_differs_or_is_unknown_is_refused(jit):  # noqa: F811
    path = jit.write("ops.cpp", op("jit_schema"))
    other = jit.write("other.cpp", op("jit_schema").replace("twice(Tensor a)", "twice(Tensor b)"))
    text = op("jit_schema").replace('m.def("twice(Tensor a) -> Tensor");', "m.def(SCHEMA);")
    made = jit.write("made.cpp", 'static const char* const SCHEMA = "twice(Tensor a) -> Tensor";\n' + text)
    values = jit.run(
        """
import torch
texts = []
cudaops.load("ops", %r, is_python_module=False)
for path in (%r, %r):
    try:
        cudaops.load("ops", path, is_python_module=False, reload=True)
    except RuntimeError as error:
        texts.append(str(error))
print(json.dumps([*texts, torch.ops.jit_schema.twice(torch.ones(1)).item()]))
"""
        % (path, other, made)
    )
    assert "another schema than the one that is loaded" in values[0] and "jit_schema::twice(Tensor b) -> Tensor" in values[0]
    assert "this process has jit_schema:: already" in values[1]
    assert values[2] == 2


@pytest.mark.skipif(os.environ.get("CUDAOPS_TEST_LONG") != "1", reason="compiles torch/library.h three times: CUDAOPS_TEST_LONG=1")
def test_reload_of_a_library_of_the_full_abi(jit):  # noqa: F811
    text = """
#include <torch/library.h>
int64_t answer(int64_t a) { return a + ANSWER; }
TORCH_LIBRARY(jit_full, m) { m.def("answer(int a) -> int"); }
TORCH_LIBRARY_IMPL(jit_full, CompositeExplicitAutograd, m) { m.impl("answer", &answer); }
"""
    path = jit.write("ops.cpp", text)
    values = jit.run(
        """
import torch
found = []
for answer in (1, 2, 3):
    cudaops.load("ops", %r, extra_cflags=["-DANSWER=%%d" %% answer], is_python_module=False, reload=answer > 1)
    kept = kept if found else torch.ops.jit_full.answer.default
    found += [kept(0), torch.ops.jit_full.answer(0)]
print(json.dumps(found))
"""
        % path
    )
    assert values == [1, 1, 2, 2, 3, 3]


@pytest.mark.skipif(os.environ.get("CUDAOPS_TEST_LONG") != "1", reason="compiles torch/extension.h twice: CUDAOPS_TEST_LONG=1")
def test_reload_of_an_edited_module_with_all_headers(jit):  # noqa: F811
    """A module of pybind11 that defines ops, too: functions and ops are those of the edited text, kept ops included."""
    text = """
#include <torch/extension.h>
at::Tensor scaled(const at::Tensor& a) { return a * %d; }
TORCH_LIBRARY(jit_edited, m) { m.def("scaled(Tensor a) -> Tensor", &scaled); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scaled", &scaled); m.def("added_by_%d", [] { return %d; }); }
"""
    path = jit.write("edited.cpp", text % (2, 2, 2))
    values = jit.run(
        """
import torch
one = torch.ones(1)
path, text = %r, %r
before = cudaops.load("edited", path, headers="full")
kept = torch.ops.jit_edited.scaled.default
with open(path, "w") as file:
    file.write(text)
refused = ""
try:
    cudaops.load("edited", path, headers="full")
except RuntimeError as error:
    refused = str(error)
after = cudaops.load("edited", path, headers="full", reload=True)
again = cudaops.load("edited", path, headers="full", reload=True)
print(json.dumps([
    before.scaled(one).item(), after.scaled(one).item(), again.added_by_3(), hasattr(after, "added_by_2"),
    kept(one).item(), torch.ops.jit_edited.scaled(one).item(), "reload=True" in refused,
    after.__cudaops__["headers"], after.__cudaops__["abi"], again.__cudaops__["state"],
]))
"""
        % (path, text % (3, 3, 3))
    )
    assert values == [2, 3, 3, False, 3, 3, True, "full", "PYBIND", "CACHED"]


def test_build_directory_gets_copies(jit, tmp_path):  # noqa: F811
    path = jit.write("plain.cpp", plain("plain"))
    for kept in (True, False):
        place = tmp_path / str(kept)
        assert jit.answer("plain", path, build_directory=str(place), keep_intermediates=kept)[0] == 42
        names = {name.name.split(".")[0] for name in place.iterdir()}
        assert names == ({"plain", "log", "CMakeLists"} if kept else {"plain", "log"})
    # The next build's take the place of these, and of no file of the user's.
    place, users = tmp_path / "True", jit.directory / "project"
    users.mkdir()
    (place / "log").write_text("$ cmake of before\n")
    before = (place / "CMakeLists.txt").read_bytes()
    text = "cmake_minimum_required(VERSION 3.25)\nproject(plain LANGUAGES CXX)\n"
    for name in ("log", "CMakeLists.txt"):
        (users / name).write_text(text)
    jit.write("plain.cpp", plain("plain", "43"))
    for directory in (place, users):
        assert jit.answer("plain", path, build_directory=str(directory))[0] == 43
    assert (users / "log").read_text() == (users / "CMakeLists.txt").read_text() == text
    (users / "log").unlink()
    (users / "log").mkdir()
    assert jit.answer("plain", path, build_directory=str(users))[0] == 43 and list((users / "log").iterdir()) == []
    assert "of before" not in (place / "log").read_text() and (place / "CMakeLists.txt").read_bytes() != before


def test_verbose_shows_the_build(jit, capsys):  # noqa: F811
    jit.load("plain", jit.write("plain.cpp", plain("plain")), verbose=True)
    out = capsys.readouterr().out
    assert "CudaTorchMatch: torch" in out and "Linking CXX" in out


def test_device_symbol_of_another_file_is_linked(jit):  # noqa: F811
    """pytorch#180762"""
    if not os.environ.get("CUDACXX"):
        pytest.skip("no nvcc: set CUDACXX")
    binding = jit.write("ops.cpp", op("jit_rdc"))
    first = jit.write("first.cu", "__device__ int shared() { return 1; }\n")
    second = jit.write("second.cu", "__device__ int shared();\n__global__ void k(int* p) { *p = shared(); }\n")
    module = jit.load("ops", [binding, first, second], extra_cuda_cflags=["-rdc=true"])
    assert cudaops.inspect(module.__cudaops__["path"])["architectures"] == ["sm_90"]
    with pytest.raises(cudaops.BuildError, match="shared"):
        jit.load("ops_without", [binding, first, second])


@pytest.mark.parametrize(
    "call, error, text",
    [
        ("load('my-ext', 'a.cpp')", "ValueError", "has to be an identifier"),
        ("load('a', 'missing.cpp')", "FileNotFoundError", "Fix: a path from there"),
        ("load('a', '.')", "IsADirectoryError", "Fix: the files in it"),
        ("load('a', [])", "ValueError", "Fix: sources=["),
        ("load('class', 'a.cpp')", "ValueError", "no keyword of Python"),
        ("load('größe', 'a.cpp')", "ValueError", "has to be an identifier"),
        ("load('a' * 200, 'a.cpp')", "ValueError", "up to 100 letters"),
        ("load('a', None)", "TypeError", "sources is a path or a list of paths"),
        ("load('a', [3])", "TypeError", "found   [3]"),
        ("load('a', [b'a.cpp'])", "TypeError", "found   [b'a.cpp']"),
        ("load('a', '~/a.cpp')", "FileNotFoundError", "Fix: os.path.expanduser()"),
        ("load('a', '*.cpp')", "FileNotFoundError", "Fix: glob.glob()"),
        ("load('a', 'a\\0.cpp')", "ValueError", "zero byte"),
        ("load('a', 'a.cpp', extra_cflags=3)", "TypeError", "extra_cflags is a list of strings"),
        ("load('a', 'a.cpp', extra_cflags={'cxx': ['-O2']})", "TypeError", "extra_cflags is a list of strings"),
        ("load('a', 'a.cpp', extra_include_paths=[None])", "TypeError", 'Fix: extra_include_paths=["..."]'),
        ("load('a', 'a.cpp', extra_ldflags=['-L\"x'])", "ValueError", "says    No closing quotation"),
        ("load('a', __file__, build_directory=__file__)", "NotADirectoryError", "is a file"),
        ("load('a', __file__, policy=False)", "ValueError", "unknown policy False.\n  wanted  on warn error off\nFix: on"),
        ("load('a', 'a.cpp', is_standalone=True)", "ValueError", "mutually exclusive"),
        ("load('a', 'a.sycl')", "ValueError", "SYCL"),
        ("load('a', 'a.cpp', with_sycl=True)", "ValueError", "SYCL"),
        ("load('a', 'a.cpp', extra_cflags='-O2')", "TypeError", "extra_cflags is a list"),
        ("load('a', 'a.cpp', headers='thin')", "ValueError", "auto full slim fast\nFix: headers=\"auto\""),
        ("load_inline('a')", "ValueError", "Fix: cpp_sources=text"),
        ("load_inline('a', 'int a;', functions=3)", "ValueError", "Expected 'functions'"),
        ("load_inline('a', [3])", "TypeError", "is no text"),
        ("load_inline('a', b'int a;')", "TypeError", "a text or a list of texts"),
        ("load_inline('a', 'my.cpp')", "ValueError", "Fix: load() takes files"),
        ("load_inline('a', 'int a;', functions=['a b'])", "ValueError", "is no name of a C++ function"),
        ("load_inline('a', (text for text in ['int a;']))", "TypeError", "Fix: a str"),
        ("load_inline('a', 'int a;', functions=[b'a'])", "TypeError", "is no name"),
        ("OpLibrary('/no/such', 'a')", "NotADirectoryError", "/no/such"),
        ("OpLibrary('/tmp', 3)", "TypeError", "is a text"),
        ("OpLibrary('/tmp', 'a', fallback=['add'])", "TypeError", "fallback is a dict"),
        ("OpLibrary('/tmp', 'a', fallback={'add': 3})", "TypeError", "what stands for add is no function"),
        ("OpLibrary('/tmp', 'a', schemas='a::add(Tensor a) -> Tensor')", "TypeError", "schemas is a list"),
        ("load_inline('a', '', sycl_sources='x')", "ValueError", "SYCL"),
    ],
)
def test_bad_arguments_are_refused_before_anything_starts(call, error, text, tmp_path, monkeypatch):
    monkeypatch.setenv("CUDAOPS_STORE", str(tmp_path / "store"))
    with pytest.raises(Exception) as raised:
        eval("cudaops." + call)
    assert raised.type.__name__ == error and text in str(raised.value)
    assert "\nFix: " in str(raised.value)
    assert not (tmp_path / "store").exists()


def test_standard_that_is_too_old_for_torch_is_refused_before_a_compile(jit):  # noqa: F811
    """torch-ngp and its like: after the #error g++ goes on for minutes."""
    path = jit.write("old.cpp", "#include <torch/extension.h>\n")
    with pytest.raises(cudaops.BuildError, match=r"need C\+\+17, and extra_cflags has -O3 -std=c\+\+14\.\nFix: leave it out"):
        with jit.no_process():
            jit.load("old", path, extra_cflags=["-O3 -std=c++14"])
    assert jit.left() == []


def test_misspelt_policy_is_said_by_a_hit_too(jit, monkeypatch):  # noqa: F811
    path = jit.write("plain.cpp", plain("plain"))
    jit.load("plain", path)
    monkeypatch.setenv("CUDAOPS_JIT", "eror")
    for call in (lambda: jit.load("plain", path), lambda: cudaops.OpLibrary(str(jit.directory), "ops")):
        with pytest.raises(ValueError, match="CUDAOPS_JIT: unknown policy 'eror'"):
            call()


def test_library_without_a_module_says_what_is_missing(jit):  # noqa: F811
    path = jit.write("nothing.cpp", "int nothing;\n")
    with pytest.raises(ImportError, match="holds no Python module of this name(.|\n)*is_python_module=False"):
        jit.load("nothing", path)


def test_a_hit_imports_nothing_heavy(jit):  # noqa: F811
    path = jit.write("plain.cpp", plain("plain"))
    jit.load("plain", path)
    code = """
import sys
before = set(sys.modules)
import cudaops
from cudaops.jit import api
request = api.Request("plain", "module")
request.set_flags(None, None, None, None)
request.set_paths(%r)
assert api.find(request)[0] is not None
print(sorted({"json", "subprocess", "fcntl", "re", "shutil", "hashlib", "typing"} & (set(sys.modules) - before)))
""" % path
    assert run_python("-c", code, **jit.variables) == (0, "[]\n", "")

# SPDX-License-Identifier: Apache-2.0
"""add_torch_op(... RECIPE) and cudaops.OpLibrary(): the four states of a package's op."""

import gzip
import io
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import warnings

import pytest
from conftest import REPOSITORY, execute, run_python
from jit_store import NO_PROCESS, jit, op  # noqa: F401

import cudaops
from cudaops.jit import bundle, gpus, library, recipe

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(recipes VERSION 1.0 LANGUAGES CXX)
find_package(CudaOps REQUIRED)
find_package(CudaTorchMatch REQUIRED)
add_torch_op(%s SOURCES op.cpp INSTALL lib/package RECIPE)
target_include_directories(%s PRIVATE include)
target_compile_definitions(%s PRIVATE "FACTOR=3")
target_compile_options(%s PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>")
"""


class Package:
    """A project with one op, and its install tree; the op and its namespace have the same name."""

    def __init__(self, directory, name):
        self.name = name
        self.source = directory / "project"
        (self.source / "include").mkdir(parents=True)
        (self.source / "CMakeLists.txt").write_text(PROJECT.lstrip() % ((name,) * 4))
        (self.source / "op.cpp").write_text('#include "beside.h"\n#include <below/header.h>\n' + op(name, factor=None))
        (self.source / "beside.h").write_text("\n")
        (self.source / "include" / "below").mkdir()
        (self.source / "include" / "below" / "header.h").write_text("\n")
        self.build = directory / "build"
        self.place = directory / "prefix" / "lib" / "package"

    def configure(self, *options):
        command = ["cmake", "-G", "Ninja", "-S", self.source, "-B", self.build, "-DCudaOps_ROOT=%s" % (REPOSITORY / "cmake")]
        command += ["-DPython_EXECUTABLE=" + sys.executable, "-DCUDAOPS_BACKEND=CPU", *options]
        command += ["-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=%s" % (REPOSITORY / "cmake" / "CudaOpsSeed.cmake")]
        return execute([*command, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"])

    def install(self, *options):
        prefix = self.place.parent.parent
        return execute(["cmake", "--install", self.build, "--prefix", prefix, *options])

    def recipe_only(self):
        self.configure()
        self.install("--component", "cudaops_recipes")
        return self.place


@pytest.fixture
def cpu(monkeypatch):
    monkeypatch.setenv("CUDAOPS_BACKEND", "CPU")


@pytest.fixture
def package(jit, tmp_path, request, cpu):  # noqa: F811
    """Each test has an op of its own: a process can't have two."""
    name = re.sub(r"\W", "_", request.node.name.replace("test_", ""))[:40]
    return Package(tmp_path, name)


def call(package):
    import torch

    return getattr(torch.ops, package.name).twice(torch.ones(2)).tolist()


def paths_taken_out(command, *places):
    """The command's words, without what names a directory of one of the two builds."""
    words = shlex.split(command)
    for place, name in places:
        words = [word.replace(str(place), name) for word in words]
    kept = []
    for word in words:
        if "cudaops-launch" in word or word.endswith(".settings"):
            continue
        # Objects are called by the path of their source.
        kept.append(re.sub(r"CMakeFiles/.*?([^/]*\.o)", r"\1", word))
    return kept


def test_whole_way_from_wheel_to_store(package, jit):  # noqa: F811
    package.configure()
    execute(["ninja", "-C", package.build])
    package.install()
    files = {str(path.relative_to(package.place)) for path in package.place.rglob("*") if path.is_file()}
    below = "%s.recipe/source/" % package.name
    library_file = "lib%s.so" % package.name
    assert files == {library_file, package.name + ".recipe.json"} | {
        below + name for name in ("op.cpp", "beside.h", "include/below/header.h")
    }
    values = json.loads((package.place / (package.name + ".recipe.json")).read_text())
    assert values["schemas"] == {package.name: ["twice(Tensor a) -> Tensor"]}
    assert str(package.source) not in json.dumps(values)

    code = "import torch\nops = cudaops.OpLibrary(%r, %r)\n" % (str(package.place), package.name)
    code += "print(json.dumps([ops.state, ops.path, torch.ops.%s.twice(torch.ones(2)).tolist()]))" % package.name
    assert jit.run(NO_PROCESS + code) == ["PREBUILT", str(package.place / library_file), [3, 3]]

    os.rename(package.place / library_file, package.place / "elsewhere")
    os.rename(package.source, str(package.source) + ".gone")
    ops = cudaops.OpLibrary(str(package.place), package.name)
    assert (ops.state, call(package)) == ("COMPILED", [3, 3])
    assert "brings no library" in ops.reason and os.path.isfile(ops.log)
    state, path, values = jit.run(NO_PROCESS + code)
    assert (state, path, values) == ("CACHED", ops.path, [3, 3])

    # There is one build system: the compile is the same command.
    ahead = json.loads((package.build / "compile_commands.json").read_text())
    now = json.loads((pathlib.Path(ops.path).parent / "compile_commands.json").read_text())
    trees = [now[0]["directory"], os.path.dirname(now[0]["directory"]) + "/p"]
    first = paths_taken_out(ahead[0]["command"], (package.build, "<build>"), (package.source, "<source>"))
    installed = package.place / (package.name + ".recipe") / "source"
    second = paths_taken_out(now[0]["command"], (trees[0], "<build>"), (installed, "<source>"), (trees[1], "<source>"))
    assert first == second


def test_one_file_for_both_devices_is_built_once(package, jit):  # noqa: F811
    """In SOURCES and CUDA_SOURCES, with #ifdef USE_CUDA; here there is no CUDA."""
    project = package.source / "CMakeLists.txt"
    project.write_text(project.read_text().replace("SOURCES op.cpp", "SOURCES op.cpp CUDA_SOURCES op.cpp"))
    source = package.source / "op.cpp"
    source.write_text("#ifdef USE_CUDA\n#error this is an op without CUDA\n#endif\n" + source.read_text())
    found = recipe.Recipe(package.recipe_only() / (package.name + ".recipe.json"))
    request = recipe.RecipeRequest(found)
    assert request.paths == [found.place("source/op.cpp")] and request.is_cuda()
    ops = cudaops.OpLibrary(str(package.place), package.name)
    assert (ops.state, call(package)) == ("COMPILED", [3, 3])
    commands = json.loads((pathlib.Path(ops.path).parent / "compile_commands.json").read_text())
    assert sum(command["file"].endswith("op.cpp") for command in commands) == 1


def test_c_file_of_a_recipe_is_compiled(package):
    text = (package.source / "CMakeLists.txt").read_text().replace("LANGUAGES CXX", "LANGUAGES C CXX")
    (package.source / "CMakeLists.txt").write_text(text.replace("SOURCES op.cpp", "SOURCES op.cpp part.c").replace("=3", "=part()"))
    (package.source / "beside.h").write_text('extern "C" float part(void);\n')
    (package.source / "part.c").write_text("float part(void) { int class = 3; return class; }\n")
    ops = cudaops.OpLibrary(str(package.recipe_only()), package.name)
    assert ops.state == "COMPILED" and call(package) == [3, 3]


def test_bundle_serves_a_machine_without_compilers(package, jit, tmp_path, monkeypatch):  # noqa: F811
    place = package.recipe_only()
    execute(["ninja", "-C", package.build, "cudaops_bundle"], env={**os.environ, **jit.variables})
    made = package.build / "cudaops-bundle"
    index = json.loads((made / "index.json").read_text())
    assert len(index["files"]) == 3 and all(len(value) == 64 for value in index["files"].values())
    moved = tmp_path / "moved" / "bundle"
    shutil.copytree(made, moved)
    shutil.rmtree(jit.root)
    monkeypatch.setenv("CUDAOPS_JIT_PATH", str(moved))
    monkeypatch.setenv("PATH", "/nowhere")
    with jit.no_process():
        ops = cudaops.OpLibrary(str(place), package.name, required=True)
    assert (ops.state, call(package)) == ("CACHED", [3, 3]) and ops.path.startswith(str(moved))
    assert os.path.isfile(ops.log) and not jit.root.exists()
    code = "ops = cudaops.OpLibrary(%r, %r, required=True)\nassert ops.state == 'CACHED'" % (str(place), package.name)
    assert calls_that_start_processes(code, jit.variables, tmp_path) == []


def calls_that_start_processes(code, variables, directory):
    """What the kernel saw of these between two marks; importing torch starts ldconfig, before the first one."""
    strace = next((path for path in ("/usr/bin/strace", "/usr/local/bin/strace") if os.access(path, os.X_OK)), None)
    if strace is None or subprocess.run([strace, "-o", "/dev/null", "/bin/true"], capture_output=True).returncode:
        pytest.skip("no strace, or it may not trace here: the rest has passed")
    marked = "import os, torch, cudaops\nos.access('/mark of the begin', 0)\n%s\nos.access('/mark of the end', 0)\n" % code
    traced = "trace=execve,execveat,fork,vfork,clone,clone3,access,faccessat,faccessat2"
    environment = {**os.environ, **variables, "CUDAOPS_JIT_PATH": os.environ["CUDAOPS_JIT_PATH"], "PATH": "/nowhere"}
    environment.update(PYTHONPATH=str(REPOSITORY / "python"), PYTHONDONTWRITEBYTECODE="1")
    execute([strace, "-f", "-qq", "-e", traced, "-o", directory / "trace", sys.executable, "-c", marked], env=environment)
    calls = (directory / "trace").read_text()
    assert "/mark of the begin" in calls and "/mark of the end" in calls
    between = calls.split("/mark of the begin")[1].split("/mark of the end")[0].splitlines()
    return [line for line in between if re.search(r"(execve|execveat|fork|vfork|clone3?)\(", line) and "CLONE_THREAD" not in line]


def fallback_of(package, **keywords):
    with pytest.warns(cudaops.FallbackWarning) as caught:
        ops = cudaops.OpLibrary(str(package.place), package.name, **keywords)
    assert len(caught) == 1
    return ops, str(caught[0].message)


def test_python_code_takes_over_where_nothing_may_be_compiled(package, monkeypatch):
    package.recipe_only()
    monkeypatch.setenv("CUDAOPS_JIT", "off")
    ops, text = fallback_of(package, fallback={"twice": lambda a: a * 3})
    assert ops.state == "FALLBACK" and ops.path is None
    assert "nothing may be compiled (CUDAOPS_JIT=off)" in ops.reason and ops.reason in text
    assert "Python code serves %s::twice" % package.name in text and "Fix: " in text
    import torch

    assert call(package) == [3, 3]
    a = torch.ones(2, requires_grad=True)
    twice = getattr(torch.ops, package.name).twice
    twice(a).sum().backward()
    assert a.grad.tolist() == [3, 3]
    assert twice(torch.ones(2, device="meta")).shape == (2,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = cudaops.OpLibrary(str(package.place), package.name, fallback={"twice": lambda a: a * 3})
    assert again.state == "FALLBACK"


def test_required_op_raises_with_the_reason(package, monkeypatch):
    package.recipe_only()
    (package.place / (package.name + ".recipe") / "source" / "op.cpp").write_text("int broken = nowhere;\n")
    with pytest.raises(cudaops.BuildError, match="was not declared"):
        cudaops.OpLibrary(str(package.place), package.name, fallback={"twice": lambda a: a * 3}, required=True)
    ops, text = fallback_of(package, fallback={"twice": lambda a: a * 3})
    assert "was not declared" in ops.reason and ops.reason in text and os.path.isfile(ops.log) and ops.log in text
    assert call(package) == [3, 3]


def test_policy_error_is_not_softened_by_a_fallback(package):
    package.recipe_only()
    with cudaops.jit_policy("error"), pytest.raises(cudaops.PolicyError):
        cudaops.OpLibrary(str(package.place), package.name, fallback={"twice": lambda a: a * 3})


def test_device_without_a_kernel_gets_the_fallback(tmp_path, torch_dir):
    """What a library for the CPU only leaves to Python code."""
    import torch

    library_of_test = torch.library.Library("recipe_device", "FRAGMENT")
    library_of_test.define("twice(Tensor a) -> Tensor")
    library_of_test.impl("twice", lambda a: a * 2, "CPU")
    expected = ["CUDA"] if torch.version.cuda or torch.version.hip else []
    assert library._missing_keys(torch, "recipe_device::twice") == expected
    assert library._missing_keys(torch, "recipe_device::other") == ["CompositeImplicitAutograd"]
    library_of_test.define("all(Tensor a) -> Tensor")
    library_of_test.impl("all", lambda a: a, "CompositeExplicitAutograd")
    assert library._missing_keys(torch, "recipe_device::all") == []


def test_misspelt_name_in_fallback_is_refused(tmp_path):
    schemas = ["recipe_misspelt::rms_norm(Tensor a) -> Tensor", "recipe_misspelt::add(Tensor a) -> Tensor"]
    with pytest.raises(ValueError, match="fallback names rms_nrm.*did you mean rms_norm"):
        cudaops.OpLibrary(tmp_path, "nothing", fallback={"rms_nrm": len}, schemas=schemas)
    with pytest.raises(ValueError, match="the schema of add in fallback isn't known"):
        cudaops.OpLibrary(tmp_path, "nothing", fallback={"add": len})
    with pytest.raises(ValueError, match="a schema is"):
        cudaops.OpLibrary(tmp_path, "nothing", schemas=["add(Tensor a) -> Tensor"])
    with pytest.raises(ValueError, match="first argument is a package"):
        cudaops.OpLibrary(None, "nothing")


@pytest.mark.parametrize(
    "architecture, capability, runs",
    [
        ("sm_80", (8, 6), True),
        ("sm_86", (8, 0), False),
        ("sm_80", (9, 0), False),
        ("compute_80", (9, 0), True),
        ("sm_90a", (9, 0), True),
        ("sm_100a", (10, 3), False),
        ("sm_100f", (10, 3), True),
        ("sm_103f", (10, 0), False),
        ("sm_120", (12, 1), True),
    ],
)
def test_code_runs_on_a_gpu(architecture, capability, runs):
    assert gpus.serves(architecture, capability) is runs
    assert (gpus.problem([architecture], [capability]) is None) is runs


def test_every_visible_gpu_must_be_served():
    """A machine with two unlike GPUs."""
    assert gpus.problem(["sm_80"], [(8, 0), (9, 0)]) == "it holds sm_80, and a visible GPU is sm_90"
    assert gpus.problem(["sm_80", "sm_90"], [(8, 0), (9, 0)]) is None
    assert gpus.problem([], [(9, 0)]) is None


FACTS = {
    "file": "f",
    "digest": "d",
    "abi": "STABLE",
    "torch": "2.10",
    "python": "-",
    "cudart": "-",
    "machine": os.uname().machine,
    "glibc": "2.2",
    "architectures": "-",
}


@pytest.mark.parametrize(
    "changes, said",
    [
        ({}, None),
        ({"torch": "99.0"}, "it needs torch 99.0 or later"),
        ({"abi": "FULL"}, "it is for torch 2.10"),
        ({"cudart": "1"}, "the shared runtime of CUDA 1"),
        ({"machine": "pdp11"}, "it is for pdp11"),
        ({"glibc": "9.9"}, "it needs glibc 9.9"),
        ({"digest": ""}, "damaged"),
    ],
)
def test_bundle_says_what_does_not_fit(changes, said, torch_dir):
    found = bundle._misfit({**FACTS, **changes})
    assert found is None if said is None else said in found


def test_recipe_that_is_none_or_newer_is_refused(tmp_path):
    path = tmp_path / "a.recipe.json"
    path.write_text("{}")
    with pytest.raises(recipe.RecipeError, match="is no recipe"):
        recipe.Recipe(path)
    path.write_text('{"format": 2, "cudaops": "9.0"}')
    with pytest.raises(recipe.RecipeError, match="a recipe of format 2, made by CudaOps 9.0"):
        recipe.Recipe(path)


def test_commands_of_the_store(jit, tmp_path):  # noqa: F811
    from jit_store import plain

    variables = jit.variables
    assert run_python("-m", "cudaops", "cache", "list", **variables)[0] == 2
    jit.load("plain", jit.write("plain.cpp", plain("plain")))

    def command(*arguments, code=0):
        done, out, err = run_python("-m", "cudaops", "cache", *arguments, **variables)
        assert done == code, out + err
        return out + err

    (entry,) = json.loads(command("list", "--json"))
    assert (entry["name"], entry["state"], entry["abi"]) == ("plain", "built", "PYBIND")
    assert "plain" in command("list")
    assert json.loads(command("why", "plain", "--json"))["reason"] == "first build"
    assert "no call named other" in command("why", "other", code=2)
    assert "1 libraries, 0 damaged" in command("verify")
    archive = tmp_path / "store.tar.gz"
    command("export", archive)
    assert "the archive's name says its format" in command("export", "store.zip", code=2)
    path = pathlib.Path(entry["path"])
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.unlink()
    path.write_bytes(content)
    assert "damaged: %s" % path in command("verify", code=1)
    assert "0.0 MB" in command("trim", "--size", "0")
    assert jit.objects() == []
    command("import", archive)
    assert jit.hit("plain", str(jit.directory / "plain.cpp"))[:2] == (42, "CACHED")
    assert "there is no such file" in command("import", "nowhere.tar.gz", code=2)


def test_damaged_archive_is_refused_and_leaves_nothing(jit, tmp_path):  # noqa: F811
    from jit_store import plain

    jit.load("plain", jit.write("plain.cpp", plain("plain")))
    store = pathlib.Path(jit.variables["CUDAOPS_STORE"]) / "jit"
    archive = tmp_path / "store.tar.gz"

    def command(*arguments):
        return run_python("-m", "cudaops", "cache", *arguments, **jit.variables)

    assert command("export", archive)[0] == 0
    whole = archive.read_bytes()
    with tarfile.open(archive) as unpacked:
        library = next(member for member in unpacked if member.name.endswith(".so"))
        content = bytearray(unpacked.extractfile(library).read())
    content[len(content) // 2] ^= 1
    with tarfile.open(tmp_path / "library.tar.gz", "w:gz") as changed, tarfile.open(archive) as unpacked:
        for member in unpacked:
            changed.addfile(member, io.BytesIO(content) if member.name == library.name else unpacked.extractfile(member))
    assert command("trim", "--size", "0")[0] == 0
    for name, damaged in {
        "text": b"text",
        "empty": b"",
        "cut": whole[: len(whole) // 2],
        "header": gzip.compress(bytes(1000) + gzip.decompress(whole)[1000:])[:-8] + whole[-8:],
        "library": (tmp_path / "library.tar.gz").read_bytes(),
    }.items():
        archive.write_bytes(damaged)
        code, out, err = command("import", archive)
        assert (code, out) == (2, ""), (name, err)
        assert err.startswith("cudaops cache: the archive ") and "damaged" in err and "\n Fix: python -m cudaops cache export" in err, name
        assert not any(any((store / part).iterdir()) for part in ("o", "t")), name


def test_build_command_says_what_cannot_be_built(package, jit):  # noqa: F811
    place = package.recipe_only()
    (place / (package.name + ".recipe") / "source" / "op.cpp").write_text("int broken = nowhere;\n")
    code, _, err = run_python("-m", "cudaops", "build", place, **{**jit.variables, "CUDAOPS_BACKEND": "CPU"})
    assert code == 1 and "was not declared" in err
    code, _, err = run_python("-m", "cudaops", "build", "no_such_package", **jit.variables)
    assert code == 2 and "neither a file, a directory nor a package" in err

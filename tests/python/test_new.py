# SPDX-License-Identifier: Apache-2.0
"""python -m cudaops new: what is written where, and that it builds, passes its tests and becomes a wheel as it is."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from conftest import REPOSITORY, execute, run_python

from cudaops import new

KINDS = {"stable": [], "pybind": ["--pybind"], "kernels": ["--kernels-only"]}


def command(directory, *arguments):
    """(exit code, stdout, stderr) of `python -m cudaops new` in a directory."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "cudaops", "new", *arguments], cwd=directory, env=environment, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """{kind: directory}; each is named as its kind."""
    parent = tmp_path_factory.mktemp("projects with blank")
    for kind in KINDS:
        assert new.make(kind + "_ops", kind, str(parent)) > 10
    return {kind: parent / (kind + "_ops") for kind in KINDS}


def files(directory):
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def test_command_makes_the_project_and_says_what_comes_next(tmp_path):
    code, out, err = command(tmp_path, "fast_ops")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].strip() == "cd fast_ops" and "cmake --workflow --preset dev" in out
    assert files(tmp_path / "fast_ops") == set(new.texts("fast_ops", "stable"))
    assert command(tmp_path, "other_ops", "--pybind")[0] == 0
    assert command(tmp_path, "third_ops", "--kernels-only")[0] == 0
    code, out, err = command(tmp_path, "both", "--pybind", "--kernels-only")
    assert code == 2 and "not allowed with" in err and not (tmp_path / "both").exists()
    code, out, err = command(tmp_path, "--help")
    assert (code, err) == (0, "") and "nothing that exists is overwritten" in " ".join(out.split())


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_its_parts_under_its_own_name(projects, kind):
    found = files(projects[kind])
    wanted = {
        "CMakeLists.txt",
        "CMakePresets.json",
        "README.md",
        ".clangd",
        ".gitignore",
        ".vscode/launch.json",
        ".github/workflows/build.yml",
        "csrc/scaled_add.cu",
        "tests/scaled_add_test.cpp",
        "bench/scaled_add_benchmark.cpp",
    }
    if kind != "kernels":
        wanted |= {"pyproject.toml", "tests/test_scaled_add.py", "src/%s_ops/__init__.py" % kind}
    assert wanted <= found
    for name in found:
        text = (projects[kind] / name).read_text(encoding="utf-8")
        assert "my_ops" not in text + name and "MY_OPS" not in text and "dot_" not in name, name
        if name.endswith(".py"):
            compile(text, name, "exec")
        if name.endswith(".toml"):
            tomllib = pytest.importorskip("tomllib")  # of Python 3.11
            assert tomllib.loads(text)["project"]["name"] == kind + "_ops"
    presets = (projects[kind] / "CMakePresets.json").read_text()
    assert len(presets.splitlines()) <= 70 and json.loads(presets)["version"] == 6
    names = {part: [preset["name"] for preset in json.loads(presets)[part + "Presets"]] for part in ("configure", "build", "test", "workflow")}
    assert names["configure"] == names["build"] == names["test"] == names["workflow"]
    workflow = (projects[kind] / ".github/workflows/build.yml").read_text()
    assert "actions/cache" in workflow and "CCACHE_DIR" in workflow and "cmake --workflow --preset dev" in workflow


@pytest.mark.parametrize("kind", KINDS)
def test_workflow_installs_cudaops_from_where_the_repository_says(projects, kind, tmp_path):
    """It is not on PyPI: no word of a command there may be its bare name."""
    workflow = (projects[kind] / ".github/workflows/build.yml").read_text()
    (step,) = [line.split("run: ", 1)[1] for line in workflow.splitlines() if "run: pip install" in line]
    (tmp_path / "pip").write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    (tmp_path / "pip").chmod(0o755)

    def run(**variables):
        environment = {"PATH": "%s:%s" % (tmp_path, os.environ["PATH"]), **variables}
        return subprocess.run(["bash", "-e", "-c", step], env=environment, capture_output=True, text=True)

    unset = run(CUDAOPS="")  # as a variable is that the repository doesn't have
    assert unset.returncode != 0 and unset.stdout == "" and "git+<URL of CudaOps>" in unset.stderr
    place = "git+https://example.org/CudaOps@v1"
    words = run(CUDAOPS=place).stdout.splitlines()
    assert words[:2] == ["install", place] and "cudaops" not in words
    readme = (projects[kind] / "README.md").read_text()
    assert "pip install <CudaOps> " in readme and "`<CudaOps>` is the path of a clone" in readme


@pytest.mark.parametrize(
    "name, better",
    [
        ("My-Ops", "my_ops"),
        ("2d", "d"),
        ("ops_", "ops"),
        ("a__b", "a_b"),
        ("a/b", "a_b"),
        ("../up", "up"),
        ("", "my_ops"),
        ("übung", "bung"),
        ("class", "class_ops"),
        ("namespace", "namespace_ops"),
        ("json", "json_ops"),
        ("torch", "torch_ops"),
        ("tests", "tests_ops"),
        ("a\nb", "a_b"),
    ],
)
def test_name_that_cannot_be_package_and_namespace_is_refused_with_a_better_one(name, better):
    with pytest.raises(new.NewError) as raised:
        new.check_name(name)
    assert str(raised.value).endswith("Fix: python -m cudaops new " + better)
    new.check_name(better)


def test_nothing_that_exists_is_overwritten(tmp_path):
    mine = tmp_path / "mine" / "notes.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    for name in ("mine", "file", "lost"):
        code, out, err = command(tmp_path, name)
        assert (code, out) == (2, "") and "nothing is overwritten" in err and str(tmp_path / name) in err
    assert files(tmp_path) == {"mine/notes.txt", "file"} and mine.read_text() == "mine"
    (tmp_path / "empty").mkdir()
    assert command(tmp_path, "empty")[0] == 0


def test_directory_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(new.NewError, match="can't be written.\n  found   .*ops: Not a directory"):
        (tmp_path / "file").write_text("")
        new.make("ops", "stable", str(tmp_path / "file"))


def cmake(directory, *arguments, **options):
    """A step of CMake's in a project; skips where the machine lacks GoogleTest or Google Benchmark and the network."""
    environment = {**os.environ, "CudaOps_ROOT": str(REPOSITORY / "cmake"), "CCACHE_BASEDIR": str(directory), **options}
    done = subprocess.run([str(word) for word in arguments], cwd=directory, env=environment, capture_output=True, text=True)
    output = done.stdout + done.stderr
    if done.returncode and ("GoogleTest was not found" in output or "Google Benchmark was not found" in output):
        pytest.skip("no GoogleTest or no Google Benchmark")
    assert done.returncode == 0, output
    return output


def configure(directory, preset):
    seed = "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=%s" % (REPOSITORY / "cmake" / "CudaOpsSeed.cmake")
    python = "-DPython_EXECUTABLE=%s" % sys.executable
    return cmake(directory, "cmake", "--preset", preset, python, seed, "-DCMAKE_CUDA_ARCHITECTURES=90-real", "-Werror=dev")


needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None or shutil.which("ninja") is None, reason="no cmake, no ninja")


@needs_cmake
def test_project_builds_and_passes_its_tests_with_a_copy_of_its_op(projects, torch_dir):
    """Compiles all of it and runs its tests: 15 s of CPU without a compiler cache, half of that torch's imports."""
    project = projects["stable"]
    # torch ends a process in which two files define one namespace as a whole.
    binding = (project / "csrc/scaled_add_torch.cpp").read_text()
    (project / "csrc/twin_torch.cpp").write_text(binding.replace('"scaled_add(', '"twin(').replace('"scaled_add"', '"twin"'))
    listed = (project / "CMakeLists.txt").read_text()
    assert listed.count("SOURCES csrc/scaled_add_torch.cpp\n") == 1
    (project / "CMakeLists.txt").write_text(listed.replace("csrc/scaled_add_torch.cpp\n", "csrc/scaled_add_torch.cpp csrc/twin_torch.cpp\n"))
    shown = configure(project, "dev")
    assert "STABLE 2.10" in shown
    cmake(project, "cmake", "--build", "--preset", "dev")
    shown = cmake(project, "ctest", "--preset", "dev", "-E", r"\.cuda$")
    assert "scaled_add_test.ScaledAddCpu.IsRightForAllSizes" in shown and "scaled_add.cpu" in shown and "0 tests failed" in shown


@needs_cmake
@pytest.mark.parametrize("preset, option", [("debug", " -G "), ("sanitize", " -lineinfo ")])
def test_presets_for_tools_compile_for_them(projects, preset, option):
    """Ninja prints the commands and runs none."""
    project = projects["kernels"]
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc")
    configure(project, preset)
    shown = cmake(project, "cmake", "--build", "--preset", preset, "--", "-n", "-v")
    (line,) = [line for line in shown.splitlines() if " -x cu -c " in line]
    assert option in line
    launch = json.loads((project / ".vscode/launch.json").read_text())
    (program,) = {entry["program"].replace("${workspaceFolder}", str(project)) for entry in launch["configurations"]}
    assert os.path.relpath(program.replace("build/debug", "build/" + preset), project / "build" / preset) in shown
    tests = cmake(project, "ctest", "--preset", preset, "-N")
    assert ("scaled_add_test.initcheck" in tests) == (preset == "sanitize")


@needs_cmake
def test_project_becomes_a_wheel(projects, torch_dir, tmp_path):
    """Needs scikit-build-core: of the tests' tools."""
    tools = pathlib.Path(os.environ.get("CUDAOPS_TEST_TOOLS", "")) / "pip_package"
    if not (tools / ".complete").exists():
        pytest.skip("no scikit-build-core")
    project = tmp_path / "project"
    new.make("wheel_ops", "stable", str(tmp_path))
    (tmp_path / "wheel_ops").rename(project)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-index", "--no-deps", "--no-build-isolation", "-w", tmp_path / "dist"]
    command += ["-Ccmake.define.CUDAOPS_BACKEND=CPU", "-Ccmake.define.Python_EXECUTABLE=%s" % sys.executable, project]
    places = "%s:%s" % (tools, REPOSITORY / "python")
    cmake(project, *command, PYTHONPATH=places, PIP_DISABLE_PIP_VERSION_CHECK="1", PYTHONDONTWRITEBYTECODE="1")
    (wheel,) = (tmp_path / "dist").iterdir()
    assert wheel.name.startswith("wheel_ops-0.1-cp310-abi3-linux")


@needs_cmake
def test_kernels_build_without_torch_and_are_found_by_others(projects, tmp_path):
    """Four compiles."""
    project = projects["kernels"]
    configure(project, "cpu")
    cmake(project, "cmake", "--build", "--preset", "cpu")
    assert "0 tests failed" in cmake(project, "ctest", "--preset", "cpu")
    cmake(project, "cmake", "--install", "build/cpu", "--prefix", tmp_path / "prefix")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES CXX)\nfind_package(kernels_ops REQUIRED)\n"
        "add_executable(user user.cpp)\ntarget_link_libraries(user kernels_ops::kernels_ops)\n"
    )
    (tmp_path / "user.cpp").write_text(
        "#include <scaled_add.h>\n"
        "int main() {\n  float a = 1, b = 2, out;\n  kernels_ops::scaled_add_on_cpu(&a, &b, 3, &out, 1);\n  return out != 7;\n}\n"
    )
    cmake(tmp_path, "cmake", "-G", "Ninja", "-B", "b", "-DCMAKE_PREFIX_PATH=%s" % (tmp_path / "prefix"))
    cmake(tmp_path, "cmake", "--build", "b")
    execute([tmp_path / "b" / "user"])


@needs_cmake
def test_pybind_project_configures(projects, torch_dir):
    """Not built here: torch/extension.h takes a minute."""
    assert "PYBIND" in configure(projects["pybind"], "cpu")


def test_templates_are_installed_with_the_package(tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    execute(["cmake", "-S", REPOSITORY, "-B", tmp_path / "b", "-DBUILD_TESTING=OFF"])
    execute(["cmake", "--install", tmp_path / "b", "--prefix", tmp_path / "prefix"])
    package = tmp_path / "prefix" / "share" / "cmake" / "CudaOps" / "python"
    templates = REPOSITORY / "python" / "cudaops" / "templates"
    assert {name for name in files(templates) if "__pycache__" not in name} == files(package / "cudaops" / "templates")
    code, out, err = run_python("-m", "cudaops", "new", "--help", PYTHONPATH=str(package))
    assert (code, err) == (0, "") and "--kernels-only" in out

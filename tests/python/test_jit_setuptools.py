# SPDX-License-Identifier: Apache-2.0
"""cudaops.setuptools: a setup.py whose op CMake builds, in place and for a wheel."""

import os
import shlex
import shutil
import subprocess
import sys

import pytest
from conftest import REPOSITORY
from jit_store import jit, op  # noqa: F401

SETUP = """
from setuptools import setup
from cudaops.setuptools import CMakeBuild, TorchOp

setup(
    name="package",
    version="1.0",
    packages=["package"],
    package_dir={"": "src"},
    ext_modules=[TorchOp("setup_op", ".")],
    cmdclass={"build_ext": CMakeBuild},
)
"""
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(package LANGUAGES CXX)
find_package(CudaOps REQUIRED)
find_package(CudaTorchMatch REQUIRED)
add_torch_op(setup_op SOURCES op.cpp INSTALL package RECIPE)
"""


def run(directory, *arguments):
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY / "python"),
        "CUDAOPS_BACKEND": "CPU",
        "CMAKE_ARGS": shlex.quote("-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=%s" % (REPOSITORY / "cmake" / "CudaOpsSeed.cmake")),
    }
    command = [sys.executable, "setup.py", *arguments]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)


def test_op_is_built_in_place_and_for_a_wheel(jit, tmp_path):  # noqa: F811
    pytest.importorskip("setuptools")
    project = tmp_path / "project"
    (project / "src" / "package").mkdir(parents=True)
    (project / "src" / "package" / "__init__.py").write_text("")
    (project / "op.cpp").write_text(op("setup_op"))
    (project / "setup.py").write_text(SETUP)
    done = run(project, "build_ext", "--inplace")
    assert done.returncode and "TorchOp(setup_op): the project has no CMakeLists.txt" in done.stderr
    (project / "CMakeLists.txt").write_text(PROJECT)
    done = run(project, "build_ext", "--inplace")
    assert done.returncode == 0 and "CMake Warning" not in done.stderr, done.stdout + done.stderr
    assert (project / "src" / "package" / "libsetup_op.so").is_file()
    assert (project / "src" / "package" / "setup_op.recipe.json").is_file()
    done = run(project, "build", "--build-base", tmp_path / "build")
    assert done.returncode == 0, done.stdout + done.stderr
    (library,) = (tmp_path / "build").glob("lib*/package/libsetup_op.so")
    assert "$ORIGIN/../torch/lib" in subprocess.run(["readelf", "-d", library], capture_output=True, text=True).stdout
    (project / "op.cpp").write_text("int broken = nowhere;\n")
    done = run(project, "build_ext", "--inplace")
    assert done.returncode and "can't be built" in done.stderr and "was not declared" in done.stdout


def test_two_projects_of_one_name_and_what_they_install_besides(jit, tmp_path):  # noqa: F811
    pytest.importorskip("setuptools")
    project, copy = tmp_path / "ops", tmp_path / "copy"
    package = project / "src" / "package"
    package.mkdir(parents=True)
    for part, directory in (("first", project), ("second", project / "ops")):
        directory.mkdir(exist_ok=True)
        (directory / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(%s LANGUAGES CXX)\n"
            "find_package(CudaOps REQUIRED)\nfind_package(CudaTorchMatch REQUIRED)\ninclude(CTest)\n"
            "add_library(%s SHARED part.cpp)\nadd_library(more_%s SHARED part.cpp)\n"
            "install(TARGETS %s more_%s DESTINATION package)\n" % ((part,) * 5)
            + "if(BUILD_TESTING)\n  message(FATAL_ERROR tests)\nendif()\n"
        )
        (directory / "part.cpp").write_text("int part() { return 1; }\n")
    two = SETUP.replace('TorchOp("setup_op", ".")', 'TorchOp("first", "."), TorchOp("second", "ops")')
    (project / "setup.py").write_text(two)

    def build(project, *arguments):
        done = run(project, "build_ext", "--inplace", *arguments)
        assert done.returncode == 0 and "CMake Warning" not in done.stderr, done.stdout + done.stderr
        built = sorted(path.name for path in (project / "src" / "package").iterdir())
        assert built == ["libfirst.so", "libmore_first.so", "libmore_second.so", "libsecond.so"]

    build(project)
    # Brings build trees that CMake refuses.
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns("*.so"))
    (copy / "src" / "package").mkdir(exist_ok=True)
    build(copy)
    # So are those of another directory's project.
    (trees,) = (copy / "build").iterdir()
    for path in package.iterdir():
        path.unlink()
    build(project, "--build-temp", trees)

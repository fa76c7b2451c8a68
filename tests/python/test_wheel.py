# SPDX-License-Identifier: Apache-2.0
"""The wheel: what it holds, and that CMake finds the package in it the way scikit-build-core makes it look."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from conftest import REPOSITORY, execute


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    directory = tmp_path_factory.mktemp("wheel with blank")
    # A copy: a build must leave nothing in the checkout.
    source = directory / "source"
    source.mkdir()
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(REPOSITORY / name, source)
    for name in ("cmake", "kernels", "python"):
        shutil.copytree(REPOSITORY / name, source / name)
    ways = [
        (importlib.util.find_spec("hatchling"), [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]),
        (shutil.which("uv"), ["uv", "build", "--quiet", "--wheel", "--out-dir"]),
        (importlib.util.find_spec("pip"), [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", ".", "-w"]),
    ]
    for there, command in ways:
        if there:
            execute([*command, directory / "out"], cwd=source)
            return next((directory / "out").glob("*.whl"))
    pytest.skip("neither hatchling nor uv nor pip to build a wheel with")


def test_content(wheel):
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        text = {name.partition("dist-info/")[2]: archive.read(name).decode() for name in names if "dist-info/" in name}
    wanted = set()
    for folder, inside in (("cmake", "cudaops/cmake"), ("python/cudaops", "cudaops")):
        for file in (REPOSITORY / folder).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                wanted.add("%s/%s" % (inside, file.relative_to(REPOSITORY / folder)))
    for file in (REPOSITORY / "kernels").rglob("*"):
        if file.name == "ops.cmake" or (
            file.suffix in (".h", ".cuh", ".cu", ".cpp") and "torch" not in file.name
        ):
            wanted.add("cudaops/cmake/%s" % file.relative_to(REPOSITORY))
    # Those of an editable install.
    wanted -= {"cudaops/CudaOpsConfig.cmake", "cudaops/CudaOpsConfigVersion.cmake"}
    assert wanted == {name for name in names if "dist-info/" not in name}
    assert not [name for name in names if not name.startswith("cudaops") or "__pycache__" in name]
    assert "[cmake.root]\nCudaOps = cudaops" in text["entry_points.txt"]
    needed = [line for line in text["METADATA"].splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert not needed
    assert "\nLicense-Expression: Apache-2.0\n" in text["METADATA"]


def test_works_where_it_is_unpacked(wheel, tmp_path):
    """CudaOps_ROOT at the Python package (scikit-build-core) and at what --cmake-dir prints (people) both work."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    package = tmp_path / "cudaops"
    inside = execute([sys.executable, "-B", "-m", "cudaops", "--cmake-dir"], cwd=tmp_path).strip()
    assert inside == str(package / "cmake")
    assert (
        wheel.name.split("-")[1] == execute([sys.executable, "-B", "-m", "cudaops", "--version"], cwd=tmp_path).strip()
    )
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("no cmake")
    source = tmp_path / "project"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(wheel LANGUAGES NONE)\n"
        'find_package(CudaOps 0.1 REQUIRED)\nmessage(STATUS "found in [${CudaOps_DIR}]")\n'
        'message(STATUS "kernels in [${CudaOps_KERNELS_DIR}]")\n'
        # As the modules do it, with whatever Python they find.
        "_cudaops_use(base/programs)\n"
        '_cudaops_python_command(run "%s" inspect_library)\n'
        'execute_process(COMMAND ${run} --needed "%s" OUTPUT_VARIABLE needed COMMAND_ERROR_IS_FATAL ANY)\n'
        'message(STATUS "run [${run}] needed [${needed}]")\n' % (sys.executable, os.path.realpath(sys.executable))
    )
    for number, root in enumerate((package, inside)):
        command = [cmake, "-S", source, "-B", tmp_path / str(number), "-DCudaOps_ROOT=%s" % root]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        assert "-- found in [%s]\n" % inside in done.stdout
        assert "-- kernels in [%s/kernels]\n" % inside in done.stdout
        assert re.search(r"-- run \[.*;%s/_run\.py;inspect_library\] needed \[.*libc\." % re.escape(str(package)), done.stdout)
    assert not list(package.rglob("__pycache__"))

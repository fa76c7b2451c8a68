# SPDX-License-Identifier: Apache-2.0
"""docs/: what is said of setup.py is what `cudaops port` prints, and CMake takes every cmake block."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import REPOSITORY
from test_port import ATEN, IMPORTS, STABLE

from cudaops.port import port

PAGE = REPOSITORY / "docs" / "porting.md"
# The page's blocks begin behind these lines.
HEAD = IMPORTS + "this_dir = os.path.dirname(os.path.abspath(__file__))\n"
BLOCK = re.compile(r"(<!-- by itself -->\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Each is a line of the report.
OP = re.compile(r"^(?:add_torch_op|cudaops_add_kernels)\(", re.MULTILINE)


def blocks():
    """[(Python text or None, cmake text)]"""
    found, waiting = [], None
    for alone, language, content in BLOCK.findall(PAGE.read_text()):
        if language == "python":
            assert waiting is None, "two python blocks in a row"
            waiting = content
        elif language == "cmake":
            assert bool(alone) == (waiting is None), "a cmake block without its setup.py: " + content
            found.append((waiting, content))
            waiting = None
    assert waiting is None and len(found) > 6
    return found


def write_sources(directory, cmake):
    """The files that a block names, with includes of its ABI."""
    for name in re.findall(r"[\w/]+\.(?:cpp|cu)\b", cmake):
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ATEN if "ABI FULL" in cmake else STABLE)
    for name in re.findall(r"target_include_directories\(\w+ PRIVATE ([\w/]+)\)", cmake):
        (directory / name).mkdir(parents=True, exist_ok=True)


@pytest.mark.parametrize("pair", [pair for pair in blocks() if pair[0]], ids=lambda pair: pair[1].split("\n")[0])
def test_port_prints_it(pair, tmp_path):
    script, cmake = pair
    write_sources(tmp_path, cmake)
    (tmp_path / "setup.py").write_text(HEAD + script)
    content, _ = port(str(tmp_path / "setup.py"))
    printed = content.partition("find_package(CudaTorchMatch REQUIRED)\n\n")[2]
    # The page shows the block alone: its lines have other numbers.
    assert re.sub(r"setup.py:\d+:", "setup.py:5:", printed) == cmake


def test_cmake_takes_it(tmp_path, torch_dir):
    cmake = shutil.which("cmake")
    if cmake is None or shutil.which("ninja") is None:
        pytest.skip("no cmake, or no ninja")
    top = [
        "cmake_minimum_required(VERSION 3.25)",
        "project(docs LANGUAGES CXX)",
        "find_package(CudaOps 0.1 REQUIRED)",
        "find_package(CudaTorchMatch REQUIRED)",
    ]
    for number, (_, content) in enumerate(blocks()):
        directory = tmp_path / str(number)
        directory.mkdir()
        write_sources(directory, content)
        # Where the machine has no CUDA, the page's ops for CUDA only are not available.
        if not os.environ.get("CUDACXX"):
            content = content.replace("  CUDA REQUIRED\n", "")
        (directory / "CMakeLists.txt").write_text(content)
        top.append("add_subdirectory(%d)" % number)
    (tmp_path / "CMakeLists.txt").write_text("\n".join(top) + "\n")
    settings = ["-DPython_EXECUTABLE=" + sys.executable, "-DCudaOps_ROOT=%s" % REPOSITORY]
    settings += ["-DCMAKE_CUDA_ARCHITECTURES=90-real", "-DMY_OPS_DEBUG=ON"]
    settings += [] if os.environ.get("CUDACXX") else ["-DCUDAOPS_BACKEND=CPU"]
    command = [cmake, "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", *settings]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert len(re.findall(r"^ +\w+ +(?:BUILT|CPU_ONLY|NOT_BUILT) ", done.stdout, re.MULTILINE)) == sum(len(OP.findall(content)) for _, content in blocks())


def test_links():
    """A relative link leads to a file of the repository, or to a heading of it."""
    for path in [*(REPOSITORY / "docs").rglob("*.md"), REPOSITORY / "README.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", path.read_text()):
            name, _, heading = target.partition("#")
            file = path.parent / name if name else path
            assert file.exists(), "%s: %s" % (path.name, target)
            if heading and file.suffix == ".md":
                titles = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
                made = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
                assert heading in made, "%s: %s" % (path.name, target)

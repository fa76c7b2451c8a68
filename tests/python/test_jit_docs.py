# SPDX-License-Identifier: Apache-2.0
"""docs/jit.md: its commands and calls exist, and its console blocks run in the order of the page."""

import inspect
import os
import re
import shlex
import sys

from conftest import REPOSITORY, execute
from jit_store import jit, plain  # noqa: F401

import cudaops

PAGE = (REPOSITORY / "docs" / "jit.md").read_text()


def test_commands_of_the_store_run_in_the_order_of_the_page(jit):  # noqa: F811
    jit.load("my_ext", jit.write("plain.cpp", plain("my_ext")))
    environment = {**os.environ, **jit.variables, "PYTHONPATH": str(REPOSITORY / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    commands = re.findall(r"^\$ python (-m cudaops cache .*)$", PAGE, re.MULTILINE)
    assert len(commands) == 6
    for command in commands:
        execute([sys.executable, *shlex.split(command)], env=environment, cwd=jit.directory)


def test_names_on_the_page_exist():
    names = set(re.findall(r"\bcudaops\.(\w+)\b", PAGE)) - {"md"}
    assert len(names) > 6
    for name in names:
        assert hasattr(cudaops, name), name
    for variable in set(re.findall(r"\bCUDAOPS_[A-Z_]+\b", PAGE)):
        assert any(variable in path.read_text() for path in (REPOSITORY / "python" / "cudaops" / "jit").glob("*.py")), variable


def test_keywords_on_the_page_are_those_of_the_functions():
    parameters = {name for function in (cudaops.load, cudaops.load_inline) for name in inspect.signature(function).parameters}
    for name in ("headers", "reload", "policy", "extra_cuda_cflags", "build_directory", "functions", "cpp_sources", "use_pch"):
        assert name in parameters and re.search(r"`%s\b" % name, PAGE), name
    assert {"fallback", "required", "schemas"} <= set(inspect.signature(cudaops.OpLibrary).parameters)

# SPDX-License-Identifier: Apache-2.0
"""Cases of headers="fast", with the fixtures of tests/python."""

import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PYTHON_TESTS = HERE.parent / "python"
sys.path[:0] = [str(HERE), str(PYTHON_TESTS)]
specification = importlib.util.spec_from_file_location("python_conftest", PYTHON_TESTS / "conftest.py")
shared = importlib.util.module_from_spec(specification)
specification.loader.exec_module(shared)
globals().update({name: value for name, value in vars(shared).items() if not name.startswith("__")})

# SPDX-License-Identifier: Apache-2.0
"""The same functions with torch's headers and with the fast ones, called alike: what they do must not differ."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
# The compile with torch's headers takes a minute of CPU time, once: the compiler cache has it then.
PYTHONS = [path for path in os.environ.get("CUDAOPS_TEST_TORCHES", "").split(":") if path] or [sys.executable]


@pytest.mark.parametrize("python", PYTHONS if os.environ.get("CUDAOPS_TEST_LONG") else PYTHONS[:1])
def test_what_functions_do_is_the_same_as_with_torchs_headers(python):
    torch = subprocess.run([python, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True)
    if torch.returncode or tuple(map(int, torch.stdout.split(".")[:2])) < (2, 10):
        pytest.skip("no torch of 2.10 or later in " + python)
    # Nothing here is CUDA's: a torch for another toolkit will do.
    environment = {**os.environ, "CUDAOPS_VERSION_POLICY": "WARN"}
    done = subprocess.run([python, HERE / "compare.py"], capture_output=True, text=True, env=environment)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["headers"] == ["full", "fast"], done.stderr
    assert found["calls"] > 2000
    kilobytes, references, holders = found["leaked"]
    assert kilobytes < 4000
    assert (references, holders) == (0, 0)
    assert found["differences"] == []
    assert found["texts"] == []
    assert done.returncode == 0

# SPDX-License-Identifier: Apache-2.0
"""cudaops.trace of a reference op: its kernel, its bytes, and a bandwidth that agrees with CUDA's events."""

import json
import os
import sys
import tempfile

from kernel_testing import kernels, main, normal
from kernel_testing import pytest_generate_tests  # noqa: F401

import torch

sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "python"))

import cudaops  # noqa: E402

CALLS = 10


def microseconds(function):
    """Of CALLS calls, on the GPU."""
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(CALLS):
        function()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) * 1e3


def test_names_the_op_its_kernel_and_its_bytes(device):
    rows = 1 << 14 if device == "cuda" else 16
    input = normal(rows, 4096, dtype=torch.float32, device=device)
    kernels.transpose(input)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "out.json")
        with cudaops.trace(path) as trace:
            for _ in range(CALLS):
                kernels.transpose(input)
        with open(path, encoding="utf-8") as file:
            names = [event.get("name", "") for event in json.load(file)["traceEvents"]]
    (row,) = trace.rows
    assert row["op"].startswith("cudaops::") and "transpose" in row["op"], row
    assert row["calls"] == CALLS and row["bytes"] == CALLS * 2 * input.numel() * 4, row
    assert row["op"] in names
    if device == "cpu":
        assert row["kernel"] is None, row
        return
    assert "transpose" in row["kernel"] and row["kernel"] in names, row
    wanted = row["bytes"] / microseconds(lambda: kernels.transpose(input)) / 1e3
    assert 0.8 < row["gb_per_s"] / wanted < 1.25, (row, wanted)


if __name__ == "__main__":
    main(globals())

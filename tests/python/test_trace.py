# SPDX-License-Identifier: Apache-2.0
"""cudaops.trace: the file, the table, and whose bytes are known."""

import json

import pytest
from conftest import run_python

from cudaops import _trace

PROGRAM = """
import torch, cudaops

@torch.library.custom_op("trace_ops::scale", mutates_args=())
def scale(x: torch.Tensor, factor: float, dims: list[int], exact: bool = True) -> torch.Tensor:
    return torch.add(x * factor, 1)

@scale.register_fake
def _(x, factor, dims, exact=True):
    return torch.empty_like(x)

@torch.library.custom_op("trace_ops::increment", mutates_args={"x"})
def increment(x: torch.Tensor, other: torch.Tensor | None) -> None:
    x.add_(1)

torch.library.define("trace_ops::no_fake", "(Tensor x) -> Tensor")
torch.library.impl("trace_ops::no_fake", "CPU", lambda x: x.clone())

x = torch.ones(1000, dtype=torch.bfloat16)
with cudaops.trace(PATH) as trace:
    scale(x, 2.5, [1, 2])
    scale(x[:500], 2.5, [1, 2])
    increment(x, None)
    torch.ops.trace_ops.no_fake(x)
    torch.nn.functional.linear(torch.ones(4, 5), torch.ones(6, 5))
found = {row["op"]: (row["calls"], row["bytes"]) for row in trace.rows}
assert found["trace_ops::scale"] == (2, 2 * 2 * 1500), found
assert found["trace_ops::increment"] == (1, 2 * 2 * 1000), found
assert found["trace_ops::no_fake"] == (1, None), found
assert found["aten::linear"] == (1, None), found
assert not {"aten::add", "aten::addmm"} & set(found), found
assert all(row["kernel"] is None and row["total_us"] > 0 for row in trace.rows)
try:
    with cudaops.trace(PATH + ".failed"):
        raise KeyError("mine")
except KeyError:
    pass
try:
    cudaops.trace(PATH + "/nowhere/out.json")
except ValueError as error:
    print(error)
try:
    cudaops.trace(DIRECTORY)
except ValueError as error:
    print(error)
for path in ("", None, 3):
    try:
        cudaops.trace(path)
    except ValueError as error:
        print(error)
with torch.profiler.profile() as outer:
    try:
        with cudaops.trace(PATH + ".inner"):
            pass
    except RuntimeError as error:
        print(error)
    torch.ones(3)
assert "aten::ones" in [event.key for event in outer.key_averages()], "the first profiler goes on"
with cudaops.trace(PATH + ".empty"):
    pass
"""


def test_operators_on_the_cpu(torch_dir, tmp_path):
    code, out, err = run_python("-c", "PATH, DIRECTORY = %r, %r\n" % (str(tmp_path / "out.json"), str(tmp_path)) + PROGRAM)
    assert code == 0 and "Warning" not in err, err
    assert "trace: %s (opens in" % (tmp_path / "out.json") in out and "trace_ops::scale, on the CPU" in out
    assert "cudaops.trace: there is no directory %s/out.json/nowhere. Fix: make it" % tmp_path in out
    assert "cudaops.trace: %s is a directory. Fix: %s/out.json\n" % (tmp_path, tmp_path) in out
    assert all("cudaops.trace: the path is %s. Fix: with cudaops.trace(" % path in out for path in ("''", "None", "3"))
    assert "cudaops.trace: a profiler of torch's is running already. Fix: one trace" in out
    assert out.endswith("perfetto.dev)\n  no operator was called\n")
    assert {path.name for path in tmp_path.iterdir()} == {"out.json", "out.json.empty"}, "no part of a file is left"
    assert any(event.get("name") == "trace_ops::scale" for event in json.loads((tmp_path / "out.json").read_text())["traceEvents"])


def call(name, number, start, duration, tid=1):
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": tid, "ts": start, "dur": duration, "args": {"External id": number}}


def kernel(name, number, duration, cat="kernel"):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": 500, "dur": duration, "args": {"External id": number}}


EVENTS = [
    call("aten::linear", 1, 0, 100),
    call("aten::addmm", 2, 10, 50),
    kernel("gemm", 2, 30),
    # A public operator, its twin below autograd, and one of torch's that it calls.
    call("my_ops::norm", 3, 200, 100),
    call("my_ops::_norm", 4, 210, 80),
    call("aten::zero_", 5, 220, 10),
    kernel("Memset", 5, 2, cat="gpu_memset"),
    kernel("norm_kernel", 4, 8),
    call("my_ops::norm", 6, 400, 100),
    call("my_ops::_norm", 7, 410, 80),
    kernel("norm_kernel", 7, 10),
    # Another thread, and a function of autograd's that isn't an operator.
    call("autograd::engine::evaluate_function: NormBackward", 8, 200, 100, tid=2),
    call("aten::mul", 9, 210, 10, tid=2),
    kernel("mul_kernel", 9, 5),
    kernel("nobody's", 99, 1),
    {"ph": "M", "name": "process_name"},
]


def test_kernels_belong_to_the_innermost_operator_that_was_added():
    rows = _trace.make_rows(EVENTS, lambda call: {"my_ops::_norm": 1000}.get(call.name))
    found = {(row["op"], row["kernel"]): (row["calls"], row["total_us"], row["bytes"]) for row in rows}
    assert found == {
        ("aten::linear", "gemm"): (1, 30, None),
        ("my_ops::_norm", "norm_kernel"): (2, 18, 2000),
        ("my_ops::_norm", "Memset"): (1, 2, 2000),
        ("aten::mul", "mul_kernel"): (1, 5, None),
        ("", "nobody's"): (1, 1, None),
    }
    (norm,) = [row for row in rows if row["kernel"] == "norm_kernel"]
    assert norm["gb_per_s"] == pytest.approx(2000 / 20 / 1e3), "bytes of all calls, over all kernels of theirs"
    assert [row["total_us"] for row in rows] == sorted((row["total_us"] for row in rows), reverse=True)
    lines = _trace.table("out.json", rows).splitlines()
    assert lines[2].split() == ["1", "0.030", "30.0", "aten::linear,", "gemm"]


def test_one_call_whose_bytes_are_not_known_leaves_none():
    answers = iter([1000, None])
    rows = _trace.make_rows(EVENTS, lambda call: next(answers))
    assert {row["bytes"] for row in rows} == {None}

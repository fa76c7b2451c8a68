# SPDX-License-Identifier: Apache-2.0
"""bench/kernels/rivals.py: every op of its table agrees with its rivals, on tiny shapes."""

import dataclasses
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from unittest import mock

import kernel_testing  # noqa: F401  (first: the library)
import torch
from kernel_testing import main
from kernel_testing import pytest_generate_tests  # noqa: F401
from torch.nn import functional as F

BENCH = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "bench", "kernels")
sys.path.insert(0, BENCH)

import rival_ops  # noqa: E402
import rivals  # noqa: E402

LIBRARY = os.environ["CUDAOPS_CUDAOPS_KERNELS_LIBRARY"]


def program(*arguments):
    """(exit code, stdout and stderr)"""
    done = subprocess.run(
        [sys.executable, os.path.join(BENCH, "rivals.py"), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def registered():
    """The table without ops that this library doesn't have."""
    table = rival_ops.OPS
    return {name: op for name, op in table.items() if hasattr(kernel_testing.ops, op.op)}


def test_every_op_agrees(device):
    with tempfile.TemporaryDirectory() as folder:
        code, output = program(
            "--device", device, "--quick", "--library", LIBRARY, "--commit", "0123", "--out", folder
        )
        assert code == 0, output
        with open(os.path.join(folder, "cpu.json"), encoding="utf-8") as stream:
            document = json.load(stream)["rivals"]
    assert list(document["ops"]) == list(registered())
    for name, report in document["ops"].items():
        op = rival_ops.OPS[name]
        ways = set(op.torch) if isinstance(op, rival_ops.Optimizer) else {"eager", "compile"}
        assert report["torch"] and report["date"] and report["commit"] == "0123"
        names = [case["name"] for case in report["cases"]]
        assert len(names) == len(set(names)) >= len(op.dtypes) * len(op.quick)
        assert names[0].startswith(f"{name}<{op.dtypes[0]}>/{op.sides[0]}:")
        for case in report["cases"]:
            assert "failed" not in case, case
            assert set(case["us"]) == set(case["TB/s"]) == {rivals.OURS, *ways}, case
            assert set(case["host_us"]) == set(case["us"]) and min(case["host_us"].values()) > 0
            assert set(case["ratio"]) == ways, case
            assert case["bytes"] > 0


def test_names_are_those_of_the_benchmarks(device):
    """A name of the table is a function of some benchmark program, so that figures meet."""
    text = ""
    for file in os.listdir(BENCH):
        if file.endswith("_benchmark.cpp"):
            with open(os.path.join(BENCH, file), encoding="utf-8") as stream:
                text += stream.read()
    for name, op in registered().items():
        for dtype in op.dtypes:
            assert f"BENCHMARK({name}<{dtype}>)" in text, (name, dtype)
        if getattr(op, "backward", None):
            assert f"BENCHMARK({name}_backward<{op.dtypes[0]}>)" in text, name


def measured(op, device, *arguments):
    """The report of an op that is not in the table."""
    options = rivals.parser().parse_args(["--device", device, "--quick", "--library", LIBRARY, *arguments])
    table = rival_ops.OPS
    with tempfile.TemporaryDirectory() as folder:
        options.part = os.path.join(folder, "part.json")
        rival_ops.OPS = {"tried": op}
        try:
            rivals.measure_op("tried", options)
        finally:
            rival_ops.OPS = table
        with open(options.part, encoding="utf-8") as stream:
            return {"seconds": 1.0, **json.load(stream)}


def test_a_wrong_result_gets_no_figure(device):
    right = dataclasses.replace(rival_ops.OPS["swiglu"], dtypes=("float",), quick=((3, 8),))

    def wrong_gradient(gate, up):
        output = right.ours(gate, up)
        return output + (output - output.detach())  # the same value, twice the slope

    for function in (lambda gate, up: right.ours(up, gate), wrong_gradient):
        cases = measured(dataclasses.replace(right, ours=function), device)["cases"]
        assert len(cases) == 2  # forward and backward
        for case in cases:
            assert set(case["us"]) == {"eager", "compile"} and "ratio" not in case
            assert "result 0 is wrong: relative error" in case["failed"][rivals.OURS]
        assert len(rivals.failures({"ops": {"tried": {"cases": cases}}})) == 2


def test_packages(device):
    """One that writes over its inputs gets copies and has no gradient; one that isn't here is named."""
    import torch.nn.functional as F

    missing = {"vllm": "ModuleNotFoundError: No module named 'vllm'"}
    writes = rival_ops.Other(lambda m, gate, up: gate.copy_(m.silu(gate) * up), writes=True)
    absent = rival_ops.Other(lambda m, gate, up: m.swiglu(gate, up))
    op = dataclasses.replace(
        rival_ops.OPS["swiglu"],
        dtypes=("float",),
        quick=((3, 8),),
        others={"liger": writes, "vllm": absent},
    )
    with mock.patch.object(rival_ops, "modules", lambda names: ({"liger": F}, missing)):
        report = measured(op, device)
    assert report["missing"] == missing
    assert report["versions"] == {"liger": torch.__version__}
    ways = [set(case["us"]) for case in report["cases"]]
    assert ways == [{rivals.OURS, "eager", "compile", "liger"}, {rivals.OURS, "eager", "compile"}]
    assert not any("failed" in case for case in report["cases"])


def test_an_op_imports_the_packages_that_it_calls(device):
    imported = []

    def import_module(name):
        imported.append(name)
        if name == rival_ops.PACKAGES["vllm"][1]:
            raise ImportError("not for\n this torch")
        return F

    rival_ops.module.cache_clear()
    with mock.patch.object(rival_ops.importlib, "import_module", import_module):
        found, missing = rival_ops.modules(rival_ops.OPS["rope"].others)
        assert rival_ops.modules(()) == ({}, {})
    rival_ops.module.cache_clear()
    assert imported == [rival_ops.PACKAGES[name][1] for name in ("flashinfer", "vllm")]
    assert found == {"flashinfer": F} and missing == {"vllm": "ImportError: not for this torch"}


def test_cases_of_shares_are_those_of_one_process(device):
    op = dataclasses.replace(rival_ops.OPS["swiglu"], dtypes=("float",), quick=((3, 8), (5, 33), (2, 7)))
    with tempfile.TemporaryDirectory() as folder:
        turns = ["--turns", os.path.join(folder, "turns")]
        shares = [measured(op, device, *turns, "--shares", "2", "--share", str(share)) for share in (0, 1)]
    assert [len(share["cases"]) for share in shares] == [4, 2]  # forward and backward of each
    whole = rivals.joined([measured(op, device)])
    assert [c["name"] for c in rivals.joined(shares)["cases"]] == [c["name"] for c in whole["cases"]]
    late = {"cases": [], "seconds": 9.0, "failed": "ran past 9 s"}  # ended before it had written
    report = rivals.joined([late, shares[0], late])
    assert report["failed"] == "ran past 9 s" and report["versions"] == shares[0]["versions"]


def test_one_is_timed_alone_and_before_others_prepare(device):
    order = []

    def run(what, entered, leave):
        turns = rivals.Turns(path)
        with turns.alone() if what.startswith("alone") else turns.preparing():
            order.append(what)
            entered.set()
            leave.wait(10)

    def start(what):
        entered, leave = threading.Event(), threading.Event()
        thread = threading.Thread(target=run, args=(what, entered, leave))
        thread.start()
        return entered, leave, thread

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "turns")
        first, second = start("preparing 1"), start("preparing 2")
        assert first[0].wait(10) and second[0].wait(10)  # side by side
        alone = start("alone")
        end = time.monotonic() + 10
        while not is_locked(path + ".waiting"):
            assert time.monotonic() < end
            time.sleep(0.001)
        third = start("preparing 3")
        first[1].set()
        assert not alone[0].wait(0.02) and not third[0].is_set()
        second[1].set()
        assert alone[0].wait(10) and not third[0].wait(0.02)
        for _, leave, thread in (alone, third, first, second):
            leave.set()
            thread.join()
    assert order[2:] == ["alone", "preparing 3"]


def is_locked(path):
    with open(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_sizes_stand_side_by_side(device):
    document = {}
    with mock.patch.object(rivals.result_file, "machine", dict):
        for sizes in (["--sizes", "few"], []):
            arguments = ["--device", device, "--quick", "--library", LIBRARY, "--ops", "transpose"]
            options = rivals.parser().parse_args(arguments + sizes)
            rivals.measure(options, document, lambda: None, commit="0123")
    assert list(document["rivals"]["ops"]) == ["transpose, few", "transpose"]


def test_help_and_misuse(device):
    code, output = program("--help")
    assert code == 0 and "--compile-seconds" in output and "--child" not in output
    for arguments, sentence in (
        (["--library", ""], "rivals.py: which library? --library <libcudaops_kernels.so>\n"),
        (
            ["--device", device, "--library", LIBRARY, "--sizes", "tiny"],
            "rivals.py: --sizes: found tiny, wanted some of small, medium, large, awkward, more, few, few_more\n",
        ),
    ):
        code, output = program(*arguments)
        assert (code, output) == (1, sentence), output
    options = rivals.parser().parse_args(["--ops", "rms_norm,rsm_norm"])
    try:
        found = rivals.chosen(options, rival_ops, kernel_testing.ops)
    except SystemExit as stop:
        found = str(stop)
    assert found == f"rivals.py: --ops: found rsm_norm, wanted some of {', '.join(rival_ops.OPS)}"


if __name__ == "__main__":
    main(globals())

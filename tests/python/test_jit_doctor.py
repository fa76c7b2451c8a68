# SPDX-License-Identifier: Apache-2.0
"""python -m cudaops doctor and report."""

import json
import os
import shutil
import sys
import types

import pytest
from conftest import run_python
from jit_store import jit  # noqa: F401

from cudaops.jit import build, doctor, errors, failure, memory, publish

RECIPE = {
    "format": 1,
    "cudaops": "0.1.0",
    "name": "my_ops",
    "project": "my_ops",
    "abi": "STABLE",
    "torch_target": "",
    "cuda": "",
    "python_module": "",
    "python_target": "",
    "cuda_cubins": False,
    "architectures": [],
    "sources": ["source/my_ops.cpp"],
    "cuda_sources": [],
    "include_directories": [],
    "compile_definitions": [],
    "compile_options": [],
    "link_options": [],
    "link_libraries": [],
    "properties": {},
    "schemas": {"my_ops": ["same(Tensor a) -> Tensor"]},
    "files": {},
}


def found(findings, topic):
    return [(finding["level"], finding["text"], finding["fix"]) for finding in findings if finding["topic"] == topic]


@pytest.fixture
def examined(monkeypatch):
    """Findings of one examination."""

    def examine(part, **variables):
        for name in ("MAX_JOBS", *doctor.USELESS):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        made = doctor.Doctor()
        getattr(made, part)()
        return made.findings

    return examine


def test_variables_that_do_nothing_are_named(examined):
    findings = examined("environment", NVCC="ccache nvcc", TORCH_CUDA_INCREMENTAL="1")
    assert [finding["text"] for finding in findings] == ["NVCC=ccache nvcc does nothing", "TORCH_CUDA_INCREMENTAL=1 does nothing"]
    assert findings[0]["fix"] == "CUDACXX=<nvcc>, or PYTORCH_NVCC"
    assert examined("environment") == []


@pytest.mark.parametrize("jobs, gib, level, fix", [(None, 64, "ok", None), (None, 1, "warning", "MAX_JOBS=1"), ("99", 999, "warning", "MAX_JOBS="), ("4", 2, "warning", "MAX_JOBS=1")])
def test_jobs_are_compared_with_cores_and_memory(examined, monkeypatch, jobs, gib, level, fix):
    monkeypatch.setattr(doctor.os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(memory, "free_bytes", lambda: gib << 30)
    ((said, text, cure),) = found(examined("jobs", **({"MAX_JOBS": jobs} if jobs else {})), "jobs")
    assert said == level and "2 cores, %d.0 GiB of memory free" % gib in text
    assert cure is None if fix is None else cure.startswith(fix)


def test_a_python_without_torch_is_told_to_install_it(examined, monkeypatch, tmp_path):
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None)
    ((level, text, fix),) = found(examined("torch"), "torch")
    assert (level, text) == ("error", "this Python has none: " + sys.executable)
    assert fix == sys.executable + " -m pip install torch"
    monkeypatch.undo()
    assert examined("torch") == []
    (tmp_path / "torch").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert found(examined("torch"), "torch") == [(level, text, fix)]


def test_missing_ninja_is_an_error_with_the_line_to_type(examined, monkeypatch):
    def missing(_):
        raise errors.BuildError("", "there is no ninja")

    monkeypatch.setattr(build, "tools", missing)
    assert found(examined("programs"), "cmake") == [("error", "there is no ninja", 'pip install "cudaops[jit]"')]


def test_store_that_cannot_be_used_is_a_warning(examined, jit, monkeypatch):  # noqa: F811
    publish.prepare(str(jit.root))
    os.chmod(jit.root, 0o777)
    ((level, text, fix),) = found(examined("store", CUDAOPS_STORE=str(jit.store)), "store")
    assert level == "warning" and "others can write" in text and fix.startswith("CUDAOPS_STORE=")
    os.chmod(jit.root, 0o700)
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: types.SimpleNamespace(free=1 << 20))
    assert found(examined("store", CUDAOPS_STORE=str(jit.store)), "store")[0][0] == "warning"


@pytest.mark.parametrize(
    "change, topic, level",
    [
        ({}, "match", "ok"),
        ({"verdict": "MISMATCH", "reason": "say so", "torch": {"cuda": "13.0"}}, "match", "warning"),
        ({"verdict": "CPU_TORCH", "reason": "say so", "reason_code": "CPU_TORCH"}, "match", "warning"),
        ({"architectures": {"resolved": ["80", "90", "100"], "source": "common"}}, "architectures", "warning"),
        ({"cache": {"launcher": "", "problem": "too old"}}, "compiler cache", "warning"),
        ({"cache": {"launcher": "ccache", "version": "4.9"}}, "compiler cache", "ok"),
    ],
)
def test_what_cmake_found_is_judged(change, topic, level):
    made = doctor.Doctor()
    made._report({"verdict": "EXACT", "architectures": {"resolved": ["90-real"], "source": "GPU"}, **change}, None)
    ((said, _, fix),) = found(made.findings, topic)
    assert said == level and (fix is not None) == (level == "warning") and "None" not in (fix or "")


def test_whole_examination_builds_an_op_and_its_exit_code_says_the_worst(jit):  # noqa: F811
    variables = {**jit.variables, "CUDAOPS_BACKEND": "CPU", "NVCC": "x"}
    code, out, err = run_python("-m", "cudaops", "doctor", "--json", **variables)
    findings = json.loads(out)
    assert code == 1, out + err
    topics = {finding["topic"]: finding for finding in findings}
    assert "None" not in out
    assert {"cmake", "ninja", "jobs", "store", "compile", "match", "host compiler", "architectures", "compiler cache"} <= set(topics)
    assert "with its objects cached" in topics["compile"]["text"] and topics["compile"]["level"] == "ok"
    assert jit.objects() == []


def test_broken_toolkit_is_told_though_an_op_for_the_cpu_is_built(examined, jit):  # noqa: F811
    nvcc = jit.write("toolkit/bin/nvcc", "#!/bin/sh\nexit 1\n")
    os.chmod(nvcc, 0o755)
    findings = examined("compile", CUDAToolkit_ROOT=str(jit.directory / "toolkit"), CUDACXX=nvcc)
    ((level, text, cure),) = found(findings, "CUDA")
    assert level == "warning" and "toolkit is broken" in text
    assert "an op for the CPU" in found(findings, "compile")[0][1]
    ((level, text, fix),) = found(findings, "match")
    assert level == "warning" and "toolkit at %s is broken" % (jit.directory / "toolkit") in text and fix == cure
    # Of the op that was built: the configure step that stopped has looked for no cache.
    assert shutil.which("ccache") is None or found(findings, "compiler cache")[0][0] == "ok"


def test_each_cure_of_a_message_is_told(monkeypatch, capsys):
    text = "my_ops can't be built.\n   Fix: A=<dir>   (a toolkit)\n        or B=C\n  log      /tmp/x"
    monkeypatch.setattr(doctor.Doctor, "run", lambda self: [{"level": "warning", "topic": "CUDA", "text": "none", "fix": doctor._fix(text)}])
    assert doctor.doctor(types.SimpleNamespace(json=False)) == 1
    assert capsys.readouterr().out.splitlines()[1:] == [" " * 25 + "Fix: A=<dir>   (a toolkit)", " " * 25 + "     or B=C"]


def test_fix_of_a_failed_trial_is_told(examined, jit, monkeypatch):  # noqa: F811
    def run(self):
        raise failure.error("cudaops_doctor", "there is no C++ compiler: none on PATH.", fix="CXX=<compiler>")

    monkeypatch.setattr(build.Build, "run", run)
    assert found(examined("compile"), "compile") == [("error", "there is no C++ compiler: none on PATH.", "CXX=<compiler>")]


def test_report_says_each_ops_state_and_why(jit, tmp_path):  # noqa: F811
    package = tmp_path / "site" / "package"
    (package / "my_ops.recipe" / "source").mkdir(parents=True)
    (package / "my_ops.recipe" / "source" / "my_ops.cpp").write_text("int broken = nowhere;\n")
    (package / "my_ops.recipe.json").write_text(json.dumps(RECIPE))
    (path,) = doctor.known_recipes([str(tmp_path / "site")])
    state = doctor.state_of(path)
    assert (state["name"], state["package"], state["state"], state["reason"]) == ("my_ops", "package", "TO BUILD", "not built yet")
    (package / "libmy_ops.so").write_text("no library")
    assert doctor.state_of(path)["state"] == "FAILED"
    (package / "my_ops.recipe.json").write_text("{}")
    assert doctor.state_of(path)["state"] == "FAILED" and "is no recipe" in doctor.state_of(path)["reason"]

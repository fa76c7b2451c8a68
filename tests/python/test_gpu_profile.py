# SPDX-License-Identifier: Apache-2.0
"""The targets <benchmark>.ncu and <benchmark>.nsys, with tools, a driver and a benchmark that stand for real ones."""

import json
import os
import subprocess
import sys

import pytest
from conftest import RUN

from cudaops import gpu_profile

BENCHMARK = """#!/bin/sh
test "$1" = --benchmark_list_tests=true && { printf 'square/1024\\nsquare/4096\\n'; exit 0; }
printf '0\\t8192\\t1024\\n1\\t32768\\t0\\n' > "$CUDAOPS_BENCHMARK_PROFILE"
echo "wrong result: out[3] is 7"
"""

# The last word is the program; the report follows -o. With --import it prints the page.
NCU = """#!/bin/sh
test "$1" = --import && { cat "$(dirname "$0")/page.csv"; exit 0; }
echo "$*" > "$(dirname "$0")/arguments"
for word in "$@"; do test "$last" = -o && report="$word"; last="$word"; done
"$last" || exit 1
%s
: > "$report"
"""

NSYS = """#!/bin/sh
test "$1" = stats && { echo " Time (%)  Name"; exit 0; }
for word in "$@"; do test "$last" = --output && report="$word"; last="$word"; done
"$last" && : > "$report"
"""


def page(rows):
    metrics = gpu_profile.METRICS
    head = ["ID", "Process Name", "Kernel Name", "1:<default domain>:Push/Pop", *metrics]
    units = ["", "", "", "", *("byte" for _ in metrics)]
    lines = [head, units] + [[str(i), "p", kernel, where, *values] for i, (kernel, where, values) in enumerate(rows)]
    return "==PROF== Connected\n" + "".join(",".join('"%s"' % cell for cell in line) + "\n" for line in lines)


# time ns, bytes, bytes/s, peak bytes/cycle, memory clock, theoretical, achieved, clock, ffma/cycle, fadd, fmul, ffma
VALUES = ["1,000", "8192", "8.192e9", "16", "1e9", "100", "81.25", "1.5e9", "128", "2", "0", "1"]
ROWS = [("square(float *)", '"cudaops case 0: square/1024"'.strip('"'), VALUES), ("square(float *)", "cudaops case 1: ", VALUES), ("fill()", "", VALUES)]


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    directory = tmp_path_factory.mktemp("driver")
    code = "int cuInit(unsigned f) { return 0; }\nint cuDeviceGetCount(int* n) { *n = 1; return 0; }\n"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", directory / "libcuda.so.1", "-x", "c", "-"], input=code, text=True, check=True)
    return directory


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def run(tmp_path, driver, tool, python=sys.executable, **variables):
    command = [python, *RUN, "gpu_profile", "--tool", tool, "--build", tmp_path, "--name", "bench", "--toolkit", tmp_path / "cuda"]
    environment = dict(os.environ, PATH="/usr/bin:/bin", LD_LIBRARY_PATH=str(driver), **variables)
    done = subprocess.run([*command, tmp_path / "program"], env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_ncu_runs_each_case_once_and_names_it(tmp_path, driver):
    write(tmp_path / "program", BENCHMARK)
    write(tmp_path / "cuda/bin/ncu", NCU % "")
    (tmp_path / "cuda/bin/page.csv").write_text(page(ROWS))
    code, out, err = run(tmp_path, driver, "ncu")
    assert (code, err) == (0, "")
    arguments = (tmp_path / "cuda/bin/arguments").read_text()
    for option in ("--profile-from-start off", "--nvtx", "--import-source yes", "--clock-control none", "--target-processes all"):
        assert option in arguments
    lines = out.splitlines()
    # 8.192 GB/s of 16 bytes in each of 10^9 cycles a second.
    assert lines[1].split() == ["1.0", "81.2", "100.0", "8.2", "51.2", "square/1024,", "square(float", "*)"]
    assert lines[2].endswith("  square/4096, square(float *)") and lines[3].endswith("  fill()")
    assert (tmp_path / "bench.ncu/bench.ncu-rep").exists()
    assert lines[-1].startswith("no roofline: ") or (tmp_path / "bench.ncu/roofline.png").exists()
    assert not [path for path in (tmp_path / "bench.ncu").iterdir() if path.is_dir()], "nothing unfinished is left"


def test_roofline_takes_the_operations_of_the_case_or_those_counted(tmp_path):
    rows = gpu_profile.read_rows(page(ROWS))
    facts = gpu_profile.roofline(rows, [("square/1024", 8192, 1024), ("square/4096", 32768, 0)])
    first, second, third = facts["points"]
    assert (first["name"], first["x"], first["y"]) == ("square/1024", 1024 / 8192, 1024 / 1000 * 1e9)
    # (2 additions + 2 * 1 fused ones) in each of 1500 cycles
    assert second["y"] == pytest.approx(4 * 1500 / 1000 * 1e9) and third["name"] == "fill()"
    assert (facts["bytes_per_s"], facts["flops_per_s"]) == (16e9, 2 * 128 * 1.5e9)
    (tmp_path / "data.json").write_text(json.dumps({"title": "bench", **facts}))
    python, path = os.environ.get("CUDAOPS_TEST_PLOT_PYTHON"), os.environ.get("CUDAOPS_TEST_PLOT_PATH")
    if not python or not os.path.isdir(path):
        pytest.skip("no matplotlib")
    program = os.path.join(os.path.dirname(gpu_profile.__file__), "roofline.py")
    command = [python, "-B", program, tmp_path / "data.json", tmp_path / "roofline.png"]
    done = subprocess.run(command, env=dict(os.environ, PYTHONPATH=path), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "roofline.png").read_bytes()[:4] == b"\x89PNG"


def test_missing_permission_and_missing_tool_are_said_with_their_cure(tmp_path, driver):
    write(tmp_path / "program", BENCHMARK)
    code, out, err = run(tmp_path, driver, "ncu")
    assert (code, out) == (1, "") and err.startswith("bench.ncu: ncu was not found in %s/cuda/bin and PATH: it comes with" % tmp_path)
    write(tmp_path / "cuda/bin/ncu", NCU % 'echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission"; exit 9')
    code, out, err = run(tmp_path, driver, "ncu")
    assert (code, out) == (1, "") and "only root may read this GPU's counters (ERR_NVGPUCTRPERM)." in err
    assert "Fix: sudo -E cmake --build %s --target bench.ncu" % tmp_path in err and "NVreg_RestrictProfilingToAdminUsers=0" in err
    assert list((tmp_path / "bench.ncu").iterdir()) == []


def test_benchmark_that_fails_leaves_no_report(tmp_path, driver):
    write(tmp_path / "program", BENCHMARK + "exit 1\n")
    write(tmp_path / "cuda/bin/ncu", NCU % "")
    code, out, err = run(tmp_path, driver, "ncu")
    assert (code, out) == (1, "") and "bench.ncu: the benchmark failed under ncu." in err and "wrong result: out[3] is 7" in err
    assert list((tmp_path / "bench.ncu").iterdir()) == []


def test_nsys_prints_its_tables(tmp_path, driver):
    write(tmp_path / "program", BENCHMARK)
    write(tmp_path / "cuda/bin/nsys", NSYS)
    code, out, err = run(tmp_path, driver, "nsys")
    assert (code, err) == (0, "") and out.startswith("Time (%)  Name\n") and (tmp_path / "bench.nsys/bench.nsys-rep").exists()

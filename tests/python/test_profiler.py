# SPDX-License-Identifier: Apache-2.0
"""The targets <benchmark>.ncu and <benchmark>.nsys, with tools, a driver and a benchmark that stand for real ones."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import RUN

from cudaops.nvidia_tools import profiler

BENCHMARK = """#!/bin/sh
test "$1" = --benchmark_list_tests=true && { printf 'square/1024/iterations:1/manual_time\\nsquare/4096\\n'; exit 0; }
printf '0\\t8192\\t1024\\n1\\t32768\\t0\\n' > "$CUDAOPS_BENCHMARK_PROFILE"
echo "wrong result: out[3] is 7"
"""

# The last word is the program; the report follows -o. With --import it prints the page.
NCU = """#!/bin/sh
test "$1" = --import && case "$*" in *sass) cat "$(dirname "$0")/sass.csv";; *) cat "$(dirname "$0")/page.csv";; esac && exit 0
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
    metrics = profiler.METRICS
    head = ["ID", "Process Name", "Kernel Name", "1:<default domain>:Push/Pop", *metrics]
    units = ["", "", "", "", *("byte" for _ in metrics)]
    lines = [head, units] + [[str(i), "p", kernel, where, *values] for i, (kernel, where, values) in enumerate(rows)]
    return "==PROF== Connected\n" + "".join(",".join('"%s"' % cell for cell in line) + "\n" for line in lines)


# time ns, bytes, bytes/s, peak bytes/cycle, memory clock, theoretical, achieved, conflicts, clock, ffma/cycle, fadd, fmul, ffma
VALUES = ["1,000", "8192", "8.192e9", "16", "1e9", "100", "81.25", "31", "1.5e9", "128", "2", "0", "1"]
ROWS = [("square(float *)", '"cudaops case 0: square/1024"'.strip('"'), VALUES), ("square(float *)", "cudaops case 1: ", VALUES), ("unnamed>::fill()", "", VALUES)]


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
    command = [python, *RUN, "nvidia_tools.profiler", "--tool", tool, "--build", tmp_path, "--name", "bench", "--toolkit", tmp_path / "cuda"]
    environment = dict(os.environ, PATH="/usr/bin:/bin", LD_LIBRARY_PATH=str(driver), **variables)
    done = subprocess.run([*command, tmp_path / "program"], env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_ncu_runs_each_case_once_and_names_it(tmp_path, driver):
    write(tmp_path / "program", BENCHMARK)
    write(tmp_path / "cuda/bin/ncu", NCU % "")
    (tmp_path / "cuda/bin/page.csv").write_text(page(ROWS))
    sass = '"Kernel Name","square(float *)",\n"Address","Source","L1 Wavefronts Shared Excessive"\n"0x7f10","LDS","31"\n'
    (tmp_path / "cuda/bin/sass.csv").write_text(sass)
    code, out, err = run(tmp_path, driver, "ncu")
    assert (code, err) == (0, "") and "bank conflicts: 31 excessive wavefronts in square(float *), an instruction at +0x0" in out
    arguments = (tmp_path / "cuda/bin/arguments").read_text()
    for option in ("--profile-from-start off", "--nvtx", "--import-source yes", "--clock-control none", "--target-processes all"):
        assert option in arguments
    lines = out.splitlines()
    # 8.192 GB/s of 16 bytes in each of 10^9 cycles a second.
    assert lines[1].split() == ["1.0", "81.2", "100.0", "8.2", "51.2", "31", "square/1024,", "square(float", "*)"]
    assert lines[2].endswith("  square/4096, square(float *)") and lines[3].endswith("  fill()")
    assert (tmp_path / "bench.ncu/bench.ncu-rep").exists()
    assert lines[-1].startswith("no roofline: ") or (tmp_path / "bench.ncu/roofline.png").exists()
    assert not [path for path in (tmp_path / "bench.ncu").iterdir() if path.is_dir()], "nothing unfinished is left"


def test_roofline_takes_the_operations_of_the_case_or_those_counted(tmp_path):
    rows = profiler.read_rows(page(ROWS))
    facts = profiler.roofline(rows, [("square/1024", 8192, 1024), ("square/4096", 32768, 0)])
    first, second, third = facts["points"]
    assert (first["name"], first["x"], first["y"]) == ("square/1024", 1024 / 8192, 1024 / 1000 * 1e9)
    # (2 additions + 2 * 1 fused ones) in each of 1500 cycles
    assert second["y"] == pytest.approx(4 * 1500 / 1000 * 1e9) and third["name"] == "fill()"
    assert (facts["bytes_per_s"], facts["flops_per_s"]) == (16e9, 2 * 128 * 1.5e9)
    (tmp_path / "data.json").write_text(json.dumps({"title": "bench", **facts}))
    python, path = os.environ.get("CUDAOPS_TEST_PLOT_PYTHON"), os.environ.get("CUDAOPS_TEST_PLOT_PATH")
    if not python or not os.path.isdir(path):
        pytest.skip("no matplotlib")
    program = os.path.join(os.path.dirname(profiler.__file__), "roofline.py")
    command = [python, "-B", program, tmp_path / "data.json", tmp_path / "roofline.png"]
    done = subprocess.run(command, env=dict(os.environ, PYTHONPATH=path), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "roofline.png").read_bytes()[:4] == b"\x89PNG"


def test_missing_permission_and_missing_tool_are_said_with_their_cure(tmp_path, driver):
    write(tmp_path / "program", BENCHMARK)
    code, out, err = run(tmp_path, driver, "ncu")
    assert (code, out) == (1, "") and err.startswith("bench.ncu: ncu was not found.\n  searched  %s/cuda/bin\n            PATH\n            /" % tmp_path)
    assert re.search(r"/site-packages/nvidia/cu\*/bin\n Fix: apt-get install nsight-compute\n      conda install .*\n      or a whole CUDA toolkit", err)
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


def test_nsys_without_an_importer_leaves_what_it_recorded(tmp_path, driver):
    write(tmp_path / "program", BENCHMARK)
    importer = '"$last" && : > "${report%.nsys-rep}.qdstrm"; echo "Importer error status: An unknown error occurred."; exit 1\n'
    write(tmp_path / "cuda/bin/nsys", NSYS.replace('"$last" && : > "$report"\n', importer))
    code, out, err = run(tmp_path, driver, "nsys")
    kept = tmp_path / "bench.nsys/bench.qdstrm"
    assert (code, out) == (1, "") and kept.exists() and err == (
        "bench.nsys: this nsys makes no report of what it has recorded.\n  found     %s/cuda/bin/nsys\n  recorded  %s\n"
        " Fix: apt-get install nsight-systems\n      conda install -c conda-forge nsight-systems-cli\n"
        "      nsys-ui of another machine, which opens that file\n" % (tmp_path, kept)
    )
    assert os.listdir(tmp_path / "bench.nsys") == ["bench.qdstrm"]


def test_program_that_cannot_start_is_said_with_its_cure(tmp_path, driver):
    text = "#!/bin/sh\necho 'program: error while loading shared libraries: libbenchmark.so.1: cannot open' >&2; exit 127\n"
    write(tmp_path / "program", text)
    write(tmp_path / "cuda/bin/ncu", NCU % "")
    code, out, err = run(tmp_path, driver, "ncu")
    assert (code, out) == (1, "") and "the benchmark can't list its cases." in err and "libbenchmark.so.1" in err
    assert "Fix: LD_LIBRARY_PATH=<directory of that library>" in err


CONFLICT = """__global__ void turn(const float* in, float* out) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""


@pytest.mark.parametrize("listed, said", [
    ("echo 'Failed to match any benchmarks against regex: no(ne' >&2", "the benchmark has no such case.\n  found   BENCHMARK_FILTER=no(ne\n  Failed to match any"),
    ("echo 'SKIPPED: no GPU can be used here: driver too old'", "no GPU can be used here: driver too old.\n"),
])
def test_benchmark_without_a_case_is_not_profiled(tmp_path, driver, listed, said):
    write(tmp_path / "program", "#!/bin/sh\n%s\n" % listed)
    write(tmp_path / "cuda/bin/ncu", NCU % "")
    code, out, err = run(tmp_path, driver, "ncu", BENCHMARK_FILTER="no(ne")
    assert (code, out) == (1, "") and err.startswith("bench.ncu: " + said)
    assert not list((tmp_path / "bench.ncu").iterdir())


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("options", [[], ["-lineinfo"]])
def test_bank_conflict_has_its_line(tmp_path, options):
    (tmp_path / "turn.cu").write_text("namespace {\n" + CONFLICT + "}\nvoid f() { turn<<<1, dim3(32, 32)>>>(nullptr, nullptr); }\n")
    program = tmp_path / "turn.so"
    generate = "--generate-code=arch=compute_90,code=sm_90"
    subprocess.run(["nvcc", "-shared", "-Xcompiler=-fPIC", *options, generate, tmp_path / "turn.cu", "-o", program], check=True)
    tables = profiler.read_line_tables(str(program))
    ((name, size, lines),) = tables
    assert name == "turn" and bool(lines) == bool(options)
    # As ncu has it: each instruction; the load of the second line is the first after the barrier's.
    load = next((address for address, _, line in lines if line == 6), 0x90)
    code = ['"0x%x","LDS","%d"' % (0x7F1000 + 16 * i, 992 if 16 * i == load else 0) for i in range(size // 16)]
    text = '"Kernel Name","<unnamed>::turn(const float *, float *)",\n"Address","Source","L1 Wavefronts Shared Excessive"\n'
    (found,) = profiler.conflicts(text + "\n".join(code) + "\n", tables)
    where = "%s:6" % (tmp_path / "turn.cu") if options else "an instruction at +0x90"
    assert found == "bank conflicts: 992 excessive wavefronts in <unnamed>::turn(const float *, float *), " + where


@pytest.mark.parametrize(
    "name", ["scale", "void ops::scale<float>(float*)", "ops::<unnamed>::scale(const float *)", "ops::(anonymous namespace)::scale<a<b>>(x<y>)"]
)
def test_short_name_is_the_functions_own(name):
    assert profiler.short_name(name) == "scale"

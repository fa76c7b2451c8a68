# SPDX-License-Identifier: Apache-2.0
"""Runs a benchmark under Nsight Compute or Nsight Systems and prints what matters: its targets <name>.ncu and <name>.nsys.

usage: _run.py nvidia_tools.profiler --tool ncu|nsys --build <dir> --name <benchmark> [--toolkit <dir>] <program>

Each case is launched once after a warm-up launch (CUDAOPS_BENCHMARK_PROFILE of cudaops/benchmark.h). BENCHMARK_FILTER in the
environment chooses cases, by a regular expression. The report and, of ncu, a roofline go to <build>/<name>.<tool>/; with
clocks as they are and a cold L2 cache.
"""

import argparse
import csv
import glob
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

from ..binaries import cubin
from ..binaries.demangle import demangler
from ..binaries.elf import Elf, File, Memory, NotReadable
from ..binaries.fatbin import cuda_images
from ..binaries.line_table import line_at
from ..binaries.unpack import OutOfReach, cuda_image
from ..problem import Problem, not_written
from . import common

# What ncu calls them. Times and rates are in base units: ns, bytes, instructions a cycle.
TIME = "gpu__time_duration.sum"
BYTES = "dram__bytes.sum"
RATE = "dram__bytes.sum.per_second"
PEAK_BYTES = "dram__bytes.sum.peak_sustained"
MEMORY_CLOCK = "dram__cycles_elapsed.avg.per_second"
THEORETICAL = "sm__maximum_warps_per_active_cycle_pct"
ACHIEVED = "sm__warps_active.avg.pct_of_peak_sustained_active"
CLOCK = "smsp__cycles_elapsed.avg.per_second"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
FMA = "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"
# Operations of float32 in a cycle: additions, products, and twice the fused ones.
FLOPS = {"fadd": 1, "fmul": 1, "ffma": 2}
FLOP = "smsp__sass_thread_inst_executed_op_%s_pred_on.sum.per_cycle_elapsed"
METRICS = [TIME, BYTES, RATE, PEAK_BYTES, MEMORY_CLOCK, THEORETICAL, ACHIEVED, CONFLICTS, CLOCK, FMA]
METRICS += [FLOP % name for name in FLOPS]

CASE = re.compile(r"cudaops case (\d+)")
PERMISSION = "ERR_NVGPUCTRPERM"


def main(arguments):
    parser = argparse.ArgumentParser(prog="nvidia_tools.profiler")
    parser.add_argument("--tool", choices=("ncu", "nsys"), required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--toolkit", default="")
    parser.add_argument("program")
    options = parser.parse_args(arguments)
    target = "%s.%s" % (options.name, options.tool)
    try:
        tool = common.find_tool(options.tool, options.toolkit)
        common.require_gpu()
        place = os.path.join(options.build, target)
        try:
            os.makedirs(place, exist_ok=True)
        except OSError as error:
            raise not_written(place, error) from None
        with tempfile.TemporaryDirectory(dir=place) as scratch:
            if options.tool == "ncu":
                lines = compute(tool, options, place, scratch)
            else:
                lines = systems(tool, options, place, scratch)
    except Problem as problem:
        print(problem.text(target), file=sys.stderr)
        return 1
    print("\n".join(lines))
    return 0


def compute(ncu, options, place, scratch):
    """The lines to print; report, table and roofline are in place."""
    report = os.path.join(scratch, options.name + ".ncu-rep")
    command = [ncu, "--profile-from-start", "off", "--nvtx", "--set", "full", "--metrics", ",".join(METRICS)]
    command += ["--import-source", "yes", "--clock-control", "none", "--target-processes", "all", "-f", "-o", report]
    cases = profile(command, options, report, scratch)
    # NVTX columns are those of ncu's page of raw values.
    page = [ncu, "--import", report, "--csv", "--page"]
    rows = read_rows(checked([*page, "raw", "--print-units", "base"], "ncu can't read its report"))
    if not rows:
        raise Problem("", "no kernel was launched.", ["ran     %s" % options.program])
    lines = [table(rows, cases)]
    if any(row[CONFLICTS] for row in rows):
        code = checked([*page, "source", "--print-source", "sass"], "ncu can't read its report")
        lines += conflicts(code, read_line_tables(options.program))
    kept = os.path.join(place, options.name + ".ncu-rep")
    os.replace(report, kept)
    lines += ["%s   (ncu-ui opens it; the source is in it)" % kept]
    data = os.path.join(scratch, "roofline.json")
    with open(data, "w", encoding="utf-8") as file:
        json.dump({"title": options.name, **roofline(rows, cases)}, file)
    picture = os.path.join(scratch, "roofline.png")
    program = os.path.join(os.path.dirname(os.path.realpath(__file__)), "roofline.py")
    # With this Python's packages, which it is started without here.
    done = subprocess.run([sys.executable, "-B", program, data, picture], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        lines.append("no roofline: %s" % done.stdout.strip().splitlines()[-1])
    else:
        os.replace(picture, os.path.join(place, "roofline.png"))
        lines.append(os.path.join(place, "roofline.png"))
    return lines


def systems(nsys, options, place, scratch):
    report = os.path.join(scratch, options.name + ".nsys-rep")
    command = [nsys, "profile", "--trace", "cuda,nvtx", "--sample", "none", "--cpuctxsw", "none", "--force-overwrite", "true"]
    try:
        profile([*command, "--output", report], options, report, scratch)
    except Problem:
        # The nsys that Nsight Compute brings records, and has nothing that makes a report of it.
        recorded = glob.glob(os.path.join(glob.escape(scratch), "*.qdstrm"))
        if not recorded:
            raise
        kept = os.path.join(place, options.name + ".qdstrm")
        os.replace(recorded[0], kept)
        facts = ["found     %s" % nsys, "recorded  %s" % kept]
        fix = [*common.SOURCES["nsys"], "nsys-ui of another machine, which opens that file"]
        raise Problem("", "this nsys makes no report of what it has recorded.", facts, fix) from None
    stats = [nsys, "stats", "--force-export", "true", "--report", "cuda_gpu_kern_sum,nvtx_sum", "--format", "table", report]
    text = checked(stats, "nsys can't read its report")
    kept = os.path.join(place, options.name + ".nsys-rep")
    os.replace(report, kept)
    return [text.strip(), "%s   (nsys-ui opens it)" % kept]


def profile(command, options, report, scratch):
    """[(name, bytes, flops)] of the cases that ran under the tool."""
    said = os.path.join(scratch, "cases")
    listed = subprocess.run([options.program, "--benchmark_list_tests=true"], capture_output=True, text=True)
    if listed.returncode:
        said = listed.stderr.strip().splitlines()[-5:]
        fix = "make %s run by itself first" % options.program
        if "error while loading shared libraries" in listed.stderr:
            fix = "LD_LIBRARY_PATH=<directory of that library>, or link it by a path that is in the program's RUNPATH"
        raise Problem("", "the benchmark can't list its cases.", said, [fix])
    skipped = re.match("SKIPPED: (.*)", listed.stdout)
    if skipped:
        raise Problem("", skipped.group(1) + ".")
    if not listed.stdout.strip():
        raise Problem(
            "",
            "the benchmark has no such case.",
            ["found   BENCHMARK_FILTER=%s" % os.environ.get("BENCHMARK_FILTER", ""), *listed.stderr.strip().splitlines()[-1:]],
            ["BENCHMARK_FILTER=<regular expression>; %s --benchmark_list_tests=true lists the cases" % shlex.quote(options.program)],
        )
    environment = dict(os.environ, CUDAOPS_BENCHMARK_PROFILE=said, CUDAOPS_REQUIRE_GPU="1")
    done = subprocess.run(
        [*command, options.program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", text=True
    )
    if PERMISSION in done.stdout:
        raise Problem(
            "",
            "only root may read this GPU's counters (%s)." % PERMISSION,
            ["rule    the driver's option NVreg_RestrictProfilingToAdminUsers is 1"],
            [
                "sudo -E cmake --build %s --target %s.%s" % (options.build, options.name, options.tool),
                "for all users: options nvidia NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d/nvidia.conf, and a reboot",
                "in a container: docker run --cap-add=SYS_ADMIN",
            ],
        )
    if done.returncode or not os.path.exists(report):
        lines = done.stdout.strip().splitlines()
        errors = [line for line in lines if re.search(r"error|wrong|fail", line, re.IGNORECASE)]
        raise Problem("", "the benchmark failed under %s." % options.tool, (errors or lines)[:5], ["make %s run by itself first" % options.program])
    # Google Benchmark's own words at the end of a name: each case of cudaops::benchmark::timed_on_gpu has them.
    names, cases = re.sub(r"(/iterations:1)?(/manual_time)?$", "", listed.stdout, flags=re.MULTILINE).splitlines(), []
    with open(said, encoding="utf-8") as file:
        for line in file:
            number, size, flops = line.split("\t")
            cases.append((names[int(number)] if int(number) < len(names) else number, float(size), float(flops)))
    return cases


def checked(command, sentence):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace", text=True)
    if done.returncode:
        raise Problem("", sentence + ".", (done.stderr or done.stdout).strip().splitlines()[:5])
    return done.stdout


def read_rows(text):
    """[{"case": its number or None, "kernel": name, metric: number}] of ncu's raw page, whose second line has units."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    rows = list(csv.DictReader(lines[start:]))[1:]
    found = []
    for row in rows:
        case = CASE.search(" ".join(str(value) for value in row.values()))
        values = {name: number(row.get(name)) for name in METRICS}
        # ncu leaves the namespaces out, and takes "<unnamed" for one.
        kernel = re.sub(r"^unnamed>::", "", row.get("Kernel Name", ""))
        found.append({"case": int(case.group(1)) if case else None, "kernel": kernel, **values})
    return found


def number(text):
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


def table(rows, cases):
    head = ("us", "occupancy %", "of at most %", "memory GB/s", "of peak %", "bank conflicts")
    lines = ["%10s %12s %13s %12s %10s %15s  case, kernel" % head]
    for row in rows:
        figures = (
            scaled(row[TIME], 1e-3),
            scaled(row[ACHIEVED]),
            scaled(row[THEORETICAL]),
            scaled(row[RATE], 1e-9),
            scaled(peak_share(row), 100),
            "" if row[CONFLICTS] is None else "%d" % row[CONFLICTS],
        )
        names = [cases[row["case"]][0]] if row["case"] is not None and row["case"] < len(cases) else []
        lines.append("%10s %12s %13s %12s %10s %15s  %s" % (*figures, ", ".join([*names, row["kernel"]])))
    return "\n".join(lines)


def scaled(value, factor=1):
    return "" if value is None else "%.1f" % (value * factor)


def read_line_tables(program):
    """[(name of a kernel without namespace and arguments, bytes of its code, its lines)] of the kernels in a program."""
    plain, found = demangler(), []
    try:
        with File(program) as file:
            elf = Elf(file)
            for image in cuda_images(elf, list(elf.sections()), None):
                if image.kind == "cubin" and image.has_code and not image.relocatable:
                    tables = cubin.read_line_tables(Elf(Memory(file.path, cuda_image(file, image))))
                    found += [(short_name(plain(name)), size, lines) for name, (size, lines) in tables.items()]
    except (NotReadable, OutOfReach):
        return []
    return found


def short_name(name):
    """scale of "void ops::scale<float>(float*)": compilers and ncu write the rest in ways of their own."""
    for hidden in ("<unnamed>::", "(anonymous namespace)::"):
        name = name.replace(hidden, "")
    while re.search(r"<[^<>]*>", name):
        name = re.sub(r"<[^<>]*>", "", name)
    match = re.search(r"(\w+)\s*(?:\(|$)", name)
    return match.group(1) if match else name


def conflicts(text, tables):
    """A line for each place whose accesses to shared memory take more wavefronts than they need, of ncu's page of machine code."""
    excessive, kernel, rows = {}, "", []

    def count():
        lines = next((lines for name, size, lines in tables if name == short_name(kernel) and size == 16 * len(rows)), [])
        for address, wavefronts in rows:
            place = line_at(lines, address - rows[0][0]) if wavefronts else None
            if wavefronts:
                where = "%s:%d" % place if place else "an instruction at +0x%x" % (address - rows[0][0])
                excessive[kernel, where] = excessive.get((kernel, where), 0) + wavefronts

    column = None
    for cells in csv.reader(io.StringIO(text)):
        if cells[:1] == ["Kernel Name"]:
            count()
            kernel, rows, column = cells[1], [], None
        elif "L1 Wavefronts Shared Excessive" in cells:
            column = cells.index("L1 Wavefronts Shared Excessive")
        elif column is not None and re.match(r"0x[0-9a-f]+$", cells[0] if cells else "") and column < len(cells):
            rows.append((int(cells[0], 16), int(number(cells[column]) or 0)))
    count()
    ordered = sorted(excessive.items(), key=lambda item: -item[1])
    return ["bank conflicts: %d excessive wavefronts in %s, %s" % (wavefronts, kernel, where) for (kernel, where), wavefronts in ordered]


def peak_rate(row):
    """Bytes a second of the memory at its clock."""
    if row[PEAK_BYTES] is None or row[MEMORY_CLOCK] is None:
        return None
    return row[PEAK_BYTES] * row[MEMORY_CLOCK]


def peak_share(row):
    peak = peak_rate(row)
    return row[RATE] / peak if peak and row[RATE] is not None else None


def roofline(rows, cases):
    """Points (operations a byte of memory, operations a second) and the two roofs. Operations are those that the case says,
    or the float32 operations that were counted: tensor cores are not among these."""
    points = []
    for row in rows:
        case = cases[row["case"]] if row["case"] is not None and row["case"] < len(cases) else ("", 0, 0)
        alone = sum(other["case"] == row["case"] for other in rows) == 1
        flops = case[2] if alone and case[2] else counted(row)
        if flops and row[BYTES] and row[TIME]:
            points.append({"name": case[0] or row["kernel"], "x": flops / row[BYTES], "y": flops / row[TIME] * 1e9})
    memory = max((peak_rate(row) or 0 for row in rows), default=0)
    compute = max((2 * row[FMA] * row[CLOCK] for row in rows if row[FMA] and row[CLOCK]), default=0)
    return {"points": points, "bytes_per_s": memory, "flops_per_s": compute}


def counted(row):
    parts = [(row[FLOP % name], weight) for name, weight in FLOPS.items()]
    if any(value is None for value, _ in parts) or row[CLOCK] is None or row[TIME] is None:
        return None
    return sum(value * weight for value, weight in parts) * row[CLOCK] * row[TIME] * 1e-9

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds of `cmake` in a fresh build directory, with and without kept compiler detections.

    python3 bench/build_time/configure.py [--cmake <cmake>...] [--rounds 7] [--torch <python with torch>] [--json <file>]
                                          [--counts]

The kinds are run in turn, round by round, so that a busy machine is busy for all of them; medians are printed. Processor
seconds (of cmake and all that it starts) stand beside the wall clock's, because they hardly change with the load. The
stores are directories of this run: what is measured as seeded was filled by another project.

--counts measures no time: it counts, for a directory that is configured again without a change, the commands that CMake
runs, the bytes of CMake code that it parses, and where valgrind is installed the instructions of the cmake process. These
are the same on a busy machine.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

REPO = pathlib.Path(__file__).resolve().parents[2]
MODULE = REPO / "cmake" / "CudaOpsSeed.cmake"
EXAMPLE = REPO / "examples" / "00_minimal_op"
PLAIN = "project(CXX CUDA), without CudaOps, configured again"

FIND = """
set(CudaOps_ROOT "{repo}/cmake")
find_package(CudaOps REQUIRED)
find_package(CudaTorchMatch REQUIRED)
add_library(ops SHARED one.cpp two.cu)
"""
# name: languages, body, options, the kind it is compared with
KINDS = {
    "no language": ("NONE", "", [], None),
    "project(CXX CUDA)": ("CXX CUDA", "add_library(ops SHARED one.cpp two.cu)", ["seeds off"], None),
    "project(CXX CUDA), CudaOpsSeed": ("CXX CUDA", "add_library(ops SHARED one.cpp two.cu)", ["include"], "no language"),
    "project(CXX CUDA), configured again": ("CXX CUDA", "add_library(ops SHARED one.cpp two.cu)", ["again"], "no language"),
    "project(CXX)": ("CXX", "add_library(ops SHARED one.cpp)", ["seeds off"], None),
    "find_package, CUDA detected": ("CXX", FIND, ["seeds off", "torch"], None),
    "find_package, CUDA seeded": ("CXX", FIND, ["torch"], "project(CXX)"),
    PLAIN: ("CXX CUDA", "add_library(ops SHARED one.cpp two.cu)", ["again", "seeds off"], None),
    "examples/00_minimal_op, configured again": ("CXX", EXAMPLE, ["again", "torch"], PLAIN),
    "find_package, CudaOpsSeed": ("CXX", FIND, ["include", "torch"], "project(CXX CUDA), CudaOpsSeed"),
}


def write_project(root, name, languages, body):
    if isinstance(body, pathlib.Path):
        return body
    path = root / name
    path.mkdir(parents=True)
    text = f"cmake_minimum_required(VERSION 3.25)\nproject({name} LANGUAGES {languages})\n{body.format(repo=REPO)}\n"
    (path / "CMakeLists.txt").write_text(text)
    (path / "one.cpp").write_text("int one() { return 1; }\n")
    (path / "two.cu").write_text("__global__ void two() {}\n")
    return path


class Runner:
    def __init__(self, cmake, root, torch):
        self.cmake, self.root, self.torch = cmake, root, torch
        self.build = root / "build"

    def environment(self):
        return dict(os.environ, CUDAOPS_STORE=str(self.root / "store"))

    def run(self, source, options):
        command = [self.cmake, "-S", str(source), "-B", str(self.build), "-G", "Ninja"]
        environment = self.environment()
        if source == EXAMPLE:
            command.append(f"-DCudaOps_ROOT={REPO / 'cmake'}")
        if "seeds off" in options:
            command.append("-DCUDAOPS_SEED_COMPILERS=OFF")
        if "include" in options:
            command.append(f"-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES={MODULE}")
        if "torch" in options:
            command.append(f"-DPython_EXECUTABLE={self.torch}")
        elif "seeds off" in options:
            command.append("--no-warn-unused-cli")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.perf_counter()
        result = subprocess.run(command, env=environment, capture_output=True, text=True)
        wall = time.perf_counter() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if result.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{result.stdout}{result.stderr}")
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def count(self):
        """Of the build directory as it is, configured again: commands, bytes of code parsed, instructions or None."""
        trace = self.root / "trace.json"
        command = [self.cmake, str(self.build)]
        tracing = ["--trace", "--trace-format=json-v1", f"--trace-redirect={trace}"]
        subprocess.run(command + tracing, env=self.environment(), capture_output=True, check=True)
        commands, files = 0, set()
        for line in trace.read_text(encoding="utf-8", errors="replace").splitlines()[1:]:
            commands += 1
            files.add(json.loads(line)["file"])
        parsed = sum(os.path.getsize(name) for name in files if os.path.isfile(name))
        return commands, parsed, self.instructions(command)

    def instructions(self, command):
        valgrind = shutil.which("valgrind")
        if not valgrind:
            return None
        command = [valgrind, "--tool=callgrind", f"--callgrind-out-file={self.root / 'callgrind'}"] + command
        # Twice: valgrind changes the environment, which is one of the things that facts follow from.
        for _ in range(2):
            result = subprocess.run(command, env=self.environment(), capture_output=True, text=True, check=True)
        return int(re.search(r"Collected : (\d+)", result.stderr).group(1))

    def fresh(self):
        shutil.rmtree(self.build, ignore_errors=True)


def print_counts(cmake, torch):
    version = subprocess.run([cmake, "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    print(f"CMake {version}, configured again without a change")
    print(f"{'':56}{'commands':>10}{'KB parsed':>11}{'10^6 instructions':>19}{'ratio':>7}")
    first = None
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        runner = Runner(cmake, root, torch)
        for number, kind in enumerate([PLAIN, "examples/00_minimal_op, configured again"]):
            languages, body, options, _ = KINDS[kind]
            if "torch" in options and not torch:
                continue
            source = write_project(root, f"project{number}", languages, body)
            runner.fresh()
            for _ in range(2):
                runner.run(source, options)
            commands, parsed, instructions = runner.count()
            shown, ratio = "-", ""
            if instructions:
                first = first or instructions
                shown, ratio = f"{instructions / 1e6:.1f}", f"{instructions / first:.1f}"
            print(f"{kind:56}{commands:10}{parsed / 1000:11.0f}{shown:>19}{ratio:>7}")


def measure(cmake, rounds, torch):
    version = subprocess.run([cmake, "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    seconds = {}
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        runner = Runner(cmake, root, torch)
        kinds = {kind: facts for kind, facts in KINDS.items() if torch or "torch" not in facts[2]}
        sources = {}
        for number, (kind, (languages, body, options, _)) in enumerate(kinds.items()):
            sources[kind] = write_project(root, f"project{number}", languages, body)
            # Other projects fill the store.
            other = write_project(root, f"other{number}", languages, body)
            if other == EXAMPLE:
                continue
            if "seeds off" not in options:
                runner.fresh()
                runner.run(other, options)
        for _ in range(rounds):
            for kind, (_, _, options, _) in kinds.items():
                runner.fresh()
                if "again" in options:
                    runner.run(sources[kind], options[1:] or ["include"])
                seconds.setdefault(kind, []).append(runner.run(sources[kind], options))
    return version, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cmake", action="append", help="a cmake to measure; may be given more than once")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--torch", help="a Python with torch; without it find_package isn't measured")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--counts", action="store_true", help="count commands, bytes and instructions, measure no time")
    arguments = parser.parse_args()
    if arguments.counts:
        for cmake in arguments.cmake or ["cmake"]:
            print_counts(cmake, arguments.torch)
        return
    results = []
    for cmake in arguments.cmake or ["cmake"]:
        load = os.getloadavg()[0]
        version, seconds = measure(cmake, arguments.rounds, arguments.torch)
        print(f"CMake {version}, {os.cpu_count()} cores, load {load:.1f}, medians of {arguments.rounds}, milliseconds")
        print(f"{'':56}{'wall':>8}{'least':>8}{'cpu':>8}{'ratio of cpu':>14}")
        rows = {}
        for kind, pairs in seconds.items():
            wall = [pair[0] for pair in pairs]
            cpu = [pair[1] for pair in pairs]
            rows[kind] = {
                "wall_s": statistics.median(wall),
                "wall_least_s": min(wall),
                "cpu_s": statistics.median(cpu),
            }
            base = KINDS[kind][3]
            ratio = ""
            if base:
                rows[kind]["compared_with"] = base
                rows[kind]["wall_ratio"] = rows[kind]["wall_s"] / rows[base]["wall_s"]
                rows[kind]["cpu_ratio"] = rows[kind]["cpu_s"] / rows[base]["cpu_s"]
                ratio = f"{rows[kind]['cpu_ratio']:.2f} x {base}"
            row = rows[kind]
            print(
                f"{kind:56}{row['wall_s'] * 1000:8.0f}{row['wall_least_s'] * 1000:8.0f}{row['cpu_s'] * 1000:8.0f}   {ratio}"
            )
        results.append({"cmake": version, "load": load, "rounds": arguments.rounds, "kinds": rows})
    if arguments.json:
        record = {
            "machine": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "date": time.strftime("%Y-%m-%d"),
            "results": results,
        }
        arguments.json.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()

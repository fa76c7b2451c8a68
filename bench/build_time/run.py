#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds from sources to a loaded op, side by side: torch's own tool, torch's CMake package, CudaOps.

    bench/build_time/run.py --python <python with torch> [--out bench/results/build_time.json] [--page docs/measured.md]

One add op, CPU and CUDA, in each way:

  load          torch.utils.cpp_extension.load: .cpp and .cu with torch/extension.h
  load_inline   the same texts by load_inline
  pybind        the files of load with add_torch_op(ABI PYBIND)
  setup         setup.py build_ext: ATen and torch/library.h
  find_package  the same two files in a hand-written project with find_package(Torch)
  full          the same two files with add_torch_op(ABI FULL)
  stable        examples/00_minimal_op: the stable ABI, device code without torch's headers

Each is measured in a process that has imported torch already: from the call (for CMake: configure and build) to the
loaded library whose CPU kernel has answered. Situations:

  cold     nothing but the sources. CMake's ways: a fresh build directory. CudaOps' store is filled by a configure of
           another project before, as on any machine that has built one op; compiler caches are off
  cached   a fresh directory once more, with a compiler cache that holds the objects
  noop     again, nothing changed
  edit_cu  one line of the .cu changed
  edit_cpp one line of the .cpp changed
  seven    cold, for seven architectures

Ways that have no such situation (load has no compiler cache of its own; PYTORCH_NVCC and CXX are set to ccache for it)
are left empty. The order of the ways is turned from round to round, and the figure is the median.
"""

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))

import page_block  # noqa: E402

WAYS = ("load", "load_inline", "pybind", "setup", "find_package", "full", "stable")
OURS = ("pybind", "full", "stable")
SITUATIONS = ("cold", "cached", "noop", "edit_cu", "edit_cpp", "seven")
SEVEN = "75;80;86;89;90;100;120"
MARKS = ("<!-- build_time: written by bench/build_time/run.py -->", "<!-- build_time: end -->")

# Run by a Python that has torch; prints the seconds as its last line.
CHILD = """
import json, os, subprocess, sys, time
import torch
job = json.loads(sys.argv[1])
begin = time.monotonic()
if job["way"] in ("load", "load_inline"):
    from torch.utils import cpp_extension
    os.makedirs(job["build"], exist_ok=True)
    if job["way"] == "load":
        module = cpp_extension.load(
            "my_ops", [job["source"] + "/binding.cpp", job["source"] + "/add.cu"],
            build_directory=job["build"], with_cuda=True)
    else:
        cpp = open(job["source"] + "/binding.cpp").read().split("PYBIND11_MODULE")[0]
        cuda = open(job["source"] + "/add.cu").read()
        module = cpp_extension.load_inline(
            "my_ops", [cpp], [cuda], functions=["add"], build_directory=job["build"], with_cuda=True)
    add = module.add
else:
    for command in job["commands"]:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=job.get("directory"))
        if done.returncode:
            sys.exit(done.stdout)
    if job["way"] == "pybind":
        sys.path.insert(0, job["build"])
        import my_ops
    else:
        torch.ops.load_library(job["library"])
        my_ops = torch.ops.my_ops
    add = my_ops.add
ones = torch.ones(3)
assert add(ones, ones).tolist() == [2, 2, 2]
print(time.monotonic() - begin)
"""


class Bench:
    def __init__(self, options, scratch):
        self.options = options
        self.scratch = scratch
        self.log = open(options.log, "w") if options.log else None
        self.environment = dict(os.environ, MAX_JOBS=str(options.jobs), CMAKE_BUILD_PARALLEL_LEVEL=str(options.jobs))
        for name in ("TORCH_CUDA_ARCH_LIST", "CUDAARCHS", "CMAKE_GENERATOR", "CUDAOPS_CACHE"):
            self.environment.pop(name, None)
        self.environment["CUDAOPS_STORE"] = os.path.join(scratch, "store")
        self.environment["CCACHE_DIR"] = os.path.join(scratch, "ccache")
        self.environment["SCCACHE_DIR"] = os.path.join(scratch, "sccache")
        self.count = 0

    def sources(self, way):
        """A copy of the sources: edits must not touch the checkout's."""
        origin = dict.fromkeys(("load", "load_inline", "pybind"), "extension")
        origin.update(dict.fromkeys(("setup", "find_package", "full"), "classic"))
        directory = os.path.join(self.scratch, way, "src")
        shutil.rmtree(directory, ignore_errors=True)
        if way == "stable":
            shutil.copytree(os.path.join(SOURCE, "examples", "00_minimal_op"), directory)
        else:
            shutil.copytree(os.path.join(HERE, origin[way]), directory)
        return directory

    def measure(self, way, build, archs, cache=False, configure=True):
        source = os.path.join(self.scratch, way, "src")
        environment = dict(self.environment)
        job = {"way": way, "source": source, "build": build}
        if way in ("load", "load_inline", "setup"):
            dotted = [archs_dotted(arch) for arch in archs.split(";")]
            environment["TORCH_CUDA_ARCH_LIST"] = ";".join(dotted)
            environment["CUDA_HOME"] = self.options.toolkit
            if cache:
                environment["CXX"] = "ccache g++"
                environment["PYTORCH_NVCC"] = "ccache " + os.path.join(self.options.toolkit, "bin", "nvcc")
        if way == "setup":
            places = ["--build-lib", build, "--build-temp", os.path.join(build, "temp")]
            job["commands"] = [[self.options.python, "setup.py", "build_ext", *places]]
            job["directory"] = source
            job["library"] = os.path.join(build, "my_ops.so")
        elif not way.startswith("load"):
            setup = [self.options.cmake, "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
            setup += ["-DCMAKE_CUDA_ARCHITECTURES=" + ";".join(arch + "-real" for arch in archs.split(";"))]
            setup += ["-DCUDAToolkit_ROOT=" + self.options.toolkit, "-DPython_EXECUTABLE=" + self.options.python]
            if way == "find_package":
                setup += ["-DCMAKE_PREFIX_PATH=" + self.options.torch_prefix]
                setup += ["-DCMAKE_CUDA_COMPILER=" + os.path.join(self.options.toolkit, "bin", "nvcc")]
                environment["TORCH_CUDA_ARCH_LIST"] = ";".join(archs_dotted(arch) for arch in archs.split(";"))
                if cache:
                    setup += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", "-DCMAKE_CUDA_COMPILER_LAUNCHER=ccache"]
            else:
                setup += ["-DCudaOps_ROOT=" + SOURCE, "-DBUILD_TESTING=OFF"]
                setup += ["-DWITH_CUDAOPS=ON"] if way == "full" else []
                setup += [] if cache else ["-DCUDAOPS_CACHE=OFF"]
                if self.options.seed:
                    setup += ["-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=" + os.path.join(SOURCE, "cmake", "CudaOpsSeed.cmake")]
            commands = [setup] if configure else []
            job["commands"] = commands + [[self.options.cmake, "--build", build]]
            job["library"] = os.path.join(build, "libmy_ops.so")
        done = subprocess.run(
            [self.options.python, "-c", CHILD, json.dumps(job)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        if self.log:
            self.log.write("== %s %s\n%s\n" % (way, build, done.stdout))
            self.log.flush()
        if done.returncode:
            sys.exit("%s failed:\n%s" % (way, done.stdout))
        return float(done.stdout.strip().splitlines()[-1])

    def empty(self, build):
        """A project of one C++ file: what CMake and Ninja cost by themselves."""
        begin = time.monotonic()
        for command in (
            [self.options.cmake, "-S", os.path.join(HERE, "empty"), "-B", build, "-G", "Ninja"],
            [self.options.cmake, "--build", build],
        ):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=self.environment)
        return time.monotonic() - begin

    def fresh(self, way):
        self.count += 1
        return os.path.join(self.scratch, way, "build%d" % self.count)

    def round(self, way, situations, result):
        def note(situation, seconds):
            result.setdefault(way, {}).setdefault(situation, []).append(seconds)
            print("  %-13s %-9s %8.2f s" % (way, situation, seconds), flush=True)

        source = self.sources(way)
        kernel = os.path.join(source, "my_ops.cu" if way == "stable" else "add.cu")
        binding = os.path.join(source, "my_ops.cpp" if way == "stable" else "binding.cpp")
        build = self.fresh(way)
        arch = self.options.architecture
        if set(situations) & {"cold", "noop", "edit_cu", "edit_cpp"}:
            note("cold", self.measure(way, build, arch))
        if "noop" in situations:
            note("noop", self.measure(way, build, arch, configure=False))
        if "edit_cu" in situations:
            edit(kernel)
            note("edit_cu", self.measure(way, build, arch, configure=False))
        if "edit_cpp" in situations:
            edit(binding)
            note("edit_cpp", self.measure(way, build, arch, configure=False))
        if "seven" in situations:
            note("seven", self.measure(way, self.fresh(way), SEVEN))
        ours = way in OURS
        if "cached" in situations and (ours or self.options.cached == "all" and shutil.which("ccache")):
            self.measure(way, self.fresh(way), arch, cache=True)
            note("cached", self.measure(way, self.fresh(way), arch, cache=True))


def archs_dotted(arch):
    return arch[:-1] + "." + arch[-1]


def edit(file):
    with open(file, "a") as stream:
        stream.write("static const int edited_%d = 0; // %d\n" % (time.monotonic_ns(), 0))


def said(command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout.strip()
    except OSError:
        return ""


def table(figures, versions):
    """docs/measured.md's block."""
    names = {
        "load": "`torch.utils.cpp_extension.load`",
        "load_inline": "`load_inline`",
        "pybind": "`add_torch_op(ABI PYBIND)`, the same files",
        "setup": "`setup.py`, with `TORCH_LIBRARY`",
        "find_package": "`find_package(Torch)` by hand, the same files",
        "full": "`add_torch_op(ABI FULL)`, the same files",
        "stable": "`add_torch_op()`",
    }
    titles = {
        "cold": "from nothing",
        "seven": "7 architectures",
        "cached": "fresh directory, cached",
        "noop": "nothing changed",
        "edit_cu": ".cu edited",
        "edit_cpp": ".cpp edited",
    }
    shown = [key for key in ("cold", "seven", "cached", "noop", "edit_cu", "edit_cpp") if any(key in figures[w] for w in figures)]
    lines = ["| seconds to a loaded op | " + " | ".join(titles[key] for key in shown) + " |"]
    lines.append("|---" * (len(shown) + 1) + "|")
    best = figures.get("stable", {})
    for way in WAYS:
        if way not in figures:
            continue
        cells = []
        for key in shown:
            value = figures[way].get(key)
            if value is None:
                cells.append("")
            elif way == "stable" or key not in best:
                cells.append("%.2f" % value)
            else:
                cells.append("%.1f (%.0f ×)" % (value, value / best[key]))
        lines.append("| %s | %s |" % (names[way], " | ".join(cells)))
    note = "One add op, CPU and CUDA, medians, one run side by side (%s; `bench/build_time/run.py`)." % versions
    return "\n".join(lines) + "\n\n" + note


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="a Python with torch")
    parser.add_argument("--cmake", default=shutil.which("cmake"))
    parser.add_argument("--toolkit", default="/usr/local/cuda", help="the CUDA toolkit for every way")
    parser.add_argument("--architecture", default="90", help="as 90")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ways", nargs="+", default=WAYS, choices=WAYS)
    parser.add_argument("--situations", nargs="+", default=SITUATIONS, choices=SITUATIONS)
    parser.add_argument("--cached", default="all", choices=("all", "ours"), help="ways for the situation of that name")
    parser.add_argument("--no-seed", dest="seed", action="store_false", help="without CudaOpsSeed.cmake")
    parser.add_argument("--scratch", help="where to build (default: a temporary directory)")
    parser.add_argument("--out", help="the JSON file")
    parser.add_argument("--page", help="the file whose block is written anew")
    parser.add_argument("--log", help="what the builds print")
    options = parser.parse_args()
    options.toolkit = os.path.realpath(options.toolkit)
    facts = said([options.python, "-c", "import torch; print(torch.__version__, torch.utils.cmake_prefix_path, sep='\\n')"])
    lines = facts.splitlines()
    if len(lines) != 2 or not lines[0][:1].isdigit():
        sys.exit("run.py: no torch in %s\n%s\n Fix: --python <python with torch>" % (options.python, facts))
    torch_version, options.torch_prefix = lines
    options.seed = options.seed and os.path.exists(os.path.join(SOURCE, "cmake", "CudaOpsSeed.cmake"))

    scratch = options.scratch or tempfile.mkdtemp(prefix="build_time.")
    os.makedirs(scratch, exist_ok=True)
    bench = Bench(options, scratch)
    figures = {}
    empties = []
    begin = time.monotonic()
    try:
        # Another project has been configured on this machine before: the store holds what it learnt.
        ours = [way for way in OURS if way in options.ways]
        if ours:
            way = ours[-1]
            bench.sources(way)
            bench.measure(way, bench.fresh(way), options.architecture)
        for number in range(options.rounds):
            print("round %d of %d" % (number + 1, options.rounds), flush=True)
            empties.append(bench.empty(bench.fresh("empty")))
            turn = number % len(options.ways)
            for way in list(options.ways[turn:]) + list(options.ways[:turn]):
                bench.round(way, options.situations, figures)
    finally:
        if not options.scratch:
            shutil.rmtree(scratch, ignore_errors=True)

    medians = {way: {key: statistics.median(values) for key, values in figures[way].items()} for way in figures}
    gcc = said(["g++", "-dumpfullversion"])
    nvcc = re.search(r"V([\d.]+)", said([os.path.join(options.toolkit, "bin", "nvcc"), "--version"]))
    cmake = said([options.cmake, "--version"]).splitlines()[0].split()[-1]
    today = datetime.date.today().isoformat()
    versions = "%d cores, g++ %s, nvcc %s, torch %s, CMake %s, %s" % (
        options.jobs, gcc, nvcc.group(1) if nvcc else "?", torch_version, cmake, today
    )
    document = {
        # Places of this machine are no part of it.
        "command": "bench/build_time/run.py --rounds %d --jobs %d --cached %s --ways %s --situations %s"
        % (options.rounds, options.jobs, options.cached, " ".join(options.ways), " ".join(options.situations)),
        "date": today,
        "machine": "%s, %d jobs" % (platform.machine(), options.jobs),
        "versions": {"torch": torch_version, "g++": gcc, "nvcc": nvcc.group(1) if nvcc else "", "cmake": cmake},
        "rounds": options.rounds,
        "seeded": options.seed,
        "empty_project": statistics.median(empties),
        "seconds": medians,
        "all": figures,
        "took": round(time.monotonic() - begin),
    }
    text = table(medians, versions)
    print("\n" + text)
    print("empty C++ project, cmake and ninja: %.2f s" % document["empty_project"])
    if options.out:
        with open(options.out, "w") as file:
            json.dump(document, file, indent=1)
            file.write("\n")
    if options.page:
        page_block.write(options.page, MARKS, text)


if __name__ == "__main__":
    main()

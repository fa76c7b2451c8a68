#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds of cudaops.load() and load_inline() beside torch.utils.cpp_extension's, one op in one run.

    bench/build_time/jit.py --python <python with torch> [--rounds 3] [--full] [--inline]

  stable   examples/00_minimal_op: from nothing, after an edit of the .cu, of the .cpp, found again by a new process
  full     bench/build_time/extension (torch/extension.h): torch's load() and ours from nothing and found again; minutes
  inline   load_inline() of one C++ function of tensors: torch's, and ours with headers="full" and "slim"; minutes

Each time is from `import cudaops` (or from the import of cpp_extension) to the loaded op, in a process that has imported
torch: on the clock, and of processors, with all processes that were started, which a busy machine changes less. "From nothing": a store that has compiler detections and cudaops-launch, as any machine that has built one op, no
object, and a compiler cache without entries.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))

CHILD = """
import json, sys, time
import torch
import os
way, name, sources, place = json.loads(sys.argv[1])
before, begin = os.times(), time.perf_counter()
state = ""
if way == "torch":
    from torch.utils.cpp_extension import load
    load(name, sources, build_directory=place)
elif way == "torch inline":
    from torch.utils.cpp_extension import load_inline
    load_inline(name, sources, functions=["add"], build_directory=place)
else:
    import cudaops
    if way == "cudaops":
        module = cudaops.load(name, sources)
    else:
        module = cudaops.load_inline(name, sources, functions=["add"], headers=way.split()[1])
    state = module.__cudaops__["state"]
seconds, after = time.perf_counter() - begin, os.times()
print(json.dumps([seconds, sum(after[:4]) - sum(before[:4]), state]))
"""


class Bench:
    def __init__(self, python, directory):
        self.python = python
        self.directory = directory
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.path.join(REPOSITORY, "python"),
            "CUDAOPS_STORE": os.path.join(directory, "store"),
            "CCACHE_DIR": os.path.join(directory, "ccache"),
            "TORCH_CUDA_ARCH_LIST": "9.0",
        }
        # pip's ninja stands beside the Python, and torch looks on PATH only.
        self.environment["PATH"] += os.pathsep + os.path.dirname(python)
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.environment["PYTHONPYCACHEPREFIX"] = os.path.join(directory, "bytecode")

    def load(self, way, name, sources, expected=None):
        place = os.path.join(self.directory, "torch-" + name)
        os.makedirs(place, exist_ok=True)
        job = json.dumps([way, name, sources, place])
        done = subprocess.run(
            [self.python, "-c", CHILD, job], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        seconds, processor, state = json.loads(done.stdout.strip().splitlines()[-1])
        if way.startswith("cudaops") and state != expected:
            sys.exit("wanted %s, found %s" % (expected, state))
        return seconds, processor

    def forget(self):
        for name in ("store/jit", "ccache"):
            shutil.rmtree(os.path.join(self.directory, name), ignore_errors=True)
        for name in os.listdir(self.directory):
            if name.startswith("torch-"):
                shutil.rmtree(os.path.join(self.directory, name))


TEXT = "torch::Tensor add(torch::Tensor a, torch::Tensor b) { return a + b; }"


def edit(path, number):
    with open(path, "a", encoding="utf-8") as file:
        file.write("// edit %d\n" % number)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--full", action="store_true", help="torch/extension.h too")
    parser.add_argument("--inline", action="store_true", help="load_inline() of a function of tensors too")
    options = parser.parse_args()
    times = {}
    with tempfile.TemporaryDirectory(prefix="jit ") as directory:
        bench = Bench(options.python, directory)
        sources = os.path.join(directory, "op")
        shutil.copytree(os.path.join(REPOSITORY, "examples", "00_minimal_op"), sources)
        stable = [os.path.join(sources, name) for name in ("my_ops.cpp", "my_ops_cuda.cpp", "my_ops.cu")]
        extension = os.path.join(HERE, "extension")
        full = sorted(os.path.join(extension, name) for name in os.listdir(extension) if name.endswith((".cpp", ".cu")))
        bench.load("cudaops", "my_ops", stable, "COMPILED")  # compiler detections, cudaops-launch
        for number in range(options.rounds):
            bench.forget()
            for name, expected in (("from nothing", "COMPILED"), ("found again", "CACHED")):
                times.setdefault("stable, " + name, []).append(bench.load("cudaops", "my_ops", stable, expected))
            for name, path in ((".cu edited", stable[2]), (".cpp edited", stable[0])):
                edit(path, number)
                times.setdefault("stable, " + name, []).append(bench.load("cudaops", "my_ops", stable, "COMPILED"))
            if options.full:
                for way, expected in (("cudaops", ("COMPILED", "CACHED")), ("torch", (None, None))):
                    for name, state in zip(("from nothing", "found again"), expected):
                        seconds = bench.load(way, "extension_ops", full, state)
                        times.setdefault("full by %s, %s" % (way, name), []).append(seconds)
            for way in ("torch inline", "cudaops full", "cudaops slim") if options.inline else ():
                for name, state in (("from nothing", "COMPILED"), ("found again", "CACHED")):
                    seconds = bench.load(way, "inline_op", TEXT, state)
                    times.setdefault("inline by %s, %s" % (way, name), []).append(seconds)
    print("%-40s %12s %12s" % ("medians of %d" % options.rounds, "clock", "processors"))
    for name, values in times.items():
        clock, processors = (1000 * statistics.median(column) for column in zip(*values))
        print("%-40s %9.1f ms %9.1f ms" % (name, clock, processors))


if __name__ == "__main__":
    main()

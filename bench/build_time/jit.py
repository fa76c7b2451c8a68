#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds of cudaops.load(), load_inline() and OpLibrary beside torch.utils.cpp_extension's, one op in one run.

    bench/build_time/jit.py --python <python with torch> [--rounds 3] [--hits 20] [--rows stable ...] [--out FILE]
    bench/build_time/jit.py --results FILE --page docs/measured.md

  stable   examples/00_minimal_op (torch/csrc/stable): by torch's load() and by ours
  full     bench/build_time/extension (torch/extension.h): by torch's load(), by ours, and by ours with headers="fast"
  inline   load_inline() of one C++ function of tensors: torch's, ours with headers="full", "slim" and "fast", and the same
           function with torch's stable headers
  inline_cuda  load_inline() of a CUDA kernel and the function that calls it: torch's, ours with "slim" and "fast"
  bundle   examples/10_prebuilt_jit_fallback from a bundle, with a PATH that holds no program

Situations: from nothing, .cu edited, .cpp edited (a line that changes the code), found again by a new process (--hits times,
the ways in turn). Without --rows all of them: a quarter of an hour on two cores. --out writes JSON, --page the table
between its marks: of what is measured now, or of an earlier --out (--results).

Each time is from `import cudaops` (or from the import of cpp_extension) to the loaded op, in a process that has imported
torch: on the clock, and of processors, with all processes that were started, which a busy machine changes less. "From
nothing": a store that has compiler detections, what compilers are made of, cudaops-launch and torch's stable headers
precompiled, as any machine that has built one op, and the bridge of the fast headers, which a torch has once (its own time
is printed), no other object, and a compiler cache without entries.
"""

import argparse
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))

import page_block  # noqa: E402

ROWS = ("stable", "full", "inline", "inline_cuda", "bundle")
SITUATIONS = ("from nothing", ".cu edited", ".cpp edited", "found again")
# Of each row its ways, the first one torch's where it has one.
WAYS = {
    "stable": ("torch library", "cudaops"),
    "full": ("torch", "cudaops", "cudaops fast"),
    "inline": ("torch inline", "inline full", "inline slim", "inline fast", "inline stable"),
    "inline_cuda": ("torch inline", "inline slim", "inline fast"),
    "bundle": ("bundle",),
}

MARKS = ("<!-- jit: written by bench/build_time/jit.py -->", "<!-- jit: end -->")
TITLES = {
    ("stable", "torch library"): "`cpp_extension.load`, the stable ABI",
    ("stable", "cudaops"): "`cudaops.load`, the same files",
    ("full", "torch"): "`cpp_extension.load`, `torch/extension.h`",
    ("full", "cudaops"): "`cudaops.load`, the same files",
    ("full", "cudaops fast"): '`cudaops.load(headers="fast")`, the same files',
    ("inline", "torch inline"): "`cpp_extension.load_inline`, C++",
    ("inline", "inline full"): "`cudaops.load_inline`",
    ("inline", "inline slim"): '`cudaops.load_inline(headers="slim")`',
    ("inline", "inline fast"): '`cudaops.load_inline(headers="fast")`',
    ("inline", "inline stable"): "`cudaops.load_inline`, the same with torch's stable headers",
    ("inline_cuda", "torch inline"): "`cpp_extension.load_inline`, CUDA",
    ("inline_cuda", "inline slim"): '`cudaops.load_inline(headers="slim")`',
    ("inline_cuda", "inline fast"): '`cudaops.load_inline(headers="fast")`',
    ("bundle", "bundle"): "`cudaops.OpLibrary` from a bundle",
}

CHILD = """
import json, resource, sys, time
import torch
way, name, sources, place, headers = json.loads(sys.argv[1])
state = ""

def processors():
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)

before, begin = processors(), time.perf_counter()
if way.startswith("torch"):
    from torch.utils import cpp_extension
    if way == "torch inline":
        cpp_extension.load_inline(name, *sources, functions=["add"], build_directory=place)
    else:
        # What the stable op asks for and CudaOps brings.
        options = {} if way == "torch" else {"extra_cflags": ["-DUSE_CUDA"], "extra_include_paths": [headers]}
        cpp_extension.load(name, sources, build_directory=place, is_python_module=way == "torch", **options)
else:
    import cudaops
    if way == "bundle":
        state = cudaops.OpLibrary(sources, name, required=True).state
    elif way == "bridge":
        from cudaops.jit import fast
        fast.provide_bridge()
    elif way == "inline stable":
        cudaops.load_inline(name, STABLE, is_python_module=False)
    else:
        kind = way.split()[1] if " " in way else "auto"
        if way.startswith("inline"):
            module = cudaops.load_inline(name, *sources, functions=["add"], headers=kind)
        else:
            module = cudaops.load(name, sources, headers=kind)
        state, headers = module.__cudaops__["state"], module.__cudaops__["headers"]
        if "fast" in (kind, headers) and kind != headers:
            sys.exit("%s: %s headers" % (way, headers))
seconds, after = time.perf_counter() - begin, processors()
print(json.dumps([seconds, after - before, state, torch.__version__]))
"""
TEXT = "torch::Tensor add(torch::Tensor a, torch::Tensor b) { return a + b; }"
STABLE = """
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
using torch::stable::Tensor;
Tensor add(const Tensor& a, const Tensor& b) {
  Tensor out = torch::stable::empty_like(a);
  for (int64_t i = 0; i < a.numel(); ++i)
    out.mutable_data_ptr<float>()[i] = a.const_data_ptr<float>()[i] + b.const_data_ptr<float>()[i];
  return out;
}
STABLE_TORCH_LIBRARY(inline_stable, m) { m.def("add(Tensor a, Tensor b) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(inline_stable, CPU, m) { m.impl("add", TORCH_BOX(&add)); }
"""
KERNEL = """
__global__ void add_kernel(const float* a, const float* b, float* out, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
torch::Tensor add(torch::Tensor a, torch::Tensor b) {
  TORCH_CHECK(a.is_cuda() && a.sizes() == b.sizes(), "two tensors of one shape on a GPU");
  auto out = torch::empty_like(a);
  add_kernel<<<(a.numel() + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), a.numel());
  return out;
}
"""
# Arguments of load_inline().
TEXTS = {"inline": [TEXT], "inline_cuda": ["torch::Tensor add(torch::Tensor a, torch::Tensor b);", KERNEL]}


class Bench:
    """times: {(row, situation, way): [(seconds on the clock, of processors)]}"""

    def __init__(self, python, directory):
        self.python = python
        self.directory = directory
        self.times = {}
        self.kept = set()
        self.torch = ""
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

    def measure(self, row, situation, way, name, sources, **environment):
        seconds, processors, state, self.torch = self.load(way, name, sources, **environment)
        expected = "CACHED" if situation == "found again" else "COMPILED"
        if state and state != expected:
            sys.exit("%s, %s, %s: wanted %s, found %s" % (row, situation, way, expected, state))
        self.times.setdefault((row, situation, way), []).append((seconds, processors))

    def load(self, way, name, sources, **environment):
        place = os.path.join(self.directory, "torch-" + name)
        os.makedirs(place, exist_ok=True)
        job = json.dumps([way, name, sources, place, os.path.join(REPOSITORY, "cmake", "include")])
        code = "STABLE = %r\n%s" % (STABLE, CHILD)
        done = subprocess.run(
            [self.python, "-c", code, job], env={**self.environment, **environment}, capture_output=True, text=True
        )
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        return json.loads(done.stdout.strip().splitlines()[-1])

    def keep(self):
        """What is in the store now stays there."""
        self.kept = {entry.path for place in ("m", "o") for entry in os.scandir(os.path.join(self.directory, "store/jit", place))}

    def forget(self):
        for name in ("store/jit/t", "store/jit/l", "ccache"):
            shutil.rmtree(os.path.join(self.directory, name), ignore_errors=True)
        for place in ("m", "o"):
            place = os.path.join(self.directory, "store/jit", place)
            for entry in list(os.scandir(place)) if os.path.isdir(place) else ():
                if entry.path not in self.kept:
                    shutil.rmtree(entry.path) if entry.is_dir() else os.remove(entry.path)
        for name in os.listdir(self.directory):
            if name.startswith("torch-"):
                shutil.rmtree(os.path.join(self.directory, name))

    def run(self, command, **options):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, **options)
        if done.returncode:
            sys.exit("%s\n%s%s" % (" ".join(command), done.stdout, done.stderr))


def edit(path, number):
    """Another function, so that object and device code are others."""
    function = "__global__ void edited_%d(int* out) { *out = %d; }" if path.endswith(".cu") else "int edited_%d() { return %d; }"
    with open(path, "a", encoding="utf-8") as file:
        file.write(function % (number, number) + "\n")


def copied(bench, row, source, names):
    """Paths of copies, which are edited."""
    place = os.path.join(bench.directory, "sources-" + row)
    shutil.copytree(source, place)
    return [os.path.join(place, name) for name in names]


def builds(bench, row, rounds, hits, name, paths):
    """paths: sources of load(), or None for load_inline()."""
    texts = TEXTS.get(row)
    for number in range(rounds):
        for way in WAYS[row]:
            bench.forget()
            bench.measure(row, "from nothing", way, name, paths or texts)
            for suffix in (".cu", ".cpp") if paths else ():
                edit(next(path for path in paths if path.endswith(suffix)), 10 * number + len(way))
                bench.measure(row, suffix + " edited", way, name, paths)
    bench.forget()
    for way in WAYS[row]:
        bench.load(way, name + "_" + way.split()[-1], paths or texts)
    for _ in range(hits):
        for way in WAYS[row]:
            bench.measure(row, "found again", way, name + "_" + way.split()[-1], paths or texts)


def bundle(bench, hits):
    source, name = os.path.join(bench.directory, "packaged"), "scaled_ops"
    shutil.copytree(os.path.join(REPOSITORY, "examples", "10_prebuilt_jit_fallback"), source)
    tree, prefix, made = (os.path.join(bench.directory, part) for part in ("tree", "prefix", "made"))
    roots = ["-DCudaOps_ROOT=" + os.path.join(REPOSITORY, "cmake"), "-DPython_EXECUTABLE=" + bench.python]
    bench.run(["cmake", "-G", "Ninja", "-S", source, "-B", tree, "-DCMAKE_BUILD_TYPE=Release", *roots])
    bench.run(["cmake", "--install", tree, "--prefix", prefix, "--component", "cudaops_recipes"])
    place = os.path.join(prefix, name)
    bench.run([bench.python, "-m", "cudaops", "build", "--bundle", made, place])
    bench.forget()
    for _ in range(hits):
        bench.measure("bundle", "found again", "bundle", name, place, CUDAOPS_JIT_PATH=made, PATH="/nowhere")


def show(times):
    print("%-46s %12s %12s" % ("medians", "clock", "processors"))
    for (row, situation, way), values in sorted(times.items(), key=lambda item: (ROWS.index(item[0][0]), SITUATIONS.index(item[0][1]))):
        clock, processors = (1000 * statistics.median(column) for column in zip(*values))
        print("%-46s %9.1f ms %9.1f ms   of %d" % ("%s, %s: %s" % (row, situation, way), clock, processors, len(values)))


def document(bench):
    found = []
    for (row, situation, way), values in bench.times.items():
        clock, processors = zip(*values)
        found.append({"row": row, "situation": situation, "way": way, "clock_s": clock, "processors_s": processors})
    date = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0).isoformat()
    cores = len(os.sched_getaffinity(0))
    return {"date": date, "machine": platform.machine(), "cores": cores, "torch": bench.torch, "times": found}


def table(measured):
    """Of document()'s: docs/measured.md's block."""
    medians = {}
    for one in measured["times"]:
        medians[one["row"], one["way"], one["situation"]] = 1000 * statistics.median(one["clock_s"])
    lines = ["| ms from `import` to the loaded op | " + " | ".join(SITUATIONS) + " |", "|---" * (len(SITUATIONS) + 1) + "|"]
    for (row, way), title in TITLES.items():
        if any((row, way, situation) in medians for situation in SITUATIONS):
            values = [medians.get((row, way, situation)) for situation in SITUATIONS]
            cells = ["" if ms is None else "%.0f" % ms if ms >= 100 else "%.1f" % ms for ms in values]
            lines.append("| %s | %s |" % (title, " | ".join(cells)))
    note = "Each in a new process that has imported torch (%d cores, torch %s, %s; `bench/build_time/jit.py`)."
    return "\n".join(lines) + "\n\n" + note % (measured["cores"], measured["torch"], measured["date"][:10])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="a Python with torch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hits", type=int, default=20, help="processes that find what is built")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=ROWS)
    parser.add_argument("--out", help="the JSON file")
    parser.add_argument("--results", help="the JSON file of an earlier --out: nothing is measured")
    parser.add_argument("--page", help="the file whose block is written anew")
    options = parser.parse_args()
    if (options.python is None) == (options.results is None):
        parser.error("wanted --python <python with torch>, or --results FILE")
    if options.results:
        with open(options.results, encoding="utf-8") as file:
            measured = json.load(file)
    else:
        measured = measure(options)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(measured, file, indent=1)
    if options.page:
        page_block.write(options.page, MARKS, table(measured))


def measure(options):
    minimal, extension = os.path.join(REPOSITORY, "examples", "00_minimal_op"), os.path.join(HERE, "extension")
    with tempfile.TemporaryDirectory(prefix="jit ") as directory:
        bench = Bench(options.python, directory)
        stable = copied(bench, "stable", minimal, ("my_ops.cpp", "my_ops_cuda.cpp", "my_ops.cu"))
        bench.load("cudaops", "my_ops", stable)  # compiler detections, cudaops-launch
        if {"full", "inline", "inline_cuda"} & set(options.rows):
            bench.forget()
            seconds, processors, _, _ = bench.load("bridge", "", None)
            print("the bridge of the fast headers, once: %.1f s, %.1f s of processors" % (seconds, processors))
            bench.keep()
        if "stable" in options.rows:
            builds(bench, "stable", options.rounds, options.hits, "my_ops", stable)
        if "full" in options.rows:
            names = ("binding.cpp", "add.cu")
            builds(bench, "full", options.rounds, options.hits, "extension_ops", copied(bench, "full", extension, names))
        for row in ("inline", "inline_cuda"):
            if row in options.rows:
                builds(bench, row, options.rounds, options.hits, row + "_op", None)
        if "bundle" in options.rows:
            bundle(bench, options.hits)
        show(bench.times)
        return document(bench)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a project with `python -m cudaops new`, plants a fault in its kernel, and runs the one command that its README names
for such a fault. The command has to name the kernel, the file and the line, and to find nothing in the kernel as it is.

usage: planted_faults.py [--dir <dir>] [--log <file>] [<fault>...]

Default: all. Exit code 77 where there is no GPU or no tool for it: of what was not named on the command line.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
CUDA = "csrc/scaled_add.cu"
HEAD = "  const int64_t i = int64_t{blockIdx.x} * kBlockSize + threadIdx.x;\n"
BODY = "  if (i < num_elements) out[i] = a[i] + scale * b[i];\n"
# As the tools write it, each in its way.
KERNEL = r"[\w:<>() ]*scaled_add_kernel\(.*float.*\)"
SANITIZE = "cmake --preset sanitize && cmake --build --preset sanitize && ctest --preset sanitize --verbose -R "
PROFILE = "cmake --preset profile && cmake --build --preset profile --target scaled_add_benchmark.ncu"
REPORT = "cmake --preset {0} && cmake --build --preset {0} && cmake --build --preset {0} --target cudaops_kernel_report"

# Each thread keeps 72 values over a loop whose steps need all of them.
MANY_REGISTERS = """  float values[72];
#pragma unroll
  for (int k = 0; k < 72; ++k) values[k] = b[(i + k) % num_elements];  // FOUND
  for (int64_t step = 0; step < num_elements % 3; ++step) {
#pragma unroll
    for (int k = 0; k < 72; ++k) values[k] = values[k] * scale + values[(k + 7) % 72];  // FOUND
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 72; ++k) sum += values[k] * a[(i + 72 - k) % num_elements];  // FOUND
  if (i < num_elements) out[i] = sum;
"""
# b is staged by a thread that isn't the one which uses it.
STAGED = """  __shared__ float staged[%(elements)s];
  const int64_t other = i - threadIdx.x + (threadIdx.x ^ 33);
  staged[(threadIdx.x ^ 33)%(stride)s] = other < num_elements ? b[other] : 0.f;  // FOUND
%(barrier)s  if (i < num_elements) out[i] = a[i] + scale * staged[threadIdx.x%(stride)s];  // FOUND
"""


class Fault:
    """`edits`: [(text of the .cu file, what is put in its place)]. `found`: regular expressions of lines of the output; LINE
    stands for the lines with FOUND in the edited file, KERNEL for that of the kernel. `refused`: of lines that may not be
    there. `code`: exit code of the command; None: any but 0. `files` that the command writes."""

    def __init__(self, edits, command, found, refused=(), code=None, gpu=True, files=()):
        self.edits, self.command, self.found, self.refused = edits, command, found, refused
        self.code, self.gpu, self.files = code, gpu, files


def staged(elements, stride, barrier):
    return STAGED % {"elements": elements, "stride": stride, "barrier": barrier}


FAULTS = {
    "store_out_of_bounds": Fault(
        [(BODY, "  if (i < num_elements) out[i + 1] = a[i] + scale * b[i];  // FOUND\n")],
        SANITIZE + r"'^scaled_add_test[.]memcheck$'",
        [r"memcheck: Invalid __global__ write of size 4 bytes at " + KERNEL + r"\+0x\w+ in .*scaled_add\.cu:LINE"],
    ),
    "store_out_of_bounds_in_torch": Fault(
        [(BODY, "  if (i < num_elements) out[i + 1] = a[i] + scale * b[i];  // FOUND\n")],
        SANITIZE + r"'^scaled_add[.]cuda[.]memcheck$'",
        [r"memcheck: Invalid __global__ write of size 4 bytes at " + KERNEL + r"\+0x\w+ in .*scaled_add\.cu:LINE"],
    ),
    "uninitialised_read": Fault(
        [(BODY, "  if (i < num_elements) out[i] += a[i] + scale * b[i];  // FOUND\n")],
        SANITIZE + r"'^scaled_add[.]cuda[.]initcheck$'",
        [r"initcheck: Uninitialized __global__ memory read of size 4 bytes at " + KERNEL + r"\+0x\w+ in .*scaled_add\.cu:LINE"],
    ),
    "race": Fault(
        [(BODY, staged("kBlockSize", "", ""))],
        SANITIZE + r"'^scaled_add_test[.]racecheck$'",
        [r"racecheck: Race reported between (Read|Write) access at " + KERNEL + r"\+0x\w+ in .*scaled_add\.cu:LINE"],
    ),
    "barrier_of_some_threads": Fault(
        [(BODY, "  if (threadIdx.x % 3 == 0) __syncthreads();  // FOUND\n" + BODY)],
        SANITIZE + r"'^scaled_add_test[.]synccheck$'",
        [r"synccheck: Barrier error detected\. .* at " + KERNEL + r"\+0x\w+ in .*scaled_add\.cu:LINE"],
    ),
    "bank_conflict": Fault(
        [(BODY, staged("32 * kBlockSize", " * 32", "  __syncthreads();\n"))],
        PROFILE,
        [r"bank conflicts: \d+ excessive wavefronts in " + KERNEL + r", .*scaled_add\.cu:LINE"],
        code=0,
        files=("build/profile/scaled_add_benchmark.ncu/scaled_add_benchmark.ncu-rep", "build/profile/scaled_add_benchmark.ncu/roofline.png"),
    ),
    "bad_address": Fault(
        [(BODY, "  if (i < num_elements) out[i + (int64_t{1} << 40)] = a[i] + scale * b[i];\n")],
        "cmake --preset debug && cmake --build --preset debug && ctest --preset debug -R '^scaled_add_test[.].*Gpu'",
        [r".*kernel " + KERNEL + r" <<<\(1, 1, 1\), \(256, 1, 1\)>>>, launched in launch_scaled_add, failed: cudaErrorIllegalAddress.*"],
    ),
    "spill": Fault(
        [("__global__ void scaled", "__global__ void __launch_bounds__(kBlockSize, 8) scaled"), (BODY, MANY_REGISTERS)],
        REPORT.format("profile"),
        [r".* planted::scaled_add_kernel \(csrc/scaled_add\.cu:KERNEL\), sm_\w+, spills \d+ \+ \d+ bytes at csrc/scaled_add\.cu:LINE.*"],
        code=0,
        gpu=False,
    ),
    "no_launch_bound": Fault(
        [("kBlockSize = 256", "kBlockSize = 1024"), (BODY, MANY_REGISTERS)],
        REPORT.format("dev"),
        [
            r".* planted::scaled_add_kernel \(csrc/scaled_add\.cu:KERNEL\), sm_\w+, can't be launched with 512 threads or more "
            r"\(registers\): __launch_bounds__\(512\) leaves 128 registers"
        ],
        code=0,
        gpu=False,
    ),
    # What is found must not be found in the kernel as it is.
    "no_fault": Fault(
        [],
        SANITIZE + ". && " + PROFILE,
        [r"100% tests passed, 0 tests failed out of 8", r" +\d+\.\d .* 0  scaled_add/65536\b.*, " + KERNEL],
        refused=[r"(memcheck|racecheck|initcheck|synccheck): .*", r"bank conflicts: .*", r"SKIPPED: .*"],
        code=0,
    ),
}  # fmt: skip


def make(fault, directory):
    """Writes the project; {"LINE": regular expression of the lines that are to be found, "KERNEL": that of the kernel}."""
    python(directory, "new", "planted")
    source = directory / "planted" / CUDA
    text = source.read_text()
    for old, new in fault.edits:
        if text.count(old) != 1:
            raise SystemExit("planted_faults.py: %r stands %d times in %s" % (old, text.count(old), source))
        text = text.replace(old, new)
    source.write_text(text)
    lines = text.splitlines()
    found = [str(i + 1) for i, line in enumerate(lines) if line.endswith("// FOUND")]
    kernel = next(str(i + 1) for i, line in enumerate(lines) if "scaled_add_kernel(" in line)
    return {"LINE": "(%s)" % "|".join(found), "KERNEL": kernel}


def environment():
    """That of a user whose python is this one."""
    return dict(
        os.environ,
        PATH=os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"],
        PYTHONPATH=os.pathsep.join(filter(None, (str(REPOSITORY / "python"), os.environ.get("PYTHONPATH")))),
        PYTHONDONTWRITEBYTECODE="1",
        CudaOps_ROOT=str(REPOSITORY / "cmake"),
        CMAKE_BUILD_PARALLEL_LEVEL="2",
    )


def python(directory, *arguments):
    subprocess.run([sys.executable, "-m", "cudaops", *arguments], cwd=directory, env=environment(), check=True, stdout=subprocess.DEVNULL)


def check(name, directory, log):
    """(what is wrong, or "", seconds, the lines that were looked for)"""
    fault = FAULTS[name]
    directory = pathlib.Path(directory) / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    places = make(fault, directory)
    begin = time.monotonic()
    done = subprocess.run(
        fault.command, shell=True, cwd=directory / "planted", env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    seconds = time.monotonic() - begin
    # ctest puts the number of the test before a line of its output.
    lines = [re.sub(r"^\d+: ", "", line) for line in done.stdout.splitlines()]
    (log / (name + ".log")).write_text("%s\n%s\nexit code %d\n" % (fault.command, done.stdout, done.returncode))
    wrong, shown = [], []
    if (done.returncode != fault.code) if fault.code is not None else done.returncode == 0:
        wrong.append("exit code %d" % done.returncode)
    for wanted in fault.found:
        for word, place in places.items():
            wanted = wanted.replace(word, place)
        matches = [line for line in lines if re.fullmatch(wanted, line)]
        shown += matches
        if not matches:
            wrong.append("no line of the output matches " + wanted)
    for refused in fault.refused:
        wrong += ["in the output: " + line for line in lines if re.fullmatch(refused, line)]
    wrong += ["no file " + file for file in fault.files if not (directory / "planted" / file).is_file()]
    return "; ".join(wrong), seconds, shown


def missing(faults):
    """Why they can't be looked for here, or ""."""
    if any(FAULTS[name].gpu for name in faults) and not os.path.exists("/dev/nvidiactl"):
        return "no GPU on this machine"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", help="where the projects are made; default: a temporary directory, removed at the end")
    parser.add_argument("--log", help="a directory for the output of each command; default: beside the projects")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2), help="how many at once")
    parser.add_argument("faults", nargs="*", metavar="fault", help=", ".join(FAULTS))
    options = parser.parse_args()
    faults = options.faults or list(FAULTS)
    unknown = set(faults) - set(FAULTS)
    if unknown:
        parser.error("there is no fault %s" % ", ".join(sorted(unknown)))
    reason = missing(faults)
    if reason:
        print("SKIPPED: " + reason)
        return 77
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        directory = options.dir or temporary
        log = pathlib.Path(options.log or directory)
        log.mkdir(parents=True, exist_ok=True)
        failed = 0
        for name, (wrong, seconds, shown) in zip(faults, pool.map(lambda name: check(name, directory, log), faults)):
            failed += bool(wrong)
            print("%s  %-28s %6.1f s  %s" % ("FAIL" if wrong else "PASS", name, seconds, wrong))
            print("".join("      %s\n" % line.strip() for line in shown[:3]), end="", flush=True)
            if wrong and not options.log:
                print((log / (name + ".log")).read_text())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

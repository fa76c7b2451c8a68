# SPDX-License-Identifier: Apache-2.0
"""Build time, cost of a call and bandwidth of each way: compare.py [<way>...]

Each way is measured in a process of its own, with caches that are empty at its start.
"""

import importlib.metadata
import os
import subprocess
import sys
import tempfile
import time

import ways

HERE = os.path.dirname(os.path.abspath(__file__))
SIZE = 1 << 28  # 1 GiB an array
COLUMNS = ("build_s", "call_us", "large_us", "TB/s")


def build_by_cmake():
    """Seconds of cmake and of the build, in an empty directory; then the library is in the environment."""
    build = tempfile.mkdtemp()
    start = time.perf_counter()
    configure = ["cmake", "-G", "Ninja", "-S", HERE, "-B", build, f"-DPython_EXECUTABLE={sys.executable}"]
    for command in (configure, ["cmake", "--build", build, "--target", "one_add"]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    os.environ["CUDAOPS_ONE_ADD_LIBRARY"] = os.path.join(build, "libone_add.so")
    return time.perf_counter() - start


def median_ms(torch, function, calls):
    """Of one call between two events: what the host needs before its launch is in it."""
    times = []
    for _ in range(calls):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        function()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return sorted(times)[calls // 2]


def measure(way):
    import torch

    small = [torch.randn(1, device="cuda") for _ in range(2)]
    large = [torch.randn(SIZE, device="cuda") for _ in range(2)]
    torch.cuda.synchronize()
    cmake_s = 0
    if way == "add_torch_op":
        build_by_cmake()  # the first op of a machine builds the program that runs compilers, too
        cmake_s = build_by_cmake()
    start = time.perf_counter()
    add = ways.load(way)
    result = add(*large)
    torch.cuda.synchronize()
    build_s = cmake_s + time.perf_counter() - start
    assert torch.equal(result, large[0] + large[1]), way
    del result

    for _ in range(100):
        add(*small)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(1000):
        add(*small)
    torch.cuda.synchronize()
    call_us = (time.perf_counter() - start) * 1e3
    large_ms = median_ms(torch, lambda: add(*large), 20)
    print(f"{way:14} {build_s:8.2f} {call_us:8.1f} {1e3 * large_ms:9.0f} {3 * 4 * SIZE / large_ms / 1e9:6.2f}", flush=True)


if sys.argv[1:2] == ["--measure"]:
    measure(sys.argv[2])
    sys.exit()
print(f"{'way':14} {COLUMNS[0]:>8} {COLUMNS[1]:>8} {COLUMNS[2]:>9} {COLUMNS[3]:>6}", flush=True)
caches = tempfile.TemporaryDirectory()
for way in sys.argv[1:] or ways.WAYS:
    reason = ways.missing(way)
    if reason:
        print(f"SKIPPED: {way}: {reason}", file=sys.stderr)
        continue
    names = ("CUDAOPS_STORE", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "NUMBA_CACHE_DIR", "CUDA_CACHE_PATH")
    empty = {name: os.path.join(caches.name, name) for name in names}
    environment = {**os.environ, "CUDAOPS_CACHE": "OFF", **empty}
    subprocess.run([sys.executable, __file__, "--measure", way], env=environment, check=True)

print("\npackage version")
for package in ("torch", "triton", "numba-cuda"):
    try:
        print(package, importlib.metadata.version(package))
    except importlib.metadata.PackageNotFoundError:
        pass

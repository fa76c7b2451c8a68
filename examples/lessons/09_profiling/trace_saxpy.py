# SPDX-License-Identifier: Apache-2.0
"""Where the time of an op goes: trace_saxpy.py cpu|cuda [<trace.json>]"""

import json
import os
import sys
import tempfile
import time

import torch
from torch.profiler import ProfilerActivity, profile, record_function

device = sys.argv[1]
trace = sys.argv[2] if len(sys.argv) > 2 else os.path.join(tempfile.mkdtemp(), "trace.json")
on_gpu = device == "cuda"
if on_gpu and not torch.cuda.is_available():
    print("SKIPPED: torch sees no GPU")
    sys.exit(77)
torch.ops.load_library(os.environ["CUDAOPS_LESSON_SAXPY_LIBRARY"])
saxpy = torch.ops.lesson.saxpy
CALLS = 20

activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * on_gpu
sizes = [1 << exponent for exponent in (range(10, 29, 3) if on_gpu else (10, 16))]
tensors = {n: (torch.randn(n, device=device), torch.randn(n, device=device)) for n in sizes}
for x, y in tensors.values():  # the first call is slow: kernels are loaded
    torch.testing.assert_close(saxpy(2, x, y), 2 * x + y)

host_us = {}
with profile(activities=activities) as profiler:
    for n, (x, y) in tensors.items():
        with record_function(f"saxpy of {n}"):  # a range of its own in the trace
            start = time.perf_counter()
            for _ in range(CALLS):
                saxpy(2, x, y)
            host_us[n] = (time.perf_counter() - start) / CALLS * 1e6
        if on_gpu:
            torch.cuda.synchronize()
profiler.export_chrome_trace(trace)  # open it in https://ui.perfetto.dev

with open(trace, encoding="utf-8") as stream:
    events = json.load(stream)["traceEvents"]
calls = [event for event in events if event.get("name") == "lesson::saxpy"]
assert len(calls) == CALLS * len(sizes), f"{len(calls)} calls in the trace"
kernels = sorted(
    (event for event in events if event.get("cat") == "kernel" and "saxpy" in event["name"]),
    key=lambda event: event["ts"],
)
assert len(kernels) == len(calls) * on_gpu, f"{len(kernels)} kernels in the trace"

print(f"{'elements':>10} {'host_us':>9} {'kernel_us':>9} {'TB/s':>6}")
for i, n in enumerate(sizes):
    row = f"{n:10} {host_us[n]:9.1f}"
    if on_gpu:
        times = sorted(event["dur"] for event in kernels[i * CALLS : (i + 1) * CALLS])
        median = times[CALLS // 2]
        row += f" {median:9.1f} {3 * 4 * n / median / 1e6:6.2f}"  # two arrays read, one written
    print(row)

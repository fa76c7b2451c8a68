# SPDX-License-Identifier: Apache-2.0
"""Ops that were built with CUDAOPS_NVTX are ranges of a profiler: of tests/kernels/nvtx_recorder.cpp.

usage: test_ranges.py <recorder>
"""

import ctypes
import os
import sys

# NVTX looks at it when the first range begins.
os.environ["NVTX_INJECTION64_PATH"] = sys.argv[1]

import torch  # noqa: E402

recorder = ctypes.CDLL(sys.argv[1])
recorder.nvtx_recorder_take.restype = ctypes.c_char_p
torch.ops.load_library(os.environ["CUDAOPS_CUDAOPS_RANGES_LIBRARY"])
square = torch.ops.cudaops_examples.square


def recorded():
    return recorder.nvtx_recorder_take().decode()


for device in ["cpu"] + ["cuda"] * torch.cuda.is_available():
    input = torch.ones(4, device=device)
    recorded()
    square(input)
    assert recorded() == "square()", device
    print(device, "has its range")

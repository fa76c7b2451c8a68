# SPDX-License-Identifier: Apache-2.0
"""Blocks of 8 x 3 x 2 threads: which warp a thread is in, and which multiprocessor runs its block."""

import ctypes
import os
import sys

import torch

if not torch.cuda.is_available():
    print("SKIPPED: torch sees no GPU")
    sys.exit(77)

X, Y, Z = 8, 3, 2  # 48 threads: a full warp, and half of a second one
blocks = 4 * torch.cuda.get_device_properties(0).multi_processor_count
library = ctypes.CDLL(os.environ["CUDAOPS_WHO_AM_I_LIBRARY"])
facts = torch.full((blocks, X * Y * Z, 4), -1, dtype=torch.int32, device="cuda")
stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
library.launch_who_am_i(ctypes.c_void_p(facts.data_ptr()), blocks, X, Y, Z, stream)
facts = facts.cpu()

print(" x  y  z  thread  warp  lane")
for z in range(Z):
    for y in range(Y):
        for x in range(X):
            position = x + X * (y + Y * z)
            thread, first_of_warp, lane, _ = facts[0, position].tolist()
            assert (thread, first_of_warp, lane) == (position, position // 32 * 32, position % 32)
            print(f"{x:2} {y:2} {z:2}  {thread:6}  {first_of_warp // 32:4}  {lane:4}")

# One multiprocessor runs all threads of a block.
multiprocessors = facts[:, :, 3]
assert (multiprocessors == multiprocessors[:, :1]).all()
counts = torch.bincount(multiprocessors[:, 0])
print("\nmultiprocessor  blocks")
for multiprocessor, count in enumerate(counts.tolist()):
    print(f"{multiprocessor:14}  {count:6}")
assert counts.sum() == blocks

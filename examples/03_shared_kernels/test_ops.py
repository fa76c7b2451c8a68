# SPDX-License-Identifier: Apache-2.0
"""linear and gram, which share their kernels, on one device: test_ops.py cpu|cuda."""

import os
import sys

import torch

SKIPPED = 77

device = sys.argv[1]
if device == "cuda" and not torch.cuda.is_available():
    print("SKIPPED: torch sees no GPU")
    sys.exit(SKIPPED)

for op in ("LINEAR_OPS", "GRAM_OPS"):
    torch.ops.load_library(os.environ[f"CUDAOPS_{op}_LIBRARY"])
linear, gram = torch.ops.linear_ops.linear, torch.ops.gram_ops.gram

# Edges of the Hopper kernel's tiles (64 x 8, 16 of k), and sizes that are no multiple of anything.
for num_m, num_n, num_k in ((64, 8, 16), (65, 9, 17), (1, 1, 1), (130, 33, 100), (3, 0, 5), (3, 5, 0), (63, 7, 1000)):
    input = torch.randn(num_m, num_k, device=device).bfloat16()
    weight = torch.randn(num_n, num_k, device=device).bfloat16()
    for out, wanted in (
        (linear(input, weight), input.double() @ weight.double().t()),
        (linear(input, weight.t().contiguous().t()), input.double() @ weight.double().t()),
        (gram(input), input.double() @ input.double().t()),
    ):
        assert out.dtype == torch.float32 and out.shape == wanted.shape
        # Products of bfloat16 are exact in float32; the sum of num_k of them is not.
        torch.testing.assert_close(out.double(), wanted, rtol=1e-5, atol=1e-5 * max(num_k, 1) ** 0.5)
print(f"{device}: as torch says")

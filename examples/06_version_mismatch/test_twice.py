# SPDX-License-Identifier: Apache-2.0
"""torch.ops.mismatch_ops.twice, built with a toolkit that fits."""

import os

import torch

torch.ops.load_library(os.environ["CUDAOPS_MISMATCH_OPS_LIBRARY"])
for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
    input = torch.randn(1000, device=device)
    assert torch.equal(torch.ops.mismatch_ops.twice(input), 2 * input), device

# SPDX-License-Identifier: Apache-2.0
"""The package rowwise_ops, wherever Python finds it, on one device: test_rowwise_ops.py cpu|cuda."""

import sys

import torch

import rowwise_ops

SKIPPED = 77

device = sys.argv[1]
if device == "cuda" and not torch.cuda.is_available():
    print("SKIPPED: torch sees no GPU")
    sys.exit(SKIPPED)

for shape in ((1,), (0, 5), (3, 31), (2, 9, 1000)):
    input = torch.randn(shape, device=device)
    torch.testing.assert_close(rowwise_ops.absmax(input), input.abs().amax(-1), rtol=0, atol=0)
input = torch.randn(4, 33, device=device)
input[1, 5], input[2, 7], input[2, 0] = float("-inf"), float("nan"), float("inf")
torch.testing.assert_close(rowwise_ops.absmax(input), input.abs().amax(-1), rtol=0, atol=0, equal_nan=True)
torch.testing.assert_close(rowwise_ops.absmax(input.t()), input.t().abs().amax(-1), rtol=0, atol=0, equal_nan=True)

torch.library.opcheck(torch.ops.rowwise_ops.absmax.default, (torch.randn(3, 8, device=device),))
try:
    rowwise_ops.absmax(torch.zeros(3, 0, device=device))
except RuntimeError as error:
    assert "at least one element" in str(error), error
else:
    raise AssertionError("rows without elements have no absmax")
print(f"{device}: {rowwise_ops.__file__} as torch says")

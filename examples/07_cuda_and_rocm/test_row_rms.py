# SPDX-License-Identifier: Apache-2.0
"""torch.ops.both_ops.row_rms on one device: test_row_rms.py cpu|gpu."""

import os
import sys

import torch

SKIPPED = 77

which = sys.argv[1]
torch.ops.load_library(os.environ["CUDAOPS_BOTH_OPS_LIBRARY"])
if which == "gpu":
    if not torch._C._dispatch_has_kernel_for_dispatch_key("both_ops::row_rms", "CUDA"):
        print("SKIPPED: the library has no GPU kernel")
        sys.exit(SKIPPED)
    if not torch.cuda.is_available():
        print("SKIPPED: torch sees no GPU")
        sys.exit(SKIPPED)
# A torch for ROCm says cuda, too.
device = "cuda" if which == "gpu" else "cpu"
row_rms = torch.ops.both_ops.row_rms


@torch.library.register_fake("both_ops::row_rms")
def _(input):
    return input.new_empty(input.shape[:-1], dtype=torch.float32)


for dtype in (torch.float32, torch.bfloat16):
    for shape in ((1,), (0, 5), (3, 31), (7, 64), (2, 5, 1000), (1025, 33)):
        input = torch.randn(shape, device=device).to(dtype)
        wanted = input.double().pow(2).mean(-1).sqrt().float()
        torch.testing.assert_close(row_rms(input), wanted, rtol=1e-5, atol=0)
assert row_rms(torch.empty(3, 0, device=device)).isnan().all()
strided = torch.randn(9, 4, device=device).t()
torch.testing.assert_close(row_rms(strided), strided.pow(2).mean(-1).sqrt())
torch.library.opcheck(row_rms.default, (torch.randn(4, 7, device=device),))

for wrong, sentence in ((input.double(), "wanted float32 or bfloat16"), (input[0, 0], "wanted at least one dimension")):
    try:
        row_rms(wrong)
    except RuntimeError as error:
        assert sentence in str(error), error
    else:
        raise AssertionError(f"not refused: {sentence}")
print(f"{which}: as torch says")

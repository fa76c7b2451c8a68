# SPDX-License-Identifier: Apache-2.0
"""import pybind_ops, on one device: test_histogram.py cpu|cuda."""

import sys

import torch

import pybind_ops

SKIPPED = 77

device = sys.argv[1]
if device == "cuda" and not torch.cuda.is_available():
    print("SKIPPED: torch sees no GPU")
    sys.exit(SKIPPED)

for size in (0, 1, 255, 100003):
    values = torch.randint(0, 256, (size,), dtype=torch.uint8, device=device)
    wanted = torch.bincount(values.cpu().long(), minlength=256).int()
    assert torch.equal(pybind_ops.histogram(values).cpu(), wanted)
    assert torch.equal(pybind_ops.histogram(values, num_bins=10).cpu(), wanted[:10])
    assert torch.equal(pybind_ops.histogram(values[::2]).cpu(), torch.bincount(values[::2].cpu().long(), minlength=256))

total = pybind_ops.Histogram(256, device=torch.device(device))
for start in range(3):
    total.add(torch.arange(start, 256, dtype=torch.uint8, device=device))
assert total.counts[:4].tolist() == [1, 2, 3, 3]

for call, error, sentence in (
    (lambda: pybind_ops.histogram(torch.zeros(3)), TypeError, "wanted uint8, found Float"),
    (lambda: pybind_ops.Histogram(257), ValueError, "wanted 1 to 256 bins, found 257"),
    (lambda: total.add(torch.zeros(3, dtype=torch.uint8, device="meta")), ValueError, "found meta"),
):
    try:
        call()
    except error as refused:
        assert sentence in str(refused), refused
    else:
        raise AssertionError(f"not refused: {sentence}")
print(f"{device}: {pybind_ops.__file__.rpartition('/')[2]} as torch says")

# SPDX-License-Identifier: Apache-2.0
"""test_add.py <way>...: is each of them an addition, and a well-made op?"""

import sys

import ways

for way in sys.argv[1:]:
    reason = ways.missing(way)
    if reason:
        print(f"SKIPPED: {way}: {reason}")
        sys.exit(77)

import torch  # noqa: E402

if not torch.cuda.is_available():
    print("SKIPPED: torch sees no GPU")
    sys.exit(77)
for way in sys.argv[1:]:
    add = ways.load(way)
    for n in (1, 1000, 1 << 20, (1 << 20) + 7):
        a, b = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
        torch.testing.assert_close(add(a, b), a + b, rtol=0, atol=0)
    if way in ways.MODULES:
        torch.library.opcheck(add.default, (a, b), test_utils=("test_schema", "test_faketensor"))
    print(f"{way}: as torch says")

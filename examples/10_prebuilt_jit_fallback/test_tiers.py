# SPDX-License-Identifier: Apache-2.0
"""The same results whichever tier serves, with gradients and under torch.compile(fullgraph=True): test_tiers.py [STATE]"""

import sys
import warnings

import torch

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import scaled_ops

state = scaled_ops.library.state
print("%s: %s" % (state, scaled_ops.library.reason or scaled_ops.library.path))
if len(sys.argv) > 1 and state != sys.argv[1]:
    sys.exit("wanted %s, found %r" % (sys.argv[1], scaled_ops.library))
# A fallback is never silent.
assert [str(item.message) for item in caught if "scaled_ops" in str(item.message)] != [] or state != "FALLBACK"

a, b = torch.randn(33, requires_grad=True), torch.randn(33, requires_grad=True)
torch.testing.assert_close(scaled_ops.scaled_add(a, b, 0.5), a + 0.5 * b)
scaled_ops.scaled_add(a, b, 0.5).sum().backward()
torch.testing.assert_close(b.grad, torch.full_like(b, 0.5))
compiled = torch.compile(scaled_ops.scaled_add, fullgraph=True, backend="aot_eager")
torch.testing.assert_close(compiled(a, b, 0.5), a + 0.5 * b)
torch.library.opcheck(torch.ops.scaled_ops.scaled_add.default, (a.detach(), b.detach(), 0.5))

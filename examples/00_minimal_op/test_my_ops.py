# SPDX-License-Identifier: Apache-2.0
"""torch.ops.my_ops.add on one device: test_my_ops.py cpu|cuda."""

import os
import sys

import torch

SKIPPED = 77

device = sys.argv[1]
torch.ops.load_library(os.environ["CUDAOPS_MY_OPS_LIBRARY"])
if device == "cuda":
    if not torch._C._dispatch_has_kernel_for_dispatch_key("my_ops::add", "CUDA"):
        print("SKIPPED: the library has no CUDA kernel")
        sys.exit(SKIPPED)
    if not torch.cuda.is_available():
        print("SKIPPED: torch sees no GPU")
        sys.exit(SKIPPED)


# What torch.compile needs to know: the result without the computation.
@torch.library.register_fake("my_ops::add")
def _(a, b):
    return torch.empty_like(a)


def add_backward(ctx, grad_output):
    return grad_output, grad_output


torch.library.register_autograd("my_ops::add", add_backward)

for shape in ((), (0,), (1,), (7, 11), (100003,)):
    a, b = torch.randn(shape, device=device), torch.randn(shape, device=device)
    torch.testing.assert_close(torch.ops.my_ops.add(a, b), a + b, rtol=0, atol=0)

a, b = torch.randn(33, device=device, requires_grad=True), torch.randn(33, device=device)
torch.library.opcheck(torch.ops.my_ops.add.default, (a, b))

for wrong, sentence in ((b.double(), "wanted float32"), (b[:32], "wanted one shape")):
    try:
        torch.ops.my_ops.add(a, wrong)
    except RuntimeError as error:
        assert sentence in str(error), error
    else:
        raise AssertionError(f"not refused: {sentence}")
print(f"{device}: as torch says")

# SPDX-License-Identifier: Apache-2.0
"""torch.ops.fallback_ops.center on one device, and on torch's meta device, which nobody wrote a kernel for:
test_center.py cpu|cuda <cudaops-report.json>.
"""

import json
import os
import sys

import torch

SKIPPED = 77

device, report_file = sys.argv[1:]
torch.ops.load_library(os.environ["CUDAOPS_FALLBACK_OPS_LIBRARY"])
center = torch.ops.fallback_ops.center

# What the report says about the op is what the library holds.
with open(report_file, encoding="utf-8") as file:
    (op,) = json.load(file)["ops"]
print(f"{op['name']}: {op['state']} {op['reason_code']} {op['reason']}".rstrip())
has_cuda_kernel = torch._C._dispatch_has_kernel_for_dispatch_key("fallback_ops::center", "CUDA")
assert has_cuda_kernel == (op["state"] == "BUILT"), op
assert has_cuda_kernel or (op["state"] == "CPU_ONLY" and op["reason_code"] and op["reason"]), op

if device == "cuda" and not torch.cuda.is_available():
    print("SKIPPED: torch sees no GPU")
    sys.exit(SKIPPED)

torch.library.register_autograd("fallback_ops::center", lambda ctx, grad_output: center(grad_output))

for dtype in (torch.float32, torch.bfloat16, torch.float64):
    for shape in ((1,), (0,), (3, 0), (5, 1000), (2, 3, 33)):
        input = torch.randn(shape, dtype=dtype, device=device)
        out = center(input)
        wanted = (input.double() - input.double().mean(-1, keepdim=True)).to(dtype)
        # The composite rounds its sum to the input's type.
        tolerance = {torch.float32: 1e-5, torch.bfloat16: 3e-2, torch.float64: 1e-12}[dtype]
        torch.testing.assert_close(out, wanted, rtol=0, atol=tolerance)
        on_meta = center(input.to("meta"))
        assert on_meta.is_meta and (on_meta.shape, on_meta.dtype) == (out.shape, out.dtype)

strided = torch.randn(9, 4, device=device).t()
torch.testing.assert_close(center(strided), strided - strided.mean(-1, keepdim=True))
input = torch.randn(4, 7, device=device, requires_grad=True)
torch.library.opcheck(center.default, (input,))
print(f"{device} and meta: as torch says")

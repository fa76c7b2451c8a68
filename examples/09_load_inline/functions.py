# SPDX-License-Identifier: Apache-2.0
"""Vector add as the tutorials write it: torch::Tensor, and a list of functions to bind. Most of the time goes into torch's
headers; a second start takes milliseconds."""

import torch

import cudaops

SOURCE = """
torch::Tensor add(torch::Tensor a, torch::Tensor b) {
  TORCH_CHECK(a.sizes() == b.sizes(), "add: wanted one shape, found ", a.sizes(), " and ", b.sizes());
  return a + b;
}
torch::Tensor scale(torch::Tensor a, double factor) { return a * factor; }
"""

module = cudaops.load_inline("vector_functions", SOURCE, functions={"add": "a + b", "scale": "a * factor"})
a, b = torch.randn(1000), torch.randn(1000)
torch.testing.assert_close(module.add(a, b), a + b, rtol=0, atol=0)
torch.testing.assert_close(module.scale(a, 2.0), a * 2, rtol=0, atol=0)
print("%s with %s headers" % (module.__cudaops__["state"], module.__cudaops__["headers"]))

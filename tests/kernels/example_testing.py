# SPDX-License-Identifier: Apache-2.0
"""For the tests of torch.ops.cudaops_examples: the library, its fake kernels and gradients."""

import op_testing
from op_testing import dtypes, main, normal, opcheck, pytest_generate_tests, refusal, shapes  # noqa: F401

_library = op_testing.library("CUDAOPS_CUDAOPS_EXAMPLES_LIBRARY")
op_testing.probed_op = "cudaops_examples::square"

import torch  # noqa: E402  (a missing library is reported before a slow import)

DTYPES = dtypes()

# Once a process: pytest collects several files into one.
if not torch._C._dispatch_has_kernel("cudaops_examples::square"):
    torch.ops.load_library(_library)
    ops = torch.ops.cudaops_examples

    @torch.library.register_fake("cudaops_examples::vector_add")
    def _(a, b):
        return torch.empty_like(a, memory_format=torch.contiguous_format)

    @torch.library.register_fake("cudaops_examples::square")
    def _(input):
        return torch.empty_like(input, memory_format=torch.contiguous_format)

    @torch.library.register_fake("cudaops_examples::sum")
    def _(input):
        return input.new_empty(())

    def _save_input(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    def _square_backward(ctx, grad_output):
        return 2 * ctx.saved_tensors[0] * grad_output

    def _sum_backward(ctx, grad_output):
        return grad_output.expand_as(ctx.saved_tensors[0])

    torch.library.register_autograd(
        "cudaops_examples::vector_add", lambda ctx, grad_output: (grad_output, grad_output)
    )
    torch.library.register_autograd(
        "cudaops_examples::square", _square_backward, setup_context=_save_input
    )
    torch.library.register_autograd(
        "cudaops_examples::sum", _sum_backward, setup_context=_save_input
    )

ops = torch.ops.cudaops_examples

# SPDX-License-Identifier: Apache-2.0
"""softmax: fake kernels, gradients, the function."""

import torch

from ._library import ops
from ._registration import register_fake, register_once_differentiable


@register_fake("softmax")
def _(input, mask=None, scale=1.0, causal=False):
    return input.new_empty(input.shape)


@register_fake("softmax_backward")
def _(grad_output, output, scale=1.0, causal=False):
    return output.new_empty(output.shape)


register_once_differentiable("softmax_backward")


def _setup(ctx, inputs, output):
    _, mask, ctx.scale, ctx.causal = inputs
    ctx.save_for_backward(output)
    ctx.mask = None if mask is None else (mask.shape, mask.dtype)


def _backward(ctx, grad_output):
    (output,) = ctx.saved_tensors
    grad_input = grad_mask = None
    if ctx.needs_input_grad[0]:
        grad_input = ops.softmax_backward(grad_output, output, ctx.scale, ctx.causal)
    # A call that leaves the mask out has no entry for it.
    if ctx.mask is not None and ctx.needs_input_grad[1]:
        shape, dtype = ctx.mask
        grad_mask = ops.softmax_backward(grad_output, output, 1.0, ctx.causal)
        grad_mask = grad_mask.sum_to_size(shape).to(dtype)
    return grad_input, grad_mask, None, None


torch.library.register_autograd("cudaops::softmax", _backward, setup_context=_setup)


def softmax(input, dim=-1, *, mask=None, scale=1.0, causal=False):
    """torch.softmax(scale * input + mask, dim) in one pass, as attention needs it; dim is the last.

    mask broadcasts to input's shape: added if it is of input's dtype or float32, otherwise bool and
    True where a column is seen. causal: of input [..., queries, keys] query i sees the keys up to
    i + keys - queries. A row that sees nothing is zeros.
    """
    if isinstance(dim, torch.Tensor):
        raise RuntimeError("softmax: wanted an int for dim, found a tensor; mask is a keyword.")
    if dim not in (-1, input.dim() - 1):
        raise RuntimeError(
            f"softmax: wanted the last dimension, -1 or {input.dim() - 1}, for dim, found {dim}."
        )
    if mask is not None and input.dim() > 0 and (mask.dim() == 0 or mask.shape[-1] == 1):
        mask = mask.expand(*mask.shape[:-1], input.shape[-1])
    return ops.softmax(input, mask, scale, causal)

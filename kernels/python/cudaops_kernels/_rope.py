# SPDX-License-Identifier: Apache-2.0
"""rope: fake kernels, gradients, functions."""

import torch

from ._library import ops
from ._registration import refuse_gradients, register_fake, register_in_place


@register_fake("rope")
def _(q, k, cos, sin, positions, interleaved=False):
    return q.new_empty(q.shape), k.new_empty(k.shape)


@register_fake("rope_backward")
def _(grad_q, grad_k, cos, sin, positions, interleaved=False):
    return grad_q.new_empty(grad_q.shape), grad_k.new_empty(grad_k.shape)


@register_fake("rope_")
def _(q, k, cos, sin, positions, interleaved=False):
    return None


register_in_place("rope_")


def _setup(ctx, inputs, output):
    _, _, *tables, positions, ctx.interleaved = inputs
    if any(table.requires_grad for table in tables):
        raise RuntimeError("rope: wanted cos and sin without gradients, found requires_grad.")
    ctx.save_for_backward(*tables, positions)


def _gradients_by(op):
    def backward(ctx, grad_q, grad_k):
        return *op(grad_q, grad_k, *ctx.saved_tensors, ctx.interleaved), None, None, None, None

    return backward


# The rotation is linear: each of the two is the other's gradient.
torch.library.register_autograd(
    "cudaops::rope", _gradients_by(ops.rope_backward), setup_context=_setup
)
torch.library.register_autograd(
    "cudaops::rope_backward", _gradients_by(ops.rope), setup_context=_setup
)


def rope(q, k, cos, sin, positions=None, interleaved=False):
    """q and k with their rotary position embedding, by one kernel.

    q is [..., seq, heads, head_dim], k the same with its own number of heads; both may be views,
    also of one tensor. cos and sin are [positions, rotary_dim / 2], of q's dtype or float32; where
    rotary_dim is less than head_dim the rest of each head is copied. positions, of shape
    [..., seq], are int32 or int64; without them the position is the index in seq. Pairs are
    elements i and i + rotary_dim / 2, or 2i and 2i + 1 with interleaved=True.

    A position that cos has no row for is refused on the CPU; on a GPU, where positions aren't
    looked at, its rotated elements become NaN.
    """
    return ops.rope(q, k, cos, sin, positions, interleaved)


def rope_(q, k, cos, sin, positions=None, interleaved=False):
    """The same in place and without gradients: q and k themselves are rotated."""
    refuse_gradients("rope_", q=q, k=k)
    ops.rope_(q, k, cos, sin, positions, interleaved)

# SPDX-License-Identifier: Apache-2.0
"""rope: fake kernels, gradients, functions."""

import torch

from ._autograd import differentiable, raising, tangent_or_zero
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


def _register(name, op_of_gradients):
    def setup(ctx, args, outputs):
        _, _, *tables, positions, ctx.interleaved = args
        if any(table.requires_grad for table in tables):
            raise RuntimeError(f"{name}: wanted cos and sin without gradients, found requires_grad.")
        ctx.save_for_backward(*tables, positions)

    def backward(ctx, grad_q, grad_k):
        given = grad_q if grad_q is not None else grad_k
        # One that isn't there has no heads: any number of them will do.
        none = given.new_zeros((*given.shape[:-2], 1, given.shape[-1]))
        grads = op_of_gradients(
            none if grad_q is None else grad_q,
            none if grad_k is None else grad_k,
            *ctx.saved_tensors,
            ctx.interleaved,
        )
        return (
            None if grad_q is None else grads[0],
            None if grad_k is None else grads[1],
            None,
            None,
            None,
            None,
        )

    def jvp(args, tangents):
        if any(tangent is not None for tangent in tangents[2:4]):
            raise RuntimeError(f"{name}: wanted cos and sin without tangents, found one.")
        q, k, *others = args
        op = getattr(ops, name)
        return op(tangent_or_zero(tangents[0], q), tangent_or_zero(tangents[1], k), *others)

    return differentiable(name, setup=setup, backward=backward, jvp=jvp, num_differentiable=2)


# The rotation is linear: each of the two is the other's gradient.
_rope = _register("rope", ops.rope_backward)
_register("rope_backward", ops.rope)


_rope_in_place = raising(ops.rope_.default)


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
    return _rope(q, k, cos, sin, positions, interleaved)


def rope_(q, k, cos, sin, positions=None, interleaved=False):
    """The same in place and without gradients: q and k themselves are rotated."""
    refuse_gradients("rope_", q=q, k=k)
    _rope_in_place(q, k, cos, sin, positions, interleaved)

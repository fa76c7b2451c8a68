# SPDX-License-Identifier: Apache-2.0
"""bias_gelu: fake kernels, gradients, the function."""

from typing import Optional

import torch
from torch import Tensor

from ._autograd import differentiable, gradient
from ._gelu import gelu_and_slope
from ._batching import has_no_sums
from ._registration import Rows, register_op


def _placements(arguments: dict) -> list:
    from torch.distributed.tensor import Shard

    last = len(arguments["input"].shape) - 1
    rows = [([Shard(dim)], {"input": Shard(dim)}) for dim in range(last)]
    return [*rows, ([Shard(last)], {"input": Shard(last), "bias": Shard(0)})]


def _placements_of_backward(arguments: dict) -> list:
    from torch.distributed.tensor import Partial, Shard

    last = len(arguments["input"].shape) - 1
    both = ("input", "grad_output")
    rows: list = [
        ([Shard(dim), Partial()], {key: Shard(dim) for key in both}) for dim in range(last)
    ]
    columns = {**{key: Shard(last) for key in both}, "bias": Shard(0)}
    return [*rows, ([Shard(last), Shard(0)], columns)]


@register_op(
    "bias_gelu_backward",
    Rows(
        "input",
        "grad_output",
        placements=_placements_of_backward,
        is_one_call=has_no_sums("needs_grad_bias", "bias"),
    ),
    gradient,
)
def _gradient(grad_output, input, bias, approximate, needs_grad_bias):
    has_grad_bias = bias is not None and needs_grad_bias
    grad_bias = bias.new_empty(bias.shape) if has_grad_bias else input.new_empty(0)
    return input.new_empty(input.shape), grad_bias


def _setup(ctx, args, output):
    input, bias, ctx.approximate = args
    ctx.save_for_backward(input, bias)


def _backward(ctx, grad_output):
    input, bias = ctx.saved_tensors
    needs_grad_bias = bias is not None and ctx.needs_input_grad[1]
    grad_input, grad_bias = _gradient(grad_output, input, bias, ctx.approximate, needs_grad_bias)
    return grad_input, grad_bias if needs_grad_bias else None, None


def _jvp(args, tangents):
    input, bias, approximate = args
    z = input.float() if bias is None else input.float() + bias.float()
    tangent = torch.zeros_like(z)
    for part in tangents:
        if part is not None:
            tangent = tangent + part.float()
    return (gelu_and_slope(z, approximate)[1] * tangent).to(input.dtype)


@register_op(
    "bias_gelu",
    Rows("input", placements=_placements),
    differentiable(setup=_setup, backward=_backward, jvp=_jvp),
)
def _bias_gelu(input, bias, approximate):
    return input.new_empty(input.shape)


def bias_gelu(
    input: Tensor, bias: Optional[Tensor] = None, approximate: str = "none"
) -> Tensor:
    """torch.nn.functional.gelu(input + bias, approximate=approximate) in one pass.

    bias has one element for each of input's last dimension, and may be float32 where input is not.
    """
    return _bias_gelu(input, bias, approximate)

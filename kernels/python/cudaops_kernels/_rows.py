# SPDX-License-Identifier: Apache-2.0
"""What the row ops share on Python's side."""

import numbers
from collections.abc import Sequence
from typing import Any, Union

import torch

# Of the last dimensions, as in torch.nn.functional.
Shape = Union[int, Sequence[int]]


def per_row(input):
    """For a fake kernel: a float32 number a row."""
    return input.new_empty((*input.shape[:-1], 1), dtype=torch.float32)


def is_last_dimension(input, normalized_shape):
    """Whether there is nothing to make one: the usual case, in little time."""
    if not isinstance(input, torch.Tensor) or input.dim() == 0:
        return False
    size = input.shape[-1]
    if type(normalized_shape) is int:
        return normalized_shape == size
    if not isinstance(normalized_shape, (tuple, list)) or len(normalized_shape) != 1:
        return False
    # Of a tensor in the place of a size a comparison may have no truth value.
    return type(normalized_shape[0]) is int and normalized_shape[0] == size


def is_size(value: Any) -> bool:
    """Whether it is an int: Python's, a traced one or one of numpy."""
    return isinstance(value, (int, torch.SymInt)) or isinstance(value, numbers.Integral)


def _sizes(op: str, normalized_shape: Any) -> tuple:
    if is_size(normalized_shape):
        return (normalized_shape,)
    wanted = f"{op}: wanted an int or a sequence of ints for normalized_shape, found"
    if isinstance(normalized_shape, torch.Tensor):
        # With weight in its place.
        raise TypeError(
            f"{wanted} a tensor. Fix: normalized_shape=input.shape[-1:], weight=<the tensor>."
        )
    if not isinstance(normalized_shape, Sequence):
        raise TypeError(f"{wanted} {type(normalized_shape).__name__}.")
    for size in normalized_shape:
        if not is_size(size):
            raise TypeError(f"{wanted} one with a {type(size).__name__}.")
    return tuple(normalized_shape)


def flat_rows(op, input, normalized_shape, columns, is_written=False):
    """input and the columns' values with the normalised dimensions made one; input itself where
    they are one.

    columns: name → tensor of shape normalized_shape, or None. is_written: of an input that can only
    be copied there is nothing to write to.
    """
    if not isinstance(input, torch.Tensor):
        # The op's own sentence has the argument's name.
        return input, columns.values()
    shape = _sizes(op, normalized_shape)
    if not shape or input.shape[input.dim() - len(shape) :] != shape:
        raise ValueError(
            f"{op}: wanted input's last dimensions to be normalized_shape {list(shape)}, "
            f"found shape {list(input.shape)}."
        )
    if len(shape) == 1:
        return input, columns.values()
    for name, tensor in columns.items():
        if tensor is not None and tensor.shape != shape:
            raise ValueError(
                f"{op}: wanted shape {list(shape)} for {name}, found {list(tensor.shape)}."
            )
    flat = [None if tensor is None else tensor.flatten() for tensor in columns.values()]
    if is_written:
        return input.view((*input.shape[: input.dim() - len(shape)], -1)), flat
    return input.flatten(input.dim() - len(shape)), flat


def shaped_as(input, rows, output):
    """What became of `rows`, in the shape of the input that they were made from."""
    return output if rows is input else output.view(input.shape)


def halves(op: str, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The first and the second half of the last dimension, as views."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{op}: wanted a tensor for x, found {type(x).__name__}.")
    if x.dim() == 0 or x.shape[-1] % 2:
        raise ValueError(
            f"{op}: wanted an even last dimension for x, found shape {list(x.shape)}."
        )
    first, second = x.chunk(2, -1)
    return first, second

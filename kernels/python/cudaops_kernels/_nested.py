# SPDX-License-Identifier: Apache-2.0
"""Jagged tensors of torch.nested: an op of rows is one call on the values of all sequences."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nested._internal.nested_tensor import NestedTensor

from ._library import by_name, ops, with_twin


def _shape(tensor: torch.Tensor) -> str:
    return f"[{', '.join(map(str, tensor.shape))}]"


def _first_jagged(name: str, arguments: dict, rows: Sequence[str]) -> str:
    """Its name. The others of rows are jagged too, with the same sequences."""
    tensors = {key: value for key, value in arguments.items() if isinstance(value, torch.Tensor)}
    first = next(key for key, value in tensors.items() if isinstance(value, NestedTensor))
    like: Any = tensors[first]
    for key, value in tensors.items():
        is_jagged = isinstance(value, NestedTensor)
        if is_jagged != (key in rows):
            wanted, found = ("strided", "jagged") if is_jagged else ("jagged", "strided")
            beside = "" if key == first else f" beside the jagged {first}"
            raise RuntimeError(
                f"{name}: wanted a {wanted} tensor for {key}{beside}, found a {found} one."
            )
        # Sizes of sequences are equal where they are those of one tensor of offsets.
        dim = like._ragged_idx
        if is_jagged and (value._ragged_idx != dim or value.shape[dim] != like.shape[dim]):
            raise RuntimeError(
                f"{name}: wanted the sequences of one tensor of offsets in {first} and {key}, found "
                f"shapes {_shape(like)} and {_shape(value)}."
            )
    return first


def register_jagged(op: Any, rows: Sequence[str], last: Callable[[dict], int]) -> None:
    """rows: the arguments whose leading dimensions are rows; none of an op whose rows depend on each
    other. last(arguments): how many of the last dimensions belong together."""
    name = op._schema.name.split("::")[1]
    values_of = by_name(op)

    def rule(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        arguments = values_of(args, kwargs or {})
        first = _first_jagged(name, arguments, rows)
        like: Any = arguments[first]
        num_last, dim = last(arguments), like._ragged_idx
        if dim >= like.dim() - num_last:
            raise RuntimeError(
                f"{name}: wanted {first}'s sequences before its last {num_last} dimensions, found "
                f"shape {_shape(like)}."
            )
        outputs = func(
            **{
                key: value._values if isinstance(value, NestedTensor) else value
                for key, value in arguments.items()
            }
        )

        def jagged(output: torch.Tensor) -> torch.Tensor:
            # Sums of rows, and what there is none of, have no rows.
            if output.dim() != like.dim() - 1 or output.shape[:dim] != like._values.shape[:dim]:
                return output
            return NestedTensor(
                output,
                offsets=like._offsets,
                lengths=like._lengths,
                _ragged_idx=dim,
                _metadata_cache=like._metadata_cache,
            )

        return tuple(map(jagged, outputs)) if isinstance(outputs, tuple) else jagged(outputs)

    for op_or_twin in with_twin(name):
        which = getattr(getattr(ops, op_or_twin), op._overloadname)
        torch.library.register_torch_dispatch(which._name, NestedTensor, rule)

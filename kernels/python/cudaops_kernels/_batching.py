# SPDX-License-Identifier: Apache-2.0
"""torch.vmap: a batch of calls is one call with more rows. Where it isn't (a weight for each member
of the batch, sums of rows for each), a call is made for each member."""

from typing import Any, Callable, Optional, Sequence

import torch

from ._library import ops


def _tuple(outputs: Any) -> tuple:
    return outputs if isinstance(outputs, tuple) else (outputs,)


def _returned(outputs: Sequence[Any], out_dims: Sequence[Optional[int]]) -> Any:
    if len(outputs) == 1:
        return outputs[0], out_dims[0]
    return tuple(outputs), tuple(out_dims)


def _is_left_out(output: torch.Tensor) -> bool:
    """What stands for a result that there is none of."""
    return output.dim() == 1 and output.shape[0] == 0


def _of_none(op: Any, in_dims: Sequence[Any], args: Sequence[Any]) -> Any:
    """Without members of the batch: the shapes of a call of zeros."""
    member = [
        arg if dim is None else arg.new_zeros([*arg.shape[:dim], *arg.shape[dim + 1 :]])
        for arg, dim in zip(args, in_dims)
    ]
    outputs = _tuple(op(*member))
    left_out = [_is_left_out(output) for output in outputs]
    return _returned(
        [o if is_out else o.new_empty(0, *o.shape) for o, is_out in zip(outputs, left_out)],
        [None if is_out else 0 for is_out in left_out],
    )


def _one_by_one(op: Any, batch_size: int, in_dims: Sequence[Any], args: Sequence[Any]) -> Any:
    if batch_size == 0:
        return _of_none(op, in_dims, args)
    calls = []
    for index in range(batch_size):
        member = [
            arg if dim is None else arg.select(dim, index) for arg, dim in zip(args, in_dims)
        ]
        calls.append(_tuple(op(*member)))
    outputs, out_dims = [], []
    for members in zip(*calls):
        left_out = _is_left_out(members[0])
        outputs.append(members[0] if left_out else torch.stack(members))
        out_dims.append(None if left_out else 0)
    return _returned(outputs, out_dims)


def register_batching(
    name: str,
    rows: Sequence[str],
    *,
    num_dims: int = 1,
    is_one_call: Callable[[dict], bool] = lambda arguments: True,
    prepare: Optional[Callable[[dict, dict], None]] = None,
) -> None:
    """rows: the arguments whose leading dimensions are rows; of the first, num_dims are needed for
    a call. is_one_call(arguments): whether these allow it. prepare(arguments, dims): may bring
    other arguments that are part of the batch to where the call takes them."""
    op = getattr(ops, name).default
    schema = op._schema.arguments
    names = [argument.name for argument in schema]
    defaults = [argument.default_value for argument in schema]

    def rule(info: Any, in_dims: Any, *args: Any) -> Any:
        args = (*args, *defaults[len(args) :])
        # A list of numbers has a list.
        in_dims = [dim if isinstance(dim, int) else None for dim in in_dims]
        in_dims += [None] * (len(args) - len(in_dims))
        arguments, dims = dict(zip(names, args)), dict(zip(names, in_dims))
        first = arguments[rows[0]]
        own_dims = first.dim() - (dims[rows[0]] is not None)
        if own_dims >= num_dims and is_one_call({**arguments, "own_dims": own_dims}):
            for key in rows:
                value = arguments[key]
                if value is None:
                    continue
                if dims[key] is None:
                    arguments[key] = value.expand(info.batch_size, *value.shape)
                else:
                    arguments[key] = value.movedim(dims[key], 0)
                dims[key] = None
            if prepare is not None:
                prepare(arguments, dims)
            if all(dim is None for dim in dims.values()):
                outputs = _tuple(op(*arguments.values()))
                return _returned(outputs, [None if _is_left_out(o) else 0 for o in outputs])
        return _one_by_one(op, info.batch_size, in_dims, args)

    torch.library.register_vmap(f"cudaops::{name}", rule)


def has_no_sums(flag: str, column: str) -> Callable[[dict], bool]:
    """For is_one_call: no sum over rows is wanted."""
    return lambda arguments: arguments[column] is None or not arguments[flag]

# SPDX-License-Identifier: Apache-2.0
"""Rules of torch.distributed.tensor: which placements of arguments an op takes, and what comes out.

Others are redistributed by torch: a sharded row is gathered, a Partial reduced, as for torch's own
ops. Registered where DTensor is imported already, else when the first DTensor comes, or a graph is
captured: to import it takes half as long as torch itself.
"""

import sys
from typing import Any, Callable, Sequence

import torch

from ._library import constant_when_compiled, ops, with_twin

_registered = False


def register_if_missing(error: BaseException) -> bool:
    """Whether this error was that of a DTensor for which there are rules now."""
    if _registered or "sharding strategy" not in str(error):
        return False
    register()
    return True


# An op's name → placements(arguments): pairs of outputs' and tensors' placements, by which the op may
# run besides all replicated; a dictionary by name for the tensors.
Placements = Callable[[dict], Sequence[tuple]]
_rules: dict[str, Placements] = {}


def register_sharding(name: str, placements: Placements) -> None:
    _rules[name] = placements
    if _registered:
        _register_rule(name)


def register() -> None:
    """Once a process."""
    global _registered
    if not _registered:
        _registered = True
        for name in _rules:
            _register_rule(name)


def _register_rule(name: str) -> None:
    from torch.distributed.tensor import Replicate
    from torch.distributed.tensor.experimental import register_sharding as register_with_torch

    op = getattr(ops, name).default
    schema = op._schema.arguments
    names = [argument.name for argument in schema]
    defaults = [argument.default_value for argument in schema]
    num_outputs = len(op._schema.returns)

    def choices(*args: Any) -> list:
        values = (*args, *defaults[len(args) :])
        arguments = dict(zip(names, values))
        tensors = [key for key in names[: len(args)] if hasattr(arguments[key], "tensor_meta")]
        everywhere: list = [([Replicate()] * num_outputs, {})]
        return [
            (
                list(outputs),
                [
                    inputs.get(key, Replicate()) if key in tensors else None
                    for key in names[: len(args)]
                ],
            )
            for outputs, inputs in (*everywhere, *_rules[name](arguments))
        ]

    for op_or_twin in with_twin(name):
        register_with_torch(getattr(ops, op_or_twin).default)(choices)


def by_rows(
    rows: Sequence[str], num_outputs: int, num_sums: int, last: Callable[[dict], int]
) -> Placements:
    """All but the last dimensions may be sharded. num_sums: outputs behind those of rows, which are
    sums of rows."""

    def placements(arguments: dict) -> list:
        from torch.distributed.tensor import Partial, Shard

        num_dims = len(arguments[rows[0]].shape) - last(arguments)
        return [
            (
                [Shard(dim)] * num_outputs + [Partial()] * num_sums,
                {key: Shard(dim) for key in rows},
            )
            for dim in range(num_dims)
        ]

    return placements


@constant_when_compiled
def register_if_imported() -> None:
    """Before a graph is captured: there an error of the first DTensor couldn't be caught."""
    if "torch.distributed.tensor" in sys.modules:
        register()


register_if_imported()


def token_dims(num_dims: int, has_positions: bool) -> range:
    """Without positions a token's is its place in the sequence, which must be there from its
    beginning."""
    return range(num_dims - (2 if has_positions else 3))


def _written_dims(name: str, arguments: dict) -> tuple[Sequence[int], tuple[str, ...]]:
    """Along which dimensions tensors that an op writes may be sharded, and the other tensors that
    are sharded like them."""
    if name == "fused_add_rms_norm_":
        return range(arguments["input"].dim() - 1), ()
    if name == "rope_":
        num_dims = arguments["q"].dim()
        tokens = token_dims(num_dims, arguments.get("positions") is not None)
        return (*tokens, num_dims - 2), ("positions",)
    return (), ()


def shards_to_write(name: str, arguments: dict, written: Sequence[str]) -> dict:
    """The arguments with the shards of this process for DTensors. What is written stays where it
    is: a tensor that would have to be redistributed first is refused."""
    from torch.distributed.tensor import Replicate, Shard

    first = arguments[written[0]]
    dims, alike = _written_dims(name, arguments)
    for key, value in arguments.items():
        if isinstance(value, torch.Tensor) and not hasattr(value, "_local_tensor"):
            raise RuntimeError(f"{name}: wanted DTensors beside DTensors, found a tensor for {key}.")
    placements = tuple(getattr(first, "placements"))
    for key in written:
        value = arguments[key]
        if value.device_mesh != first.device_mesh or tuple(value.placements) != placements:
            raise RuntimeError(
                f"{name}: wanted one mesh and one placement for {' and '.join(written)}, found "
                f"{placements} and {tuple(value.placements)}."
            )
    for placement in placements:
        if placement != Replicate() and placement not in [Shard(dim) for dim in dims]:
            raise RuntimeError(
                f"{name}: wanted DTensors that are replicated or sharded by rows, as they are "
                f"overwritten, found {placement}."
            )
    # Of heads the others have all.
    own = [
        p if p == Replicate() or p.dim < first.dim() - 2 else Replicate() for p in placements
    ]
    result = {}
    for key, value in arguments.items():
        if hasattr(value, "_local_tensor"):
            if key not in written:
                wanted = own if key in alike else [Replicate()] * len(placements)
                value = value.redistribute(placements=wanted)
            value = value._local_tensor
        result[key] = value
    return result


def local(tensor: Any) -> Any:
    """A DTensor's shard of this process; any other tensor itself."""
    return getattr(tensor, "_local_tensor", tensor)


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """A number that may be a DTensor, as it is everywhere."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def local_gradient(param: Any, grad: Any) -> Any:
    """Sharded like its parameter, as torch's FSDP has it already, the part of this process."""
    if not hasattr(param, "_local_tensor"):
        return grad
    if grad.placements != param.placements:
        grad = grad.redistribute(placements=param.placements)
    return grad._local_tensor

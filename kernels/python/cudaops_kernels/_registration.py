# SPDX-License-Identifier: Apache-2.0
"""What every op of the library is registered with on Python's side."""

from collections.abc import Callable
from typing import Any, Optional, Union

import torch

from ._autograd import _library, raising
from ._batching import register_batching
from ._library import by_name, ops, with_twin
from ._nested import register_jagged
from ._sharding import Placements, by_rows, register_sharding, shards_to_write

# A learning rate may lie on the CPU beside tensors of a GPU.
_ANYWHERE = ("lr", "lr_tensor")


def _tensors(value):
    if isinstance(value, torch.Tensor):
        return (value,)
    if isinstance(value, (list, tuple)):
        return tuple(one for one in value if isinstance(one, torch.Tensor))
    return ()


def _check_devices(name, values):
    first = None
    for argument, value in values.items():
        for tensor in _tensors(value):
            if argument in _ANYWHERE and tensor.is_cpu:
                continue
            if first is None:
                first = (argument, tensor.device)
            elif tensor.device != first[1]:
                raise RuntimeError(
                    f"{name}: wanted one device for {first[0]} and {argument}, "
                    f"found {first[1]} and {tensor.device}."
                )


class Rows:
    """Along which dimensions an op's tensors may be divided: what torch.vmap, DTensor and jagged
    tensors ask.

    tensors: names of arguments whose leading dimensions are rows. num_outputs are of rows too; behind
    them come num_sums outputs that are sums of rows. last: how many of the last dimensions belong
    together (0 of an element-wise op, 2 of matrices), or last(arguments). placements(arguments): for
    DTensor, where these don't say it; is_one_call(arguments) and prepare(arguments, dims): for
    torch.vmap, see register_batching(). is_jagged: whether rows of different sequences may be.
    """

    def __init__(
        self,
        *tensors: str,
        num_outputs: int = 1,
        num_sums: int = 0,
        last: Union[int, Callable[[dict], int]] = 1,
        num_dims: Optional[int] = None,
        placements: Optional[Placements] = None,
        is_one_call: Callable[[dict], bool] = lambda arguments: True,
        prepare: Optional[Callable[[dict, dict], None]] = None,
        is_jagged: bool = True,
    ) -> None:
        self.tensors = tensors
        self.last = last if callable(last) else lambda arguments: last
        self.placements = placements or by_rows(tensors, num_outputs, num_sums, self.last)
        self.jagged = tensors if is_jagged else ()
        self.batching: dict = {
            "num_dims": (1 if callable(last) else max(1, last)) if num_dims is None else num_dims,
            "is_one_call": is_one_call,
            "prepare": prepare,
        }


def register_op(
    name: str,
    rows: Optional[Rows] = None,
    autograd: Optional[Callable[[str], Callable[..., Any]]] = None,
    overload: str = "default",
) -> Any:
    """All that Python says of an op, as a decorator of its fake kernel, which gives the op as a
    function of all its arguments.

    rows: what torch.vmap and DTensor ask. autograd: differentiable(...), gradient, without_gradient
    or in_place; without it the decorator gives back the fake kernel, and derivatives are the
    caller's. The fake kernel gets all arguments by their names, also those that a call leaves to
    their defaults. It is torch's kernel for meta tensors too, which torch calls as soon as one of
    several is: devices are compared first.
    """
    op = getattr(getattr(ops, name), overload)
    values = by_name(op)
    if rows is None:
        register_jagged(op, (), lambda arguments: 0)
    else:
        register_jagged(op, rows.jagged, rows.last)
        register_batching(name, rows.tensors, **rows.batching)
        register_sharding(name, rows.placements)

    def decorate(fake: Any) -> Any:
        def checked(*args: Any, **kwargs: Any) -> Any:
            arguments = values(args, kwargs)
            _check_devices(name, arguments)
            return fake(**arguments)

        for op_or_twin in with_twin(name):
            which = getattr(getattr(ops, op_or_twin), overload)
            torch.library.register_fake(which._name, checked)
        return fake if autograd is None else autograd(name)

    return decorate


def refuse_gradients(name, because="it is overwritten", **arguments):
    """For an op that overwrites these tensors, or that has no derivative by them."""
    for argument, tensor in arguments.items():
        if getattr(tensor, "requires_grad", False) and torch.is_grad_enabled():
            raise RuntimeError(
                f"{name}: wanted {argument} without a gradient, as {because}, "
                f"found requires_grad."
            )


def in_place(name: str) -> Callable[..., Any]:
    """For register_op(): an op that changes arguments. A tensor that needs a gradient is refused,
    and whoever saved one for a backward pass learns that it has changed. Of DTensors it changes the
    shards of this process, where these are enough."""
    op = getattr(ops, name).default
    values = by_name(op)
    written = [
        (index, argument.name)
        for index, argument in enumerate(op._schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]

    def kernel(keyset, *args, **kwargs):
        changed = {
            argument: args[index] if index < len(args) else kwargs.get(argument)
            for index, argument in written
        }
        refuse_gradients(name, **changed)
        if any(hasattr(tensor, "_local_tensor") for tensor in changed.values()):
            result = op(**shards_to_write(name, values(args, kwargs), tuple(changed)))
            torch.autograd.graph.increment_version(tuple(changed.values()))
            return result
        with torch._C._AutoDispatchBelowADInplaceOrView():
            result = op.redispatch(
                keyset & torch._C._after_ADInplaceOrView_keyset, *args, **kwargs
            )
        torch.autograd.graph.increment_version(
            [tensor for tensor in changed.values() if not tensor.is_inference()]
        )
        return result

    # As torch.library.custom_op does it.
    _library.impl(name, kernel, "ADInplaceOrView", with_keyset=True)
    # That key has no part of its own for jagged tensors, which are refused further below.
    _library.impl(name, torch.library.fallthrough_kernel, "AutogradNestedTensor")
    return raising(op)

# SPDX-License-Identifier: Apache-2.0
"""What an op refuses, asked of its C++ binding, for tensors without data."""

from typing import Any

import torch
from torch import Tensor

from ._library import ops


class _Unknown(Exception):
    pass


def _known(value: Any) -> Any:
    """A number, or the example's for a symbol of torch.compile: nothing is guarded."""
    if not isinstance(value, (torch.SymInt, torch.SymFloat)):
        return value
    if not value.node.has_hint():
        raise _Unknown
    return value.node.hint


def _without_data(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return _known(value)
    sizes, strides = ([_known(number) for number in numbers] for numbers in (value.shape, value.stride()))
    return torch.empty_strided(sizes, strides, dtype=value.dtype, device="meta")


def check(name: str, **arguments: Any) -> None:
    """For the fake kernel of an op that has define_check() in its binding: raises what a call with
    such arguments would, but for what their numbers or their device decide. A call with a size that
    follows from numbers, which torch.compile doesn't know, is checked when the compiled code runs."""
    # Below FakeTensorMode and the like, which would ask this fake kernel.
    with torch._C._DisableTorchDispatch():
        try:
            stand_ins = {key: _without_data(value) for key, value in arguments.items()}
        except _Unknown:
            return
        getattr(ops, f"_check_{name}").default(**stand_ins)

# SPDX-License-Identifier: Apache-2.0
"""Loads the library that registers torch.ops.cudaops; once a process."""

import importlib.util
import os
from collections.abc import Callable
from typing import Any

import torch

# A library elsewhere, for those who build it themselves: a path.
VARIABLE = "CUDAOPS_CUDAOPS_KERNELS_LIBRARY"


def _load():
    if torch._C._dispatch_has_kernel("cudaops::rms_norm"):
        return
    path = os.environ.get(VARIABLE)
    if path:
        torch.ops.load_library(path)
        return
    if importlib.util.find_spec("._C", __package__) is None:
        raise ImportError(
            f"cudaops_kernels: the library is missing.\n"
            f"  found   no _C.abi3.so in {os.path.dirname(__file__)}, {VARIABLE} is not set\n"
            f"Fix: pip install ./kernels   (in a checkout of CudaOps)"
        )
    from . import _C  # noqa: F401  (importing it registers the ops)


_load()
ops = torch.ops.cudaops


def by_name(op: Any) -> Callable[[tuple, dict], dict]:
    """values(args, kwargs): all arguments of a call of an op, in the order of its schema, also those
    that are left to their defaults."""
    defaults = {argument.name: argument.default_value for argument in op._schema.arguments}
    return lambda args, kwargs: {**defaults, **dict(zip(defaults, args)), **kwargs}


def with_twin(name: str) -> tuple[str, ...]:
    """An op's name, and that of its twin without autograd if there is one."""
    return (name, f"_{name}") if hasattr(ops, f"_{name}") else (name,)


def constant_when_compiled(function: Any) -> Any:
    """torch.compiler.assume_constant_result(), which imports the compiler for it: where a call is captured, it is
    made then, and its result stands in the graph."""
    function._dynamo_marked_constant = True
    return function

# SPDX-License-Identifier: Apache-2.0
"""torch.utils.flop_counter: attention counts as torch's own does, whatever is masked.

That module imports Triton (0.2 s), so formulas are registered when somebody imports it.
"""

import importlib.abc
import importlib.util
import sys
from collections.abc import Iterator
from typing import Any

import torch

from ._library import by_name, ops, with_twin

_MODULE = "torch.utils.flop_counter"
# Matrix products with head_dim of q and k, and with that of v: the scores are calculated again.
_FORWARD, _BACKWARD = (1, 1), (3, 2)


def _lengths(offsets: torch.Tensor, longest: int) -> list:
    """Of offsets without data the bound is what is known, as in torch."""
    from torch._subclasses.fake_tensor import FakeTensor
    from torch._subclasses.functional_tensor import FunctionalTensor

    if isinstance(offsets, (FakeTensor, FunctionalTensor)) or offsets.is_meta:
        return [longest] * (offsets.numel() - 1)
    lengths: list = offsets.diff().tolist()
    return lengths


def _pairs(values: dict) -> Iterator[Any]:
    """Of each sequence the number of pairs of a query and a key."""
    q, k = values["q"], values["k"]
    if "cu_seqlens_q" in values:
        lengths = (
            _lengths(values["cu_seqlens_" + of], values["max_seqlen_" + of]) for of in ("q", "k")
        )
        yield from (seq_q * seq_k for seq_q, seq_k in zip(*lengths))
    else:
        yield q.shape[0] * q.shape[1] * k.shape[1]


def _formula(name: str, of_keys: int, of_values: int) -> Any:
    values_of = by_name(getattr(ops, name).default)

    def flops(*args: Any, out_val: Any = None, **kwargs: Any) -> Any:
        values = values_of(args, kwargs)
        q, v = values["q"], values["v"]
        width = of_keys * q.shape[-1] + of_values * v.shape[-1]
        return 2 * q.shape[-2] * width * sum(_pairs(values))

    return flops


def _register(module: Any) -> None:
    for name, products in {
        "attention": _FORWARD,
        "attention_varlen": _FORWARD,
        "attention_float8": _FORWARD,
        "attention_varlen_float8": _FORWARD,
        "attention_backward": _BACKWARD,
        "attention_varlen_backward": _BACKWARD,
    }.items():
        packets = [getattr(ops, op_or_twin) for op_or_twin in with_twin(name)]
        module.register_flop_formula(packets, get_raw=True)(_formula(name, *products))


class _WhenImported(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            _register(module)

        setattr(spec.loader, "exec_module", exec_module)
        return spec


if _MODULE in sys.modules:
    _register(sys.modules[_MODULE])
else:
    sys.meta_path.insert(0, _WhenImported())

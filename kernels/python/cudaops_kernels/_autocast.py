# SPDX-License-Identifier: Apache-2.0
"""torch.autocast: an op computes in the dtype in which torch's own function does on that device."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ._autograd import _library
from ._library import ops


def _has_rule(function: str, key: str) -> bool:
    return torch._C._dispatch_has_kernel_for_dispatch_key(function, key)


def _to_float32(device: str, args: dict) -> torch.dtype:
    return torch.float32


def _to_lower(device: str, args: dict) -> torch.dtype:
    return torch.get_autocast_dtype(device)


def _to_cache(device: str, args: dict) -> torch.dtype:
    """A cache isn't cast: what meets it has its dtype, or autocast's own beside float8."""
    kept: torch.dtype = args["k_cache"].dtype
    return _to_lower(device, args) if kept.itemsize == 1 else kept


def _register(
    name: str,
    device: str,
    casts: Sequence[str],
    dtype_of: Callable[[str, dict], torch.dtype] = _to_float32,
) -> None:
    """casts: arguments that become of dtype_of(device, arguments by name), but for float64 as in torch,
    which becomes float32 alone."""
    key = f"Autocast{device}"
    op = getattr(ops, name).default
    names = [argument.name for argument in op._schema.arguments]
    keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))
    places = [names.index(argument) for argument in casts]

    def kernel(*args: Any) -> Any:
        dtype = dtype_of(device.lower(), dict(zip(names, args)))
        with torch._C._ExcludeDispatchKeyGuard(keys):
            args_of_op = list(args)
            # The dispatcher leaves out trailing arguments that have their defaults.
            for place in (place for place in places if place < len(args_of_op)):
                value = args_of_op[place]
                if not isinstance(value, torch.Tensor) or not value.is_floating_point():
                    continue
                if dtype_of is _to_float32 or value.dtype != torch.float64:
                    args_of_op[place] = value.to(dtype)
            return op(*args_of_op)

    _library.impl(name, kernel, key)


def _register_sum(device: str) -> None:
    """fused_add_rms_norm: the sum as it is, its norm in float32."""
    key = f"Autocast{device}"
    keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))

    def kernel(*args: Any) -> Any:
        input, residual, *others = args
        with torch._C._ExcludeDispatchKeyGuard(keys):
            total = input + residual
            weight, *numbers = others
            weight = None if weight is None else weight.float()
            output, rstd = ops.rms_norm(total.float(), weight, *numbers)
            return output, total, rstd

    _library.impl("fused_add_rms_norm", kernel, key)


# torch's versions differ: the one that runs is asked whether it casts to float32.
for _device in ("CPU", "CUDA"):
    if _has_rule("aten::rms_norm", f"Autocast{_device}"):
        _register("rms_norm", _device, ("input", "weight"))
        _register_sum(_device)
    if _has_rule("aten::layer_norm", f"Autocast{_device}"):
        _register("layer_norm", _device, ("input", "weight", "bias"))
    if _has_rule("aten::softmax.int", f"Autocast{_device}"):
        _register("softmax", _device, ("input", "mask"))
    if _has_rule("aten::scaled_dot_product_attention", f"Autocast{_device}"):
        _register("attention", _device, ("q", "k", "v", "bias"), _to_lower)
        _register("attention_varlen", _device, ("q", "k", "v"), _to_lower)
        _register("attention_decode", _device, ("q",), _to_cache)
        _register("rope_append_kv_", _device, ("q", "k", "v"), _to_cache)

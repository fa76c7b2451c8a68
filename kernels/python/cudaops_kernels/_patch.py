# SPDX-License-Identifier: Apache-2.0
"""patch: the kernels in a model of Hugging Face's transformers."""

import types
from typing import Any, TypeVar

import torch
from torch import Tensor

from ._rms_norm import rms_norm
from ._rope import apply_rotary_pos_emb
from ._swiglu import swiglu

Model = TypeVar("Model", bound=torch.nn.Module)
_FAMILIES = ("Llama", "Qwen", "Mistral")


def _norm(self: Any, hidden_states: Tensor) -> Tensor:
    return rms_norm(
        hidden_states, hidden_states.shape[-1], self.weight, self.variance_epsilon
    )


def _mlp(self: Any, x: Tensor) -> Any:
    return self.down_proj(swiglu(self.gate_proj(x), self.up_proj(x)))


def _is_silu(function: Any) -> bool:
    return isinstance(function, torch.nn.SiLU) or "silu" in type(function).__name__.lower()


def _rotate(
    q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, *args: Any, unsqueeze_dim: int = 1, **_: Any
) -> tuple[Tensor, Tensor]:
    # Older releases pass position_ids, which they don't read, before unsqueeze_dim.
    numbers = [value for value in args if isinstance(value, int)]
    return apply_rotary_pos_emb(q, k, cos, sin, numbers[-1] if numbers else unsqueeze_dim)


def _with_our_rope(function: Any) -> Any:
    """A copy of the function for which apply_rotary_pos_emb is ours, with copies of the decorators
    round it; None where there is no such name in it."""
    if not isinstance(function, types.FunctionType):
        return None
    cells = list(function.__closure__ or ())
    names = function.__globals__
    is_changed = "apply_rotary_pos_emb" in function.__code__.co_names
    if is_changed:
        names = {**names, "apply_rotary_pos_emb": _rotate}
    for place, cell in enumerate(cells):
        inner = _with_our_rope(_content(cell))
        if inner is not None:
            cells[place], is_changed = types.CellType(inner), True
    if not is_changed:
        return None
    new = types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, tuple(cells)
    )
    new.__kwdefaults__ = function.__kwdefaults__
    new.__dict__.update(function.__dict__)
    return new


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def patch(model: Model) -> Model:
    """Lets a Llama, Qwen or Mistral model of Hugging Face's transformers use rms_norm(), swiglu() and
    rope(), and returns it. The model is changed in place, other models and transformers itself are
    not; weights and state_dict stay as they are.
    """
    num_changes = 0
    for module in model.modules():
        name = type(module).__name__
        if not name.startswith(_FAMILIES):
            continue
        if name.endswith("RMSNorm") and hasattr(module, "variance_epsilon"):
            forward: Any = _norm
        elif name.endswith("MLP") and _is_silu(getattr(module, "act_fn", None)):
            forward = _mlp
        elif name.endswith("Attention"):
            forward = _with_our_rope(type(module).forward)
        else:
            continue
        if forward is not None:
            module.forward = types.MethodType(forward, module)
            num_changes += 1
    if num_changes == 0:
        families = ", ".join(_FAMILIES)
        raise ValueError(
            f"patch: wanted a transformers model of {families}, found "
            f"{type(model).__name__} without a layer of theirs."
        )
    return model

# SPDX-License-Identifier: Apache-2.0
"""patch: the kernels in a model of Hugging Face's transformers."""

import re
import types
from typing import Any, Optional, TypeVar, Union

import torch
from torch import Tensor

from ._cross_entropy import cross_entropy
from ._geglu import geglu
from ._rms_norm import rms_norm
from ._rope import apply_rotary_pos_emb
from ._swiglu import silu_and_mul, swiglu

Model = TypeVar("Model", bound=torch.nn.Module)
# Not Gemma3n's and Gemma4's, which are others.
_FAMILIES = re.compile(r"Llama|Qwen|Mistral|Mixtral|Gemma[23]?(?=[A-Z])")


def _as_forward(function: Any) -> Any:
    """A bound method is pickled as the name of an attribute of its object: here of the one that its class has."""
    function.__name__ = "forward"
    return function


@_as_forward
def _norm(self: Any, hidden_states: Tensor) -> Tensor:
    return rms_norm(
        hidden_states, hidden_states.shape[-1], self.weight, self.variance_epsilon
    )


@_as_forward
def _norm_of_gemma(self: Any, x: Tensor) -> Tensor:
    return rms_norm(x, x.shape[-1], self.weight, self.eps, weight_offset=1.0)


@_as_forward
def _mlp(self: Any, x: Tensor) -> Any:
    return self.down_proj(swiglu(self.gate_proj(x), self.up_proj(x)))


@_as_forward
def _mlp_of_gemma(self: Any, x: Tensor) -> Any:
    return self.down_proj(geglu(self.gate_proj(x), self.up_proj(x), "tanh"))


def _causal_lm_loss(
    logits: Tensor,
    labels: Optional[Tensor],
    vocab_size: int,
    num_items_in_batch: Union[Tensor, int, None] = None,
    ignore_index: int = -100,
    shift_labels: Optional[Tensor] = None,
    **_: Any,
) -> Tensor:
    """transformers' ForCausalLMLoss, which makes float32 of all logits first."""
    if shift_labels is None:
        assert labels is not None
        shift_labels = torch.nn.functional.pad(labels, (0, 1), value=ignore_index)[..., 1:]
    loss = cross_entropy(
        logits,
        shift_labels.to(logits.device),
        ignore_index=ignore_index,
        reduction="mean" if num_items_in_batch is None else "sum",
    )
    if num_items_in_batch is None:
        return loss
    if isinstance(num_items_in_batch, Tensor):
        num_items_in_batch = num_items_in_batch.to(loss.device)
    return loss / num_items_in_batch


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


def _is_silu(module: torch.nn.Module) -> bool:
    function = getattr(module, "act_fn", None)
    return isinstance(function, torch.nn.SiLU) or "silu" in type(function).__name__.lower()


def _has_usual_gate(module: torch.nn.Module) -> bool:
    """Whether experts that are multiplied together, as transformers does it by default, have act_fn(gate) * up."""
    gate = getattr(type(module), "_apply_gate", None)
    return getattr(gate, "__name__", "") == "_default_apply_gate" and _is_silu(module)


def _forward(module: torch.nn.Module, name: str) -> Any:
    """What replaces the module's; None: nothing does."""
    if name.endswith("RMSNorm"):
        if name.startswith("Gemma") and hasattr(module, "eps"):
            return _norm_of_gemma
        return _norm if hasattr(module, "variance_epsilon") else None
    if name.endswith("MLP"):
        if not all(hasattr(module, part) for part in ("gate_proj", "up_proj", "down_proj")):
            return None  # a vision model's
        if _is_silu(module):
            return _mlp
        kind = type(getattr(module, "act_fn", None)).__name__.lower()
        return _mlp_of_gemma if kind in ("gelutanh", "pytorchgelutanh") else None
    return _with_our_rope(type(module).forward) if name.endswith("Attention") else None


def patch(model: Model) -> Model:
    """Lets a Llama, Qwen, Mistral, Mixtral or Gemma (1 to 3) model of Hugging Face's transformers use
    rms_norm(), swiglu() or geglu(), rope(), and cross_entropy() for its loss, and returns it. The model is
    changed in place, other models and transformers itself are not; weights and state_dict stay as they
    are. For attention there is register_attention(). A copy (copy.deepcopy) is patched too; a model that was
    pickled (torch.save of all of it, an argument of another process) has to be patched again.
    """
    num_changes = 0
    for module in model.modules():
        name = type(module).__name__
        if not _FAMILIES.match(name):
            continue
        forward = _forward(module, name)
        if forward is not None:
            module.forward = types.MethodType(forward, module)
            num_changes += 1
        if name.endswith("Experts") and _has_usual_gate(module):
            setattr(module, "_apply_gate", silu_and_mul)
        if name.endswith("ForCausalLM"):
            loss = getattr(module, "loss_function", None)
            if getattr(loss, "__name__", "") == "ForCausalLMLoss":
                setattr(module, "loss_function", _causal_lm_loss)
    if num_changes == 0:
        raise ValueError(
            "patch: wanted a transformers model of Llama, Qwen, Mistral, Mixtral, Gemma, found "
            f"{type(model).__name__} without a layer of theirs."
        )
    return model

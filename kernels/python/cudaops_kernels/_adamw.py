# SPDX-License-Identifier: Apache-2.0
"""adamw_: fake kernels, and the optimizer that is made of it."""

import operator
import weakref
from collections.abc import Iterable
from typing import Any, Optional, Union

import torch
from torch import Tensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from ._errors import as_number, two_numbers
from ._library import ops
from ._sharding import local, local_gradient, whole
from ._registration import register_op

# What a state holds in float32 whatever its parameter's dtype.
_FLOAT32_STATES = ("exp_avg", "exp_avg_sq", "master_param")
_LARGEST = torch.finfo(torch.float32).max


# Without in_place: to hand thousands of tensors to Python and back takes twice as long as the
# call. The optimizer itself tells autograd.
@register_op("adamw_")
def _(*args, **kwargs):
    return None


@register_op("adamw_", overload="tensor_lr")
def _(*args, **kwargs):
    return None


# Of tensors without data there is nothing to prepare.
torch.library.register_fake("cudaops::_adamw_prepare", lambda *args: 0)
for _name in ("_adamw_prepared_check", "_adamw_prepared_step"):
    torch.library.register_fake(f"cudaops::{_name}", lambda *args: None)


def _memory(tensor: Tensor) -> tuple:
    """Where it begins, also without data."""
    return tensor.untyped_storage()._cdata, tensor.storage_offset()


def _check_whole(tensors: Iterable[Tensor]) -> None:
    """A list that is prepared is of tensors with one memory each."""
    for tensor in tensors:
        if is_traceable_wrapper_subclass(tensor):
            parts = tensor.__tensor_flatten__()[0]
            if len(parts) > 1:
                raise RuntimeError(
                    f"AdamW: wanted parameters that are one tensor each, found {type(tensor).__name__} of "
                    f"{' and '.join(parts)}."
                )


class Held:
    """A tensor that torch's load_state_dict() is not to cast to its parameter's dtype."""

    def __init__(self, tensor):
        self.tensor = tensor


def hold(state_dict, of_parameter):
    """A state_dict whose states of parameters are what of_parameter() makes of them: an optimizer may keep
    other things in its state, which torch loads as they are."""
    indices = {index for group in state_dict["param_groups"] for index in group["params"]}
    states = {
        key: of_parameter(state) if key in indices else state
        for key, state in state_dict["state"].items()
    }
    return {**state_dict, "state": states}


class LoadsHeld(torch.optim.Optimizer):
    """An optimizer whose _hold(state_dict) says what torch's load_state_dict() is given."""

    def load_state_dict(self, state_dict):
        # The last of the hooks: what others make of the state_dict is what is loaded.
        handle = self.register_load_state_dict_pre_hook(type(self)._hold)
        try:
            super().load_state_dict(state_dict)
        finally:
            handle.remove()


class _Part:
    """The tensors of a group that lie on one device and have one dtype, packed."""

    def __init__(self, params, states, places, device):
        _check_whole(map(local, params))
        steps = set()
        for state in states:
            if _memory(local(state["step"])) in steps:  # a state_dict may hold one tensor for all
                state["step"] = state["step"].clone()
            steps.add(_memory(local(state["step"])))
        masters = [local(state["master_param"]) for state in states if "master_param" in state]
        self.places = places  # in the group's list of gradients; None: all of it
        self.device = device
        self.first = (params[0], states[0], tuple(states[0].values()))
        self.number = ops._adamw_prepare(
            [local(param) for param in params],
            [local(state["exp_avg"]) for state in states],
            [local(state["exp_avg_sq"]) for state in states],
            [local(state["step"]) for state in states],
            masters,
        )
        weakref.finalize(self, ops._adamw_release, self.number)


def _same_order(param, grad):
    return (
        grad.stride() == param.stride()
        or grad.shape != param.shape  # not of this function's making, and refused
        or (grad.is_contiguous() and param.is_contiguous())
    )


class _Prepared:
    """A group as its last step found it."""

    def __init__(self, params, state, parts):
        self.params = params
        self.dtypes = [param.dtype for param in params]
        self.state = state
        self.num_states = len(state)
        self.parts = parts
        self.copies_grads = False  # until one is found that needs it
        # Of DTensors, which may get other shards: module.to() of them swaps what a parameter holds.
        self.shards = list(map(local, params))
        self.is_sharded = any(map(operator.is_not, self.shards, params))

    def in_order(self, grads, are_written):
        """grads, with copies for those that don't lie in memory as their parameters do. Where they
        are written, as by a grad_scale, a copy becomes the parameter's gradient."""
        result = []
        for param, grad in zip(self.params, grads):
            if not _same_order(local(param), grad):
                grad = torch.empty_like(local(param)).copy_(grad)
                if are_written and local(param) is param:
                    param.grad = grad
            result.append(grad)
        return result

    def has_its_tensors(self):
        """Asked of each part's first parameter: who moves a state to the CPU and back moves all of it."""
        for part in self.parts:
            param, state, values = part.first
            if self.state.get(param) is not state or len(state) != len(values):
                return False
            if not all(map(operator.is_, state.values(), values)):
                return False
        return True

    def serves(self, params, state):
        return (
            len(params) == len(self.params)
            and all(map(operator.is_, params, self.params))
            and state is self.state
            and len(state) == self.num_states
            and self.has_its_tensors()
            and (
                not self.is_sharded or all(map(operator.is_, map(local, params), self.shards))
            )
        )


def _check_from_zero(name, value):
    if not 0.0 <= as_number(value) <= _LARGEST:
        raise ValueError(
            f"AdamW: wanted a finite float32 number from 0 on for {name}, found {value!r}."
        )


def _check_lr_tensor(lr):
    if lr.numel() != 1:
        raise ValueError(f"AdamW: wanted one element for lr, found shape {list(lr.shape)}.")
    if lr.is_meta:
        raise ValueError("AdamW: wanted lr on a device that holds numbers, found meta.")
    if lr.dtype != torch.float32 and not (lr.is_cpu and lr.dtype == torch.float64):
        raise ValueError(f"AdamW: wanted float32 for lr, found {lr.dtype}.")


def _check_options(options):
    """What a group, or the constructor, says."""
    for name, supported in (
        ("amsgrad", (False,)),
        ("foreach", (None, False)),
        ("differentiable", (False,)),
        ("fused", (None, True)),
    ):
        if not any(options[name] is one for one in supported):
            raise ValueError(f"AdamW: wanted {name}={supported[-1]}, found {options[name]}.")
    lr, betas = options["lr"], options["betas"]
    if isinstance(lr, torch.Tensor):
        _check_lr_tensor(lr)
    # One on a device is not looked at: that would wait for it.
    if not (isinstance(lr, torch.Tensor) and not lr.is_cpu):
        _check_from_zero("lr", lr)
    _check_from_zero("eps", options["eps"])
    for index, beta in enumerate(two_numbers("AdamW", "betas", betas)):
        if isinstance(beta, torch.Tensor):
            raise ValueError(f"AdamW: wanted a float for betas[{index}], found a tensor.")
        if not 0.0 <= as_number(beta) < 1.0:
            raise ValueError(f"AdamW: wanted betas[{index}] from 0 to below 1, found {beta!r}.")
    _check_from_zero("weight_decay", options["weight_decay"])


def refuse_sparse(name, grads):
    if any(grad.layout is not torch.strided for grad in grads):
        raise RuntimeError(f"{name}: wanted dense gradients, found a sparse one.")


def _on(tensor, device):
    return None if tensor is None else whole(tensor).to(device, non_blocking=True)


class AdamW(LoadsHeld):
    """torch.optim.AdamW in one launch for all tensors of a device and a dtype.

    Arguments, groups and state_dict are torch.optim.AdamW's, with fused=True; either loads the
    other's state_dict. The differences:

    - exp_avg and exp_avg_sq are float32 for parameters of every dtype.
    - master_weights (default: True) keeps a float32 copy of each float16 and bfloat16 parameter in
      its state as master_param. Steps are added to that; the parameter is its rounded value. At the
      first step after load_state_dict() the parameter wins where it is not: torch's AdamW, which
      steps the parameter, hands master_param on unchanged. After writing to parameters by other
      means, call load_state_dict(state_dict()). The option is part of a group where one of them, the
      group's or the constructor's, is False.
    - step(clip_factor=...), a float32 tensor with one element, multiplies all gradients in the same
      pass; the gradients themselves stay as they are.
    - Every step can be captured into a CUDA graph, whatever `capturable` says.
    - A step is refused as a whole, before anything is written, whichever group is wrong.
    - Parameters may be DTensors, as fully_shard() makes them: each process steps its shards, and the
      state is sharded alike (torch.distributed.checkpoint saves and loads it).
    - A parameter whose elements have gaps in memory (Parameter(weight[::2])) is refused. A gradient
      that lies in another order than its parameter is copied first.

    A state's tensors may be changed in place, and all be replaced, as by programs that move a state to
    the CPU and back. To replace some of them, use load_state_dict(). Between steps references to the
    parameters and to their states are kept, so that memory isn't free until the next step, and
    torch.utils.swap_tensors() refuses the parameters (but for DTensors): load_state_dict(state_dict())
    lets go of them.
    """

    # GradScaler leaves grad_scale and found_inf to step().
    _step_supports_amp_scaling = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: Union[float, Tensor] = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: Optional[bool] = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: Optional[bool] = None,
        master_weights: bool = True,
    ) -> None:
        _check_options(
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            }
        )
        self._prepared = {}
        self._loaded = set()
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": False,
                "foreach": None,
                "maximize": maximize,
                "capturable": capturable,
                "differentiable": False,
                "fused": True,
                "decoupled_weight_decay": True,
                "master_weights": master_weights,
            },
        )

    def add_param_group(self, param_group):
        _check_options({**self.defaults, **param_group})
        super().add_param_group(param_group)
        self._leave_out_default(self.param_groups[-1])

    def _leave_out_default(self, group):
        """torch.distributed.checkpoint loads groups of the same options only: torch's AdamW has no
        master_weights."""
        if self.defaults.get("master_weights", True) and group.get("master_weights", True):
            group.pop("master_weights", None)

    def _has_masters(self, group):
        return group.get("master_weights", self.defaults.get("master_weights", True))

    def _hold(self, state_dict):
        for index, group in enumerate(state_dict["param_groups"]):
            if group.get("amsgrad", False):
                raise ValueError(
                    f"AdamW: wanted amsgrad=False, found True in the state_dict's "
                    f"param_groups[{index}]."
                )
        # A flat state_dict of torch.distributed.checkpoint has {} for a state that was not saved.
        return hold(
            state_dict,
            lambda state: {
                name: Held(value) if name in _FLOAT32_STATES else value
                for name, value in state.items()
                if not (isinstance(value, dict) and not value)
            },
        )

    def __setstate__(self, state):
        super().__setstate__(state)
        self._prepared = {}
        self._loaded = set()  # parameters with a master that may not be theirs
        for group in self.param_groups:
            group.setdefault("maximize", False)
            group.setdefault("capturable", False)
            self._leave_out_default(group)
            group.update(
                amsgrad=False,
                foreach=None,
                differentiable=False,
                fused=True,
                decoupled_weight_decay=True,
            )
            for param in group["params"]:
                if param in self.state:
                    self._adopt(param, self.state[param])
                    self._loaded.add(param)

    @staticmethod
    def _adopt(param, state):
        """Brings a loaded state to where and how a step wants it."""
        if "step" in state:
            state["step"] = torch.as_tensor(
                state["step"], dtype=torch.float32, device=param.device
            )
        for name in _FLOAT32_STATES:
            if name not in state:
                continue
            value = state[name]
            if isinstance(value, Held):
                value = value.tensor
            value = value.to(dtype=torch.float32, device=param.device)
            if value.stride() != param.stride():
                value = torch.empty_like(param, dtype=torch.float32).copy_(value)
            state[name] = value

    def _state_of(self, param, group):
        state = self.state[param]
        if "step" not in state:
            state["step"] = torch.zeros((), dtype=torch.float32, device=param.device)
            state["exp_avg"] = torch.zeros_like(param, dtype=torch.float32)
            state["exp_avg_sq"] = torch.zeros_like(param, dtype=torch.float32)
        if not self._has_masters(group) or param.dtype == torch.float32:
            state.pop("master_param", None)
        elif "master_param" not in state:
            state["master_param"] = param.detach().to(torch.float32)
        elif param in self._loaded:
            # Without a question that would wait for the device.
            master = state["master_param"]
            is_its = master.to(param.dtype) == param
            state["master_param"] = torch.where(is_its, master, param.detach().float())
        self._loaded.discard(param)
        return state

    def _prepare(self, group, params):
        places = {}
        for place, param in enumerate(params):
            places.setdefault((param.device, param.dtype), []).append(place)
        parts = []
        for (device, _), chosen in places.items():
            some = [params[place] for place in chosen]
            states = [self._state_of(param, group) for param in some]
            parts.append(_Part(some, states, chosen if len(places) > 1 else None, device))
        return _Prepared(list(params), self.state, parts)

    @torch.no_grad()
    def step(self, closure: Any = None, *, clip_factor: Optional[Tensor] = None) -> Any:
        """One step. closure: computes the loss anew, which is then returned."""
        if clip_factor is not None and not isinstance(clip_factor, torch.Tensor):
            raise TypeError(
                f"AdamW: wanted a float32 tensor with one element for clip_factor, found "
                f"{type(clip_factor).__name__}."
            )
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self._step_groups(clip_factor)
        return loss

    @torch._disable_dynamo
    def _step_groups(self, clip_factor):
        work = []  # (index, group, prepared group, gradients)
        for index, group in enumerate(self.param_groups):
            params = group["params"]
            grads = [grad for param in params if (grad := param.grad) is not None]
            if not grads:
                continue
            if len(grads) != len(params):
                params = [param for param in params if param.grad is not None]
            prepared = self._prepared.get(index)
            if prepared is None or not prepared.serves(params, self.state):
                refuse_sparse("AdamW", grads)
                if prepared is not None and not prepared.has_its_tensors():
                    for param in group["params"]:  # also those that have no gradient in this step
                        if self.state.get(param):
                            self._adopt(param, self.state[param])
                self._prepared[index] = None  # frees its memory first
                prepared = self._prepared[index] = self._prepare(group, params)
            if prepared.is_sharded:
                grads = list(map(local_gradient, prepared.params, grads))
            if prepared.copies_grads:
                refuse_sparse("AdamW", grads)
                grads = prepared.in_order(grads, getattr(self, "grad_scale", None) is not None)
            work.append((index, group, prepared, grads))
        try:
            self._step_all(work, clip_factor)
        except RuntimeError:
            # What is refused has written nothing yet.
            if not self._follow(work):
                raise
            self._step_groups(clip_factor)
            return
        # Whoever saved a parameter for a backward pass learns that it has changed.
        for _, _, prepared, _ in work:
            torch.autograd.graph.increment_version(prepared.params)

    def _follow(self, work):
        """Whether something changed that the next attempt can follow."""
        follows = False
        for index, _, prepared, grads in work:
            refuse_sparse("AdamW", grads)
            if any(map(operator.ne, prepared.dtypes, [param.dtype for param in prepared.params])):
                # module.half() and its like.
                self._loaded.update(prepared.params)
                del self._prepared[index]
                follows = True
            elif not prepared.copies_grads and not all(
                map(_same_order, map(local, prepared.params), grads)
            ):
                prepared.copies_grads = follows = True
        return follows

    def _step_all(self, work, clip_factor):
        scale, found_inf = getattr(self, "grad_scale", None), getattr(self, "found_inf", None)
        calls = []
        for _, group, prepared, grads in work:
            lr = group["lr"]
            lr_tensor = lr if isinstance(lr, torch.Tensor) else None
            for part in prepared.parts:
                if lr_tensor is not None and not lr_tensor.is_cpu:
                    lr_tensor = _on(lr_tensor, part.device)
                calls.append(
                    (
                        part.number,
                        grads if part.places is None else [grads[place] for place in part.places],
                        0.0 if lr_tensor is not None else lr,
                        lr_tensor,
                        *group["betas"],
                        group["weight_decay"],
                        group["eps"],
                        group["maximize"],
                        _on(scale, part.device),
                        _on(found_inf, part.device),
                        _on(clip_factor, part.device),
                    )
                )
        # All are right before anything is written; the first step checks its own list.
        for call in calls[1:]:
            ops._adamw_prepared_check.default(*call)
        for call in calls:
            ops._adamw_prepared_step.default(*call)

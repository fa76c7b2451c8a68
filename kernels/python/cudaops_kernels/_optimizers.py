# SPDX-License-Identifier: Apache-2.0
"""Lion, LAMB and AdamW8bit, a launch or three for all tensors; Muon on torch's multi-tensor functions
and matrix products."""

import math
from collections.abc import Iterable
from typing import Any, Optional

import torch
from torch import Tensor

from ._adamw import Held, LoadsHeld, hold, refuse_sparse
from ._errors import as_number, raise_again, two_numbers
from ._library import ops
from ._registration import register_op
from ._sharding import local, local_gradient

for _name in ("lion_", "lamb_", "adamw_8bit_"):
    # As adamw_: the optimizer itself tells autograd.
    register_op(_name)(lambda *args, **kwargs: None)


def _check(name: str, **options: Any) -> None:
    for option, value in options.items():
        if option.startswith("beta") or option == "momentum":
            if not 0.0 <= as_number(value) < 1.0:
                raise ValueError(f"{name}: wanted {option} from 0 to below 1, found {value!r}.")
        elif not (0.0 <= as_number(value) and math.isfinite(as_number(value))):
            raise ValueError(
                f"{name}: wanted a finite number from 0 on for {option}, found {value!r}."
            )


def _like(param: Tensor, tensor: Tensor) -> Tensor:
    """A gradient, or a state, in its parameter's order in memory."""
    if tensor.stride() == param.stride() or tensor.shape != param.shape:
        return tensor
    return torch.empty_like(param, dtype=tensor.dtype).copy_(tensor)


def _refuse_sparse(name: str, groups: list) -> None:
    """Before anything is written or counted."""
    params = [param for group in groups for param in group["params"]]
    refuse_sparse(name, [param.grad for param in params if param.grad is not None])


class _MultiTensor(LoadsHeld):
    """Steps groups of parameters that lie on one device and have one dtype."""

    def _new_state(self, group: dict, param: Tensor) -> dict:
        raise NotImplementedError

    def _step_together(self, group: dict, params: list, grads: list, states: list) -> None:
        raise NotImplementedError

    def _begin_step(self) -> None:
        pass

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """One step. closure: computes the loss anew, which is then returned."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self._step_groups()
        return loss

    @torch._disable_dynamo
    def _step_groups(self) -> None:
        _refuse_sparse(type(self).__name__, self.param_groups)
        self._begin_step()
        for group in self.param_groups:
            together: dict = {}
            for param in group["params"]:
                if param.grad is None:
                    continue
                state = self.state[param]
                if not state:
                    state.update(step=0, **self._new_state(group, param))
                together.setdefault((param.device, param.dtype), []).append(param)
            for params in together.values():
                grads = [
                    _like(local(param), local_gradient(param, param.grad)) for param in params
                ]
                states = [self.state[param] for param in params]
                try:
                    self._step_together(group, list(map(local, params)), grads, states)
                except RuntimeError as error:
                    raise_again(error)
                for state in states:  # not those of a step that was refused
                    state["step"] += 1
                # Whoever saved a parameter for a backward pass learns that it has changed.
                torch.autograd.graph.increment_version(params)

    def _hold(self, state_dict: dict) -> dict:
        return hold(
            state_dict,
            lambda state: {
                name: Held(value) if isinstance(value, Tensor) else value
                for name, value in state.items()
            },
        )

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        for param in (param for group in self.param_groups for param in group["params"]):
            own = self.state.get(param, {})
            for name, value in own.items():
                if isinstance(value, Held):
                    tensor = value.tensor.detach().clone().to(param.device)
                    # One that was saved in another order of dimensions gets its parameter's; blocks of
                    # 8 bits have that of their memory.
                    has_blocks = tensor.dtype == torch.uint8
                    own[name] = tensor if has_blocks else _like(param, tensor)


def _moments(states: list, name: str) -> list:
    return [local(state[name]) for state in states]


class Lion(_MultiTensor):
    """Lion (https://arxiv.org/abs/2302.06675), with float32 moments for parameters of every dtype:
    the sign of an interpolated momentum, decoupled weight decay."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        beta1, beta2 = two_numbers("Lion", "betas", betas)
        _check("Lion", lr=lr, beta1=beta1, beta2=beta2, weight_decay=weight_decay)
        defaults = {"lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, defaults)

    def _new_state(self, group: dict, param: Tensor) -> dict:
        return {"exp_avg": torch.zeros_like(param, dtype=torch.float32)}

    def _step_together(self, group: dict, params: list, grads: list, states: list) -> None:
        beta1, beta2 = group["betas"]
        ops.lion_.default(
            params,
            grads,
            _moments(states, "exp_avg"),
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )


class LAMB(_MultiTensor):
    """LAMB (https://arxiv.org/abs/1904.00962) with bias correction: Adam's update, scaled for each
    tensor by the norm of the parameter over that of the update.

    max_grad_norm: gradients of all groups together are scaled down to this norm first; None for
    never. bias_correction=False leaves the moments as they are.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.01,
        *,
        bias_correction: bool = True,
        max_grad_norm: Optional[float] = 1.0,
        maximize: bool = False,
    ) -> None:
        beta1, beta2 = two_numbers("LAMB", "betas", betas)
        _check("LAMB", lr=lr, beta1=beta1, beta2=beta2, eps=eps, weight_decay=weight_decay)
        if max_grad_norm is not None:
            _check("LAMB", max_grad_norm=max_grad_norm)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "bias_correction": bias_correction,
            "maximize": maximize,
        }
        self.max_grad_norm = max_grad_norm
        self._clip: Optional[Tensor] = None
        super().__init__(params, defaults)

    def __getstate__(self) -> dict:
        # torch's copies and pickles the groups and the state alone.
        return {**super().__getstate__(), "max_grad_norm": self.max_grad_norm}

    def _new_state(self, group: dict, param: Tensor) -> dict:
        return {
            name: torch.zeros_like(param, dtype=torch.float32) for name in ("exp_avg", "exp_avg_sq")
        }

    def _begin_step(self) -> None:
        self._clip = None
        params = [p for group in self.param_groups for p in group["params"] if p.grad is not None]
        if any(local(param) is not param for param in params):
            raise RuntimeError(
                "LAMB: wanted whole parameters, found a DTensor: a ratio is of a whole tensor."
            )
        if self.max_grad_norm is not None and params:
            self._clip = clip_factor([p.grad for p in params], self.max_grad_norm)

    def _step_together(self, group: dict, params: list, grads: list, states: list) -> None:
        beta1, beta2 = group["betas"]
        ops.lamb_.default(
            params,
            grads,
            _moments(states, "exp_avg"),
            _moments(states, "exp_avg_sq"),
            [float(state["step"] + 1) for state in states] if group["bias_correction"] else [],
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=group["maximize"],
            clip_factor=None if self._clip is None else self._clip.to(params[0].device),
        )


# Elements that share a scale in an 8-bit state, and from how many elements on a state has 8 bits: as
# in bitsandbytes.
_BLOCK, _FEWEST_OF_8_BITS = 256, 4096


def _levels(is_signed: bool, device: torch.device) -> Tensor:
    """The 256 numbers from -1 (or 0) to 1 of dynamic tree quantisation
    (https://arxiv.org/abs/2110.02861): powers of ten, each with twice the levels of the one below;
    0 and 1."""
    parts = []
    for exponent in range(7):
        count = 2**exponent if is_signed else 2 ** (exponent + 1)
        # Whatever the default device is.
        middles = 0.1 + 0.9 * (torch.arange(count, dtype=torch.float64, device="cpu") + 0.5) / count
        parts.append(10.0 ** (exponent - 6) * middles)
    levels = torch.cat(parts)
    if is_signed:
        levels = torch.cat((levels, -levels))
    ends = torch.tensor([0.0, 1.0], dtype=torch.float64, device="cpu")
    return torch.cat((levels, ends)).sort().values.to(device, torch.float32)


class AdamW8bit(_MultiTensor):
    """AdamW with moments of 8 bits, in blocks of 256 elements with a float32 scale each
    (https://arxiv.org/abs/2110.02861): state1, absmax1, state2 and absmax2, as bitsandbytes calls
    them. Parameters of fewer than min_8bit_size elements have float32 moments, with an empty absmax1
    and absmax2."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        *,
        min_8bit_size: int = _FEWEST_OF_8_BITS,
        maximize: bool = False,
    ) -> None:
        beta1, beta2 = two_numbers("AdamW8bit", "betas", betas)
        _check("AdamW8bit", lr=lr, beta1=beta1, beta2=beta2, eps=eps)
        _check("AdamW8bit", weight_decay=weight_decay, min_8bit_size=min_8bit_size)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "min_8bit_size": min_8bit_size,
            "maximize": maximize,
        }
        self._levels: dict = {}
        super().__init__(params, defaults)

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self._levels = {}

    def _new_state(self, group: dict, param: Tensor) -> dict:
        has_8_bits = param.numel() >= group["min_8bit_size"]
        if has_8_bits and local(param) is not param:
            raise RuntimeError(
                "AdamW8bit: wanted whole parameters, found a DTensor: blocks are those of a whole one."
            )
        state: dict = {}
        for i in (1, 2):
            dtype = torch.uint8 if has_8_bits else torch.float32
            state[f"state{i}"] = torch.zeros_like(param, dtype=dtype)
            num_blocks = -(-param.numel() // _BLOCK) if has_8_bits else 0
            # Whatever stands in the state, with a largest magnitude of 0 it is zeros.
            state[f"absmax{i}"] = torch.zeros(
                num_blocks, dtype=torch.float32, device=param.device
            )
        return state

    def _levels_on(self, device: torch.device) -> list:
        if device not in self._levels:
            self._levels[device] = [_levels(is_signed, device) for is_signed in (True, False)]
        return self._levels[device]

    def _step_together(self, group: dict, params: list, grads: list, states: list) -> None:
        beta1, beta2 = group["betas"]
        device = params[0].device
        for state in states:
            for i in (1, 2):
                if f"absmax{i}" not in state:  # a state of float32 that others saved
                    state[f"absmax{i}"] = torch.zeros(
                        0, dtype=torch.float32, device=device
                    )
        ops.adamw_8bit_.default(
            params,
            grads,
            *(_moments(states, name) for name in ("state1", "absmax1", "state2", "absmax2")),
            [float(state["step"] + 1) for state in states],
            *self._levels_on(device),
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=group["maximize"],
        )


class Muon(torch.optim.Optimizer):
    """torch.optim.Muon: momentum, made orthogonal by Newton and Schulz's iteration, for matrices.
    Those of one shape are iterated together, as one batch of matrix products."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: Optional[str] = None,
    ) -> None:
        _check("Muon", lr=lr, weight_decay=weight_decay, momentum=momentum, eps=eps)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(
                f'Muon: wanted None, "original" or "match_rms_adamw" for adjust_lr_fn, found '
                f"{adjust_lr_fn}."
            )
        if not 0 <= ns_steps < 100 or len(ns_coefficients) != 3:
            raise ValueError(
                f"Muon: wanted ns_steps from 0 to 99 and three ns_coefficients, found {ns_steps} and "
                f"{ns_coefficients}."
            )
        super().__init__(
            params,
            {
                "lr": lr,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "nesterov": nesterov,
                "ns_coefficients": ns_coefficients,
                "eps": eps,
                "ns_steps": ns_steps,
                "adjust_lr_fn": adjust_lr_fn,
            },
        )

    def add_param_group(self, param_group: dict) -> None:
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        for param in params:
            tensor = param[1] if isinstance(param, tuple) else param
            if tensor.dim() != 2:
                raise ValueError(
                    f"Muon: wanted parameters of two dimensions, found shape {list(tensor.shape)}."
                )
            if tensor.is_complex():
                raise ValueError(f"Muon: wanted parameters of real numbers, found {tensor.dtype}.")
        super().add_param_group({**param_group, "params": params})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """One step. closure: computes the loss anew, which is then returned."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        _refuse_sparse("Muon", self.param_groups)
        for group in self.param_groups:
            alike: dict = {}
            for param in group["params"]:
                if param.grad is None:
                    continue
                state = self.state[param]
                if "momentum_buffer" not in state:
                    state["momentum_buffer"] = torch.zeros_like(param.grad)
                alike.setdefault((param.shape, param.device, param.dtype), []).append(param)
            for params in alike.values():
                self._step_alike(group, params)
        return loss

    def _step_alike(self, group: dict, params: list) -> None:
        momentum, lr = group["momentum"], group["lr"]
        grads = [param.grad for param in params]
        buffers = [self.state[param]["momentum_buffer"] for param in params]
        torch._foreach_lerp_(buffers, grads, 1 - momentum)
        updates = torch._foreach_lerp(grads, buffers, momentum) if group["nesterov"] else buffers
        updates = _orthogonal(
            torch.stack(list(updates)), group["ns_coefficients"], group["ns_steps"], group["eps"]
        )
        rows, columns = params[0].shape
        ratio = math.sqrt(max(1, rows / columns))
        if group["adjust_lr_fn"] == "match_rms_adamw":
            ratio = 0.2 * math.sqrt(max(rows, columns))
        torch._foreach_mul_(params, 1 - lr * group["weight_decay"])
        torch._foreach_add_(params, list(updates.to(params[0].dtype)), alpha=-lr * ratio)


def _orthogonal(
    matrices: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float
) -> Tensor:
    a, b, c = coefficients
    x = matrices.to(torch.bfloat16)
    is_tall = x.shape[-2] > x.shape[-1]
    x = x.mT if is_tall else x
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if is_tall else x


def _dense(grad: Tensor) -> Tensor:
    """What has its norm: of a sparse gradient the values, as torch has no norm of one on every device."""
    if grad.layout is torch.strided:
        return grad
    return (grad.coalesce() if grad.layout is torch.sparse_coo else grad).values()


def _norm(grads: list, norm_type: float) -> Tensor:
    """Of all together, float32 of 16 bits too."""
    together: dict = {}
    for grad in map(_dense, grads):
        together.setdefault((grad.device, grad.dtype), []).append(grad)
    device = grads[0].device
    norms = [
        norm.to(device)
        for (_, dtype), some in together.items()
        for norm in torch._foreach_norm(some, norm_type, dtype=torch.promote_types(dtype, torch.float32))
    ]
    return torch.linalg.vector_norm(torch.stack(norms), norm_type)


def clip_factor(grads: list, max_norm: float, norm_type: float = 2.0) -> Tensor:
    """What gradients are multiplied by to have at most this norm together."""
    return (max_norm / (_norm(grads, norm_type) + 1e-6)).clamp(max=1.0)


@torch.no_grad()
def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: Optional[bool] = None,
) -> Tensor:
    """torch.nn.utils.clip_grad_norm_, with a norm of at least float32 for gradients of every dtype, which it
    returns. AdamW.step(clip_factor=...) needs no pass of its own for what this multiplies."""
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    if foreach is False:
        raise ValueError("clip_grad_norm_: wanted foreach=None or True, found False.")
    if not grads:
        return torch.tensor(0.0)
    if any(hasattr(grad, "_local_tensor") for grad in grads):
        # torch's own knows what is summed over which processes.
        return torch.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)
    norm = _norm(grads, float(norm_type))
    if error_if_nonfinite and not bool(norm.isfinite()):
        raise RuntimeError(
            f"clip_grad_norm_: wanted a finite norm of all gradients, found {norm.item()}."
        )
    factor = (max_norm / (norm + 1e-6)).clamp(max=1.0)
    together = {}
    for grad in grads:
        if grad.layout is torch.strided:
            together.setdefault((grad.device, grad.dtype), []).append(grad)
        else:
            grad.mul_(factor.to(grad.device))
    for (device, _), some in together.items():
        torch._foreach_mul_(some, factor.to(device))
    return norm

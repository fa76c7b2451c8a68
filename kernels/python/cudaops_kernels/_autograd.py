# SPDX-License-Identifier: Apache-2.0
"""Ops with derivatives: one description of an op serves torch.ops.cudaops and the public function.

The op itself has a kernel for autograd: it is right under torch.func's transforms, forward-mode AD
and torch.compile, and costs some microseconds more. The public function goes round it wherever
nothing but plain autograd can be concerned, with a function of its own whose forward pass calls the
op below autograd.
"""

from typing import Any, Callable, Optional, Sequence

import torch
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.autograd.function import _SingleLevelFunction

from ._errors import raise_again
from ._library import ops

_library = torch.library.Library("cudaops", "IMPL")
_below_autograd = torch._C._AutoDispatchBelowAutograd
_is_grad_enabled = torch.is_grad_enabled
_in_transform = torch._C._are_functorch_transforms_active
_autocast_is_on = torch._C._is_any_autocast_enabled
_is_compiling = torch.compiler.is_compiling


def _needs_function(args: Sequence[Any]) -> bool:
    """Whether autograd has to do with a call."""
    return forward_ad._current_level >= 0 or (
        _is_grad_enabled() and torch._C._any_requires_grad(*args)
    )


def _any_requires_grad(tensors: Sequence[Optional[torch.Tensor]]) -> bool:
    # For a few tensors half the time of torch._C's.
    for tensor in tensors:
        if tensor is not None and tensor.requires_grad:
            return True
    return False


def _run_below(op: Any, args: Sequence[Any]) -> Any:
    """The op within a function's forward pass. That has switched both kinds of gradients off; the
    levels of a transform below this one have theirs still."""
    with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True), _below_autograd():
        return op(*args)


def _op_kernel(op: Any, apply: Callable[..., Any]) -> None:
    """Registers `apply` as the op's kernel for autograd. torch leaves out arguments that are equal
    to their defaults; here they are all there."""
    defaults = [argument.default_value for argument in op._schema.arguments]

    def kernel(*args: Any) -> Any:
        args = (*args, *defaults[len(args) :])
        # Under a transform the level that is being processed has its turn: its tensors are those
        # that autograd knows.
        if _in_transform():
            with enable_single_level_autograd_function():
                return apply(*args)
        if _needs_function(args):
            return apply(*args)
        with _below_autograd():
            return op(*args)

    _library.impl(op._schema.name.split("::")[1], kernel, "Autograd")


def differentiable(
    name: str,
    *,
    save: Callable[..., Sequence[Optional[torch.Tensor]]],
    backward: Callable[..., Any],
    jvp: Callable[..., Any],
    num_differentiable: int = 1,
) -> Callable[..., Any]:
    """Registers derivatives of an op and returns it as a function of all its arguments, which gives
    its first num_differentiable outputs: one, or a tuple.

    save(args, outputs): the tensors that backward() needs. backward(ctx, saved, args, *grads): a
    gradient for each tensor argument in the order of the schema; ctx.needs_input_grad says which are
    wanted; a grad may be None, but not all of them; tensors in args are None. jvp(args, tangents): a
    tangent for each of the first outputs, by torch's ops on arguments alone, so that it has
    derivatives itself; a tangent of an argument may be None.
    """
    op = getattr(ops, name).default
    arguments = op._schema.arguments
    is_tensor = ["Tensor" in str(argument.type) for argument in arguments]
    num_outputs = len(op._schema.returns)
    num_gradients = sum(is_tensor)
    assert all(is_tensor[:num_gradients]), "tensors come first"
    num_others = len(arguments) - num_gradients
    no_more: tuple = (None,) * num_others
    nothing = (None,) * len(arguments)

    def outputs_of(ctx: Any, args: Sequence[Any]) -> Any:
        if _in_transform():
            outputs = _run_below(op, args)
        else:
            with _below_autograd():
                outputs = op(*args)
        ctx.set_materialize_grads(False)
        ctx.others = args[num_gradients:]
        ctx.save_for_backward(*save(args, outputs))
        if forward_ad._current_level >= 0:
            ctx.save_for_forward(*args[:num_gradients])
        return outputs

    def run_backward(ctx: Any, *grads: Any) -> Any:
        for grad in grads:
            if grad is not None:
                return *backward(ctx, ctx.saved_tensors, ctx.others, *grads), *no_more
        return nothing

    def run_jvp(ctx: Any, *tangents: Any) -> Any:
        args = (*ctx.saved_tensors, *ctx.others)
        return jvp(args, tangents[:num_gradients])

    def public_forward(ctx: Any, *args: Any) -> Any:
        outputs = outputs_of(ctx, args)
        if num_outputs == 1:
            return outputs
        return outputs[0] if num_differentiable == 1 else outputs[:num_differentiable]

    def op_forward(ctx: Any, *args: Any) -> Any:
        outputs = outputs_of(ctx, args)
        if num_outputs > num_differentiable:
            ctx.mark_non_differentiable(*outputs[num_differentiable:])
        return outputs

    def op_backward(ctx: Any, *grads: Any) -> Any:
        return run_backward(ctx, *grads[:num_differentiable])

    def op_jvp(ctx: Any, *tangents: Any) -> Any:
        result = run_jvp(ctx, *tangents)
        if num_outputs == 1:
            return result
        result = (result,) if num_differentiable == 1 else tuple(result)
        return *result, *(None,) * (num_outputs - num_differentiable)

    def function(prefix: str, forward: Any, backward: Any, jvp: Any) -> Any:
        members = {"forward": forward, "backward": backward, "jvp": jvp}
        members = {key: staticmethod(value) for key, value in members.items()}
        members["_compiled_autograd_key"] = staticmethod(lambda ctx: (ctx._autograd_function_id,))
        return type(prefix + name, (_SingleLevelFunction,), members).apply  # type: ignore[attr-defined]

    apply_op = function("Op_", op_forward, op_backward, op_jvp)
    apply = function("", public_forward, run_backward, run_jvp)
    _op_kernel(op, apply_op)

    def first(outputs: Any) -> Any:
        if num_outputs == 1:
            return outputs
        return outputs[0] if num_differentiable == 1 else outputs[:num_differentiable]

    def call(*args: Any) -> Any:
        if _is_compiling():
            return first(op(*args))
        try:
            if _in_transform():
                return first(op(*args))
            if forward_ad._current_level >= 0 or (
                _is_grad_enabled() and _any_requires_grad(args[:num_gradients])
            ):
                # Autocast comes before autograd.
                return first(op(*args)) if _autocast_is_on() else apply(*args)
            with _below_autograd():
                outputs = op(*args)
        except RuntimeError as error:
            raise_again(error)
        if num_outputs == 1:
            return outputs
        return outputs[0] if num_differentiable == 1 else outputs[:num_differentiable]

    return call


def _refusing(name: str, reverse: Optional[str], forward: str) -> Any:
    """A function for autograd without derivatives. reverse: None if outputs have no gradients."""
    op = getattr(ops, name).default

    def forward_pass(ctx: Any, *args: Any) -> Any:
        outputs = _run_below(op, args)
        if reverse is None:
            ctx.mark_non_differentiable(*(outputs if isinstance(outputs, tuple) else (outputs,)))
        return outputs

    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(f"{name}: {reverse}")

    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise RuntimeError(f"{name}: {forward}")

    members = {"forward": forward_pass, "backward": backward, "jvp": jvp}
    members = {key: staticmethod(value) for key, value in members.items()}
    apply = type("Refusing_" + name, (_SingleLevelFunction,), members).apply  # type: ignore[attr-defined]
    _op_kernel(op, apply)
    return op


def gradient(name: str) -> Callable[..., Any]:
    """Registers an op that is a gradient: there is none of it, and asking for one is an error, not
    zeros. Returns it as a function of all its arguments, for backward passes."""
    op = _refusing(
        name,
        "there is no second derivative.",
        "there is no forward-mode derivative of a gradient.",
    )

    def call(*args: Any) -> Any:
        # With gradients enabled here someone wants the second derivative.
        if _is_grad_enabled() or _in_transform() or forward_ad._current_level >= 0:
            return op(*args)
        with _below_autograd():
            return op(*args)

    return call


def without_gradient(name: str) -> Callable[..., Any]:
    """Registers an op whose outputs don't require gradients, as those of torch's own quantising
    ops. A tangent is refused: it would be dropped."""
    op = _refusing(name, None, "there is no forward-mode derivative.")

    def call(*args: Any) -> Any:
        if _is_compiling():
            return op(*args)
        try:
            if _in_transform() or forward_ad._current_level >= 0:
                return op(*args)
            with _below_autograd():
                return op(*args)
        except RuntimeError as error:
            raise_again(error)

    return call


def raising(op: Any) -> Callable[..., Any]:
    """An op that writes its arguments, with Python's exceptions."""

    def call(*args: Any) -> Any:
        if _is_compiling():
            return op(*args)
        try:
            return op(*args)
        except RuntimeError as error:
            raise_again(error)

    return call


def tangent_or_zero(tangent: Optional[torch.Tensor], of: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(of) if tangent is None else tangent

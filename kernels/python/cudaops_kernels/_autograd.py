# SPDX-License-Identifier: Apache-2.0
"""Ops with derivatives: one description of an op serves torch.ops.cudaops and the public function.

The op itself has a kernel for autograd: it is right under torch.func's transforms, forward-mode AD
and torch.compile, and costs some microseconds more. Below it stands the op's twin ("_rms_norm" of
"rms_norm"): the same kernels, and nothing for autograd. The twin is what kernels for autograd call,
and so what compiled graphs hold; the public function calls it at once wherever no gradient is asked
for, and otherwise has a function of its own with the twin as its forward pass.
"""

from typing import Any, Callable, Optional, Sequence

import torch
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.autograd.function import _SingleLevelFunction
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from ._errors import kinds_of, raise_again, refuse_types
from ._library import ops
from ._sharding import register_if_imported, register_if_missing

_library = torch.library.Library("cudaops", "IMPL")
_is_grad_enabled = torch.is_grad_enabled
_in_transform = torch._C._are_functorch_transforms_active
_autocast_is_on = torch._C._is_any_autocast_enabled
_compiler = torch.compiler
_is_dynamo_compiling = torch.compiler.is_dynamo_compiling


def is_compiling() -> bool:
    """torch.compiler.is_compiling(), in less time where nothing is compiled."""
    return _is_dynamo_compiling() or _compiler._is_compiling_flag


def _before_capture(name: str, kinds: Any, args: Sequence[Any]) -> None:
    register_if_imported()
    refuse_types(name, kinds, args)


def _twin(name: str) -> Callable[..., Any]:
    """The op that autograd doesn't see, without what OpOverload puts around it."""
    _library.impl(f"_{name}", torch.library.fallthrough_kernel, "Autograd")
    run: Callable[..., Any] = getattr(ops, f"_{name}").default._op
    return run


def _within_a_function(op: Any, args: Sequence[Any]) -> Any:
    """The op within a function's forward pass under a transform. The function has switched both kinds
    of gradients off; the levels below this one have theirs still."""
    with (
        torch.enable_grad(),
        forward_ad._set_fwd_grad_enabled(True),
        torch._C._AutoDispatchBelowAutograd(),
    ):
        return op(*args)


def _has_tangents(args: Sequence[Any]) -> bool:
    """Whether some of them may have one. Python's count of levels isn't kept by a graph that torch.compile
    captured: when it is compiled tensors are asked, which takes longer."""
    return forward_ad._current_level >= 0 or (
        torch._guards.TracingContext.try_get() is not None
        and any(
            torch._VF._unpack_dual(arg, level=0)[1] is not None
            for arg in args
            if isinstance(arg, torch.Tensor) and not is_traceable_wrapper_subclass(arg)
        )
    )


def _op_kernel(op: Any, run: Callable[..., Any], apply: Callable[..., Any]) -> None:
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
        if (_is_grad_enabled() and torch._C._any_requires_grad(*args)) or _has_tangents(args):
            return apply(*args)
        return run(*args)

    _library.impl(op._schema.name.split("::")[1], kernel, "Autograd")


def _apply_of(name: str, **members: Callable[..., Any]) -> Callable[..., Any]:
    static: dict = {key: staticmethod(value) for key, value in members.items()}
    static["_compiled_autograd_key"] = staticmethod(lambda ctx: (ctx._autograd_function_id,))
    function: Any = type(name, (_SingleLevelFunction,), static)
    # Else it looks at each call for which of `backward` and `vjp` there is.
    function._backward_cls.apply = members["backward"]
    apply: Callable[..., Any] = function.apply
    return apply


def differentiable(
    *,
    setup: Callable[..., None],
    backward: Callable[..., Any],
    jvp: Callable[..., Any],
    num_differentiable: int = 1,
) -> Callable[[str], Callable[..., Any]]:
    """For register_op(): an op with derivatives. As a function it gives its first num_differentiable
    outputs: one, or a tuple.

    setup(ctx, args, outputs) saves what backward(ctx, *grads) needs, which returns a gradient for
    each of args; with several differentiable outputs a grad may be None, but not all of them.
    jvp(args, tangents): a tangent for each of the first outputs, by torch's ops on arguments alone,
    so that it has derivatives itself; of the tangents, one for each tensor, some may be None.
    """

    def register(name: str) -> Callable[..., Any]:
        return _differentiable(name, setup, backward, jvp, num_differentiable)

    return register


def _differentiable(
    name: str,
    setup: Callable[..., None],
    backward: Callable[..., Any],
    jvp: Callable[..., Any],
    num_differentiable: int,
) -> Callable[..., Any]:
    op, run = getattr(ops, name).default, _twin(name)
    arguments = op._schema.arguments
    is_tensor = ["Tensor" in str(argument.type) for argument in arguments]
    num_tensors = sum(is_tensor)
    assert all(is_tensor[:num_tensors]), "tensors come first"
    num_outputs = len(op._schema.returns)
    nothing = (None,) * len(arguments)
    several = num_differentiable > 1
    # Of outputs; None: that is what there is.
    first: Any = None
    if num_outputs > 1:
        first = slice(num_differentiable) if several else 0

    def keep_for_jvp(ctx: Any, args: Sequence[Any]) -> None:
        ctx.save_for_forward(*args[:num_tensors])
        ctx.numbers = args[num_tensors:]

    def run_jvp(ctx: Any, *tangents: Any) -> Any:
        return jvp((*ctx.saved_tensors, *ctx.numbers), tangents[:num_tensors])

    def run_backward(ctx: Any, *grads: Any) -> Any:
        if len(grads) > num_differentiable:
            grads = grads[:num_differentiable]
        for grad in grads:
            if grad is not None:
                return backward(ctx, *grads)
        return nothing

    def forward_of_op(ctx: Any, *args: Any) -> Any:
        outputs = _within_a_function(op, args) if _in_transform() else run(*args)
        ctx.set_materialize_grads(False)
        setup(ctx, args, outputs)
        keep_for_jvp(ctx, args)
        if num_outputs > num_differentiable:
            ctx.mark_non_differentiable(*outputs[num_differentiable:])
        return outputs

    def jvp_of_op(ctx: Any, *tangents: Any) -> Any:
        result = run_jvp(ctx, *tangents)
        if num_outputs == 1:
            return result
        result = tuple(result) if several else (result,)
        return *result, *(None,) * (num_outputs - num_differentiable)

    def forward(ctx: Any, *args: Any) -> Any:
        outputs = run(*args)
        setup(ctx, args, outputs)
        if forward_ad._current_level >= 0:
            keep_for_jvp(ctx, args)
        if several:
            ctx.set_materialize_grads(False)
        return outputs if first is None else outputs[first]

    _op_kernel(
        op,
        run,
        _apply_of(f"Op_{name}", forward=forward_of_op, backward=run_backward, jvp=jvp_of_op),
    )
    apply = _apply_of(
        name, forward=forward, backward=run_backward if several else backward, jvp=run_jvp
    )

    kinds = kinds_of(op)

    def call(*args: Any) -> Any:
        if is_compiling():
            _before_capture(name, kinds, args)
            outputs = op(*args)
            return outputs if first is None else outputs[first]
        try:
            # Transforms and autocast come before autograd.
            if _in_transform() or _autocast_is_on():
                outputs = op(*args)
                return outputs if first is None else outputs[first]
            if forward_ad._current_level >= 0:
                return apply(*args)
            if _is_grad_enabled():
                for tensor in args[:num_tensors]:
                    if tensor is not None and tensor.requires_grad:
                        return apply(*args)
            outputs = run(*args)
        except (RuntimeError, TypeError, AttributeError) as error:
            if register_if_missing(error):
                return call(*args)
            raise_again(error, name, kinds, args)
        return outputs if first is None else outputs[first]

    return call


def _refusing(name: str, reverse: Optional[str], forward: str) -> Any:
    """An op without derivatives. reverse: None if its outputs have no gradients at all."""
    op, run = getattr(ops, name).default, _twin(name)

    def forward_pass(ctx: Any, *args: Any) -> Any:
        outputs = _within_a_function(op, args) if _in_transform() else run(*args)
        if reverse is None:
            ctx.mark_non_differentiable(*(outputs if isinstance(outputs, tuple) else (outputs,)))
        return outputs

    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(f"{name}: {reverse}")

    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise RuntimeError(f"{name}: {forward}")

    _op_kernel(op, run, _apply_of(f"Op_{name}", forward=forward_pass, backward=backward, jvp=jvp))
    return op, run


def gradient(name: str) -> Callable[..., Any]:
    """For register_op(): an op that is a gradient. There is none of it, and asking for one is an
    error, not zeros. As a function it is for backward passes."""
    op, run = _refusing(
        name,
        "there is no second derivative.",
        "there is no forward-mode derivative of a gradient.",
    )

    def call(*args: Any) -> Any:
        # With gradients enabled here someone wants the second derivative. Compiled autograd traces a
        # backward pass, and OpOverload is what can be traced.
        if (
            _is_grad_enabled()
            or forward_ad._current_level >= 0
            or _in_transform()
            or _is_dynamo_compiling()
        ):
            return op(*args)
        return run(*args)

    return call


def without_gradient(name: str) -> Callable[..., Any]:
    """For register_op(): an op whose outputs don't require gradients, as those of torch's own
    quantising ops. A tangent is refused: it would be dropped."""
    op, run = _refusing(name, None, "there is no forward-mode derivative.")
    kinds = kinds_of(op)

    def call(*args: Any) -> Any:
        if is_compiling():
            _before_capture(name, kinds, args)
            return op(*args)
        try:
            if _in_transform() or _autocast_is_on() or forward_ad._current_level >= 0:
                return op(*args)
            return run(*args)
        except (RuntimeError, TypeError, AttributeError) as error:
            if register_if_missing(error):
                return call(*args)
            raise_again(error, name, kinds, args)

    return call


def raising(op: Any) -> Callable[..., Any]:
    """An op that writes its arguments, with Python's exceptions."""
    name, kinds = op._schema.name.split("::")[1], kinds_of(op)

    def call(*args: Any) -> Any:
        if is_compiling():
            _before_capture(name, kinds, args)
            return op(*args)
        try:
            return op(*args)
        except (RuntimeError, TypeError, AttributeError) as error:
            raise_again(error, name, kinds, args)

    return call


def tangent_or_zero(tangent: Optional[torch.Tensor], of: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(of) if tangent is None else tangent

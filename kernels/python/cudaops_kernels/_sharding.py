# SPDX-License-Identifier: Apache-2.0
"""Rules of torch.distributed.tensor: which placements of arguments an op takes, and what comes out.

Others are redistributed by torch: a sharded row is gathered, a Partial reduced, as for torch's own
ops. Registered where DTensor is imported already, else when the first DTensor comes: to import it
takes half as long as torch itself.
"""

import sys
from typing import Any, Callable, Sequence

import torch

from ._library import ops, with_twin

_registered = False


def register_if_missing(error: BaseException) -> bool:
    """Whether this error was that of a DTensor for which there are rules now."""
    if _registered or "sharding strategy" not in str(error):
        return False
    register()
    return True


def register() -> None:
    """Once a process."""
    global _registered
    if _registered:
        return
    _registered = True
    from torch.distributed.tensor import Partial, Replicate, Shard
    from torch.distributed.tensor.experimental import register_sharding

    def rule(name: str, placements: Callable[..., Sequence[tuple]]) -> None:
        """placements(arguments): pairs of outputs' and tensors' placements, by which the op may run
        besides all replicated; a dictionary by name for the tensors."""
        op = getattr(ops, name).default
        schema = op._schema.arguments
        names = [argument.name for argument in schema]
        defaults = [argument.default_value for argument in schema]
        num_outputs = len(op._schema.returns)

        def choices(*args: Any) -> list:
            values = (*args, *defaults[len(args) :])
            arguments = dict(zip(names, values))
            tensors = [key for key in names[: len(args)] if hasattr(arguments[key], "tensor_meta")]
            result = []
            everywhere: list = [([Replicate()] * num_outputs, {})]
            for outputs, inputs in (*everywhere, *placements(arguments)):
                result.append(
                    (
                        list(outputs),
                        [
                            inputs.get(key, Replicate()) if key in tensors else None
                            for key in names[: len(args)]
                        ],
                    )
                )
            return result

        for op_or_twin in with_twin(name):
            register_sharding(getattr(ops, op_or_twin).default)(choices)

    def by_rows(
        name: str,
        rows: Sequence[str],
        num_row_outputs: int,
        *,
        columns: int = 0,
        last: int = 1,
    ) -> None:
        """All but the last dimensions may be sharded. columns: outputs behind those of rows, which
        are sums of rows."""

        def placements(arguments: dict) -> list:
            causal = 2 if arguments.get("causal") else last
            num_dims = len(arguments[rows[0]].shape)
            return [
                (
                    [Shard(dim)] * num_row_outputs + [Partial()] * columns,
                    {key: Shard(dim) for key in rows},
                )
                for dim in range(num_dims - causal)
            ]

        rule(name, placements)

    def elementwise(name: str, tensors: Sequence[str], num_outputs: int) -> None:
        def placements(arguments: dict) -> list:
            num_dims = len(arguments[tensors[0]].shape)
            return [
                ([Shard(dim)] * num_outputs, {key: Shard(dim) for key in tensors})
                for dim in range(num_dims)
            ]

        rule(name, placements)

    by_rows("rms_norm", ("input",), 2)
    by_rows("fused_add_rms_norm", ("input", "residual"), 3)
    by_rows(
        "rms_norm_backward", ("x", "grad_output", "grad_residual_out", "rstd"), 1, columns=1
    )
    by_rows("layer_norm", ("input",), 3)
    by_rows("layer_norm_backward", ("input", "grad_output", "mean", "rstd"), 1, columns=2)
    by_rows("softmax_backward", ("output", "grad_output"), 1)
    by_rows("rms_norm_quantize", ("input", "residual"), 3)
    by_rows("swiglu_quantize", ("gate", "up"), 2)
    by_rows("transpose", ("input",), 1, last=2)
    for unit in ("swiglu", "geglu"):
        elementwise(unit, ("gate", "up"), 1)
        elementwise(f"{unit}_backward", ("gate", "up", "grad_output"), 2)

    def softmax(arguments: dict) -> list:
        mask, num_dims = arguments["mask"], len(arguments["input"].shape)
        result = []
        for dim in range(num_dims - (2 if arguments["causal"] else 1)):
            inputs = {"input": Shard(dim)}
            if mask is not None:
                own = dim - (num_dims - len(mask.shape))
                if own >= 0 and mask.shape[own] != 1:
                    inputs["mask"] = Shard(own)
            result.append(([Shard(dim)], inputs))
        return result

    def bias_gelu(arguments: dict) -> list:
        last = len(arguments["input"].shape) - 1
        rows = [([Shard(dim)], {"input": Shard(dim)}) for dim in range(last)]
        return [*rows, ([Shard(last)], {"input": Shard(last), "bias": Shard(0)})]

    def bias_gelu_backward(arguments: dict) -> list:
        last = len(arguments["input"].shape) - 1
        both = ("input", "grad_output")
        rows: list = [
            ([Shard(dim), Partial()], {key: Shard(dim) for key in both}) for dim in range(last)
        ]
        columns = {**{key: Shard(last) for key in both}, "bias": Shard(0)}
        return [*rows, ([Shard(last), Shard(0)], columns)]

    def cross_entropy(arguments: dict) -> list:
        if arguments["reduction"] != "none":
            return []
        return [
            ([Shard(dim)] * 2, {"logits": Shard(dim), "target": Shard(dim)})
            for dim in range(len(arguments["logits"].shape) - 1)
        ]

    def cross_entropy_backward(arguments: dict) -> list:
        if arguments["reduction"] != "none":
            return []
        keys = ("logits", "target", "grad_loss", "lse")
        return [
            ([Shard(dim)], {key: Shard(dim) for key in keys})
            for dim in range(len(arguments["logits"].shape) - 1)
        ]

    def rope(q: str, k: str) -> Callable[[dict], list]:
        def placements(arguments: dict) -> list:
            num_dims = len(arguments[q].shape)
            tokens = range(num_dims - (2 if arguments["positions"] is not None else 3))
            result = [
                ([Shard(dim)] * 2, {q: Shard(dim), k: Shard(dim), "positions": Shard(dim)})
                for dim in tokens
            ]
            # Heads: of both, which may differ in their number.
            heads = Shard(num_dims - 2)
            return [*result, ([heads] * 2, {q: heads, k: heads})]

        return placements

    rule("softmax", softmax)
    rule("bias_gelu", bias_gelu)
    rule("bias_gelu_backward", bias_gelu_backward)
    rule("cross_entropy", cross_entropy)
    rule("cross_entropy_backward", cross_entropy_backward)
    rule("rope", rope("q", "k"))
    rule("rope_backward", rope("grad_q", "grad_k"))


if "torch.distributed.tensor" in sys.modules:
    register()


def local(tensor: Any) -> Any:
    """A DTensor's shard of this process; any other tensor itself."""
    return getattr(tensor, "_local_tensor", tensor)


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """A number that may be a DTensor, as it is everywhere."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor

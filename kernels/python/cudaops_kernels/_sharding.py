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
            result = [
                ([Shard(dim)] * 2, {q: Shard(dim), k: Shard(dim), "positions": Shard(dim)})
                for dim in _token_dims(num_dims, arguments["positions"] is not None)
            ]
            # Heads: of both, which may differ in their number.
            heads = Shard(num_dims - 2)
            return [*result, ([heads] * 2, {q: heads, k: heads})]

        return placements

    def fused_quantize(rows: Sequence[str], has_residual: bool) -> Callable[[dict], list]:
        def placements(arguments: dict) -> list:
            def choice(shard: Any) -> tuple:
                # What there is none of has no rows.
                outputs = [shard, shard if arguments["scale"] is None else Replicate()]
                if has_residual:
                    outputs.append(Replicate() if arguments["residual"] is None else shard)
                return outputs, {key: shard for key in rows}

            return [choice(Shard(dim)) for dim in range(len(arguments[rows[0]].shape) - 1)]

        return placements

    def whole_blocks(arguments: dict) -> list:
        """Dimensions of which a shard has whole blocks: the batch's, and rows with scales of their
        own."""
        num_dims, block_size = len(arguments["input"].shape), arguments["block_size"]
        has_own_rows = len(block_size) == 2 and block_size[0] == 1
        return [Shard(dim) for dim in range(num_dims - (1 if has_own_rows else 2))]

    def quantize(arguments: dict) -> list:
        if arguments["seed"] is not None:  # counts the elements of all
            return []
        scale, none = arguments["scale"], Replicate()
        is_one_number = scale is not None and len(scale.shape) != len(arguments["input"].shape)
        return [
            (
                [shard, shard if scale is None else none, none if arguments["symmetric"] else shard],
                {"input": shard, "scale": none if is_one_number else shard},
            )
            for shard in whole_blocks(arguments)
        ]

    def dequantize(arguments: dict) -> list:
        if len(arguments["scale"].shape) != len(arguments["input"].shape):
            return []
        keys = ("input", "scale", "zero_point")
        return [([shard], {key: shard for key in keys}) for shard in whole_blocks(arguments)]

    rule("rms_norm_quantize", fused_quantize(("input", "residual"), True))
    rule("swiglu_quantize", fused_quantize(("gate", "up"), False))
    rule("quantize", quantize)
    rule("dequantize", dequantize)
    rule("softmax", softmax)
    rule("bias_gelu", bias_gelu)
    rule("bias_gelu_backward", bias_gelu_backward)
    rule("cross_entropy", cross_entropy)
    rule("cross_entropy_backward", cross_entropy_backward)
    rule("rope", rope("q", "k"))
    rule("rope_backward", rope("grad_q", "grad_k"))


if "torch.distributed.tensor" in sys.modules:
    register()


def _token_dims(num_dims: int, has_positions: bool) -> range:
    """Without positions a token's is its place in the sequence, which must be there from its
    beginning."""
    return range(num_dims - (2 if has_positions else 3))


def _written_dims(name: str, arguments: dict) -> tuple[Sequence[int], tuple[str, ...]]:
    """Along which dimensions tensors that an op writes may be sharded, and the other tensors that
    are sharded like them."""
    if name == "fused_add_rms_norm_":
        return range(arguments["input"].dim() - 1), ()
    if name == "rope_":
        num_dims = arguments["q"].dim()
        tokens = _token_dims(num_dims, arguments.get("positions") is not None)
        return (*tokens, num_dims - 2), ("positions",)
    return (), ()


def shards_to_write(name: str, arguments: dict, written: Sequence[str]) -> dict:
    """The arguments with the shards of this process for DTensors. What is written stays where it
    is: a tensor that would have to be redistributed first is refused."""
    from torch.distributed.tensor import Replicate, Shard

    first = arguments[written[0]]
    dims, alike = _written_dims(name, arguments)
    for key, value in arguments.items():
        if isinstance(value, torch.Tensor) and not hasattr(value, "_local_tensor"):
            raise RuntimeError(f"{name}: wanted DTensors beside DTensors, found a tensor for {key}.")
    placements = tuple(getattr(first, "placements"))
    for key in written:
        value = arguments[key]
        if value.device_mesh != first.device_mesh or tuple(value.placements) != placements:
            raise RuntimeError(
                f"{name}: wanted one mesh and one placement for {' and '.join(written)}, found "
                f"{placements} and {tuple(value.placements)}."
            )
    for placement in placements:
        if placement != Replicate() and placement not in [Shard(dim) for dim in dims]:
            raise RuntimeError(
                f"{name}: wanted DTensors that are replicated or sharded by rows, as they are "
                f"overwritten, found {placement}."
            )
    # Of heads the others have all.
    own = [
        p if p == Replicate() or p.dim < first.dim() - 2 else Replicate() for p in placements
    ]
    result = {}
    for key, value in arguments.items():
        if hasattr(value, "_local_tensor"):
            if key not in written:
                wanted = own if key in alike else [Replicate()] * len(placements)
                value = value.redistribute(placements=wanted)
            value = value._local_tensor
        result[key] = value
    return result


def local(tensor: Any) -> Any:
    """A DTensor's shard of this process; any other tensor itself."""
    return getattr(tensor, "_local_tensor", tensor)


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """A number that may be a DTensor, as it is everywhere."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def local_gradient(param: Any, grad: Any) -> Any:
    """Sharded like its parameter, as torch's FSDP has it already, the part of this process."""
    if not hasattr(param, "_local_tensor"):
        return grad
    if grad.placements != param.placements:
        grad = grad.redistribute(placements=param.placements)
    return grad._local_tensor

# SPDX-License-Identifier: Apache-2.0
"""All ops in every mode that torch has: forward-mode AD, torch.func, autocast, inference mode,
torch.compile, export, streams, graphs, copies and processes. One list of calls serves all tests."""

import copy
import io
import os
import pickle
import unittest

from kernel_testing import kernels, main, normal, ops, refusal
from kernel_testing import pytest_generate_tests  # noqa: F401

import torch
import torch.nn.functional as F
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch.autograd import forward_ad

EPS = 1e-5


class Call:
    """A public function, the same by torch's ops, and tensors for both: those by which it is
    differentiable, and others."""

    def __init__(self, function, plain, tensors, constants=(), rows=(0,)):
        self.function, self.plain = function, plain
        self.tensors, self.constants = tensors, constants
        self.rows = rows  # places in tensors of which the first dimension is a batch

    def ours(self, *tensors):
        return self.function(*tensors, *self.constants)

    def wanted(self, *tensors):
        return self.plain(*tensors, *self.constants)


def rotated(q, k, cos, sin):
    def one(x):
        a, b = x.chunk(2, -1)
        c, s = cos[: x.shape[-3], None], sin[: x.shape[-3], None]
        return torch.cat((a * c - b * s, b * c + a * s), -1)

    return one(q), one(k)


def causal_softmax(x, mask):
    queries, keys = x.shape[-2:]
    seen = torch.ones(queries, keys, dtype=torch.bool, device=x.device).tril(keys - queries)
    return torch.softmax((0.5 * x + mask).masked_fill(~seen, -torch.inf), -1)


def of_sequences(run):
    """Attention of [batch, 6, heads, 8], or without a batch, as a member of one."""

    def function(q, k, v):
        output = run(*(x.reshape(-1, 6, x.shape[-2], 8) for x in (q, k, v)))
        return output.reshape(q.shape)

    return function


def causal_attention(q, k, v):
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    seen = torch.ones(6, 6, dtype=torch.bool, device=q.device).tril()
    scores = (0.5 * (q @ k.mT)).masked_fill(~seen, -torch.inf)
    return (torch.softmax(scores, -1) @ v).transpose(1, 2)


def plain_rms_norm(x, w):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPS) * (w + 1)


def calls(device, dtype=torch.float32):
    def some(*shape, seed=0):
        return normal(*shape, dtype=dtype, device=device, seed=seed)

    x, y, w, b = some(4, 6, 8), some(4, 6, 8, seed=1), some(8, seed=2), some(8, seed=3)
    q, k = some(4, 6, 2, 8, seed=4), some(4, 6, 1, 8, seed=5)
    angles = normal(6, 4, dtype=torch.float32, device=device, seed=6)
    target = torch.arange(24, device=device).view(4, 6) % 8
    mask = some(6, 8, seed=7)

    def fused_plain(x, y, w):
        return plain_rms_norm(x + y, w), x + y

    return {
        "rms_norm": Call(
            lambda x, w: kernels.rms_norm(x, 8, w, EPS, weight_offset=1.0), plain_rms_norm, (x, w)
        ),
        "fused_add_rms_norm": Call(
            lambda x, y, w: kernels.fused_add_rms_norm(x, y, 8, w, EPS, weight_offset=1.0),
            fused_plain,
            (x, y, w),
            rows=(0, 1),
        ),
        "layer_norm": Call(
            lambda x, w, b: kernels.layer_norm(x, 8, w, b, EPS),
            lambda x, w, b: F.layer_norm(x, (8,), w, b, EPS),
            (x, w, b),
        ),
        "softmax": Call(
            lambda x, m: kernels.softmax(x, mask=m, scale=0.5, causal=True),
            causal_softmax,
            (x, mask),
        ),
        "cross_entropy": Call(
            lambda x, t: kernels.cross_entropy(x, t, label_smoothing=0.1, reduction="none"),
            lambda x, t: F.cross_entropy(
                x.movedim(-1, 1), t, label_smoothing=0.1, reduction="none"
            ),
            (x,),
            (target,),
        ),
        "swiglu": Call(kernels.swiglu, lambda g, u: F.silu(g) * u, (x, y), rows=(0, 1)),
        "geglu": Call(kernels.geglu, lambda g, u: F.gelu(g) * u, (x, y), rows=(0, 1)),
        "geglu tanh": Call(
            lambda g, u: kernels.geglu(g, u, "tanh"),
            lambda g, u: F.gelu(g, approximate="tanh") * u,
            (x, y),
            rows=(0, 1),
        ),
        "bias_gelu": Call(kernels.bias_gelu, lambda x, b: F.gelu(x + b), (x, b)),
        "rope": Call(kernels.rope, rotated, (q, k), (angles.cos(), angles.sin()), rows=(0, 1)),
        "attention": Call(
            of_sequences(lambda q, k, v: kernels.attention(q, k, v, scale=0.5, causal=True)),
            of_sequences(causal_attention),
            (q, k, some(4, 6, 1, 8, seed=8)),
            rows=(0, 1, 2),
        ),
        "transpose": Call(kernels.transpose, lambda x: x.mT.contiguous(), (x,)),
    }


def quantising(device):
    """name → (function of one tensor, a tensor)."""
    x = normal(4, 6, 8, dtype=torch.float32, device=device)
    return {
        "quantize": (lambda x: kernels.quantize(x, torch.int8, (1, -1))[:2], x),
        "rms_norm_quantize": (
            lambda x: kernels.rms_norm_quantize(x, None, EPS, dtype=torch.int8, residual=x),
            x,
        ),
        "swiglu_quantize": (lambda x: kernels.swiglu_quantize(x, x, dtype=torch.int8), x),
    }


def as_tuple(outputs):
    return outputs if isinstance(outputs, tuple) else (outputs,)


def assert_same(found, wanted, name, **tolerance):
    tolerance = tolerance or {"rtol": 1e-4, "atol": 1e-5}
    for a, b in zip(as_tuple(found), as_tuple(wanted), strict=True):
        torch.testing.assert_close(
            a, b, **tolerance, msg=lambda text: f"{name}: {text}", check_dtype=False
        )


def like(tensors, seed=50):
    return tuple(
        normal(*t.shape, dtype=torch.float32, device=t.device, seed=seed + i).to(t.dtype)
        for i, t in enumerate(tensors)
    )


def test_forward_mode_gives_the_true_tangent(device):
    for name, call in calls(device).items():
        tangents = like(call.tensors)
        _, found = torch.func.jvp(call.ours, call.tensors, tangents)
        _, wanted = torch.func.jvp(call.wanted, call.tensors, tangents)
        assert_same(found, wanted, name)
        for place in range(len(call.tensors)):  # each by itself
            with forward_ad.dual_level():
                duals = list(call.tensors)
                duals[place] = forward_ad.make_dual(duals[place], tangents[place])
                both = [as_tuple(run(*duals)) for run in (call.ours, call.wanted)]
                found, wanted = (
                    tuple(
                        torch.zeros_like(o) if t is None else t
                        for o, t in ((o, forward_ad.unpack_dual(o).tangent) for o in outputs)
                    )
                    for outputs in both
                )
                assert_same(found, wanted, (name, place))


def test_forward_mode_of_the_ops_themselves(device):
    x, t = normal(2, 3, 8, dtype=torch.float32, device=device)
    _, tangent = torch.func.jvp(lambda x: ops.swiglu(x, x), (x,), (t,))
    _, wanted = torch.func.jvp(lambda x: F.silu(x) * x, (x,), (t,))
    assert_same(tangent, wanted, "swiglu")
    with forward_ad.dual_level():
        outputs = ops.layer_norm(forward_ad.make_dual(x, t), None, None, EPS)
        assert forward_ad.unpack_dual(outputs[0]).tangent.abs().max() > 0.1


def test_forward_mode_compiled(device):
    """A captured graph keeps no level of forward mode in Python."""

    def dual_level(x, tangent):
        with forward_ad.dual_level():
            return forward_ad.unpack_dual(kernels.softmax(forward_ad.make_dual(x, tangent))).tangent

    def compiled(function, *tensors):
        torch._dynamo.reset()
        return torch.compile(function, backend="aot_eager")(*tensors)

    some = calls(device)
    for name in ("rms_norm", "rope"):  # one output with a tangent, two
        call = some[name]

        def jvp(*tensors, call=call):
            return torch.func.jvp(call.ours, tensors, like(tensors))[1]

        assert_same(compiled(jvp, *call.tensors), jvp(*call.tensors), name)
    x, tangent = normal(2, 3, 8, dtype=torch.float32, device=device)
    assert_same(compiled(dual_level, x, tangent), dual_level(x, tangent), "dual level")


def test_forward_mode_by_scale(device):
    x = torch.arange(-12, 12, device=device).view(4, 6).to(torch.int8)
    scale = normal(4, 1, dtype=torch.float32, device=device).abs() + 0.5
    t = normal(4, 1, dtype=torch.float32, device=device, seed=1)
    run = lambda scale: kernels.dequantize(x, scale, block_size=(1, -1))  # noqa: E731
    assert_same(torch.func.jvp(run, (scale,), (t,))[1], x.float() * t, "dequantize")


def test_forward_mode_is_refused_where_there_is_none(device):
    for name, (function, x) in quantising(device).items():
        for call in (
            lambda: torch.func.jvp(function, (x,), (x,)),
            lambda: torch.func.jacfwd(lambda x: function(x)[1])(x),
        ):
            assert refusal(call) == f"{name}: there is no forward-mode derivative.", name
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, x)
            assert "no forward-mode derivative" in refusal(lambda: function(dual))
    q, k = normal(2, 4, 6, 1, 8, dtype=torch.float32, device=device)
    cos = normal(6, 4, dtype=torch.float32, device=device)
    assert "without tangents" in refusal(
        lambda: torch.func.jvp(lambda c: kernels.rope(q, k, c, cos), (cos,), (cos,))
    )


def test_second_derivatives_are_true_or_refused(device):
    x = normal(3, 8, dtype=torch.float32, device=device)
    for name, function, plain in (
        ("rms_norm", lambda x: kernels.rms_norm(x, 8, eps=EPS), lambda x: F.rms_norm(x, (8,), eps=EPS)),
        ("layer_norm", lambda x: kernels.layer_norm(x, 8), lambda x: F.layer_norm(x, (8,))),
        ("softmax", kernels.softmax, lambda x: F.softmax(x, -1)),
        ("swiglu", lambda x: kernels.swiglu(x, x), lambda x: F.silu(x) * x),
        ("bias_gelu", kernels.bias_gelu, F.gelu),
    ):
        def ours(x, function=function):
            return function(x).pow(3).sum()

        def theirs(x, plain=plain):
            return plain(x).pow(3).sum()

        found = torch.func.jacrev(torch.func.jacfwd(ours))(x)
        assert_same(found, torch.func.hessian(theirs)(x), name, rtol=1e-3, atol=1e-4)
        assert "there is no" in refusal(lambda: torch.func.hessian(ours)(x)), name
        grad = torch.func.grad(ours)
        assert "there is no second" in refusal(
            lambda: torch.func.grad(lambda x: grad(x).square().sum())(x)
        ), name
        with forward_ad.dual_level():  # forward over reverse
            dual = forward_ad.make_dual(x.clone().requires_grad_(), x)
            assert "there is no" in refusal(lambda: torch.autograd.grad(ours(dual), dual)), name


def test_func_grad_and_vjp(device):
    for name, call in calls(device).items():
        everything = tuple(range(len(call.tensors)))

        def loss(run):
            return lambda *tensors: sum(o.square().sum() for o in as_tuple(run(*tensors)))

        found = torch.func.grad(loss(call.ours), everything)(*call.tensors)
        wanted = torch.func.grad(loss(call.wanted), everything)(*call.tensors)
        assert_same(found, wanted, name)
        outputs, pull = torch.func.vjp(call.ours, *call.tensors)
        _, pull_wanted = torch.func.vjp(call.wanted, *call.tensors)
        grads = like(as_tuple(outputs))
        grads = grads if isinstance(outputs, tuple) else grads[0]
        assert_same(pull(grads), pull_wanted(grads), name)


def test_vmap_is_more_rows(device):
    for name, call in calls(device).items():
        dims = tuple(0 if i in call.rows else None for i in range(len(call.tensors)))
        if name == "cross_entropy":
            found = torch.func.vmap(call.function, (0, 0))(*call.tensors, *call.constants)
        else:
            found = torch.func.vmap(call.ours, dims)(*call.tensors)
        wanted = call.ours(*call.tensors)
        for a, b in zip(as_tuple(found), as_tuple(wanted), strict=True):
            assert torch.equal(a, b), name
    for name, (function, x) in quantising(device).items():
        for a, b in zip(torch.func.vmap(function)(x), function(x), strict=True):
            assert torch.equal(a, b), name
    x, w = normal(2, 5, 8, dtype=torch.float32, device=device)
    # Another batch dimension, a weight for each, none at all.
    assert_same(
        torch.func.vmap(lambda x: kernels.rms_norm(x, 5, eps=EPS), 1)(x),
        kernels.rms_norm(x.mT.contiguous(), 5, eps=EPS),
        "dim 1",
    )
    assert_same(
        torch.func.vmap(lambda x, w: kernels.rms_norm(x, 8, w, EPS))(x, w),
        torch.stack([kernels.rms_norm(a, 8, b, EPS) for a, b in zip(x, w)]),
        "weights",
    )
    masks = normal(5, 1, 8, dtype=torch.float32, device=device)
    both = normal(5, 3, 8, dtype=torch.float32, device=device)
    assert_same(
        torch.func.vmap(lambda x, m: kernels.softmax(x, mask=m[0]))(both, masks),
        torch.softmax(both + masks, -1),
        "masks",
    )
    assert "at least one dimension" in refusal(
        lambda: torch.func.vmap(lambda x: ops.rms_norm(x, None, EPS))(x[0])
    )


# Sequences are told apart, or a row is not that of a token.
NOT_JAGGED = {
    "softmax": "before its last 2 dimensions",  # its mask is of queries
    "cross_entropy": "wanted a strided tensor for logits, found a jagged one",
    "rope": "before its last 3 dimensions",
    "attention": "wanted a strided tensor for q, found a jagged one",
    "transpose": "before its last 2 dimensions",
}


def jagged(values, offsets):
    """[24, ...] as sequences of 1, 5, 0 and 18."""
    return torch.nested.nested_tensor_from_jagged(values, offsets)


def test_jagged_tensors_are_rows_of_values(device):
    offsets = torch.tensor((0, 1, 6, 6, 24), device=device)

    def results(call, function, of_rows):
        leaves = [
            (tensor.flatten(0, 1) if i in call.rows else tensor).clone().requires_grad_()
            for i, tensor in enumerate(call.tensors)
        ]
        tensors = [of_rows(leaf) if i in call.rows else leaf for i, leaf in enumerate(leaves)]
        outputs = as_tuple(function(*tensors, *call.constants))
        assert all(output.is_nested == tensors[0].is_nested for output in outputs)
        outputs = [output.values() if output.is_nested else output for output in outputs]
        grads = torch.autograd.grad(sum(output.square().sum() for output in outputs), leaves)
        return [*outputs, *grads]

    of_rows = lambda values: jagged(values, offsets)  # noqa: E731
    for name, call in calls(device).items():
        run = ops.attention if name == "attention" else call.function
        if name in NOT_JAGGED:
            found = refusal(lambda: results(call, run, of_rows))
            assert NOT_JAGGED[name] in found, (name, found)
            continue
        found = results(call, run, of_rows)
        for a, b in zip(found, results(call, run, lambda values: values), strict=True):
            assert torch.equal(a, b), name
    for name, (function, x) in quantising(device).items():
        for a, b in zip(function(of_rows(x.flatten(0, 1))), function(x.flatten(0, 1)), strict=True):
            assert torch.equal(a.values(), b), name

    x = normal(24, 2, 8, dtype=torch.float32, device=device)
    one, other = jagged(x, offsets), jagged(x, offsets.clone())
    assert torch.equal(kernels.transpose(one).values(), kernels.transpose(x))
    assert torch.equal(kernels.RMSNorm((2, 8)).to(device)(one).values().flatten(1), kernels.rms_norm(x.flatten(1), 16))
    # [batch, heads, sequence, size], and sequences with gaps between them.
    assert torch.equal(kernels.softmax(one.transpose(1, 2)).transpose(1, 2).values(), kernels.softmax(x))
    gaps = torch.nested.nested_tensor_from_jagged(x, offsets, torch.tensor((1, 2, 0, 9), device=device))
    assert torch.equal(kernels.softmax(gaps).unbind()[3], kernels.softmax(x[6:15]))
    angles = normal(18, 4, dtype=torch.float32, device=device)
    positions = torch.tensor((0, *range(5), *range(18)), device=device)
    q, k = kernels.rope(one, one, angles.cos(), angles.sin(), jagged(positions, one.offsets()))
    wanted, _ = kernels.rope(x[6:], x[6:], angles.cos(), angles.sin())
    assert torch.equal(q.unbind()[3], wanted) and torch.equal(q.values(), k.values())
    with torch.autocast(device, dtype=torch.bfloat16):
        assert kernels.rms_norm(one, 8).is_nested

    assert "one tensor of offsets in gate and up" in refusal(lambda: kernels.swiglu(one, other))
    assert "wanted a jagged tensor for up beside the jagged gate, found a strided one" in refusal(
        lambda: kernels.swiglu(one, x)
    )
    assert "wanted a strided tensor for q, found a jagged one" in refusal(
        lambda: kernels.rope_(one, one, angles.cos(), angles.sin())
    )


def test_jagged_tensors_compiled(device):
    offsets = torch.tensor((0, 1, 6, 6, 24), device=device)
    x = jagged(normal(24, 8, dtype=torch.float32, device=device), offsets).requires_grad_()
    compiled = torch.compile(
        lambda x: kernels.silu_and_mul(kernels.rms_norm(x, 8)), fullgraph=True, backend="aot_eager"
    )
    wanted = kernels.silu_and_mul(kernels.rms_norm(x, 8))
    assert torch.equal(compiled(x.detach()).values(), wanted.values())


def test_gradients_for_each_sample(device):
    for name, call in calls(device).items():
        dims = tuple(0 if i in call.rows else None for i in range(len(call.tensors)))
        everything = tuple(range(len(call.tensors)))

        def loss(run):
            return lambda *tensors: sum(o.square().sum() for o in as_tuple(run(*tensors)))

        if name == "cross_entropy":
            function = lambda x, t: kernels.cross_entropy(x, t)  # noqa: E731
            plain = F.cross_entropy
            found, wanted = (
                torch.func.vmap(torch.func.grad(f), (0, 0))(*call.tensors, *call.constants)
                for f in (function, plain)
            )
        else:
            found, wanted = (
                torch.func.vmap(torch.func.grad(loss(f), everything), dims)(*call.tensors)
                for f in (call.ours, call.wanted)
            )
        assert_same(found, wanted, name)


def test_symbolic_trace_keeps_calls(device):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = torch.nn.Sequential(kernels.RMSNorm(8, eps=EPS), kernels.LayerNorm(8))

        def forward(self, x):
            x = kernels.silu_and_mul(kernels.rms_norm(self.norms(x), 8))
            return kernels.attention(x, x, x, causal=True)

    net = Net().to(device)
    graph = torch.fx.symbolic_trace(net)
    called = [node.target for node in graph.graph.nodes if node.op == "call_function"]
    names = ("rms_norm", "layer_norm", "rms_norm", "silu_and_mul", "attention")
    assert called == [getattr(kernels, name) for name in names], called
    x = normal(2, 3, 2, 8, dtype=torch.float32, device=device)
    assert torch.equal(graph(x), net(x))


def test_functional_call(device):
    module = kernels.RMSNorm(8, eps=EPS).to(device)
    x, w = normal(4, 8, dtype=torch.float32, device=device), torch.full((8,), 2.0, device=device)

    def loss(parameters):
        return torch.func.functional_call(module, parameters, (x,)).square().sum()

    found = torch.func.grad(loss)({"weight": w})["weight"]
    wanted = torch.func.grad(lambda w: F.rms_norm(x, (8,), w, EPS).square().sum())(w)
    assert_same(found, wanted, "functional_call")


def gradients(run, tensors):
    leaves = [t.detach().clone().requires_grad_() for t in tensors]
    outputs = as_tuple(run(*leaves))
    return torch.autograd.grad(sum(o.float().square().sum() for o in outputs), leaves)


def test_checkpointing(device):
    from torch.utils.checkpoint import checkpoint

    for name, call in calls(device).items():
        leaves = [t.detach().clone().requires_grad_() for t in call.tensors]
        wanted = gradients(call.ours, call.tensors)
        for reentrant in (False, True):
            outputs = checkpoint(call.ours, *leaves, use_reentrant=reentrant)
            sum(o.square().sum() for o in as_tuple(outputs)).backward()
            for leaf, b in zip(leaves, wanted):
                assert torch.equal(leaf.grad, b), (name, reentrant)
                leaf.grad = None


def test_hooks(device):
    for name, call in calls(device).items():
        leaves = [t.detach().clone().requires_grad_() for t in call.tensors]
        seen, packed = [], []

        def pack(tensor):
            packed.append(tensor)
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            output = as_tuple(call.ours(*leaves))[0]
        output.register_hook(lambda grad: seen.append("tensor"))
        output.grad_fn.register_hook(lambda inputs, outputs: seen.append("node"))
        leaves[0].register_post_accumulate_grad_hook(lambda leaf: seen.append("leaf"))
        output.sum().backward()
        assert sorted(seen) == ["leaf", "node", "tensor"], name
        assert packed or name == "transpose", name


def test_a_frozen_weight_costs_nothing(device):
    many, few = (normal(rows, 8, dtype=torch.float32, device=device).requires_grad_() for rows in (40, 6))
    w, b = torch.ones(8, device=device), torch.zeros(8, device=device)
    for op, function in (
        ("rms_norm_backward", lambda x, w, b: kernels.rms_norm(x, 8, w)),
        ("rms_norm_backward", lambda x, w, b: kernels.fused_add_rms_norm(x, x, 8, w)[0]),
        ("layer_norm_backward", lambda x, w, b: kernels.layer_norm(x, 8, w, b)),
        ("bias_gelu_backward", lambda x, w, b: kernels.bias_gelu(x, b)),
    ):
        for frozen in (True, False):
            outputs = []

            class Watch(torch.utils._python_dispatch.TorchDispatchMode):
                def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                    result = func(*args, **(kwargs or {}))
                    if func is getattr(ops, f"_{op}").default:
                        outputs.append(result)
                    return result

            leaves = (t.clone().requires_grad_(not frozen) for t in (w, b))
            output = function(few, *leaves)
            with Watch():
                output.backward(torch.ones_like(output))
            assert len(outputs) == 1, op
            assert all((o.numel() == 0) == frozen for o in outputs[0][1:]), (op, frozen)
        for x in (many, few):
            (alone,) = torch.autograd.grad(function(x, w, b).sum(), x)
            leaves = (w.clone().requires_grad_(), b.clone().requires_grad_())
            (beside,) = torch.autograd.grad(function(x, *leaves).sum(), x)
            assert torch.equal(alone, beside), op


def test_autocast_has_torchs_dtypes(device):
    kind = torch.device(device).type
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        x, w = normal(4, 8, dtype=dtype, device=device), torch.ones(8, dtype=dtype, device=device)
        pairs = {
            "rms_norm": (
                lambda x: kernels.rms_norm(x, 8, w),
                lambda x: F.rms_norm(x, (8,), w),
            ),
            "layer_norm": (
                lambda x: kernels.layer_norm(x, 8, w, w),
                lambda x: F.layer_norm(x, (8,), w, w),
            ),
            "softmax": (kernels.softmax, lambda x: F.softmax(x, -1)),
            "fused": (
                lambda x: kernels.fused_add_rms_norm(x, x, 8, w)[0],
                lambda x: F.rms_norm(x + x, (8,), w),
            ),
            "sum": (lambda x: kernels.fused_add_rms_norm(x, x, 8, w)[1], lambda x: x + x),
            "swiglu": (lambda x: kernels.swiglu(x, x), lambda x: F.silu(x) * x),
            "bias_gelu": (kernels.bias_gelu, F.gelu),
        }
        for name, (ours, theirs) in pairs.items():
            for requires_grad in (False, True):
                leaf = x.clone().requires_grad_(requires_grad)
                with torch.autocast(kind, dtype=torch.bfloat16):
                    found, wanted = ours(leaf), theirs(leaf)
                assert found.dtype == wanted.dtype, (name, dtype, found.dtype, wanted.dtype)
                torch.testing.assert_close(found, wanted, rtol=2e-2, atol=2e-2)
                if requires_grad:
                    (grad,) = torch.autograd.grad(found.float().square().sum(), leaf)
                    assert grad.dtype == dtype, name
        with torch.autocast(kind, dtype=torch.bfloat16):
            loss = kernels.cross_entropy(x, torch.arange(4, device=device))
        assert loss.dtype == torch.float32


def test_inference_mode(device):
    for name, call in calls(device).items():
        wanted = as_tuple(call.ours(*call.tensors))
        with torch.inference_mode():
            found = as_tuple(call.ours(*call.tensors))
            for a, b in zip(found, wanted):
                assert torch.equal(a, b) and a.is_inference(), name
        with torch.no_grad():
            assert not any(o.requires_grad for o in as_tuple(call.ours(*call.tensors)))


def test_compiles_without_a_break(device):
    # Inductor takes minutes for C++ code on the CPU; what is tested here comes before it.
    for dynamic in (False, True):
        for name, call in calls(device).items():
            torch._dynamo.reset()
            compiled = torch.compile(
                call.ours, fullgraph=True, dynamic=dynamic, backend="aot_eager"
            )
            found, wanted = gradients(compiled, call.tensors), gradients(call.ours, call.tensors)
            for a, b in zip(found, wanted, strict=True):
                assert torch.equal(a, b), (name, dynamic)
            with torch.no_grad():
                for a, b in zip(
                    as_tuple(compiled(*call.tensors)), as_tuple(call.ours(*call.tensors))
                ):
                    assert torch.equal(a, b), (name, dynamic)


def test_backward_passes_compile(device):
    # Compiled autograd traces them all as one graph.
    def backward(every):
        leaves = [[t.clone().requires_grad_() for t in call.tensors] for call in every]
        outputs = [as_tuple(call.ours(*some)) for call, some in zip(every, leaves)]
        sum(o.square().sum() for some in outputs for o in some).backward()
        return [leaf.grad for some in leaves for leaf in some]

    every = list(calls(device).values())
    wanted = backward(every)
    compiler = torch.compile(backend="eager", fullgraph=True)
    with torch._dynamo.compiled_autograd._enable(compiler):
        found = backward(every)
    for a, b in zip(found, wanted, strict=True):
        assert torch.equal(a, b)


def test_steps_of_optimizers_compile(device):
    for name in kernels.optim.__all__:
        params = [torch.nn.Parameter(normal(7, 8, dtype=torch.float32, device=device)) for _ in range(2)]
        for param in params:
            param.grad = normal(7, 8, dtype=torch.float32, device=device, seed=1)
        plain, traced = (getattr(kernels.optim, name)([param], lr=0.1) for param in params)
        plain.step()
        torch.compile(traced.step, backend="eager")()
        assert torch.equal(*params), name


def test_compiled_graphs_hold_ops_without_autograd(device):
    # A kernel for autograd would take longer than the op.
    called = []

    def keep(graph, inputs):
        called.extend(str(n.target) for n in graph.graph.nodes if "cudaops" in str(n.target))
        return make_boxed_func(graph.forward)

    backend = aot_autograd(fw_compiler=keep, bw_compiler=keep)
    for name, call in calls(device).items():
        called.clear()
        torch._dynamo.reset()
        leaves = [t.clone().requires_grad_() for t in call.tensors]
        outputs = as_tuple(torch.compile(call.ours, backend=backend)(*leaves))
        sum(o.sum() for o in outputs).backward()
        assert len(called) >= 2 and all(n.startswith("cudaops._") for n in called), (name, called)


def test_exports(device):
    for name, call in calls(device).items():

        class Module(torch.nn.Module):
            def forward(self, *tensors):
                return call.ours(*tensors)

        batch = torch.export.Dim("batch", min=2, max=64)
        dynamic = tuple({0: batch} if i in call.rows else {} for i in range(len(call.tensors)))
        shapes = {"tensors": dynamic} if name != "cross_entropy" else None
        for strict in (False, True):
            program = torch.export.export(
                Module(), call.tensors, dynamic_shapes=shapes, strict=strict
            )
            targets = [str(node.target) for node in program.graph.nodes]
            assert any(target.startswith("cudaops.") for target in targets), name
            tensors = call.tensors
            if shapes is not None:
                tensors = tuple(t[:3] if i in call.rows else t for i, t in enumerate(tensors))
            for a, b in zip(as_tuple(program.module()(*tensors)), as_tuple(call.ours(*tensors))):
                assert torch.equal(a, b), name


def test_modules_are_copied_and_pickled(device):
    for module in (
        kernels.RMSNorm(8, eps=EPS, device=device),
        kernels.LayerNorm(8, device=device),
    ):
        x = normal(3, 8, dtype=torch.float32, device=device)
        with torch.no_grad():
            module.weight.copy_(normal(8, dtype=torch.float32, device=device, seed=1))
        file = io.BytesIO()
        torch.save(module, file)
        file.seek(0)
        for other in (
            copy.deepcopy(module),
            pickle.loads(pickle.dumps(module)),
            torch.load(file, weights_only=False),
        ):
            assert type(other) is type(module) and torch.equal(other(x), module(x))


def test_after_a_fork(device):
    if device != "cpu" or not hasattr(os, "fork"):
        raise unittest.SkipTest("a GPU's context does not survive a fork")
    results = {name: as_tuple(call.ours(*call.tensors)) for name, call in calls(device).items()}
    child = os.fork()
    if child == 0:
        right = False
        try:
            torch.set_num_threads(1)
            right = all(
                torch.equal(a, b)
                for name, call in calls(device).items()
                for a, b in zip(as_tuple(call.ours(*call.tensors)), results[name])
            )
        finally:
            os._exit(0 if right else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def only_on_a_gpu(device):
    if device != "cuda":
        raise unittest.SkipTest("streams and graphs are a GPU's")


def test_on_a_side_stream(device):
    only_on_a_gpu(device)
    for name, call in calls(device).items():
        wanted = gradients(call.ours, call.tensors)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            torch.cuda._sleep(10_000_000)
            late = [t * 1 for t in call.tensors]  # ready on this stream only, and late
            found = gradients(call.ours, late)
        stream.synchronize()
        for a, b in zip(found, wanted):
            assert torch.equal(a, b), name


def test_in_a_graph_with_changed_inputs(device):
    only_on_a_gpu(device)
    for name, call in calls(device).items():
        leaves = [t.detach().clone().requires_grad_() for t in call.tensors]

        def run():
            outputs = as_tuple(call.ours(*leaves))
            grads = torch.autograd.grad(sum(o.square().sum() for o in outputs), leaves)
            return *outputs, *grads

        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):
                run()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = run()
        with torch.no_grad():
            for leaf, new in zip(leaves, like(call.tensors, seed=70)):
                leaf.copy_(new)
        graph.replay()
        torch.cuda.synchronize()
        for a, b in zip(captured, run(), strict=True):
            assert torch.equal(a, b), name


def test_long_rows_at_once_on_two_streams(device):
    """The blocks of these gradients wait for each other: two calls at once must not hinder one
    another, whether they are launched or are branches of a graph."""
    only_on_a_gpu(device)
    weight = normal(131072, dtype=torch.bfloat16, device=device)
    inputs = [normal(64, 131072, dtype=torch.bfloat16, device=device, seed=i) for i in (1, 2)]

    def rms_norm(x):
        return kernels.rms_norm(x, 131072, weight, EPS)

    def layer_norm(x):
        return kernels.layer_norm(x, 131072, weight, weight, EPS)

    for function in (rms_norm, layer_norm):
        wanted = [gradients(function, (x,)) for x in inputs]
        streams = [torch.cuda.Stream() for _ in inputs]

        def run(count):
            here = torch.cuda.current_stream()
            found = []
            for stream, x in zip(streams, inputs):
                stream.wait_stream(here)
                with torch.cuda.stream(stream):
                    found += [(x, gradients(function, (x,))) for _ in range(count)]
            for stream in streams:
                here.wait_stream(stream)
            return found

        def check(found):
            torch.cuda.synchronize()
            for x, gradient in found:
                assert torch.equal(gradient[0], wanted[x is inputs[1]][0]), function.__name__

        check(run(10))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = run(2)
        for _ in range(3):
            graph.replay()
            check(captured)


def test_kernels_that_start_early_wait_for_what_they_read(device):
    """Most kernels start while the one before them ends. The memory of results is used again and
    again: who reads too early finds those of another input."""
    only_on_a_gpu(device)
    size, dtype = (2048, 4096), torch.bfloat16
    inputs = [normal(*size, dtype=dtype, device=device, seed=i) for i in range(3)]
    weight = normal(size[1], dtype=dtype, device=device, seed=3)

    def chain(x, wait):
        for block_size in ((-1, -1), (1, -1), (1, 128), (128, 128), (16, 96)):
            x = wait(kernels.swiglu(x, x))
            y, scale, _ = wait(kernels.quantize(x, torch.int8, block_size))
            x = wait(kernels.dequantize(y, scale, block_size=block_size, dtype=dtype))
            y, scale, _ = wait(kernels.rms_norm_quantize(x, weight, EPS, dtype=torch.int8))
            x = wait(kernels.dequantize(y, scale, block_size=(1, -1), dtype=dtype))
            x = wait(kernels.bias_gelu(x, weight))
        return x

    def synchronized(result):
        torch.cuda.synchronize()
        return result

    wanted = [chain(x, synchronized) for x in inputs]
    assert not torch.equal(wanted[0], wanted[1])
    found = [chain(x, lambda result: result) for _ in range(4) for x in inputs]
    for number, y in enumerate(found):
        assert torch.equal(y, wanted[number % len(inputs)]), number


def test_on_a_second_device(device):
    only_on_a_gpu(device)
    if torch.cuda.device_count() < 2:
        raise unittest.SkipTest("there is no second GPU")
    for name, call in calls(device).items():
        there = calls("cuda:1")[name]
        assert torch.cuda.current_device() == 0
        for a, b in zip(
            gradients(there.ours, there.tensors), gradients(call.ours, call.tensors)
        ):
            assert a.device.index == 1 and torch.equal(a.cpu(), b.cpu()), name


def test_a_row_does_not_depend_on_the_others(device):
    """Bit for bit, whatever number of rows comes with it, if rows begin at multiples of 16 bytes."""
    # On a GPU few rows take more threads each, in several steps: so many that there are as few as
    # they become.
    widths = (8, 104, 1000, 4096)
    parts = [slice(0, 1), slice(66, 67), slice(2, 5), slice(3, 12), slice(1, 66)]
    on_gpu = torch.device(device).type == "cuda"
    if on_gpu:
        widths = (*widths, 128, 256, 512, 2880, 7168, 18432)
        parts.append(slice(0, 8 * 67))
    for dtype in (torch.float32, torch.bfloat16):
        for width in widths:
            times = 1 if not on_gpu else 64 if width > 512 else 1280
            x = normal(67, width, dtype=dtype, device=device).repeat(times, 1)
            y = normal(67, width, dtype=dtype, device=device, seed=1).repeat(times, 1)
            w = normal(width, dtype=dtype, device=device, seed=2)
            target = torch.arange(67 * times, device=device) % 67 % width
            heads = width // 4
            cos = normal(1, 2, dtype=torch.float32, device=device)
            cos = cos.expand(67 * times, 2).contiguous()
            zeros = torch.zeros(67 * times, dtype=torch.int64, device=device)

            def gradient(run):
                def of_rows(x, y, rows):
                    leaf, weight = x.clone().requires_grad_(), w.clone().requires_grad_()
                    outputs = as_tuple(run(leaf, y, weight))
                    return torch.autograd.grad(outputs, (leaf, weight), (y,) * len(outputs))[0]

                return of_rows

            def turned(x, y, rows):
                q = x.view(-1, 1, heads, 4)
                return kernels.rope(q, q, cos, cos, zeros[rows].view(-1, 1))[0]

            for name, run in {
                "rms_norm": lambda x, y, rows: kernels.rms_norm(x, width, w),
                "fused_add_rms_norm": lambda x, y, rows: kernels.fused_add_rms_norm(x, y, width, w),
                "layer_norm": lambda x, y, rows: kernels.layer_norm(x, width, w, w),
                "rms_norm backward": gradient(lambda x, y, w: kernels.rms_norm(x, width, w)),
                "fused_add_rms_norm backward": gradient(
                    lambda x, y, w: kernels.fused_add_rms_norm(x, y, width, w)
                ),
                "layer_norm backward": gradient(lambda x, y, w: kernels.layer_norm(x, width, w, w)),
                "softmax": lambda x, y, rows: kernels.softmax(x, scale=0.5),
                "cross_entropy": lambda x, y, rows: kernels.cross_entropy(
                    x, target[rows], reduction="none"
                ),
                "swiglu": lambda x, y, rows: kernels.swiglu(x, y),
                "geglu": lambda x, y, rows: kernels.geglu(x, y),
                "bias_gelu": lambda x, y, rows: kernels.bias_gelu(x, w),
                "rope": turned,
                "quantize": lambda x, y, rows: kernels.quantize(x, torch.int8, (1, -1))[:2],
                "rms_norm_quantize": lambda x, y, rows: kernels.rms_norm_quantize(
                    x, w, dtype=torch.int8, residual=y
                ),
                "swiglu_quantize": lambda x, y, rows: kernels.swiglu_quantize(
                    x, y, dtype=torch.int8, group_size=128
                ),
            }.items():
                whole = as_tuple(run(x, y, slice(None)))
                for rows in parts:
                    part = as_tuple(run(x[rows], y[rows], rows))
                    for a, b in zip(part, whole):
                        assert torch.equal(a, b[rows]), (name, dtype, width, rows)


def test_a_long_row_does_not_depend_on_the_others(device):
    """The same of rows that a cluster of blocks shares, whose number may depend on the number of rows."""
    only_on_a_gpu(device)
    for dtype in (torch.float32, torch.bfloat16):
        for width in (100000, 128256, 151936):
            x = normal(5, width, dtype=dtype, device=device).repeat(26, 1)
            target = torch.arange(len(x), device=device) * 997 % width

            def gradient(rows):
                leaf = x[rows].clone().requires_grad_()
                loss = kernels.cross_entropy_(leaf * 1, target[rows], reduction="sum")
                return torch.autograd.grad(loss, leaf)[0]

            for name, run in {
                "softmax": lambda rows: kernels.softmax(x[rows]),
                "cross_entropy_": gradient,
            }.items():
                whole = run(slice(None))
                for rows in (slice(0, 1), slice(3, 19), slice(1, 70)):
                    assert torch.equal(run(rows), whole[rows]), (name, dtype, width, rows)


def test_refusals_are_type_and_value_errors(device):
    x = normal(3, 8, dtype=torch.float32, device=device)

    def kind(call):
        try:
            call()
        except Exception as error:
            return type(error)
        raise AssertionError("the call was not refused")

    leaf = x.clone().requires_grad_()
    for expected, wrong in (
        (TypeError, lambda: kernels.swiglu(leaf, x.half())),
        (ValueError, lambda: kernels.swiglu(leaf, x[:1])),
        (TypeError, lambda: kernels.rms_norm(x.int(), 8)),
        (TypeError, lambda: kernels.rms_norm(x, 8, torch.ones(8, device=device).half())),
        (TypeError, lambda: kernels.swiglu(x, x.half())),
        (TypeError, lambda: kernels.swiglu(x, None)),
        (TypeError, lambda: kernels.softmax(x, x)),
        (TypeError, lambda: kernels.cross_entropy(x, x[:, 0])),
        (TypeError, lambda: kernels.quantize(x, torch.int32, (1, -1))),
        (ValueError, lambda: kernels.rms_norm(x, 7)),
        (ValueError, lambda: kernels.rms_norm(x, 8, torch.ones(7, device=device))),
        (ValueError, lambda: kernels.rms_norm(x, 8, eps=-1.0)),
        (ValueError, lambda: kernels.softmax(x, 0)),
        (ValueError, lambda: kernels.swiglu(x, x[:1])),
        (ValueError, lambda: kernels.geglu(x, x, "other")),
        (ValueError, lambda: kernels.quantize(x, torch.int8, (1, 0))),
        (ValueError, lambda: kernels.cross_entropy(x, x[:, 0].long(), x[0])),
        (ValueError, lambda: kernels.fused_add_rms_norm_(x, x, 8)),
    ):
        assert kind(wrong) is expected, (kind(wrong), expected, wrong)


if __name__ == "__main__":
    main(globals())

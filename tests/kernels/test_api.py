# SPDX-License-Identifier: Apache-2.0
"""What serving and training code calls beside the ops: packed activations, Hugging Face's rotary
embedding, static scales, the loss of a linear layer, patch()."""

import copy
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

from kernel_testing import DTYPES, assert_close, kernels, main, normal, refusal
from kernel_testing import pytest_generate_tests  # noqa: F401

import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode


class Watch(TorchDispatchMode):
    """The ops that are called, and the largest tensor that comes out of one."""

    def __init__(self):
        super().__init__()
        self.names, self.largest = [], 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.names.append(str(func).split(".")[1].lstrip("_"))
        outputs = result if isinstance(result, tuple) else (result,)
        sizes = [o.numel() for o in outputs if isinstance(o, torch.Tensor)]
        self.largest = max(self.largest, *sizes, 0)
        return result


def test_packed_activations(device):
    for dtype in DTYPES:
        x = normal(3, 5, 34, dtype=dtype, device=device)
        first, second = (half.double() for half in x.chunk(2, -1))
        assert_close(kernels.silu_and_mul(x), F.silu(first) * second, dtype, atol=4e-6)
        for approximate in ("none", "tanh"):
            wanted = F.gelu(first, approximate=approximate) * second
            assert_close(kernels.gelu_and_mul(x, approximate), wanted, dtype, atol=4e-6)
    x = x.float().requires_grad_()
    (found,) = torch.autograd.grad(kernels.silu_and_mul(x).sum(), x)
    (wanted,) = torch.autograd.grad((F.silu(x[..., :17]) * x[..., 17:]).sum(), x)
    torch.testing.assert_close(found, wanted)
    assert "wanted an even last dimension" in refusal(lambda: kernels.silu_and_mul(x[..., :3]))


def rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


def test_rotary_embedding_of_hugging_face(device):
    for dtype in (torch.float32, torch.bfloat16):
        q = normal(2, 3, 6, 8, dtype=dtype, device=device)
        k = normal(2, 1, 6, 8, dtype=dtype, device=device, seed=1)
        cos, sin = kernels.rotary_cos_sin(9, 8, device=device, dtype=dtype)
        assert cos.shape == sin.shape == (9, 4) and cos.dtype == dtype
        both = [torch.cat((table, table), -1) for table in (cos, sin)]
        for tables in (
            [table[None, :6] for table in both],  # one for all
            [torch.stack((table[:6], table[3:9])) for table in both],  # each batch its own
        ):
            for dim in (1, 2):
                x, y = (q, k) if dim == 1 else (q.transpose(1, 2), k.transpose(1, 2))
                c, s = (table.double().unsqueeze(dim) for table in tables)
                found = kernels.apply_rotary_pos_emb(x, y, *tables, unsqueeze_dim=dim)
                for a, t in zip(found, (x, y)):
                    t = t.double()
                    assert a.shape == t.shape and a.dtype == dtype
                    assert_close(a, t * c + rotate_half(t) * s, (dtype, dim), atol=4e-6)
    assert "wanted 1 or 2 for unsqueeze_dim" in refusal(
        lambda: kernels.apply_rotary_pos_emb(q, k, *tables, unsqueeze_dim=0)
    )
    assert "or 1, 6, rotary_dim" in refusal(
        lambda: kernels.apply_rotary_pos_emb(q, k, *(t[:, :5] for t in tables))
    )
    assert "wanted an even head_dim" in refusal(lambda: kernels.rotary_cos_sin(4, 7))
    assert "wanted an int for seq_len, found Tensor" in refusal(lambda: kernels.rotary_cos_sin(torch.arange(4), 8))


def test_sizes_are_integers_of_numpy(device):
    if importlib.util.find_spec("numpy") is None:
        raise unittest.SkipTest("no numpy")
    import numpy

    x = normal(4, 8, dtype=torch.float32, device=device)
    for sizes in (numpy.int64(8), [numpy.int32(8)]):
        assert torch.equal(kernels.rms_norm(x, sizes), kernels.rms_norm(x, 8))
    assert kernels.rotary_cos_sin(numpy.int64(4), numpy.int32(8))[0].shape == (4, 4)
    said = refusal(lambda: kernels.rms_norm(x, numpy.array([4, 8])))
    assert said.endswith("an int or a sequence of ints for normalized_shape, found ndarray."), said


def test_tables_of_the_rotary_embedding(device):
    cos, sin = kernels.rotary_cos_sin(4000, 64, 5e5, device=device, dtype=torch.float32)
    for position, pair in ((0, 0), (3999, 0), (3999, 31), (17, 5)):
        angle = torch.tensor(position * 5e5 ** (-2 * pair / 64), dtype=torch.float64)
        torch.testing.assert_close(cos[position, pair].cpu(), angle.cos().float())
        torch.testing.assert_close(sin[position, pair].cpu(), angle.sin().float())


def test_static_scales(device):
    scale = torch.tensor([0.05], device=device)
    for dtype in DTYPES:
        x = normal(2, 5, 33, dtype=dtype, device=device)
        y = normal(2, 5, 33, dtype=dtype, device=device, seed=1)
        w = normal(33, dtype=dtype, device=device, seed=2)
        for quantized in (torch.int8, torch.float8_e4m3fn):
            output, same, residual_out = kernels.rms_norm_quantize(
                x, w, 1e-5, dtype=quantized, residual=y, scale=scale
            )
            assert same is scale and torch.equal(residual_out, x + y)
            normed = kernels.rms_norm(x + y, 33, w, 1e-5)
            assert output.dtype == quantized and output.shape == x.shape
            steps = (output.double() * 0.05 - normed.double()).abs()
            # Half a step of int8; of float8 1/16 of what is rounded.
            bound = 0.0251 if quantized == torch.int8 else normed.double().abs() / 15 + 1e-3
            clipped = normed.double().abs() > 127 * 0.05
            assert ((steps <= bound) | clipped).all(), (dtype, quantized)
            output, same = kernels.swiglu_quantize(x, y, dtype=quantized, scale=scale)
            wanted = kernels.quantize(kernels.swiglu(x, y).view(10, 33), quantized, (-1, -1), scale)[0]
            with Watch() as watch:  # one op, which is one pass
                kernels.swiglu_quantize(x, y, dtype=quantized, scale=scale)
                kernels.rms_norm_quantize(x, dtype=quantized, scale=scale)
            assert watch.names == ["swiglu_quantize", "rms_norm_quantize"]
            assert same is scale and torch.equal(output.view(10, 33).float(), wanted.float())

    def on_the_cpu(number):
        return kernels.swiglu_quantize(
            x.cpu(), y.cpu(), dtype=torch.int8, scale=torch.tensor([number])
        )

    for name, call in (
        ("group_size", lambda: kernels.swiglu_quantize(x, y, dtype=torch.int8, scale=scale, group_size=8)),
        ("ue8m0", lambda: kernels.rms_norm_quantize(x, dtype=torch.int8, scale=scale, ue8m0=True)),
        ("a number from 2^-126", lambda: on_the_cpu(3.0e38)),
        ("a number from 2^-126", lambda: on_the_cpu(0.0)),
        ("one float32", lambda: kernels.swiglu_quantize(x, y, dtype=torch.int8, scale=w.float())),
        ("scale_ub", lambda: kernels.rms_norm_quantize(x, dtype=torch.int8, scale=scale, scale_ub=scale)),
    ):
        assert f"wanted {name}" in refusal(call)
    # More columns than are added up in another order where rows start anywhere.
    x, w = (normal(*shape, 520, dtype=torch.bfloat16, device=device) for shape in ((7,), ()))
    for scale in (torch.tensor(0.02, device=device), torch.tensor([[1.0e-3]], device=device)):
        wanted = kernels.quantize(kernels.rms_norm(x, 520, w, 1e-5), torch.int8, (-1, -1), scale)[0]
        found = kernels.rms_norm_quantize(x, w, 1e-5, dtype=torch.int8, scale=scale)[0]
        assert torch.equal(found, wanted)


def test_linear_cross_entropy(device):
    x = normal(3, 350, 16, dtype=torch.float32, device=device)
    w, b = normal(2, 50, 16, dtype=torch.float32, device=device)[0], normal(50, dtype=torch.float32, device=device)
    target = torch.arange(1050, device=device).view(3, 350) % 50
    target[0, 3] = target[2, 349] = -100
    for reduction in ("mean", "sum", "none"):
        for smoothing in (0.0, 0.1):
            for bias in (None, b):
                leaves = [None if t is None else t.clone().requires_grad_() for t in (x, w, bias)]
                loss = kernels.linear_cross_entropy(
                    leaves[0],
                    leaves[1],
                    target,
                    linear_bias=leaves[2],
                    reduction=reduction,
                    label_smoothing=smoothing,
                )
                assert loss.shape == (target.shape if reduction == "none" else ())
                given = [leaf for leaf in leaves if leaf is not None]
                grad = normal(*loss.shape, dtype=torch.float32, device=device) + 2
                found = torch.autograd.grad(loss, given, grad, retain_graph=True)
                again = torch.autograd.grad(loss, given, grad)
                exact = [None if t is None else t.double().requires_grad_() for t in (x, w, bias)]
                wanted = F.cross_entropy(
                    F.linear(*exact).flatten(0, 1),
                    target.flatten(),
                    reduction=reduction,
                    label_smoothing=smoothing,
                )
                wanted = wanted.view(loss.shape)
                torch.testing.assert_close(loss.double(), wanted, rtol=1e-5, atol=1e-5)
                given = [leaf for leaf in exact if leaf is not None]
                for a, c, d in zip(found, torch.autograd.grad(wanted, given, grad.double()), again):
                    torch.testing.assert_close(a.double(), c, rtol=1e-4, atol=2e-4)
                    torch.testing.assert_close(a, d, rtol=1e-4, atol=5e-5)
    # A batch without labels changes nothing: the mean is NaN, its gradients are zeros.
    leaves = [t.clone().requires_grad_() for t in (x, w, b)]
    loss = kernels.linear_cross_entropy(
        leaves[0], leaves[1], torch.full_like(target, -100), linear_bias=leaves[2]
    )
    assert loss.isnan()
    for retained in (True, False):  # kept gradients, and computed again
        for grad in torch.autograd.grad(loss, leaves, retain_graph=retained):
            assert torch.equal(grad, torch.zeros_like(grad))
    assert "wanted None for weight" in refusal(
        lambda: kernels.linear_cross_entropy(x, w, target, weight=b)
    )
    assert "without the last dimension for target" in refusal(
        lambda: kernels.linear_cross_entropy(x, w, target[0])
    )


def test_linear_cross_entropy_under_transforms(device):
    def some(*shape):
        return normal(*shape, dtype=torch.float32, device=device)

    x, w, target = some(3, 4), some(5, 4), torch.zeros(3, dtype=torch.long, device=device)

    def ours(x):
        return kernels.linear_cross_entropy(x, w, target)

    def plain(x):
        return F.cross_entropy(F.linear(x, w), target)

    for transform in (torch.func.grad, lambda f: torch.func.vmap(torch.func.grad(f))):
        input = x if transform is torch.func.grad else torch.stack((x, 2 * x))
        torch.testing.assert_close(transform(ours)(input), transform(plain)(input), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(
        torch.func.jvp(ours, (x,), (x,)), torch.func.jvp(plain, (x,), (x,)), rtol=1e-4, atol=1e-5
    )
    leaf = x.clone().requires_grad_()
    for loss in (ours(leaf), kernels.cross_entropy_(F.linear(leaf, w), target)):
        sentence = refusal(lambda: torch.autograd.grad(loss, leaf, create_graph=True))
        assert "there is no second derivative" in sentence
    assert kernels.linear_cross_entropy(x.to("meta"), w.to("meta"), target.to("meta")).shape == ()
    kernels.linear_cross_entropy(x[:, :0], w[:, :0], target)
    for wrong in (([1], w), (x, [1]), (x.half(), w)):
        assert "linear_cross_entropy: wanted" in refusal(
            lambda: kernels.linear_cross_entropy(*wrong, target)
        )
    assert "[classes] for linear_bias" in refusal(
        lambda: kernels.linear_cross_entropy(x, w, target, linear_bias=some(4))
    )


def test_linear_cross_entropy_compiled(device):
    """A graph for the first number of rows and one for all others that are as many parts."""
    w = normal(11, 8, dtype=torch.float32, device=device)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    compiled = torch.compile(kernels.linear_cross_entropy, backend="aot_eager", fullgraph=True)
    for num_rows in (20, 30, 45, 70):
        target = torch.arange(num_rows, device=device) % 11
        found, wanted = (normal(num_rows, 8, dtype=torch.float32, device=device).requires_grad_() for _ in range(2))
        for leaf, function in ((found, compiled), (wanted, kernels.linear_cross_entropy)):
            function(leaf, w, target).backward()
        torch.testing.assert_close(found.grad, wanted.grad)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 2


def test_losses_are_exported_with_their_gradients_and_traced_without(device):
    x, w = normal(2, 6, 8, dtype=torch.float32, device=device)
    target = torch.arange(6, device=device) % 6

    class Loss(torch.nn.Module):
        def __init__(self, function):
            super().__init__()
            self.function = function

        def forward(self, x, w):
            return self.function(x, w)

    for name, function in (
        ("cross_entropy_", lambda x, w: kernels.cross_entropy_(F.linear(x, w), target)),
        ("linear_cross_entropy", lambda x, w: kernels.linear_cross_entropy(x, w, target)),
    ):

        def gradients(run):
            leaves = [t.clone().requires_grad_() for t in (x, w)]
            return torch.autograd.grad(run(*leaves), leaves)

        wanted = gradients(function)
        leaves = tuple(t.clone().requires_grad_() for t in (x, w))
        for strict in (False, True):
            program = torch.export.export(Loss(function), leaves, strict=strict).module()
            torch.testing.assert_close(gradients(program), wanted, msg=name)
        torch.testing.assert_close(torch.func.grad(function, (0, 1))(x, w), wanted, msg=name)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            traced = torch.jit.trace(Loss(function), (x, w))
            file = io.BytesIO()
            torch.jit.save(traced, file)
            file.seek(0)
            assert torch.equal(torch.jit.load(file)(x, w), function(x, w)), name


def test_linear_cross_entropy_has_no_logits_of_all_rows(device):
    from cudaops_kernels._linear_cross_entropy import _rows_at_a_time

    x = normal(2048, 8, dtype=torch.float32, device=device).requires_grad_()
    w = normal(100, 8, dtype=torch.float32, device=device)
    target = torch.arange(2048, device=device) % 100
    with Watch() as watch:
        kernels.linear_cross_entropy(x, w, target).backward()
    assert watch.largest <= 2048 * 100 / 4
    # The plain way holds logits and their gradient.
    for num_rows in (2048, 4096, 8192, 100_000):
        assert _rows_at_a_time(num_rows) * 8 <= 2 * num_rows
    assert "addmm_" not in watch.names  # the frozen weight's gradient
    assert "cross_entropy_scale_" in watch.names  # in place: gradients have no copies
    with torch.no_grad():
        kernels.linear_cross_entropy(x, w, target)


class LlamaRMSNorm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.variance_epsilon = torch.nn.Parameter(torch.rand(8) + 1), 1e-5

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.variance_epsilon)


class LlamaMLP(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj, self.up_proj = torch.nn.Linear(8, 12), torch.nn.Linear(8, 12)
        self.down_proj, self.act_fn = torch.nn.Linear(12, 8), torch.nn.SiLU()

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


def apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


def decorated(function):
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


class LlamaAttention(torch.nn.Module):
    @decorated
    def forward(self, x, cos, sin):
        heads = x.unflatten(-1, (2, 4)).transpose(1, 2)
        q, k = apply_rotary_pos_emb(heads, heads, cos, sin)
        return F.scaled_dot_product_attention(q, k, heads).transpose(1, 2).flatten(2)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.attention, self.mlp = LlamaRMSNorm(), LlamaAttention(), LlamaMLP()

    def forward(self, x, cos, sin):
        return self.mlp(x + self.attention(self.norm(x), cos, sin))


def test_patch(device):
    torch.manual_seed(0)
    plain = Model().to(device)
    patched = copy.deepcopy(plain)
    assert kernels.patch(patched) is patched
    x = normal(2, 6, 8, dtype=torch.float32, device=device)
    tables = [torch.cat((t, t), -1)[None] for t in kernels.rotary_cos_sin(6, 4, device=device)]
    for model in (plain, patched):
        with Watch() as watch:
            model(x, *tables).square().sum().backward()
        ours = {"rms_norm", "rope", "swiglu"} & set(watch.names)
        assert ours == (set() if model is plain else {"rms_norm", "rope", "swiglu"}), ours
    torch.testing.assert_close(patched(x, *tables), plain(x, *tables))
    assert patched.state_dict().keys() == plain.state_dict().keys()
    for a, b in zip(patched.parameters(), plain.parameters()):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-5)
    assert "without a layer of theirs" in refusal(lambda: kernels.patch(torch.nn.Linear(2, 2)))


USER = """
import torch
from torch import Tensor

import cudaops_kernels as k


def attend(q: Tensor, cu_seqlens: Tensor) -> Tensor:
    output: Tensor = k.attention(q, q, q, causal=True, window=(8, 0))
    output, lse = k.attention(q, q, q, bias=output, return_lse=True)
    output = k.attention_varlen(q, q, q, cu_seqlens, cu_seqlens, 4, 4, sinks=lse)
    with k.sdpa_patch() as patch:
        patch.remove()
    return output


def block(x: Tensor, residual: Tensor, weight: Tensor) -> Tensor:
    normed: Tensor = k.rms_norm(x, 8, weight, 1e-6, weight_offset=1.0)
    output, total = k.fused_add_rms_norm(normed, residual, (8,), weight)
    k.fused_add_rms_norm_(normed, residual, 8, weight)
    output = k.layer_norm(output, [8], weight) + k.softmax(output, mask=total, causal=True)
    output = k.swiglu(output, output) + k.geglu(output, output, "tanh") + k.bias_gelu(output)
    output = k.silu_and_mul(output) + k.gelu_and_mul(output)
    cos, sin = k.rotary_cos_sin(4, 8, device="cpu", dtype=torch.float32)
    q, r = k.rope(*k.apply_rotary_pos_emb(output, output, cos, sin), cos, sin)
    k.rope_(q, r, cos, sin)
    values, scale, zero_point = k.quantize(q, torch.int8, (1, -1))
    output = k.dequantize(values, scale, zero_point, block_size=(1, -1))
    values, scale, rest = k.rms_norm_quantize(output, dtype=torch.int8, residual=r)
    values, scale = k.swiglu_quantize(output, output, dtype=torch.int8, scale=scale)
    loss: Tensor = k.cross_entropy(output, total) + k.linear_cross_entropy(output, weight, total)
    return k.transpose(loss) + k.cross_entropy_(output, total)


model = k.patch(torch.nn.Sequential(k.RMSNorm(8, weight_offset=1.0), k.LayerNorm(8)))
norm: Tensor = k.clip_grad_norm_(model.parameters(), 1.0)
for optimizer in (
    k.optim.AdamW(model.parameters(), lr=1e-3),
    k.optim.Lion(model.parameters()),
    k.optim.LAMB(model.parameters()),
    k.optim.AdamW8bit(model.parameters()),
    k.optim.Muon(model.parameters()),
):
    optimizer.step()
"""


def test_import_brings_no_compiler(device):
    """torch._dynamo takes a second, Triton a fifth of one: whoever compiles imports them."""
    if device != "cpu":
        raise unittest.SkipTest("has run for the CPU")
    folder = os.path.dirname(os.path.dirname(os.path.abspath(kernels.__file__)))
    code = (
        "import sys, torch; before = set(sys.modules); import cudaops_kernels; "
        "print(*sorted({'torch._dynamo', 'triton', 'torch.distributed.tensor'} & {*sys.modules} - before))"
    )
    environment = {**os.environ, "PYTHONPATH": folder}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "\n", done.stdout


def test_files_of_a_new_op(device):
    if device != "cpu":
        raise unittest.SkipTest("has run for the CPU")
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path.insert(0, os.path.join(root, "kernels"))
    import new_op

    with tempfile.TemporaryDirectory() as copy_of_root:
        for folder in ("kernels", "tests/kernels", "bench/kernels"):
            target = os.path.join(copy_of_root, folder)
            shutil.copytree(os.path.join(root, folder), target, ignore=shutil.ignore_patterns("__pycache__"))
        for like in new_op.LIKE:
            name = f"fresh_{like}s"
            command = [sys.executable, "kernels/new_op.py", name, "--like", like, "--root", copy_of_root]
            subprocess.run(command, cwd=root, check=True, capture_output=True)
            files = new_op.files_of(copy_of_root, name)
            assert len(files) == len(new_op.files_of(copy_of_root, like)) >= 8, files
            for path in files:
                with open(os.path.join(copy_of_root, path)) as file:
                    text = file.read()
                assert name in path and name in text, path
                old = re.findall(rf'["</]{like}(?:_torch|_cpu|_row|_backward)?[.](?:h|cuh|cu)', text)
                assert not old, (path, old)
                for header in re.findall(r'#include "(\S+)"', text):
                    places = [os.path.dirname(path), "kernels", "tests/kernels"]
                    assert any(os.path.exists(os.path.join(copy_of_root, place, header)) for place in places), (path, header)
                if path.endswith(".py"):
                    compile(text, path, "exec")
                    # torch's own functions and methods keep their names.
                    owners = set(re.findall(rf"([\w)]+)\.{name}\b", text)) - {"ops", "kernels", "cudaops"}
                    assert not owners, (path, owners)
            with open(os.path.join(copy_of_root, "kernels", "ops.cmake")) as file:
                text = file.read()
            assert f"\n  {name}\n" in text
            for what in ("sources", "shards"):
                assert len(re.findall(f"{name}_{what}", text)) == len(re.findall(rf"\b{like}_{what}", text)), what
            with open(os.path.join(copy_of_root, "tests", "kernels", "shapes.json")) as file:
                kinds = [kind["ops"] for kind in json.load(file)["kinds"]]
            assert [like in ops_of_kind for ops_of_kind in kinds if name in ops_of_kind] == [True]
            with open(os.path.join(copy_of_root, "kernels", "python", "cudaops_kernels", "__init__.py")) as file:
                lines = file.read().split("\n")
            functions = [line.split(" import ")[1] for line in lines if line.startswith(f"from ._{name} ")]
            for line, of_list in ((f"from ._{name} import {functions[0]}", "from ._"), (f'    "{name}",', '    "')):
                listed = [other for other in lines if other.startswith(of_list)]
                assert line in listed and listed == sorted(listed), line
            # What a library defines twice it can't be loaded with.
            defined = []
            for op_of_two in (like, name):
                with open(os.path.join(copy_of_root, "kernels", op_of_two, f"{op_of_two}_torch.cpp")) as file:
                    defined.append(set(re.findall(r'"(\w+)\(', file.read())))
            assert defined[0] and not defined[0] & defined[1], defined
            again = subprocess.run(command, cwd=root, capture_output=True, text=True)
            assert again.returncode != 0 and "is there already" in again.stderr


def test_types_of_a_users_script(device):
    package = os.path.dirname(kernels.__file__)
    assert os.path.exists(os.path.join(package, "py.typed"))
    if device != "cpu" or importlib.util.find_spec("mypy") is None:
        raise unittest.SkipTest("mypy is not installed, or has run for the CPU")
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "user.py"), "w") as file:
            file.write(USER)
        command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "user.py"]
        environment = {**os.environ, "MYPYPATH": os.path.dirname(package)}
        run = subprocess.run(
            command, cwd=directory, env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stdout + run.stderr


if __name__ == "__main__":
    main(globals())

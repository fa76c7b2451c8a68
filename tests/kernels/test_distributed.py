# SPDX-License-Identifier: Apache-2.0
"""DTensors, FSDP2 and tensor parallelism: 2 and 4 processes, on the CPU with gloo or with a GPU each
and NCCL, against the whole tensors in one process and torch's own ops."""

import atexit
import contextlib
import gc
import os
import tempfile
import time
import traceback
import unittest
from multiprocessing import connection

from kernel_testing import kernels, main, normal, refusal
from kernel_testing import pytest_generate_tests  # noqa: F401
from test_llama_block import HIDDEN, Block, OurBlock, inputs
from test_modes import as_tuple, calls

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
)


def process_counts(device, *counts):
    """Of these numbers of processes those for which there is a GPU each; on the CPU all."""
    there = torch.cuda.device_count() if device == "cuda" else max(counts)
    possible = [count for count in counts if count <= there]
    if not possible:
        raise unittest.SkipTest(f"wanted a GPU for each of {min(counts)} processes, found {there}")
    return possible


def serve(rank, count, device, rendezvous, pipe):
    """A process of a group: runs body(mesh, ...) of what the pipe says, and answers with what went wrong."""
    # A fork makes torch's thread pool anew when it is first asked for; two threads of autograd that ask at once would
    # end the process.
    torch.set_num_threads(1)
    try:
        if device == "cuda":
            torch.cuda.set_device(rank)
        dist.init_process_group(
            "nccl" if device == "cuda" else "gloo",
            init_method=f"file://{rendezvous}",
            rank=rank,
            world_size=count,
            device_id=torch.device(device, rank) if device == "cuda" else None,
        )
        mesh = init_device_mesh(device, (count,))
        while (task := pipe.recv()) is not None:
            body, arguments = task
            torch._dynamo.reset()
            body(mesh, *arguments)
            gc.collect()
            dist.barrier()
            pipe.send(None)
    except BaseException:
        pipe.send(f"rank {rank}: {traceback.format_exc()}")
    finally:
        os._exit(0)  # whatever threads there are


class Group:
    """Processes that run one body after the other: to start them takes longer than most bodies."""

    SECONDS = 600  # for a body; where one process failed the others may wait for it for ever
    groups = {}  # (device, count) → the one that runs

    def __init__(self, device, count):
        # Torch isn't imported again in a fork; a process that has asked for its GPUs can't use them there.
        context = torch.multiprocessing.get_context("fork" if device == "cpu" else "spawn")
        self.directory = tempfile.TemporaryDirectory()
        self.pipes, self.processes = [], []
        for rank in range(count):
            mine, its = context.Pipe()
            process = context.Process(target=serve, args=(rank, count, device, f"{self.directory.name}/rendezvous", its))
            process.start()
            its.close()
            self.pipes.append(mine)
            self.processes.append(process)

    def run(self, body, arguments):
        """What went wrong, "" if nothing did."""
        for pipe in self.pipes:
            pipe.send((body, arguments))
        end, waiting, texts = time.monotonic() + self.SECONDS, list(self.pipes), []
        while waiting and not texts:
            ready = connection.wait(waiting, max(0, end - time.monotonic()))
            if not ready:
                texts.append(f"ranks {[self.pipes.index(p) for p in waiting]} took longer than {self.SECONDS} s")
            for pipe in ready:
                waiting.remove(pipe)
                try:
                    texts.append(pipe.recv())
                except EOFError:
                    texts.append(f"rank {self.pipes.index(pipe)} ended")
            texts = [text for text in texts if text]
        # Those that failed together.
        time.sleep(0.5 if texts else 0)
        for pipe in waiting:
            with contextlib.suppress(EOFError):
                texts += [text for text in [pipe.poll() and pipe.recv()] if text]
        return "\n".join(texts)

    def end(self):
        for pipe in self.pipes:
            with contextlib.suppress(OSError):
                pipe.send(None)
        until = time.monotonic() + 2
        for process in self.processes:
            process.join(max(0, until - time.monotonic()))
        for process in self.processes:
            process.kill()
            process.join()
        self.directory.cleanup()

    @classmethod
    def end_all(cls):
        while cls.groups:
            cls.groups.popitem()[1].end()


atexit.register(Group.end_all)


def in_processes(device, count, body, *arguments):
    """Runs body(mesh, ...) in so many processes, and says what went wrong in any of them."""
    if device == "cpu" and not hasattr(os, "fork"):
        raise unittest.SkipTest("wanted os.fork()")
    key = device, count
    if key not in Group.groups:
        Group.groups[key] = Group(device, count)
    wrong = Group.groups[key].run(body, arguments)
    if wrong:
        Group.groups.pop(key).end()
    assert not wrong, wrong


def close(a, b, name=None):
    torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5, msg=lambda text: f"{name}: {text}")


def full(tensor):
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def all_ops(mesh):
    for name, call in calls(mesh.device_type).items():
        whole = [t.detach().clone().requires_grad_() for t in call.tensors]
        wanted = as_tuple(call.ours(*whole))
        wanted_grads = torch.autograd.grad(sum(o.square().sum() for o in wanted), whole)
        for placement in (Shard(0), Shard(1), Shard(2), Replicate(), Partial()):
            if name == "cross_entropy" and placement == Partial():
                continue
            tensors = []
            for i, tensor in enumerate(call.tensors):
                mine = placement if i in call.rows else Replicate()
                if mine == Partial():
                    value = DTensor.from_local(tensor / mesh.size(), mesh, [Partial()])
                else:
                    value = distribute_tensor(tensor, mesh, [mine])
                tensors.append(value.detach().requires_grad_())
            constants = [distribute_tensor(c, mesh, [Replicate()]) for c in call.constants]
            outputs = as_tuple(call.function(*tensors, *constants))
            case = (name, placement)
            if placement == Shard(0):
                assert all(o.placements == (placement,) for o in outputs), case
            for a, b in zip(outputs, wanted, strict=True):
                close(full(a), b, case)
            loss = sum(o.square().sum() for o in outputs)
            loss.backward()
            for leaf, b in zip(tensors, wanted_grads):
                close(full(leaf.grad), b, case)


def grouped_heads(mesh):
    """Tensor parallelism: heads stay where they are if each process has the keys of its queries."""
    for kv_heads, stays in ((mesh.size(), True), (mesh.size() + 1, False)):
        x = [normal(2, 5, n * kv_heads, 8, dtype=torch.float32, device=mesh.device_type) for n in (2, 1, 1)]
        whole = [t.clone().requires_grad_() for t in x]
        shards = [distribute_tensor(t, mesh, [Shard(2)]).requires_grad_() for t in x]
        wanted = kernels.attention(*whole, causal=True)
        found = kernels.attention(*shards, causal=True)
        assert (found.placements == (Shard(2),)) == stays, found.placements
        close(full(found), wanted)
        wanted.square().sum().backward()
        found.square().sum().backward()
        for shard, tensor in zip(shards, whole):
            close(full(shard.grad), tensor.grad)


def test_tensor_parallel_attention(device):
    for count in process_counts(device, 2, 4):
        in_processes(device, count, grouped_heads)


def float8(mesh):
    """By sequences and by heads, whose factors are divided alike. Other placements are gathered, which gloo can't do
    with float8."""
    heads, device = mesh.size(), mesh.device_type
    x = [normal(4, 5, n * heads, 16, dtype=torch.float32, device=device).to(torch.float8_e4m3fn) for n in (2, 1, 1)]
    every = {
        f"{name}_descale": 0.5 + normal(4, heads, dtype=torch.float32, device=device, seed=i).abs()
        for i, name in enumerate("qkv")
    }
    for dim in (0, 2):
        for descales in (every, {name: value[0] for name, value in every.items()}, {"v_descale": every["v_descale"][:1, :1]}):
            placed = {}
            for name, value in descales.items():
                goes_along = value.numel() > 1 and (dim == 2 or value.dim() == 2)
                placement = Shard(value.dim() - 1 if dim == 2 else 0) if goes_along else Replicate()
                placed[name] = distribute_tensor(value, mesh, [placement])
            shards = [DTensor.from_local(t.chunk(mesh.size(), dim)[mesh.get_rank()], mesh, [Shard(dim)]) for t in x]
            found, lse = kernels.attention(*shards, **placed, causal=True, return_lse=True)
            wanted, wanted_lse = kernels.attention(*x, **descales, causal=True, return_lse=True)
            assert found.placements == (Shard(dim),) and lse.placements == (Shard(0 if dim == 0 else 1),)
            assert torch.equal(full(found), wanted) and torch.equal(full(lse), wanted_lse)
    # Replicated factors are divided as the tensors are.
    placed = {name: distribute_tensor(value, mesh, [Replicate()]) for name, value in every.items()}
    found = kernels.attention(*shards, **placed)
    assert found.placements == (Shard(2),) and torch.equal(full(found), kernels.attention(*x, **every))
    offsets = torch.tensor([0, 8, 20], dtype=torch.int32, device=device)
    flat = [t.flatten(0, 1) for t in x]
    shards = [DTensor.from_local(t.chunk(mesh.size(), 1)[mesh.get_rank()], mesh, [Shard(1)]) for t in flat]
    same = distribute_tensor(offsets, mesh, [Replicate()])
    k_descale = every["k_descale"][:2]
    of_parts = distribute_tensor(k_descale, mesh, [Shard(1)])
    found = kernels.attention_varlen(*shards, same, same, 12, 12, k_descale=of_parts)
    assert found.placements == (Shard(1),)
    assert torch.equal(full(found), kernels.attention_varlen(*flat, offsets, offsets, 12, 12, k_descale=k_descale))


def test_attention_of_float8(device):
    for count in process_counts(device, 2, 4):
        in_processes(device, count, float8)


def linear_loss(mesh):
    """Of rows' shards, of classes' shards, and of replicas."""
    x, w = (normal(*shape, dtype=torch.float32, device=mesh.device_type) for shape in ((6, 8), (10, 8)))
    target = torch.arange(6, device=mesh.device_type)
    wanted = torch.nn.functional.cross_entropy(x @ w.t(), target)
    for of_rows, of_weight in ((Shard(0), Replicate()), (Replicate(), Shard(0)), (Replicate(), Replicate())):
        rows, weight = (
            distribute_tensor(t, mesh, [placement]).requires_grad_() for t, placement in ((x, of_rows), (w, of_weight))
        )
        loss = kernels.linear_cross_entropy(rows, weight, distribute_tensor(target, mesh, [of_rows]))
        close(full(loss), wanted, (of_rows, of_weight))
        loss.backward()
        assert rows.grad is not None and weight.grad is not None


def test_linear_cross_entropy_on_dtensors(device):
    for count in process_counts(device, 2):
        in_processes(device, count, linear_loss)


def dropout(mesh):
    """Of parts the sequences would be those of the beginning: all of it is gathered."""
    x = normal(4, 6, 2, 8, dtype=torch.float32, device=mesh.device_type)
    q = distribute_tensor(x, mesh, [Shard(0)])
    seed = distribute_tensor(torch.tensor(5, device=mesh.device_type), mesh, [Replicate()])
    found = kernels.attention(q, q, q, dropout_p=0.5, seed=seed)
    assert torch.equal(full(found), kernels.attention(x, x, x, dropout_p=0.5, seed=5))
    for wrong, kind in ((None, "NoneType"), (5, "int")):
        assert refusal(lambda: kernels.attention(q, q, q, dropout_p=0.5, seed=wrong)) == (
            "attention: wanted a replicated DTensor for seed where q is a DTensor, found " + kind + "."
        )


def test_dropout_on_dtensors(device):
    for count in process_counts(device, 2):
        in_processes(device, count, dropout)


def test_all_ops_on_dtensors(device):
    for count in process_counts(device, 2, 4):
        in_processes(device, count, all_ops)


def sharded_classes(mesh):
    logits = normal(6, 10, dtype=torch.float32, device=mesh.device_type)
    target = torch.tensor([0, 9, -100, 3, 7, 5], device=mesh.device_type)
    for keywords in (
        {},
        {"reduction": "sum"},
        {"reduction": "none"},
        {"label_smoothing": 0.1},
        {"lse_square_scale": 0.01, "softcap": 3.0},
    ):
        leaf = logits.clone().requires_grad_()
        wanted = kernels.cross_entropy(leaf, target, **keywords)
        wanted.sum().backward()
        for placement in (Shard(1), Shard(0), Replicate(), Partial()):
            if placement == Partial():
                sharded = DTensor.from_local(logits / mesh.size(), mesh, [placement])
            else:
                sharded = distribute_tensor(logits, mesh, [placement])
            sharded = sharded.detach().requires_grad_()
            loss = kernels.cross_entropy(sharded, target, **keywords)
            close(full(loss), wanted.detach(), (placement, keywords))
            full(loss).sum().backward()
            close(full(sharded.grad), leaf.grad, (placement, keywords))
            if placement == Shard(1) and logits.shape[1] % mesh.size() == 0:  # torch 2.10 gathers others
                assert sharded.grad.placements == (placement,)
    # A batch without labels: the mean is NaN, its gradients are zeros.
    for placement in (Shard(0), Shard(1)):
        for function in (kernels.cross_entropy, kernels.cross_entropy_):
            leaf = distribute_tensor(logits, mesh, [placement]).requires_grad_()
            loss = full(function(leaf * 1, torch.full_like(target, -100)))
            assert loss.isnan()
            loss.backward()
            assert (full(leaf.grad) == 0).all(), (placement, function)
    # torch's own way with its own name.
    from torch.distributed.tensor.parallel import loss_parallel

    theirs, ours = (
        distribute_tensor(logits, mesh, [Shard(1)]).requires_grad_() for _ in range(2)
    )
    with loss_parallel():
        loss = torch.nn.functional.cross_entropy(theirs, target)
        loss.backward()
    mine = kernels.cross_entropy(ours, target)
    full(mine).backward()
    close(full(mine), full(loss))
    close(full(ours.grad), full(theirs.grad))


def test_cross_entropy_of_sharded_classes(device):
    for count in process_counts(device, 2, 4):
        in_processes(device, count, sharded_classes)


def quantising_ops(mesh):
    x, y = (normal(4, 6, 8, dtype=torch.float32, device=mesh.device_type, seed=i) for i in range(2))
    w = normal(8, dtype=torch.float32, device=mesh.device_type, seed=2)
    number = torch.tensor([0.05], device=mesh.device_type)

    def two_passes(x, block_size, **keywords):
        q, scale, zero_point = kernels.quantize(x, torch.int8, block_size, **keywords)
        return q, scale, kernels.dequantize(q, scale, zero_point, block_size=block_size)

    def norm(x, y, w, number, **keywords):
        return kernels.rms_norm_quantize(x, w, 1e-5, dtype=torch.int8, residual=y, **keywords)

    cases = {  # name → (function, how many of its dimensions may be sharded)
        "rows": (lambda x, y, w, n: two_passes(x, (1, -1)), 2),
        "groups, zero points": (lambda x, y, w, n: two_passes(x, (1, 4), symmetric=False), 2),
        "tiles": (lambda x, y, w, n: two_passes(x, (4, 4)), 1),
        "random": (lambda x, y, w, n: kernels.quantize(x, torch.int8, (1, -1), seed=3)[:2], 0),
        "norm": (norm, 2),
        "norm, static": (lambda x, y, w, n: norm(x, y, w, n, scale=n)[::2], 2),
        "norm alone": (
            lambda x, y, w, n: kernels.rms_norm_quantize(x, w, 1e-5, dtype=torch.int8)[:2],
            2,
        ),
        "swiglu": (lambda x, y, w, n: kernels.swiglu_quantize(x, y, dtype=torch.int8), 2),
        "swiglu, static": (
            lambda x, y, w, n: kernels.swiglu_quantize(x, y, dtype=torch.int8, scale=n)[:1],
            2,
        ),
    }
    for name, (function, num_dims) in cases.items():
        wanted = as_tuple(function(x, y, w, number))
        for dim in range(3):
            shards = [distribute_tensor(t, mesh, [Shard(dim)]) for t in (x, y)]
            others = [distribute_tensor(t, mesh, [Replicate()]) for t in (w, number)]
            found = as_tuple(function(*shards, *others))
            for a, b in zip(found, wanted, strict=True):
                assert torch.equal(full(a), b), (name, dim)
            if dim < num_dims:
                assert all(a.placements == (Shard(dim),) for a in found), (name, dim)


def test_quantising_ops_on_dtensors(device):
    for count in process_counts(device, 2):
        in_processes(device, count, quantising_ops)


def ops_in_place(mesh):
    x, y = (normal(4, 6, 8, dtype=torch.float32, device=mesh.device_type, seed=i) for i in range(2))
    w = normal(8, dtype=torch.float32, device=mesh.device_type, seed=2)
    wanted = kernels.fused_add_rms_norm(x, y, 8, w, 1e-5)
    for placement in (Shard(0), Shard(1), Replicate()):
        a, b = (distribute_tensor(t.clone(), mesh, [placement]) for t in (x, y))
        kernels.fused_add_rms_norm_(a, b, 8, distribute_tensor(w, mesh, [Replicate()]), 1e-5)
        assert a.placements == b.placements == (placement,)
        close(full(a), wanted[0], placement)
        close(full(b), wanted[1], placement)
    for wrong in (Shard(2), Partial()):
        a, b = (DTensor.from_local(t.clone(), mesh, [wrong]) for t in (x, y))
        before = a._local_tensor.clone()
        assert "replicated or sharded by rows" in refusal(
            lambda: kernels.fused_add_rms_norm_(a, b, a.shape[-1])
        )
        assert torch.equal(a._local_tensor, before)
    a = distribute_tensor(x, mesh, [Shard(0)])
    assert "one mesh and one placement" in refusal(
        lambda: kernels.fused_add_rms_norm_(a, distribute_tensor(y, mesh, [Shard(1)]), 8)
    )

    q, k = (normal(4, 6, heads, 8, dtype=torch.float32, device=mesh.device_type) for heads in (4, 2))
    angles = normal(9, 4, dtype=torch.float32, device=mesh.device_type, seed=6)
    positions = torch.arange(24, device=mesh.device_type).view(4, 6) % 9
    for some, dims in ((None, (0, 2)), (positions, (0, 1, 2))):
        wanted = kernels.rope(q, k, angles.cos(), angles.sin(), some)
        for dim in dims:
            a, b = (distribute_tensor(t.clone(), mesh, [Shard(dim)]) for t in (q, k))
            others = [
                None if t is None else distribute_tensor(t, mesh, [Replicate()])
                for t in (angles.cos(), angles.sin(), some)
            ]
            kernels.rope_(a, b, *others)
            close(full(a), wanted[0], dim)
            close(full(b), wanted[1], dim)

    logits = normal(6, 10, dtype=torch.float32, device=mesh.device_type)
    target = torch.tensor([0, 9, -100, 3, 7, 5], device=mesh.device_type)
    for reduction in ("mean", "sum", "none"):
        leaf = logits.clone().requires_grad_()
        wanted = kernels.cross_entropy(leaf, target, reduction=reduction)
        wanted.sum().backward()
        for placement in (Shard(0), Shard(1), Replicate()):
            sharded = distribute_tensor(logits, mesh, [placement]).requires_grad_()
            computed = sharded * 1
            loss = kernels.cross_entropy_(computed, target, reduction=reduction)
            close(full(loss), wanted.detach(), (placement, reduction))
            assert placement == Shard(1) or not torch.equal(full(computed), logits)
            full(loss).sum().backward()
            close(full(sharded.grad), leaf.grad, (placement, reduction))


def test_ops_in_place_on_dtensors(device):
    for count in process_counts(device, 2):
        in_processes(device, count, ops_in_place)


def sequence_parallel(mesh):
    from torch.distributed.tensor.parallel import SequenceParallel, parallelize_module

    x = normal(2, 8, 16, dtype=torch.float32, device=mesh.device_type)
    for ours, theirs in (
        (kernels.RMSNorm(16, eps=1e-5), torch.nn.RMSNorm(16, eps=1e-5)),
        (kernels.LayerNorm(16), torch.nn.LayerNorm(16)),
    ):
        results = []
        for module in (ours, theirs):
            module = parallelize_module(module, mesh, SequenceParallel())
            leaf = distribute_tensor(x, mesh, [Shard(1)]).requires_grad_()
            output = module(leaf)
            assert output.placements == (Shard(1),)
            output.square().sum().backward()
            results.append((output, leaf.grad, module.weight.grad))
        for a, b in zip(*results):
            close(full(a), full(b))


def test_norms_in_sequence_parallel(device):
    for count in process_counts(device, 2):
        in_processes(device, count, sequence_parallel)


def model(mesh, dtype):
    torch.manual_seed(0)
    # 5 rows: uneven shards, and none for some processes.
    return torch.nn.Sequential(
        torch.nn.Linear(8, 5), kernels.RMSNorm(5, eps=1e-5), torch.nn.Linear(5, 3)
    ).to(mesh.device_type, dtype)


def sharded_model(mesh, dtype):
    net = model(mesh, dtype)
    for layer in net:
        fully_shard(layer, mesh=mesh)
    fully_shard(net, mesh=mesh)
    return net


def train(net, optimizer, first, steps):
    """The same batch on each process: gradients are what one process has."""
    like = next(net.parameters())
    for step in range(first, first + steps):
        x = normal(4, 8, dtype=like.dtype, device=like.device, seed=step)
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()


def fsdp(mesh, dtype):
    net = sharded_model(mesh, dtype)
    optimizer = kernels.optim.AdamW(net.parameters(), lr=1e-2)
    train(net, optimizer, 0, 3)
    plain = model(mesh, dtype)
    make = torch.optim.AdamW if dtype == torch.float32 else kernels.optim.AdamW
    reference = make(plain.parameters(), lr=1e-2)
    train(plain, reference, 0, 3)
    for a, b in zip(net.parameters(), plain.parameters(), strict=True):
        assert isinstance(a, DTensor)
        close(full(a), b, dtype)
        for name in ("exp_avg", "exp_avg_sq", *(("master_param",) if dtype != torch.float32 else ())):
            found = optimizer.state[a][name]
            assert isinstance(found, DTensor) and found.placements == a.placements
            close(full(found), reference.state[b][name], name)


def other_shards(mesh):
    """module.to() of DTensors swaps what the parameters hold: the optimizer follows."""
    net, plain = sharded_model(mesh, torch.float32), model(mesh, torch.float32)
    optimizers = [kernels.optim.AdamW(one.parameters(), lr=1e-2) for one in (net, plain)]
    train(net, optimizers[0], 0, 2)
    before = list(net.parameters())
    net.to(torch.float64).to(torch.float32)
    assert all(a is b for a, b in zip(before, net.parameters(), strict=True))
    train(net, optimizers[0], 2, 2)
    train(plain, optimizers[1], 0, 4)
    for a, b in zip(net.parameters(), plain.parameters(), strict=True):
        close(full(a), b)


def other_optimizers(mesh):
    net, plain = sharded_model(mesh, torch.float32), model(mesh, torch.float32)
    for one in (net, plain):
        train(one, kernels.optim.Lion(one.parameters(), lr=1e-2, weight_decay=0.1), 0, 3)
    for a, b in zip(net.parameters(), plain.parameters(), strict=True):
        close(full(a), b)
    # As one calls it: with a generator.
    for one in (net, plain):
        one(normal(4, 8, dtype=torch.float32, device=mesh.device_type, seed=9)).square().mean().backward()
    norms = [full(kernels.clip_grad_norm_(one.parameters(), 1e-3)) for one in (net, plain)]
    assert norms[0] > 1e-2
    close(norms[0], norms[1])
    for a, b in zip(net.parameters(), plain.parameters(), strict=True):
        close(full(a.grad), b.grad)
    for make in (kernels.optim.LAMB, lambda p: kernels.optim.AdamW8bit(p, min_8bit_size=1)):
        # What is of a whole tensor can't be made of a part.
        assert "wanted whole parameters, found a DTensor" in refusal(
            lambda: train(net, make(net.parameters()), 0, 1)
        )


def test_optimizer_under_fully_shard(device):
    for count in process_counts(device, 1, 2, 4):
        in_processes(device, count, fsdp, torch.float32)


def test_other_optimizers_under_fully_shard(device):
    for count in process_counts(device, 2):
        in_processes(device, count, fsdp, torch.bfloat16)
        in_processes(device, count, other_optimizers)
        in_processes(device, count, other_shards)


def save(mesh, directory):
    net = sharded_model(mesh, torch.bfloat16)
    optimizer = kernels.optim.AdamW(net.parameters(), lr=1e-2)
    train(net, optimizer, 0, 2)
    dcp.save(
        {"model": get_model_state_dict(net), "optim": get_optimizer_state_dict(net, optimizer)},
        checkpoint_id=directory,
    )


def load(mesh, directory):
    net = sharded_model(mesh, torch.bfloat16)
    with torch.no_grad():
        for param in net.parameters():
            param.zero_()
    optimizer = kernels.optim.AdamW(net.parameters(), lr=1e-2)
    state = {"model": get_model_state_dict(net), "optim": get_optimizer_state_dict(net, optimizer)}
    dcp.load(state, checkpoint_id=directory)
    set_model_state_dict(net, state["model"])
    set_optimizer_state_dict(net, optimizer, state["optim"])
    train(net, optimizer, 2, 2)
    plain = model(mesh, torch.bfloat16)
    reference = kernels.optim.AdamW(plain.parameters(), lr=1e-2)
    train(plain, reference, 0, 4)
    for a, b in zip(net.parameters(), plain.parameters(), strict=True):
        close(full(a), b)
        for name in ("exp_avg", "exp_avg_sq", "master_param"):
            close(full(optimizer.state[a][name]), reference.state[b][name], name)
        assert full(optimizer.state[a]["step"]) == 4


def other_classes(mesh):
    """State from one AdamW to another, as torch.distributed.checkpoint hands it on."""
    mine, torchs = kernels.optim.AdamW, torch.optim.AdamW
    for options in ({"full_state_dict": True}, {"flatten_optimizer_state_dict": True}, {}):
        for make, other, dtype in (
            (mine, torchs, torch.float32),
            (torchs, mine, torch.float32),
            (mine, torchs, torch.bfloat16),
            (torchs, mine, torch.bfloat16),
        ):
            first, second = (sharded_model(mesh, dtype) for _ in range(2))
            optimizer, loaded = make(first.parameters(), lr=1e-2), other(second.parameters())
            train(first, optimizer, 0, 2)
            options_ = StateDictOptions(**options)
            state = get_optimizer_state_dict(first, optimizer, options=options_)
            set_optimizer_state_dict(second, loaded, state, options=options_)
            for a, b in zip(first.parameters(), second.parameters(), strict=True):
                for name in ("step", "exp_avg", "exp_avg_sq"):
                    # torch's AdamW keeps the step on the CPU.
                    found = full(loaded.state[b][name])
                    close(found, full(optimizer.state[a][name]).to(found), name)
            assert loaded.param_groups[0]["lr"] == 1e-2
            train(second, loaded, 2, 1)


def test_checkpoints_of_torchs_optimizer(device):
    for count in process_counts(device, 1):
        in_processes(device, count, other_classes)


def test_checkpoints_change_the_number_of_processes(device):
    for saving in process_counts(device, 2):
        with tempfile.TemporaryDirectory() as directory:
            in_processes(device, saving, save, directory)
            for count in process_counts(device, 1, 4):
                in_processes(device, count, load, directory)


def compiled_blocks(mesh):
    """Each rank its own batch, 16-bit compute of float32 shards: ours compiled, torch's as it is."""
    losses = {}
    x, cos, sin, _ = inputs(2, 512, torch.float32, mesh.device_type)
    x = normal(*x.shape, dtype=x.dtype, device=x.device, seed=mesh.get_rank())
    for make in (OurBlock, Block):
        torch.manual_seed(0)
        net = torch.nn.ModuleList([make(), make()]).to(mesh.device_type)
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        for block in net:
            if make is OurBlock:
                block.compile(fullgraph=True)
            fully_shard(block, mesh=mesh, mp_policy=policy)
        optimizers = {OurBlock: kernels.optim.AdamW, Block: torch.optim.AdamW}
        optimizer = optimizers[make](net.parameters(), lr=1e-2)
        losses[make] = []
        for _ in range(5):
            optimizer.zero_grad()
            output = x
            for block in net:
                output = block(output, cos, sin)
            loss = (output.float() - x.roll(1, 1)).square().mean()
            loss.backward()
            optimizer.step()
            losses[make].append(loss.item())
    assert losses[OurBlock][-1] < 0.95 * losses[OurBlock][0], losses
    torch.testing.assert_close(losses[OurBlock], losses[Block], rtol=5e-3, atol=0, msg=str(losses))


def test_compiled_blocks_under_fully_shard(device):
    if device == "cpu":
        raise unittest.SkipTest("test_llama_block compiles such a model on the CPU")
    for count in process_counts(device, 1, 2, 4):
        in_processes(device, count, compiled_blocks)


def training_steps(net, optimizer, inputs_, tables, micro_batches, accumulate=None):
    """Two steps on micro-batches of each, with gradients clipped; the losses."""
    losses = []
    for step in range(2):
        for i in range(micro_batches):
            if accumulate is not None:
                accumulate(i == micro_batches - 1)
            x = inputs_[step * micro_batches + i]
            loss = (net(x, *tables).float() - x.float().roll(1, 1)).square().mean() / micro_batches
            loss.backward()
            losses.append(loss.detach())
        kernels.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        optimizer.zero_grad()
    return torch.stack(losses)


class Stack(torch.nn.Module):
    """Blocks, each computed again in the backward pass."""

    def __init__(self, make, num_blocks=2, checkpoint=False):
        super().__init__()
        self.blocks = torch.nn.ModuleList(make() for _ in range(num_blocks))
        self.checkpoint = checkpoint

    def forward(self, x, cos, sin):
        for block in self.blocks:
            if self.checkpoint:
                x = torch.utils.checkpoint.checkpoint(block, x, cos, sin, use_reentrant=False)
            else:
                x = block(x, cos, sin)
        return x


def stack(make, device, **options):
    torch.manual_seed(0)
    return Stack(make, **options).to(device)


# What comes before inductor, which test_compiled_blocks_under_fully_shard has: graphs, their tensors and hooks.
BACKEND = "aot_eager"


def all_of_training(mesh):
    """Shards in pairs and replicas of them, compiled blocks that are computed again, two micro-batches a step, clipped
    gradients, our AdamW: the parameters that one process gets from all batches."""
    device, count, rank = mesh.device_type, mesh.size(), mesh.get_rank()
    _, cos, sin, _ = inputs(2, 24, torch.float32, device)
    batches = [
        [normal(2, 24, HIDDEN, dtype=torch.float32, device=device, seed=10 * rank_ + i) for i in range(4)]
        for rank_ in range(count)
    ]
    meshes = init_device_mesh(device, (count // 2, 2), mesh_dim_names=("replicate", "shard"))
    net = stack(OurBlock, device, checkpoint=True)
    for block in net.blocks:
        if device == "cuda":  # on the CPU test_llama_block does
            block.compile(fullgraph=True, backend=BACKEND)
        fully_shard(block, mesh=meshes)
    fully_shard(net, mesh=meshes)
    # With the usual eps a step by a gradient of nearly 0 would be as large as any, and its error, too.
    options = {"lr": 1e-2, "eps": 1e-3}
    optimizer = kernels.optim.AdamW(net.parameters(), **options)
    losses = training_steps(net, optimizer, batches[rank], (cos, sin), 2, net.set_requires_gradient_sync)
    plain = stack(Block, device)
    reference = torch.optim.AdamW(plain.parameters(), **options)
    together = [torch.cat([batches[rank_][i] for rank_ in range(count)]) for i in range(4)]
    wanted = training_steps(plain, reference, together, (cos, sin), 2)
    dist.all_reduce(losses, dist.ReduceOp.SUM)
    close(losses / count, wanted, "loss")
    for (name, a), b in zip(net.named_parameters(), plain.parameters(), strict=True):
        assert a.placements == (Replicate(), Shard(0))
        close(full(a), b, name)


def test_all_of_training_together(device):
    for count in process_counts(device, *((2, 4) if device == "cuda" else (4,))):
        in_processes(device, count, all_of_training)


def ddp(mesh):
    """Compiled around DistributedDataParallel: the graph is divided at its buckets, of 1 MiB at least."""
    device, count, rank = mesh.device_type, mesh.size(), mesh.get_rank()
    _, cos, sin, _ = inputs(2, 24, torch.float32, device)
    batches = [normal(2, 24, HIDDEN, dtype=torch.float32, device=device, seed=r) for r in range(count)]
    net = torch.nn.parallel.DistributedDataParallel(stack(OurBlock, device, num_blocks=5), bucket_cap_mb=1)
    torch.compile(net, backend=BACKEND)(batches[rank], cos, sin).square().mean().backward()
    plain = stack(Block, device, num_blocks=5)
    plain(torch.cat(batches), cos, sin).square().mean().backward()
    for a, b in zip(net.module.parameters(), plain.parameters(), strict=True):
        close(a.grad, b.grad)


def test_compiled_around_ddp(device):
    if device == "cpu" and os.environ.get("CUDAOPS_TEST_LONG", "0") in ("", "0"):
        raise unittest.SkipTest("CUDAOPS_TEST_LONG=1 runs it on the CPU, too")
    for count in process_counts(device, 2):
        in_processes(device, count, ddp)


class Divided(torch.nn.Module):
    """A block whose heads and columns are divided, and between them the sequence."""

    HEADS, HEAD_DIM = 4, 8

    def __init__(self, ours):
        super().__init__()
        size = self.HEADS * self.HEAD_DIM
        self.norm, self.mlp_norm = (
            kernels.RMSNorm(size, eps=1e-5) if ours else torch.nn.RMSNorm(size, eps=1e-5) for _ in range(2)
        )
        for name, of, to in (
            *((name, size, size) for name in ("q", "k", "v", "out")),
            ("gate", size, 48),
            ("up", size, 48),
            ("down", 48, size),
        ):
            setattr(self, name, torch.nn.Linear(of, to, bias=False))
        self.ours = ours

    def attention(self, *qkv):
        q, k, v = (x.unflatten(-1, (-1, self.HEAD_DIM)) for x in qkv)
        if self.ours:
            return kernels.attention(q, k, v, causal=True).flatten(-2)
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        output = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return output.transpose(1, 2).flatten(-2)

    def forward(self, x):
        normed = self.norm(x)
        x = x + self.out(self.attention(self.q(normed), self.k(normed), self.v(normed)))
        normed = self.mlp_norm(x)
        gate, up = self.gate(normed), self.up(normed)
        return x + self.down(kernels.swiglu(gate, up) if self.ours else torch.nn.functional.silu(gate) * up)


def tensor_and_sequence_parallel(mesh):
    """DTensors all through, compiled, as torch's plans of tensor parallelism have them."""
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        SequenceParallel,
        parallelize_module,
    )

    device = mesh.device_type
    divided = ColwiseParallel(input_layouts=Shard(1), use_local_output=False)
    back = RowwiseParallel(output_layouts=Shard(1), use_local_output=False)
    plan = {
        **{name: SequenceParallel() for name in ("norm", "mlp_norm")},
        **{name: divided for name in ("q", "k", "v", "gate", "up")},
        **{name: back for name in ("out", "down")},
    }
    results = []
    for ours in (True, False):
        torch.manual_seed(0)
        block = Divided(ours).to(device)
        x = normal(2, 8, 32, dtype=torch.float32, device=device)
        if ours:
            parallelize_module(block, mesh, plan)
            x = distribute_tensor(x, mesh, [Shard(1)])
            block.compile(fullgraph=True, backend=BACKEND)
        x.requires_grad_()
        output = block(x)
        assert not ours or output.placements == (Shard(1),)
        output.square().sum().backward()
        results.append([output, x.grad, *(p.grad for p in block.parameters())])
    for a, b in zip(*results, strict=True):
        close(full(a), full(b))


def test_tensor_and_sequence_parallel(device):
    Group.end_all()  # in new processes no op has met a DTensor before the graph is captured
    for count in process_counts(device, *((2, 4) if device == "cuda" else (2,))):
        in_processes(device, count, tensor_and_sequence_parallel)


if __name__ == "__main__":
    main(globals())

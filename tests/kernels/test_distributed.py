# SPDX-License-Identifier: Apache-2.0
"""DTensors, FSDP2 and tensor parallelism: 2 and 4 processes on the CPU with gloo, against the whole
tensors in one process and torch's own ops. The processes are forks of this one: torch is imported
once."""

import os
import tempfile
import traceback
import unittest

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from kernel_testing import kernels, main, normal
from kernel_testing import pytest_generate_tests  # noqa: F401
from test_modes import as_tuple, calls
from torch.distributed.checkpoint.state_dict import (
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
)


def in_processes(device, count, body, *arguments):
    """Runs body(mesh, ...) in so many forks, and says what went wrong in any of them."""
    if device != "cpu" or not hasattr(os, "fork"):
        raise unittest.SkipTest("gloo on the CPU serves these tests")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as directory:
        children = []
        for rank in range(count):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    # A fork makes torch's thread pool anew when it is first asked for; two threads of autograd that
                    # ask at once would end the process.
                    torch.set_num_threads(1)
                    dist.init_process_group(
                        "gloo",
                        init_method=f"file://{directory}/rendezvous",
                        rank=rank,
                        world_size=count,
                    )
                    body(init_device_mesh("cpu", (count,)), *arguments)
                    dist.barrier()
                    code = 0
                except BaseException:
                    with open(f"{directory}/{rank}", "w") as file:
                        traceback.print_exc(file=file)
                finally:
                    os._exit(code)
            children.append(child)
        failed = [os.waitpid(child, 0)[1] for child in children]
        texts = []
        for rank in range(count):
            if os.path.exists(f"{directory}/{rank}"):
                with open(f"{directory}/{rank}") as file:
                    texts.append(f"rank {rank}: {file.read()}")
        assert not any(failed), "\n".join(texts) or failed


def close(a, b, name=None):
    torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5, msg=lambda text: f"{name}: {text}")


def full(tensor):
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def all_ops(mesh):
    for name, call in calls("cpu").items():
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


def test_all_ops_on_dtensors(device):
    for count in (2, 4):
        in_processes(device, count, all_ops)


def sharded_classes(mesh):
    logits = normal(6, 10, dtype=torch.float32, device="cpu")
    target = torch.tensor([0, 9, -100, 3, 7, 5])
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
    in_processes(device, 2, sharded_classes)
    in_processes(device, 4, sharded_classes)


def sequence_parallel(mesh):
    from torch.distributed.tensor.parallel import SequenceParallel, parallelize_module

    x = normal(2, 8, 16, dtype=torch.float32, device="cpu")
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
    in_processes(device, 2, sequence_parallel)


def model(dtype=torch.float32):
    torch.manual_seed(0)
    # 5 rows: uneven shards, and none for some processes.
    return torch.nn.Sequential(
        torch.nn.Linear(8, 5), kernels.RMSNorm(5, eps=1e-5), torch.nn.Linear(5, 3)
    ).to(dtype)


def sharded_model(mesh, dtype):
    net = model(dtype)
    for layer in net:
        fully_shard(layer, mesh=mesh)
    fully_shard(net, mesh=mesh)
    return net


def train(net, optimizer, first, steps):
    """The same batch on each process: gradients are what one process has."""
    dtype = next(net.parameters()).dtype
    for step in range(first, first + steps):
        x = normal(4, 8, dtype=dtype, device="cpu", seed=step)
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()


def fsdp(mesh, dtype):
    net = sharded_model(mesh, dtype)
    optimizer = kernels.optim.AdamW(net.parameters(), lr=1e-2)
    train(net, optimizer, 0, 3)
    plain = model(dtype)
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


def test_optimizer_under_fully_shard(device):
    for dtype in (torch.float32, torch.bfloat16):
        in_processes(device, 2, fsdp, dtype)
    in_processes(device, 4, fsdp, torch.float32)


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
    plain = model(torch.bfloat16)
    reference = kernels.optim.AdamW(plain.parameters(), lr=1e-2)
    train(plain, reference, 0, 4)
    for a, b in zip(net.parameters(), plain.parameters(), strict=True):
        close(full(a), b)
        for name in ("exp_avg", "exp_avg_sq", "master_param"):
            close(full(optimizer.state[a][name]), reference.state[b][name], name)
        assert full(optimizer.state[a]["step"]) == 4


def test_checkpoints_change_the_number_of_processes(device):
    with tempfile.TemporaryDirectory() as directory:
        in_processes(device, 2, save, directory)
        for count in (1, 4):
            in_processes(device, count, load, directory)


if __name__ == "__main__":
    main(globals())

# SPDX-License-Identifier: Apache-2.0
"""Optimizers but AdamW, torch.ops.cudaops.lion_, lamb_ and adamw_8bit_, clip_grad_norm_()."""

import copy
import functools
import pickle
import unittest
import warnings

from kernel_testing import DTYPES, kernels, main, normal, ops, refusal
from kernel_testing import pytest_generate_tests  # noqa: F401

import torch
from torch._subclasses.fake_tensor import FakeTensorMode


def trained(make, device, reference, steps=4, dtype=torch.float32):
    """Parameters after some steps of the optimizer, and of reference(param, grad, state)."""
    shapes = ((7, 5), (11,), (7, 5))
    params = [
        torch.nn.Parameter(normal(*s, dtype=dtype, device=device, seed=i)) for i, s in enumerate(shapes)
    ]
    exact = [p.detach().double() for p in params]
    states = [{} for _ in params]
    optimizer = make(params)
    for step in range(steps):
        grads = [normal(*s, dtype=dtype, device=device, seed=30 + 5 * step + i) for i, s in enumerate(shapes)]
        for param, grad in zip(params, grads):
            param.grad = grad
        optimizer.step()
        grads = [grad.double() for grad in grads]
        reference(exact, grads, states, step + 1)
    return params, exact, optimizer


def test_lion(device):
    def reference(params, grads, states, step):
        for p, g, s in zip(params, grads, states):
            m = s.setdefault("m", torch.zeros_like(p))
            update = torch.sign(0.9 * m + 0.1 * g)
            p.mul_(1 - 1e-2 * 0.1).sub_(1e-2 * update)
            m.mul_(0.99).add_(0.01 * g)

    params, exact, optimizer = trained(
        lambda params: kernels.optim.Lion(params, lr=1e-2, weight_decay=0.1), device, reference
    )
    for a, b in zip(params, exact):
        torch.testing.assert_close(a.double(), b, rtol=1e-5, atol=1e-6)
    other = kernels.optim.Lion(params, lr=1e-2)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert torch.equal(other.state[params[0]]["exp_avg"], optimizer.state[params[0]]["exp_avg"])


def test_lamb(device):
    def reference(params, grads, states, step):
        norm = torch.sqrt(sum(g.square().sum() for g in grads))
        factor = min(1.0, (0.5 / (norm + 1e-6)).item())
        for p, g, s in zip(params, grads, states):
            g = g * factor
            m, v = s.setdefault("m", torch.zeros_like(p)), s.setdefault("v", torch.zeros_like(p))
            m.mul_(0.9).add_(0.1 * g)
            v.mul_(0.999).add_(0.001 * g * g)
            update = m / (1 - 0.9**step) / ((v / (1 - 0.999**step)).sqrt() + 1e-6) + 0.1 * p
            p.sub_(1e-2 * p.norm() / update.norm() * update)

    params, exact, _ = trained(
        lambda params: kernels.optim.LAMB(params, lr=1e-2, weight_decay=0.1, max_grad_norm=0.5),
        device,
        reference,
    )
    for a, b in zip(params, exact):
        torch.testing.assert_close(a.double(), b, rtol=1e-4, atol=1e-5)


def test_adamw_of_8_bits(device):
    """Close to AdamW's steps, with two bytes and a little an element; small tensors as AdamW's."""
    torch.manual_seed(0)
    shapes, results = ((70, 71), (30,)), []
    for make in (kernels.optim.AdamW8bit, torch.optim.AdamW):
        params = [
            torch.nn.Parameter(normal(*s, dtype=torch.float32, device=device, seed=i))
            for i, s in enumerate(shapes)
        ]
        optimizer = make(params, lr=1e-2, weight_decay=0.1)
        for step in range(10):
            for i, param in enumerate(params):
                param.grad = normal(
                    *param.shape, dtype=torch.float32, device=device, seed=50 + 2 * step + i
                )
            optimizer.step()
        results.append((params, optimizer))
    (ours, optimizer), (wanted, reference) = results
    begin = normal(70, 71, dtype=torch.float32, device=device)
    moved, should = ours[0].detach() - begin, wanted[0].detach() - begin
    assert (moved - should).norm() < 0.05 * should.norm()
    torch.testing.assert_close(ours[1], wanted[1], rtol=1e-5, atol=1e-6)
    state = optimizer.state[ours[0]]
    assert state["state1"].dtype == state["state2"].dtype == torch.uint8
    assert state["state1"].shape == (70, 71) and state["absmax1"].shape == (-(-70 * 71 // 256),)
    assert optimizer.state[ours[1]]["state1"].dtype == torch.float32
    other = kernels.optim.AdamW8bit(ours, lr=1e-2)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert torch.equal(other.state[ours[0]]["state2"], state["state2"])
    assert other.state[ours[0]]["state1"].dtype == torch.uint8
    other.step()


def test_muon_is_torchs(device):
    if not hasattr(torch.optim, "Muon"):
        raise unittest.SkipTest("this torch has no Muon")
    for options in ({}, {"nesterov": False}, {"adjust_lr_fn": "match_rms_adamw", "ns_steps": 3}):
        results = []
        for make in (kernels.optim.Muon, torch.optim.Muon):
            params = [
                torch.nn.Parameter(normal(*shape, dtype=torch.float32, device=device, seed=i))
                for i, shape in enumerate(((8, 6), (8, 6), (5, 9)))
            ]
            optimizer = make(params, lr=0.1, **options)
            for step in range(3):
                for i, param in enumerate(params):
                    param.grad = normal(
                        *param.shape, dtype=torch.float32, device=device, seed=10 * step + i
                    )
                optimizer.step()
            results.append((params, optimizer))
        for a, b in zip(results[0][0], results[1][0]):
            # bfloat16 products, in another order on a GPU.
            torch.testing.assert_close(a, b, rtol=1e-2, atol=1e-2)
        results[1][1].load_state_dict(results[0][1].state_dict())
    assert "wanted parameters of two dimensions" in refusal(
        lambda: kernels.optim.Muon([torch.nn.Parameter(torch.ones(3, device=device))])
    )


def test_clip_grad_norm(device):
    for norm_type in (2.0, 1.0, float("inf")):
        for dtype in DTYPES:
            results = []
            for clip in (kernels.clip_grad_norm_, torch.nn.utils.clip_grad_norm_):
                params = [torch.nn.Parameter(torch.ones(n, dtype=dtype, device=device)) for n in (3, 40)]
                for i, param in enumerate(params):
                    param.grad = normal(*param.shape, dtype=dtype, device=device, seed=i)
                results.append((clip(params, 0.5, norm_type), [p.grad for p in params]))
            (norm, grads), (norm_of_torch, wanted) = results
            assert norm.dtype == torch.float32
            torch.testing.assert_close(norm, norm_of_torch.float(), rtol=2e-2, atol=1e-3)
            for a, b in zip(grads, wanted):
                torch.testing.assert_close(a, b, rtol=2e-2, atol=1e-3)
    params[0].grad[0] = float("nan")
    assert "wanted a finite norm" in refusal(
        lambda: kernels.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)
    )
    assert kernels.clip_grad_norm_([], 1.0) == 0
    # Sparse ones, of which torch has no norm on every device; of one place twice, too.
    param = torch.nn.Parameter(torch.ones(4, 3, device=device))
    values = normal(3, 3, dtype=torch.float32, device=device)
    param.grad = torch.sparse_coo_tensor([[0, 2, 0]], values, (4, 3), device=device)
    dense = param.grad.to_dense()
    torch.testing.assert_close(kernels.clip_grad_norm_([param], 0.5), dense.norm())
    torch.testing.assert_close(param.grad.to_dense(), dense * (0.5 / (dense.norm() + 1e-6)).clamp(max=1))


def lists(device, dtype=torch.float32):
    """Parameters and gradients of all kinds: more than a launch's arguments hold, none, odd sizes,
    misaligned, in another order in memory."""
    shapes = [(1,), (0,), (3, 341), (1024,), (2049,), (70, 71), *[(5, 7)] * 30]
    params = [normal(*s, dtype=dtype, device=device, seed=i) for i, s in enumerate(shapes)]
    params.append(normal(1025, dtype=dtype, device=device, seed=90)[1:])
    params.append(normal(33, 40, dtype=dtype, device=device, seed=91).t())
    grads = [torch.empty_like(p).copy_(normal(*p.shape, dtype=dtype, device=device, seed=100 + i)) for i, p in enumerate(params)]
    return params, grads


def options(**others):
    return {"lr": 1e-2, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1, **others}


def zeros(params, dtype=torch.float32):
    return [torch.zeros_like(p, dtype=dtype) for p in params]


def rounding(dtype):
    return {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}[dtype]


def test_norm_of_double_gradients(device):
    param, ours = (torch.nn.Parameter(torch.ones(5, dtype=torch.float64, device=device)) for _ in range(2))
    for one in (param, ours):
        one.grad = normal(5, dtype=torch.float64, device=device)
    norm = kernels.clip_grad_norm_([ours], 0.1)
    assert torch.equal(norm, torch.nn.utils.clip_grad_norm_([param], 0.1)) and torch.equal(ours.grad, param.grad)
    assert "wanted float32" in refusal(kernels.optim.LAMB([param]).step)


def test_tensors_without_data_take_steps(device):
    """Estimating a run's memory by FakeTensorMode, or on the meta device: no memory is made."""
    for name in kernels.optim.__all__:
        for make in (FakeTensorMode, lambda: torch.device("meta")):
            with make(), warnings.catch_warnings():
                warnings.simplefilter("error")
                param = torch.nn.Parameter(torch.ones(64, 128, dtype=torch.bfloat16))
                param.grad = torch.ones_like(param)
                optimizer = getattr(kernels.optim, name)([param])
                for _ in range(2):
                    kernels.clip_grad_norm_([param], 1.0)
                    optimizer.step()


def test_lion_of_many_tensors(device):
    for dtype in DTYPES:
        params, grads = lists(device, dtype)
        moments = [normal(*p.shape, dtype=torch.float32, device=device, seed=200 + i) for i, p in enumerate(params)]
        moments = [torch.empty_like(p, dtype=torch.float32).copy_(m) for p, m in zip(params, moments)]
        before = [(p.double(), m.double()) for p, m in zip(params, moments)]
        ops.lion_(params, grads, moments, maximize=True, **options())
        for param, grad, moment, (p, m) in zip(params, grads, moments, before):
            g = -grad.double()
            wanted = p * (1 - 1e-3) - 1e-2 * torch.sign(0.9 * m + 0.1 * g)
            torch.testing.assert_close(param.double(), wanted, rtol=rounding(dtype), atol=1e-5)
            torch.testing.assert_close(moment.double(), 0.99 * m + 0.01 * g, rtol=1e-5, atol=1e-6)


def test_lamb_of_many_tensors(device):
    for dtype in DTYPES:
        params, grads = lists(device, dtype)
        first, second = zeros(params), zeros(params)
        before = [p.double() for p in params]
        clip = torch.tensor(0.5, device=device)
        ops.lamb_(params, grads, first, second, [3.0] * len(params), eps=1e-6, clip_factor=clip, **options())
        for param, grad, m, v, p in zip(params, grads, first, second, before):
            g = 0.5 * grad.double()
            torch.testing.assert_close(m.double(), 0.1 * g, rtol=1e-5, atol=1e-6)
            torch.testing.assert_close(v.double(), 0.01 * g * g, rtol=1e-5, atol=1e-7)
            update = m.double() / (1 - 0.9**3) / ((v.double() / (1 - 0.99**3)).sqrt() + 1e-6) + 0.1 * p
            wanted = p - 1e-2 * p.norm() / update.norm() * update if p.numel() else p
            torch.testing.assert_close(param.double(), wanted, rtol=rounding(dtype), atol=1e-4)
        again, moments = [p.to(dtype) for p in before], (zeros(params), zeros(params))
        ops.lamb_(again, grads, *moments, [3.0] * len(params), eps=1e-6, clip_factor=clip, **options())
        assert all(map(torch.equal, again, params)), "the same bits each run"


def from_8_bits(state, absmax, levels):
    scales = absmax.double().repeat_interleave(256)[: state.numel()]
    return levels.double()[state.flatten().int()] * scales


def test_adamw_of_8_bits_rounds_to_the_nearest_level(device):
    from cudaops_kernels._optimizers import _levels

    levels = [_levels(is_signed, torch.device(device)) for is_signed in (True, False)]
    for table in levels:
        assert table.numel() == table.unique().numel() == 256
    for dtype in DTYPES:
        params, grads = lists(device, dtype)
        grads[5].mul_(torch.logspace(-6, 3, 70, device=device)[:, None].to(dtype))  # of all magnitudes
        states, scales = (zeros(params, torch.uint8), zeros(params, torch.uint8)), []
        for _ in states:
            scales.append([torch.zeros(-(-p.numel() // 256), device=device) for p in params])
        exact = [(p.double(), torch.zeros(p.numel(), device=device), torch.zeros(p.numel(), device=device)) for p in params]
        for step in (1, 2):
            moments = []
            for place, (param, grad) in enumerate(zip(params, grads)):
                # In the order of memory, which is that of blocks.
                g = torch.as_strided(grad, (grad.numel(),), (1,)).double()
                m, v = (from_8_bits(torch.as_strided(states[i][place], (g.numel(),), (1,)), scales[i][place], levels[i]) for i in (0, 1))
                p = torch.as_strided(param, (g.numel(),), (1,), param.storage_offset()).double()
                m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
                update = m / (1 - 0.9**step) / ((v / (1 - 0.99**step)).sqrt() + 1e-8)
                moments.append((m, v, p * (1 - 1e-3) - 1e-2 * update))
            ops.adamw_8bit_(
                params, grads, states[0], scales[0], states[1], scales[1], [float(step)] * len(params), *levels, eps=1e-8, **options()
            )
            for place, (param, (m, v, wanted)) in enumerate(zip(params, moments)):
                found = torch.as_strided(param, (m.numel(),), (1,), param.storage_offset()).double()
                torch.testing.assert_close(found, wanted, rtol=rounding(dtype), atol=1e-5)
                for i, exact in enumerate((m, v)):
                    if not exact.numel():
                        continue
                    blocks = torch.nn.functional.pad(exact, (0, -exact.numel() % 256)).view(-1, 256)
                    largest = blocks.abs().amax(1)
                    torch.testing.assert_close(scales[i][place].double(), largest, rtol=1e-5, atol=1e-12)
                    stored = from_8_bits(torch.as_strided(states[i][place], (exact.numel(),), (1,)), scales[i][place], levels[i])
                    scale = largest.repeat_interleave(256)[: exact.numel()]
                    distances = (levels[i].double()[None] * scale[:, None] - exact[:, None]).abs().amin(1)
                    assert ((stored - exact).abs() <= distances + 1e-5 * scale).all(), (dtype, place, i)


def test_ops_of_lists_refuse_in_one_sentence(device):
    def step(op, **changes):
        p, g = (normal(4096, dtype=torch.float32, device=device, seed=i) for i in (0, 1))
        lists = {"self": [p], "grads": [g]}
        moments = {"lion_": ("exp_avgs",), "lamb_": ("exp_avgs", "exp_avg_sqs"), "adamw_8bit_": ("state1", "absmax1", "state2", "absmax2")}[op]
        for name in moments:
            lists[name] = [torch.zeros(16 if name.startswith("absmax") else 4096, device=device)]
            if name.startswith("state"):
                lists[name] = [torch.zeros(4096, dtype=torch.uint8, device=device)]
        if op != "lion_":
            lists["steps"] = [1.0]
        numbers = options() if op == "lion_" else options(eps=1e-8)
        if op == "adamw_8bit_":
            numbers.update(levels1=torch.zeros(256, device=device), levels2=torch.zeros(256, device=device))
        before = p.clone()
        sentence = refusal(lambda: getattr(ops, op)(**{**lists, **numbers, **changes}))
        assert torch.equal(p, before), "nothing is written"
        return sentence

    x = torch.zeros(4096, device=device)
    for op, wanted, changes in (
        ("lion_", "lion_: wanted 1 tensors in exp_avgs, as in self, found 0.", {"exp_avgs": []}),
        ("lion_", "wanted shape [4096] for grads[0]", {"grads": [x[:5]]}),
        ("lion_", "wanted dtype Float for exp_avgs[0]", {"exp_avgs": [x.half()]}),
        ("lion_", "wanted dtype Float for grads[0]", {"grads": [x.half()]}),
        ("lion_", "don't share memory", {"grads": [x], "exp_avgs": [x]}),
        ("lion_", "wanted a number from 0 to below 1 for beta1, found 1.", {"beta1": 1.0}),
        ("lamb_", "wanted 1 numbers for steps", {"steps": [1.0, 2.0]}),
        ("lamb_", "wanted numbers from 1 on for steps, found 0.", {"steps": [0.0]}),
        ("lamb_", "wanted one float32 (Float) number for clip_factor", {"clip_factor": x}),
        ("adamw_8bit_", "wanted 16 float32 (Float) numbers", {"absmax2": [x[:15]]}),
        ("adamw_8bit_", "wanted 0 float32 (Float) numbers", {"state1": [x]}),
        ("adamw_8bit_", "wanted one dtype for state1[0] and state2[0]", {"state1": [x], "absmax1": [x[:0]]}),
        ("adamw_8bit_", "wanted 256 float32 (Float) numbers", {"levels2": x[:255]}),
    ):
        assert wanted in step(op, **changes), (wanted, step(op, **changes))


def test_a_step_is_seen_by_autograd(device):
    for make in (kernels.optim.Lion, kernels.optim.LAMB, kernels.optim.AdamW8bit):
        param = torch.nn.Parameter(torch.ones(3, device=device))
        loss = param.square().sum()  # saves it
        param.grad = torch.ones_like(param)
        make([param], lr=0.1).step()
        assert "modified by an inplace operation" in refusal(loss.backward)


def test_gradients_in_another_order_than_their_parameters(device):
    def lamb(params, lr):
        return kernels.optim.LAMB(params, lr, max_grad_norm=None)  # a sum in the order of memory

    for make in (kernels.optim.Lion, lamb, kernels.optim.AdamW8bit):
        results = []
        for order in (lambda t: t, lambda t: t.t().contiguous().t()):
            param = torch.nn.Parameter(normal(70, 80, dtype=torch.float32, device=device))
            param.grad = order(normal(70, 80, dtype=torch.float32, device=device, seed=1))
            make([param], lr=0.1).step()
            results.append(param.detach())
        assert torch.equal(*results)


OPTIMIZERS = {
    "AdamW": kernels.optim.AdamW,
    "Lion": kernels.optim.Lion,
    "LAMB": functools.partial(kernels.optim.LAMB, max_grad_norm=0.25),
    "AdamW8bit": functools.partial(kernels.optim.AdamW8bit, min_8bit_size=0),
    "Muon": kernels.optim.Muon,
}


def one_parameter(device):
    param = torch.nn.Parameter(normal(70, 80, dtype=torch.float32, device=device))
    param.grad = normal(70, 80, dtype=torch.float32, device=device, seed=1)
    return param


def test_copies_and_pickles_go_on_as_their_original(device):
    for name, make in OPTIMIZERS.items():
        param = one_parameter(device)
        optimizer = make([param], lr=0.1)
        optimizer.step()
        # Together: an optimizer's copy steps the copy's parameters. Neither keeps gradients in a pickle.
        grad = param.grad
        others = [copy.deepcopy((param, optimizer)), pickle.loads(pickle.dumps((param, optimizer)))]
        optimizer.step()
        for other, other_optimizer in others:
            other.grad = grad.clone()
            other_optimizer.step()
            assert torch.equal(other, param), name


def test_the_default_device_is_not_that_of_a_step(device):
    results = {}
    for default in (None, "meta"):
        params = [one_parameter(device) for _ in OPTIMIZERS]
        torch.set_default_device(default)
        try:
            for param, make in zip(params, OPTIMIZERS.values()):
                make([param], lr=0.1).step()
        finally:
            torch.set_default_device(None)
        results[default] = params
    for name, *both in zip(OPTIMIZERS, *results.values()):
        assert torch.equal(*both), name


def test_the_default_dtype_is_not_that_of_a_state(device):
    results = {}
    for default in (torch.float32, torch.bfloat16):
        results[default] = [one_parameter(device) for _ in (*OPTIMIZERS, "moments of float32")]
        *params, last = results[default]
        torch.set_default_dtype(default)
        try:
            for param, make in zip(params, OPTIMIZERS.values()):
                make([param], lr=0.1).step()
            kernels.optim.AdamW8bit([last], min_8bit_size=10**6).step()
        finally:
            torch.set_default_dtype(torch.float32)
    for name, *both in zip((*OPTIMIZERS, "moments of float32"), *results.values()):
        assert torch.equal(*both), name


def test_states_that_were_saved_in_another_order(device):
    """As files of tensors hold them: contiguous, whatever their parameters are."""
    for name in ("AdamW", "Lion", "LAMB"):
        values = normal(4, 3, 5, 5, dtype=torch.float32, device=device).to(memory_format=torch.channels_last)
        params = [torch.nn.Parameter(values.clone()) for _ in range(2)]
        optimizers = [OPTIMIZERS[name]([param], lr=0.1) for param in params]
        for is_first in (True, False):
            for param, optimizer in zip(params, optimizers):
                param.grad = values + 1
                optimizer.step()
            if is_first:
                saved = optimizers[1].state_dict()
                saved["state"][0] = {
                    key: value.contiguous() if torch.is_tensor(value) else value
                    for key, value in saved["state"][0].items()
                }
                optimizers[1].load_state_dict(saved)
        assert torch.equal(*params), name


def test_hooks_see_the_state_dict(device):
    """What a hook makes of one is what is loaded: here the states of parameters in another order."""

    def swapped(_, state_dict):
        first, second = (state_dict["state"][i] for i in range(2))
        return {**state_dict, "state": {0: second, 1: first}}

    for name, make in OPTIMIZERS.items():
        params = [one_parameter(device) for _ in range(2)]
        params[1].grad = params[0].grad * 2
        optimizer, other = make(params, lr=0.1), make(params[::-1], lr=0.1)
        optimizer.step()
        other.register_load_state_dict_pre_hook(swapped)
        other.register_load_state_dict_post_hook(lambda self: seen.extend(self.state[params[0]].items()))
        seen = []
        other.load_state_dict(optimizer.state_dict())
        assert seen and all(other.state[params[0]][key] is value for key, value in seen), name
        for param in params:
            for key, value in optimizer.state[param].items():
                found = other.state[param][key]
                assert torch.equal(found, value) if torch.is_tensor(value) else found == value, (name, key)


def test_state_that_is_no_parameters_is_loaded_as_it_is(device):
    for name, make in OPTIMIZERS.items():
        param = one_parameter(device)
        optimizer = make([param], lr=0.1)
        optimizer.step()
        own = {"number": 3, "tensors": {"mean": torch.ones(2, device=device)}}
        optimizer.state.update(own)
        optimizer.load_state_dict(optimizer.state_dict())
        optimizer.step()
        assert {key: optimizer.state[key] for key in own} == own, name


def test_a_refused_step_is_not_counted(device):
    for name, make in OPTIMIZERS.items():
        first, sparse = one_parameter(device), one_parameter(device)
        optimizer = make([first, sparse], lr=0.1)
        optimizer.step()
        before = first.detach().clone()
        sparse.grad = sparse.grad.to_sparse()
        assert refusal(optimizer.step) == f"{name}: wanted dense gradients, found a sparse one."
        assert torch.equal(first, before), name
        assert all(state.get("step", 1) == 1 for state in optimizer.state.values()), name
        if name in ("Lion", "LAMB", "AdamW8bit"):  # refused by the op itself
            sparse.grad = None
            sparse.data = sparse.data.double()
            sparse.grad = sparse.data.clone()
            assert "found Double" in refusal(optimizer.step)
            assert optimizer.state[sparse]["step"] == 1, name
    assert "Muon: wanted parameters of real numbers" in refusal(
        lambda: kernels.optim.Muon([torch.nn.Parameter(torch.zeros(2, 2, dtype=torch.complex64, device=device))])
    )


def test_options_that_are_no_numbers_are_refused(device):
    for name, make in OPTIMIZERS.items():
        for option in ("lr", "weight_decay"):
            for value in ("x", "0.1", 10**400):
                said = refusal(lambda: make([one_parameter(device)], **{option: value}))
                assert said.startswith(f"{name}: wanted a finite ") and said.endswith(f" for {option}, found {value!r}."), said
        if name != "Muon":
            said = refusal(lambda: make([one_parameter(device)], betas=0.9))
            assert said == f"{name}: wanted two numbers for betas, found 0.9.", said


if __name__ == "__main__":
    main(globals())

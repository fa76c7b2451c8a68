# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.adamw_ against float64, optim.AdamW against torch.optim.AdamW."""

import copy
import gc

from kernel_testing import DTYPES, assert_close, main, normal, ops, refusal, shapes
from kernel_testing import pytest_generate_tests  # noqa: F401

import torch
from cudaops_kernels.optim import AdamW

SIZES = tuple(size for (size,) in shapes("adamw"))
HYPER = {"lr": 3e-3, "beta1": 0.9, "beta2": 0.999, "weight_decay": 0.01, "eps": 1e-8}
INFINITY = float("inf")
FLAGS = {"amsgrad": False, "maximize": False}


class Lists:
    """The lists of one call, and the same in float64."""

    def __init__(self, sizes, dtype, device, master=False, step=3.0):
        def numbers(seed, type=torch.float32):
            return [
                normal(size, dtype=type, device=device, seed=seed + i)
                for i, size in enumerate(sizes)
            ]

        self.params = numbers(0, dtype)
        self.grads = numbers(1000, dtype)
        self.exp_avgs = numbers(2000)
        self.exp_avg_sqs = [x.abs() + 0.1 for x in numbers(3000)]
        self.steps = [torch.full((), step, device=device) for _ in sizes]
        self.masters = [p.float() * 1.001 for p in self.params] if master else []

    def call(self, op=None, **changes):
        arguments = {**HYPER, **FLAGS, **changes}
        (op or ops.adamw_)(
            self.params,
            self.grads,
            self.exp_avgs,
            self.exp_avg_sqs,
            [],
            self.steps,
            self.masters,
            **arguments,
        )

    def tensors(self):
        return (
            *self.params,
            *self.grads,
            *self.exp_avgs,
            *self.exp_avg_sqs,
            *self.steps,
            *self.masters,
        )


def reference(lists, i, lr, scale=1.0, clip=1.0, maximize=False, **_):
    """(param, grad, exp_avg, exp_avg_sq) of one tensor after the step."""
    param = (lists.masters or lists.params)[i].double()
    grad = lists.grads[i].double() / scale
    exp_avg, exp_avg_sq = lists.exp_avgs[i].double(), lists.exp_avg_sqs[i].double()
    step = lists.steps[i].item()
    g = grad * clip * (-1 if maximize else 1)
    param = param - lr * HYPER["weight_decay"] * param
    exp_avg = HYPER["beta1"] * exp_avg + (1 - HYPER["beta1"]) * g
    exp_avg_sq = HYPER["beta2"] * exp_avg_sq + (1 - HYPER["beta2"]) * g * g
    first, second = 1 - HYPER["beta1"] ** step, 1 - HYPER["beta2"] ** step
    param = param - lr / first * exp_avg / ((exp_avg_sq / second).sqrt() + HYPER["eps"])
    return param, grad, exp_avg, exp_avg_sq


def check(lists, expected, case):
    for i, (param, grad, exp_avg, exp_avg_sq) in enumerate(expected):
        if lists.masters:
            assert_close(lists.masters[i], param, case)
            assert torch.equal(lists.params[i], lists.masters[i].to(lists.params[i].dtype))
        else:
            assert_close(lists.params[i], param, case)
        assert_close(lists.grads[i], grad, case)
        assert_close(lists.exp_avgs[i], exp_avg, case, atol=2e-6)
        assert_close(lists.exp_avg_sqs[i], exp_avg_sq, case)


def test_one_step(device):
    def number(value):
        return torch.tensor(value, device=device)

    for dtype in DTYPES:
        for master in (False, True):
            if master and dtype == torch.float32:
                continue
            for sizes in (SIZES, SIZES * 5, (1,)):
                for arguments, known in (
                    ({}, {"lr": HYPER["lr"]}),
                    ({"maximize": True}, {"lr": HYPER["lr"], "maximize": True}),
                    (
                        {
                            "lr": number(1e-2),
                            "grad_scale": number(8.0),
                            "found_inf": number(0.0),
                            "clip_factor": number(0.5),
                        },
                        {"lr": 1e-2, "scale": 8.0, "clip": 0.5},
                    ),
                    ({"lr": torch.tensor(1e-2, dtype=torch.float64)}, {"lr": 1e-2}),
                ):
                    lists = Lists(sizes, dtype, device, master)
                    expected = [reference(lists, i, **known) for i in range(len(sizes))]
                    lists.call(**arguments)
                    check(lists, expected, (dtype, master, len(sizes), known))


def test_betas_near_one(device):
    """1 - beta has the digits of float64: moments that start from nothing show it."""
    for beta1, beta2 in ((0.9, 0.99), (0.9, 0.999), (0.99, 0.99999), (0.9999, 0.999999), (0, 0)):
        lists = Lists((1025,), torch.float32, device, step=0.0)
        for tensor in (*lists.exp_avgs, *lists.exp_avg_sqs):
            tensor.zero_()
        exp_avg = exp_avg_sq = 0
        for step in range(1, 101):
            lists.grads = [normal(1025, dtype=torch.float32, device=device, seed=step)]
            grad = lists.grads[0].double()
            exp_avg = beta1 * exp_avg + (1 - beta1) * grad
            exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * grad * grad
            lists.steps[0] += 1
            lists.call(beta1=beta1, beta2=beta2)
            if step in (1, 100):
                case, least = (beta1, beta2, step), {"atol": 1e-6 if step > 1 else 0, "rtol": 5e-6}
                found = lists.exp_avgs[0].double()
                torch.testing.assert_close(found, exp_avg, **least, msg=lambda text: f"{case} {text}")
                least["atol"] = 0
                found = lists.exp_avg_sqs[0].double()
                torch.testing.assert_close(
                    found, exp_avg_sq, **least, msg=lambda text: f"{case} {text}"
                )


def test_found_inf_writes_nothing(device):
    for dtype in DTYPES:
        lists = Lists(SIZES, dtype, device, dtype != torch.float32)
        before = copy.deepcopy(lists.tensors())
        for found in (1.0, 2.0):
            scale, inf = torch.tensor(2.0, device=device), torch.tensor(found, device=device)
            lists.call(grad_scale=scale, found_inf=inf)
            assert all(map(torch.equal, before, lists.tensors()))


def test_tensors_in_any_order_of_dimensions(device):
    def channels_last(seed):
        x = normal(2, 3, 5, 7, dtype=torch.float32, device=device, seed=seed)
        return x.to(memory_format=torch.channels_last)

    lists = Lists((1,), torch.float32, device)
    lists.params = [channels_last(0)]
    lists.grads = [channels_last(1)]
    lists.exp_avgs = [channels_last(2)]
    lists.exp_avg_sqs = [channels_last(3).abs() + 0.1]
    expected = [reference(lists, 0, HYPER["lr"])]
    lists.call()
    check(lists, expected, "channels_last")


def test_same_bits_each_run(device):
    first = Lists(SIZES, torch.bfloat16, device, master=True)
    again = copy.deepcopy(first)
    first.call()
    again.call()
    assert all(map(torch.equal, first.tensors(), again.tensors()))


def parameters(dtype, device, sizes=SIZES):
    return [
        torch.nn.Parameter(normal(size, dtype=dtype, device=device, seed=i))
        for i, size in enumerate(sizes)
    ]


def set_grads(params, step, dtype=None):
    """The same numbers for every list of these shapes; rounded to dtype, whatever theirs is."""
    numbers = normal(sum(map(torch.numel, params)), dtype=torch.float32, device="cpu", seed=step)
    grads = numbers.split([param.numel() for param in params])
    for param, grad in zip(params, grads):
        param.grad = grad.to(dtype or param.dtype).to(param.dtype).to(param.device)


def compare_parameters(ours, theirs, **tolerance):
    for a, b in zip(ours, theirs):
        torch.testing.assert_close(a.float(), b.float(), **tolerance)


def test_hundred_steps_of_torch(device):
    options = {"lr": 1e-2, "betas": (0.8, 0.99), "weight_decay": 0.1}
    for dtype in DTYPES:
        for maximize in (False, True):
            # torch's moments have the parameters' dtype: what it does in float32 is the measure,
            # from parameters and with gradients that are the same numbers.
            ours = parameters(dtype, device, (0, 1, 7, 255, 1025))
            theirs = [torch.nn.Parameter(param.detach().float()) for param in ours]
            mine = AdamW(ours, maximize=maximize, **options)
            torchs = torch.optim.AdamW(theirs, maximize=maximize, fused=True, **options)
            for step in range(100):
                set_grads(ours, step)
                set_grads(theirs, step, dtype)
                mine.step()
                torchs.step()
            if dtype == torch.float32:
                compare_parameters(ours, theirs, rtol=2e-5, atol=2e-5)
                continue
            masters = [mine.state[param]["master_param"] for param in ours]
            compare_parameters(masters, theirs, rtol=2e-5, atol=2e-5)
            for param, master in zip(ours, masters):
                assert torch.equal(param, master.to(dtype))


def test_sixteen_bits_without_masters(device):
    for dtype in (torch.float16, torch.bfloat16):
        ours, theirs = parameters(dtype, device), parameters(dtype, device)
        mine = AdamW(ours, lr=1e-2, eps=1e-3, master_weights=False)
        torchs = torch.optim.AdamW(theirs, lr=1e-2, eps=1e-3)
        for step in range(10):
            set_grads(ours, step)
            set_grads(theirs, step)
            mine.step()
            torchs.step()
        assert all("master_param" not in state for state in mine.state.values())
        compare_parameters(ours, theirs, rtol=0.05, atol=0.05)


def test_groups_and_missing_gradients(device):
    def both(make):
        first, second = parameters(torch.float32, device), parameters(torch.float32, device)
        groups = [{"params": first[:4], "lr": 1e-1}, {"params": first[4:], "weight_decay": 0.5}]
        extra = parameters(torch.float32, device, (40,))
        optimizer = make(groups, lr=1e-2)
        optimizer.add_param_group({"params": extra})
        return first + extra, optimizer

    ours, mine = both(AdamW)
    theirs, torchs = both(torch.optim.AdamW)
    for step in range(6):
        for params in (ours, theirs):
            set_grads(params, step)
            # Another set each time: those with a step fewer have another bias correction.
            params[step].grad = None
            params[-1].grad = None if step < 2 else params[-1].grad
        mine.step()
        torchs.step()
    compare_parameters(ours, theirs, rtol=2e-5, atol=1e-5)
    for a, b in zip(ours, theirs):
        assert mine.state[a]["step"].item() == torchs.state[b]["step"].item()


def test_group_of_several_dtypes(device):
    def both():
        return [param for dtype in DTYPES for param in parameters(dtype, device, (5, 2000))]

    ours, one_by_one = both(), both()
    mine = AdamW(ours)
    others = [AdamW([param]) for param in one_by_one]
    for step in range(3):
        set_grads(ours, step)
        set_grads(one_by_one, step)
        mine.step()
        for other in others:
            other.step()
    for a, b in zip(ours, one_by_one):
        assert torch.equal(a, b)


def test_sees_what_moved(device):
    ours, theirs = parameters(torch.float32, device), parameters(torch.float32, device)
    mine, torchs = AdamW(ours), torch.optim.AdamW(theirs, foreach=False)
    # Gradients that stay where they are, or they would be what moved; and all memory is kept, or
    # what moves could come to where it was.
    kept = [torch.zeros_like(param) for param in ours]
    for step in range(8):
        set_grads(ours, step)
        set_grads(theirs, step)
        for param, grad in zip(ours, kept):
            param.grad = grad.copy_(param.grad)
        kept += [param.detach() for param in ours]
        kept += [state["exp_avg"].detach() for state in mine.state.values()]
        if step == 3:
            for param in ours:
                param.data = param.data.clone()
        if step == 5:
            for state in mine.state.values():
                state["exp_avg"].data = state["exp_avg"] * 2
            for state in torchs.state.values():
                state["exp_avg"].mul_(2)
        if step == 6:
            for optimizer, params in ((mine, ours), (torchs, theirs)):
                optimizer.state.clear()
        mine.step()
        torchs.step()
    compare_parameters(ours, theirs, rtol=2e-5, atol=1e-5)


def test_follows_a_state_that_was_moved(device):
    """As programs do that need the memory between steps: all tensors of a state are replaced."""

    def to(place):
        for state in optimizers[0].state.values():
            for name, value in state.items():
                state[name] = value.to(place, copy=True)

    for dtype in (torch.float32, torch.bfloat16):
        ours, kept = parameters(dtype, device), parameters(dtype, device)
        optimizers = [AdamW(params) for params in (ours, kept)]
        for step in range(5):
            for params, optimizer in zip((ours, kept), optimizers):
                set_grads(params, step)
                optimizer.step()
            if step in (1, 3):
                to("cpu")
            if step == 1:  # or a step brings it back
                to(device)
            if step == 2:
                for param, state in list(optimizers[0].state.items()):
                    optimizers[0].state[param] = {name: value.clone() for name, value in state.items()}
        for a, b in zip(ours, kept):
            assert torch.equal(a, b)
            for name, value in optimizers[1].state[b].items():
                found = optimizers[0].state[a][name]
                assert found.device == value.device and torch.equal(found, value), (dtype, name)


def test_follows_replaced_states_of_parameters_without_gradients(device):
    """In the order of files, which is not these parameters'; the second takes no part in the next step."""
    values = normal(4, 3, 5, 5, dtype=torch.float32, device=device).to(memory_format=torch.channels_last)
    results = []
    for is_replaced in (False, True):
        params = [torch.nn.Parameter(values.clone()) for _ in range(2)]
        optimizer = AdamW(params)
        for step in range(3):
            for index, param in enumerate(params):
                param.grad = None if (step, index) == (1, 1) else values + step
            optimizer.step()
            if is_replaced and step == 0:
                for state in optimizer.state.values():
                    state.update({name: value.contiguous() for name, value in state.items()})
        results.append(params)
    assert all(map(torch.equal, *results))


def test_follows_another_dtype(device):
    """module.half() between two steps: parameters of 16 bits have masters from then on, float32
    ones have none; as if the state_dict had been loaded into an optimizer of the new ones."""
    for dtypes in (
        (torch.float32, torch.float16),
        (torch.bfloat16, torch.float32),
        (torch.float16, torch.bfloat16),
    ):
        for some in (slice(None), slice(1, 2)):
            params = parameters(dtypes[0], device)
            optimizer = AdamW(params, lr=1e-2)
            for step in range(2):
                set_grads(params, step)
                optimizer.step()
            for param in params[some]:
                param.data = param.data.to(dtypes[1])
            again = [param.detach().clone().requires_grad_() for param in params]
            other = AdamW(again, lr=1e-2)
            other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
            set_grads(params, 2)
            set_grads(again, 2)
            optimizer.step()
            other.step()
            for a, b in zip(params, again):
                state = optimizer.state[a]
                assert torch.equal(a, b)
                assert ("master_param" in state) == (a.dtype != torch.float32)
                assert state["step"] == 3


def test_keeps_no_gradient_alive(device):
    params = parameters(torch.float32, device)
    optimizer = AdamW(params)
    set_grads(params, 0)
    optimizer.step()
    import weakref

    grads = [weakref.ref(param.grad) for param in params]
    optimizer.zero_grad()
    gc.collect()
    assert all(grad() is None for grad in grads)


def test_parameters_know_that_they_changed(device):
    param = parameters(torch.float32, device, (3,))[0]
    optimizer = AdamW([param])
    loss = (param * param).sum()
    param.grad = torch.ones_like(param)
    optimizer.step()
    assert "modified by an inplace operation" in refusal(loss.backward)


def continued(device, dtype, first, second, steps=5):
    """Steps by one optimizer, then, with its state_dict, as many by another kind."""
    params = parameters(dtype, device)
    optimizer = first(params)
    for step in range(steps):
        set_grads(params, step)
        optimizer.step()
    loaded = second(params)
    loaded.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for step in range(steps, 2 * steps):
        set_grads(params, step)
        loaded.step()
    return params, loaded


def test_state_dict_both_ways(device):
    def torchs(params):
        return torch.optim.AdamW(params, lr=2e-3)

    def torchs_fused(params):
        return torch.optim.AdamW(params, lr=2e-3, fused=True)

    def mine(params):
        return AdamW(params, lr=2e-3)

    expected, _ = continued(device, torch.float32, torchs, torchs)
    for first, second in ((torchs, mine), (mine, torchs), (torchs_fused, mine), (mine, mine)):
        found, loaded = continued(device, torch.float32, first, second)
        compare_parameters(found, expected, rtol=2e-5, atol=1e-5)
        for param in found:
            state = loaded.state[param]
            assert state["step"].item() == 10 and set(state) == {"step", "exp_avg", "exp_avg_sq"}
    # The same bits as without a save and a load, for 16-bit parameters too.
    for dtype in (torch.float16, torch.bfloat16):
        for found in (continued(device, dtype, mine, mine)[0],):
            params = parameters(dtype, device)
            optimizer = mine(params)
            for step in range(10):
                set_grads(params, step)
                optimizer.step()
            assert all(map(torch.equal, found, params))
        found, loaded = continued(device, dtype, torchs, mine)
        for param in found:
            state = loaded.state[param]
            for name in ("exp_avg", "exp_avg_sq", "master_param"):
                assert state[name].dtype == torch.float32 and state[name].shape == param.shape
        continued(device, dtype, mine, torchs)


def test_parameters_that_others_stepped(device):
    """torch's AdamW keeps a master_param and steps the parameter: that is what counts afterwards."""
    for dtype in (torch.float16, torch.bfloat16):
        params = parameters(dtype, device)
        optimizer = AdamW(params, lr=1e-2)
        for kind in (AdamW, torch.optim.AdamW, AdamW):
            state_dict = copy.deepcopy(optimizer.state_dict())
            optimizer = kind(params, lr=1e-2)
            if state_dict["state"]:
                optimizer.load_state_dict(state_dict)
            before = [param.detach().clone() for param in params]
            for step in range(5):
                set_grads(params, step)
                optimizer.step()
                if step > 0:
                    continue
                for param, old in zip(params, before):
                    # A step is lr at most, but for rounding and for the moments of other steps.
                    assert ((param.float() - old.float()).abs() <= 0.04 + 0.01 * old.abs()).all()
        # What others write, with masters kept: elsewhere the same bits as before.
        param, master = params[-1], optimizer.state[params[-1]]["master_param"].clone()
        with torch.no_grad():
            param[:10] = 7.0
        optimizer.load_state_dict(optimizer.state_dict())
        param.grad = torch.zeros_like(param)
        optimizer.param_groups[0]["lr"] = 0.0
        optimizer.step()
        found = optimizer.state[param]["master_param"]
        assert (found[:10] == 7.0).all() and torch.equal(found[10:], master[10:])


def test_gradients_in_another_order(device):
    def both(make):
        params = [
            torch.nn.Parameter(normal(2, 3, 4, 4, dtype=torch.float32, device=device)),
            torch.nn.Parameter(normal(6, 5, dtype=torch.float32, device=device)),
            torch.nn.Parameter(normal(3, 8, dtype=torch.float32, device=device)),
        ]
        params[0].data = params[0].data.to(memory_format=torch.channels_last)
        return params, make(params, lr=1e-2)

    ours, mine = both(AdamW)
    theirs, torchs = both(lambda params, lr: torch.optim.AdamW(params, lr=lr, foreach=False))
    for step in range(4):
        for params in (ours, theirs):
            numbers = [normal(96, dtype=torch.float32, device=device, seed=step) for _ in range(3)]
            params[0].grad = numbers[0].view(2, 3, 4, 4)
            params[1].grad = numbers[1][:30].view(5, 6).t()
            params[2].grad = numbers[2][:8].expand(3, 8)
        before = [param.grad.clone() for param in ours]
        mine.step()
        torchs.step()
        assert all(torch.equal(param.grad, grad) for param, grad in zip(ours, before))
    compare_parameters(ours, theirs, rtol=2e-5, atol=1e-5)
    # A scale: gradients are divided, as those of the right order are.
    mine.grad_scale = torch.full((), 2.0, device=device)
    before = [param.grad.clone() for param in ours]
    mine.step()
    for param, grad in zip(ours, before):
        assert torch.equal(param.grad, grad / 2)


def test_a_step_is_refused_as_a_whole(device):
    def groups():
        first, second = parameters(torch.float32, device), parameters(torch.float32, device)
        optimizer = AdamW([{"params": first}, {"params": second}], lr=1e-2)
        set_grads(first + second, 0)
        return first, second, optimizer

    def sparse(second, group):
        second[3].grad = second[3].grad.to_sparse()

    def double(second, group):
        second[3].data = second[3].data.double()
        second[3].grad = None
        second[3].grad = torch.ones_like(second[3])

    def gaps(second, group):
        second[3].data = second[3].data.new_zeros(2 * second[3].numel())[::2]

    def change(name, value):
        return lambda second, group: group.update({name: value})

    nan, infinity = float("nan"), float("inf")
    # A number on a GPU isn't waited for.
    on_cpu = [(change("lr", torch.tensor(nan)), "for lr, found nan.")] if device == "cpu" else []
    for wrong, part in (
        *on_cpu,
        (sparse, "found a sparse one"),
        (double, "found Double"),
        (gaps, "without gaps"),
        (change("lr", nan), "for lr, found nan."),
        (change("lr", -1.0), "for lr, found -1."),
        (change("lr", infinity), "for lr, found inf."),
        (change("lr", 1e39), "for lr, found 1e+39."),
        (change("eps", nan), "for eps, found nan."),
        (change("weight_decay", infinity), "for weight_decay, found inf."),
        (change("betas", (0.9, 1.0)), "for beta2, found 1."),
        (change("betas", (nan, 0.9)), "for beta1, found nan."),
        (change("lr", torch.ones(2, device=device)), "for lr, found Float of shape [2]."),
    ):
        for steps_before in (0, 1):
            first, second, optimizer = groups()
            for _ in range(steps_before):
                optimizer.step()
            before = [param.detach().clone() for param in first]
            wrong(second, optimizer.param_groups[1])
            for _ in range(2):
                assert part in refusal(optimizer.step), refusal(optimizer.step)
                assert all(map(torch.equal, first, before)), part
            for param in first:
                assert optimizer.state[param]["step"].item() == steps_before


def test_hooks_see_the_state_dict(device):
    params = parameters(torch.bfloat16, device, (8,))
    optimizer = AdamW(params)
    set_grads(params, 0)
    optimizer.step()
    saved = copy.deepcopy(optimizer.state_dict())

    def doubled(optimizer, state_dict):
        state_dict["state"][0]["exp_avg"] = state_dict["state"][0]["exp_avg"] * 2
        return state_dict

    other = AdamW(params)
    other.register_load_state_dict_pre_hook(doubled)
    wanted = saved["state"][0]["exp_avg"] * 2
    other.load_state_dict(saved)
    assert torch.equal(other.state[params[0]]["exp_avg"], wanted)
    assert copy.deepcopy(other).state_dict()["state"][0]["exp_avg"].dtype == torch.float32


def test_grad_scaler(device):
    scaler = torch.amp.GradScaler(device, init_scale=4.0, growth_interval=100)
    ours, theirs = parameters(torch.float32, device), parameters(torch.float32, device)
    mine, torchs = AdamW(ours), torch.optim.AdamW(theirs, foreach=False)
    scaler.scale(torch.ones((), device=device))  # makes its tensors
    for step in range(4):
        set_grads(ours, step)
        if step == 2:
            ours[5].grad[3] = float("inf")
        else:
            set_grads(theirs, step)
            torchs.step()
        for param in ours:
            param.grad *= scaler.get_scale()
        scaler.step(mine)
        scaler.update()
    compare_parameters(ours, theirs, rtol=2e-5, atol=1e-5)
    assert mine.state[ours[0]]["step"].item() == 3
    assert not hasattr(mine, "grad_scale")


def test_clip_factor(device):
    ours, theirs = parameters(torch.float32, device), parameters(torch.float32, device)
    mine, torchs = AdamW(ours), torch.optim.AdamW(theirs, foreach=False)
    for step in range(3):
        set_grads(ours, step)
        set_grads(theirs, step)
        norm = torch.nn.utils.get_total_norm([param.grad for param in ours])
        before = [param.grad.clone() for param in ours]
        mine.step(clip_factor=(1.0 / (norm + 1e-6)).clamp(max=1.0))
        assert all(torch.equal(param.grad, grad) for param, grad in zip(ours, before))
        torch.nn.utils.clip_grad_norm_(theirs, 1.0)
        torchs.step()
    compare_parameters(ours, theirs, rtol=2e-5, atol=1e-5)


def test_closure_scheduler_and_tensor_lr(device):
    ours, theirs = parameters(torch.float32, device), parameters(torch.float32, device)
    lr = torch.tensor(1e-2, device=device)
    mine, torchs = AdamW(ours, lr=lr), torch.optim.AdamW(theirs, lr=1e-2, foreach=False)
    for optimizer, params in ((mine, ours), (torchs, theirs)):
        scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 0.5, 1.0, 4)

        def closure():
            optimizer.zero_grad()
            loss = sum((param.square() * 3).sum() for param in params)
            loss.backward()
            return loss

        for _ in range(4):
            assert optimizer.step(closure).item() > 0
            scheduler.step()
    compare_parameters(ours, theirs, rtol=2e-5, atol=1e-5)


def test_graph(device):
    if device != "cuda":
        return
    ours, theirs = parameters(torch.bfloat16, device), parameters(torch.bfloat16, device)
    mine, same = AdamW(ours), AdamW(theirs)
    for optimizer, params in ((mine, ours), (same, theirs)):
        set_grads(params, 0)
        optimizer.step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        mine.step()
    for step in range(1, 4):
        for a, b in zip(ours, theirs):
            grad = normal(*a.shape, dtype=a.dtype, device=device, seed=step)
            a.grad.copy_(grad)
            b.grad = grad
        graph.replay()
        same.step()
    assert all(map(torch.equal, ours, theirs))
    assert mine.state[ours[0]]["step"].item() == 4


def test_refuses_in_one_sentence(device):
    def refused(change, **arguments):
        lists = Lists((4, 6), torch.float16, device, master=True)
        change(lists)
        before = copy.deepcopy(lists.tensors())
        sentence = refusal(lambda: lists.call(**arguments))
        assert all(map(torch.equal, before, lists.tensors())), "written all the same"
        return sentence

    def put(name, index, tensor):
        def change(lists):
            getattr(lists, name)[index] = tensor(getattr(lists, name)[index])

        return change

    def share(lists):
        lists.exp_avgs[1] = lists.exp_avg_sqs[1]

    flat = torch.zeros(16, device=device)
    for change, arguments, sentence in (
        (lambda x: x.grads.pop(), {}, "wanted 2 tensors in grads, as in self, found 1."),
        (
            lambda x: x.masters.pop(),
            {},
            "wanted 2 tensors in master_params, as in self, found 1.",
        ),
        (
            put("params", 1, lambda t: t.bfloat16()),
            {},
            "wanted dtype Half for self[1], as self[0] has, found BFloat16.",
        ),
        (
            put("grads", 1, lambda t: t.float()),
            {},
            "wanted dtype Half for grads[1], as self[1] has, found Float.",
        ),
        (
            put("exp_avgs", 0, lambda t: t.half()),
            {},
            "wanted float32 (Float) for exp_avgs[0], found Half.",
        ),
        (
            put("exp_avg_sqs", 1, lambda t: t[:5].clone()),
            {},
            "wanted shape [6] for exp_avg_sqs[1], as self[1] has, found [5].",
        ),
        (
            put("grads", 1, lambda t: t.new_zeros(12)[::2]),
            {},
            "wanted strides [1] for grads[1], as self[1] has, found [2].",
        ),
        (
            put("params", 1, lambda t: t.new_zeros(12)[::2]),
            {},
            "wanted self[1] without gaps, found shape [6] with strides [2].",
        ),
        (
            put("steps", 1, lambda t: t.double()),
            {},
            "wanted one float32 (Float) number for state_steps[1], "
            "found Double of shape [].",
        ),
        (
            share,
            {},
            "wanted tensors that don't share memory, found that exp_avgs[1] and exp_avg_sqs[1] do.",
        ),
        (
            lambda x: None,
            {"amsgrad": True},
            "wanted amsgrad False and no max_exp_avg_sqs, found True and 0 tensors.",
        ),
        (
            lambda x: None,
            {"clip_factor": flat},
            "wanted one float32 (Float) number for clip_factor, found Float of shape [16].",
        ),
        *(
            (lambda x: None, {name: value}, f"wanted {wanted} for {name}, found {value:g}.")
            for name, values, wanted in (
                ("lr", (-1.0, float("nan"), INFINITY), "a finite float32 number from 0 on"),
                ("eps", (-1.0, float("nan"), 1e39), "a finite float32 number from 0 on"),
                ("weight_decay", (-1.0, INFINITY), "a finite float32 number from 0 on"),
                ("beta1", (-0.1, 1.0, float("nan")), "a number from 0 to below 1"),
                ("beta2", (-0.1, 1.0, float("nan")), "a number from 0 to below 1"),
            )
            for value in values
        ),
    ):
        try:
            found = refused(change, **arguments)
        except AssertionError as error:
            raise AssertionError(f"{error}: {sentence}") from error
        # Which of two that share memory comes first is theirs.
        swapped = sentence.replace(
            "exp_avgs[1] and exp_avg_sqs[1]", "exp_avg_sqs[1] and exp_avgs[1]"
        )
        assert found in (f"adamw_: {sentence}", f"adamw_: {swapped}"), found
    for name in ("lr", "clip_factor", "grad_scale", "found_inf"):
        for of in ("params", "grads", "exp_avgs", "exp_avg_sqs"):
            lists = Lists((4, 6), torch.float32, device)
            # By its name: torch makes a number of a tensor for lr where it can.
            op = ops.adamw_.tensor_lr if name == "lr" else ops.adamw_
            sentence = refusal(lambda: lists.call(op, **{name: getattr(lists, of)[1][2].abs_()}))
            listed = "self" if of == "params" else of
            assert sentence == (
                f"adamw_: wanted tensors that don't share memory, found that {name} and "
                f"{listed}[1] do."
            )
    if device == "cuda":
        assert refused(lambda x: None, grad_scale=torch.ones(())) == (
            "adamw_: wanted device cuda:0 for grad_scale, as self[0] has, found cpu."
        )
    lists = Lists((4,), torch.float32, device)
    lists.masters = [flat[:4]]
    assert refusal(lists.call) == (
        "adamw_: wanted no master_params, as self has dtype Float, found 1."
    )
    no_list = (123456, [flat], 0.1, None, 0.9, 0.99, 0.0, 1e-8, False, None, None, None)
    assert refusal(lambda: ops._adamw_prepared_step(*no_list)) == (
        "adamw_: wanted a prepared list, found the number 123456."
    )


def test_optimizer_refuses_in_one_sentence(device):
    param = parameters(torch.float32, device, (3,))

    def error(**arguments):
        try:
            AdamW(param, **arguments)
        except ValueError as refused:
            return str(refused)
        raise AssertionError("not refused")

    for arguments, sentence in (
        ({"amsgrad": True}, "AdamW: wanted amsgrad=False, found True."),
        ({"foreach": True}, "AdamW: wanted foreach=False, found True."),
        ({"fused": False}, "AdamW: wanted fused=True, found False."),
        ({"differentiable": True}, "AdamW: wanted differentiable=False, found True."),
        ({"lr": -1.0}, "AdamW: wanted a finite float32 number from 0 on for lr, found -1.0."),
        ({"lr": INFINITY}, "AdamW: wanted a finite float32 number from 0 on for lr, found inf."),
        ({"eps": 1e39}, "AdamW: wanted a finite float32 number from 0 on for eps, found 1e+39."),
        (
            {"lr": torch.ones((), device="meta")},
            "AdamW: wanted lr on a device that holds numbers, found meta.",
        ),
        (
            {"lr": torch.ones((), dtype=torch.half)},
            "AdamW: wanted float32 for lr, found torch.float16.",
        ),
        ({"betas": (1.0, 0.9)}, "AdamW: wanted betas[0] from 0 to below 1, found 1.0."),
        ({"weight_decay": -0.1}, "AdamW: wanted a finite float32 number from 0 on for weight_decay, found -0.1.",
       ),
    ):
        assert error(**arguments) == sentence, error(**arguments)
    amsgrad = torch.optim.AdamW(param, amsgrad=True).state_dict()
    optimizer = AdamW(param)
    try:
        optimizer.load_state_dict(amsgrad)
    except ValueError as refused:
        assert "wanted amsgrad=False, found True in the state_dict's" in str(refused)
    else:
        raise AssertionError("not refused")
    # What is refused at a step leaves the optimizer as it was.
    clip_factor = torch.ones(2, device=device)
    param[0].grad = torch.zeros(3, device=device)
    assert refusal(lambda: optimizer.step(clip_factor=clip_factor)) == (
        "adamw_: wanted one float32 (Float) number for clip_factor, found Float of shape [2]."
    )
    assert optimizer.state[param[0]]["step"].item() == 0
    param[0].grad = torch.ones(3, device=device)
    optimizer.step()
    assert optimizer.state[param[0]]["step"].item() == 1


def test_opcheck(device):
    for dtype in DTYPES:
        lists = Lists((3, 40), dtype, device, dtype != torch.float32)
        arguments = (
            lists.params,
            lists.grads,
            lists.exp_avgs,
            lists.exp_avg_sqs,
            [],
            lists.steps,
            lists.masters,
        )
        number = torch.ones((), device=device)
        torch.library.opcheck(ops.adamw_.default, arguments, {**HYPER, **FLAGS})
        torch.library.opcheck(
            ops.adamw_.tensor_lr,
            arguments,
            {**HYPER, **FLAGS, "lr": number, "grad_scale": number, "clip_factor": number},
        )


def test_a_group_has_master_weights_where_it_is_not_the_default(device):
    for constructed, option, has_masters in (
        (True, None, True),
        (True, False, False),
        (False, None, False),
        (False, True, True),
    ):
        param = torch.nn.Parameter(normal(8, dtype=torch.bfloat16, device=device))
        group = {"params": [param]} if option is None else {"params": [param], "master_weights": option}
        optimizer = AdamW([group], master_weights=constructed)
        for optimizer in (optimizer, copy.deepcopy(optimizer)):
            (group,) = optimizer.param_groups
            assert ("master_weights" in group) == (not constructed or option is False)
            (param,) = group["params"]
            param.grad = torch.ones_like(param)
            optimizer.step()
            assert ("master_param" in optimizer.state[param]) == has_masters


def test_parameters_of_several_tensors_are_refused(device):
    from torch.testing._internal.two_tensor import TwoTensor

    param = torch.nn.Parameter(TwoTensor(torch.ones(4, device=device), torch.ones(4, device=device)))
    param.grad = torch.ones_like(param)
    assert "one tensor each, found TwoTensor of a and b" in refusal(AdamW([param]).step)


def test_loading_lets_go_of_parameters(device):
    param, other = (
        torch.nn.Parameter(torch.full((4,), value, device=device)) for value in (1.0, 5.0)
    )
    optimizer = AdamW([param], lr=1.0, weight_decay=0.0)
    param.grad = torch.ones_like(param)
    optimizer.step()
    assert "references" in refusal(lambda: torch.utils.swap_tensors(param, other))
    optimizer.load_state_dict(optimizer.state_dict())
    torch.utils.swap_tensors(param, other)
    param.grad = torch.ones_like(param)
    optimizer.step()
    torch.testing.assert_close(param.detach(), torch.full_like(param, 4.0))


if __name__ == "__main__":
    main(globals())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reference kernels beside torch eager, torch.compile (its default and max-autotune) and the
packages of rival_ops.PACKAGES that are installed: one process, one GPU, the same tensors, forward
and backward. "missing" names the packages that could not be had, and why.

    bench/kernels/rivals.py --library build/gpu/kernels/libcudaops_kernels.so --out bench/results

What is timed is what the GPU does, as cudaops/benchmark.h does it: the median over samples of the
time between two events, the stream held back while a batch is enqueued, inputs and outputs rotating
through sets that together exceed the L2 cache. The samples of all ways of doing an op take turns.
"host_us" is the CPU's time to enqueue a call meanwhile, the least of the batches' means: the GPU
isn't waited for. Nothing is timed whose result differs from the one in float64. The figures go into
<out>/<device>.json as "rivals", beside those of runs with other --sizes; without --out they are
printed only. Each op has a process of its own and --seconds for all of it; with --jobs as many at
once: they compile and check side by side, and are timed one at a time, nothing else running. Interrupted
(Ctrl-C, SIGTERM), it saves the cases measured so far. The exit code is 1 where an op of ours failed.

Measured on a CPU (--device cpu) the figures say nothing; --quick checks the table of ops there.
"""

import argparse
import concurrent.futures
import contextlib
import copy
import fcntl
import functools
import gc
import itertools
import json
import math
import os
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import kernels_package
import result_file

OURS = "cudaops"
MAX_AUTOTUNE = "max-autotune-no-cudagraphs"
SIZES = ("small", "medium", "large", "awkward", "more", "few", "few_more")
USUAL_SIZES = "small,medium,large,awkward"
# As in cudaops/benchmark.h; what torch enqueues for a call may be a dozen kernels, so fewer calls.
SAMPLES = 31
BATCH_S = 2e-3
MOST_CALLS = 50
WARM_UP_S = 0.02
MOST_TRIES = 3  # to enqueue a batch while the device is held
CACHES_BETWEEN_USES = 4
MOST_SETS = 200

# Of a whole result: the error's norm relative to the result's, and the largest error relative to
# the largest element. The tests hold ours to more; here 16-bit results of several ops are let pass.
TOLERANCES = {"float": (2e-5, 2e-4), "Float16": (4e-3, 2e-2), "BFloat16": (2e-2, 8e-2)}


class Failed(Exception):
    """One way of doing an op can't be measured; the text says why."""


def parser():
    result = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kernels_package.add_argument(result)
    result.add_argument("--ops", help="some of the table in rival_ops.py, as rms_norm,swiglu")
    result.add_argument("--out", help="the directory of <device>.json")
    result.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    result.add_argument(
        "--sizes",
        default=USUAL_SIZES,
        help=f"some of {','.join(SIZES)} (default: all but the last three)",
    )
    result.add_argument("--dtypes", help="of the table's only some of BFloat16,Float16,float")
    result.add_argument("--seconds", type=float, default=300, help="for one op, waiting for turns too (default: 300)")
    result.add_argument(
        "--jobs", type=int, default=1, help="processes at once; each needs memory for its tensors (default: 1)"
    )
    result.add_argument(
        "--compile-seconds", type=int, default=90, help="for one torch.compile (default: 90)"
    )
    result.add_argument("--quick", action="store_true", help="tiny shapes, no compiled code")
    result_file.add_commit_argument(result)
    result.add_argument("--child", help=argparse.SUPPRESS)  # one op, in a process of its own
    result.add_argument("--part", help=argparse.SUPPRESS)  # where it writes
    # Of an op's cases those whose number leaves the remainder share, divided by shares.
    result.add_argument("--share", type=int, default=0, help=argparse.SUPPRESS)
    result.add_argument("--shares", type=int, default=1, help=argparse.SUPPRESS)
    result.add_argument("--turns", help=argparse.SUPPRESS)  # the file that Turns locks
    return result


def load_table(library):
    """rival_ops, with the ops registered."""
    kernels_package.load(library)
    import rival_ops

    return rival_ops


# ---- one process, one op ----


class Turns:
    """Of processes that share a GPU any number prepare at once, or one is timed alone, by locks on two files. Who
    waits to be timed comes before who begins to prepare, or they would do it one after the other. path None: one
    process, no locks."""

    def __init__(self, path):
        self.path = path

    @contextlib.contextmanager
    def _locked(self, name, kind):
        if not self.path:
            yield
            return
        with open(f"{self.path}.{name}", "w") as file:
            fcntl.flock(file, kind)
            yield

    @contextlib.contextmanager
    def preparing(self):
        with contextlib.ExitStack() as stack:
            with self._locked("waiting", fcntl.LOCK_EX):  # once nobody waits to be timed
                stack.enter_context(self._locked("used", fcntl.LOCK_SH))
            yield

    @contextlib.contextmanager
    def alone(self):
        with self._locked("waiting", fcntl.LOCK_SH), self._locked("used", fcntl.LOCK_EX):
            yield


class Clock:
    """Times calls of a device as cudaops::benchmark::measure() does."""

    def __init__(self, device, quick):
        import torch

        self.torch = torch
        self.cuda = device == "cuda"
        self.samples = 1 if quick else SAMPLES if self.cuda else 3
        self.l2_bytes = 0
        if self.cuda:
            self.l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
            self.flush = torch.empty(2 * self.l2_bytes, dtype=torch.uint8, device=device)
            torch.cuda._sleep(int(4e8))  # or its clock would be that of an idle device
            self.cycles_per_s = 1e7 / self._seconds(lambda: torch.cuda._sleep(int(1e7)))

    def num_sets(self, num_bytes):
        wanted = math.ceil(CACHES_BETWEEN_USES * self.l2_bytes / max(num_bytes, 1))
        return min(max(wanted, 1), MOST_SETS)

    def _seconds(self, call):
        start, stop = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) / 1e3

    def batch(self, way, num_calls, flush):
        """Seconds a call."""

        def calls():
            begin = time.perf_counter()
            for _ in range(num_calls):
                way.call()
            self.enqueued_at = time.perf_counter()
            took = (self.enqueued_at - begin) / num_calls
            # The least: who finds the stream full waits for the hold's end.
            way.host_s = min(way.host_s or took, took)
            return took

        if not self.cuda:
            return calls()
        # Long enough for all of the batch to be enqueued behind it.
        hold_s, least = 1.5 * way.host_s * num_calls + 1e-4, math.inf
        for _ in range(MOST_TRIES):
            hold_s = min(hold_s, 1.0)
            if flush:
                self.flush.zero_()
            self.torch.cuda._sleep(int(hold_s * self.cycles_per_s))
            begin = time.perf_counter()
            least = min(least, self._seconds(calls) / num_calls)
            if self.enqueued_at - begin <= hold_s:
                break
            # The device waited for a busy host within the batch, or the host for a full stream.
            hold_s = 2 * (self.enqueued_at - begin)
        return least

    def measure(self, ways, num_bytes):
        """name → seconds of each sample; ways: name → Way."""
        num_sets = self.num_sets(num_bytes)
        flush = num_bytes * num_sets < CACHES_BETWEEN_USES * self.l2_bytes
        num_calls = {}
        most = min(num_sets, MOST_CALLS) if flush else MOST_CALLS
        for name, way in ways.items():
            seconds = self.batch(way, 1, flush)
            end = time.perf_counter() + WARM_UP_S
            while self.cuda and time.perf_counter() < end:
                seconds = self.batch(way, 2, flush)
            num_calls[name] = min(max(math.ceil(BATCH_S / max(seconds, 1e-9)), 1), most)
            if not self.cuda:
                num_calls[name] = 1
        gc.collect()
        gc.disable()
        samples = {name: [] for name in ways}
        try:
            for _ in range(self.samples):
                for name, way in ways.items():
                    samples[name].append(self.batch(way, num_calls[name], flush))
        finally:
            gc.enable()
        return samples


class Way:
    """A function called on one set after the other. Results are kept until the set's next turn, so
    that outputs rotate as inputs do."""

    def __init__(self, function, sets):
        self.function, self.sets = function, sets
        self.held = [None] * len(sets)
        self.next = 0
        self.host_s = 0.0  # to enqueue a call, as far as it is known

    def call(self):
        at = self.next
        self.held[at] = self.function(*self.sets[at])
        self.next = (at + 1) % len(self.sets)


def within(seconds, call):
    """call(), ended after that time: a compiler may take long."""

    late = Failed(f"ran past {seconds} s")
    rung = []

    def ring(*_):
        rung.append(True)
        raise late

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        return call()
    except Exception:
        if rung:  # a compiler wraps what it catches into errors of its own
            raise late from None
        raise
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def reason(error):
    if isinstance(error, Failed):
        return f"failed: {error}"
    words = " ".join(str(error).split())
    return f"failed: {type(error).__name__}: {words}"[:300]


def tensors(result):
    return result if isinstance(result, (tuple, list)) else (result,)


def require_close(found, wanted, dtype):
    """found, wanted: tensors; wanted in float64, from the same rounded inputs."""
    relative, largest = TOLERANCES[dtype]
    for index, (a, b) in enumerate(zip(tensors(found), tensors(wanted), strict=True)):
        if a.shape != b.shape:
            raise Failed(f"result {index} has shape {list(a.shape)}, wanted {list(b.shape)}")
        b = b.double()  # of integers there is no norm
        error, size = a.double() - b, b.norm().item()
        norm, peak = error.norm().item(), error.abs().max().item()
        # A NaN fails both.
        if not (norm <= relative * size and peak <= largest * b.abs().max().item()):
            raise Failed(
                f"result {index} is wrong: relative error {norm / max(size, 1e-300):.2g}, "
                f"largest {peak:.2g}"
            )


class FunctionCases:
    """An Op of the table at one shape and dtype: what its passes are, checked and ready to time."""

    def __init__(self, name, op, shape, dtype, clock, options, table):
        import torch

        self.torch, self.op, self.options = torch, op, options
        self.dtype = table.element(dtype)
        sides = "".join(f"/{side}:{size}" for side, size in zip(op.sides, shape))
        self.label = lambda suffix: f"{name}{suffix}<{dtype}>{sides}"
        array_bytes = op.elements(shape) * table.DTYPES[self.dtype].itemsize
        self.forward_bytes = op.forward * array_bytes
        self.backward_bytes = op.backward and op.backward * array_bytes
        generator = torch.Generator(options.device).manual_seed(1)

        def new(*size):
            values = torch.randn(size, generator=generator, device=options.device)
            return values.to(table.DTYPES[self.dtype])

        first = op.inputs(shape, new)
        num_sets = clock.num_sets(min(filter(None, (self.forward_bytes, self.backward_bytes))))
        self.num_leaves = len(first) - op.constants
        self.sets = [tuple(map(self._leaf, first, range(len(first)))) for _ in range(num_sets)]
        torch._dynamo.reset()  # or the ninth shape would run uncompiled
        self.functions = {OURS: op.ours, "eager": op.torch, "compile": self._compiled(op.torch)}
        if not options.quick:
            self.functions["compile_max"] = self._compiled(op.torch, MAX_AUTOTUNE)
        modules, _ = table.modules(op.others)
        others = {other: entry for other, entry in op.others.items() if other in modules}
        for other, entry in others.items():
            self.functions[other] = functools.partial(entry.call, modules[other])
        self.writes = {other for other, entry in others.items() if entry.writes}
        self.without_backward = self.writes | {
            other for other, entry in others.items() if not entry.backward
        }

        # In float64, once: the reference of all.
        exact = [
            t.detach().double().requires_grad_(t.requires_grad) if t.is_floating_point() else t
            for t in self.sets[0]
        ]
        outputs = tensors(op.torch(*exact))
        self.wanted = [t.detach() for t in outputs]
        self.grads = self.wanted_grads = None
        if op.backward:
            self.grads = [new(*t.shape) for t in outputs]
            self.wanted_grads = torch.autograd.grad(
                outputs, self._leaves(exact), [g.double() for g in self.grads]
            )

    def _leaf(self, tensor, place):
        differentiable = self.op.backward and tensor.is_floating_point() and place < self.num_leaves
        return tensor.clone().requires_grad_(bool(differentiable))

    @staticmethod
    def _leaves(inputs):
        return [t for t in inputs if t.requires_grad]

    def _compiled(self, function, mode=None):
        if self.options.quick:
            return self.torch.compile(function, backend="eager", fullgraph=True, dynamic=False)
        return self.torch.compile(function, fullgraph=True, dynamic=False, mode=mode)

    def _sets_of(self, name, count):
        """The first sets; a copy where inputs are written over. What has no gradient isn't asked for one."""
        sets = self.sets[:count]
        if name in self.writes:
            return [tuple(t.detach().clone() for t in inputs) for inputs in sets]
        if name in self.without_backward:
            return [tuple(t.detach() for t in inputs) for inputs in sets]
        return sets

    def _gradients(self, outputs, inputs, grads):
        return self.torch.autograd.grad(outputs, inputs, grads, retain_graph=True)

    def _check(self, name):
        """Runs one way forward and backward on the first set, and compares."""
        outputs = tensors(self.functions[name](*self._sets_of(name, 1)[0]))
        require_close([t.detach() for t in outputs], self.wanted, self.dtype)
        if self.op.backward and name not in self.without_backward:
            found = self._gradients(outputs, self._leaves(self.sets[0]), self.grads)
            require_close(found, self.wanted_grads, self.dtype)

    def check(self, failed, _):
        """Leaves out the ways that fail, and says why."""
        for name in list(self.functions):
            try:
                within(self.options.compile_seconds, lambda: self._check(name))
            except Exception as error:
                failed[name] = reason(error)
                del self.functions[name]
        # Not needed any more, and larger than all sets.
        self.wanted = self.wanted_grads = None

    def passes(self):
        """(name, bytes, ways) of each pass."""
        yield (
            self.label(""),
            self.forward_bytes,
            {
                name: Way(function, self._sets_of(name, len(self.sets)))
                for name, function in self.functions.items()
            },
        )
        if not self.op.backward:
            return
        ways = {}
        for name, function in self.functions.items():
            if name in self.without_backward:
                continue
            sets = []
            for inputs in self.sets:
                grads = [g.clone() for g in self.grads]
                sets.append((tensors(function(*inputs)), self._leaves(inputs), grads))
            ways[name] = Way(self._gradients, sets)
        yield self.label("_backward"), self.backward_bytes, ways


class OptimizerCases:
    """An Optimizer of the table at one shape and dtype."""

    STEPS = 2

    def __init__(self, name, op, shape, dtype, clock, options, table):
        import torch

        self.torch, self.op, self.options = torch, op, options
        self.dtype = table.element(dtype)
        sides = "".join(f"/{side}:{size}" for side, size in zip(op.sides, shape))
        self.label = f"{name}<{dtype}>{sides}"
        self.bytes = op.bytes * math.prod(shape)
        self.shape, self.torch_dtype = shape, table.DTYPES[self.dtype]
        self.num_sets = clock.num_sets(self.bytes)
        torch._dynamo.reset()
        self.makers = {OURS: op.ours, **op.torch}
        self.ways = {}

    def _list(self, seed):
        """So many tensors of so many elements, the same for each way."""
        generator = self.torch.Generator(self.options.device).manual_seed(seed)
        count, size = self.shape
        return [
            self.torch.randn(size, generator=generator, device=self.options.device).to(
                self.torch_dtype
            )
            for _ in range(count)
        ]

    def _set(self, name):
        """(step, what has float32's precision after it) of one set."""
        params = [self.torch.nn.Parameter(p) for p in self._list(1)]
        grads = self._list(2)
        if name == OURS or self.torch_dtype == self.torch.float32:
            for param, grad in zip(params, grads):
                param.grad = grad
            optimizer = self.makers[name](params)
            if name != OURS:
                return optimizer.step, lambda: params
            return optimizer.step, lambda: [
                optimizer.state[p].get("master_param", p) for p in params
            ]
        # torch keeps no masters: a program that wants them casts, steps and casts back.
        masters = [self.torch.nn.Parameter(p.detach().float()) for p in params]
        for master in masters:
            master.grad = self.torch.zeros_like(master)
        optimizer = self.makers[name](masters)
        master_grads, raw = [m.grad for m in masters], [p.detach() for p in params]
        values = [m.detach() for m in masters]

        def step():
            self.torch._foreach_copy_(master_grads, grads)
            optimizer.step()
            self.torch._foreach_copy_(raw, values)

        return step, lambda: masters

    def _parts(self, params):
        """Places of the list that are compared: elements don't depend on each other."""
        for index in sorted({0, len(params) // 2, len(params) - 1}):
            size = params[index].numel()
            for first in sorted({0, size // 2, max(size - 4096, 0)}):
                yield index, slice(first, min(first + 4096, size))

    def _check(self, name):
        step, result = self._set(name)
        steps = [step]
        if name == "compile":
            steps[0] = self._compiled(step)
        for _ in range(self.STEPS):
            steps[0]()
        grads, params = self._list(2), self._list(1)
        found = result()
        for index, part in self._parts(found):
            exact = self.torch.nn.Parameter(params[index][part].double())
            exact.grad = grads[index][part].double()
            optimizer = next(iter(self.op.torch.values()))([exact])
            for _ in range(self.STEPS):
                optimizer.step()
            require_close(found[index].detach()[part], exact.detach(), "float")
        return steps[0]

    def _compiled(self, step):
        backend = {"backend": "eager"} if self.options.quick else {}
        return self.torch.compile(step, dynamic=False, **backend)

    def _steps(self, name):
        """Of every set, the first one checked."""
        steps = [self._check(name)]
        for _ in range(self.num_sets - 1):
            step = self._set(name)[0]
            steps.append(self._compiled(step) if name == "compile" else step)
            steps[-1]()
        return [(step,) for step in steps]

    def check(self, failed, given_up):
        """given_up: way → the number of tensors that took it too long."""
        for name in list(self.makers):
            try:
                if self.shape[0] >= given_up.get(name, math.inf):
                    raise Failed(f"ran past {self.options.compile_seconds} s with as many tensors")
                steps = within(self.options.compile_seconds, lambda: self._steps(name))
                self.ways[name] = Way(lambda step: step(), steps)
            except Exception as error:
                failed[name] = reason(error)
                if "ran past" in failed[name]:
                    given_up[name] = min(self.shape[0], given_up.get(name, math.inf))

    def passes(self):
        yield self.label, self.bytes, self.ways


def clocks_under_load(cuda):
    """What nvidia-smi says while the device is busy."""
    if not cuda:
        return None
    import torch

    torch.cuda._sleep(int(2e9))
    query = "clocks.sm,clocks.mem,temperature.gpu,power.draw"
    row = result_file.first_line(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"])
    torch.cuda.synchronize()
    return dict(zip(query.split(","), (value.strip() for value in (row or "").split(","))))


def figures(samples, ways, num_bytes):
    medians = {name: statistics.median(values) for name, values in samples.items()}
    result = {
        "bytes": num_bytes,
        "us": {name: round(seconds * 1e6, 3) for name, seconds in medians.items()},
        "host_us": {name: round(way.host_s * 1e6, 3) for name, way in ways.items()},
        "TB/s": {name: round(num_bytes / s / 1e12, 4) for name, s in medians.items()},
    }
    if OURS in medians:
        # How many times as long as ours.
        result["ratio"] = {
            name: round(seconds / medians[OURS], 3)
            for name, seconds in medians.items()
            if name != OURS
        }
    return result


def keep(report, path):
    """Whole at any time: whoever measures may be ended."""
    with open(f"{path}.new", "w", encoding="utf-8") as stream:
        json.dump(report, stream)
    os.replace(f"{path}.new", path)


def measure_op(name, options):
    """Every shape and dtype of one op; what is done so far stands in options.part."""
    table = load_table(options.library)
    import torch._dynamo  # noqa: F401

    # What was imported stays: collecting garbage between cases would go through all of it.
    gc.freeze()
    try:
        measure_cases(name, options, table)
    finally:
        gc.unfreeze()


def measure_cases(name, options, table):
    import torch
    import torch._functorch.config

    # Compiled gradients are called again and again on what one forward pass has saved.
    torch._functorch.config.donated_buffer = False
    op = table.OPS[name]
    turns = Turns(options.turns)
    with turns.alone():
        clock = Clock(options.device, options.quick)
    found, missing = table.modules(getattr(op, "others", ()))
    report = {"date": result_file.now(), "versions": table.versions(found), "missing": missing, "cases": []}
    shapes = op.quick
    if not options.quick:
        shapes = [shape for size in options.sizes.split(",") for shape in op.shapes.get(size, ())]
    kind = OptimizerCases if isinstance(op, table.Optimizer) else FunctionCases
    given_up = {}
    wanted = options.dtypes and options.dtypes.split(",")
    dtypes = [d for d in op.dtypes if not wanted or table.element(d) in wanted]
    for number, (dtype, shape) in enumerate(itertools.product(dtypes, shapes)):
        if number % options.shares != options.share:
            continue
        failed = {}
        cases = None
        try:
            with turns.preparing():
                cases = kind(name, op, shape, dtype, clock, options, table)
                cases.check(failed, given_up)
            with turns.alone():
                for label, num_bytes, ways in cases.passes():
                    case = {"name": label, **figures(clock.measure(ways, num_bytes), ways, num_bytes)}
                    if failed:
                        case["failed"] = failed
                    report["cases"].append({"number": number, **case})
                    print(f"  {label:52} " + line(case), flush=True)
                    ways.clear()
        except Exception as error:  # out of memory, say: the next shape may be measured
            label = f"{name}<{dtype}>{tuple(shape)}"
            why = {**failed, OURS: reason(error)}
            report["cases"].append({"number": number, "name": label, "failed": why})
            print(f"  {label:52} {reason(error)}", flush=True)
        del cases
        gc.collect()
        if clock.cuda:
            torch.cuda.empty_cache()
        keep(report, options.part)
    with turns.alone():
        report["clocks"] = clocks_under_load(clock.cuda)
    keep(report, options.part)


# ---- the parent ----


def line(case):
    words = [f"{name} {us:.2f} us" for name, us in case.get("us", {}).items()]
    words += [f"{name} x {ratio:.2f}" for name, ratio in case.get("ratio", {}).items()]
    return "  ".join(words + [f"{name} {why}" for name, why in case.get("failed", {}).items()])


def failures(rivals, of_rivals=False):
    """What of ours, or of any, could not be measured."""
    found = []
    for op, report in rivals.get("ops", {}).items():
        if report.get("failed"):
            found.append({"op": op, "failed": report["failed"]})
        for case in report["cases"]:
            for way, why in case.get("failed", {}).items():
                if way == OURS or of_rivals:
                    found.append({"case": case["name"], "way": way, "failed": why})
    return found


def chosen(options, table, registered):
    """The table's names to measure; an op that this library doesn't have is passed over."""
    names = options.ops.split(",") if options.ops else list(table.OPS)
    unknown = [name for name in names if name not in table.OPS]
    if unknown:
        raise SystemExit(
            f"rivals.py: --ops: found {', '.join(unknown)}, wanted some of {', '.join(table.OPS)}"
        )
    for name in list(names):
        if not hasattr(registered, table.OPS[name].op):
            print(f"{name}: not in this library", flush=True)
            names.remove(name)
    return names


def measure(options, document, save, commit=None):
    """Makes document["rivals"], and saves it after each op; figures of other ops and sizes stay."""
    unknown = [size for size in options.sizes.split(",") if size not in SIZES]
    if unknown:
        raise SystemExit(
            f"rivals.py: --sizes: found {', '.join(unknown)}, wanted some of {', '.join(SIZES)}"
        )
    table = load_table(options.library)
    import torch

    if options.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("rivals.py: torch sees no GPU (--device cpu --quick checks the table)")
    commit = result_file.commit(commit or options.commit)
    names = chosen(options, table, torch.ops.cudaops)
    document["rivals"] = {
        "date": result_file.now(),
        "command": shlex.join(
            [f"bench/kernels/{os.path.basename(sys.argv[0])}", *sys.argv[1:]]
        ),
        "machine": result_file.machine(),
        "ops": document.get("rivals", {}).get("ops", {}),
    }
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        shares = max(options.jobs // max(len(names), 1), 1)

        def started(*arguments):
            if options.quick:  # in this process, whose main thread alone may have an alarm
                return functools.partial(run_share, *arguments)
            return pool.submit(run_share, *arguments).result

        running = {
            name: [started(name, options, (share, shares), folder) for share in range(shares)] for name in names
        }

        def note(name, reports, is_whole=True):
            report = joined(reports)
            report["commit"] = commit
            report["torch"] = torch.__version__
            key = name if options.sizes == USUAL_SIZES else f"{name}, {options.sizes}"
            if not is_whole:
                report["failed"] = "interrupted"
                if len(document["rivals"]["ops"].get(key, {}).get("cases", ())) >= len(report["cases"]):
                    return report
            document["rivals"]["ops"][key] = report
            save()
            return report

        try:
            for number, name in enumerate(names, 1):
                report = note(name, [share() for share in running[name]])
                print(f"[{number}/{len(names)}] {name}: {len(report['cases'])} cases, {report['seconds']} s", flush=True)
                if report.get("failed"):
                    print(f"  {report['failed']}", flush=True)
                del running[name]
        except BaseException:
            # Or the pool would go on with all that was given to it.
            pool.shutdown(wait=False, cancel_futures=True)
            for child in list(children):
                end(child)
            # What they have measured is kept.
            for name, shares in () if options.quick else running.items():
                reports = []
                for share in shares:
                    with contextlib.suppress(concurrent.futures.CancelledError):
                        reports.append(share())
                if any(report["cases"] for report in reports):
                    note(name, reports, is_whole=False)
            raise


def run_share(name, options, share, folder):
    """The report of some of an op's cases; "failed": why they did not come to their end."""
    options = copy.copy(options)
    options.share, options.shares = share
    options.part = os.path.join(folder, f"{name}-{options.share}.json")
    options.turns = os.path.join(folder, "turns") if options.jobs > 1 else None
    begin = time.monotonic()
    # Importing torch anew takes longer than tiny shapes.
    why = measure_op(name, options) if options.quick else run_child(name, options)
    report = result_file.read(options.part) or {"date": result_file.now(), "cases": []}
    report["seconds"] = round(time.monotonic() - begin, 1)
    if why:
        report["failed"] = why
    return report


def joined(reports):
    """One of all shares of an op, its cases in the table's order."""
    report = dict(max(reports, key=len))  # one that was ended at once knows less
    cases = sorted((case for one in reports for case in one["cases"]), key=lambda case: case["number"])
    report["cases"] = [{key: value for key, value in case.items() if key != "number"} for case in cases]
    report["seconds"] = max(one["seconds"] for one in reports)
    why = "; ".join(dict.fromkeys(one["failed"] for one in reports if one.get("failed")))
    if why:
        report["failed"] = why
    return report


children = []  # that run


def run_child(name, options):
    """Why it did not come to its end; None if it did."""
    command = [sys.executable, os.path.abspath(__file__), "--child", name]
    for key in ("part", "library", "device", "sizes", "dtypes", "compile_seconds", "share", "shares", "turns"):
        value = getattr(options, key)
        if value is not None:
            command += [f"--{key.replace('_', '-')}", str(value)]
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    # Each would start as many compilers as there are cores.
    compilers = max(len(os.sched_getaffinity(0)) // options.jobs, 1)
    environment.setdefault("TORCHINDUCTOR_COMPILE_THREADS", str(compilers))
    # A session of its own, so that the compiler's workers end with it.
    child = subprocess.Popen(command, env=environment, start_new_session=True)
    children.append(child)
    try:
        code = child.wait(timeout=options.seconds)
        return None if code == 0 else f"ended with exit code {code}"
    except subprocess.TimeoutExpired:
        return f"ran past {options.seconds:g} s"
    finally:
        end(child)
        children.remove(child)
        child.wait()


def end(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def main():
    options = parser().parse_args()
    if options.child:
        measure_op(options.child, options)
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # as Ctrl-C
    path = None
    if options.out:
        os.makedirs(options.out, exist_ok=True)
        facts = result_file.machine() if options.device == "cuda" else {"name": "cpu"}
        path = result_file.device_path(options.out, facts)
    document = result_file.read(path) if path else {}

    def save():
        if path:
            library = os.path.dirname(os.path.abspath(options.library))
            result_file.write(path, document, library=library, out=options.out)

    measure(options, document, save)
    if path:
        print(path)
    failed = failures(document["rivals"], of_rivals=options.quick)
    for entry in failed:
        print("FAILED " + json.dumps(entry))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

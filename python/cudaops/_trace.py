# SPDX-License-Identifier: Apache-2.0
"""cudaops.trace: a chrome trace of a block, and a table by kernel."""

import ast
import json
import os
import re

# Namespaces of torch's own: all others are of operators that somebody added.
TORCH = frozenset(
    "aten prim prims c10 c10d c10d_functional _c10d_functional autograd torch profiler quantized quantized_decomposed "
    "mkldnn mkldnn_prepacked onednn inductor sparse xnnpack nccl gloo rngprims debugprims higher_order static_runtime".split()
)
OP = re.compile(r"(\w+)::(\w+)$")
DTYPES = {
    "float": "float32",
    "double": "float64",
    "c10::Half": "float16",
    "c10::BFloat16": "bfloat16",
    "int": "int32",
    "long": "int64",
    "long int": "int64",
    "short": "int16",
    "short int": "int16",
    "signed char": "int8",
    "unsigned char": "uint8",
    "bool": "bool",
    "c10::complex<float>": "complex64",
    "c10::complex<double>": "complex128",
    "c10::Float8_e4m3fn": "float8_e4m3fn",
    "c10::Float8_e5m2": "float8_e5m2",
}
KERNEL = frozenset(("kernel", "gpu_memcpy", "gpu_memset"))
SHOWN_ROWS = 30


class trace:
    """Profiles what runs in the block; writes a chrome trace, and prints a table by kernel.

        with cudaops.trace("out.json"):
            my_ops.scaled_add(a, b, 2.0)

    The file opens in https://ui.perfetto.dev and chrome://tracing. A row of the table is a kernel under the operator that
    launched it: the innermost one that isn't torch's own, else torch's. On a machine without a GPU, and for operators
    that launch nothing, the time is that of the call on the CPU.

    Bytes and GB/s stand where an operator knows its bytes: one with a fake kernel (`register_fake`), all of whose tensors
    are arguments of their own. They are those of its tensors, each read or written once, arguments that it overwrites
    twice; an operator that reads a part of a tensor moves fewer. GB/s are for all kernels of the operator's calls
    together.

    `rows` has the table: a list of {"op", "kernel" (None: on the CPU), "calls", "total_us", "bytes" (of all calls, or
    None), "gb_per_s" (or None)}. A block that raises leaves no file. Needs torch 2.9 or newer.
    """

    def __init__(self, path: "str | os.PathLike"):
        if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
            raise ValueError('cudaops.trace: the path is %r. Fix: with cudaops.trace("out.json"):' % (path,))
        self.path = os.fspath(path)
        self.rows = []
        directory = os.path.dirname(os.path.abspath(self.path))
        if not os.path.isdir(directory):
            raise ValueError("cudaops.trace: there is no directory %s. Fix: make it, or another path than %s" % (directory, self.path))
        if os.path.isdir(self.path):
            raise ValueError("cudaops.trace: %s is a directory. Fix: %s" % (self.path, os.path.join(self.path, "out.json")))
        # Here, not when the block has run.
        if not os.access(directory, os.W_OK):
            raise PermissionError("cudaops.trace: nothing can be written in %s. Fix: another path than %s" % (directory, self.path))

    def __enter__(self):
        import torch

        # A second one would end the first, without its file.
        if torch.autograd._profiler_enabled():
            raise RuntimeError("cudaops.trace: a profiler of torch's is running already. Fix: one trace or profile at a time")
        kinds = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available():
            kinds.append(torch.profiler.ProfilerActivity.CUDA)
            torch.cuda.synchronize()
        # acc_events: without it a warning says that events of earlier cycles are dropped; there is one.
        self._profile = torch.profiler.profile(activities=kinds, record_shapes=True, acc_events=True)
        self._profile.__enter__()
        return self

    def __exit__(self, kind, *rest):
        import torch

        if torch.cuda.is_available() and kind is None:
            torch.cuda.synchronize()
        self._profile.__exit__(kind, *rest)
        profile, self._profile = self._profile, None
        if kind is not None:
            return
        # Under another name first: whoever looks at the path sees a whole file.
        part = "%s.%d.part.json" % (self.path, os.getpid())
        try:
            profile.export_chrome_trace(part)
            with open(part, encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
            os.replace(part, self.path)
        finally:
            if os.path.exists(part):
                os.unlink(part)
        self.rows = make_rows(events, bytes_of_call)
        print(table(self.path, self.rows))


class Call:
    """One call of an operator."""

    __slots__ = ("name", "start", "end", "arguments", "parent", "kernels", "launches")

    def __init__(self, event):
        self.name, self.start, self.end = event["name"], event["ts"], event["ts"] + event.get("dur", 0)
        self.arguments, self.parent = event.get("args", {}), None
        self.kernels, self.launches = [], False

    @property
    def added(self):
        match = OP.match(self.name)
        return bool(match) and match.group(1) not in TORCH

    def owner(self):
        """The innermost added operator around it, else the outermost of torch's."""
        call, outermost = self, self
        while call is not None:
            if call.added:
                return call
            if OP.match(call.name):
                outermost = call
            call = call.parent
        return outermost


def make_rows(events, bytes_of):
    """The table of a chrome trace's events; bytes_of(call) is its number of bytes, or None."""
    calls, by_id = [], {}
    threads = {}
    for event in events:
        if event.get("ph") == "X" and event.get("cat") == "cpu_op":
            threads.setdefault((event.get("pid"), event.get("tid")), []).append(Call(event))
    for thread in threads.values():
        thread.sort(key=lambda call: (call.start, -call.end))
        stack = []
        for call in thread:
            while stack and stack[-1].end < call.end:
                stack.pop()
            call.parent = stack[-1] if stack else None
            stack.append(call)
            calls.append(call)
            by_id[call.arguments.get("External id")] = call
    rows, owners = {}, {}
    for event in events:
        if event.get("ph") != "X" or event.get("cat") not in KERNEL:
            continue
        call = by_id.get(event.get("args", {}).get("External id"))
        owner = call.owner() if call else None
        add(rows, (owner.name if owner else "", event["name"]), event.get("dur", 0))
        if owner:
            owners[id(owner)] = owner
            owner.kernels.append(event.get("dur", 0))
            around = owner
            while around is not None:
                around.launches, around = True, around.parent
    for call in calls:
        around = call.parent.owner() if call.parent else None
        # Of those that launch nothing, the outermost: its time has that of the others in it.
        if call.launches or not OP.match(call.name) or (around and OP.match(around.name)):
            continue
        add(rows, (call.name, None), call.end - call.start)
        owners[id(call)] = call
    known = {}
    for owner in owners.values():
        number = bytes_of(owner) if owner.added else None
        total = known.setdefault(owner.name, [0, 0.0])
        if number is None or total[0] is None:
            total[0] = None
        else:
            total[0] += number
        total[1] += sum(owner.kernels) if owner.kernels else owner.end - owner.start
    for (name, _), row in rows.items():
        number, microseconds = known.get(name, (None, 0.0))
        if number is not None and microseconds > 0:
            row["bytes"], row["gb_per_s"] = number, number / microseconds / 1e3
    return sorted(rows.values(), key=lambda row: -row["total_us"])


def add(rows, key, microseconds):
    row = rows.setdefault(
        key, {"op": key[0], "kernel": key[1], "calls": 0, "total_us": 0.0, "bytes": None, "gb_per_s": None}
    )
    row["calls"] += 1
    row["total_us"] += microseconds


def bytes_of_call(call):
    """Of an operator's tensors, by its fake kernel; None where they can't be known."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    namespace, name = OP.match(call.name).groups()
    packet = getattr(getattr(torch.ops, namespace), name, None)
    device = "cuda" if call.kernels else "cpu"
    for overload in packet.overloads() if packet else ():
        op = getattr(packet, overload)
        try:
            with torch.no_grad(), FakeTensorMode():
                arguments, number = fake_arguments(torch, op._schema, call.arguments, device)
                returned = op(*arguments)
        except Exception:  # whatever an operator's own code raises: its bytes aren't known then
            continue
        results = returned if isinstance(returned, (tuple, list)) else [returned]
        aliased = [value.alias_info is not None for value in op._schema.returns]
        for result, alias in zip(results, aliased):
            if isinstance(result, torch.Tensor) and not alias:
                number += result.numel() * result.element_size()
        return number
    return None


def fake_arguments(torch, schema, recorded, device):
    """(arguments like those of a recorded call, bytes of the tensors among them); raises ValueError."""
    dims, types = recorded.get("Input Dims", []), recorded.get("Input type", [])
    values = recorded.get("Concrete Inputs") or [""] * len(dims)
    if not len(dims) == len(types) == len(values) <= len(schema.arguments):
        raise ValueError
    arguments, number = [], 0
    for argument, shape, kind, value in zip(schema.arguments, dims, types, values):
        if kind in DTYPES:
            tensor = torch.empty(shape, dtype=getattr(torch, DTYPES[kind]), device=device)
            arguments.append(tensor)
            twice = argument.alias_info is not None and argument.alias_info.is_write
            number += tensor.numel() * tensor.element_size() * (2 if twice else 1)
        elif kind == "" and value == "":
            arguments.append(None)
        elif str(argument.type) in ("str", "Optional[str]"):
            arguments.append(value)
        else:
            arguments.append(ast.literal_eval(value))
    return arguments, number


def table(path, rows):
    lines = ["trace: %s (opens in https://ui.perfetto.dev)" % path]
    if not rows:
        return lines[0] + "\n  no operator was called"
    lines.append("  %6s %11s %10s %11s %9s  op, kernel" % ("calls", "total ms", "mean us", "MB a call", "GB/s"))
    for row in rows[:SHOWN_ROWS]:
        megabytes = "" if row["bytes"] is None else "%.3f" % (row["bytes"] / row["calls"] / 1e6)
        bandwidth = "" if row["gb_per_s"] is None else "%.1f" % row["gb_per_s"]
        name = ", ".join(part for part in (row["op"], row["kernel"] or "on the CPU") if part)
        figures = (row["calls"], row["total_us"] / 1e3, row["total_us"] / row["calls"], megabytes, bandwidth)
        lines.append("  %6d %11.3f %10.1f %11s %9s  %s" % (*figures, name))
    if len(rows) > SHOWN_ROWS:
        lines.append("  and %d more" % (len(rows) - SHOWN_ROWS))
    return "\n".join(lines)

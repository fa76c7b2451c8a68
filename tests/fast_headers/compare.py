# SPDX-License-Identifier: Apache-2.0
"""Compiles the cases with torch's headers and with the fast ones, makes the same calls, and prints the differences as JSON.

A difference in value, dtype, shape, strides, requires_grad, gradient or type of exception is one; texts of exceptions are
listed apart. Run with the Python of any torch:

    python compare.py                   all cases
    python compare.py --slice           some of them, which compile in a few seconds; exit code 1 where they differ
    python compare.py --leaks 1000000   as many calls, and what they leave behind
"""

import contextlib
import copy
import json
import logging
import math
import os
import sys
import warnings

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "..", "python")]

import torch  # noqa: E402
from cases import CPP, OP_CALLS, OPS, SLICE  # noqa: E402
from module import CALLS, TEXT  # noqa: E402

import cudaops  # noqa: E402


class Subclass(torch.Tensor):
    pass


def base(shape=(3, 4)):
    return (torch.arange(math.prod(shape), dtype=torch.float32).reshape(shape) - 3) / 4


# Of x, y (floats) and i (integers): x, y, i of a kind, made anew for each call.
KINDS = {
    "strided": lambda x, y, i: (x.t().contiguous().t(), y, i),
    "contiguous": lambda x, y, i: (x, y, i),
    "double": lambda x, y, i: (x.double(), y.double(), i.int()),
    "expanded": lambda x, y, i: (x[:1].expand(3, 4), y, i[:1].expand(3, 4)),
    "sliced": lambda x, y, i: (base((6, 8))[1::2, 2:6], y, torch.arange(48).reshape(6, 8)[::2, ::2]),
    "empty": lambda x, y, i: (x[:0], y[:0], i[:0]),
    "zero_dim": lambda x, y, i: (x[1, 2], y[1, 2], i[1, 2]),
    "integers": lambda x, y, i: (i, i + 1, i.short()),
    "half": lambda x, y, i: (x.half(), y.half(), i.byte()),
    "bfloat16": lambda x, y, i: (x.bfloat16(), y.bfloat16(), i.to(torch.int8)),
    "bool": lambda x, y, i: (x > 0, y > 0, i > 3),
    "complex": lambda x, y, i: (torch.complex(x, y), torch.complex(y, x), i),
    "conjugate": lambda x, y, i: (torch.complex(x, y).conj(), torch.complex(y, x), i),
    "negative": lambda x, y, i: (torch.complex(x, y).conj().imag, y, i),
    "nan": lambda x, y, i: (torch.full((3, 4), float("nan")), torch.full((3, 4), float("inf")), i),
    "other_shape": lambda x, y, i: (x, base((4, 2)), i),
    "gradient": lambda x, y, i: (x.clone().requires_grad_(), y.clone().requires_grad_(), i),
    "not_a_leaf": lambda x, y, i: (x.clone().requires_grad_() * 2, y, i),
    "channels_last": lambda x, y, i: (base((2, 3, 4, 5)).to(memory_format=torch.channels_last), base((2, 3, 4, 5)), i),
    "sparse": lambda x, y, i: (x.to_sparse(), y, i),
    "subclass": lambda x, y, i: (x.as_subclass(Subclass), y.as_subclass(Subclass), i),
    "parameter": lambda x, y, i: (torch.nn.Parameter(x.clone()), y, i),
    "meta": lambda x, y, i: (x.to("meta"), y.to("meta"), i.to("meta")),
    "quantized": lambda x, y, i: (torch.quantize_per_tensor(x, 0.1, 0, torch.quint8), y, i),
    "none": lambda x, y, i: (None, y, None),
    "no_tensor": lambda x, y, i: ("x", 3, [1]),
}


def tensors_of(kind):
    x = base()
    return KINDS[kind](x, x.flip(0) + 1, torch.arange(12).reshape(3, 4))


ARGUMENTS = {
    "size_of": [-1, 0, 1, 5, "a", 1.5],
    "stride_of": [-1, 0, 1, 5],
    "indexed": [-1, 0, 1, 5],
    "list_out_of_range": [0, 1, -1],
    "ranges": [0, 2, 7, -3],
    "throws": list(range(16)),
    "checks_of_arguments": list(range(23)),
    # 5 and 6, negative strides and sizes, end the process in torch 2.11.
    "at_from_memory": [0, 1, 2, 3, 4, 7],
    "integers": [0, -1, 200, 2**31 - 1, 2**31, 2**70, True, 1.5, "1", None],
    "small_integer": [0, 127, 128, -128, -129, True, 1.0],
    "unsigned_integer": [0, 2**64 - 1, 2**64, -1],
    "number": [0, 1.5, 1e300, float("nan"), "1", None, True, 2**70, 1j],
    "flag": [True, False, 0, 1, None, "a", 1.5],
    "text": ["a", "", "ä", b"bytes", bytearray(b"b"), 3, None, "a\0b"],
    "optional_integer": [None, 3, "a", 1.5],
    "optional_tensor": [None, "tensor", 3],
    "optional_result": [True, False],
    "integer_list": [[], [1, 2], (3,), "ab", [1.5], [None], range(3), {1, 2}, {1: 2}, None, 3],
    "number_list": [[], [1, 2.5], (3,), ["a"], range(2)],
    "tensor_list": ["tensors", [], [1]],
    "nested_list": [[[1], [2, 3]], [], [[]], [1]],
    "tuple": [(1, "a"), [1, "a"], (1,), (1, 2), "ab"],
    "pair": [(1.5, True), [1, 0], (1,)],
    "int_array_ref": [[2, 3], (2,), [], [1.5], "ab", 3, [-1]],
    "scalar": [1, 1.5, True, 1 + 2j, "a", None, "tensor"],
    "scalar_numbers": [0, 1, 100, 200, -1, 300, 40000, 1.5, True, 1e300, 1j],
    "device_changed": [-1, 0, 3, 127],
    "scalar_result": [1, 1.5, True, 1 + 2j, 2**62, 2**64 - 1],
    "dtype_argument": [torch.float64, torch.bool, "float", None, torch.complex64],
    "device_argument": ["device", "cpu", None, "indexed"],
    "random_numbers": [0.5, 2.0],
    "numbers": [0.5, 3.0, -2.0],
    "number_that_overflows": [0.0, 1.0],
}
# What torch itself leaves unwritten.
UNWRITTEN = {("more_kinds_of_ops", "meta"): "an output of embedding_bag"}
DEFAULTS = [0, 1, 2, 3, 4, 6]


def resolve(value):
    """What can't stand in a table."""
    made = {
        "tensor": lambda: base((2,)),
        "tensors": lambda: [base((2,)), base((3,))],
        "device": lambda: torch.device("cpu"),
        "indexed": lambda: torch.device("cuda:3"),
    }
    return made[value]() if isinstance(value, str) and value in made else value


def calls_of(name, parameters):
    """[(label, function that makes the arguments)]"""
    if "x" in parameters or "i" in parameters:
        numbers = ARGUMENTS.get(name, [1]) if "n" in parameters else [None]
        return [
            ("%s %s" % (kind, number), lambda kind=kind, number=number: pick(tensors_of(kind), parameters, number))
            for kind in KINDS
            if (name, kind) not in UNWRITTEN
            for number in numbers
        ]
    if parameters == "":
        return [("", lambda: ()), ("too many", lambda: (1,))]
    return [(repr(value), lambda value=value: (copy.copy(resolve(value)),)) for value in ARGUMENTS.get(name, DEFAULTS)]


def pick(tensors, parameters, number):
    by_name = dict(zip("xyi", tensors), n=number)
    return tuple(by_name[parameter] for parameter in parameters)


def described(value):
    if isinstance(value, torch.Tensor):
        facts = [type(value).__name__, str(value.dtype), str(value.device), str(value.layout), tuple(value.shape)]
        facts += [value.requires_grad, value.is_leaf, type(value.grad_fn).__name__, value.is_conj(), value.is_neg()]
        if value.layout == torch.strided:
            facts += [value.stride(), value.storage_offset()]
        with contextlib.suppress(Exception):
            dense = value.detach().to_dense() if value.layout != torch.strided else value.detach()
            facts.append(repr(dense.dequantize().tolist() if dense.is_quantized else dense.resolve_conj().resolve_neg().tolist()))
        return facts
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, [described(item) for item in value]]
    return [type(value).__name__, repr(value)]


def gradients(result, arguments):
    """Of what the result is a function of."""
    tensors = [t for t in (result if isinstance(result, (list, tuple)) else [result]) if isinstance(t, torch.Tensor)]
    wanted = [t for t in arguments if isinstance(t, torch.Tensor) and t.requires_grad and t.is_leaf]
    tensors = [t for t in tensors if t.requires_grad and t.grad_fn is not None]
    if not tensors or not wanted:
        return None
    with contextlib.suppress(RuntimeError):
        found = torch.autograd.grad([t.sum() for t in tensors], wanted, allow_unused=True)
        return [None if gradient is None else described(gradient) for gradient in found]
    return "none"


def outcome(function, arguments):
    """(what must be equal, text of an exception)"""
    # torch.manual_seed() asks every kind of device.
    torch.default_generator.manual_seed(7)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*arguments)
        except Exception as error:  # noqa: BLE001
            return ["raises", type(error).__mro__[0].__module__, type(error).__name__, []], str(error)
        after = [described(argument) for argument in arguments]
        texts = sorted(str(one.message).split("(Triggered")[0] for one in caught)
        return [described(result), after, gradients(result, arguments), texts], None


def fake(function):
    """In a FakeTensorMode: tensors without memory."""
    from torch._subclasses import FakeTensorMode

    def call(*arguments):
        before = torch._C._len_torch_dispatch_stack()
        try:
            with FakeTensorMode() as mode:
                return function(*(mode.from_tensor(a) if isinstance(a, torch.Tensor) else a for a in arguments))
        finally:
            # Torch 2.13 leaves the mode where C++ catches an error of an op, with its own headers, too.
            while torch._C._len_torch_dispatch_stack() > before:
                torch._C._pop_torch_dispatch_stack(None)

    return call


def within(context):
    def wrap(function):
        def call(*arguments):
            with context():
                return function(*arguments)

        return call

    return wrap


def in_thread(function):
    """In a thread of its own, while others call too."""
    from concurrent.futures import ThreadPoolExecutor

    def call(*arguments):
        with ThreadPoolExecutor(4) as pool:
            found = [pool.submit(function, *copy.deepcopy(arguments)) for _ in range(8)]
            return [one.result() for one in found][-1]

    return call


# Ways to call: the kinds that are enough there.
WAYS = {
    "autocast": within(lambda: torch.autocast("cpu", dtype=torch.bfloat16)),
    "inference": within(torch.inference_mode),
    "no_grad": within(torch.no_grad),
    "default dtype": within(lambda: DefaultDtype(torch.float64)),
    "deterministic": within(lambda: Deterministic(False)),
    "deterministic, warning": within(lambda: Deterministic(True)),
    "vmap": lambda function: torch.func.vmap(function, randomness="same"),
    "fake": fake,
    "thread": in_thread,
}
# Ways that are for some cases only.
ONLY = {"deterministic": {"deterministic", "functions"}, "deterministic, warning": {"deterministic", "functions"}}


class Deterministic:
    def __init__(self, warn_only):
        self.warn_only = warn_only

    def __enter__(self):
        torch.use_deterministic_algorithms(True, warn_only=self.warn_only)

    def __exit__(self, *_):
        torch.use_deterministic_algorithms(False)


class DefaultDtype:
    def __init__(self, dtype):
        self.dtype = dtype

    def __enter__(self):
        self.before = torch.get_default_dtype()
        torch.set_default_dtype(self.dtype)

    def __exit__(self, *_):
        torch.set_default_dtype(self.before)


def memory_after(module, calls):
    """(kilobytes, references to a tensor in Python, in C++) that calls leave behind."""

    def now():
        # Not the peak: what building took would hide a leak.
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4

    x = base()
    references = sys.getrefcount(x), module.holders(x)
    for number in range(calls + 2000):
        if number == 2000:
            before = now()
        module.operators(x, x)
        module.lists_of_results(x)
        module.nested_list([[1], [2, 3]])
        module.text("a text that is longer than a short one")
        module.maybe(x)
        for failing in (lambda: module.checks(x), lambda: module.text(3)):
            with contextlib.suppress(RuntimeError, TypeError):
                failing()
    kilobytes = now() - before
    return [kilobytes, sys.getrefcount(x) - references[0], module.holders(x) - references[1]]


def same_text(a, b):
    """Texts of checks may hold stack traces, and the file's name and line."""
    cut = lambda text: text.split("\nException raised from")[0].split("\nInvoked with")[0]  # noqa: E731
    return cut(a or "") == cut(b or "")


def whole_text(namespace):
    """TEXT with the functions of CPP, bound as load_inline() binds those that it is given, and the ops of OPS.

    One module, since torch's headers are what its compile takes so long for. A process has an op once: they are in a
    namespace of each module.
    """
    bound = "".join('  m.def("%s", torch::wrap_pybind_function(%s), "%s");\n' % (name, name, name) for name in CPP)
    start = "void more(py::module_& m) {\n"
    assert start in TEXT
    functions = "\n".join(code for _, code in CPP.values())
    return functions + TEXT.replace(start, start + bound) + OPS.replace("(fast_ops,", "(%s," % namespace)


def built(headers):
    # torch's headers take g++ half the time without optimisation.
    return cudaops.load_inline("cases", [whole_text("of_" + headers)], headers=headers, extra_cflags=["-O0"] if headers == "full" else [])


def built_slice(headers):
    flags = ["-O0"] if headers == "slim" else []
    return cudaops.load_inline("slice", [CPP[name][1] for name in SLICE], functions=SLICE, headers=headers, extra_cflags=flags)


class Comparison:
    """Of calls of two modules: the one with torch's headers comes first."""

    def __init__(self, modules):
        self.modules = modules
        self.calls, self.differences, self.texts = 0, [], []

    def add(self, label, outcomes, with_texts=True):
        self.calls += 1
        (real, real_text), (fast, fast_text) = outcomes
        if real != fast:
            self.differences.append([*label, *outcomes])
        elif with_texts and not same_text(real_text, fast_text):
            self.texts.append([*label, real_text, fast_text])

    def functions(self, names):
        for name in names:
            pair = [getattr(module, name) for module in self.modules]
            self.add([name, "documentation"], [(function.__doc__, None) for function in pair])
            for label, make in calls_of(name, CPP[name][0]):
                self.add([name, label], [outcome(function, make()) for function in pair])
                for way, wrap in WAYS.items() if label.split(" ")[0] in ("contiguous", "gradient") or label == "" else ():
                    if name in ONLY.get(way, (name,)):
                        self.add([name, label, way], [outcome(wrap(function), make()) for function in pair], with_texts=False)

    def expressions(self, calls, namespaces):
        for call in calls:
            found = []
            for module, name in zip(self.modules, namespaces):
                space = {"m": module, "o": getattr(torch.ops, name), "x": base(), "torch": torch}
                both = json.dumps(outcome(lambda call=call, space=space: eval(call, space), ()))
                found.append(json.loads(both.replace(name, "fast_ops")))
            self.add(["module", call], found)

    def report(self, **more):
        which = [module.__cudaops__["headers"] for module in self.modules]
        found = {"headers": which, "calls": self.calls, "differences": self.differences, "texts": self.texts, **more}
        json.dump(found, sys.stdout)
        return bool(self.differences or self.texts or which[1] != "fast")


def main():
    torch.set_warn_always(True)
    # It writes the stack of each call that raises.
    logging.getLogger("torch._subclasses.fake_tensor").setLevel(logging.CRITICAL)
    if sys.argv[1:2] == ["--leaks"]:
        # Seven calls each.
        json.dump({"leaked": memory_after(built("fast"), int(sys.argv[2]) // 7)}, sys.stdout)
        return 0
    if sys.argv[1:2] == ["--slice"]:
        comparison = Comparison([built_slice("slim"), built_slice("fast")])
        comparison.functions(SLICE)
        return comparison.report()
    comparison = Comparison([built("full"), built("fast")])
    comparison.functions(CPP)
    comparison.expressions(CALLS + OP_CALLS, ["of_full", "of_fast"])
    return comparison.report(leaked=memory_after(comparison.modules[1], 3000))


if __name__ == "__main__":
    sys.exit(main())

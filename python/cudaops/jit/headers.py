# SPDX-License-Identifier: Apache-2.0
"""Which of torch's headers a text of load_inline() needs: the same headers as torch/extension.h's, as few as its names ask for.

A name that isn't known here is answered with None: then the text gets torch/types.h, or all of torch/extension.h. A name
is never taken for another one: what torch:: means differently from at:: (its factories) brings the header that defines it.
"""

import os
import re

from . import sources as texts
from .key import torch_directory

# Of torch/extension.h what is left: one tensor, its operators and its printed form, the binding. With it the generated
# headers include single operators in place of all 2,500.
SINGLE_OPERATORS = "AT_PER_OPERATOR_HEADERS"
TENSOR = ["ATen/core/Tensor.h", "ATen/TensorOperators.h", "ATen/core/Formatting.h"]
BINDING = ["torch/csrc/utils/pybind.h", "torch/csrc/Exceptions.h"]
# What texts use because torch/extension.h brings it.
STANDARD = (
    "algorithm array chrono cmath cstdint cstdio cstdlib cstring functional iomanip iostream limits map memory mutex numeric "
    "optional random set sstream stdexcept string thread tuple type_traits unordered_map unordered_set utility vector"
).split()
FACTORIES = "torch/csrc/autograd/generated/variable_factories.h"
# As torch/types.h has it, for which these headers stand.
NAMESPACE = [
    "namespace torch {",
    "using namespace at;",
    "using std::nullopt;",
    "using std::optional;",
    "using Dtype = at::ScalarType;",
    "constexpr auto kUInt8 = at::kByte, kInt8 = at::kChar, kInt16 = at::kShort, kInt32 = at::kInt, kInt64 = at::kLong;",
    "constexpr auto kFloat16 = at::kHalf, kFloat32 = at::kFloat, kFloat64 = at::kDouble;",
    "}",
]

# Types and constants of the headers above.
_TYPES = frozenset(
    "Tensor TensorOptions Device DeviceType DeviceIndex ScalarType Scalar Dtype IntArrayRef ArrayRef OptionalIntArrayRef optional "
    "nullopt Half BFloat16 MemoryFormat Layout Storage Generator dtype device layout requires_grad wrap_pybind_function irange "
    "kStrided kCPU kCUDA TypeError".split()
)
_CONSTANT = re.compile(r"k(U?Int(8|16|32|64)|Float(16|32|64)?|Double|Half|BFloat16|Byte|Char|Short|Int|Long|Bool|Complex\w+)$")
_QUALIFIED = re.compile(r"(?<![\w:])(?:::)?(torch|at|c10)\s*::\s*(\w+)(\s*::)?")
# Names in torch's namespaces that aren't written with them, and members that are defined in headers of their own.
_OPAQUE = re.compile(
    r"\busing\s+namespace\s+(?:torch|at|c10)\b|\bnamespace\s+(?:torch|at|c10)\b|\busing\s+(?:torch|at|c10)::|=\s*(?:torch|at|c10)\s*;"
    r"|\bindex(?:_put_)?\s*\(|\bTensorIndex\b|\bSlice\b|\bTORCH_LIBRARY|\bIValue\b|\bAT_(?!DISPATCH_|ERROR\b|ASSERT)\w+"
)


def of_text(text, include=None):
    """The headers that stand for torch/types.h before this text, in order; None where that can't be told.

    Headers that the text includes itself come after them.
    """
    include = include or os.path.join(torch_directory() or "", "include")
    code = texts.without_literals(text)
    if _OPAQUE.search(code):
        return None
    names = set()
    for found in _QUALIFIED.finditer(code):
        space, name, nested = found.groups()
        if nested:
            # Of headers that the text includes itself: at::cuda::getCurrentCUDAStream().
            if name not in ("cuda", "hip"):
                return None
            continue
        names.add((space, name))
    factories = _factories(include)
    if factories is None:
        return None
    headers, asked = list(TENSOR), []
    if "AT_DISPATCH_" in code:
        headers.append("ATen/Dispatch.h")
    for space, name in sorted(names):
        if name in _TYPES or _CONSTANT.match(name):
            continue
        if space == "torch" and name in factories:
            asked.append(FACTORIES)
            continue
        if name == "parallel_for":
            headers.append("ATen/Parallel.h")
            continue
        operator = re.sub("_out$|_$", "", name)
        header = next((it for it in (name, operator) if os.path.isfile(os.path.join(include, "ATen", "ops", it + ".h"))), None)
        if space == "c10" or header is None:
            return None
        headers.append("ATen/ops/%s.h" % header)
    return list(dict.fromkeys([*headers, *asked]))


def before(names):
    """Lines that stand before a text: standard library, torch's headers, and torch:: as these texts know it."""
    lines = ["#include <%s>" % name for name in STANDARD]
    lines += ["#define " + SINGLE_OPERATORS]
    return [*lines, *("#include <%s>" % name for name in names), *NAMESPACE]


def needs_all(text):
    """Whether a text uses parts of torch's C++ API that torch/types.h doesn't bring: torch::nn, torch::autograd, ..."""
    found = re.findall(r"(?<![\w:])(?:::)?torch\s*::\s*(\w+)\s*::", texts.without_literals(text))
    return bool(set(found) - {"cuda", "hip", "indexing"})


def _factories(include):
    """Names of the functions that torch:: defines beside at::; None where the headers aren't those that are known."""
    try:
        text = texts.read(os.path.join(include, FACTORIES))
    except OSError:
        return None
    for header in (*TENSOR, *BINDING, "ATen/ops/empty_like.h"):
        if not os.path.isfile(os.path.join(include, header)):
            return None
    return {*re.findall(r"^inline [\w:<>, ]*?\b(\w+)\(", text, re.MULTILINE), "tensor"} if SINGLE_OPERATORS in text else None

# SPDX-License-Identifier: Apache-2.0
"""What a CMakeLists.txt and C++ sources say, for `port`: words, names, blocks, includes."""

import ast
import os
import re
import shlex

from .values import HOME, TORCH, Unknown, combine

# Targets of find_package(CudaTorchMatch), and what is linked without being named.
LIBRARIES = {
    name: "CudaOps::" + name for name in "cudart cublas cublasLt cusparse cusolver cufft curand nvrtc cudnn nccl".split()
} | {"cuda": "CudaOps::cuda_driver", "nvidia-ml": "CudaOps::nvml"}

HERE = "\0here\0"
VARIABLES = {
    HOME: "CudaTorchMatch_TOOLKIT_ROOT",
    TORCH: "CudaTorchMatch_TORCH_DIR",
    HERE: "CMAKE_CURRENT_SOURCE_DIR",
}


def join_blocks(bodies):
    """Neighbours under the same if() share it."""
    result = []
    for body in bodies:
        if (
            result
            and body[0].startswith("if(")
            and body[-1] == result[-1][-1] == "endif()"
            and result[-1][0] == body[0]
        ):
            result[-1] = [*result[-1][:-1], "", *body[1:]]
        else:
            result.append(body)
    return result


def imports(path):
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            tree = ast.parse(file.read())
    except (SyntaxError, ValueError, OSError):
        return set()
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def merge_lists(lists):
    """[(guard, value)] of several: the same values in the same order, or what isn't in the first behind it."""
    result = list(lists[0]) if lists else []
    for more in lists[1:]:
        if len(more) == len(result) and all(a == b for (_, a), (_, b) in zip(result, more)):
            result = [(combine("or", [old, new]), value) for (old, value), (new, _) in zip(result, more)]
            continue
        for guard, value in more:
            for index, (old, known) in enumerate(result):
                if isinstance(value, (str, tuple)) and value == known:
                    result[index] = (combine("or", [old, guard]), known)
                    break
            else:
                result.append((guard, value))
    return result


def words(value):
    return shlex.split(value) if isinstance(value, str) else value


def split_words(item):
    """["-L/a -lb"] is two words to the shell that cpp_extension gives it to."""
    return shlex.split(item) if re.search(r"\s-", item) else [item]


def unknown_of(item):
    """The part of a pair that isn't known."""
    parts = [part for part in item if isinstance(part, Unknown)] if isinstance(item, tuple) else []
    return parts[0] if parts else item


def natural(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def generator(language, value):
    if not language:
        return value
    condition = "$<DEVICE_LINK:" if language == "\0DEVICE_LINK" else "$<$<COMPILE_LANGUAGE:%s>:" % language
    return condition + value.replace(">", "$<ANGLE-R>") + ">"


def quote(value):
    """An argument of a CMake command."""
    bare = re.fullmatch(r"[\w./+=:,~$<>@%^*!\0-]+", value)
    value = value.replace("\\", "\\\\").replace('"', '\\"').replace("${", "\\${")
    for mark, variable in VARIABLES.items():
        value = value.replace(mark, "${%s}" % variable)
    return value if bare else '"%s"' % value


INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]", re.MULTILINE)


# What declares functions of CUDA's libraries; curand_kernel.h is device code, and of cuda.h it can be types alone.
LIBRARY_HEADERS = {
    "cuda_runtime.h": "cudart",
    "cuda_runtime_api.h": "cudart",
    "cublas.h": "cublas",
    "cublas_api.h": "cublas",
    "cublas_v2.h": "cublas",
    "cublasLt.h": "cublasLt",
    "cufft.h": "cufft",
    "cufftXt.h": "cufft",
    "curand.h": "curand",
    "cusparse.h": "cusparse",
    "cusparse_v2.h": "cusparse",
    "cusolverDn.h": "cusolver",
    "cusolverRf.h": "cusolver",
    "cusolverSp.h": "cusolver",
    "cudnn.h": "cudnn",
    "nccl.h": "nccl",
    "nvrtc.h": "nvrtc",
}


# Calls by torch's handles, or of what another of CUDA's headers declares.
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
LIBRARY_CALLS = re.compile(r"\b(cublas|cublasLt|cusparse|cufft|cudnn|nccl|nvrtc)(?!Lt|Check|Safe)[A-Z]\w+\s*\(")

# torch's types of 16 bits; with the operators of __half beside theirs a comparison of two is ambiguous.
TORCH_HALVES = re.compile(r"::k?(?:Half|BFloat16)\b|\bAT_DISPATCH_\w+_AND")


def read_includes(sources, root, include_dirs):
    """(PYBIND, FULL or STABLE, CUDA's libraries, whether TORCH_HALVES is used): what the sources, and headers of the
    project that they include, ask of torch, and of the libraries that torch has loaded and cpp_extension doesn't name."""
    queue = [os.path.join(root, name) for name in sources]
    seen = set()
    asked = {"STABLE"}
    libraries = set()
    halves = False
    while queue:
        path = os.path.normpath(queue.pop())
        if path in seen or not os.path.isfile(path):
            continue
        seen.add(path)
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            content = file.read()
        halves = halves or bool(TORCH_HALVES.search(content))
        libraries.update(LIBRARY_CALLS.findall(COMMENT.sub("", content)))
        for _, header in INCLUDE.findall(content):
            if re.match(
                r"torch/(extension|python)\.h|torch/csrc/(Exceptions|utils/pybind|python_headers)\.h|pybind11/", header
            ):
                asked.add("PYBIND")
            elif re.match(r"torch/(csrc/stable|headeronly)/", header) or header.startswith(
                "torch/csrc/inductor/aoti_torch/c/"
            ):
                continue
            elif re.match(r"torch/|ATen/|c10/|caffe2/", header):
                asked.add("FULL")
                libraries.update(["cudart"] * ("/cuda/" in header))
            elif header in LIBRARY_HEADERS:
                libraries.add(LIBRARY_HEADERS[header])
            else:
                queue += [os.path.join(place, header) for place in [os.path.dirname(path), *include_dirs]]
    abi = next(one for one in ("PYBIND", "FULL", "STABLE") if one in asked)
    return abi, [name for name in LIBRARIES if name in libraries], halves

# SPDX-License-Identifier: Apache-2.0
"""headers="fast": thin headers of our own (include/fast) in place of torch's, for texts that use no more than they have.

refusal() reads a text before anything is compiled. What it doesn't know is refused, with the name and its line; then the
text gets torch's own headers. A module with fast headers reaches torch through the bridge, a module that is compiled once
for each torch, with torch's headers, and kept in the store as any other.
"""

import os
import re

from . import sources as texts
from .key import torch_directory

INCLUDE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "include", "fast")
BRIDGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "include", "bridge", "bridge.cpp")
BRIDGE_NAME = "cudaops_fast_bridge"

# Names of at::, c10:: and torch:: that the headers define, apart from ops.
_TYPES = (
    "Tensor TensorOptions TensorList IntArrayRef ArrayRef OptionalIntArrayRef Scalar ScalarType Dtype Device DeviceType "
    "DeviceIndex Layout MemoryFormat optional nullopt irange dtype device layout requires_grad memory_format toString "
    "typeMetaToScalarType elementSize isIntegralType isComplexType NoGradGuard AutoGradMode parallel_for get_num_threads "
    "get_thread_num TensorAccessor PackedTensorAccessor PackedTensorAccessor32 PackedTensorAccessor64 "
    "GenericPackedTensorAccessor acc_type opmath_type DeviceGuard OptionalDeviceGuard device_of DefaultPtrTraits RestrictPtrTraits str string_view make_optional nullopt_t kStrided kCPU kCUDA kMeta"
).split()
_AT = frozenset(_TYPES + "from_blob globalContext Half BFloat16 complex CppTypeToScalarType".split())
_TORCH_ONLY = frozenset("wrap_pybind_function wrap_pybind_function_no_gil Library".split())
_CHECKS = frozenset(
    "TensorArg CheckedFrom checkDim checkDimRange checkSameDim checkContiguous checkAllContiguous checkSize checkNumel checkSameNumel "
    "checkAllSameNumel checkScalarType checkScalarTypes checkSameGPU checkAllSameGPU checkSameType checkAllSameType checkSameSize "
    "checkAllSameSize checkDefined checkAllDefined".split()
)
_SCALAR_TYPES = (
    "Byte Char Short Int Long Half Float Double ComplexHalf ComplexFloat ComplexDouble Bool BFloat16 Float8_e5m2 "
    "Float8_e4m3fn Float8_e5m2fnuz Float8_e4m3fnuz UInt16 UInt32 UInt64"
).split()
_CONSTANTS = frozenset("k" + name for name in _SCALAR_TYPES)
_TORCH_CONSTANTS = frozenset("kUInt8 kInt8 kInt16 kInt32 kInt64 kFloat16 kFloat32 kFloat64".split())
# Names behind another ::, by what stands before it.
_NESTED = {
    "ScalarType": frozenset(_SCALAR_TYPES),
    "DeviceType": frozenset("CPU CUDA Meta XPU MPS HPU PrivateUse1".split()),
    "Layout": frozenset("Strided Sparse SparseCsr Mkldnn SparseCsc SparseBsr SparseBsc Jagged".split()),
    "MemoryFormat": frozenset("Contiguous Preserve ChannelsLast ChannelsLast3d".split()),
    "CppTypeToScalarType": frozenset(["value"]),
    "Reduction": frozenset("None Mean Sum".split()),
    "cuda": frozenset(
        "getCurrentCUDAStream CUDAStream CUDAGuard OptionalCUDAGuard current_device MaybeSetDevice getCurrentDeviceProperties "
        "getDeviceProperties warp_size".split()
    ),
}
_PYTHON = frozenset(
    "arg arg_v value_error index_error key_error type_error stop_iteration attribute_error buffer_error import_error "
    "gil_scoped_release gil_scoped_acquire call_guard kw_only pos_only mod_gil_not_used return_value_policy none module "
    "module_ literals".split()
)
_MACROS = frozenset(
    "TORCH_CHECK TORCH_CHECK_INDEX TORCH_CHECK_VALUE TORCH_CHECK_TYPE TORCH_CHECK_NOT_IMPLEMENTED TORCH_INTERNAL_ASSERT "
    "TORCH_WARN TORCH_EXTENSION_NAME TORCH_LIBRARY TORCH_LIBRARY_FRAGMENT TORCH_LIBRARY_IMPL AT_ERROR AT_ASSERT AT_ASSERTM "
    "C10_CUDA_CHECK AT_CUDA_CHECK C10_CUDA_KERNEL_LAUNCH_CHECK PYBIND11_MODULE C10_HOST_DEVICE C10_HOST C10_DEVICE C10_ALWAYS_INLINE C10_LIKELY C10_UNLIKELY C10_UNUSED C10_WARP_SIZE "
    "AT_DISPATCH_SWITCH AT_DISPATCH_CASE AT_DISPATCH_FLOATING_TYPES AT_DISPATCH_FLOATING_TYPES_AND_HALF "
    "AT_DISPATCH_REDUCED_FLOATING_TYPES AT_DISPATCH_COMPLEX_TYPES AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES "
    "AT_DISPATCH_INTEGRAL_TYPES AT_DISPATCH_INTEGRAL_TYPES_AND AT_DISPATCH_ALL_TYPES AT_DISPATCH_ALL_TYPES_AND_COMPLEX "
    "AT_DISPATCH_FLOATING_TYPES_AND AT_DISPATCH_FLOATING_TYPES_AND2 AT_DISPATCH_FLOATING_TYPES_AND3 AT_DISPATCH_ALL_TYPES_AND "
    "AT_DISPATCH_ALL_TYPES_AND2 AT_DISPATCH_ALL_TYPES_AND3 AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2 "
    "AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1 AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2".split()
)
# Headers of torch's that need nothing but numbers: torch's own are used, with what they include in one torch or another.
_COMPLEX_HEADERS = ["c10/util/%s.h" % name for name in ("complex", "complex_math", "complex_utils", "Half", "BFloat16")]
_FORWARDED = {
    "c10/util/complex.h": _COMPLEX_HEADERS,
    "ATen/cuda/Atomic.cuh": [
        "ATen/cuda/Atomic.cuh",
        "ATen/NumericUtils.h",
        *("c10/util/Float8_%s.h" % name for name in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz")),
    ],
}
_QUALIFIED = re.compile(r"(?<![\w:])(?:::)?(torch|at|c10|py|pybind11|caffe2)\s*::\s*(\w+|\*)((?:\s*::\s*(?:template\s+)?\w+)*)")
_MACRO = re.compile(r"\b(?:AT|TORCH|C10|PYBIND11|STD_TORCH|CAFFE2|THC|THO)_[A-Z]\w*")
# Namespaces that the text adds to, another name for one, names of torch's that have no namespace, Python's own interface.
_OPAQUE = re.compile(
    r"\bnamespace\s+(?:torch|at|c10|pybind11|caffe2)\b(?!\s*;)|\bnamespace\s+\w+\s*=\s*(?:::)?(?:torch|at|c10)\b|"
    r"\bPyObject\b|\bPy[A-Z]\w*_\w+|\bPYBIND11_(?!MODULE\b)\w+|\bTHP\w+|\bTHC\w+"
)
_TORCHS = re.compile(r"^(torch|ATen|c10|caffe2|pybind11|THC|TH)/|^(Python\.h|pybind11\.h)$")
_CALLED = re.compile(r"(?<![\w:])(\w+)\s*[(<]")
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+((?:AT|TORCH|C10|PYBIND11)_\w+)", re.MULTILINE)
_ASKED_FOR = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b[^\n]*", re.MULTILINE)
# Macros that torch's, Python's or CUDA's headers may define, asked for by a text: another part of it would be compiled.
_NOT_SURE = re.compile(
    r"(?:CUDA_VERSION|(?:CUDNN|CUBLAS|CUSPARSE|CUSOLVER|NCCL|THRUST|CUB|HAVE|HAS|SIZEOF|ALIGNOF|FMT|CAFFE|RECORD|REGISTER|STRONG)_\w+|"
    r"WITH_(?:THREAD|DOC_STRINGS|FREELISTS|PYMALLOC)|D?CHECK(?:_(?:EQ|NE|LE|LT|GE|GT|NOTNULL))?|[DV]?LOG(?:_IF)?|\w*KERNEL_ASSERT\w*|"
    r"SOFT_ASSERT|(?:PATH|NAME|LINE|IOV)_MAX|assert)$"
)
# Functions of C's, for which math.h and stdlib.h of the C++ library bring overloads into the global namespace: torch/extension.h
# has both (through Python.h), torch's other headers one or none, and without them abs(float) is abs(int).
_OF_C = re.compile(
    r"(?<![\w:.>])(?:l?abs|fabs|(?:a?(?:cos|sin|tan)h?)|atan2|exp2?|expm1|frexp|ldexp|log(?:10|2|1p|b)?|modf|pow|sqrt|cbrt|hypot|erfc?|"
    r"[lt]gamma|ceil|floor|fmod|trunc|l{0,2}round|l{0,2}rint|nearbyint|remainder|remquo|copysign|next(?:after|toward)|fdim|fmax|fmin|fma|"
    r"ilogb|scalbl?n|fpclassify|is(?:finite|inf|nan|normal|greater|less)|signbit|div)\s*\("
)
_BRINGS_OVERLOADS = re.compile(r"torch/(?:extension|torch|python|csrc/utils/pybind)\.h$|pybind11/|Python\.h$")
_HALF = re.compile(r"\b(Half|BFloat16|kHalf|kBFloat16|kFloat16)\b|_(?:AND_HALF|REDUCED_FLOATING_TYPES)\b")
_LIBRARY = re.compile(r"\bTORCH_LIBRARY|\bLibrary\b")
_OF_CHECKS = re.compile(r"\bTensorArg\b|\bCheckedFrom\b")
_OF_PYTHON = re.compile(r"\bpy\b|pybind|PYBIND")
_COMPLEX = re.compile(r"\bcomplex\s*<|_COMPLEX")

# What torch/extension.h brings of the standard library, by the names that texts use. cmath, cstdint, string, vector, tuple,
# optional, array, utility, type_traits and limits are there anyway.
_STANDARD = {
    "algorithm": "sort stable_sort min_element max_element minmax_element nth_element partial_sort transform fill fill_n copy "
    "copy_n find find_if count count_if reverse unique remove_if lower_bound upper_bound all_of any_of none_of for_each "
    "generate shuffle clamp binary_search rotate swap_ranges min max",
    "numeric": "accumulate iota inner_product partial_sum gcd lcm reduce",
    "iostream": "cout cerr clog cin endl",
    "ostream": "ostream",
    "fstream": "ifstream ofstream fstream",
    "sstream": "ostringstream stringstream istringstream",
    "iomanip": "setw setprecision setfill",
    "map": "map multimap",
    "set": "set multiset",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared",
    "functional": "function bind ref cref hash plus greater less",
    "mutex": "mutex lock_guard unique_lock once_flag call_once",
    "atomic": "atomic atomic_thread_fence atomic_ref memory_order_relaxed memory_order_release memory_order_acquire memory_order_seq_cst",
    "thread": "thread this_thread",
    "chrono": "chrono",
    "random": "mt19937 mt19937_64 random_device uniform_real_distribution normal_distribution uniform_int_distribution",
    "queue": "queue priority_queue",
    "deque": "deque",
    "list": "list",
    "stack": "stack",
    "complex": "complex",
    "cassert": "assert",
    "cstdio": "printf fprintf snprintf",
    "exception": "exception_ptr current_exception",
    "unistd.h": "read write close usleep sleep getpid unlink ftruncate",
}
# And what it brings of CUDA's: to device code (Half.h, BFloat16.h), and with ATen/cuda/CUDAContext.h to all.
_OF_CUDA = {
    "cuda_fp16.h": re.compile(r"\b(?:__)?half2?\b|\b__\w*half2?\w*"),
    "cuda_bf16.h": re.compile(r"\b(?:__)?nv_bfloat16\w*|\b__\w*bfloat16\w*"),
    "cublas_v2.h": re.compile(r"\bcublas[A-Z]\w*|\bCUBLAS_"),
    "cusparse.h": re.compile(r"\bcusparse[A-Z]\w*|\bCUSPARSE_"),
    "cusolverDn.h": re.compile(r"\bcusolver[A-Z]\w*|\bCUSOLVER_"),
}
_CONTEXT = ("ATen/cuda/CUDAContext.h", "ATen/cuda/CUDAContextLight.h")
_HEADER_OF = {name: header for header, names in _STANDARD.items() for name in names.split()}


class Text:
    """One text or file of a request; label: as errors call it."""

    def __init__(self, label, text):
        self.label = label
        self.code = texts.without_literals(text)
        self.includes = texts.includes(texts.without_comments(text))

    def line_of(self, position):
        return self.code.count("\n", 0, position) + 1


def texts_of(request):
    """The texts of a request with what they include of the user's; [(Text, whether it is torch's or the system's)]"""
    if request.cpp_texts is not None:
        found = [Text("%s.cpp_sources[%d]" % (request.name, number), text) for number, text in enumerate(request.cpp_texts)]
        found += [Text("%s.cuda_sources[%d]" % (request.name, number), text) for number, text in enumerate(request.cuda_texts)]
    else:
        found = []
    reading = texts.Reading(request.include_paths, _system())
    for path in request.paths:
        reading.add(path)
    for one in found:
        for name, quoted in one.includes:
            for place in texts.candidates(name, quoted, os.path.join(os.getcwd(), "text"), request.include_paths):
                if os.path.isfile(place):
                    reading.add(place)
                    break
    return found + [Text(path, text) for path, text in reading.files.items()]


def _system():
    return "/usr/include/", "/usr/lib/", "/usr/local/cuda", "/opt/cuda/", "/opt/cuda-", os.path.realpath(INCLUDE) + "/"


def refusal(request):
    """Why the fast headers aren't for this request, in one line; None where they are."""
    whole = _refuses_request(request)
    if whole:
        return whole
    include = os.path.join(torch_directory() or "", "include")
    every = texts_of(request)
    # Macros of the text's own; not one that it defines where torch doesn't.
    own = {name for text in every for name in _DEFINED.findall(text.code)}
    own -= {word for text in every for line in _ASKED_FOR.findall(text.code) for word in re.findall(r"\w+", line)}
    for text in every:
        found = _refuses_text(text, include, own - _MACROS) or _refuses_macros(text, every)
        if found:
            return found
    return _refuses_functions_of_c(every, request)


def _refuses_request(request):
    if request.kind == "executable":
        return "an executable has no Python that could bring the bridge to torch"
    torch = version()
    numbers = re.match(r"(\d+)\.(\d+)", torch or "")
    if not numbers or (int(numbers.group(1)), int(numbers.group(2))) < (2, 10):
        return "torch %s is older than 2.10" % torch
    from sys import flags
    from sysconfig import get_config_var

    if get_config_var("Py_GIL_DISABLED"):
        return "this Python is free-threaded"
    if getattr(flags, "gil", 1) == 0:
        return "this Python runs without its GIL"
    for flag in request.flags():
        for word in flag.split():
            if word.startswith(("-include", "-isystem", "-I", "-idirafter", "-iquote", "-imacros", "@", "-fopenmp", "-Xcompiler=-fopenmp")) or re.match(
                r"-(std=c\+\+1[14]|std=gnu\+\+1[14]|f(no-rtti|no-exceptions)|D_GLIBCXX|DTORCH_|DAT_|DC10_|DPy_|ffreestanding|fshort-enums)", word
            ):
                return "the flag %s changes what torch's headers are" % word
    for path in request.include_paths:
        for name in ("torch", "ATen", "c10", "pybind11"):
            if os.path.isdir(os.path.join(path, name)):
                return "extra_include_paths holds %s of its own: %s" % (name, path)
    return None


def _refuses_text(text, include, own_macros):
    def at(position, what):
        return "%s:%d: %s" % (text.label, text.line_of(position), what)

    for name, _ in text.includes:
        if _TORCHS.match(name) and name not in _FORWARDED and not os.path.isfile(os.path.join(INCLUDE, name)):
            position = text.code.find(name)
            if position < 0:
                position = re.search(r"^[ \t]*#[ \t]*include", text.code, re.MULTILINE).start()
            return at(position, "the fast headers have no %s" % name)
    found = _OPAQUE.search(text.code)
    if found:
        return at(found.start(), "the fast headers don't know %s" % found.group(0))
    for found in _QUALIFIED.finditer(text.code):
        space, name, nested = found.groups()
        if not _knows(space, name, [part for part in re.split(r"\s*::\s*(?:template\s+)?", nested) if part], include):
            return at(found.start(), "the fast headers don't know %s" % re.sub(r"\s+", "", found.group(0)))
    for found in _MACRO.finditer(text.code):
        if found.group(0) not in _MACROS and found.group(0) not in own_macros:
            return at(found.start(), "the fast headers don't know %s" % found.group(0))
    return None


def _refuses_macros(text, every):
    for line in _ASKED_FOR.finditer(text.code):
        for word in re.findall(r"\w+", line.group(0)):
            if _NOT_SURE.match(word):
                # load_inline() puts cuda.h before device code.
                if word == "CUDA_VERSION" and (".cuda_sources" in text.label or any(("cuda.h", False) in one.includes for one in every)):
                    continue
                return "%s:%d: whether %s is defined depends on torch's headers" % (text.label, text.line_of(line.start()), word)
    return None


def _refuses_functions_of_c(every, request):
    """abs(x) and its like in C++ that doesn't include torch/extension.h: nvcc has the overloads anyway."""
    implicit = request.cpp_texts is not None and request.inline[1]
    own = [text for text in every if not text.label.endswith((".cu", ".cuh")) and ".cuda_sources" not in text.label]
    for text in own:
        names = [name for name, _ in text.includes]
        brought = implicit and ".cpp_sources" in text.label or any(map(_BRINGS_OVERLOADS.match, names))
        if brought or not any(map(_TORCHS.match, names)):
            continue
        for one in own:
            found = _OF_C.search(one.code)
            if found:
                what = "what %s) means depends on torch's headers; #include <torch/extension.h> in %s" % (found.group(0), text.label)
                return "%s:%d: %s" % (one.label, one.line_of(found.start()), what)
    return None


def _knows(space, name, nested, include):
    if space in ("py", "pybind11"):
        return name in _PYTHON and (not nested or name in ("return_value_policy", "literals"))
    if space == "caffe2":
        return False
    if nested:
        return len(nested) == 1 and nested[0] in _NESTED.get(name, ())
    if name in _AT or name in _CONSTANTS:
        return space != "c10" or name not in ("from_blob", "globalContext")
    if name in _CHECKS:
        return space != "c10"
    if space == "torch" and (name in _TORCH_CONSTANTS or name in _TORCH_ONLY):
        return True
    return space != "c10" and _is_op(name, space, include)


def _is_op(name, space, include):
    """An op of at::, or of torch:: that means the same or makes a variable."""
    if name in ("tensor", "from_blob", "from_file", "scalar_tensor"):
        return False
    for header in (name, re.sub("_outf?$|_$", "", name)):
        if os.path.isfile(os.path.join(include, "ATen", "ops", header + ".h")):
            return True
    return False


def version():
    """torch's own, exactly, without importing it."""
    try:
        found = re.search(r"""^__version__\s*=\s*['"]([^'"]+)""", texts.read(os.path.join(torch_directory() or "", "version.py")), re.MULTILINE)
    except OSError:
        return None
    return found and found.group(1)


def standard_headers(codes):
    words = {word for code in codes for word in re.findall(r"\w+", code)}
    return sorted({_HEADER_OF[word] for word in words if word in _HEADER_OF})


def cuda_headers(code, includes):
    """Lines of the configuration: headers of CUDA that a text may leave out."""
    lines = []
    for header, names in _OF_CUDA.items():
        if names.search(code):
            if any(name in _CONTEXT for name in includes):
                lines.append("#include <%s>" % header)
            elif header.startswith("cuda_"):
                lines += ["#ifdef __CUDACC__", "#include <%s>" % header, "#endif"]
    return lines


def write(request, directory):
    """The files that a build adds to the fast headers, into this directory."""
    from .fast_ops import Ops

    include = os.path.join(torch_directory(), "include")
    every = texts_of(request)
    codes = [text.code for text in every]
    forwarded = {name for text in every for name, _ in text.includes if name in _FORWARDED}
    if forwarded or _COMPLEX.search("\n".join(codes)):
        forwarded.add("c10/util/complex.h")
    names = sorted({name for code in codes for name in _CALLED.findall(code)} | {name for code in codes for _, name, _ in _QUALIFIED.findall(code)})
    ops = Ops(include)
    methods = ops.methods(set(names) & ops.method_names())
    factory_names = ops.factory_names()
    functions = [pair for name in names if ops.header_of(name) for pair in ops.functions(name)]
    factories = [text for name in names if name in factory_names for text in ops.factories(name)]
    code = "\n".join(codes)
    config = ["#include <%s>" % header for header in ["cmath", "stdexcept", *standard_headers(codes)]]
    config += cuda_headers(code, {name for text in every for name, _ in text.includes})
    if _OF_CHECKS.search(code):
        config.append("#define CUDAOPS_FAST_WITH_CHECKS")
    if _LIBRARY.search(code):
        config.append("#define CUDAOPS_FAST_WITH_LIBRARY")
    if request.functions or _OF_PYTHON.search(code):
        config.append("#define CUDAOPS_FAST_WITH_PYTHON")
    if forwarded or _HALF.search(code):
        config.append("#define CUDAOPS_FAST_HALF")
    if "c10/util/complex.h" in forwarded:
        config.append("#define CUDAOPS_FAST_COMPLEX")
    write_files(directory, include, config, methods, functions, factories, forwarded)


def write_files(directory, include, config, methods, functions, factories, forwarded=()):
    os.makedirs(os.path.join(directory, "torch"))
    files = {
        "config": ["#pragma once", *config],
        "methods": [declaration for declaration, _ in methods],
        "functions": ["inline " + declaration for declaration, _ in functions] + [body for _, body in functions + methods],
        "factories": factories,
    }
    for name, lines in files.items():
        with open(os.path.join(directory, "cudaops_fast_%s.h" % name), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    for name in ["torch/headeronly", *(name for one in forwarded for name in _FORWARDED[one])]:
        if os.path.exists(os.path.join(include, name)):
            os.makedirs(os.path.dirname(os.path.join(directory, name)), exist_ok=True)
            os.symlink(os.path.join(include, name), os.path.join(directory, name))


def cxx_standard():
    """That torch's own headers are compiled with; a text may mean another thing with another one."""
    found = re.search(r"__cplusplus\s*<\s*20(\d\d)", texts.read(os.path.join(torch_directory(), "include", "ATen", "ATen.h")))
    return found.group(1) if found else "17"


def target(name, files, directory, cuda):
    """Lines of CMake: the module, linked to nothing of torch's."""
    from .project import bracket

    languages = "CXX,CUDA" if cuda else "CXX"
    host = "-fno-gnu-unique"
    lines = [
        "add_library(%s MODULE%s)" % (name, files),
        'set_target_properties(%s PROPERTIES PREFIX "" SUFFIX ".so" CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden)' % name,
        "target_compile_options(%s PRIVATE $<$<COMPILE_LANGUAGE:%s>:-std=c++%s>)" % (name, languages, cxx_standard()),
        "target_compile_options(%s PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:%s>)" % (name, host),
        "target_include_directories(%s BEFORE PRIVATE\n  %s\n  %s)" % (name, bracket(directory), bracket(INCLUDE)),
        "target_compile_definitions(%s PRIVATE TORCH_EXTENSION_NAME=%s TORCH_API_INCLUDE_EXTENSION_H)" % (name, name),
        "cudaops_target_defaults(%s)" % name,
    ]
    if cuda:
        lines += [
            "target_compile_options(%s PRIVATE $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-Xcompiler=%s>)" % (name, host),
            "target_compile_definitions(%s PRIVATE USE_CUDA)" % name,
            "target_link_libraries(%s PRIVATE CudaOps::cuda_headers)" % name,
            "cudaops_resolve_architectures(architectures)",
            "cudaops_target_architectures(%s ${architectures})" % name,
        ]
    return lines


_bridge = None


def provide_bridge(policy=None, verbose=False):
    """The bridge of this torch in this process: found in the store, or compiled, once."""
    global _bridge
    if _bridge is None:
        import sys

        from . import api, loader
        from .request import Request

        request = Request(BRIDGE_NAME, "module", "full")
        request.set_flags(None, None, None, None)
        request.set_paths(BRIDGE)
        found, _, _, _ = api.obtain(request, policy, verbose)
        _bridge = loader.use(BRIDGE_NAME, "module", found.path, ())
        # The name under which a module asks for it.
        sys.modules[__package__.partition(".")[0]]._fast_bridge = _bridge
    return _bridge

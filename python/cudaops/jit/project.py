# SPDX-License-Identifier: Apache-2.0
"""The CMake project that a call of load() or load_inline() is: find_package(), add_torch_op(), the caller's flags."""

import os
import re
import shlex
import time

from . import failure
from . import headers as torch_headers
from . import sources as texts
from .key import digest

_IMPLICIT_CUDA = ["cuda.h", "cuda_runtime.h"]


# Device code that needs a device link, which CMake does where it is told by a property.
_RELOCATABLE = ("-rdc=true", "--relocatable-device-code=true", "-dc", "--device-c")

# In names of headers, in options and paths: of a toolkit, or of what is beside it.
_TOOLKIT = re.compile(
    r"cu(?:da|dnn|b\b|blas|fft|rand|solver|sparse|tensor|tlass)|nv(?:rtc|tx|ml|toolsext|shmem)|nccl|thrust|cooperative_groups"
    r"|(?<![a-z])(?:hip|roc)",
    re.I,
)


class Project:
    """Written into a directory.

    abi, headers ("full", "slim" or "fast"); ops, schemas: what its libraries define; sources: paths as CMake knows them;
    slim_differs: whether "full" would be another text.
    """

    def __init__(self, request, directory, headers):
        self.request = request
        self.directory = directory
        self.headers = headers
        self.slim_differs = False
        os.makedirs(directory)
        if request.cpp_texts is not None:
            self._write_texts(headers)
        else:
            self.sources = [self._wrap_cuh(path) for path in request.paths]
        reading = texts.Reading(request.include_paths)
        for path in self.sources:
            reading.add(path)
        self.reading = reading
        self.abi = texts.abi(reading.names, request.kind)
        if self.abi == "STABLE" or texts.has_aten(reading.names):
            _refuse_old_standard(request, "extra_cflags", request.cflags)
            _refuse_old_standard(request, "extra_cuda_cflags", request.cuda_cflags if texts.has_aten(reading.names) else ())
        if headers == "fast":
            from . import fast

            self.headers = "fast"
            fast.write(request, os.path.join(directory, "fast"))
        elif request.cpp_texts is None:
            self.headers = "full" if any(name in ("torch/extension.h", "torch/all.h") for name in reading.names) else "slim"
        self.ops = texts.ops(reading.files.values(), request.name)
        self.schemas = texts.schemas(reading.files.values(), request.name)
        self.unread_namespaces = texts.unread_namespaces(reading.files.values(), request.name)
        self.architectures, flags = _architectures(request.cuda_cflags)
        self.cuda_flags = [flag for flag in flags if flag not in _RELOCATABLE]
        self.relocatable = len(self.cuda_flags) < len(flags)
        self._write("CMakeLists.txt", "\n".join(self._lines()) + "\n")

    def _write(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        return path

    def _wrap_cuh(self, path):
        if os.path.splitext(path)[1] != ".cuh":
            return path
        return self._write(os.path.basename(path) + ".cu", '#include "%s"\n' % path)

    def _write_texts(self, headers):
        request = self.request
        error_handling, implicit, gil_not_used = request.inline
        cpp, cuda = "\n".join(request.cpp_texts), "\n".join(request.cuda_texts)
        own_module = "PYBIND11_MODULE" in texts.without_comments(cpp + "\n" + cuda)
        names = request.functions if request.functions and not own_module and request.kind == "module" else None
        cpp_lines, cuda_lines = [], []
        if implicit:
            cpp_lines, cuda_lines = _includes("torch/extension.h"), _includes("torch/types.h", *_IMPLICIT_CUDA)
            if headers == "slim":
                full = (cpp_lines, cuda_lines)
                cpp_lines, cuda_lines = self._slim_lines(cpp, cuda, bool(names))
                self.slim_differs = full != (cpp_lines, cuda_lines)
                self.headers = "slim" if self.slim_differs else "full"
        lines = cpp_lines
        for number, text in enumerate(request.cpp_texts):
            # Errors name the argument, not a file that is gone by then.
            lines += ['#line 1 "%s.cpp_sources[%d]"' % (request.name, number), text]
        if names:
            lines += ['#line 1 "%s.functions"' % request.name, *_binding(request, names, error_handling, gil_not_used)]
        self.sources = []
        if request.cpp_texts or names:
            self.sources.append(self._write("main.cpp", "\n".join(lines) + "\n"))
        if request.cuda_texts:
            lines = cuda_lines
            for number, text in enumerate(request.cuda_texts):
                lines += ['#line 1 "%s.cuda_sources[%d]"' % (request.name, number), text]
            self.sources.append(self._write("cuda.cu", "\n".join(lines) + "\n"))

    def _slim_lines(self, cpp, cuda, binding):
        """Fewer of the same headers, where the texts bring none of torch's themselves."""
        cpp_own = {name for name, _ in texts.includes(texts.without_comments(cpp))}
        cuda_own = {name for name, _ in texts.includes(texts.without_comments(cuda))}
        if not binding and texts.abi(cpp_own | cuda_own, "library") == "STABLE":
            return [], _includes(*_IMPLICIT_CUDA) if cuda else []
        cpp_lines = _includes("torch/extension.h")
        if torch_headers.needs_all(cpp):
            pass
        elif any(name.startswith(("torch/", "ATen/", "c10/")) for name in cpp_own):
            if self.request.kind == "library" and not texts.names_python(cpp):
                cpp_lines = _includes("torch/types.h")
        else:
            # torch::wrap_pybind_function and torch's type casters.
            bound = torch_headers.BINDING if binding or texts.names_python(cpp) else []
            found = torch_headers.of_text(cpp)
            if found is None:
                cpp_lines = _includes("torch/types.h", *torch_headers.BINDING)
            else:
                cpp_lines = torch_headers.before([*found, *bound])
        cuda_lines = _includes("torch/types.h", *_IMPLICIT_CUDA)
        if cuda and not texts.names_torch(cuda):
            cuda_lines = _includes(*_IMPLICIT_CUDA)
        elif cuda and not any(name.startswith("torch/") for name in cuda_own):
            found = torch_headers.of_text(cuda)
            if found is not None:
                cuda_lines = torch_headers.before([*found, *_IMPLICIT_CUDA])
        return cpp_lines, cuda_lines

    def _compares_half(self, path):
        """Device code with c10::Half, in which the operators of cuda_fp16.h make a comparison ambiguous."""
        if os.path.splitext(path)[1] != ".cu":
            return False
        reading = texts.Reading(self.request.include_paths)
        reading.add(path)
        return texts.has_aten(reading.names)

    def _may_want_toolkit(self):
        """Asking a toolkit what it is takes seconds; C++ whose headers and flags name nothing of CUDA or HIP goes without, as torch's load() does."""
        request = self.request
        words = [*self.reading.names, *request.flags(), *request.include_paths]
        return bool(os.environ.get("CUDAOPS_BACKEND")) or request.is_cuda() or any(map(_TOOLKIT.search, words))

    def _project_name(self):
        """Libraries of one project and one name know each other as copies of one op: those that define the same ops."""
        if self.headers != "fast" and any(texts.defines_ops(text) for text in self.reading.files.values()):
            return "%s_%s" % (self.request.name, digest(" ".join([*self.ops, *self.unread_namespaces]))[:12])
        known = [*self.reading.files.values(), *self.request.lines()]
        if self.request.ldflags or any(map(texts.embeds, self.reading.files.values())):
            # What the linker and the assembler read makes another module too.
            known.append(str(time.time_ns()))
        return "%s_%s" % (self.request.name, digest("\0".join(known))[:12])

    def _lines(self):
        request, name = self.request, self.request.name
        lines = [
            "cmake_minimum_required(VERSION 3.25)",
            "project(%s LANGUAGES CXX)" % self._project_name(),
            "find_package(CudaOps REQUIRED)",
            *([] if self._may_want_toolkit() else ['set(CUDAOPS_BACKEND "CPU")', "set(CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit TRUE)"]),
            "find_package(CudaTorchMatch REQUIRED)",
        ]
        if self.abi != "STABLE" or request.kind == "executable":
            # torch's headers are most of the text, and torch.utils.cpp_extension doesn't optimise them at all: -O3 takes a
            # quarter longer. Of nvcc it is the host's part. An -O among the flags comes later and wins.
            lines += ['set(CMAKE_%s_FLAGS_RELEASE "-O1 -DNDEBUG")' % language for language in ("CXX", "CUDA")]
            # g++ takes half a gigabyte more and doesn't collect garbage in between.
            lines.append("add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>)")
        cuda = request.is_cuda()
        keyword = "CUDA_SOURCES" if cuda else "SOURCES"
        files = "".join("\n  " + bracket(path) for path in self.sources)
        if self.headers == "fast":
            from . import fast

            lines += fast.target(name, files, os.path.join(self.directory, "fast"), cuda)
            lines += map(_without_half_operators, filter(self._compares_half, self.sources))
        elif request.kind == "executable":
            lines += [
                "add_executable(%s%s)" % (name, files),
                "cudaops_target_torch(%s ABI FULL%s)" % (name, " CUDA" if cuda else ""),
                "cudaops_target_defaults(%s)" % name,
            ]
            if cuda:
                lines.append("cudaops_resolve_architectures(architectures)")
                lines.append("cudaops_target_architectures(%s ${architectures})" % name)
        else:
            module = " PYTHON_MODULE " + name if request.kind == "module" else ""
            required = " CUDA REQUIRED" if cuda else ""
            lines.append("add_torch_op(%s ABI %s%s%s %s%s)" % (name, self.abi, module, required, keyword, files))
            if self.abi != "STABLE":
                lines.append("target_compile_definitions(%s PRIVATE TORCH_API_INCLUDE_EXTENSION_H)" % name)
                lines += map(_without_half_operators, filter(self._compares_half, self.sources))
            if self.abi == "FULL" and any(map(_brings_python, self.reading.names)):
                # torch's load() has Python's headers and libtorch_python for every library.
                lines.append("target_link_libraries(%s PRIVATE CudaOps::torch_python)" % name)
        # As torch's load() does; CMake compiles no C where the project has none.
        in_c = [path for path in self.sources if path.endswith(".c")]
        lines += ["set_source_files_properties(%s PROPERTIES LANGUAGE CXX)" % bracket(path) for path in in_c]
        for language, flags in (("CXX", request.cflags), ("CUDA,HIP", self.cuda_flags)):
            # Lists of options can't hold a semicolon, these variables can.
            odd = [flag for flag in flags if ";" in flag]
            flags = [flag for flag in flags if ";" not in flag]
            for one in language.split(",") if odd else ():
                variable = "CMAKE_%s_FLAGS" % one
                lines.insert(-1, "string(APPEND %s %s)" % (variable, bracket(" " + " ".join(odd))))
            if flags:
                option = "$<$<COMPILE_LANGUAGE:%s>:SHELL:%s>" % (language, _expression(" ".join(flags)))
                lines.append("target_compile_options(%s PRIVATE %s)" % (name, bracket(option)))
        if self.relocatable:
            lines.append("set_target_properties(%s PROPERTIES CUDA_SEPARABLE_COMPILATION ON)" % name)
        include = "target_include_directories(%s%%s PRIVATE%%s)" % name
        paths = ["\n  " + bracket(path) for path in request.include_paths]
        if cuda and request.paths:
            # What is translated lies below the project, or in a directory that holds a source.
            links = ["${PROJECT_SOURCE_DIR}/include%d" % number for number in range(len(paths))]
            lines.append("if(CMAKE_HIP_COMPILER_LOADED)")
            lines += ['file(CREATE_LINK%s\n  "%s" SYMBOLIC)' % pair for pair in zip(paths, links)]
            own = dict.fromkeys(map(os.path.dirname, request.paths))
            lines.append(include % ("", "".join("\n  " + bracket(path) for path in own)))
            lines += [include % (" BEFORE", "".join('\n  "%s"' % link for link in links))] if links else []
            lines += ["else()", include % (" BEFORE", "".join(paths)), "endif()"] if paths else ["endif()"]
        elif paths:
            lines.append(include % (" BEFORE", "".join(paths)))
        words = [word for flag in request.ldflags for word in shlex.split(flag)]
        if words:
            words = [os.path.abspath(word) if word[:1] != "-" and os.path.exists(word) else _escape(word) for word in words]
            lines.append("target_link_libraries(%s PRIVATE%s)" % (name, "".join("\n  " + bracket(w) for w in words)))
        return lines


def _refuse_old_standard(request, label, flags):
    """g++ doesn't stop at the #error of torch's headers: it takes minutes to say everything else that isn't C++14."""
    for flag in flags:
        if re.search(r"(?:^|\s)-std=(?:c|gnu)\+\+(?:98|03|0x|11|1y|14)\b", flag):
            raise failure.error(
                request.name, "torch's headers need C++17, and %s has %s." % (label, flag), fix="leave it out: what they need is set already"
            )


def _without_half_operators(path):
    """As torch's load(); -U among extra_cuda_cflags comes later in the command and wins."""
    what = ("HALF_OPERATORS", "HALF_CONVERSIONS", "HALF2_OPERATORS", "BFLOAT16_CONVERSIONS")
    definitions = ";".join("__CUDA_NO_%s__" % one for one in what)
    return 'set_source_files_properties(%s PROPERTIES COMPILE_DEFINITIONS "%s")' % (bracket(path), definitions)


def _includes(*names):
    return ["#include <%s>" % name for name in names]


def _brings_python(header):
    return header.startswith(("pybind11/", "torch/csrc/")) or header in ("Python.h", "torch/extension.h", "torch/python.h")


def _binding(request, functions, error_handling, gil_not_used):
    head = "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m%s) {" % (", pybind11::mod_gil_not_used()" if gil_not_used else "")
    lines = [head]
    for function, documentation in functions.items():
        called = "torch::wrap_pybind_function(%s)" % function if error_handling else function
        lines.append("m.def(%s, %s, %s);" % (_literal(function), called, _literal(str(documentation))))
    return [*lines, "}"]


def _literal(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return '"%s"' % escaped.replace("?", "\\?")


def _escape(word):
    """For the shell, without quotes: to CMake a link option begins with '-'. Ninja reads it before the shell does."""
    return re.sub(r"([^\w@%+=:,./-])", r"\\\1", word).replace("$", "$$")


def bracket(text):
    """An argument that CMake takes as it is."""
    if "]==]" in text:
        raise ValueError("cudaops: this can't be told to CMake: %r" % text)
    return "[==[%s]==]" % text


def _expression(text):
    """Text inside of a generator expression."""
    for character, name in ((">", "ANGLE-R"), (",", "COMMA")):
        # The marks of one replacement hold no character of the next.
        text = text.replace(character, "\0%s\1" % name)
    return text.replace("\0", "$<").replace("\1", ">")


_NUMBER = re.compile(r"(?:sm|compute|lto)_(\d+[af]?)$")


def _architectures(flags):
    """(what to build for, the other flags): the compilers' own spellings among extra_cuda_cflags win, as in torch.

    None where they hold none.
    """
    words = [word for flag in flags for word in shlex.split(flag)]
    found, rest, position = [], [], 0
    while position < len(words):
        word = words[position]
        option, equals, value = word.partition("=")
        if option == "--offload-arch" or word.startswith("--amdgpu-target="):
            found.append(value)
        elif option in ("-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code"):
            if not equals and position + 1 < len(words):
                position += 1
                value = words[position]
            found += _one(option, value)
        else:
            rest.append(shlex.quote(word))
        position += 1
    if not found:
        return None, list(flags)
    return ";".join(dict.fromkeys(found)), rest


def _one(option, value):
    if option in ("-gencode", "--generate-code"):
        codes = re.search(r"code=(.*)$", value)
        virtual = re.search(r"arch=compute_(\d+[af]?)", value)
        parts = re.findall(r"(?:sm|compute)_\d+[af]?", codes.group(1)) if codes else []
        if not parts and virtual:
            return [virtual.group(1) + "-virtual"]
        return [part.split("_")[1] + ("-real" if part.startswith("sm") else "-virtual") for part in parts]
    if option in ("-code", "--gpu-code"):
        return [part.split("_")[1] + ("-real" if part.startswith("sm") else "-virtual") for part in value.split(",")]
    number = _NUMBER.match(value)
    return [number.group(1)] if number else [value]

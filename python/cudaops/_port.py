# SPDX-License-Identifier: Apache-2.0
"""python -m cudaops port: a CMakeLists.txt for what a setup.py builds."""

import os
import re

from ._port_conditions import assumed, classify, deciding, doubts, on, option_name, relevant, settle, switched
from ._port_text import (
    HERE, LIBRARIES, Path, generator, imports, join_blocks, merge_lists, natural, quote, read_includes, split_words,
    unknown_of, words,
)
from ._read_setup import Reader
from ._setup_tools import argument, choices, flatten, version_number
from ._setup_values import HOME, TORCH, Unknown, combine

LINKED = "torch torch_cpu torch_cuda torch_hip torch_python c10 c10_cuda c10_hip cudart cudart_static stdc++".split()

GPU = "CudaTorchMatch_CUDA_ENABLED OR CudaTorchMatch_HIP_ENABLED"
CMAKE_TARGETS = "all help install clean test package edit_cache rebuild_cache".split()

# Flags of the compilers whose value is the next word.
TWO_WORDS = (
    "-gencode --generate-code -arch --gpu-architecture -code --gpu-code -ccbin --compiler-bindir -t --threads "
    "-Xcompiler --compiler-options -Xptxas --ptxas-options -Xcudafe -Xlinker --linker-options -Xfatbin -Xnvlink "
    "-maxrregcount --maxrregcount -diag-suppress --diag-suppress -rdc --relocatable-device-code "
    "-I -isystem -D -U -L -l -include -std --std -x"
).split()
ARCHITECTURE = re.compile(r"-gencode|--generate-code|-arch|--gpu-architecture|-code|--gpu-code|--offload-arch")
# CMAKE_CUDA_HOST_COMPILER and CUDAOPS_CUDA_JOBS say it here; libraries mean nothing to a compile.
IGNORED = re.compile(r"-ccbin|--compiler-bindir|-t$|-t=|-t\d|--threads|--offload-arch|-L|-l(?!ineinfo$)")
SUFFIXES = (".cu", ".hip")


class PortError(Exception):
    """The message says what is wrong; the facts and the way out follow on lines of their own."""


def port(path, out=None):
    """(the text of a CMakeLists.txt, facts about it). `out`: the file that it is for."""
    reader = read(path)
    return Writer(reader, out).write()


def read(path):
    try:
        reader = Reader(path)
        reader.read()
    except OSError as error:
        inside = os.path.join(path, "setup.py")
        fix = "python -m cudaops port " + (inside if os.path.isfile(inside) else "<setup.py, or a file that calls load()>")
        raise PortError("port(%s): the file can't be read.\n  found   %s\nFix: %s" % (path, error.strerror, fix)) from None
    except (SyntaxError, ValueError) as error:
        line = ":%d" % error.lineno if getattr(error, "lineno", None) else ""
        fix = "the setup.py, or the file that calls load()"
        if os.path.basename(path) == "CMakeLists.txt":
            fix = "what each line of it becomes: docs/porting.md, \"find_package(Torch) of your own\""
        raise PortError(
            "port(%s): this is no Python.\n  found   %s%s: %s\nFix: %s"
            % (path, path, line, getattr(error, "msg", error), fix)
        ) from None
    if not reader.calls:
        stops = uncaught(reader)[:1]
        found = ["%s (line %d)" % (one.text, one.line) for one in stops or reader.foreign[:3]]
        if os.path.isfile(os.path.join(reader.root, "CMakeLists.txt")):
            found.append("a CMakeLists.txt beside it")
        fix = "the file that names one; a find_package(Torch) or add_library() of your own: docs/porting.md"
        if stops:
            fix = "do what that line asks for, and run port again: by what is here, setup.py would end there"
        raise PortError(
            "port(%s): no extension of torch's is made here.\n  found   %s\n"
            "  wanted  CUDAExtension, CppExtension, load() or load_inline() of torch.utils.cpp_extension\nFix: %s"
            % (path, "; ".join(found) or "none", fix)
        )
    if not os.path.basename(path).startswith("setup"):
        # Such a file's paths begin where Python was started: at the nearest directory that has its sources.
        place = reader.root
        while place != os.path.dirname(place) and not found_sources(reader):
            place = reader.root = os.path.dirname(place)
        if not found_sources(reader):
            reader.root = os.path.dirname(reader.path)
        elif reader.root != os.path.dirname(reader.path):
            reader = Reader(path, reader.root)
            reader.read()
    return reader


def uncaught(reader):
    """Where a run for CUDA would end: Unknown."""
    found = [one for guard, one in reader.raised if classify(guard).kind in ("always", "cuda")]
    return list({one.line: one for one in found}.values())


def found_sources(reader):
    return any(
        isinstance(item, str) and os.path.isfile(os.path.join(reader.root, item))
        for call in reader.calls
        for _, item in flatten(argument(call, "sources"))
    )


# -------------------------------------------------------------------------------------------------------- guards


class Op:
    def __init__(self, name, call):
        self.name = name
        self.calls = [call]
        self.target = ""
        self.guard = call.test
        self.made = True  # False: a comment, no source of it was read

    @property
    def module(self):
        return self.name.rsplit(".", 1)[-1]

    @property
    def directory(self):
        return "/".join(self.name.split(".")[:-1])


class Block:
    """What stands in one `if()`, or in none."""

    def __init__(self):
        self.lines = {}

    def add(self, section, line):
        lines = self.lines.setdefault(section, [])
        if line not in lines:
            lines.append(line)


class Writer:
    def __init__(self, reader, out):
        self.reader = reader
        self.place = os.path.dirname(os.path.abspath(out)) if out else reader.root
        self.file = os.path.relpath(reader.path, self.place)
        self.notes = 0
        self.options = {}
        self.source = None  # the file whose call makes the op at hand
        self.last = []  # comments about what no op holds

    # ---- comments

    def note(self, line, what, file=None):
        file = file or self.source
        name = os.path.relpath(file, self.place) if file else self.file
        return "# %s:%d: %s" % (name, line, what)

    def not_read(self, keyword, value):
        said = "%s=%s" % (keyword, value.text) if keyword else value.text
        return self.note(value.line, "not read: " + said, value.file)

    # ---- the file

    def write(self):
        ops = self.ops = self.gather()
        bodies = [self.op(op) for op in ops]
        self.source = None
        name = self.reader.setup.get("name")
        if not isinstance(name, str):
            name = ops[0].name.split(".")[0] if isinstance(ops[0].name, str) else os.path.basename(self.reader.root)
        version = self.reader.setup.get("version")
        number = version_number(version)
        head = ["# From %s by `python -m cudaops port`. A comment that begins with a line of it says" % self.file]
        head += ["# what stands there and is not here, or not in the same way."]
        if os.path.normpath(os.path.dirname(self.file)) != ".":
            head += ["# This is the CMakeLists.txt of the directory that the paths of %s begin in." % self.file]
        unread = [one for one in choices(version) if isinstance(one, Unknown)]
        head += [self.not_read("version", one) for one in unread[:1]]
        languages = "C CXX" if self.has_c else "CXX"
        project = re.sub(r"[^A-Za-z0-9_.+-]+", "_", name)
        head += [
            "cmake_minimum_required(VERSION 3.25)",
            "project(%s%s LANGUAGES %s)" % (project, " VERSION " + number if number else "", languages),
            "",
            "find_package(CudaOps 0.1 REQUIRED)",
            "find_package(CudaTorchMatch REQUIRED)",
        ]
        simd = [option for option in self.options.values() if option.text == "simd"]
        if simd:
            head += ["", "include(CheckCXXSourceCompiles)", "set(CMAKE_REQUIRED_FLAGS -march=native)"]
        for option in simd:
            macro = re.sub("AVX(512)?_", r"AVX\1", option.name.upper())
            program = "#ifndef __%s__\\n#error\\n#endif\\nint main() {}" % macro
            head.append('check_cxx_source_compiles("%s" %s)' % (program, option_name(option)))
        if simd:
            head.append("unset(CMAKE_REQUIRED_FLAGS)")
        if len(self.options) > len(simd):
            head.append("")
        for option in self.options.values():
            if option.text == "simd":
                continue
            given = ("the argument %s" if option.text else "%s in the environment") % option.name
            head.append(
                'option(%s "%s: %s" %s)'
                % (option_name(option), os.path.basename(self.file), given, "ON" if option.default else "OFF")
            )
        lines = head + [line for body in join_blocks(bodies) for line in ["", *body]]
        lines += [""] * bool(self.last) + self.last
        tests = self.tests(ops)
        lines += [""] * bool(tests) + tests
        content = "\n".join(lines) + "\n"
        comments = sum(line.lstrip().startswith("# %s:" % name) for line in lines for name in self.names(lines))
        unmade = sum(not op.made for op in ops)
        return content, {"ops": len(ops), "unmade": unmade, "comments": comments, "file": self.file}

    def names(self, lines):
        """Files that comments name."""
        found = {match.group(1) for line in lines for match in [re.match(r"\s*# (\S+?):\d+: ", line)] if match}
        return sorted(found)

    def gather(self):
        """One op a name: a CUDAExtension and a CppExtension in two branches are one."""
        found = {}
        for call in self.reader.calls:
            names = [one for one in choices(argument(call, "name")) if isinstance(one, str)]
            name = str(names[0]) if names and names[0] else None
            where = classify(call.test, sure=False)
            if where.kind in ("hip", "never"):
                what = "for HIP, where hipify translates the CUDA sources" if where.kind == "hip" else "never on Linux"
                self.last.append(
                    self.note(call.line, "left out, %s: %s(%s)" % (what, call.kind, name or "..."), call.file)
                )
                continue
            if name is None:
                value = argument(call, "name")
                name = "op_%d" % (len(found) + 1)
                call.unnamed = value if isinstance(value, Unknown) else None
            if name in found:
                found[name].calls.append(call)
                found[name].guard = combine("or", [found[name].guard, call.test])
            else:
                found[name] = Op(name, call)
        self.has_c = False
        if not found:
            raise PortError(
                "port(%s): every extension here is for another platform.\n  %s"
                % (self.file, "\n  ".join(line[2:] for line in self.last))
            )
        ops = list(found.values())
        taken = {}
        for op in ops:
            parts = [re.sub(r"\W", "_", part) for part in op.name.split(".")]
            leaf = parts[-1]
            short = not leaf.startswith("_") and leaf not in CMAKE_TARGETS
            alone = sum(other.module == op.module for other in ops) == 1
            target = leaf if short and alone else "_".join(part.strip("_") for part in parts)
            target = target + "_ops" if target in CMAKE_TARGETS or not target[:1].isalpha() else target
            taken[target] = taken.get(target, 0) + 1
            op.target = target if taken[target] == 1 else "%s_%d" % (target, taken[target])
        return ops

    # ---- one op

    def items(self, op, *keywords):
        """[(guard, value)] of an argument, over the calls that make the op."""
        lists = []
        for call in op.calls:
            lists.append([])
            for keyword in keywords:
                lists[-1] += flatten(words(argument(call, keyword)), call.test)
        return merge_lists(lists)

    def op(self, op):
        self.block = {}  # condition -> Block
        self.comments = {}  # section -> lines
        self.assumed = set()
        self.hip = {}  # section -> what is for HIP only
        self.source = op.calls[0].file
        settled = settle(op.guard)
        where = classify(op.guard, settled)
        self.flipped = [option.name for option in where.options] + settled
        for option in where.options:
            self.options.setdefault(option.name, option)
        for leaf in relevant(op.guard, settled):
            self.take(leaf, "!" not in "".join(one for one in settled if one.lstrip("!") == leaf.text))
        self.only_cuda = op.only_cuda = classify(op.guard, self.flipped).kind == "cuda"
        gpu = [call.test for call in op.calls if call.kind == "CUDAExtension" and not isinstance(call.test, bool)]
        # Without them there is no CUDA: CUDAOPS_BACKEND says it here.
        self.backend = {
            leaf.name
            for leaf in switched(combine("and", gpu), self.flipped, "cuda")
            if not any(test.holds("cuda", (*self.flipped, leaf.name)) for test in gpu)
        }
        self.unused = {}
        self.unsaid(op.guard)
        # The op is there whatever they are, and so is all that stands under the same condition.
        self.ignored = {*self.unused, *self.backend}
        for call in op.calls:
            if getattr(call, "unnamed", None):
                self.comment("op", self.not_read("name", call.unnamed))

        sources = self.sources(op)
        known_gpu = all(call.kind == "CUDAExtension" for call in op.calls) or any(cuda for _, _, cuda in sources)
        self.required = known_gpu and not self.only_cuda and all(call.kind == "CUDAExtension" for call in op.calls)
        self.required = self.required and not any(path.cuda_only for path, _, _ in sources)
        if not self.only_cuda and any(call.kind == "CUDAExtension" for call in op.calls):
            # setuptools has no compiler for a .cu without CUDA either.
            self.required = self.required or any(
                path.name.endswith(SUFFIXES) and not path.cuda_only and not condition for path, condition, _ in sources
            )
        for line in self.compile_arguments(op):
            self.comment("options", line)
        self.link_arguments(op)
        for leaf in self.unused.values():
            said = ("left out: the argument %s" if leaf.text else "left out: %s in the environment") % leaf.name
            if leaf.name in self.backend and not self.required:
                said += "; -DCUDAOPS_BACKEND=CPU builds without CUDA"
            self.comment("op", self.note(leaf.line, said, leaf.file))
        for section, names in self.hip.items():
            self.comment(section, self.note(op.calls[0].line, "left out, for HIP: " + " ".join(dict.fromkeys(names))))
        text = [path.name for path, _, _ in sources]
        includes = [
            item for guard, item in self.items(op, "include_dirs", "extra_include_paths") if isinstance(item, str)
        ]
        abi, libraries = read_includes(text, self.place, [self.absolute(item) for item in includes])
        for name in libraries:
            self.at("").add("library", LIBRARIES[name])
        self.settle_blocks()
        is_module = all(argument(call, "is_python_module") is not False for call in op.calls)
        lines = self.command(op, sources, abi, is_module)
        if not sources:
            # CMake would stop: the lines are there for whoever writes the sources down.
            op.made = False
            return (
                self.comments.get("op", [])
                + ["# No source of %s was read:" % op.name]
                + ["# " + line for line in lines]
            )
        lines = self.comments.get("op", []) + lines + self.properties(op)
        if where.kind == "option":
            return ["if(%s)" % where.condition, *("  " + line if line else "" for line in lines), "endif()"]
        return lines

    def comment(self, section, line):
        line = line.replace(HOME, "$CUDA_HOME").replace(TORCH, "$TORCH")
        lines = self.comments.setdefault(section, [])
        if line not in lines:
            lines.append(line)

    def take(self, leaf, value=True):
        if leaf.text not in self.assumed:
            self.assumed.add(leaf.text)
            said = "taken as %s: %s" % ("true" if value else "false", leaf.text)
            self.comment("op", self.note(leaf.line, said, leaf.file))

    def unsaid(self, guard):
        """What the environment can switch off, and no option here does."""
        where = classify(guard, self.flipped)
        if where.kind in ("always", "cuda", "cpu"):
            for leaf in switched(guard, self.flipped, "cpu" if where.kind == "cpu" else "cuda"):
                self.unused.setdefault(leaf.name, leaf)

    def settle_blocks(self):
        """What stands with CUDA and without stands under no condition."""
        without = "NOT (%s)" % GPU
        for condition in [one for one in self.block if one.startswith(without)]:
            rest = condition[len(without) :].removeprefix(" AND ")
            other = self.block.get("(%s) AND %s" % (GPU, rest) if rest else GPU)
            for section, lines in self.block[condition].lines.items() if other else ():
                for line in [one for one in lines if one in other.lines.get(section, [])]:
                    self.at(rest).add(section, line)
                    lines.remove(line)
                    other.lines[section].remove(line)
        self.block = {condition: self.block[condition] for condition in sorted(self.block, key=bool)}

    def condition(self, guard, section, text):
        """(whether it is emitted, its `if()`); what is not emitted becomes a comment."""
        where = classify(guard, self.flipped, ignored=self.ignored)
        if where.kind in ("always", "cuda", "cpu"):
            words = []
            for leaf in switched(guard, self.flipped, "cpu" if where.kind == "cpu" else "cuda"):
                if leaf.name in self.ignored or leaf.text == "argv":
                    self.unused.setdefault(leaf.name, leaf)
                else:
                    self.options.setdefault(leaf.name, leaf)
                    words.append(on(leaf, False))
            if words:
                for leaf in assumed(guard, self.flipped):
                    self.take(leaf)
                if where.kind == "cpu" and (self.only_cuda or self.required):
                    return False, ""
                gpu = where.kind == "cuda" and not (self.only_cuda or self.required)
                words = ["(%s)" % GPU] * gpu + ["NOT (%s)" % GPU] * (where.kind == "cpu") + words
                return True, " AND ".join(words)
        if where.kind in ("always", "cuda", "cpu", "option"):
            for leaf in assumed(guard, self.flipped):
                self.take(leaf)
            for option in where.options:
                self.options.setdefault(option.name, option)
        if where.kind == "always":
            return True, ""
        if where.kind == "cuda":
            return True, "" if self.only_cuda or self.required else GPU
        if where.kind == "cpu":
            return not (self.only_cuda or self.required), "NOT (%s)" % GPU
        if where.kind == "option":
            return True, where.condition
        if where.kind == "doubt":
            leaf, where_it_holds = deciding(guard, self.flipped)
            self.comment(section, self.note(leaf.line, "not read: %s, %s" % (text, where_it_holds), leaf.file))
        if where.kind == "hip":
            self.hip.setdefault(section, []).append(str(text))
        return False, ""

    def at(self, condition):
        return self.block.setdefault(condition, Block())

    # ---- sources

    def sources(self, op):
        """[(Path, condition, whether it is for CUDA)]"""
        self.line = op.calls[0].line
        result = []
        self.required = False
        for guard, item in self.items(op, "sources", "cpp_sources", "cuda_sources"):
            if (
                isinstance(item, str)
                and any(call.kind == "load_inline" for call in op.calls)
                and ("\n" in item or "(" in item)
            ):
                what = "sources of %s are text in Python: write them to files" % op.name
                self.comment("op", self.note(getattr(item, "line", 0) or self.line, "not read: " + what))
                continue
            if not isinstance(item, str):
                self.comment("op", self.unread("sources", item))
                continue
            where = classify(guard, self.flipped)
            if where.kind == "doubt":
                settled = settle(guard, self.flipped)
                for leaf in doubts(guard, self.flipped):
                    self.take(leaf, leaf.text in settled)
                where = classify(guard, [*self.flipped, *settled])
            path = Path(self.relative(item), item)
            if where.kind in ("hip", "never"):
                if where.kind == "hip":
                    self.hip.setdefault("op", []).append(path.name)
                continue
            if not os.path.isfile(os.path.join(self.place, path.name)):
                line = getattr(item, "line", 0) or self.line
                self.comment("op", self.note(line, "not found: %s" % path.name))
                continue
            for leaf in assumed(guard, self.flipped):
                self.take(leaf)
            self.unsaid(guard)
            for option in where.options:
                self.options.setdefault(option.name, option)
            condition = where.condition if where.kind == "option" else "NOT (%s)" % GPU if where.kind == "cpu" else ""
            path.cuda_only = where.kind == "cuda" and not self.only_cuda
            cuda = path.name.endswith(SUFFIXES) or where.kind == "cuda"
            self.has_c = self.has_c or path.name.endswith(".c")
            if all(path.name != other.name for other, _, _ in result):
                result.append((path, condition, cuda))
        cpp = all(call.kind == "CUDAExtension" for call in op.calls)
        if cpp and not any(cuda for _, _, cuda in result):
            result = [(path, condition, True) for path, condition, _ in result]
        return result

    def unread(self, keyword, item):
        if isinstance(item, Unknown):
            return self.not_read(keyword, item)
        return self.note(self.line, "not read: %s holds a %s" % (keyword, type(item).__name__.lower()))

    def absolute(self, path):
        return os.path.normpath(os.path.join(self.reader.root, path))

    def relative(self, path):
        if path.startswith((HOME, TORCH)):
            return path
        absolute = self.absolute(path)
        relative = os.path.relpath(absolute, self.place)
        # A few steps up are the same project; beyond them it is a place of this machine.
        return absolute if os.path.isabs(path) and relative.startswith("../../..") else relative

    def command(self, op, sources, abi, is_module):
        lines = ["add_torch_op(%s" % op.target]
        variables = []
        lists = {"SOURCES": [], "CUDA_SOURCES": []}
        for path, condition, cuda in sources:
            key = "CUDA_SOURCES" if cuda else "SOURCES"
            if condition:
                variables.append((condition, key, path.name))
            else:
                lists[key].append(path.name)
        before = []
        for key in lists:
            grouped = {}
            for condition, its, name in variables:
                if its == key:
                    grouped.setdefault(condition, []).append(name)
            if grouped:
                variable = "%s_%s" % (op.target, key.lower())
                before.append('set(%s "")' % variable)
                for condition, names in grouped.items():
                    before += ["if(%s)" % condition, "  list(APPEND %s" % variable]
                    before += ["    %s" % quote(name) for name in names] + ["  )", "endif()"]
                lists[key].append("\0${%s}" % variable)
        if abi != "STABLE":
            lines.append("  ABI %s" % abi)
        if self.required:
            lines.append("  CUDA REQUIRED")
        for value in [value for block in self.block.values() for value in block.lines.get("torch_target", [])][:1]:
            number = int(value.rstrip("uUlL"), 0) if re.fullmatch(r"(0x)?[0-9a-fA-F]+[uUlL]*", value) else 0
            target = (number >> 56, number >> 48 & 255)
            if abi == "STABLE" and target > (2, 10):
                lines.append("  TORCH_TARGET %d.%d" % target)
        if is_module or abi == "PYBIND":
            lines.append("  PYTHON_MODULE %s" % op.module)
            package = self.package(op)
            if package:
                lines.append("  PYTHON_PACKAGE %s" % quote(package))
            if op.directory:
                lines.append("  INSTALL %s" % quote(op.directory))
            elif any(call.kind.endswith("Extension") for call in op.calls):
                lines.append("  INSTALL .")
        for key, names in lists.items():
            if names:
                lines.append("  " + key)
                lines += ["    " + (name[1:] if name.startswith("\0") else quote(name)) for name in names]
        lines.append(")")
        self.cuda = any(cuda and path.name.endswith(SUFFIXES) for path, _, cuda in sources)
        self.host = any(not path.name.endswith(SUFFIXES) for path, _, _ in sources)
        limited = [value for call in op.calls for value in choices(argument(call, "py_limited_api"))]
        if abi == "PYBIND" and True in limited:
            what = "left out: py_limited_api: pybind11 has no limited API; with TORCH_LIBRARY (ABI FULL) the module is abi3"
            self.comment("op", self.note(op.calls[0].line, what, op.calls[0].file))
        elif any(isinstance(value, Unknown) for value in limited):
            self.comment("op", self.not_read("py_limited_api", next(v for v in limited if isinstance(v, Unknown))))
        return before + lines

    def package(self, op):
        """The directory of the .py files beside a module; the first op of a package brings them."""
        first = next(one for one in self.ops if one.directory == op.directory)
        if not op.directory or "/" in op.directory or op is not first:
            return ""
        places = [os.path.join(folder, op.directory) for folder in ("", "src", "python")]
        found = [one for one in places if os.path.isfile(os.path.join(self.reader.root, one, "__init__.py"))]
        return self.relative(found[0]) if found else ""

    # ---- compile arguments

    def compile_arguments(self, op):
        notes = []
        lists = {"cxx": [], "nvcc": [], "nvcc_dlink": []}
        both = False
        for call in op.calls:
            self.line = call.line
            sides = {side: [] for side in lists}
            for guard, value in flatten([argument(call, "extra_compile_args")], call.test):
                if isinstance(value, dict):
                    for key, flags in value.items():
                        if key in sides:
                            sides[key] += flatten(flags, guard)
                        else:
                            notes.append(self.note(call.line, "not read: extra_compile_args[%r]" % key, call.file))
                elif isinstance(value, Unknown):
                    notes.append(self.not_read("extra_compile_args", value))
                else:
                    both = True
                    sides["cxx"] += flatten(value, guard)
                    sides["nvcc"] += flatten(value, guard)
            sides["cxx"] += flatten(words(argument(call, "extra_cflags")), call.test)
            sides["nvcc"] += flatten(words(argument(call, "extra_cuda_cflags")), call.test)
            for side, found in sides.items():
                lists[side].append(found)
            if True in choices(argument(call, "dlink")) or True in choices(argument(call, "dlink_libraries")):
                self.at("").add("separable", "")
        self.cuda = any(cuda for _, _, cuda in self.sources_of(op))
        if not self.cuda:
            lists["nvcc"] = lists["nvcc_dlink"] = []
        said = {side: "extra_compile_args" + "[%s]" % side * (not both) for side in lists}
        flags = {side: self.flags(merge_lists(found), side, said[side]) for side, found in lists.items()}
        for side in ("cxx", "nvcc"):
            other = "nvcc" if side == "cxx" else "cxx"
            for condition, kind, value in flags[side]:
                everywhere = not self.cuda or (condition, kind, value) in flags[other]
                language = "" if everywhere else "CXX" if side == "cxx" else "CUDA"
                if kind == "option" and not (both and everywhere) and self.cuda:
                    language = "CXX" if side == "cxx" else "CUDA"
                if kind == "include" and language and not value.startswith(("/", HOME, TORCH)):
                    value = HERE + "/" + value  # CMake leaves paths in generator expressions as they are
                self.at(condition).add(
                    kind, generator(language, value) if kind in ("definition", "option", "include") else value
                )
        for condition, kind, value in flags["nvcc_dlink"]:
            self.at("").add("separable", "")
            if kind == "option" and not value.startswith("-dlink"):
                self.at(condition).add("link_option", generator("\0DEVICE_LINK", value))
        for guard, item in self.items(op, "define_macros"):
            pair = item if isinstance(item, tuple) else None
            if pair is None or not isinstance(pair[0], str) or not isinstance(pair[-1], (str, int, type(None))):
                self.comment("definition", self.unread("define_macros", unknown_of(item)))
                continue
            value = pair[0] if len(pair) == 1 or pair[1] is None else "%s=%s" % pair
            emit, condition = self.condition(guard, "definition", value)
            if emit and value not in ("TORCH_EXTENSION_NAME",):
                self.at(condition).add("definition", value)
        for guard, item in self.items(op, "undef_macros"):
            if isinstance(item, str):
                emit, condition = self.condition(guard, "option", "-U" + item)
                if emit:
                    self.at(condition).add("option", "-U" + item)
            else:
                self.comment("option", self.unread("undef_macros", item))
        for guard, item in self.items(op, "include_dirs", "extra_include_paths"):
            self.directory("include", "include_dirs", guard, item)
        return notes

    def sources_of(self, op):
        return [
            (None, None, isinstance(item, str) and item.endswith(SUFFIXES))
            for _, item in self.items(op, "sources", "cuda_sources")
        ]

    def elsewhere(self, guard):
        """For another platform: nothing to say where it can't be read."""
        return classify(guard, self.flipped).kind in ("hip", "never")

    def directory(self, section, keyword, guard, item):
        if not isinstance(item, str):
            if not self.elsewhere(guard):
                self.comment(section, self.unread(keyword, item))
            return
        toolkit = re.match(re.escape(HOME) + r"|/usr/local/cuda[^/]*(?=/)", item)
        rest = item[toolkit.end() :].rstrip("/") if toolkit else ""
        if toolkit and re.fullmatch(r"/(targets/[^/]+/)?(include|lib|lib64)(/stubs)?", rest):
            return  # CudaOps passes those of the toolkit that was chosen
        if item.startswith(TORCH + "/include") or item.startswith(TORCH + "/lib"):
            return
        emit, condition = self.condition(guard, section, item)
        if emit:
            self.at(condition).add(section, self.relative(item))

    def flags(self, found, side, keyword):
        """[(condition, kind, value)]"""
        result = []
        dropped = []
        queue = [
            (guard, one) for guard, item in found for one in (split_words(item) if isinstance(item, str) else [item])
        ]
        index = 0
        while index < len(queue):
            guard, flag = queue[index]
            index += 1
            if not isinstance(flag, str):
                if isinstance(flag, Unknown) and ARCHITECTURE.search(flag.text):
                    dropped.append(flag.text)
                elif self.elsewhere(guard):
                    pass
                elif not (isinstance(flag, Unknown) and re.match(r"f?['\"](--threads|-t|-ccbin)\b", flag.text)):
                    self.comment("options", self.unread(keyword, flag))
                continue
            flag = str(flag)
            value = ""
            if flag in TWO_WORDS and index < len(queue):
                value = queue[index][1]
                index += 1
                value = str(value) if isinstance(value, str) else value
                if isinstance(value, Unknown) and IGNORED.match(flag):
                    continue
                if isinstance(value, Unknown) and not ARCHITECTURE.match(flag):
                    self.comment("options", self.unread("%s: %s" % (keyword, flag), value))
                    continue
            if not flag:
                continue
            if ARCHITECTURE.match(flag) and not flag.startswith("-code="):
                if classify(guard, self.flipped).kind not in ("never", "hip"):
                    dropped.append(
                        flag.split("=", 1)[1] if "=" in flag else value if isinstance(value, str) else value.text
                    )
                continue
            made = self.one_flag(flag, value, side)
            if made is None:
                continue
            emit, condition = self.condition(guard, "options", " ".join([flag, value]).strip())
            if emit:
                result += [(condition, kind, one) for kind, one in made]
        if dropped:
            names = sorted(
                {name for text in dropped for name in re.findall(r"(?:sm|compute)_\w+|gfx\w+", text)}, key=natural
            )
            said = " ".join([name for name in names if not name.startswith("compute")] or names) or "architectures"
            self.comment(
                "options",
                self.note(self.line, "left out: flags for %s; CMAKE_CUDA_ARCHITECTURES says what is built" % said),
            )
        return result

    def one_flag(self, flag, value, side):
        """[(kind, value)], or None where it needs no line here."""
        if flag.startswith(("-std", "--std")):
            number = re.search(r"(\d\w)$", (flag + " " + value).strip())
            standard = number.group(1).replace("1z", "17").replace("2a", "20").replace("2b", "23") if number else ""
            if not standard.isdigit() or int(standard) in (98, 3, 11, 14, 17):
                return None  # torch's headers ask for as much
            return [("feature" if side == "cxx" else "cuda_standard", standard)]
        if flag in ("-O3", "-fPIC", "-shared", "-fdiagnostics-color", "-fdiagnostics-color=always"):
            return None  # as CMake's Release has it
        if IGNORED.match(flag):
            return None
        if re.match(r"-(rdc|-relocatable-device-code)", flag) or flag in ("-dc", "--device-c"):
            return [("separable", "")] if "false" not in flag + value else None
        for option, kind in (("-D", "definition"), ("-I", "include"), ("-isystem", "include")):
            if flag.startswith(option):
                rest = flag[len(option) :] or value
                name = rest.split("=")[0]
                if kind == "include":
                    return [(kind, self.relative(rest))]
                if name == "TORCH_TARGET_VERSION":
                    return [("torch_target", rest.partition("=")[2])]
                if name in (
                    "USE_CUDA",
                    "TORCH_EXTENSION_NAME",
                    "TORCH_API_INCLUDE_EXTENSION_H",
                    "_GLIBCXX_USE_CXX11_ABI",
                ):
                    return None
                if rest == "Py_LIMITED_API=0x03090000":
                    return None  # PYTHON_MODULE defines it
                return [(kind, rest)]
        if re.match(r"-U__CUDA_NO_\w+__$", flag):
            return None  # cpp_extension defines them, add_torch_op() doesn't
        if flag in ("--expt-relaxed-constexpr", "-expt-relaxed-constexpr"):
            return [("option", flag)]
        if flag in ("-Xcompiler", "--compiler-options") or flag.startswith(("-Xcompiler=", "--compiler-options=")):
            given = value or flag.split("=", 1)[1]
            made = []
            for one in given.strip("\"'").split(","):
                if one == "-fopenmp":
                    made += [("openmp", "")]
                elif one not in ("-fPIC", "-O3"):
                    made += [("option", "-Xcompiler=" + one)]
            return made or None
        if flag in ("-fopenmp", "-lgomp", "/openmp"):
            return [("openmp", "")]
        if flag in ("-dlink", "--device-link"):
            return [("separable", "")]
        # One word: CMake leaves out words that it has had.
        return [
            (
                "option",
                (
                    flag + "=" + value
                    if value and flag.startswith("-") and flag != "-include"
                    else (flag + " " + value).strip()
                ),
            )
        ]

    # ---- link arguments

    def link_arguments(self, op):
        self.line = op.calls[0].line
        for guard, item in self.items(op, "libraries"):
            self.library(guard, item, "libraries")
        for guard, item in self.items(op, "library_dirs"):
            self.directory("link_directory", "library_dirs", guard, item)
        for guard, item in self.items(op, "runtime_library_dirs"):
            self.directory("rpath", "runtime_library_dirs", guard, item)
        for guard, item in self.items(op, "extra_objects"):
            if isinstance(item, str):
                emit, condition = self.condition(guard, "link", item)
                path = self.relative(item)
                if emit:
                    prefix = "" if path.startswith(("/", HOME, TORCH)) else HERE + "/"
                    self.at(condition).add("library", prefix + path)
            else:
                self.comment("link", self.unread("extra_objects", item))
        queue = self.items(op, "extra_link_args", "extra_ldflags")
        queue = [
            (guard, one) for guard, item in queue for one in (split_words(item) if isinstance(item, str) else [item])
        ]
        index = 0
        while index < len(queue):
            guard, flag = queue[index]
            index += 1
            if not isinstance(flag, str):
                if not self.elsewhere(guard):
                    self.comment("link", self.unread("extra_link_args", flag))
                continue
            if flag in ("-L", "-l", "-Xlinker") and index < len(queue) and isinstance(queue[index][1], str):
                flag = ("-Wl," if flag == "-Xlinker" else flag) + queue[index][1]
                index += 1
            if flag.startswith("-l"):
                self.library(guard, flag[2:], "extra_link_args")
            elif flag.startswith("-L"):
                self.directory("link_directory", "extra_link_args", guard, flag[2:])
            elif flag.startswith("-Wl,-rpath"):
                self.directory("rpath", "extra_link_args", guard, re.sub(r"^-Wl,-rpath[,=]|-Wl,", "", flag))
            elif flag in ("-fopenmp", "-shared", "-O3", ""):
                if flag == "-fopenmp":
                    self.library(guard, "gomp", "extra_link_args")
            else:
                emit, condition = self.condition(guard, "link", flag)
                if emit:
                    self.at(condition).add("link_option", str(flag))

    def library(self, guard, item, keyword):
        if not isinstance(item, str):
            if not self.elsewhere(guard):
                self.comment("link", self.unread(keyword, item))
            return
        if item in LINKED:
            return
        emit, condition = self.condition(guard, "link", item)
        if emit and item in ("gomp", "omp", "iomp5"):
            self.at(condition).add("openmp", "")
        elif emit:
            # The targets of CUDA's libraries are there without CUDA too, and empty.
            known = item in LIBRARIES and condition == GPU
            self.at("" if known else condition).add("library", LIBRARIES.get(item, str(item)))

    # ---- lines

    def properties(self, op):
        lines = []
        sections = (
            ("include", "target_include_directories(%s PRIVATE"),
            ("definition", "target_compile_definitions(%s PRIVATE"),
            ("feature", None),
            ("cuda_standard", None),
            ("option", "target_compile_options(%s PRIVATE"),
            ("separable", None),
            ("link_directory", "target_link_directories(%s PRIVATE"),
            ("library", "target_link_libraries(%s PRIVATE"),
            ("link_option", "target_link_options(%s PRIVATE"),
            ("rpath", None),
        )
        shown = {"include": "include", "definition": "definition", "option": "options", "library": "link"}
        under = {}  # condition -> lines
        self.comments["options"] = self.comments.pop("options", []) + self.comments.pop("option", [])
        for section, _ in sections:
            if section in shown:
                lines += self.comments.get(shown[section], [])
            if section == "link_directory":
                lines += self.comments.get("link_directory", [])
            if section == "rpath":
                lines += self.comments.get("rpath", [])
            for condition, block in self.block.items():
                found = block.lines.get(section, [])
                bare = [one for one in found if not one.startswith("$<")]
                found = [one for one in found if not any(one.endswith((":%s>" % other, ":%s/%s>" % (HERE, other))) for other in bare)]
                if section == "library" and block.lines.get("openmp"):
                    found.append("CudaOps::openmp")
                if not found:
                    continue
                made = self.section(section, dict(sections)[section], op.target, found)
                if condition:
                    under.setdefault(condition, []).extend(made)
                else:
                    lines += made
        for condition, made in under.items():
            lines += ["if(%s)" % condition, *("  " + line for line in made), "endif()"]
        return lines

    def section(self, section, command, target, found):
        if section == "feature":
            return ["target_compile_features(%s PRIVATE cxx_std_%s)" % (target, max(found, key=int))]
        if section == "cuda_standard":
            return ["set_target_properties(%s PROPERTIES CUDA_STANDARD %s)" % (target, max(found, key=int))]
        if section == "separable":
            return ["set_target_properties(%s PROPERTIES CUDA_SEPARABLE_COMPILATION ON)" % target]
        if section == "rpath":
            return [
                "set_property(TARGET %s APPEND PROPERTY %s %s)" % (target, name, " ".join(quote(one) for one in found))
                for name in ("BUILD_RPATH", "INSTALL_RPATH")
            ]
        if len(found) == 1:
            return ["%s %s)" % (command % target, quote(found[0]))]
        return [command % target, *("  " + quote(one) for one in found), ")"]

    # ---- tests

    def tests(self, ops):
        """Python tests that import a module built here, and nothing else of the project."""
        made = [op for op in ops if op.made]
        modules = {op.module: op for op in made if not op.directory}
        packages = {
            name
            for name in os.listdir(self.reader.root)
            if os.path.isfile(os.path.join(self.reader.root, name, "__init__.py"))
        }
        packages |= {op.directory.split("/")[0] for op in ops if op.directory}
        built = {op.directory: op for op in reversed(made) if self.package(op)}
        lines = []
        for folder in ("", "test", "tests"):
            directory = os.path.join(self.reader.root, folder)
            for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else []:
                if not re.fullmatch(r"test_\w+\.py", name):
                    continue
                imported = imports(os.path.join(directory, name))
                path = self.relative(os.path.join(directory, name))
                if imported & packages and imported & packages <= set(built):
                    used = [op for op in made if op.directory in imported or op.module in imported & set(modules)]
                    # A test is skipped where one of its ops isn't built; a package may do without those for CUDA.
                    used = [op.target for op in [op for op in used if not op.only_cuda] or used]
                    test = "cudaops_add_python_test(%s OP %s SCRIPT %s PYTEST)"
                    lines.append(test % (name[:-3], " ".join(used), quote(path)))
                elif imported & packages:
                    package = sorted(imported & packages)[0]
                    lines.append("# %s imports the package %s: install it, then run pytest." % (path, package))
                elif imported & set(modules):
                    used = [modules[module].target for module in sorted(imported & set(modules))]
                    test = "cudaops_add_python_test(%s OP %s SCRIPT %s PYTEST)"
                    lines.append(test % (name[:-3], " ".join(used), quote(path)))
        if len(lines) > 12:
            lines = lines[:12] + ["# and %d more" % (len(lines) - 12)]
        return ["include(CTest)", *lines] if any(not line.startswith("#") for line in lines) else lines


# --------------------------------------------------------------------------------------------------------- tools

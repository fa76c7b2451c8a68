# SPDX-License-Identifier: Apache-2.0
"""The whole CMakeLists.txt: its head, what its ops are called, and the project's tests."""

import os
import re

from .branches import choices
from .cmake_text import imports, join_blocks, quote
from .conditions import classify, option_name
from .op import Op, in_if, op_lines
from .values import HOME, TORCH, Class, Function, Unknown, combine

CMAKE_TARGETS = "all help install clean test package edit_cache rebuild_cache".split()


class PortError(Exception):
    """The message says what is wrong; the facts and the way out follow on lines of their own."""


def repository(directory):
    """The checkout that a directory is in; without one, two steps up: beyond are places of this machine."""
    place = directory
    while not os.path.exists(os.path.join(place, ".git")):
        if place == os.path.dirname(place):
            return os.path.dirname(os.path.dirname(directory))
        place = os.path.dirname(place)
    return place


class Project:
    def __init__(self, reader, out):
        self.reader = reader
        self.place = os.path.dirname(os.path.abspath(out)) if out else reader.root
        self.file = os.path.relpath(reader.path, self.place)
        self.top = repository(reader.root)
        self.options = {}
        self.has_c = False
        self.last = []  # comments about what no op holds
        self.ops = self.gather()

    # ---- comments

    def note(self, line, what, file):
        return "# %s:%d: %s" % (os.path.relpath(file or self.reader.path, self.place), line, what)

    def not_read(self, keyword, value, file=None):
        """`file`: where a value doesn't know its own."""
        said = "%s=%s" % (keyword, value.text) if keyword else value.text
        return self.note(value.line, "not read: " + said, value.file or file)

    # ---- the file

    def write(self):
        bodies = [op_lines(self, op) for op in self.ops]  # they bring options and languages
        lines = [*self.head(), *self.checks()]
        lines += [line for body in join_blocks(bodies) for line in ["", *body]]
        self.last += self.commands()
        lines += [""] * bool(self.last) + self.last
        tests = self.tests(self.ops)
        lines += [""] * bool(tests) + tests
        comments = sum(bool(re.match(r"\s*# [^:]+:\d+: ", line)) for line in lines)
        unmade = sum(not op.made for op in self.ops)
        facts = {"ops": len(self.ops), "unmade": unmade, "comments": comments, "file": self.file}
        return "\n".join(lines) + "\n", facts

    def head(self):
        lines = ["# From %s by `python -m cudaops port`. A comment that begins with a line of it says" % self.file]
        lines += ["# what stands there and is not here, or not in the same way."]
        if os.path.normpath(os.path.dirname(self.file)) != ".":
            lines += ["# This is the CMakeLists.txt of the directory that the paths of %s begin in." % self.file]
        name, version = self.reader.setup.get("name"), self.reader.setup.get("version")
        name = re.sub(r"[^A-Za-z0-9_.+-]+", "_", name if isinstance(name, str) else self.ops[0].name.split(".")[0])
        number = re.match(r"\d+(\.\d+){0,3}", version) if isinstance(version, str) else None
        unread = [one for one in choices(version) if isinstance(one, Unknown)]
        lines += [self.not_read("version", one) for one in unread[:1]]
        languages = "C CXX" if self.has_c else "CXX"
        return lines + [
            "cmake_minimum_required(VERSION 3.25)",
            "project(%s%s LANGUAGES %s)" % (name, " VERSION " + number.group(0) if number else "", languages),
            "",
            "find_package(CudaOps 0.1 REQUIRED)",
            "find_package(CudaTorchMatch REQUIRED)",
        ]

    def checks(self):
        """The options that the ops have asked for; what the processor has is asked of the compiler."""
        lines = []
        simd = [option for option in self.options.values() if option.text == "simd"]
        if simd:
            lines += ["", "include(CheckCXXSourceCompiles)", "set(CMAKE_REQUIRED_FLAGS -march=native)"]
            for option in simd:
                macro = re.sub("AVX(512)?_", r"AVX\1", option.name.upper())
                program = "#ifndef __%s__\\n#error\\n#endif\\nint main() {}" % macro
                lines.append('check_cxx_source_compiles("%s" %s)' % (program, option_name(option)))
            lines.append("unset(CMAKE_REQUIRED_FLAGS)")
        lines += [""] * (len(self.options) > len(simd))
        for option in self.options.values():
            if option.text != "simd":
                given = ("the argument %s" if option.text else "%s in the environment") % option.name
                said = (option_name(option), os.path.basename(self.file), given, "ON" if option.default else "OFF")
                lines.append('option(%s "%s: %s" %s)' % said)
        return lines

    def commands(self):
        """Classes of the project's own in cmdclass, which may add flags or make files when setup.py builds."""
        lines = []
        for table in choices(self.reader.setup.get("cmdclass")):
            for key, value in table.items() if isinstance(table, dict) else []:
                for kind in choices(value) if key in ("build_ext", "build_py", "build") else []:
                    parts = [one for one in kind.order() if one.bases] if isinstance(kind, Class) else []
                    names = [name for one in parts for name, item in one.names.items() if isinstance(item, Function)]
                    if names:
                        said = "not read: what %s does in %s()" % (kind.node.name, "(), ".join(dict.fromkeys(names)))
                        lines.append(self.note(kind.node.lineno, said, kind.scope.module.path))
        return list(dict.fromkeys(lines))

    def gather(self):
        """One op a name: a CUDAExtension and a CppExtension in two branches are one."""
        found = {}
        for call in self.reader.calls:
            names = [one for one in choices(call.argument("name")) if isinstance(one, str)]
            name = str(names[0]) if names and names[0] else None
            where = classify(call.test, sure=False)
            if where.kind in ("hip", "never"):
                what = "for HIP, where hipify translates the CUDA sources" if where.kind == "hip" else "never on Linux"
                said = "left out, %s: %s(%s)" % (what, call.kind, name or "...")
                self.last.append(self.note(call.line, said, call.file))
            elif name in found:
                found[name].calls.append(call)
                found[name].guard = combine("or", [found[name].guard, call.test])
            else:
                op = Op(name or "op_%d" % (len(found) + 1), call)
                unread = call.argument("name")
                op.unnamed = unread if name is None and isinstance(unread, Unknown) else None
                found[op.name] = op
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

    def absolute(self, path):
        return os.path.normpath(os.path.join(self.reader.root, path))

    def relative(self, path):
        if path.startswith((HOME, TORCH)):
            return path
        absolute = self.absolute(path)
        elsewhere = os.path.isabs(path) and os.path.relpath(absolute, self.top).startswith("..")
        return absolute if elsewhere else os.path.relpath(absolute, self.place)

    def package(self, op):
        """The directory of the .py files beside a module; the first op of a package brings them."""
        first = next(one for one in self.ops if one.directory == op.directory)
        if not op.directory or "/" in op.directory or op is not first:
            return ""
        places = [os.path.join(folder, op.directory) for folder in ("", "src", "python")]
        found = [one for one in places if os.path.isfile(os.path.join(self.reader.root, one, "__init__.py"))]
        return self.relative(found[0]) if found else ""

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
                if imported & packages <= set(built):
                    used = [op for op in made if op.directory in imported or op.module in imported & set(modules)]
                    # A test is skipped where one of its ops isn't built; a package may do without those for CUDA.
                    used = [op for op in used if not op.only_cuda] or used if imported & packages else used
                    if used:
                        test = "cudaops_add_python_test(%s OP %s SCRIPT %s PYTEST)"
                        test %= name[:-3], " ".join(op.target for op in used), quote(path)
                        optional = ["TARGET " + op.target for op in used if op.optional]
                        lines.append("\n".join(in_if(" AND ".join(optional), [test])) if optional else test)
                else:
                    package = sorted(imported & packages)[0]
                    lines.append("# %s imports the package %s: install it, then run pytest." % (path, package))
        if len(lines) > 12:
            lines = lines[:12] + ["# and %d more" % (len(lines) - 12)]
        return ["include(CTest)", *lines] if any(not line.startswith("#") for line in lines) else lines

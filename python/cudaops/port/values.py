# SPDX-License-Identifier: Apache-2.0
"""What a setup.py is read as: values that are known and those that aren't, conditions, names."""

import ast

HOME = "\0cuda\0"  # CUDA_HOME: which toolkit it is, CMake decides
TORCH = "\0torch\0"  # the directory of torch
LIMIT = 200000  # evaluations: a loop that is too long ends the reading of its value, not the machine
DEPTH = 30
CHOICES = 16

FALSY = {"", "0", "off", "false", "no", "n", "none"}
EXTENSIONS = ("CUDAExtension", "CppExtension", "load", "load_inline")


class Text(str):
    """A text that knows its line; `path` where pathlib's operators are meant."""

    line = 0
    path = False


def text(value, line=0, path=False):
    result = Text(value)
    result.line, result.path = line, path
    return result


class Unknown:
    def __init__(self, node, file, line=0):
        self.text = " ".join(ast.unparse(node).split()) if isinstance(node, ast.AST) else node
        self.line = getattr(node, "lineno", line)
        self.file = file

    def __repr__(self):
        return "Unknown(%s)" % self.text


class Choice:
    def __init__(self, test, yes, no):
        self.test, self.yes, self.no = test, yes, no
        self.size = sum(getattr(one, "size", 1) for one in (yes, no))


class Splice:
    """Elements of a list that are there only where the test holds."""

    def __init__(self, test, items):
        self.test, self.items = test, items


class Machine(Unknown):
    """The processor's kind; what it is compared with is taken as x86-64, with a comment."""

    NAMES = ("x86_64", "X86_64", "AMD64", "amd64", "x86-64")

    def default(self, found):
        return any(found(name) for name in self.NAMES)


class Simd(Unknown):
    """What the processor has (its flags in /proc/cpuinfo): CMake asks the compiler for it."""

    def test(self, flag):
        name = "avx512f" if flag.lower() == "avx512" else flag.lower()
        return Test("env", name=name, default=False, text="simd", line=self.line, file=self.file)


class Env:
    """A value of the environment, or of the command line; `default` where it isn't set."""

    def __init__(self, name, default, flag=False, line=0, file=""):
        self.name, self.default, self.flag, self.line, self.file = name, default, flag, line, file

    def again(self, default):
        return Env(self.name, default, self.flag, self.line, self.file)


MISSING = object()


# ------------------------------------------------------------------------------------------------------ conditions


class Test:
    """What is tested: a leaf (cuda, hip, gpu, env, unknown), or "and", "or", "not" of others."""

    def __init__(self, kind, args=(), name="", default=None, text="", line=0, file=""):
        self.kind, self.args, self.name, self.default = kind, tuple(args), name, default
        self.text, self.line, self.file = text, line, file

    def leaves(self):
        if self.kind in ("and", "or", "not"):
            return [leaf for arg in self.args for leaf in arg.leaves()]
        return [self]

    def holds(self, world, flipped=()):
        """True, False, or None where that isn't known. `world` is cuda, hip or cpu.

        `flipped` holds names of options, and texts of what isn't known and is taken as true (with ! before, as false).
        """
        if self.kind == "not":
            value = self.args[0].holds(world, flipped)
            return None if value is None else not value
        if self.kind in ("and", "or"):
            decisive = self.kind == "or"
            values = [arg.holds(world, flipped) for arg in self.args]
            if decisive in values:
                return decisive
            return None if None in values else not decisive
        if self.kind == "gpu":
            return world != "cpu"
        if self.kind in ("cuda", "hip"):
            return world == self.kind
        if self.kind == "env":
            return self.default != (self.name in flipped)
        return True if self.text in flipped else False if "!" + self.text in flipped else self.default


def negate(test):
    if isinstance(test, bool):
        return not test
    return test.args[0] if test.kind == "not" else Test("not", [test])


def combine(kind, tests):
    """and, or: constants are folded, the same test isn't said twice."""
    decisive = kind == "or"
    kept = []
    for test in tests:
        if isinstance(test, bool):
            if test == decisive:
                return decisive
        elif test.kind == kind:
            kept += [arg for arg in test.args if arg not in kept]
        elif test not in kept:
            kept.append(test)
    if not kept:
        return not decisive
    return kept[0] if len(kept) == 1 else Test(kind, kept)


# ----------------------------------------------------------------------------------------------------------- names


class Name(Unknown):
    """Something of a module that isn't the project's: os.path.join, torch.utils.cpp_extension.CUDAExtension."""

    def __init__(self, dotted, node=None, scope=None):
        super().__init__(node or dotted, scope.module.path if scope else "")
        self.dotted = dotted


class Names(dict):
    """What a scope or an object names, unlike a dict of the project's own."""


class Later:
    """What an import names: the module is read when the name is used. Most of a large package never is."""

    def __init__(self, find):
        self.find, self.value = find, MISSING

    def get(self):
        if self.find is not None:
            find, self.find = self.find, None  # two modules that import each other
            self.value = find()
        return self.value


class Scope:
    def __init__(self, module, parent=None):
        self.module, self.parent, self.names = module, parent, Names()
        self.foreign = set()
        self.depth = 0  # guards where the function began
        self.returns = []  # what some branches have returned: (test, value)

    def get(self, name):
        scope = self
        while scope is not None:
            if name in scope.names and name not in scope.foreign:
                value = scope.names[name]
                return value.get() if isinstance(value, Later) else value
            scope = scope.parent
        return MISSING


class Module:
    def __init__(self, path):
        self.path = path
        self.scope = Scope(self)


class Function:
    def __init__(self, node, scope, owner=None, this=None, kind=""):
        self.node, self.scope, self.owner, self.this, self.kind = node, scope, owner, this, kind


class Class:
    def __init__(self, node, scope, bases):
        self.node, self.scope, self.bases, self.names = node, scope, bases, Names()

    def order(self):
        found = [self]
        for base in self.bases:
            found += [one for one in base.order() if one not in found] if isinstance(base, Class) else []
        return found

    def find(self, name, after=None):
        order = self.order()
        for one in order[order.index(after) + 1 :] if after in order else order:
            if name in one.names:
                return one.names[name], one
        return MISSING, None


class Instance:
    def __init__(self, kind):
        self.kind, self.names = kind, Names()


class Super:
    def __init__(self, this, owner):
        self.this, self.owner = this, owner


# Their arguments by position.
ORDER = {
    "CUDAExtension": ("name", "sources"),
    "CppExtension": ("name", "sources"),
    "load": tuple(
        "name sources extra_cflags extra_cuda_cflags extra_sycl_cflags extra_ldflags extra_include_paths "
        "build_directory verbose with_cuda with_sycl is_python_module".split()
    ),
    "load_inline": ("name", "cpp_sources", "cuda_sources"),
}


class Call:
    """An extension that the file makes."""

    def __init__(self, kind, arguments, test, file, line):
        self.kind, self.arguments, self.test, self.file, self.line = kind, arguments, test, file, line

    def argument(self, name):
        positional, keywords = self.arguments
        order = ORDER[self.kind]
        if name not in keywords and name in order and order.index(name) < len(positional):
            return positional[order.index(name)]
        return keywords.get(name)


# What values can be reached through; texts and names, the most of them, hold none.
HOLDERS = (dict, list, tuple, Choice, Splice, Function, Class, Instance)


class Stop(Exception):
    """Too much to follow."""


class Catch:
    """What a `try` has seen raised: (test, the exception's class), and the guards that it began with."""

    def __init__(self, depth):
        self.depth, self.raised = depth, []
        self.absent = None  # what an import of a module that isn't there raises, where a handler takes it

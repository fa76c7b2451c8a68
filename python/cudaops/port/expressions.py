# SPDX-License-Identifier: Apache-2.0
"""Expressions of a setup.py: what is known of their values, conditions and calls."""

import ast
import os
import re

from .branches import (
    choices, element, elements, env_test, guarded_items, hashable, joined, known_sequence, merge, parents, path_text, spread,
)
from .library import OpenFile, call_library, call_method, where_known
from .operators import compare, compute
from .values import (
    DEPTH, EXTENSIONS, HOME, LIMIT, MISSING, TORCH, Call, Choice, Class, Env, Function, Instance, Machine, Module, Name,
    Scope, Simd, Splice, Stop, Super, Test, Text, Unknown, combine, negate, text,
)

NAMES = {
    "sys.platform": "linux",
    "os.name": "posix",
    "os.sep": "/",
    "os.path.sep": "/",
    "os.curdir": ".",
    "os.path.curdir": ".",
    "os.pardir": "..",
    "os.pathsep": ":",
    "torch.__file__": TORCH + "/__init__.py",
}
# Devices of other kinds, which a torch for CUDA or for the CPU doesn't have.
OTHER_DEVICE = "(xpu|mps|mlu|npu|musa|hpu|ipu|gcu|tpu)"
OTHER_DEVICE_ASKED = re.compile(r"torch\.((backends\.)?%s\.is_available|is_%s_available)" % (OTHER_DEVICE, OTHER_DEVICE))
CONVERSIONS = {"int": int, "bool": bool, "str": str}
# How len(...) is compared to ask whether it is empty (True), or isn't.
EMPTY = {
    **dict.fromkeys([(ast.Gt, 0), (ast.NotEq, 0), (ast.GtE, 1)], False),
    **dict.fromkeys([(ast.Eq, 0), (ast.Lt, 1), (ast.LtE, 0)], True),
}


def _gpu(*_):
    return Test("gpu")


def _none(*_):
    return []


def _processor(*place):
    return {"arch": Machine(*place), "arch_string_raw": Machine(*place), "flags": Simd(*place)}


# Calls whose arguments don't matter: (node, file).
FACTS = {
    "torch.cuda.is_available": _gpu,
    "torch.cuda.device_count": _gpu,
    "torch.__config__.parallel_info": lambda *_: text("ATen parallel backend: OpenMP"),  # of torch's builds for Linux
    "sys.exit": lambda *_: Name("sys.exit()"),
    "exit": lambda *_: Name("sys.exit()"),
    "quit": lambda *_: Name("sys.exit()"),
    "platform.machine": Machine,
    "cpuinfo.get_cpu_info": _processor,
    "pybind11.get_include": _none,
    "sysconfig.get_path": _none,
    "sysconfig.get_python_inc": _none,
}


class Expressions:
    """Of a Reader, which follows the statements of the functions that are called."""

    # ---- conditions

    def truth(self, node, scope):
        """True, False or a Test."""
        if isinstance(node, ast.BoolOp):
            kind = "and" if isinstance(node.op, ast.And) else "or"
            return combine(kind, [self.truth(value, scope) for value in node.values])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return negate(self.truth(node.operand, scope))
        return self.truth_of(self.value(node, scope), node, scope)

    def truth_of(self, value, node, scope):
        if isinstance(value, (Test, bool)):
            return value
        if isinstance(value, Choice):
            yes, no = self.truth_of(value.yes, node, scope), self.truth_of(value.no, node, scope)
            return combine("or", [combine("and", [value.test, yes]), combine("and", [negate(value.test), no])])
        if isinstance(value, Env):
            return env_test(value, bool(value.default), True)
        if isinstance(value, Text) and value == HOME:
            return Test("cuda")
        if isinstance(value, list) and any(isinstance(item, Splice) for item in value):
            tests = [item.test if isinstance(item, Splice) else True for item in value]
            return combine("or", tests)
        if isinstance(value, (Unknown, Name)):
            return self.doubt(node, scope)
        if value is MISSING:
            return False
        return bool(value) if isinstance(value, (str, int, float, list, tuple, dict, set, type(None))) else True

    def doubt(self, node, scope, default=None):
        said = " ".join(ast.unparse(node).split())
        return Test("unknown", text=said, line=node.lineno, file=scope.module.path, default=default)

    # ---- values

    def value(self, node, scope):
        self.steps += 1
        if self.steps > LIMIT:
            raise Stop
        method = getattr(self, "of_" + type(node).__name__, None)
        return method(node, scope) if method else self.unknown(node, scope)

    def of_Constant(self, node, scope):
        return text(node.value, node.lineno) if isinstance(node.value, str) else node.value

    def of_Name(self, node, scope):
        value = scope.get(node.id)
        return self.name(node.id, node, scope) if value is MISSING else value

    def name(self, dotted, node=None, scope=None):
        """What is known of names from elsewhere."""
        last = dotted.split(".")[-1]
        if last == "CUDA_HOME":
            return text(HOME)
        if dotted == "torch.version.cuda":
            return Test("cuda")
        if dotted == "torch.version.hip" or last in ("ROCM_HOME", "HIP_HOME", "IS_HIP_EXTENSION"):
            return Test("hip")
        if dotted == "torch.__path__":
            return [text(TORCH)]
        if dotted in ("torch.utils.cpp_extension.IS_WINDOWS", "torch.utils.cpp_extension.IS_MACOS"):
            return False
        return text(NAMES[dotted]) if dotted in NAMES else Name(dotted, node, scope)

    def of_Attribute(self, node, scope):
        return self.attribute(self.value(node.value, scope), node, scope)

    def attribute(self, value, node, scope):
        attr = node.attr
        if isinstance(value, Choice):
            return merge(value.test, self.attribute(value.yes, node, scope), self.attribute(value.no, node, scope))
        if isinstance(value, Name):
            return self.name(value.dotted + "." + attr, node, scope)
        if isinstance(value, Module):
            found = self.member(value, attr)
            return self.unknown(node, scope) if found is MISSING else found
        if isinstance(value, Super):
            found, owner = value.this.kind.find(attr, value.owner)
            return self.bind(found, value.this, owner) if owner else self.unknown(node, scope)
        if isinstance(value, Instance):
            if attr in value.names:
                return value.names[attr]
            found, owner = value.kind.find(attr)
            if owner is None:
                return value.kind if attr == "__class__" else self.unknown(node, scope)
            bound = self.bind(found, value, owner)
            if isinstance(bound, Function) and bound.kind == "property":
                return self.invoke(bound, [], {})
            return bound
        if isinstance(value, Class):
            found, owner = value.find(attr)
            return self.unknown(node, scope) if owner is None else found
        if isinstance(value, Text) and value.path:
            parts = {
                "parent": lambda: path_text(os.path.dirname(value) or "."),
                "name": lambda: text(os.path.basename(value)),
                "stem": lambda: text(os.path.splitext(os.path.basename(value))[0]),
                "suffix": lambda: text(os.path.splitext(value)[1]),
                "parents": lambda: parents(value),
            }
            return parts[attr]() if attr in parts else self.unknown(node, scope)
        return self.unknown(node, scope)

    def bind(self, found, this, owner):
        if isinstance(found, Function) and found.kind != "staticmethod":
            return Function(found.node, found.scope, owner, this, found.kind)
        return found

    def sequence(self, node, scope):
        items = []
        for item in node.elts:
            if isinstance(item, ast.Starred):
                items += elements(self.value(item.value, scope))
            else:
                items.append(self.value(item, scope))
        return items

    def of_List(self, node, scope):
        return self.sequence(node, scope)

    def of_Tuple(self, node, scope):
        return tuple(self.sequence(node, scope))

    def of_Set(self, node, scope):
        return self.sequence(node, scope)

    def of_Dict(self, node, scope):
        result = {}
        for key, value in zip(node.keys, node.values):
            if key is None:
                more = self.value(value, scope)
                result.update(more if isinstance(more, dict) else {})
                continue
            key = self.value(key, scope)
            if hashable(key):
                result[key] = self.value(value, scope)
        return result

    def of_JoinedStr(self, node, scope):
        parts = []
        for part in node.values:
            value = self.value(part.value, scope) if isinstance(part, ast.FormattedValue) else self.value(part, scope)
            value = value.default if isinstance(value, Env) else value
            if isinstance(part, ast.FormattedValue) and part.format_spec is not None:
                form = ast.unparse(part.format_spec)[2:-1]
                if not isinstance(value, (str, int, float)) or not re.fullmatch(r"[\w.,<>^+#-]{0,4}", form):
                    return self.unknown(node, scope)
                value = where_known(format, value, form)
                if value is NotImplemented:
                    return self.unknown(node, scope)
            parts.append(value)
        return spread(parts, lambda *known: joined(known, node.lineno) or self.unknown(node, scope))

    def of_IfExp(self, node, scope):
        test = self.truth(node.test, scope)
        if isinstance(test, bool):
            return self.value(node.body if test else node.orelse, scope)
        self.guards.append(test)
        yes = self.value(node.body, scope)
        self.guards[-1] = negate(test)
        no = self.value(node.orelse, scope)
        self.guards.pop()
        return merge(test, yes, no)

    def of_BoolOp(self, node, scope):
        values = [self.value(value, scope) for value in node.values]
        tests = [self.truth_of(value, part, scope) for value, part in zip(values, node.values)]
        decisive = isinstance(node.op, ast.Or)
        if all(isinstance(value, (Test, bool, Env, Unknown)) or value == HOME for value in values):
            return combine("or" if decisive else "and", tests)
        for value, test in zip(values[:-1], tests):
            if isinstance(value, Env):
                test = bool(value.default)
            if not isinstance(test, bool):
                return self.unknown(node, scope) if not isinstance(value, Choice) else value
            if test == decisive:
                return value
        return values[-1]

    def of_UnaryOp(self, node, scope):
        if isinstance(node.op, ast.Not):
            return self.truth(node, scope)
        value = self.value(node.operand, scope)
        known = isinstance(node.op, ast.USub) and isinstance(value, (int, float))
        return -value if known else self.unknown(node, scope)

    def of_Compare(self, node, scope):
        if len(node.ops) != 1:
            return self.doubt(node, scope)
        left, right = self.value(node.left, scope), self.value(node.comparators[0], scope)
        length = isinstance(node.left, ast.Call) and isinstance(node.left.func, ast.Name) and node.left.func.id == "len"
        if length and node.left.args and isinstance(right, int) and (type(node.ops[0]), right) in EMPTY:
            measured = self.value(node.left.args[0], scope)
            if isinstance(measured, list) and any(isinstance(item, Splice) for item in measured):
                holds = self.truth_of(measured, node, scope)
                return negate(holds) if EMPTY[type(node.ops[0]), right] else holds
        place = node.lineno, scope.module.path
        doubt = lambda default=None: self.doubt(node, scope, default)
        return spread([left, right], lambda a, b: compare(node.ops[0], a, b, place, doubt))

    def of_BinOp(self, node, scope):
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        return self.operate(node.op, left, right, node, scope)

    def operate(self, op, left, right, node, scope):
        def known(left, right):
            value = compute(op, left, right, node.lineno)
            return self.unknown(node, scope) if value is NotImplemented else value

        if isinstance(op, ast.Add) and (isinstance(left, list) or isinstance(right, list)):
            return known(left, right)  # a Choice becomes elements
        return spread([left, right], known)

    def of_Subscript(self, node, scope):
        container = self.value(node.value, scope)
        if isinstance(container, Test):
            return container  # a part of torch.version.cuda
        if isinstance(node.slice, ast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            bounds = [self.value(part, scope) if part else None for part in parts]
            plain = all(part is None or isinstance(part, int) for part in bounds)
            if not plain or not isinstance(container, (str, list, tuple)):
                return self.unknown(node, scope)
            cut = container[slice(*bounds)]
            return text(cut, node.lineno) if isinstance(cut, str) else cut
        key = self.value(node.slice, scope)
        if isinstance(container, Name) and container.dotted == "os.environ" and isinstance(key, str):
            return self.environment(key, None, node, scope)

        def pick(container, key):
            try:
                if isinstance(container, dict) and key in container:
                    return container[key]
                if isinstance(container, (list, tuple, str)) and isinstance(key, int):
                    item = element(container, key)
                    return text(item, node.lineno) if isinstance(container, str) else item
            except (IndexError, TypeError):
                pass
            return self.unknown(node, scope)

        return spread([container, key], pick)

    def environment(self, name, default, node, scope):
        if name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"):
            return text(HOME)
        return Env(name, default, False, node.lineno, scope.module.path)

    def of_Lambda(self, node, scope):
        return Function(node, scope)

    def of_ListComp(self, node, scope):
        return self.comprehend(node, [node.elt], scope, lambda values: values[0])

    of_GeneratorExp = of_SetComp = of_ListComp

    def of_DictComp(self, node, scope):
        pairs = self.comprehend(node, [node.key, node.value], scope, tuple)
        if isinstance(pairs, Unknown):
            return pairs
        return {pair[0]: pair[1] for pair in pairs if isinstance(pair, tuple) and hashable(pair[0])}

    def comprehend(self, node, parts, scope, make):
        result = []

        def level(index, inner, test):
            if index == len(node.generators):
                item = make([self.value(part, inner) for part in parts])
                result.append(item if test is True else Splice(test, [item]))
                return True
            generator = node.generators[index]
            values = self.value(generator.iter, inner)
            if not known_sequence(values):
                return False
            for condition, item in guarded_items(values):
                self.assign(generator.target, item, inner, ast.Assign(value=generator.iter))
                kept = combine("and", [test, condition, *[self.truth(one, inner) for one in generator.ifs]])
                if kept is not False and not level(index + 1, inner, kept):
                    return False
            return True

        inner = Scope(scope.module, scope)
        return result if level(0, inner, True) else self.unknown(node, scope)

    # ---- calls

    def of_Call(self, node, scope):
        function = self.value(node.func, scope)
        arguments, keywords = [], {}
        for argument_node in node.args:
            if isinstance(argument_node, ast.Starred):
                arguments += elements(self.value(argument_node.value, scope))
            else:
                arguments.append(self.value(argument_node, scope))
        for keyword in node.keywords:
            value = self.value(keyword.value, scope)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            else:
                for one in choices(value)[:1]:
                    more = one if isinstance(one, dict) else {"**": self.unknown(keyword.value, scope)}
                    keywords.update({str(key): item for key, item in more.items()})
        return self.call(function, arguments, keywords, node, scope)

    def call(self, function, arguments, keywords, node, scope):
        if isinstance(function, Choice):
            self.guards.append(function.test)
            yes = self.call(function.yes, arguments, keywords, node, scope)
            self.guards[-1] = negate(function.test)
            no = self.call(function.no, arguments, keywords, node, scope)
            self.guards.pop()
            return merge(function.test, yes, no)
        if isinstance(function, Function):
            return self.invoke(function, arguments, keywords)
        if isinstance(function, Class):
            return self.create(function, arguments, keywords)
        if isinstance(function, Name):
            return self.known_call(function.dotted, arguments, keywords, node, scope)
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value, scope)
            return self.method(owner, node.func.attr, arguments, keywords, node, scope)
        return self.unknown(node, scope)

    def create(self, kind, arguments, keywords):
        self.called.add(kind.node)
        this = Instance(kind)
        found, owner = kind.find("__init__")
        if owner:
            self.invoke(self.bind(found, this, owner), arguments, keywords)
        return this

    def invoke(self, function, arguments, keywords):
        node = function.node
        self.called.add(node)
        if len(self.frames) > DEPTH:
            raise Stop
        scope = Scope(function.scope.module, function.scope)
        scope.names["\0function"] = function
        if function.this is not None and not (function.kind == "staticmethod"):
            arguments = [function.this, *arguments]
        spec = node.args
        positional = spec.posonlyargs + spec.args
        defaults = dict(zip([one.arg for one in positional[len(positional) - len(spec.defaults) :]], spec.defaults))
        defaults.update({one.arg: value for one, value in zip(spec.kwonlyargs, spec.kw_defaults) if value is not None})
        keywords = dict(keywords)
        for index, one in enumerate(positional + spec.kwonlyargs):
            if index < len(positional) and index < len(arguments):
                value = arguments[index]
            elif one.arg in keywords:
                value = keywords.pop(one.arg)
            elif one.arg in defaults:
                value = self.value(defaults[one.arg], function.scope)
            else:
                value = Unknown(one.arg, function.scope.module.path, node.lineno)
            scope.names[one.arg] = value
        if spec.vararg:
            scope.names[spec.vararg.arg] = tuple(arguments[len(positional) :])
        if spec.kwarg:
            scope.names[spec.kwarg.arg] = keywords
        if isinstance(node, ast.Lambda):
            return self.value(node.body, scope)
        self.frames.append(scope)
        depth = scope.depth = len(self.guards)
        try:
            result = self.block(node.body, scope)
        finally:
            self.frames.pop()
            del self.guards[depth:]
        value = result[1] if result and result[0] == "return" else None
        if result == ("raise",):
            value = Unknown(node.name, function.scope.module.path, node.lineno)
        for test, earlier in reversed(scope.returns):
            value = merge(test, earlier, value)
        return value

    def known_call(self, dotted, arguments, keywords, node, scope):
        """A call of something that isn't the project's."""
        last = dotted.split(".")[-1]
        torch = dotted.startswith("torch.")
        if (torch and last in EXTENSIONS) or dotted in EXTENSIONS[:2]:
            call = Call(last, (arguments, keywords), combine("and", self.guards), scope.module.path, node.lineno)
            self.calls.append(call)
            return call
        if last == "setup" and dotted.split(".")[0] in ("setup", "setuptools", "distutils", "skbuild", "torch"):
            self.setup.update(keywords)
            return None
        if last.endswith("Extension") and node.args + node.keywords:
            self.foreign.append(self.unknown(node, scope))
            return self.unknown(node, scope)
        if torch and last in ("include_paths", "library_paths"):
            return []  # what torch needs is the package's business
        if dotted in ("os.getenv", "os.environ.get") and arguments and isinstance(arguments[0], str):
            default = arguments[1] if len(arguments) > 1 else keywords.get("default")
            default = default if isinstance(default, (str, int, type(None))) else None
            return self.environment(arguments[0], default, node, scope)
        if OTHER_DEVICE_ASKED.fullmatch(dotted):
            return False
        if dotted in FACTS:
            return FACTS[dotted](node, scope.module.path)
        if dotted == "super":
            function = scope.get("\0function")
            known = function is not MISSING and function.this
            return Super(function.this, function.owner) if known else self.unknown(node, scope)
        if dotted in ("bool", "int") and len(arguments) == 1 and isinstance(arguments[0], (Test, Unknown)):
            return self.truth_of(arguments[0], node.args[0], scope) if dotted == "bool" else arguments[0]
        if any(isinstance(one, Choice) for one in arguments) and last not in ("list", "tuple", "print"):
            return spread(arguments, lambda *known: self.known_call(dotted, list(known), keywords, node, scope))
        if dotted in CONVERSIONS and arguments and isinstance(arguments[0], Env):
            value = arguments[0].default
            value = None if value is None else where_known(CONVERSIONS[dotted], value)
            return self.unknown(node, scope) if value is NotImplemented else arguments[0].again(value)
        arguments = [one.default if isinstance(one, Env) else one for one in arguments]
        value = call_library(self, dotted, arguments, keywords)
        return self.unknown(node, scope) if value is NotImplemented else value

    def absolute(self, path):
        return path if str.startswith(path, "\0") else os.path.normpath(os.path.join(self.root, path))

    def method(self, owner, name, arguments, keywords, node, scope):
        if isinstance(owner, Choice):
            yes = self.method(owner.yes, name, arguments, keywords, node, scope)
            no = self.method(owner.no, name, arguments, keywords, node, scope)
            return merge(owner.test, yes, no)
        arguments = [one.default if isinstance(one, Env) else one for one in arguments]
        if isinstance(owner, Env):
            if name in ("lower", "upper", "strip") and isinstance(owner.default, (str, type(None))):
                return owner.again(getattr(owner.default, name)() if owner.default else owner.default)
            owner = text(owner.default, node.lineno) if isinstance(owner.default, str) else None
        if isinstance(owner, OpenFile) and owner.path == "/proc/cpuinfo" and name == "read":
            return Simd(node, scope.module.path)
        if isinstance(owner, Machine) and name == "startswith" and arguments and isinstance(arguments[0], str):
            return self.doubt(node, scope, owner.default(lambda one: one.startswith(arguments[0])))
        texts = [one for one in [owner, *arguments] if isinstance(one, Test)]
        if texts and isinstance(owner, (Test, str)) and name in ("split", "join", "replace", "strip"):
            return texts[0]  # made of torch.version.cuda: there where that is
        if isinstance(owner, (Machine, Simd)) and name in ("lower", "upper", "strip", "split"):
            return owner
        if isinstance(owner, Class) and name == "with_options":
            return owner  # of a BuildExtension of the project's own
        value = call_method(self, owner, name, arguments, keywords, node.lineno)
        return self.unknown(node, scope) if value is NotImplemented else value

# SPDX-License-Identifier: Apache-2.0
"""Reads what a setup.py would build, with ast; nothing of it is run.

Statements are followed as Python would, over values that are known (texts, numbers, lists, dicts, functions and classes
of the project) and values that are not: Unknown keeps the expression. A condition on CUDA, on the environment or on
something unknown is kept too, as a Test: both branches are read, and what they leave behind differs by it (Choice for a
value, Splice for elements of a list).
"""

import ast
import glob
import os

from .branches import (
    as_load, catches, choices, elements, env_test, flatten, guarded_items, hashable, join, joined,
    known_sequence, makes_extension, merge, parents, path_text, product, public, restore, spread, unknown_in,
)
from .values import (
    DEPTH, EXTENSIONS, FALSY, HOLDERS, HOME, LIMIT, MISSING, TORCH, Call, Catch, Choice, Class, Env, Function, Instance,
    Later, Machine, Module, Name, Scope, Simd, Splice, Stop, Super, Test, Text, Unknown, combine, negate, text,
)


class Reader:
    def __init__(self, path, root=None):
        self.path = os.path.abspath(path)
        self.root = root or os.path.dirname(self.path)
        self.calls = []
        self.setup = {}
        self.foreign = []  # extensions of another kind: Unknown
        self.modules = {}
        self.frames = []
        self.guards = []
        self.catches = []
        self.called = set()
        self.steps = 0

    def read(self):
        module = self.load(self.path)
        done = len(self.calls)
        for value in list(module.scope.names.values()):
            # What nobody calls here is called by whoever imports the file.
            if isinstance(value, Function) and value.node not in self.called and makes_extension(value.node):
                self.guarded(self.invoke, value, [], {})
            elif isinstance(value, Class) and value.node not in self.called and value.scope.module is module:
                self.read_class(value)
        return len(self.calls) - done

    def read_class(self, kind):
        methods = {}
        for one in reversed(kind.order()):
            methods.update({name: item for name, item in one.names.items() if isinstance(item, Function)})
        makers = [item for item in methods.values() if makes_extension(item.node)]
        # Ahead of time before just in time, where a class can do both.
        makers = [item for item in makers if makes_extension(item.node, EXTENSIONS[:2])] or makers
        if not makers:
            return
        before = self.calls
        self.calls = []
        this = self.guarded(self.create, kind, [], {})
        for item in makers if isinstance(this, Instance) else []:
            self.guarded(self.invoke, self.bind(item, this, kind), [], {})
        # A base class that can't say what it builds is no op of its own.
        self.calls = before + [call for call in self.calls if flatten(call.argument("sources"))]

    def guarded(self, function, *arguments):
        try:
            return function(*arguments)
        except (Stop, RecursionError):
            return None

    def load(self, path):
        if path in self.modules:
            return self.modules[path]
        module = self.modules[path] = Module(path)
        with open(path, encoding="utf-8", errors="replace") as file:
            tree = ast.parse(file.read(), path)
        module.scope.names.update(__name__="__main__" if path == self.path else "imported", __file__=text(path))
        self.frames.append(module.scope)
        # Where its first use stands says nothing of when the module is read.
        outside = self.guards, self.catches
        self.guards, self.catches = [], []
        try:
            self.block(tree.body, module.scope)
        except (Stop, RecursionError):
            pass  # what was read until here counts
        finally:
            self.frames.pop()
            self.guards, self.catches = outside
        return module

    def unknown(self, node, scope):
        return Unknown(node, scope.module.path)

    # ---- statements: None, or ("return", value), ("raise",), ("break",), ("continue",)

    def block(self, body, scope):
        for statement in body:
            result = self.statement(statement, scope)
            if result is not None:
                return result
        return None

    def statement(self, node, scope):
        self.steps += 1
        if self.steps > LIMIT:
            raise Stop
        method = getattr(self, "do_" + type(node).__name__, None)
        return method(node, scope) if method else None

    def do_Expr(self, node, scope):
        value = self.value(node.value, scope)
        return ("raise",) if isinstance(value, Name) and value.dotted == "sys.exit()" else None

    def do_Raise(self, node, scope):
        if self.catches and node.exc is not None:
            catch = self.catches[-1]
            made = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            catch.raised.append((combine("and", self.guards[catch.depth :]), self.value(made, scope)))
        return ("raise",)

    def do_Break(self, node, scope):
        return ("break",)

    def do_Continue(self, node, scope):
        return ("continue",)

    def do_Return(self, node, scope):
        return ("return", self.value(node.value, scope) if node.value else None)

    def do_Assign(self, node, scope):
        value = self.value(node.value, scope)
        for target in node.targets:
            self.assign(target, value, scope, node)

    def do_AnnAssign(self, node, scope):
        if node.value:
            self.assign(node.target, self.value(node.value, scope), scope, node)

    def do_AugAssign(self, node, scope):
        old = self.value(as_load(node.target), scope)
        value = self.value(node.value, scope)
        if isinstance(old, list) and isinstance(node.op, ast.Add):
            old.extend(elements(value))  # in place: other names see it
            return None
        self.assign(node.target, self.operate(node.op, old, value, node, scope), scope, node)

    def assign(self, target, value, scope, node):
        if isinstance(target, ast.Name):
            place = self.modules[scope.module.path].scope if target.id in scope.foreign else scope
            place.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = list(value) if isinstance(value, (list, tuple)) else []
            for index, one in enumerate(target.elts):
                known = len(values) == len(target.elts)
                self.assign(one, values[index] if known else self.unknown(node.value, scope), scope, node)
        elif isinstance(target, ast.Subscript):
            container = self.value(target.value, scope)
            key = self.value(target.slice, scope)
            for one in choices(container):
                if isinstance(one, dict) and hashable(key):
                    one[key] = value
                elif isinstance(one, list) and isinstance(key, int) and -len(one) <= key < len(one):
                    one[key] = value
        elif isinstance(target, ast.Attribute):
            owner = self.value(target.value, scope)
            if isinstance(owner, (Instance, Class)):
                owner.names[target.attr] = value

    def do_Global(self, node, scope):
        scope.foreign.update(node.names)

    def do_If(self, node, scope):
        test = self.truth(node.test, scope)
        if isinstance(test, bool):
            return self.block(node.body if test else node.orelse, scope)
        return self.fork(test, lambda: self.block(node.body, scope), lambda: self.block(node.orelse, scope), scope)

    def fork(self, test, yes, no, scope):
        """Follows both branches from the same state, and joins what they leave behind."""
        depth = len(self.guards)
        before = self.snapshot()
        self.guards.append(test)
        first = yes()
        after = self.snapshot()
        restore(before)
        del self.guards[depth:]
        self.guards.append(negate(test))
        second = no()
        del self.guards[depth:]
        if first == ("raise",):
            return second
        if second == ("raise",):
            restore(after)
            return first
        if first and second and first[0] == second[0] == "return":
            join(test, after, before)
            return ("return", merge(test, first[1], second[1]))
        if first and first[0] == "return":
            scope.returns.append((combine("and", [*self.guards[scope.depth :], test]), first[1]))
            self.guards.append(negate(test))  # until the function ends
            return second
        if second and second[0] == "return":
            restore(after)
            scope.returns.append((combine("and", [*self.guards[scope.depth :], negate(test)]), second[1]))
            self.guards.append(test)
            return first
        join(test, after, before)
        return None

    def snapshot(self):
        """Contents of everything that can be reached and changed."""
        found = {}
        queue = [self.setup]
        for frame in self.frames:
            while frame is not None:
                queue.append(frame.names)
                frame = frame.parent
        queue += [module.scope.names for module in self.modules.values()]
        while queue:
            one = queue.pop()
            if id(one) in found:
                continue
            if isinstance(one, dict):
                found[id(one)] = (one, dict(one))
                queue += [item for item in one.values() if isinstance(item, HOLDERS)]
            elif isinstance(one, list):
                found[id(one)] = (one, list(one))
                queue += [item for item in one if isinstance(item, HOLDERS)]
            elif isinstance(one, tuple):
                queue += [item for item in one if isinstance(item, HOLDERS)]
            elif isinstance(one, (Instance, Class)):
                queue.append(one.names)
            elif isinstance(one, Choice):
                queue += [one.yes, one.no]
            elif isinstance(one, Splice):
                queue += one.items
            elif isinstance(one, Function) and one.this is not None:
                queue.append(one.this)
        return found

    def do_For(self, node, scope):
        values = self.value(node.iter, scope)
        if not known_sequence(values):
            test = Test(
                "unknown",
                text="for %s in %s" % (ast.unparse(node.target), ast.unparse(node.iter)),
                line=node.lineno,
                file=scope.module.path,
            )

            def once():
                self.assign(node.target, self.unknown(node.target, scope), scope, ast.Assign(value=node.iter))
                return self.block(node.body, scope)

            return self.fork(test, once, lambda: None, scope)
        for test, item in guarded_items(values):

            def once(item=item):
                self.assign(node.target, item, scope, ast.Assign(value=node.iter))
                return self.block(node.body, scope)

            result = once() if test is True else self.fork(test, once, lambda: None, scope)
            if result and result[0] == "break":
                break
            if result and result[0] != "continue":
                return result
        else:
            return self.block(node.orelse, scope)
        return None

    def do_While(self, node, scope):
        test = self.truth(node.test, scope)
        if test is False:
            return None
        test = Test("unknown", text="while " + ast.unparse(node.test), line=node.lineno, file=scope.module.path)
        return self.fork(test, lambda: self.block(node.body, scope), lambda: None, scope)

    def do_With(self, node, scope):
        for item in node.items:
            value = self.value(item.context_expr, scope)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value, scope, ast.Assign(value=item.context_expr))
        return self.block(node.body, scope)

    def do_Try(self, node, scope):
        catch = Catch(len(self.guards))
        returns = len(scope.returns)
        self.catches.append(catch)
        try:
            result = self.block(node.body, scope)
        finally:
            self.catches.pop()
        if result is None:
            result = self.block(node.orelse, scope)
        left = catch.raised
        for handler in node.handlers:
            kinds = self.value(handler.type, scope) if handler.type else None
            test = combine("or", [test for test, raised in left if catches(kinds, raised)])
            left = [(test, raised) for test, raised in left if not catches(kinds, raised)]
            result = self.handle(test, handler, result, catch.depth, returns, scope)
        return self.block(node.finalbody, scope) or result

    def handle(self, test, handler, result, depth, returns, scope):
        """The handler where `test` holds, what the body has done (`result`) elsewhere."""
        if test is True:
            return self.block(handler.body, scope)
        known = [test.holds(world) for world in ("cuda", "hip", "cpu")] if test else [False]
        if None in known or True not in known:
            return result  # what may be raised and may not counts as not raised
        for index, (one, value) in enumerate(scope.returns[returns:], returns):
            scope.returns[index] = (combine("and", [one, negate(test)]), value)
        body = self.guards[depth:]  # where the body has not returned
        del self.guards[depth:]
        left = []

        def handled():
            left.append(self.block(handler.body, scope))
            return left[0]

        result = self.fork(test, handled, lambda: result, scope)
        if body:
            body = combine("and", body)
            self.guards.append(body if left[0] else combine("or", [body, test]))
        return result

    def do_Import(self, node, scope):
        for alias in node.names:
            dotted = alias.name if alias.asname else alias.name.split(".")[0]
            find = lambda dotted=dotted: self.local(dotted, 0, scope) or Name(dotted)
            scope.names[alias.asname or dotted] = Later(find)

    def do_ImportFrom(self, node, scope):
        for alias in node.names:
            if alias.name == "*":
                module = self.local(node.module or "", node.level, scope)
                scope.names.update(public(module.scope.names) if module is not None else {})
            else:
                find = lambda name=alias.name: self.imported(node, name, scope)
                scope.names[alias.asname or alias.name] = Later(find)

    def imported(self, node, name, scope):
        value = self.member(self.local(node.module or "", node.level, scope), name)
        if value is MISSING:
            value = self.local(".".join(filter(None, [node.module, name])), node.level, scope) or MISSING
        return self.name("%s.%s" % (node.module or "", name)) if value is MISSING else value

    def member(self, module, name):
        """What a module names, or a module of that name in its directory where it is a package."""
        value = module.scope.get(name) if module is not None else MISSING
        if value is MISSING and module is not None and os.path.basename(module.path) == "__init__.py":
            value = self.local(name, 1, module.scope) or MISSING
        return value

    def local(self, dotted, level, scope):
        """A module of the project's own."""
        start = os.path.dirname(scope.module.path)
        for _ in range(level - 1):
            start = os.path.dirname(start)
        starts = [start]
        while not level and os.path.isfile(os.path.join(starts[-1], "__init__.py")):
            starts.append(os.path.dirname(starts[-1]))  # Python is started outside of the package
        for start in starts:
            base = os.path.join(start, *filter(None, dotted.split(".")))
            for path in [base + ".py"] * bool(dotted) + [os.path.join(base, "__init__.py")]:
                if os.path.isfile(path):
                    try:
                        return self.load(path)
                    except (SyntaxError, ValueError):
                        return None
        return None

    def do_FunctionDef(self, node, scope):
        kinds = [getattr(one, "id", getattr(one, "attr", "")) for one in node.decorator_list]
        known = [kind for kind in kinds if kind in ("staticmethod", "classmethod", "property")]
        scope.names[node.name] = Function(node, scope, kind=known[0] if known else "")

    do_AsyncFunctionDef = do_FunctionDef

    def do_ClassDef(self, node, scope):
        made = Class(node, scope, [self.value(base, scope) for base in node.bases])
        inner = Scope(scope.module, scope)
        self.block(node.body, inner)
        made.names = inner.names
        scope.names[node.name] = made

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
            return combine(
                "or",
                [
                    combine("and", [value.test, self.truth_of(value.yes, node, scope)]),
                    combine("and", [negate(value.test), self.truth_of(value.no, node, scope)]),
                ],
            )
        if isinstance(value, Env):
            return env_test(value, bool(value.default) and value.default not in ("0",) or value.default == "0", True)
        if isinstance(value, Text) and value == HOME:
            return Test("cuda")
        if isinstance(value, list) and any(isinstance(item, Splice) for item in value):
            if any(not isinstance(item, Splice) for item in value):
                return True
            return combine("or", [item.test for item in value])
        if isinstance(value, (Unknown, Name)):
            return self.doubt(node, scope)
        if value is MISSING:
            return False
        return bool(value) if isinstance(value, (str, int, float, list, tuple, dict, set, type(None))) else True

    def doubt(self, node, scope, default=None):
        return Test(
            "unknown",
            text=" ".join(ast.unparse(node).split()),
            line=node.lineno,
            file=scope.module.path,
            default=default,
        )

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
        if dotted in ("torch.version.cuda",):
            return Test("cuda")
        if dotted in ("torch.version.hip",) or last in ("ROCM_HOME", "HIP_HOME", "IS_HIP_EXTENSION"):
            return Test("hip")
        known = {
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
        if dotted in known:
            return text(known[dotted])
        if dotted == "torch.__path__":
            return [text(TORCH)]
        return Name(dotted, node, scope)

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
        return (
            -value if isinstance(node.op, ast.USub) and isinstance(value, (int, float)) else self.unknown(node, scope)
        )

    def of_Compare(self, node, scope):
        if len(node.ops) != 1:
            return self.doubt(node, scope)
        left, right = self.value(node.left, scope), self.value(node.comparators[0], scope)
        return spread([left, right], lambda a, b: self.compare(node.ops[0], a, b, node, scope))

    def compare(self, op, left, right, node, scope):
        negative = isinstance(op, (ast.IsNot, ast.NotEq, ast.NotIn))
        if isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            if right is None and isinstance(left, (Test, Text)) and (isinstance(left, Test) or left == HOME):
                test = Test("cuda") if left == HOME else left
                return test if negative else negate(test)
            if isinstance(left, Env) and (right is None or isinstance(right, (str, int))):
                same = left.default == right
                on = right is not None and str(right).lower() not in FALSY
                test = env_test(left, same, on)
                return negate(test) if negative else test
            if isinstance(left, Test) and isinstance(right, bool):
                return negate(left) if negative == right else left
            if isinstance(left, Machine) and isinstance(right, str):
                return self.doubt(node, scope, left.default(lambda name: name == right) != negative)
        if isinstance(op, (ast.In, ast.NotIn)):
            if isinstance(right, Simd) and isinstance(left, str):
                return negate(right.test(left)) if negative else right.test(left)
            if isinstance(left, Machine) and isinstance(right, (list, tuple)) and not unknown_in(right):
                return self.doubt(node, scope, left.default(lambda name: name in right) != negative)
            if isinstance(right, Name) and right.dotted in ("sys.argv", "os.environ") and isinstance(left, str):
                flag = right.dotted == "sys.argv"
                test = env_test(Env(left, None, flag, node.lineno, scope.module.path), False, True)
                return negate(test) if negative else test
            if isinstance(left, Env) and isinstance(right, (list, tuple)) and not unknown_in(right):
                on = not any(str(item).lower() in FALSY for item in right)
                test = env_test(left, left.default in right, on)
                return negate(test) if negative else test
        if unknown_in([left, right]) or isinstance(left, (Name, Env, Test)) or isinstance(right, (Name, Env, Test)):
            # A version that is asked for is there, where it isn't an old one's work-around.
            default = {ast.Gt: True, ast.GtE: True, ast.Lt: False, ast.LtE: False}.get(type(op))
            return self.doubt(node, scope, default)
        try:
            return {
                ast.Eq: lambda: left == right,
                ast.NotEq: lambda: left != right,
                ast.Is: lambda: left is right or left == right,
                ast.IsNot: lambda: not (left is right or left == right),
                ast.In: lambda: left in right,
                ast.NotIn: lambda: left not in right,
                ast.Lt: lambda: left < right,
                ast.LtE: lambda: left <= right,
                ast.Gt: lambda: left > right,
                ast.GtE: lambda: left >= right,
            }[type(op)]()
        except TypeError:
            return self.doubt(node, scope)

    def of_BinOp(self, node, scope):
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        return self.operate(node.op, left, right, node, scope)

    def operate(self, op, left, right, node, scope):
        if isinstance(op, ast.Add) and (isinstance(left, list) or isinstance(right, list)):
            return elements(left) + elements(right)
        if isinstance(left, Choice) or isinstance(right, Choice):
            return spread([left, right], lambda a, b: self.operate(op, a, b, node, scope))
        left, right = (one.default if isinstance(one, Env) else one for one in (left, right))
        if isinstance(op, ast.Add) and isinstance(left, tuple) and isinstance(right, tuple):
            return left + right
        if unknown_in([left, right]) or isinstance(left, (Test, Name)) or isinstance(right, (Test, Name)):
            return self.unknown(node, scope)
        try:
            if isinstance(op, ast.Div) and isinstance(left, str):
                return path_text(os.path.join(left, right))
            if isinstance(op, ast.Add):
                return text(left + right, node.lineno) if isinstance(left, str) else left + right
            if isinstance(op, ast.Mod) and isinstance(left, str):
                return text(left % right, node.lineno)
            if isinstance(op, ast.Sub) and isinstance(left, list):
                return [item for item in left if item not in right]
            if isinstance(op, ast.BitOr) and isinstance(left, dict):
                return {**left, **right}
            simple = {
                ast.Sub: lambda: left - right,
                ast.Mult: lambda: left * right,
                ast.FloorDiv: lambda: left // right,
            }
            return simple[type(op)]()
        except (TypeError, KeyError, ValueError):
            return self.unknown(node, scope)

    def of_Subscript(self, node, scope):
        container = self.value(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            bounds = [
                self.value(part, scope) if part else None
                for part in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            if isinstance(container, (str, list, tuple)) and all(
                part is None or isinstance(part, int) for part in bounds
            ):
                cut = container[slice(*bounds)]
                return text(cut, node.lineno) if isinstance(cut, str) else cut
            return self.unknown(node, scope)
        key = self.value(node.slice, scope)
        if isinstance(container, Name) and container.dotted == "os.environ" and isinstance(key, str):
            return self.environment(key, None, node, scope)

        def pick(container, key):
            try:
                if isinstance(container, dict) and key in container:
                    return container[key]
                if isinstance(container, (list, tuple, str)) and isinstance(key, int) and not unknown_in(container):
                    item = container[key]
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
        if dotted in ("torch.cuda.is_available", "torch.cuda.device_count"):
            return Test("gpu")
        if dotted in ("os.getenv", "os.environ.get") and arguments and isinstance(arguments[0], str):
            default = arguments[1] if len(arguments) > 1 else keywords.get("default")
            default = default if isinstance(default, (str, int, type(None))) else None
            return self.environment(arguments[0], default, node, scope)
        if dotted == "sys.exit" or dotted in ("exit", "quit"):
            return Name("sys.exit()")
        if torch and last in ("include_paths", "library_paths"):
            return []  # what torch needs is the package's business
        if dotted == "platform.machine":
            return Machine(node, scope.module.path)
        if dotted == "torch.__config__.parallel_info":
            # Of torch's builds for Linux.
            return text("ATen parallel backend: OpenMP")
        if dotted == "cpuinfo.get_cpu_info":
            machine = Machine(node, scope.module.path)
            return {"arch": machine, "arch_string_raw": machine, "flags": Simd(node, scope.module.path)}
        if dotted in ("pybind11.get_include", "sysconfig.get_path", "sysconfig.get_python_inc"):
            return []
        if dotted == "super":
            holder = scope
            while holder is not None and "\0function" not in holder.names:
                holder = holder.parent
            function = holder.names["\0function"] if holder else None
            return Super(function.this, function.owner) if function and function.this else self.unknown(node, scope)
        if dotted in ("bool", "int") and len(arguments) == 1 and isinstance(arguments[0], (Test, Unknown)):
            return self.truth_of(arguments[0], node.args[0], scope) if dotted == "bool" else arguments[0]
        if any(isinstance(one, Choice) for one in arguments) and last not in ("list", "tuple", "print"):
            return spread(arguments, lambda *known: self.known_call(dotted, list(known), keywords, node, scope))
        if dotted in ("int", "bool", "str") and arguments and isinstance(arguments[0], Env):
            one = arguments[0]
            try:
                convert = {"int": int, "bool": bool, "str": str}[dotted]
                return one.again(None if one.default is None else convert(one.default))
            except ValueError:
                return self.unknown(node, scope)
        try:
            result = self.library(dotted, [one.default if isinstance(one, Env) else one for one in arguments], keywords)
        except (TypeError, ValueError, IndexError, KeyError, OSError):
            result = NotImplemented
        return self.unknown(node, scope) if result is NotImplemented else result

    def absolute(self, path):
        if path.startswith("\0"):
            return path
        return os.path.normpath(os.path.join(self.root, path))

    def library(self, dotted, arguments, keywords):
        """os.path, glob, pathlib and builtins, as far as files and texts that are known go."""
        first = arguments[0] if arguments else None
        last = dotted.split(".")[-1]
        if last in ("PurePath", "Path") and (dotted == last or dotted.startswith("pathlib")):
            return NotImplemented if unknown_in(arguments) else path_text(os.path.join(*(arguments or ["."])))
        if dotted in ("list", "tuple", "set", "sorted", "frozenset", "reversed"):
            values = elements(first) if arguments else []
            if isinstance(first, dict):
                values = list(first)
            if last == "sorted" and not any(isinstance(item, Splice) for item in values) and not keywords:
                values = values if unknown_in(values) else sorted(values)
            if last == "reversed":
                values = values[::-1]
            return tuple(values) if last == "tuple" else values
        if dotted == "dict":
            return {**(first if isinstance(first, dict) else {}), **keywords}
        if dotted in ("print", "warnings.warn", "warn"):
            return None
        if dotted in ("copy.copy", "copy.deepcopy", "deepcopy"):
            return first.copy() if isinstance(first, (list, dict)) else first
        if dotted in ("itertools.chain", "chain"):
            return [item for one in arguments for item in elements(one)]
        if dotted in ("itertools.product", "product") and all(known_sequence(one) for one in arguments):
            return product(arguments)
        if dotted == "hasattr":
            return True if isinstance(first, Name) else NotImplemented
        if dotted == "sum" and len(arguments) == 2 and isinstance(arguments[1], list):
            return [item for one in elements(first) for item in elements(one)]
        if dotted in ("map", "filter") and len(arguments) == 2:
            items = elements(arguments[1])
            if last == "filter" and (first is None or isinstance(first, Name) and first.dotted == "bool"):
                return [item for item in items if item]
            call = ast.Call(func=ast.Name(id=last, lineno=0), args=[], keywords=[], lineno=0)
            if isinstance(first, Function) and last == "map" or isinstance(first, Name):
                if last == "map":
                    return [self.call(first, [item], {}, call, self.frames[-1]) for item in items]
            return NotImplemented
        if dotted == "platform.system":
            return text("Linux")
        if dotted in ("os.getcwd", "pathlib.Path.cwd", "Path.cwd"):
            return text(self.root, path=last == "cwd")
        if unknown_in(arguments) or any(isinstance(one, (Name, Test, Function, Call)) for one in arguments):
            return NotImplemented
        if dotted.startswith(("os.path.", "posixpath.")) and all(isinstance(one, str) for one in arguments):
            plain = {"join", "dirname", "basename", "normpath", "splitext", "isabs", "commonpath"}
            if last in plain:
                value = getattr(os.path, last)(*arguments)
                return text(value, getattr(first, "line", 0)) if isinstance(value, str) else value
            if last in ("abspath", "realpath"):
                return text(self.absolute(first))
            if last in ("exists", "isfile", "isdir") and not first.startswith("\0"):
                path = self.absolute(first)
                # Elsewhere on this machine is not where it is built.
                return getattr(os.path, last)(path) if path.startswith(self.root) else NotImplemented
            if last == "relpath":
                return text(
                    os.path.relpath(self.absolute(first), self.absolute(arguments[1] if arguments[1:] else "."))
                )
        if dotted == "os.listdir":
            return [text(name) for name in sorted(os.listdir(self.absolute(first or ".")))]
        if dotted == "os.walk":
            rows = []
            for directory, folders, files in os.walk(self.absolute(first)):
                folders.sort()
                where = (
                    directory
                    if os.path.isabs(first)
                    else os.path.join(first, os.path.relpath(directory, self.absolute(first)))
                )
                rows.append(
                    (
                        text(os.path.normpath(where)),
                        [text(one) for one in folders],
                        [text(one) for one in sorted(files)],
                    )
                )
            return rows
        if dotted in ("glob.glob", "glob.iglob", "glob"):
            return self.expand(first, keywords.get("recursive") is True, keywords.get("root_dir"))
        if dotted == "open":
            return OpenFile(self.absolute(first))
        if dotted == "str":
            return text(str(first), getattr(first, "line", 0))
        if dotted in ("os.fspath",):
            return text(first)
        if dotted in ("len", "min", "max", "any", "all", "int", "float", "bool", "abs"):
            return {
                "len": len,
                "min": min,
                "max": max,
                "any": any,
                "all": all,
                "int": int,
                "float": float,
                "bool": bool,
                "abs": abs,
            }[dotted](*arguments)
        if dotted == "range":
            return list(range(*arguments))[:1000]
        if dotted == "zip":
            return list(zip(*arguments))
        if dotted == "enumerate":
            return list(enumerate(first))
        return NotImplemented

    def expand(self, pattern, recursive, start=None):
        base = self.absolute(start) if isinstance(start, str) else self.root
        found = sorted(glob.glob(pattern, root_dir=base, recursive=recursive))
        return [text(name, getattr(pattern, "line", 0)) for name in found]

    def method(self, owner, name, arguments, keywords, node, scope):
        arguments = [one.default if isinstance(one, Env) else one for one in arguments]
        if isinstance(owner, Choice):
            yes = self.method(owner.yes, name, arguments, keywords, node, scope)
            no = self.method(owner.no, name, arguments, keywords, node, scope)
            return merge(owner.test, yes, no)
        first = arguments[0] if arguments else None
        if (
            isinstance(owner, Env)
            and name in ("lower", "upper", "strip")
            and isinstance(owner.default, (str, type(None)))
        ):
            return owner.again(getattr(owner.default, name)() if owner.default else owner.default)
        if isinstance(owner, Env):
            owner = text(owner.default, node.lineno) if isinstance(owner.default, str) else self.unknown(node, scope)
        if isinstance(owner, OpenFile) and owner.path == "/proc/cpuinfo" and name == "read":
            return Simd(node, scope.module.path)
        if isinstance(owner, OpenFile):
            return owner.read(name, self.root) or self.unknown(node, scope)
        if isinstance(owner, Machine) and name == "startswith" and isinstance(first, str):
            return self.doubt(node, scope, owner.default(lambda one: one.startswith(first)))
        if isinstance(owner, (Machine, Simd)) and name in ("lower", "upper", "strip", "split"):
            return owner
        if isinstance(owner, list):
            if name in ("append", "add"):
                owner.append(first)
                return None
            if name in ("extend", "update"):
                for one in arguments:
                    owner.extend(elements(one))
                return None
            if name == "insert" and len(arguments) == 2 and isinstance(first, int):
                owner.insert(first, arguments[1])
                return None
            if name == "remove":
                if first in owner:
                    owner.remove(first)
                return None
            if name == "copy":
                return list(owner)
        if isinstance(owner, dict):
            if name == "get" and hashable(first):
                return owner.get(first, arguments[1] if arguments[1:] else None)
            if name == "setdefault" and hashable(first):
                return owner.setdefault(first, arguments[1] if arguments[1:] else None)
            if name == "update":
                owner.update({**(first if isinstance(first, dict) else {}), **keywords})
                return None
            if name == "copy":
                return dict(owner)
            if name in ("items", "keys", "values"):
                return [tuple(pair) for pair in owner.items()] if name == "items" else list(getattr(owner, name)())
        if isinstance(owner, Text) and owner.path:
            if name in ("resolve", "absolute"):
                return path_text(self.absolute(owner))
            if name == "joinpath" and not unknown_in(arguments):
                return path_text(os.path.join(owner, *arguments))
            if name in ("as_posix", "__str__"):
                return text(owner)
            if name in ("glob", "rglob") and isinstance(first, str):
                pattern = os.path.join(owner, "**", first) if name == "rglob" else os.path.join(owner, first)
                return [path_text(one, node.lineno) for one in self.expand(pattern, True)]
            if name in ("exists", "is_file", "is_dir"):
                path = self.absolute(owner)
                check = {"exists": os.path.exists, "is_file": os.path.isfile, "is_dir": os.path.isdir}[name]
                return check(path) if path.startswith(self.root) else self.unknown(node, scope)
            if name in ("with_suffix", "with_name") and isinstance(first, str):
                stem = os.path.splitext(owner)[0]
                return path_text(stem + first if name == "with_suffix" else os.path.join(os.path.dirname(owner), first))
            if name in ("relative_to",) and isinstance(first, str):
                return path_text(os.path.relpath(self.absolute(owner), self.absolute(first)))
            if name == "read_text":
                return OpenFile(self.absolute(owner)).read("read", self.root) or self.unknown(node, scope)
        if isinstance(owner, str) and not keywords or name == "format" and isinstance(owner, str):
            plain = "startswith endswith replace split strip rstrip lstrip lower upper join format splitlines title"
            if name in plain.split() and not unknown_in(arguments) and not unknown_in(list(keywords.values())):
                if any(isinstance(one, (Name, Test, Call, Function)) for one in arguments):
                    return self.unknown(node, scope)
                try:
                    value = getattr(str, name)(owner, *arguments, **keywords)
                except (TypeError, ValueError, IndexError, KeyError):
                    return self.unknown(node, scope)
                if isinstance(value, list):
                    return [text(one, node.lineno) for one in value]
                return text(value, node.lineno) if isinstance(value, str) else value
        return self.unknown(node, scope)


class OpenFile:
    def __init__(self, path):
        self.path = path

    def read(self, name, root):
        if name not in ("read", "readlines") or not self.path.startswith(root) or not os.path.isfile(self.path):
            return None
        with open(self.path, encoding="utf-8", errors="replace") as file:
            content = file.read(1 << 20)
        return text(content) if name == "read" else [text(line) for line in content.splitlines(True)]

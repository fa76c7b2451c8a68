# SPDX-License-Identifier: Apache-2.0
"""Reads what a setup.py would build, with ast; nothing of it is run.

Statements are followed as Python would, over values that are known (texts, numbers, lists, dicts, functions and classes
of the project) and values that are not: Unknown keeps the expression. A condition on CUDA, on the environment or on
something unknown is kept too, as a Test: both branches are read, and what they leave behind differs by it (Choice for a
value, Splice for elements of a list).
"""

import ast
import os
import sys

from .branches import (
    as_load, catches, choices, elements, flatten, guarded_items, hashable, join, known_sequence, makes_extension, merge, public,
    restore,
)
from .expressions import Expressions
from .values import (
    EXTENSIONS, HOLDERS, LIMIT, MISSING, Catch, Choice, Class, Function, Instance, Later, Module, Name, Scope, Splice, Stop, Test,
    Unknown, combine, negate, text,
)


class Reader(Expressions):
    def __init__(self, path, root=None, built=True):
        self.path = os.path.abspath(path)
        self.root = root or os.path.dirname(self.path)
        self.built = built  # whether `try: import x` finds an x that the project has no file of
        self.calls = []
        self.setup = {}
        self.foreign = []  # extensions of another kind: Unknown
        self.raised = []  # (guard, Unknown): what nothing catches
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
            if isinstance(value, Function) and value.node not in self.called and makes_extension(value):
                self.guarded(self.invoke, value, [], {})
            elif isinstance(value, Class) and value.node not in self.called and value.scope.module is module:
                self.read_class(value)
        return len(self.calls) - done

    def read_class(self, kind):
        methods = {}
        for one in reversed(kind.order()):
            methods.update({name: item for name, item in one.names.items() if isinstance(item, Function)})
        makers = [item for item in methods.values() if makes_extension(item)]
        # Ahead of time before just in time, where a class can do both.
        makers = [item for item in makers if makes_extension(item, EXTENSIONS[:2])] or makers
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
        with open(path, encoding="utf-8-sig", errors="replace") as file:
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
        elif not self.catches:
            self.raised.append((combine("and", self.guards), self.unknown(node, scope)))
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
        if not self.built:
            absent = Name("ModuleNotFoundError")
            if any(catches(self.value(one.type, scope) if one.type else None, absent) for one in node.handlers):
                catch.absent = absent
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

    def absent(self, find, dotted):
        """Whether an import fails where what the file builds isn't built: of what neither the project (`find`) nor Python nor torch has."""
        catch = self.catches[-1] if self.catches else None
        if catch is None or catch.absent is None or dotted.split(".")[0] in ("torch", *sys.stdlib_module_names) or find():
            return False
        catch.raised.append((combine("and", self.guards[catch.depth :]), catch.absent))
        return True

    def do_Import(self, node, scope):
        for alias in node.names:
            if self.absent(lambda: self.local(alias.name, 0, scope), alias.name):
                return ("raise",)
            dotted = alias.name if alias.asname else alias.name.split(".")[0]
            find = lambda dotted=dotted: self.local(dotted, 0, scope) or Name(dotted)
            scope.names[alias.asname or dotted] = Later(find)

    def do_ImportFrom(self, node, scope):
        for alias in node.names:
            if alias.name == "*":
                module = self.local(node.module or "", node.level, scope)
                scope.names.update(public(module.scope.names) if module is not None else {})
            elif self.absent(lambda: self.brought(node, alias.name, scope) is not MISSING, node.module or "."):
                return ("raise",)
            else:
                find = lambda name=alias.name: self.imported(node, name, scope)
                scope.names[alias.asname or alias.name] = Later(find)

    def brought(self, node, name, scope):
        """What of the project's own `from ... import name` names, or MISSING."""
        value = self.member(self.local(node.module or "", node.level, scope), name)
        if value is MISSING:
            value = self.local(".".join(filter(None, [node.module, name])), node.level, scope) or MISSING
        return value

    def imported(self, node, name, scope):
        value = self.brought(node, name, scope)
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

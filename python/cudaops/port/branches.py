# SPDX-License-Identifier: Apache-2.0
"""Functions over the values of a setup.py."""

import ast
import builtins
import operator
import os

from .values import (
    CHOICES, EXTENSIONS, MISSING, Choice, Class, Env, Later, Name, Names, Splice, Test, Unknown, combine, negate, text,
)


def makes_extension(function, names=EXTENSIONS):
    """Whether a function's own text calls one of them."""
    parts = list(ast.walk(function.node))
    imports = [alias for part in parts if isinstance(part, (ast.ImportFrom, ast.Import)) for alias in part.names]
    if any(alias.name in names for alias in imports):
        return True
    modules = {alias.asname for alias in imports if alias.name.endswith("cpp_extension")}
    for part in parts:
        if isinstance(part, ast.Call):
            called = part.func
            if not isinstance(called, ast.Attribute):
                if getattr(called, "id", "") in names:
                    return True
            elif called.attr in names:
                base = ast.unparse(called.value)
                module = function.scope.get(base)  # "import torch.utils.cpp_extension as x"
                if "cpp_extension" in base or base in modules or getattr(module, "dotted", "").endswith("cpp_extension"):
                    return True
    return False


def catches(kinds, raised):
    """Whether `except kinds` takes an exception of this class."""
    if kinds is None or isinstance(kinds, (list, tuple)):
        return kinds is None or any(catches(one, raised) for one in kinds)
    if isinstance(raised, Class):
        bases = [base for one in raised.order() for base in [one, *one.bases]]
        return kinds in raised.order() or any(catches(kinds, base) for base in bases if isinstance(base, Name))
    known = [getattr(builtins, one.dotted, None) if isinstance(one, Name) else None for one in (kinds, raised)]
    if all(isinstance(one, type) for one in known):
        return issubclass(known[1], known[0])
    return isinstance(kinds, Name) and isinstance(raised, Name) and kinds.dotted == raised.dotted


def public(names):
    """What `from module import *` brings."""
    listed = names.get("__all__")
    shown = listed if isinstance(listed, list) else [name for name in names if not name.startswith(("_", "\0"))]
    return {name: names[name] for name in shown if isinstance(name, str) and name in names}


def as_load(node):
    copy = ast.parse(ast.unparse(node), mode="eval").body
    return ast.copy_location(copy, node)


def env_test(value, result, on):
    """`on`: being true means that the option is on, not off."""
    default = result if on else not result
    leaf = Test("env", (), value.name, default, "argv" if value.flag else "", value.line, value.file)
    return leaf if on else negate(leaf)


def path_text(value, line=0):
    return text(value, line, True)


def parents(value):
    found = []
    while os.path.dirname(value) != value:
        value = os.path.dirname(value)
        found.append(path_text(value or "."))
    return found


def hashable(value):
    return isinstance(value, (str, int, float, bool, type(None))) or (
        isinstance(value, tuple) and all(hashable(item) for item in value)
    )


def unknown_in(values):
    for value in values:
        if isinstance(value, (Unknown, Choice, Splice, Env)) or value is MISSING:
            return True
        if isinstance(value, (list, tuple)) and unknown_in(value):
            return True
    return False


def element(items, index):
    """items[index], or a Choice where it depends on what is there. IndexError where that isn't known."""
    if isinstance(items, str):
        return items[index]
    if index < 0:
        items = [Splice(one.test, one.items[::-1]) if isinstance(one, Splice) else one for one in items[::-1]]
        index = -index - 1
    return _element(list(items), index, CHOICES)


def _element(items, index, ways):
    for place, item in enumerate(items[: index + 1]):
        if isinstance(item, Splice) and ways > 1:
            with_it = _element(items[:place] + item.items + where(item.test, items[place + 1 :]), index, ways / 2)
            without = _element(items[:place] + where(negate(item.test), items[place + 1 :]), index, ways / 2)
            return merge(item.test, with_it, without)
        if isinstance(item, (Splice, Unknown)) and not isinstance(item, Name):
            raise IndexError
    return items[index]


def where(test, items):
    """The elements where a condition holds."""
    result = []
    for item in items:
        if isinstance(item, Splice) and same_test(item.test, test):
            result += item.items
        elif not isinstance(item, Splice) or not same_test(item.test, negate(test)):
            result.append(item)
    return result


def same_test(one, other):
    if isinstance(one, Test) and isinstance(other, Test) and one.kind == other.kind == "not":
        return one.args[0] is other.args[0]
    return one is other


def elements(value):
    """As elements of a list; a value that isn't known is one element, whose place is kept."""
    if isinstance(value, list):
        return list(value)
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, Choice):
        yes, no = elements(value.yes), elements(value.no)
        return ([Splice(value.test, yes)] if yes else []) + ([Splice(negate(value.test), no)] if no else [])
    if value is None or value is MISSING:
        return []
    return [value]


def known_sequence(value):
    if isinstance(value, Choice):
        return known_sequence(value.yes) and known_sequence(value.no)
    return isinstance(value, (list, tuple, dict)) or value is None


def guarded_items(value, test=True):
    for item in elements(value):
        if isinstance(item, Splice):
            for inner, one in guarded_items(item.items, item.test):
                yield combine("and", [test, inner]), one
        else:
            yield test, item


def flatten(value, test=True):
    """[(test, value)] of a list: what it holds, and where."""
    result = []
    for guard, item in guarded_items(value, test):
        if isinstance(item, Choice):
            result += flatten([item.yes], combine("and", [guard, item.test]))
            result += flatten([item.no], combine("and", [guard, negate(item.test)]))
        elif item is not MISSING and item is not None:
            result.append((guard, item.default if isinstance(item, Env) else item))
    return [(guard, item) for guard, item in result if guard is not False and item is not None]


def choices(value):
    return choices(value.yes) + choices(value.no) if isinstance(value, Choice) else [value]


def spread(values, function):
    """function(*values), where a value may be one of several."""
    for index, value in enumerate(values):
        if isinstance(value, Choice):
            yes = spread([*values[:index], value.yes, *values[index + 1 :]], function)
            no = spread([*values[:index], value.no, *values[index + 1 :]], function)
            return merge(value.test, yes, no)
    return function(*values)


def joined(parts, line):
    if not all(isinstance(part, (str, int, float)) for part in parts):
        return None
    return text("".join(str(part) for part in parts), line)


def restore(saved):
    for one, contents in saved.values():
        if unchanged(one, contents):
            continue
        if isinstance(one, dict):
            one.clear()
            one.update(contents)
        else:
            one[:] = contents


def unchanged(one, other):
    """The same elements in the same order: most of what there is, at each branch."""
    if len(one) != len(other):
        return False
    if isinstance(one, dict):
        return all(map(operator.is_, one, other)) and all(map(operator.is_, one.values(), other.values()))
    return all(map(operator.is_, one, other))


def same(a, b):
    if a is b:
        return True
    simple = (str, int, float, bool, type(None))
    return isinstance(a, simple) and isinstance(b, simple) and type(a) is type(b) and a == b


def merge(test, yes, no):
    if same(yes, no):
        return yes
    yes, no = (one.get() if isinstance(one, Later) else one for one in (yes, no))
    if isinstance(test, bool):
        return yes if test else no
    if isinstance(yes, list) and isinstance(no, list):
        start = 0
        while start < min(len(yes), len(no)) and same(yes[start], no[start]):
            start += 1
        result = yes[:start]
        result += [Splice(test, yes[start:])] if yes[start:] else []
        result += [Splice(negate(test), no[start:])] if no[start:] else []
        return result
    if isinstance(yes, dict) and isinstance(no, dict):
        keys = list(yes) + [key for key in no if key not in yes]
        return {key: merge(test, yes.get(key, MISSING), no.get(key, MISSING)) for key in keys}
    if isinstance(yes, tuple) and isinstance(no, tuple) and len(yes) == len(no):
        return tuple(merge(test, one, other) for one, other in zip(yes, no))
    if isinstance(yes, (bool, Test)) and isinstance(no, (bool, Test)):
        return combine("or", [combine("and", [test, yes]), combine("and", [negate(test), no])])
    made = Choice(test, yes, no)
    if made.size > CHOICES:
        leaf = next((leaf for leaf in test.leaves() if leaf.line), test)
        return Unknown("one of many values", leaf.file, leaf.line)
    return made


def join(test, after, before):
    """The state is that of the second branch, `after` that of the first, `before` says what was there."""
    for key, (one, _) in before.items():
        first = after[key][1] if key in after else one
        if unchanged(one, first):
            continue
        contents = dict(one) if isinstance(one, dict) else list(one)
        if isinstance(one, dict):
            names = list(first) + [name for name in contents if name not in first]
            one.clear()
            for name in names:
                yes, no = first.get(name, MISSING), contents.get(name, MISSING)
                if isinstance(one, Names) and MISSING in (yes, no):
                    # What only one branch has a name for is used where that branch was taken.
                    one[name] = no if yes is MISSING else yes
                else:
                    one[name] = merge(test, yes, no)
        else:
            one[:] = merge(test, first, contents)

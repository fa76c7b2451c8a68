# SPDX-License-Identifier: Apache-2.0
"""Comparisons and arithmetic over values that are known, and over those that CMake decides."""

import ast
import operator
import os

from .branches import elements, env_test, path_text, unknown_in
from .values import FALSY, HOME, Env, Machine, Name, Simd, Test, Text, negate, text

NEGATIVE = (ast.IsNot, ast.NotEq, ast.NotIn)
COMPARED = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
COMPUTED = {
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.LShift: lambda left, right: left << min(right, 64),  # (2 << 56) | (11 << 48), as TORCH_TARGET_VERSION has it
    ast.RShift: operator.rshift,
}


def compare(op, left, right, place, doubt):
    """True, False or a Test. `place`: (line, file); doubt(default) makes the Test of what isn't known."""
    test = None
    if isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
        test = equal(left, right, doubt, negative=isinstance(op, NEGATIVE))
    elif isinstance(op, (ast.In, ast.NotIn)):
        test = contained(left, right, place, doubt, negative=isinstance(op, NEGATIVE))
    if test is not None:
        return test
    if unknown_in([left, right]) or isinstance(left, (Name, Env, Test)) or isinstance(right, (Name, Env, Test)):
        # A version that is asked for is there, where it isn't an old one's work-around.
        return doubt({ast.Gt: True, ast.GtE: True, ast.Lt: False, ast.LtE: False}.get(type(op)))
    try:
        return COMPARED[type(op)](left, right)
    except TypeError:
        return doubt()


def equal(left, right, doubt, negative):
    if right is None and (isinstance(left, Test) or isinstance(left, Text) and left == HOME):
        test = Test("cuda") if left == HOME else left
        return test if negative else negate(test)
    if isinstance(left, Env) and (right is None or isinstance(right, (str, int))):
        on = right is not None and str(right).lower() not in FALSY
        test = env_test(left, left.default == right, on)
        return negate(test) if negative else test
    if isinstance(left, Test) and isinstance(right, bool):
        return negate(left) if negative == right else left
    if isinstance(left, Machine) and isinstance(right, str):
        return doubt(left.default(lambda name: name == right) != negative)
    return None


def contained(left, right, place, doubt, negative):
    known = isinstance(right, (list, tuple)) and not unknown_in(right)
    if isinstance(left, Machine) and known:
        return doubt(left.default(lambda name: name in right) != negative)
    if isinstance(right, Simd) and isinstance(left, str):
        test = right.test(left)
    elif isinstance(right, Name) and right.dotted in ("sys.argv", "os.environ") and isinstance(left, str):
        test = env_test(Env(left, None, right.dotted == "sys.argv", *place), False, True)
    elif isinstance(left, Env) and known:
        on = not any(str(item).lower() in FALSY for item in right)
        test = env_test(left, left.default in right, on)
    else:
        return None
    return negate(test) if negative else test


def compute(op, left, right, line):
    """NotImplemented where it isn't known."""
    left, right = (one.default if isinstance(one, Env) else one for one in (left, right))
    if isinstance(op, ast.Add):
        if isinstance(left, list) or isinstance(right, list):
            return elements(left) + elements(right)
        if isinstance(left, tuple) and isinstance(right, tuple):
            return left + right
    if unknown_in([left, right]) or isinstance(left, (Test, Name)) or isinstance(right, (Test, Name)):
        return NotImplemented
    try:
        if isinstance(op, ast.Div) and isinstance(left, str):
            return path_text(os.path.join(left, right))
        if isinstance(op, ast.Add):
            return text(left + right, line) if isinstance(left, str) else left + right
        if isinstance(op, ast.Mod) and isinstance(left, str):
            return text(left % right, line)
        if isinstance(op, ast.Sub) and isinstance(left, list):
            return [item for item in left if item not in right]
        if isinstance(op, ast.BitOr) and isinstance(left, dict):
            return {**left, **right}
        return COMPUTED[type(op)](left, right)
    except (TypeError, KeyError, ValueError, ZeroDivisionError):
        return NotImplemented

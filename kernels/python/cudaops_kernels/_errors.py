# SPDX-License-Identifier: Apache-2.0
"""Python's exceptions for what an op refuses: the stable ABI knows RuntimeError only."""

import re
from typing import Any, NoReturn, Optional, Sequence

import torch

# A refusal of this library, as no other RuntimeError begins.
_REFUSAL = re.compile(r"\w+: wanted ")
# What a refusal is about if it is about a type: "wanted one dtype for ...", "found Half.", "found
# None."
_ABOUT_TYPES = re.compile(
    r"dtype|\((?:Float|Half|BFloat16|Int|Long|Char|Float8_e4m3fn)\)|"
    r"wanted (?:Float|Int) for|found None\."
)


# A schema's types, what they are called, what a value of one has, and what it is where it is traced.
_KINDS: dict[str, tuple[str, str, tuple[type, ...]]] = {
    "float": (
        "a number",
        "__float__",
        (int, float, torch.SymInt, torch.SymFloat, torch.Tensor),
    ),
    "int": ("an int", "__index__", (int, torch.SymInt, torch.Tensor)),
    "bool": ("a bool", "__index__", (int, torch.SymBool, torch.Tensor)),
}

# An argument: its name, its type ("Tensor" or of _KINDS), whether it may be None.
Kinds = tuple[tuple[str, str, bool], ...]


def kinds_of(op: Any) -> Kinds:
    """Of an op's arguments. Of other types, whose values torch refuses itself, the type is ""."""
    kinds = []
    for argument in op._schema.arguments:
        kind = str(argument.real_type)  # that of a dtype would be int
        is_optional = kind.startswith("Optional[")
        kind = kind[len("Optional[") : -1] if is_optional else kind
        known = kind == "Tensor" or kind in _KINDS
        kinds.append((argument.name, kind if known else "", is_optional))
    return tuple(kinds)


def _wrong_type(
    name: str, kinds: Kinds, args: Sequence[Any], is_traced: bool = False
) -> Optional[str]:
    for (argument, kind, is_optional), value in zip(kinds, args):
        if not kind or (value is None and is_optional):
            continue
        if kind == "Tensor":
            wanted, fits = "a tensor", isinstance(value, torch.Tensor)
        else:
            wanted, member, types = _KINDS[kind]
            # torch.compile knows no attributes of all values.
            fits = isinstance(value, types) if is_traced else hasattr(value, member)
            # torch takes a tensor with one element for a number.
            fits = fits and not (isinstance(value, torch.Tensor) and value.numel() != 1)
        if not fits:
            found = "None" if value is None else type(value).__name__
            wanted += " or None" if is_optional else ""
            return f"{name}: wanted {wanted} for {argument}, found {found}."
    return None


def refuse_types(name: str, kinds: Kinds, args: Sequence[Any]) -> None:
    """Before an op is traced: torch would say it in other words."""
    sentence = _wrong_type(name, kinds, args, is_traced=True)
    if sentence is not None:
        raise TypeError(sentence)


def as_number(value: Any) -> float:
    """float(value); of what is no number NaN, which lies in no range. A text that float() would read
    is none."""
    if isinstance(value, (str, bytes, bytearray)):
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def two_numbers(name: str, option: str, value: Any) -> tuple[Any, Any]:
    """An option's two values, which are still to be looked at."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ValueError(f"{name}: wanted two numbers for {option}, found {value!r}.")
    return value[0], value[1]


def _not_dense(name: str, kinds: Kinds, args: Sequence[Any]) -> Optional[str]:
    """Of a tensor that no kernel is for, whose layout torch doesn't name."""
    for (argument, _, _), value in zip(kinds, args):
        if not isinstance(value, torch.Tensor):
            continue
        found = ""
        if value.is_nested:
            found = "a nested one of another layout than torch.jagged"
        elif value.layout is not torch.strided:
            found = f"layout {value.layout}"
        if found:
            return f"{name}: wanted a dense tensor for {argument}, found {found}."
    return None


def raise_again(
    error: Exception, name: str = "", kinds: Kinds = (), args: Sequence[Any] = ()
) -> NoReturn:
    """Raises a refusal as TypeError or ValueError, what an argument's type has caused in a sentence,
    and everything else as it is. So types are looked at only where a call has failed."""
    sentence = str(error)
    if type(error) is RuntimeError and _REFUSAL.match(sentence):
        kind = TypeError if _ABOUT_TYPES.search(sentence) else ValueError
        raise kind(sentence) from None
    if isinstance(error, NotImplementedError):
        not_dense = _not_dense(name, kinds, args)
        if not_dense is not None:
            raise NotImplementedError(not_dense) from None
    wrong = _wrong_type(name, kinds, args)
    if wrong is not None:
        raise TypeError(wrong) from None
    raise error

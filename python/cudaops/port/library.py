# SPDX-License-Identifier: Apache-2.0
"""What functions of Python's library, and methods of its types, give where files and texts are known.

NotImplemented stands for what isn't known. What raises is not known either.
"""

import ast
import glob
import os

from .branches import elements, guarded_items, hashable, known_sequence, path_text, unknown_in
from .values import Call, Class, Function, Instance, Name, Splice, Test, Text, combine, text


def where_known(made, *arguments):
    try:
        return made(*arguments)
    except (TypeError, ValueError, IndexError, KeyError, OSError):
        return NotImplemented


def known(values):
    return not unknown_in(values) and not any(isinstance(one, (Name, Test, Function, Call)) for one in values)


def call_library(reader, dotted, values, keywords):
    made = ANY.get(dotted)
    if made is None and known(values):
        made = KNOWN.get(dotted.replace("posixpath.", "os.path."))
    return NotImplemented if made is None else where_known(made, reader, values, keywords)


# ---- functions that see values that aren't known


def first_of(values):
    return values[0] if values else None


def _sorted(_, values, keywords):
    items = elements(first_of(values))
    return items if unknown_in(items) or keywords else sorted(items)


def _dict(_, values, keywords):
    first = first_of(values)
    return {**(first if isinstance(first, dict) else {}), **keywords}


def _sum(_, values, keywords):
    items, start = values
    return [one for item in elements(items) for one in elements(item)] if isinstance(start, list) else NotImplemented


def _product(_, values, keywords):
    rows = [(True, ())]
    for value in values:
        items = list(guarded_items(value))
        if not known_sequence(value) or len(rows) * len(items) > 10000:
            return NotImplemented
        rows = [(combine("and", [test, more]), (*row, item)) for test, row in rows for more, item in items]
    return [row if test is True else Splice(test, [row]) for test, row in rows]


def _map(reader, values, keywords):
    made, items = values
    if not isinstance(made, (Function, Name)):
        return NotImplemented
    node = ast.Call(func=ast.Name(id="map", lineno=0), args=[], keywords=[], lineno=0)
    return [reader.call(made, [item], {}, node, reader.frames[-1]) for item in elements(items)]


def _filter(_, values, keywords):
    made, items = values
    plain = made is None or isinstance(made, Name) and made.dotted == "bool"
    return [item for item in elements(items) if item] if plain else NotImplemented


def _path(_, values, keywords):
    return NotImplemented if unknown_in(values) else path_text(os.path.join(*(values or ["."])))


def _is_within(path, root):
    return os.path.join(path, "").startswith(os.path.join(root, ""))


def _module(reader, values, keywords):
    """What is loaded by its path, as a module that is imported."""
    path = reader.absolute([*values, keywords.get("location")][1])
    if not _is_within(path, reader.root) or not os.path.isfile(path):
        return NotImplemented
    try:
        return reader.load(path)
    except (SyntaxError, ValueError):
        return NotImplemented


def _namespace(_, values, keywords):
    made = Instance(Class(None, None, []))
    made.names.update(keywords)
    return made


def _hasattr(_, values, keywords):
    owner, name = values
    if not isinstance(owner, Name):
        return NotImplemented
    # What a package for another device adds to torch.
    return not (owner.dotted == "torch" and name in ("mlu", "npu", "musa", "hpu", "gcu"))


# By their dotted names: function(reader, values, keywords).
ANY = {
    **dict.fromkeys(("list", "set", "frozenset"), lambda _, values, keywords: elements(first_of(values))),
    # For each once, in order; who reads the list takes each once.
    "dict.fromkeys": lambda _, values, keywords: elements(first_of(values)) if len(values) == 1 else NotImplemented,
    **dict.fromkeys(("print", "warnings.warn", "warn"), lambda *_: None),
    **dict.fromkeys(
        ("copy.copy", "copy.deepcopy", "deepcopy"),
        lambda _, values, keywords: values[0].copy() if isinstance(values[0], (list, dict)) else values[0],
    ),
    **dict.fromkeys(
        ("itertools.chain", "chain"), lambda _, values, keywords: [item for one in values for item in elements(one)]
    ),
    **dict.fromkeys(("itertools.product", "product"), _product),
    **dict.fromkeys(("pathlib.Path.cwd", "Path.cwd"), lambda reader, *_: path_text(reader.root)),
    **dict.fromkeys(("Path", "PurePath", "pathlib.Path", "pathlib.PurePath"), _path),
    **dict.fromkeys(("importlib.util.spec_from_file_location", "spec_from_file_location"), _module),
    **dict.fromkeys(("importlib.util.module_from_spec", "module_from_spec"), lambda _, values, keywords: values[0]),
    **dict.fromkeys(("types.SimpleNamespace", "argparse.Namespace"), _namespace),
    "dict": _dict,
    "filter": _filter,
    "hasattr": _hasattr,
    "map": _map,
    "os.getcwd": lambda reader, *_: text(reader.root),
    "platform.system": lambda *_: text("Linux"),
    "reversed": lambda _, values, keywords: elements(first_of(values))[::-1],
    "sorted": _sorted,
    "sum": _sum,
    "tuple": lambda _, values, keywords: tuple(elements(first_of(values))),
}


# ---- functions of known values


def is_there(reader, check, path):
    path = reader.absolute(path)
    # Elsewhere on this machine is not where it is built.
    return check(path) if _is_within(path, reader.root) else NotImplemented


def expand(reader, pattern, recursive, start=None):
    base = reader.absolute(start) if isinstance(start, str) else reader.root
    found = sorted(glob.glob(pattern, root_dir=base, recursive=recursive))
    return [text(name, getattr(pattern, "line", 0)) for name in found]


def _of_path(name):
    def made(_, values, keywords):
        value = getattr(os.path, name)(*values)
        return text(value, getattr(values[0], "line", 0)) if isinstance(value, str) else value

    return made


def _walk(reader, values, keywords):
    rows = []
    for directory, folders, files in os.walk(reader.absolute(values[0])):
        folders.sort()
        where = os.path.join(values[0], os.path.relpath(directory, reader.absolute(values[0])))
        where = directory if os.path.isabs(values[0]) else os.path.normpath(where)
        rows.append((text(where), [text(one) for one in folders], [text(one) for one in sorted(files)]))
    return rows


KNOWN = {
    **{"os.path." + name: _of_path(name) for name in "join dirname basename normpath splitext isabs commonpath".split()},
    **{
        "os.path." + check.__name__: lambda reader, values, keywords, check=check: is_there(reader, check, values[0])
        for check in (os.path.exists, os.path.isfile, os.path.isdir)
    },
    **{
        made.__name__: lambda _, values, keywords, made=made: made(*values)
        for made in (len, min, max, any, all, int, float, bool, abs)
    },
    **dict.fromkeys(
        ("os.path.abspath", "os.path.realpath"), lambda reader, values, keywords: text(reader.absolute(values[0]))
    ),
    **dict.fromkeys(
        ("glob.glob", "glob.iglob", "glob"),
        lambda reader, values, keywords: expand(reader, values[0], keywords.get("recursive") is True, keywords.get("root_dir")),
    ),
    **dict.fromkeys(
        ("str", "os.fspath"), lambda _, values, keywords: text(str(values[0]), getattr(values[0], "line", 0))
    ),
    "enumerate": lambda _, values, keywords: list(enumerate(values[0])),
    "open": lambda reader, values, keywords: OpenFile(reader.absolute(values[0])),
    "os.listdir": lambda reader, values, keywords: [
        text(name) for name in sorted(os.listdir(reader.absolute(first_of(values) or ".")))
    ],
    "os.path.relpath": lambda reader, values, keywords: text(os.path.relpath(*map(reader.absolute, [*values, "."][:2]))),
    "os.walk": _walk,
    "range": lambda _, values, keywords: list(range(*values))[:1000],
    "sysconfig.get_config_var": lambda _, values, keywords: {"Py_GIL_DISABLED": 0}[values[0]],  # has no abi3
    "zip": lambda _, values, keywords: list(zip(*values)),
}


class OpenFile:
    def __init__(self, path):
        self.path = path

    def read(self, name, root):
        if name not in ("read", "readlines") or not _is_within(self.path, root) or not os.path.isfile(self.path):
            return NotImplemented
        with open(self.path, encoding="utf-8-sig", errors="replace") as file:
            content = file.read(1 << 20)
        return text(content) if name == "read" else [text(line) for line in content.splitlines(True)]


# ---- methods


def call_method(reader, owner, name, arguments, keywords, line):
    made = NotImplemented
    if isinstance(owner, OpenFile):
        made = where_known(owner.read, name, reader.root)
    elif isinstance(owner, list):
        made = where_known(list_method, owner, name, arguments)
    elif isinstance(owner, dict):
        made = where_known(dict_method, owner, name, arguments, keywords)
    elif isinstance(owner, Text) and owner.path:
        made = where_known(path_method, reader, owner, name, arguments, line)
    if made is NotImplemented and isinstance(owner, str) and (not keywords or name == "format"):
        made = where_known(text_method, owner, name, arguments, keywords, line)
    return made


def list_method(owner, name, arguments):
    first = first_of(arguments)
    if name in ("append", "add"):
        owner.append(first)
    elif name in ("extend", "update"):
        for one in arguments:
            owner.extend(elements(one))
    elif name == "insert" and len(arguments) == 2 and isinstance(first, int):
        owner.insert(first, arguments[1])
    elif name == "remove":
        if first in owner:
            owner.remove(first)
    else:
        return list(owner) if name == "copy" else NotImplemented
    return None


def dict_method(owner, name, arguments, keywords):
    first = first_of(arguments)
    if name in ("get", "setdefault") and hashable(first):
        return getattr(owner, name)(first, arguments[1] if arguments[1:] else None)
    if name == "update":
        owner.update({**(first if isinstance(first, dict) else {}), **keywords})
        return None
    if name in ("copy", "items", "keys", "values"):
        made = getattr(owner, name)()
        return made if name == "copy" else list(made)
    return NotImplemented


def path_method(reader, owner, name, arguments, line):
    first = first_of(arguments)
    if name in ("resolve", "absolute"):
        return path_text(reader.absolute(owner))
    if name == "joinpath" and not unknown_in(arguments):
        return path_text(os.path.join(owner, *arguments))
    if name in ("as_posix", "__str__"):
        return text(owner)
    if name in ("exists", "is_file", "is_dir"):
        return is_there(reader, getattr(os.path, name.replace("_", "")), owner)
    if name == "read_text":
        return OpenFile(reader.absolute(owner)).read("read", reader.root)
    if isinstance(first, str):
        if name in ("glob", "rglob"):
            pattern = os.path.join(owner, *["**"] * (name == "rglob"), first)
            return [path_text(one, line) for one in expand(reader, pattern, True)]
        if name == "with_suffix":
            return path_text(os.path.splitext(owner)[0] + first)
        if name == "with_name":
            return path_text(os.path.join(os.path.dirname(owner), first))
        if name == "relative_to":
            return path_text(os.path.relpath(reader.absolute(owner), reader.absolute(first)))
    return NotImplemented


TEXT_METHODS = "startswith endswith replace split strip rstrip lstrip lower upper join format splitlines title".split()


def text_method(owner, name, arguments, keywords, line):
    if name not in TEXT_METHODS or not known(arguments) or unknown_in(keywords.values()):
        return NotImplemented
    value = getattr(str, name)(owner, *arguments, **keywords)
    if isinstance(value, list):
        return [text(one, line) for one in value]
    return text(value, line) if isinstance(value, str) else value

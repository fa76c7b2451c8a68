# SPDX-License-Identifier: Apache-2.0
"""A built file into this process: as a Python module, or as a library of ops."""

import os
import sys
from _frozen_importlib import ModuleSpec, module_from_spec
from _frozen_importlib_external import ExtensionFileLoader
from _thread import RLock

# What this process has from here, by path; and where each op came from.
loaded = {}
op_paths = {}
_copies = {}  # path: the file that is loaded in its place (reload.py)
_names = {}  # of modules: how many there were of each
_lock = RLock()


def _new_lock():
    """Of a forked child: the thread that may hold it stayed behind."""
    global _lock
    _lock = RLock()


os.register_at_fork(after_in_child=_new_lock)


class SecondCopyError(RuntimeError):
    """The process has the ops of this library already, from another build."""


def use(name, kind, path, ops, schemas=(), reload=False):
    """The module of a file, or for a library of ops its path; each file once.

    ops: their names; "namespace::" for all that a namespace has.
    reload: a module is executed once more; ops of another build that this process has are replaced (reload.py).
    Raises SecondCopyError, ReloadError.
    """
    with _lock:
        if path in loaded and not (reload and kind == "module"):
            return loaded[path]
        return _use(name, kind, path, ops, schemas, reload)


def _use(name, kind, path, ops, schemas, reload):
    import torch

    others = sorted({op_paths[op] for op in ops if op_paths.get(op, path) != path})
    if reload and others:
        from . import reload as replacing

        _refuse_second_copy(name, path, [op for op in ops if op not in op_paths], torch)
        old_ops = sorted(op for op, place in op_paths.items() if place in others)
        replacing.replace(name, path, ops, schemas, old_ops, [_copies.get(other, other) for other in others])
        for op in old_ops:
            del op_paths[op]
        for other in others:
            loaded.pop(other, None)
        file = _copies[path] = replacing.copy(path)
    else:
        _refuse_second_copy(name, path, ops, torch)
        file = _copies.get(path, path)
    if kind == "module":
        # Not entered into sys.modules: torch's load() doesn't, either.
        full_name = _own_name(name)
        loader = ExtensionFileLoader(full_name, file)
        spec = ModuleSpec(full_name, loader, origin=file)
        spec.has_location = True
        try:
            result = module_from_spec(spec)
        except ImportError as error:
            if "PyInit_" not in str(error):
                raise
            raise ImportError(
                "cudaops: %s holds no Python module of this name.\n  found   %s\n"
                "Fix: PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) in a source, functions=[...] of load_inline(),\n"
                "     or is_python_module=False for a library of ops" % (name, path)
            ) from error
        loader.exec_module(result)
    else:
        torch.ops.load_library(file)
        result = path
    loaded[path] = result
    if ops:
        from ..no_kernel import explain

        explain(torch, ops)
    for op in ops:
        op_paths.setdefault(op, path)
    return result


def _own_name(name):
    """pybind11 3 keeps modules by name, and gives the first one for the second. Python looks for PyInit_<what follows the dot>."""
    number = _names[name] = _names.get(name, 0) + 1
    if number == 1 and name not in sys.modules:
        return name
    return "%s_v%d.%s" % (name, number, name)


def _refuse_second_copy(name, path, ops, torch):
    """Torch ends the process over two libraries that define one op, mostly without a word."""
    for op in ops:
        if op_paths.get(op) == path:
            continue
        if op in op_paths or _has(torch, op):
            raise SecondCopyError(
                "cudaops: %s can't be loaded: this process has %s already.\n"
                "  loaded  %s\n  wanted  %s\n"
                "Fix: start a new process (in a notebook: restart the kernel), or load it with reload=True\n"
                "     or give the changed op another namespace" % (name, op, op_paths.get(op, "by other means"), path)
            )


def _has(torch, op):
    if op.endswith("::"):
        return any(name.startswith(op) for name in torch._C._dispatch_get_all_op_names())
    return torch._C._dispatch_has_kernel(op)

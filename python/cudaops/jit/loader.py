# SPDX-License-Identifier: Apache-2.0
"""A built file into this process: as a Python module, or as a library of ops."""


from _frozen_importlib import ModuleSpec, module_from_spec
from _frozen_importlib_external import ExtensionFileLoader

# What this process has from here, by path; and where each op came from.
loaded = {}
op_paths = {}


class SecondCopyError(RuntimeError):
    """The process has the ops of this library already, from another build."""


def use(name, kind, path, ops):
    """The module of a file, or for a library of ops its path; each file once."""
    if path in loaded:
        return loaded[path]
    import torch

    _refuse_second_copy(name, path, ops, torch)
    if kind == "module":
        # Not entered into sys.modules: torch's load() doesn't, either.
        loader = ExtensionFileLoader(name, path)
        spec = ModuleSpec(name, loader, origin=path)
        spec.has_location = True
        result = module_from_spec(spec)
        loader.exec_module(result)
    else:
        torch.ops.load_library(path)
        result = path
    loaded[path] = result
    for op in ops:
        op_paths.setdefault(op, path)
    return result


def _refuse_second_copy(name, path, ops, torch):
    """Torch ends the process over two libraries that define one op, mostly without a word."""
    for op in ops:
        if op in op_paths or torch._C._dispatch_has_kernel(op):
            raise SecondCopyError(
                "cudaops: %s can't be loaded: this process has %s already.\n"
                "  loaded  %s\n  wanted  %s\n"
                "Fix: start a new process (in a notebook: restart the kernel)\n"
                "     or give the changed op another namespace" % (name, op, op_paths.get(op, "by other means"), path)
            )



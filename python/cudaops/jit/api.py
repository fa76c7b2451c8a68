# SPDX-License-Identifier: Apache-2.0
"""load() and load_inline(): torch.utils.cpp_extension's, with a store that is right."""

import os

from . import key as keys
from . import loader, store
from .request import Request, refuse_sycl


def load(
    name,
    sources,
    extra_cflags=None,
    extra_cuda_cflags=None,
    extra_sycl_cflags=None,
    extra_ldflags=None,
    extra_include_paths=None,
    build_directory=None,
    verbose=False,
    with_cuda=None,
    with_sycl=None,
    is_python_module=True,
    is_standalone=False,
    keep_intermediates=True,
    *,
    headers="auto",
    reload=False,
    policy=None,
):
    """torch.utils.cpp_extension.load(): builds the files, once, and loads what comes out.

    Parameters and results are torch's (2.15); docs/jit.md says where something is different. Found again without a
    process where nothing has changed that the build read. Keyword-only, and not torch's:

    headers   "auto" (default), "full", "slim": which headers load_inline() puts before a text; "fast": our own in place of
              torch's, where a text uses no more than they have
    reload    True: a Python module of the same content is loaded once more, and ops that this process has from another
              build are replaced, where their schemas are the same
    policy    "on", "warn", "error", "off": whether a build may happen; the default is that of the environment, CUDAOPS_JIT

    The environment's CUDAOPS_STORE is where results are kept, CUDAOPS_JIT_PATH has more places to look into, and
    CUDAOPS_JIT_MAX_SIZE ("20G") is how much is kept.

    Raises BuildError, PolicyError, FileNotFoundError, ValueError, TypeError.
    """
    if is_python_module and is_standalone:
        raise ValueError("`is_python_module` and `is_standalone` are mutually exclusive.\nFix: is_python_module=False")
    _no_sycl(extra_sycl_cflags, with_sycl)
    kind = "module" if is_python_module else "executable" if is_standalone else "library"
    request = Request(name, kind, headers, with_cuda)
    request.set_flags(extra_cflags, extra_cuda_cflags, extra_ldflags, extra_include_paths)
    request.set_paths(sources)
    return _obtain(request, policy, reload, verbose, build_directory, keep_intermediates)


def load_inline(
    name,
    cpp_sources=None,
    cuda_sources=None,
    sycl_sources=None,
    functions=None,
    extra_cflags=None,
    extra_cuda_cflags=None,
    extra_sycl_cflags=None,
    extra_ldflags=None,
    extra_include_paths=None,
    build_directory=None,
    verbose=False,
    with_cuda=None,
    with_sycl=None,
    is_python_module=True,
    with_pytorch_error_handling=True,
    keep_intermediates=True,
    use_pch=False,
    no_implicit_headers=False,
    gil_not_used=False,
    *,
    headers="auto",
    reload=False,
    policy=None,
):
    """torch.utils.cpp_extension.load_inline(): the same from texts.

    Parameters and results are torch's (2.15). cpp_sources may be left out; a text may hold its own PYBIND11_MODULE
    beside `functions`, which then only says what the module must have. headers, reload, policy: see load().
    """
    _no_sycl(extra_sycl_cflags, with_sycl, sycl_sources)
    if functions is not None:
        if isinstance(functions, str):
            functions = [functions]
        if isinstance(functions, (list, tuple)):
            functions = {function: function for function in functions}
        elif not isinstance(functions, dict):
            raise ValueError("Expected 'functions' to be a list or dict, but was %s%s" % (type(functions), _NAMES))
        for function in functions:
            if not isinstance(function, str):
                raise TypeError("functions: %r is no name.%s" % (function, _NAMES))
            if not all(part.strip().isidentifier() for part in function.split("::")):
                raise ValueError("functions: %r is no name of a C++ function.%s" % (function, _NAMES))
    if use_pch and verbose:
        print("cudaops: use_pch is ignored: what is compiled is kept anyway.")
    kind = "module" if is_python_module else "library"
    inline = (bool(with_pytorch_error_handling), not no_implicit_headers, bool(gil_not_used))
    request = Request(name, kind, headers, with_cuda, functions, inline)
    request.set_flags(extra_cflags, extra_cuda_cflags, extra_ldflags, extra_include_paths)
    request.cpp_texts = _texts("cpp_sources", cpp_sources)
    request.cuda_texts = _texts("cuda_sources", cuda_sources)
    if not request.cpp_texts and not request.cuda_texts:
        raise ValueError("cudaops: %s has no text: cpp_sources and cuda_sources are both empty.\nFix: cpp_sources=text; load() takes files" % name)
    result = _obtain(request, policy, reload, verbose, build_directory, keep_intermediates)
    if kind == "module" and functions:
        missing = [function for function in functions if not hasattr(result, function)]
        if missing:
            has = [function for function in dir(result) if not function.startswith("__")]
            raise AttributeError(
                "cudaops: module %s has no %s.\n  it has  %s%s" % (name, ", ".join(missing), " ".join(has) or "nothing", _NAMES)
            )
    return result


def _no_sycl(flags, with_sycl, sources=None):
    for label, value in (("extra_sycl_cflags", flags), ("with_sycl", with_sycl), ("sycl_sources", sources)):
        if value:
            refuse_sycl(label)


_NAMES = '\nFix: functions=["f"], names of functions that the texts declare'
_TEXTS = "\nFix: a str; load() takes files"


def _texts(label, value):
    if value is None:
        return []
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)):
        raise TypeError("%s is a text or a list of texts.\n  found   %r%s" % (label, value, _TEXTS))
    for text in value:
        if not isinstance(text, str):
            raise TypeError("%s: %r is no text.%s" % (label, text, _TEXTS))
        if text.strip().endswith((".cpp", ".cc", ".cxx", ".cu", ".cuh", ".h")) and len(text.split()) == 1:
            raise ValueError("%s are texts, and this is the name of a file.\n  found   %s\nFix: load() takes files" % (label, text))
    return [text for text in value if text.strip()]


def find(request):
    """(Found or None, user's store or None, key, the key's lines, what stood against the newest entry)."""
    key, lines = keys.build_key(request)
    known, reason, own, unusable = {}, None, None, []
    for place in [store.user_store(), *store.layers()]:
        problem = place.problem()
        if place.writable:
            own = None if problem else place
            reason = problem and ("store", problem)
        elif problem:
            unusable.append(problem)
        if problem:
            continue
        found, change = place.find(request.name, key, known)
        if found:
            return found, own, key, lines, None
        reason = reason or change
    return None, own, key, lines, reason or (unusable and ("layer", "; ".join(unusable))) or None


def obtain(request, policy=None, verbose=False):
    """(Found, state, reason, key): from a store, or built now. Loads nothing."""
    found, own, key, lines, change = find(request)
    state, reason = "CACHED", ""
    if found is None:
        from . import build

        found, state, reason = build.obtain(request, own, key, lines, change, policy, verbose)
    if found.section.built == "failed":
        from . import build

        raise build.kept_error(request, found)
    return found, state, reason, key


def _obtain(request, policy, reload, verbose, build_directory, keep_intermediates):
    if policy is not None or os.environ.get("CUDAOPS_JIT", "on") not in ("on", ""):
        from . import policy as policies

        policies.current(policy)  # a misspelt one is said by a hit, too
    if build_directory is not None:
        build_directory = os.fspath(build_directory)
        if os.path.exists(build_directory) and not os.path.isdir(build_directory):
            raise NotADirectoryError(
                "cudaops: build_directory of %s is a file.\n  found   %s\nFix: the name of a directory" % (request.name, build_directory)
            )
    found, state, reason, key = obtain(request, policy, verbose)
    facts = found.section.facts
    if build_directory is not None:
        from . import build

        build.copy_out(found, build_directory, keep_intermediates)
    if request.kind == "executable":
        return found.path
    schemas = facts.get("schemas", "").split("; ")
    # A namespace stands for ops whose names the sources don't show.
    ops = facts.get("ops", "").split() + [name + "::" for name in facts.get("unread_namespaces", "").split()]
    if facts.get("headers") == "fast":
        from . import fast

        fast.provide_bridge(policy, verbose)
    result = loader.use(request.name, request.kind, found.path, ops, schemas, reload)
    if request.kind == "module":
        try:
            result.__cudaops__ = {
                "headers": facts.get("headers", ""),
                "abi": facts.get("abi", ""),
                "key": key,
                "path": found.path,
                "state": state,
                "reason": reason,
            }
        except AttributeError:
            pass  # a module of the user's own kind
    return result

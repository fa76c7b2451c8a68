# SPDX-License-Identifier: Apache-2.0
"""Why a call found nothing, in words."""

import os

_LABELS = {
    "cflags": "extra_cflags",
    "cuda_cflags": "extra_cuda_cflags",
    "ldflags": "extra_ldflags",
    "include_paths": "extra_include_paths",
    "source": "the list of sources",
    "torch": "torch's place",
    "inline": "an argument of load_inline()",
    "kind": "is_python_module or is_standalone",
    "directory": "the current directory",
}


def of_change(change, sources=()):
    """A sentence for what Section.changed() and Store.find() report."""
    kind, path = change
    if kind in ("store", "layer"):
        return "%s isn't used: %s" % ("the store" if kind == "store" else "a place of CUDAOPS_JIT_PATH", path)
    what = "source" if path in sources else _kind_of(path)
    if kind == "damaged":
        return "%s was damaged" % path
    if kind == "lost":
        return "%s is gone" % path
    return {
        "changed": "%s %s changed" % (what, path),
        "gone": "%s %s is gone" % (what, path),
        "new": "%s is new, and is read instead of another file" % path,
    }[kind]


def _kind_of(path):
    name = os.path.basename(path)
    if name == "version.py":
        return "torch's"
    if os.path.splitext(name)[1] in (".h", ".hpp", ".cuh", ".hh", ".hxx", ".inc", ".inl"):
        return "header"
    if os.path.splitext(name)[1] in (".so", ".a") or ".so." in name:
        return "library"
    return "program" if os.access(path, os.X_OK) else "file"


def of_lines(before, now):
    """The first difference between two keys' lines."""
    old, new = set(before), set(now)
    for line in [line for line in now if line not in old] + [line for line in before if line not in new]:
        label, _, value = line.partition("=")
        if label.startswith("environment "):
            was = [other.partition("=")[2] for other in before if other.startswith(label + "=")]
            is_now = [other.partition("=")[2] for other in now if other.startswith(label + "=")]
            return "%s was %s and is %s" % (label.replace(" ", " variable ", 1), *(_value(it) for it in (was, is_now)))
        if label.startswith("program "):
            return "another %s is found: %s" % (label[8:], value)
        if label.startswith("gpu "):
            return "other GPUs are visible"
        if label.startswith("toolkit "):
            return "the toolkits on this machine changed (%s)" % label[8:]
        if label == "python":
            return "another Python: " + value
        if label == "cudaops":
            return "another cudaops"
        return "%s changed" % _LABELS.get(label, label)
    return "nothing of it is in the store: removed, or the build before did not end"


def _value(found):
    return found[0] if found else "not set"


def record_path(root, name):
    return os.path.join(root, "m", name)


def read_record(root, name):
    """(reason, key lines) of the last miss; (None, None) where there was none."""
    try:
        with open(record_path(root, name), encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().split("\n")
    except OSError:
        return None, None
    return lines[0], lines[1:-1]

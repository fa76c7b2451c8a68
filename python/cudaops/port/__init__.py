# SPDX-License-Identifier: Apache-2.0
"""python -m cudaops port: a CMakeLists.txt for what a setup.py builds.

    reader        follows the statements of the setup.py over expressions, library and values; nothing of it is run
    project       the file: its head, the ops' names, the tests; for each op
    op            its lines: sources, command, properties
    arguments     what compiler and linker are given
    blocks        in which if() a line stands, by conditions; what isn't there is a comment
"""

import os
import re

from .branches import flatten
from .conditions import classify
from .project import PortError, Project
from .reader import Reader


def port(path, out=None):
    """(the text of a CMakeLists.txt, facts about it). `out`: the file that it is for. Raises PortError."""
    return Project(read(path), out).write()


def read(path):
    try:
        reader = Reader(path)
        reader.read()
        if not reader.calls:
            # "try: import <what is built ahead of time>", and else it is built at first use.
            without = Reader(path, built=False)
            without.read()
            reader = without if without.calls else reader
    except OSError as error:
        inside = os.path.join(path, "setup.py")
        fix = "python -m cudaops port " + (inside if os.path.isfile(inside) else "<setup.py, or a file that calls load()>")
        raise PortError("port(%s): the file can't be read.\n  found   %s\nFix: %s" % (path, error.strerror, fix)) from None
    except (SyntaxError, ValueError) as error:
        line = ":%d" % error.lineno if getattr(error, "lineno", None) else ""
        fix = "the setup.py, or the file that calls load()"
        if os.path.basename(path) == "CMakeLists.txt":
            fix = "what each line of it becomes: docs/porting.md, \"find_package(Torch) of your own\""
        raise PortError(
            "port(%s): this is no Python.\n  found   %s%s: %s\nFix: %s"
            % (path, path, line, getattr(error, "msg", error), fix)
        ) from None
    if not reader.calls:
        # A raise that a run for CUDA would reach, such as that of a missing submodule.
        stops = [one for guard, one in reader.raised if classify(guard).kind in ("always", "cuda")][:1]
        found = ["%s (line %d)" % (one.text, one.line) for one in stops or reader.foreign[:3]]
        if os.path.isfile(os.path.join(reader.root, "CMakeLists.txt")):
            found.append("a CMakeLists.txt beside it")
        fix = "the file that names one; a find_package(Torch) or add_library() of your own: docs/porting.md"
        others = [] if stops else files_that_import_it(reader)
        if others:
            found.append("torch.utils.cpp_extension in %s" % ", ".join(others[:5]) + ", ..." * (len(others) > 5))
        if others and found[0] == found[-1]:
            fix = "python -m cudaops port %s" % os.path.join(os.path.dirname(path), others[0])
        if stops:
            fix = "do what that line asks for, and run port again: by what is here, setup.py would end there"
        raise PortError(
            "port(%s): no extension of torch's is made here.\n  found   %s\n"
            "  wanted  CUDAExtension, CppExtension, load() or load_inline() of torch.utils.cpp_extension\nFix: %s"
            % (path, "; ".join(found) or "none", fix)
        )
    if not os.path.basename(path).startswith("setup"):
        # Such a file's paths begin where Python was started: at the nearest directory that has its sources.
        place = reader.root
        while place != os.path.dirname(place) and not found_sources(reader):
            place = reader.root = os.path.dirname(place)
        if not found_sources(reader):
            reader.root = os.path.dirname(reader.path)
        elif reader.root != os.path.dirname(reader.path):
            reader = Reader(path, reader.root, reader.built)
            reader.read()
    return reader


def files_that_import_it(reader):
    """The project's Python files that import torch.utils.cpp_extension, other than the one that was read."""
    found = []
    for directory, folders, files in os.walk(reader.root):
        folders[:] = sorted(name for name in folders if name not in ("build", "dist") and not name.startswith((".", "test")))
        for name in sorted(files):
            path = os.path.join(directory, name)
            if name.endswith(".py") and path != reader.path:
                try:
                    with open(path, encoding="utf-8-sig", errors="replace") as file:
                        text = file.read()
                except OSError:
                    continue  # a link to nowhere, say
                if re.search(r"^\s*(from|import)\b.*\bcpp_extension\b", text, re.MULTILINE):
                    found.append(os.path.relpath(path, reader.root))
    return found


def found_sources(reader):
    return any(
        isinstance(item, str) and os.path.isfile(os.path.join(reader.root, item))
        for call in reader.calls
        for _, item in flatten(call.argument("sources"))
    )

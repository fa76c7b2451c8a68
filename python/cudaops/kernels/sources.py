# SPDX-License-Identifier: Apache-2.0
"""Where a kernel is written, without -lineinfo: by its name in what the compile has read."""

import os
import re

from .. import depfile
from ..build_headers import Headers
from ..ninja_log import read_deps
from ..words import file_text

KEYWORD = re.compile(r"\b__global__\b")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.S)
# A name with arguments that is no attribute such as __launch_bounds__(256); a macro in its place does no harm.
NAME = re.compile(r"\b(?!__)([A-Za-z_]\w*)\s*(?:<[^<>;{}()]*>)?\s*\(")
END = re.compile(r"[;{}]")
ANONYMOUS = "(anonymous namespace)::"


def plain_name(name):
    """k of a::b::k<float>(float*)."""
    return re.split(r"[<(]", name.replace(ANONYMOUS, ""), maxsplit=1)[0].rpartition("::")[2]


def kernels_of(text):
    """[(name, line)] of the kernels that a source defines or declares."""
    found = []
    if "__global__" not in text:
        return found
    # Of the same length and lines.
    text = COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    for keyword in KEYWORD.finditer(text):
        end = END.search(text, keyword.end())
        for name in NAME.finditer(text, keyword.end(), end.start() if end else len(text)):
            found.append((name.group(1), text.count("\n", 0, name.start()) + 1))
    return found


class Sources:
    """Of a build directory: what its objects were compiled of."""

    def __init__(self, directory, root):
        self._deps = read_deps(os.path.join(directory, ".ninja_deps"))
        self._headers = Headers(self._deps, directory, root)
        self._directory = directory
        self._files, self._kernels = {}, {}

    def place(self, objects, name):
        """(file, line) of a kernel in one of the objects; None where its name stands in none or several project files."""
        wanted = plain_name(name)
        paths = {path for one in objects for path in self._read_for(one)}
        places = {(path, line) for path in paths for found, line in self._in(path) if found == wanted}
        return min(places) if len({path for path, _ in places}) == 1 else None

    def _in(self, path):
        if path not in self._kernels:
            self._kernels[path] = kernels_of(file_text(path))
        return self._kernels[path]

    def _read_for(self, object_path):
        """The project's own files, as Ninja or the compiler noted them."""
        if object_path not in self._files:
            self._files[object_path] = self._look_up(object_path)
        return self._files[object_path]

    def _look_up(self, object_path):
        numbers = self._deps.of(os.path.relpath(object_path, self._directory))
        if numbers is None:
            names = depfile.read(file_text(object_path + ".d"))
            paths = [os.path.normpath(os.path.join(self._directory, name)) for name in names]
        else:
            paths = [self._headers.path(number) for number in numbers]
        return [self._translated_from(path) for path in paths if self._headers.is_own(path)]

    def _translated_from(self, path):
        """The source of what cudaops/hipify.py has written, which notes it first in a dependency file; else the path itself."""
        mirror = os.path.dirname(path)
        while mirror.startswith(self._directory + os.sep):
            note = os.path.join(mirror, ".hipify", "depfiles", os.path.relpath(path, mirror) + ".d")
            inputs = depfile.written(file_text(note))
            if inputs:
                return os.path.normpath(os.path.join(self._directory, inputs[0]))
            mirror = os.path.dirname(mirror)
        return path

# SPDX-License-Identifier: Apache-2.0
"""What the configure step has written for the report of kernels and their budgets (detail/report/kernels.cmake).

Of each target a list: lines of a word, a tab and a value; `target`, `library` (if it is linked) and `object`, one each.
"""

from ..binaries.elf import Elf, File, NotReadable
from ..problem import Problem
from ..words import read_text
from . import occupancy
from .waves import Waves


class Target:
    def __init__(self, path):
        self.name = self.library = ""
        self.objects = []
        try:
            text = read_text(path)
        except OSError as error:
            facts = ["found   %s: %s" % (path, error.strerror)]
            raise Problem("", "what the configure step wrote can't be read.", facts, ["cmake ."]) from None
        for line in text.splitlines():
            word, _, value = line.partition("\t")
            if word == "object":
                self.objects.append(value)
            else:
                setattr(self, {"target": "name", "library": "library"}[word], value)

    def files(self):
        """What a budget reads, as far as it is there: the library with all that is linked in, or a static one's objects."""
        return [path for path in ([self.library] if self.library else self.objects) if is_elf(path)]


def is_elf(path):
    """What isn't compiled yet is none."""
    try:
        with File(path) as file:
            Elf(file)
        return True
    except NotReadable:
        return False


def add_toolkit_arguments(parser):
    parser.add_argument("--include", default="")
    parser.add_argument("--ptxas", default="")
    parser.add_argument("--compiler", default="")
    parser.add_argument("--hip-compiler", default="")
    parser.add_argument("--cache", default="")


def calculator_of(options):
    """None for a build without CUDA."""
    if not options.ptxas:
        return None
    return occupancy.Calculator(occupancy.Toolkit(options.include, options.ptxas, options.compiler), options.cache)


def waves_of(options):
    """None for a build without HIP."""
    return Waves([options.hip_compiler], options.cache) if options.hip_compiler else None

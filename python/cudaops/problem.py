# SPDX-License-Identifier: Apache-2.0
"""The error of this package's programs, in the form of all messages of CudaOps."""


class Problem(Exception):
    """One sentence, then facts and cures. `place`: the command, or what the sentence is about; empty: the program."""

    def __init__(self, place, sentence, facts=(), fix=()):
        super().__init__(sentence)
        self.place, self.sentence, self.facts, self.fix = place, sentence, facts, fix

    def text(self, program=""):
        lines = ["%s: %s" % (self.place or program, self.sentence), *("  " + fact for fact in self.facts)]
        lead = " Fix: "
        for line in self.fix:
            lines.append(lead + line)
            lead = "      "
        return "\n".join(lines)


def not_written(path, error):
    """Of a target's result in the build directory."""
    fix = "a build directory that can be written: cmake -S <source> -B <directory>"
    return Problem("", "the result can't be written.", ["found   %s: %s" % (path, error.strerror)], [fix])


def in_file(place, sentence, facts=(), fix=()):
    """As compilers say it: <file>:<line>: error: ..."""
    return Problem(place + ": error", sentence, facts, fix)

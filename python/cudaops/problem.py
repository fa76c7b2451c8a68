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


def in_file(place, sentence, facts=(), fix=()):
    """As compilers say it: <file>:<line>: error: ..."""
    return Problem(place + ": error", sentence, facts, fix)

# SPDX-License-Identifier: Apache-2.0
"""The tables of measurements in docs/measured.md and docs/measured_kernels.md stand between two lines, and are written by what measured them."""

import os
import sys


def write(page, marks, text):
    """Ends the program if `page` hasn't these lines once each."""
    program = os.path.basename(sys.argv[0])
    with open(page, encoding="utf-8") as stream:
        found = stream.read()
    if any(found.count(mark) != 1 for mark in marks):
        sys.exit("%s: %s has no block\n wanted  %s … %s" % (program, page, *marks))
    head, rest = found.split(marks[0])
    tail = rest.split(marks[1])[1]
    with open(page, "w", encoding="utf-8") as stream:
        stream.write("%s%s\n%s\n%s%s" % (head, marks[0], text, marks[1], tail))

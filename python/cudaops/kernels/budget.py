# SPDX-License-Identifier: Apache-2.0
"""Compares the kernels of a target with what was agreed of them: the test <target>.kernels, the target
<target>.update_kernels.

usage: python -I -S -B _run.py kernels.budget <option>... [--update] --budget <file> <list>

The file holds, for each release of nvcc and architecture, a line a kernel: registers, stack bytes, bytes of spill
stores and loads, blocks a multiprocessor at the launch bound (null without one). Exit code: 0; 1 where a kernel takes
more; 2 where that can't be known.
"""

import argparse
import json
import os
import sys

from .. import store
from ..binaries.demangle import demangler
from ..binaries.kernels import read_library
from ..problem import Problem
from ..words import clean, count, read_text
from .report import of_them_spill, wrong_format
from .targets import Target, add_toolkit_arguments, calculator_of

FORMAT = 1
REGISTERS, STACK, STORES, LOADS, BLOCKS = range(5)
MOST_LINES = 40
# Of kernels whose compiler leaves no release: HIP.
NO_RELEASE = "hip"


class Debug(Exception):
    """The kernels were compiled with -G, which optimizes nothing."""


def measure(target, calculator):
    """{release: {architecture: {name: figures}}}"""
    files = target.files()
    if not files:
        raise Problem(
            "",
            "%s is not built." % target.name,
            ["missing " + (target.library or "its objects")],
            ["cmake --build . --target " + target.name],
        )
    found, notes = {}, []
    plain = demangler()
    for path in files:
        for kernel in read_library(path, notes):
            if kernel.debug:
                raise Debug
            kernels = found.setdefault(kernel.release or NO_RELEASE, {}).setdefault(kernel.arch, {})
            blocks = None
            if calculator and kernel.max_threads and kernel.release:
                asked = calculator.blocks(
                    kernel.arch, kernel.registers, kernel.static_shared_bytes, kernel.barriers, kernel.max_threads
                )
                blocks = asked and asked[0]
            stores, loads = kernel.spill_store_bytes, kernel.spill_load_bytes
            if kernel.spilled_registers:
                # In place of the bytes, which HIP doesn't say.
                stores = loads = 4 * kernel.spilled_registers
            name = plain(kernel.mangled)
            number = 1
            # Kernels that are local to a file may have one name.
            while name in kernels:
                number += 1
                name = "%s #%d" % (plain(kernel.mangled), number)
            kernels[name] = [kernel.registers, kernel.stack_bytes, stores, loads, blocks]
    if not found:
        raise Problem(
            "",
            "%s has no kernels." % target.name,
            ["found   " + files[0]] + ["        " + note for note in notes],
            ["a target with CUDA or HIP sources, built for an architecture such as 90-real"],
        )
    return found


def read_budget(path, update):
    """None where there is none."""
    anew = "remove it, then " + update
    try:
        budget = json.loads(read_text(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Problem("", "the budget can't be read.", ["found   %s: %s" % (path, error.strerror)], [anew]) from None
    except ValueError as error:
        raise Problem("", "the budget is no JSON.", ["found   %s: %s" % (path, error)], [anew]) from None
    found = budget.get("format") if isinstance(budget, dict) else None
    if found != FORMAT or not _is_table(budget.get("nvcc")):
        raise Problem("", "this is no budget of kernels.", wrong_format(path, found, FORMAT), [anew])
    return budget["nvcc"]


def _is_table(releases):
    return isinstance(releases, dict) and all(
        isinstance(archs, dict)
        and all(
            isinstance(kernels, dict)
            and all(_is_row(row) for row in kernels.values())
            for kernels in archs.values()
        )
        for archs in releases.values()
    )


def _is_row(row):
    if not isinstance(row, list) or len(row) != BLOCKS + 1:
        return False
    # Spills that a compiler doesn't say and blocks without a launch bound are null.
    return all(
        isinstance(figure, int) or (figure is None and number in (STORES, LOADS, BLOCKS))
        for number, figure in enumerate(row)
    )


def compare(budget, found):
    """(failures, notes), a line each, and how many kernels were compared."""
    failures, notes = [], []
    compared = 0
    for release, archs in sorted(found.items()):
        agreed = release
        if release not in budget and budget:
            agreed = max(budget, key=_order)
            notes.append(
                "the budget is of nvcc %s, these are kernels of %s: what follows is no failure" % (agreed, release)
            )
        for arch, kernels in sorted(archs.items()):
            old = budget.get(agreed, {}).get(arch)
            if old is None:
                notes.append("not in the budget: %s for %s of nvcc %s" % (count(len(kernels), "kernel"), arch, release))
                continue
            compared += len(kernels)
            worse, said = _compare_kernels(old, kernels, arch)
            (failures if agreed == release else notes).extend(worse)
            notes += said
    return failures, notes, compared


def _order(release):
    return [int(part) if part.isdigit() else -1 for part in release.split(".")]


def _compare_kernels(old, new, arch):
    worse, notes = [], []
    for name, row in sorted(new.items()):
        where = "%s, %s: " % (name, arch)
        then = old.get(name)
        if then is None:
            bad = [text for amount, text in _amounts(row) if amount]
            (worse if bad else notes).append(where + ("new, with " + " and ".join(bad) if bad else "new"))
            continue
        if then == row:
            continue
        bad = []
        unknown = []
        for (was, _), (amount, text) in zip(_amounts(then), _amounts(row)):
            if amount and was is None:
                unknown.append("%s, not known in the budget" % text)
            elif amount is not None and was is not None and amount > was:
                bad.append("%s, %d in the budget" % (text, was))
        if row[BLOCKS] is not None and then[BLOCKS] is not None and row[BLOCKS] < then[BLOCKS]:
            registers = (
                "; %d registers, %d in the budget" % (row[REGISTERS], then[REGISTERS])
                if row[REGISTERS] != then[REGISTERS]
                else ""
            )
            bad.append("%d blocks a multiprocessor, %d in the budget%s" % (row[BLOCKS], then[BLOCKS], registers))
        elif row[BLOCKS] is None and then[BLOCKS] is not None:
            bad.append("no launch bound, one with %d blocks a multiprocessor in the budget" % then[BLOCKS])
        if bad:
            worse.append(where + "; ".join(bad))
        elif unknown:
            notes.append(where + "; ".join(unknown))
        elif row[REGISTERS] != then[REGISTERS]:
            notes.append(where + "%d registers, %d in the budget, without effect" % (row[REGISTERS], then[REGISTERS]))
        elif row[BLOCKS] is not None and then[BLOCKS] is None:
            notes.append(where + "a launch bound, none in the budget")
        else:
            notes.append(where + "less than in the budget")
    gone = len(set(old) - set(new))
    if gone:
        notes.append("gone: %s for %s" % (count(gone, "kernel"), arch))
    return worse, notes


def _first(lines):
    """Another release of nvcc may change every kernel."""
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], "and %d more" % more]


def _amounts(row):
    return [
        (row[STORES], "%s bytes of spill stores" % row[STORES]),
        (row[LOADS], "%s bytes of spill loads" % row[LOADS]),
        (row[STACK], "%d bytes of stack" % row[STACK]),
    ]


def write_budget(path, budget):
    """A line a kernel, so that a change can be read."""
    lines = ['{"format": %d, "nvcc": {' % FORMAT]
    for release in sorted(budget, key=_order):
        lines.append("%s: {" % json.dumps(release))
        for arch in sorted(budget[release]):
            lines.append("%s: {" % json.dumps(arch))
            kernels = budget[release][arch]
            lines += ["%s: %s," % (json.dumps(name), json.dumps(kernels[name])) for name in sorted(kernels)]
            lines[-1] = lines[-1].rstrip(",")
            lines.append("},")
        lines[-1] = "}"
        lines.append("},")
    lines[-1] = "}"
    lines.append("}}\n")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        store.replace(path, "\n".join(lines).encode())
    except OSError as error:
        raise Problem("", "the budget can't be written.", ["found   %s: %s" % (path, error.strerror)]) from None


def main(argv):
    parser = argparse.ArgumentParser(prog="kernels.budget")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--budget", required=True)
    add_toolkit_arguments(parser)
    parser.add_argument("list")
    options = parser.parse_args(argv)
    program = "kernel budget"
    try:
        target = Target(options.list)
        program = target.name + ".kernels"
        update = "cmake --build . --target %s.update_kernels" % target.name
        if options.update:
            return _update(target, options, update)
        budget = read_budget(options.budget, update)
        if budget is None:
            raise Problem("", "there is no budget yet.", ["missing " + options.budget], [update])
        found = measure(target, calculator_of(options))
    except Debug:
        print("SKIPPED: %s: the kernels are compiled with -G, which optimizes nothing" % program)
        return 2 if options.update else 0
    except Problem as problem:
        sys.stderr.write(clean(problem.text(program)) + "\n")
        return 2
    failures, notes, compared = compare(budget, found)
    number = sum(len(kernels) for archs in found.values() for kernels in archs.values())
    if failures:
        print(
            "%s: %s of %d take more than %s allows." % (program, count(len(failures), "kernel"), number, options.budget)
        )
        print("\n".join("  " + line for line in _first(failures)))
        print(" Fix: the kernel; or, where it is meant so, %s" % update)
    else:
        kernels = count(number, "kernel") if compared == number else "%d of %d kernels compared" % (compared, number)
        print("%s: %s, none takes more than %s allows." % (program, kernels, options.budget))
    print("".join("  note: %s\n" % line for line in _first(notes)), end="")
    return 1 if failures else 0


def _update(target, options, update):
    """The release and the architectures that were built; what the file holds of others stays."""
    found = measure(target, calculator_of(options))
    budget = read_budget(options.budget, update) or {}
    for release, archs in found.items():
        budget.setdefault(release, {}).update(archs)
    write_budget(options.budget, budget)
    measured = [row for archs in found.values() for kernels in archs.values() for row in kernels.values()]
    spills = of_them_spill(sum(bool(row[STORES] or row[LOADS]) for row in measured))
    print("%s.update_kernels: %s in %s%s" % (target.name, count(len(measured), "kernel"), options.budget, spills))
    return 0

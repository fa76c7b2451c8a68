# SPDX-License-Identifier: Apache-2.0
"""The target cudaops_kernel_report: the kernels of all ops and kernels of a build directory, as a page and as JSON.

usage: python -I -S -B _run.py kernels.build <option>... <list>...

The lists: targets.py.
"""

import argparse
import json
import os
import sys

from .. import store
from ..binaries.demangle import demangler
from ..binaries.kernels import read_library
from ..problem import Problem, not_written
from ..words import clean, count, short
from .page import render
from .report import FORMAT, of_them_spill, refused, rows, said_of_spills, spilled, unknown
from .sources import ANONYMOUS, Sources
from .targets import Target, add_toolkit_arguments, calculator_of, is_elf, waves_of

NAME = "cudaops-kernels"
MOST_FACTS = 5


def gather(targets, calculator, waves, directory, root):
    """The rows of all targets, each kernel once: of the object that has it, else of the library that it is linked into."""
    found, notes, waiting, seen = [], [], {}, set()
    sources = Sources(directory, root)
    plain = demangler()
    objects = [path for target in targets for path in target.objects]
    for target in targets:
        missing = sum(not os.path.exists(path) for path in target.objects)
        if missing:
            notes.append("%s: %d of %s not compiled yet" % (target.name, missing, count(len(target.objects), "object")))
    for linked in (False, True):
        for target in targets:
            for path in [target.library] * bool(target.library) if linked else target.objects:
                if not is_elf(path):
                    continue
                kernels = read_library(path, notes, {} if linked else waiting)
                if linked:
                    kernels = [kernel for kernel in kernels if (kernel.mangled, kernel.arch) not in seen]
                    for kernel in kernels:
                        waiting.pop(kernel.arch, None)
                notes += unknown(kernels, calculator, waves)
                seen.update((kernel.mangled, kernel.arch) for kernel in kernels)
                for row in rows(kernels, calculator, plain, waves):
                    row["target"] = target.name
                    place = row["file"] is None and sources.place(objects if linked else [path], row["name"])
                    if place:
                        row["file"], row["line"] = place
                    row["file"] = row["file"] and short(row["file"], root)
                    if row["file"] and _is_newer(os.path.join(root, row["file"]), path):
                        notes.append("what changed in %s since it was compiled: build it first" % row["file"])
                    row["spilled_at"] = [short(place, root) for place in row["spilled_at"]]
                    found.append(row)
    found.sort(key=lambda row: (row["name"], row["arch"], row["target"]))
    return found, sorted({*notes, *waiting.values()})


def _is_newer(source, built):
    try:
        return os.path.getmtime(source) > os.path.getmtime(built)
    except OSError:
        return False


def facts(kernels):
    """The kernels to look at first: what spills, then what can't be launched, then the lowest occupancy."""
    lines = []
    for row in sorted((row for row in kernels if spilled(row)), key=lambda row: -spilled(row)):
        unit = "" if row.get("spilled_registers") else " bytes"
        at = " at " + row["spilled_at"][0] if row["spilled_at"] else ""
        if not at and unit:
            at = " (lines: -DCUDAOPS_PROFILE=ON)"
        step = ": " + row["next"] if row["next"] else ""
        lines.append("%s, spills %s%s%s%s" % (_said(row), said_of_spills(row), unit, at, step))
    for row in kernels:
        for first in refused(row)[:1]:
            threads = "%d threads%s" % (first["block"], "" if row["max_threads"] else " or more")
            lines.append(
                "%s, can't be launched with %s (%s): %s" % (_said(row), threads, first["limited_by"], first["next"])
            )
    if not lines:
        known = [(*filled, row) for row in kernels for filled in [_filled(row)] if filled]
        for share, unit, limited_by, step, row in sorted(known, key=lambda entry: entry[0])[:MOST_FACTS]:
            if step:
                bounds = "" if row["max_threads"] else ", without launch bounds"
                lines.append(
                    "%s%s, fills %d %% of a %s (%s): %s"
                    % (_said(row), bounds, round(100 * share), unit, limited_by, step)
                )
    return lines[:MOST_FACTS]


def _filled(row):
    """(share of the warps or waves, of what, what limits them, what would give more), with the best block; None: not known."""
    if "waves_per_simd" in row:
        share = row["waves_per_simd"] / row["most_waves_per_simd"]
        return share, "SIMD", row["waves_limited_by"], row["waves_next"]
    if not row["occupancy"]:
        return None
    best = max(row["occupancy"], key=lambda occupied: occupied["occupancy"])
    return best["occupancy"], "multiprocessor", best["limited_by"], best["next"]


def _said(row):
    place = " (%s:%s)" % (row["file"], row["line"]) if row["file"] else ""
    return "%s%s, %s" % (without_parameters(row["name"]), place, row["arch"])


def without_parameters(name):
    """As the page shows it."""
    name = name.replace(ANONYMOUS, "")
    depth = 0
    for number, character in enumerate(name):
        depth += (character == "<") - (character == ">")
        if character == "(" and depth == 0:
            return name[:number]
    return name


def summary(data):
    archs = sorted({row["arch"] for row in data["kernels"]})
    text = "%s for %s" % (count(len(data["kernels"]), "kernel"), " ".join(archs))
    number = sum(spilled(row) > 0 for row in data["kernels"])
    return text + (of_them_spill(number) or "; none spills")


def write(path, text):
    try:
        store.replace(path, text.encode())
    except OSError as error:
        raise not_written(path, error) from None


def main(argv):
    parser = argparse.ArgumentParser(prog="kernels.build")
    parser.add_argument("--build", required=True)
    parser.add_argument("--source", required=True)
    add_toolkit_arguments(parser)
    parser.add_argument("lists", nargs="*")
    options = parser.parse_args(argv)
    program = "cudaops_kernel_report"
    try:
        targets = [Target(path) for path in options.lists]
        kernels, notes = gather(targets, calculator_of(options), waves_of(options), options.build, options.source)
        if not kernels:
            if not any(is_elf(path) for target in targets for path in [target.library, *target.objects]):
                raise Problem("", "nothing is compiled here yet.", ["found   " + options.build], ["cmake --build ."])
            raise Problem(
                "",
                "there are no kernels in what was compiled.",
                ["found   " + options.build] + notes,
                ["an op or kernels with CUDA or HIP sources, built for an architecture such as 90-real"],
            )
        data = clean({
            "format": FORMAT,
            "build_directory": options.build,
            "source_directory": options.source,
            "kernels": kernels,
            "notes": notes,
        })  # fmt: skip
        page = os.path.join(options.build, NAME + ".html")
        said, lines = summary(data), facts(data["kernels"])
        text = render(data, said, lines)
        write(os.path.join(options.build, NAME + ".json"), json.dumps(data, indent=1) + "\n")
        write(page, text)
    except Problem as problem:
        sys.stderr.write(clean(problem.text(program)) + "\n")
        return 2
    print("%s: %s   (and .json)" % (program, page))
    print("  " + said)
    for number, line in enumerate(lines, 1):
        print("  %d. %s" % (number, line))
    for note in notes:
        print("  not counted: " + note)
    return 0

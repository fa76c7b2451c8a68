#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what is below the aim, from every row of bench/results: docs/measured_kernels.md's tables of rows below 0.8 of a
copy of as many bytes, of rows at odd addresses below 0.8 of the aligned case, and of rows in which a rival takes less
time; and docs/measured.md's table of odd addresses.

    bench/kernels/below_table.py bench/results/NVIDIA_*.json --kernels docs/measured_kernels.md --measured docs/measured.md

What several files of a device hold is taken from the newest.
"""

import argparse
import os
import sys

import plot
import result_file

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import page_block  # noqa: E402
import table  # noqa: E402

WRITTEN = "written by bench/kernels/below_table.py -->"
MARKS = {
    name: (f"<!-- {name}: {WRITTEN}", f"<!-- {name}: end -->")
    for name in ("below_copy", "below_aligned", "below_rivals", "odd")
}
OURS = "cudaops"
AIM = 0.8
AIM_OF_RIVALS = 0.98
# An odd row is compared with the aligned one whose sides are as long within this part.
ALMOST = 0.01


def kind(name):
    """(function, sides' names, sides) of `rms_norm<float>/rows:8/width:16`; None of what isn't like that."""
    function, *sides = name.split("/")
    pairs = [side.split(":") for side in sides]
    if "<" not in function or not pairs or not all(len(p) == 2 and p[1].isdigit() for p in pairs):
        return None
    return function, tuple(side for side, _ in pairs), tuple(int(size) for _, size in pairs)


def size_text(sides, sizes):
    if sides == ("bytes",):
        return f"{sizes[0] >> 20} MiB"
    return " × ".join(map(str, sizes))


def part_text(part):
    """Rounded down: what is below the aim doesn't read as if it were reached."""
    return f"{int(part * 100 + 1e-9) / 100:.2f}"


def grouped(parts):
    """Rows of a table of name → part: a line for each function, its sizes in the order measured."""
    groups = {}
    for name, part in parts.items():
        function, sides, sizes = kind(name)
        groups.setdefault((function, sides), []).append(f"{size_text(sides, sizes)}: {part_text(part)}")
    return [(f"`{function}`", " × ".join(sides), "; ".join(cells)) for (function, sides), cells in groups.items()]


def measured(documents):
    """name → figures of ours, of what has a size."""
    return {name: entry for name, entry in result_file.benchmarks(documents).items() if kind(name)}


def when(documents):
    return " and ".join(sorted({entry["date"][:10] for entry in measured(documents).values() if entry["date"]}))


def each_device(documents, made):
    """made(documents) → text, for each device; what it gives None for was not measured there."""
    texts = []
    for device, its in result_file.devices(documents).items():
        text = made(its)
        if text is not None:
            texts.append(f"One {device}, {text}")
    return "\n\n".join(texts) or "No results hold such rows yet."


def below_aim(documents, parts_of, of_what, head):
    """The rows below AIM of those whose parts, by name, are parts_of(figures)."""

    def made(its):
        parts = parts_of(measured(its))
        if not parts:
            return None
        below = {name: part for name, part in parts.items() if part < AIM}
        text = f"{when(its)}: {len(below)} of {len(parts)} rows are below {AIM} of {of_what}."
        return text + "\n\n" + table.lines_of(("op", "sizes", head), grouped(below)) if below else text

    return each_device(documents, made)


def parts_of_copy(ours):
    return {name: entry["of_copy"] for name, entry in ours.items() if "of_copy" in entry}


def below_copy(documents):
    return below_aim(documents, parts_of_copy, "a copy", "part of a copy")


def parts_of_aligned(ours):
    """name of a row at odd addresses → its bandwidth as a part of the aligned one's, where there is one."""
    found = {}
    rates = {name: entry["TB/s"] for name, entry in ours.items() if "TB/s" in entry}
    for name, rate in rates.items():
        function, sides, sizes = kind(name)
        if "_unaligned<" in function:
            twin = rates.get(name.replace("_unaligned<", "<"))
            if twin:
                found[name] = rate / twin
            continue
        if plot.parse(name)[2]:
            continue
        best = None
        for other in rates:
            if kind(other)[:2] != (function, sides) or not plot.parse(other)[2]:
                continue
            distance = max(abs(a - b) / b for a, b in zip(sizes, kind(other)[2]))
            if distance <= ALMOST and (best is None or distance < best[0]):
                best = distance, other
        if best:
            found[name] = rate / rates[best[1]]
    return found


def below_aligned(documents):
    return below_aim(documents, parts_of_aligned, "the aligned case", "part of the aligned case")


def odd(documents):
    """All ops in bfloat16, or in the first dtype measured, by width."""

    def made(its):
        parts = parts_of_aligned(measured(its))
        functions = {}
        for name, part in parts.items():
            function, sides, sizes = kind(name)
            if sides == ("rows", "width"):
                op, dtype = function[:-1].split("<")
                functions.setdefault(op, {}).setdefault(dtype, {})[sizes[-1]] = part
        if not functions:
            return None
        chosen = {}
        for op, dtypes in functions.items():
            dtype = "BFloat16" if "BFloat16" in dtypes else next(iter(dtypes))
            chosen[f"`{op}<{dtype}>`"] = dtypes[dtype]
        widths = sorted({width for row in chosen.values() for width in row})
        rows = [
            (title, *(part_text(row[width]) if width in row else "not measured" for width in widths))
            for title, row in chosen.items()
        ]
        return f"{when(its)}:\n\n" + table.lines_of(("op", *map(str, widths)), rows)

    return each_device(documents, made)


def below_rivals(documents):
    def made(its):
        cases = {name: case for name, case in result_file.rivals(its).items() if case.get("ratio")}
        if not cases:
            return None
        rows = []
        for name, case in cases.items():
            way = min(case["ratio"], key=case["ratio"].get)
            if case["ratio"][way] < AIM_OF_RIVALS:
                function, sides, sizes = kind(name)
                us = case["us"]
                words = [f"`{function}`", size_text(sides, sizes), f"{us[OURS]:.1f}"]
                best = f"{table.RIVALS.get(way, way)} {us[way]:.1f}"
                of = ", ".join(filter(None, (case["date"][:10], case["commit"][:8])))
                rows.append((*words, best, part_text(case["ratio"][way]), of))
        dates = sorted({case["date"][:10] for case in cases.values()})
        count = f"in {len(rows)} of {len(cases)} rows the best rival takes less than {AIM_OF_RIVALS} of our time"
        text = f"{' and '.join(dates)}: {count}."
        head = ("op", "size", "ours, µs", "the best rival, µs", "part of our time", "measured, of commit")
        return text + "\n\n" + table.lines_of(head, rows) if rows else text

    return each_device(documents, made)


TABLES = {
    "kernels": {"below_copy": below_copy, "below_aligned": below_aligned, "below_rivals": below_rivals},
    "measured": {"odd": odd},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="<device>.json")
    for page, tables in TABLES.items():
        parser.add_argument(f"--{page}", help=f"the file whose blocks are written anew: {', '.join(tables)}")
    arguments = parser.parse_args()
    documents = result_file.read_all(arguments.results)
    for page, tables in TABLES.items():
        path = getattr(arguments, page)
        for name, made in tables.items():
            text = made(documents)
            if path:
                page_block.write(path, MARKS[name], text)
            else:
                print(text + "\n")


if __name__ == "__main__":
    main()

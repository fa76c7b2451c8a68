#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what the lessons measured, and writes it into their READMEs: bench/results/lessons/*.json
→ examples/lessons/<lesson>/measured.svg and the block of the README.

    bench/lessons/draw.py [<lesson>...]

Needs matplotlib. Text and lines are of a grey that can be read on white and on black.
"""

import argparse
import glob
import json
import os
import sys

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, BENCH)

import page_block  # noqa: E402

RESULTS = os.path.join(BENCH, "results", "lessons")
LESSONS = os.path.join(os.path.dirname(BENCH), "examples", "lessons")
MARKS = ("<!-- measured: written by bench/lessons/draw.py -->", "<!-- measured: end -->")
GREY, BLUE, ORANGE = "#7d8590", "#388bfd", "#db6d28"
# Tables that the picture shows better, and columns that are in none.
LONG_TABLE = 16
LEFT_OUT = ("min_us", "max_us")


def column(table, name, where=""):
    """Of the rows whose first cell begins with `where`."""
    index = table["columns"].index(name)
    return [row[index] for row in table["rows"] if str(row[0]).startswith(where)]


def arguments_of(table, where):
    """The last argument of each case: 32 of block_size/32, 5 of sum<5>."""
    return [str(name)[len(where) :].strip("/<>").replace("Way::k", "") for name in column(table, "case", where)]


def bars(axis, title, labels, values, digits=2, color=BLUE):
    labels = [str(label).replace("_", " ") for label in labels]
    drawn = axis.barh(range(len(values)), values, color=color, height=0.6)
    axis.bar_label(drawn, [f"{value:,.{digits}f}" for value in values], padding=3, color=GREY, fontsize=8)
    axis.set_yticks(range(len(values)), labels)
    axis.invert_yaxis()
    axis.margins(x=0.2)
    axis.set_title(title, fontsize=9)
    axis.xaxis.set_visible(False)


def line(axis, xs, ys, label, color=BLUE):
    axis.plot(range(len(xs)), ys, "o-", color=color, label=label, markersize=4)
    axis.set_xticks(range(len(xs)), xs)
    axis.set_ylim(bottom=0)


def device_query(figure, tables):
    sizes = tables[1]
    axis = figure.subplots()
    bars(axis, "bytes", column(sizes, "memory"), column(sizes, "bytes"), digits=0)
    axis.set_xscale("log")
    axis.set_xlim(1e6, 1e13)


def threads_blocks_warps(figure, tables):
    threads, multiprocessors = tables
    xs, ys, zs, warps, lanes = (column(threads, name) for name in ("x", "y", "z", "warp", "lane"))
    *planes, last = figure.subplots(1, max(zs) + 2)
    for z, axis in enumerate(planes):
        for thread in (i for i in range(len(zs)) if zs[i] == z):
            color = ORANGE if warps[thread] else BLUE
            axis.text(xs[thread], ys[thread], lanes[thread], ha="center", va="center", fontsize=8, color=color)
        axis.set(xlim=(-0.6, max(xs) + 0.6), ylim=(max(ys) + 0.6, -0.6), xlabel="x", ylabel="y")
        axis.set_title(f"z = {z}: lanes of warp 0 (blue), 1 (orange)", fontsize=9)
        axis.set_xticks(range(max(xs) + 1))
        axis.set_yticks(range(max(ys) + 1))
    counts = column(multiprocessors, "blocks")
    kinds = sorted(set(counts))
    bars(last, "multiprocessors", [f"{kind} blocks" for kind in kinds], [counts.count(kind) for kind in kinds], digits=0)


def memory(figure, tables):
    copies, streams, managed = tables
    left, middle, right = figure.subplots(1, 3)
    bars(left, "copy, GB/s", column(copies, "copy"), column(copies, "GB/s"), digits=1)
    bars(middle, "8 chunks in, kernel, out, ms", column(streams, "streams"), column(streams, "ms"))
    middle.set_ylabel("streams")
    bars(right, "managed memory, ms", column(managed, "managed_kernel"), column(managed, "ms"))


def coalescing(figure, tables):
    axis = figure.subplots()
    line(axis, arguments_of(tables[0], "gather_with_stride"), column(tables[0], "TB/s"), "of the floats asked for")
    axis.set(xlabel="stride in floats", ylabel="TB/s")


def divergence(figure, tables):
    left, right = figure.subplots(1, 2)
    line(left, arguments_of(tables[0], "paths"), column(tables[0], "us", "paths"), "")
    left.set(xlabel="paths in a warp", ylabel="µs, for as much work")
    names = arguments_of(tables[0], "exchange")
    bars(right, "100 exchanges in a warp, µs", names, column(tables[0], "us", "exchange"), digits=0)


def shared_memory(figure, tables):
    by_first = {str(table["rows"][0][0])[:3]: table for table in tables}
    for axis, (where, title) in zip(
        figure.subplots(1, 2), (("sum", "sum in five steps, TB/s"), ("transposed", "transpose, TB/s"))
    ):
        table = by_first[where[:3]]
        bars(axis, title, arguments_of(table, where), column(table, "TB/s"))
        axis.axvline(column(table, "copy_TB/s")[0], color=ORANGE, linewidth=1)
        axis.text(column(table, "copy_TB/s")[0], -0.6, "copy", color=ORANGE, fontsize=8, ha="center")


def occupancy(figure, tables):
    axes = figure.subplots(1, 3)
    for axis, where, label in zip(
        axes, ("block_size", "blocks"), ("threads in a block", "blocks of 256 on a multiprocessor")
    ):
        labels = arguments_of(tables[0], where + "/")
        line(axis, labels, column(tables[0], "TB/s", where + "/"), "TB/s")
        line(axis, labels, column(tables[0], "occupancy", where + "/"), "occupancy", ORANGE)
        axis.set(xlabel=label)
        axis.legend(frameon=False, labelcolor=GREY, fontsize=8)
    labels = [f"{bound} blocks" if bound != "0" else "none" for bound in arguments_of(tables[0], "launch_bounds")]
    bars(axes[2], "launch bounds: TB/s", labels, column(tables[0], "TB/s", "launch_bounds"))


def nvcc_stages(figure, tables):
    left, right = figure.subplots(1, 2)
    steps = [f"{step} → {file}" for step, file in zip(column(tables[0], "step"), column(tables[0], "file"))]
    bars(left, "ms", steps, column(tables[0], "ms"), digits=0)
    bars(right, "bytes", [""] * len(steps), column(tables[0], "bytes"), digits=0, color=ORANGE)


def profiling(figure, tables):
    axis = figure.subplots()
    xs = column(tables[0], "elements")
    axis.plot(xs, column(tables[0], "host_us"), "o-", color=ORANGE, label="a call, on the host", markersize=4)
    axis.plot(xs, column(tables[0], "kernel_us"), "o-", color=BLUE, label="its kernel, on the GPU", markersize=4)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set(xlabel="elements", ylabel="µs")
    axis.legend(frameon=False, labelcolor=GREY, fontsize=8)


def one_add_many_ways(figure, tables):
    table = tables[0]
    titles = {"build_s": "until the first result, s", "call_us": "a call, µs", "TB/s": "TB/s"}
    for i, (axis, (name, title)) in enumerate(zip(figure.subplots(1, 3), titles.items())):
        bars(axis, title, column(table, "way") if i == 0 else [""] * len(table["rows"]), column(table, name))


def draw(name, tables, path):
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    pyplot.rcParams.update(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "cudaops",
            "font.family": "sans-serif",
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            **{
                f"{part}color": GREY
                for part in ("text.", "axes.edge", "axes.label", "axes.title", "xtick.", "ytick.")
            },
        }
    )
    figure = pyplot.figure(figsize=(8, 2.6), layout="constrained")
    globals()[name](figure, tables)
    figure.savefig(path, transparent=True, metadata={"Date": None})
    pyplot.close(figure)


def cell(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"`{value}`" if isinstance(value, str) and not value.startswith("-") else str(value)


def markdown(table):
    shown = [i for i, name in enumerate(table["columns"]) if name not in LEFT_OUT]
    lines = ["| " + " | ".join(table["columns"][i].replace("_", " ") for i in shown) + " |", "|---" * len(shown) + "|"]
    lines += ["| " + " | ".join(cell(row[i]) for i in shown) + " |" for row in table["rows"]]
    return "\n".join(lines)


def block(document):
    machine = document["machine"]
    versions = [
        f"{label} {machine[key]}"
        for label, key in (("CUDA", "nvcc"), ("driver", "driver_version"), ("torch", "torch"))
        if machine.get(key)
    ]
    tables = [markdown(table) for table in document["tables"] if len(table["rows"]) <= LONG_TABLE]
    source = f"{machine['name']}, {', '.join(versions)}, {document['date'][:10]}; `{document['command']}`."
    return "\n\n".join(["![What was measured](measured.svg)", *tables, source])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lessons", nargs="*", help="default: all that were measured")
    wanted = parser.parse_args().lessons
    for path in sorted(glob.glob(os.path.join(RESULTS, "*.json"))):
        lesson = os.path.splitext(os.path.basename(path))[0]
        if wanted and lesson not in wanted:
            continue
        with open(path, encoding="utf-8") as stream:
            document = json.load(stream)
        folder = os.path.join(LESSONS, lesson)
        draw(lesson[3:], document["tables"], os.path.join(folder, "measured.svg"))
        page_block.write(os.path.join(folder, "README.md"), MARKS, block(document))
        print(lesson)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what was measured: one panel an op, bandwidth over the bytes that a call moves. The roof is
a copy of as many bytes in the same run.

    bench/kernels/plot.py bench/results/NVIDIA_H200*.json --out bench/results/NVIDIA_H200.png

Needs matplotlib. What several files hold is taken from the newest.
"""

import argparse
import re
import sys

import result_file

# Clocks and launches, and variants of an op that stands beside them.
LEFT_OUT = r"(spin|empty_kernel)\b|\w+_(unaligned|of_halves|list|submit)<"
# Bytes of an element; the first that an op was measured with is drawn.
DTYPES = {"BFloat16": 2, "Float16": 2, "float": 4}
COLUMNS = 5
OURS = "cudaops"
STYLES = {
    "eager": {"marker": "v", "color": "tab:orange"},
    "compile": {"marker": "^", "color": "tab:green"},
    "compile_max": {"marker": "p", "color": "tab:olive"},
    "fused": {"marker": "s", "color": "tab:purple"},
    "foreach": {"marker": "D", "color": "tab:red"},
    "liger": {"marker": "P", "color": "tab:brown"},
    "flash_attn": {"marker": "X", "color": "tab:pink"},
    "flashinfer": {"marker": "<", "color": "tab:cyan"},
    "quack": {"marker": ">", "color": "tab:gray"},
    "apex": {"marker": "d", "color": "tab:red"},
    "transformer_engine": {"marker": "h", "color": "tab:purple"},
    "vllm": {"marker": "*", "color": "black"},
}


def bytes_of(dtype):
    """Of an element; dtype: a benchmark's template arguments, as "BFloat16, float"."""
    return DTYPES.get(dtype.split(",")[0], 4)


def rank(dtype):
    first = dtype.split(",")[0]
    return list(DTYPES).index(first) if first in DTYPES else len(DTYPES)


def parse(name):
    """(op, dtype, whether rows start at multiples of 16 bytes) of a benchmark's name."""
    found = re.fullmatch(r"(\w+)<(\w+(?:, \w+)*)>((?:/\w+:\d+)+)", name)
    if not found:
        return None
    op, dtype, sides = found.groups()
    width = int(re.findall(r":(\d+)", sides)[-1])
    size = width if "bytes:" in sides else width * bytes_of(dtype)
    return op, dtype, size % 16 == 0


def panels(documents):
    """op → dtype, and points of ours, the roof and rivals: (bytes, TB/s, aligned)."""
    ours, others = result_file.benchmarks(documents), result_file.rivals(documents)
    measured = {}  # op → dtype → names
    for name in dict.fromkeys((*ours, *others)):
        parsed = parse(name)
        if parsed and not re.match(LEFT_OUT, name):
            measured.setdefault(parsed[0], {}).setdefault(parsed[1], []).append(name)
    found = {}
    for op, by_dtype in measured.items():
        dtype = min(by_dtype, key=rank)
        panel = {"dtype": dtype, "ours": [], "roof": {}, "rivals": {}}
        for name in by_dtype[dtype]:
            aligned = parse(name)[2]
            beside = dict(others.get(name, {}).get("TB/s", {}))
            speed = beside.pop(OURS, None)
            for way, theirs in beside.items():
                point = (others[name]["bytes"], theirs, aligned)
                panel["rivals"].setdefault(way, []).append(point)
            if "TB/s" in ours.get(name, {}):
                speed = ours[name]["TB/s"]
                num_bytes = speed * ours[name]["median_us"] * 1e6
                panel["roof"][num_bytes] = ours[name]["copy_TB/s"]
            elif speed:
                num_bytes = others[name]["bytes"]
            if speed:
                panel["ours"].append((num_bytes, speed, aligned))
        if panel["ours"]:
            found[op] = panel
    return found


def draw(documents, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawn = panels(documents)
    if not drawn:
        sys.exit("plot.py: no benchmark in these files")
    num_rows = -(-len(drawn) // COLUMNS)
    figure, axes = pyplot.subplots(
        num_rows,
        COLUMNS,
        figsize=(3.2 * COLUMNS, 2.5 * num_rows + 0.8),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    cells = axes.flatten()
    for cell in cells[len(drawn) :]:
        cell.set_axis_off()
    handles = {}
    for number, (cell, (op, panel)) in enumerate(zip(cells, drawn.items())):
        roof = sorted(panel["roof"].items())
        if roof:
            handles["copy of as many bytes"] = cell.plot(
                *zip(*roof), color="gray", linewidth=1.2, zorder=1
            )[0]
        for way, points in panel["rivals"].items():
            style = STYLES.get(way, {"marker": "*", "color": "black"})
            scatter(cell, points, style, handles, way, 22)
        style = {"marker": "o", "color": "tab:blue"}
        scatter(cell, panel["ours"], style, handles, OURS, 30)
        cell.set_title(f"{op}, {panel['dtype']}", fontsize=9 if len(op) < 25 else 7)
        cell.set_xscale("log")
        cell.grid(alpha=0.3)
        # The axes are shared: what has no panel below it shows its own.
        if number + COLUMNS >= len(drawn):
            cell.tick_params(labelbottom=True)
            cell.set_xlabel("bytes read and written")
        if number % COLUMNS == 0:
            cell.set_ylabel("TB/s")
    highest = max(max(p[1] for p in panel["ours"]) for panel in drawn.values())
    cells[0].set_ylim(0, 1.08 * highest)
    figure.suptitle(title(documents), fontsize=11)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=min(len(handles), 7))
    figure.savefig(path, dpi=100, metadata={"Software": None})


def scatter(cell, points, style, handles, label, size):
    for aligned in (True, False):
        chosen = [point[:2] for point in points if point[2] == aligned]
        if not chosen:
            continue
        face = style["color"] if aligned else "none"
        drawn = cell.scatter(
            *zip(*chosen),
            marker=style["marker"],
            s=size,
            facecolors=face,
            edgecolors=style["color"],
            zorder=3,
        )
        if aligned:
            handles.setdefault(label, drawn)
        elif label == OURS:
            handles.setdefault(f"{OURS}, rows at odd addresses", drawn)


def title(documents):
    devices = [document.get("machine", {}).get("name") or document.get("device") for document in documents]
    figures = [*result_file.benchmarks(documents).items(), *result_file.rivals(documents).items()]
    dates = {figure["date"][:10] for name, figure in figures if figure["date"] and parse(name)}
    words = [" and ".join(dict.fromkeys(filter(None, devices))), " and ".join(sorted(dates))]
    return ", ".join(words) + ", inputs not in L2, median of event times"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", nargs="+", help="<device>.json")
    parser.add_argument("--out", required=True, help="the PNG")
    arguments = parser.parse_args()
    draw(result_file.read_all(arguments.results), arguments.out)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Draws the roofline of profiler.py. usage: roofline.py <data.json> <picture.png>; needs matplotlib."""

import json
import sys


def main(data, picture):
    try:
        import matplotlib
    except ImportError:
        print("matplotlib is missing: %s -m pip install matplotlib" % sys.executable)
        return 1
    matplotlib.use("Agg")
    from matplotlib import pyplot

    with open(data, encoding="utf-8") as file:
        facts = json.load(file)
    points, memory, compute = facts["points"], facts["bytes_per_s"], facts["flops_per_s"]
    if not points or not memory or not compute:
        print("no kernel has floating-point operations, or ncu gave no peaks")
        return 1
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    left = min([point["x"] for point in points] + [0.1]) / 2
    right = max([point["x"] for point in points] + [compute / memory]) * 4
    bend = compute / memory
    axes.plot([left, bend], [left * memory, compute], color="black", label="memory: %.2f TB/s" % (memory / 1e12))
    ceiling = "float32 without tensor cores: %.1f TFLOP/s" % (compute / 1e12)
    axes.plot([bend, right], [compute, compute], color="black", linestyle="dashed", label=ceiling)
    for point in points:
        axes.plot([point["x"]], [point["y"]], marker="o", linestyle="none", label=point["name"])
    axes.set(xscale="log", yscale="log", xlim=(left, right), title=facts["title"])
    axes.set_xlabel("operations a byte of device memory")
    axes.set_ylabel("operations a second")
    axes.grid(True, which="both", linewidth=0.3)
    if len(points) <= 12:
        axes.legend(fontsize=7, loc="lower right")
    figure.savefig(picture, dpi=150)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

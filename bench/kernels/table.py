#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/measured.md's table of what was measured, from bench/results. Columns for rivals are there
where the files hold figures of them.

    bench/kernels/table.py bench/results/NVIDIA_*.json --page docs/measured.md

What several files hold is taken from the newest.
"""

import argparse
import os
import sys

import result_file

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import page_block  # noqa: E402

MARKS = ("<!-- kernels: written by bench/kernels/table.py -->", "<!-- kernels: end -->")
OURS = "cudaops"
RIVALS = {
    "eager": "torch eager",
    "compile": "`torch.compile`",
    "compile_max": "`torch.compile`, max-autotune",
    "fused": "`AdamW(fused=True)`",
    "foreach": "`AdamW(foreach=True)`",
    "liger": "Liger",
    "flash_attn": "flash-attn",
}
LARGE = "rows:32768/width:4096"
# What is shown: op, size, the benchmark.
ROWS = (
    *(
        (f"`{op}<{dtype}>`", "1 GiB an array", f"{op}<{dtype}>/bytes:1073741824")
        for dtype in ("float", "BFloat16")
        for op in ("vector_add", "square", "sum")
    ),
    *(
        (title, sides.replace("rows:", "").replace("/width:", " × "), f"{op}<BFloat16>/{sides}")
        for title, op, sides in (
            ("`rms_norm`", "rms_norm", LARGE),
            ("`fused_add_rms_norm`", "fused_add_rms_norm", LARGE),
            ("`rms_norm`, backward", "rms_norm_backward", "rows:16384/width:8192"),
            (
                "`fused_add_rms_norm`, backward",
                "fused_add_rms_norm_backward",
                "rows:16384/width:8192",
            ),
            ("`layer_norm`", "layer_norm", LARGE),
            ("`layer_norm`, backward", "layer_norm_backward", "rows:8192/width:16384"),
            ("`softmax`", "softmax", LARGE),
            ("`softmax`", "softmax", "rows:4096/width:131072"),
            ("`softmax`, backward", "softmax_backward", LARGE),
            (
                "`cross_entropy_`: loss and gradient",
                "cross_entropy_with_gradient",
                "rows:4096/width:128256",
            ),
            ("`swiglu`", "swiglu", LARGE),
            ("`swiglu`, backward", "swiglu_backward", LARGE),
            ("`geglu` by tanh", "geglu_tanh", LARGE),
            ("`bias_gelu` by erf", "bias_gelu_erf", LARGE),
            ("`bias_gelu` by erf, backward", "bias_gelu_erf_backward", LARGE),
            ("`quantize` to int8 by row", "quantize_rows_int8", LARGE),
            ("`quantize` to float8 by 128", "quantize_groups_float8", LARGE),
            ("`dequantize` of float8 by 128", "dequantize_groups_float8", LARGE),
            ("`rms_norm_quantize` to int8 by row", "rms_norm_quantize_rows_int8", LARGE),
            ("`swiglu_quantize` to float8 by 128", "swiglu_quantize_groups_float8", LARGE),
        )
    ),
    (
        "`rope`, q and k",
        "4 × 4096 × (32 + 8) × 128",
        "rope<BFloat16, float>/batch:4/seq:4096/q:32/k:8/dim:128/rotary:128",
    ),
    ("`transpose`, float32", "16384 × 16384", "transpose<float>/batch:1/rows:16384/columns:16384"),
    *(
        (title, "1000 × 524288", f"adamw<{dtype}>/tensors:1000/elements:524288")
        for title, dtype in (
            ("`adamw_`, float32", "float"),
            ("`adamw_`, bfloat16 with float32 masters", "BFloat16"),
        )
    ),
)


def table(documents):
    """docs/measured.md's block."""
    ours, others = result_file.benchmarks(documents), result_file.rivals(documents)
    shown = [row for row in ROWS if row[2] in ours or OURS in others.get(row[2], {}).get("us", {})]
    ways = [
        way
        for way in RIVALS
        if any(way in others.get(name, {}).get("ratio", {}) for _, _, name in shown)
    ]
    titles = ["op", "size", "µs", "TB/s", "copy of as many bytes, TB/s", "ratio"]
    lines = [
        "| " + " | ".join(titles + [RIVALS[way] for way in ways]) + " |",
        "|---" * (len(titles) + len(ways)) + "|",
    ]
    for title, size, name in shown:
        beside = others.get(name, {})
        entry = ours.get(name) or {
            "median_us": beside["us"][OURS],
            "TB/s": beside["TB/s"][OURS],
        }
        cells = [title, size, f"{entry['median_us']:.0f}", f"{entry['TB/s']:.2f}"]
        copied = "copy_TB/s" in entry
        cells += [f"{entry['copy_TB/s']:.2f}", f"{entry['of_copy']:.2f}"] if copied else ["", ""]
        for way in ways:
            ratio = beside.get("ratio", {}).get(way)
            cells.append(f"{beside['us'][way]:.0f} ({ratio:.2f} ×)" if ratio else "")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n\n" + note(documents, ways)


def note(documents, ways):
    words, tools = [], []
    for document in documents:
        machine = document.get("machine", {})
        words.append(machine.get("name") or document.get("device"))
        for label, value in (
            ("CUDA", machine.get("nvcc") or document.get("nvcc")),
            ("driver", machine.get("driver_version") or document.get("driver")),
        ):
            if value and not any(tool.startswith(f"{label} {value}") for tool in tools):
                tools.append(f"{label} {value}")
    dates = {document["date"][:10] for document in documents if "date" in document}
    text = (
        f"One {' and '.join(dict.fromkeys(filter(None, words)))} ({', '.join(tools)}, "
        f"{' and '.join(sorted(dates))}), bfloat16 where nothing else is said, inputs not in L2, "
        "median of event times; `bench/kernels/run_gpu.py`."
    )
    if ways:
        runs = [document["rivals"] for document in documents if "rivals" in document]
        torches = sorted({op["torch"] for run in runs for op in run["ops"].values()})
        text += (
            f" Rivals: torch {', '.join(torches)}, {runs[-1]['date'][:10]}, µs and how many times as "
            "long as ours beside them in the same process (`bench/kernels/rivals.py`)."
        )
    return text


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", nargs="+", help="<device>.json")
    parser.add_argument("--page", help="the file whose block is written anew")
    arguments = parser.parse_args()
    text = table(result_file.read_all(arguments.results))
    print(text)
    if not arguments.page:
        return
    page_block.write(arguments.page, MARKS, text)


if __name__ == "__main__":
    main()

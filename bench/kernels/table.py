#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/measured.md's tables of what was measured, from bench/results: ours beside a copy and beside rivals, and
what a call of few rows takes. torch's ways and the time on the host always have a column, packages where there are
figures of them; what was not measured is said.

    bench/kernels/table.py bench/results/NVIDIA_*.json --page docs/measured.md

What several files of a device hold is taken from the newest.
"""

import argparse
import os
import re
import sys

import result_file

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import page_block  # noqa: E402

MARKS = ("<!-- kernels: written by bench/kernels/table.py -->", "<!-- kernels: end -->")
FEW_MARKS = ("<!-- few_rows: written by bench/kernels/table.py -->", "<!-- few_rows: end -->")
OURS = "cudaops"
# torch's own ways of any op, and packages.
TORCH = {
    "eager": "torch eager",
    "compile": "`torch.compile`",
    "compile_max": "`torch.compile`, max-autotune",
}
PACKAGES = {
    "liger": "Liger",
    "flash_attn": "flash-attn",
    "flashinfer": "FlashInfer",
    "quack": "quack",
    "apex": "Apex",
    "transformer_engine": "TransformerEngine",
    "vllm": "vLLM",
}
RIVALS = {
    **TORCH,
    "fused": "`AdamW(fused=True)`",
    "foreach": "`AdamW(foreach=True)`",
    **PACKAGES,
}
NOT_MEASURED = "–"
MOST_FEW_ROWS = 1024
MOST_OF_A_REASON = 60
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
            ("`rms_norm`, backward", "rms_norm_backward", LARGE),
            ("`fused_add_rms_norm`, backward", "fused_add_rms_norm_backward", LARGE),
            ("`layer_norm`", "layer_norm", LARGE),
            ("`layer_norm`, backward", "layer_norm_backward", LARGE),
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


def lines_of(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def ways_of(cases):
    """The columns of these cases: torch's ways, and the others that have a figure."""
    measured = {way for case in cases for way in case.get("ratio", {})}
    return [way for way in RIVALS if way in TORCH or way in measured]


def rival_cells(case, ways, digits):
    """µs and how many times as long as ours; what failed is told apart from what was not measured."""
    cells = []
    for way in ways:
        ratio = case.get("ratio", {}).get(way)
        if ratio is not None:
            cells.append(f"{case['us'][way]:.{digits}f} ({ratio:.2f} ×)")
        else:
            cells.append("failed" if way in case.get("failed", {}) else NOT_MEASURED)
    return cells


def host_cells(case):
    """µs of ours, and of the rival that takes least."""
    times = dict(case.get("host_us", {}))
    if OURS not in times:
        return [NOT_MEASURED, NOT_MEASURED]
    ours = f"{times.pop(OURS):.1f}"
    if not times:
        return [ours, NOT_MEASURED]
    way = min(times, key=times.get)
    return [ours, f"{times[way]:.1f} ({RIVALS.get(way, way)})"]


HOST_HEAD = ["on the host, µs", "the least of the others"]


def table(documents):
    """docs/measured.md's block: a table for each device."""
    tables = filter(None, map(device_table, result_file.devices(documents).values()))
    return "\n\n".join(tables)


def device_table(documents):
    ours, others = result_file.benchmarks(documents), result_file.rivals(documents)
    shown = [row for row in ROWS if row[2] in ours or OURS in others.get(row[2], {}).get("us", {})]
    if not shown:
        return None
    ways = ways_of([others.get(name, {}) for _, _, name in shown])
    head = ["op", "size", "µs", "TB/s", "copy of as many bytes, TB/s", "ratio"]
    rows = []
    for title, size, name in shown:
        case = others.get(name, {})
        entry = ours.get(name) or {
            "median_us": case["us"][OURS],
            "TB/s": case["TB/s"][OURS],
        }
        cells = [title, size, f"{entry['median_us']:.0f}", f"{entry['TB/s']:.2f}"]
        if "copy_TB/s" in entry:
            cells += [f"{entry['copy_TB/s']:.2f}", f"{entry['of_copy']:.2f}"]
        else:
            cells += [NOT_MEASURED, NOT_MEASURED]
        rows.append(cells + rival_cells(case, ways, 0) + host_cells(case))
    head += [RIVALS[way] for way in ways] + HOST_HEAD
    return lines_of(head, rows) + "\n\n" + note(documents, ways, [name for _, _, name in shown])


def few_rows(name):
    """rows × width of a benchmark's name with at most MOST_FEW_ROWS; None of others."""
    found = re.fullmatch(r"\w+<[^>]+>/rows:(\d+)/width:(\d+)", name)
    return f"{found[1]} × {found[2]}" if found and int(found[1]) <= MOST_FEW_ROWS else None


def few_table(documents):
    """docs/measured.md's block of calls of few rows, from rivals.py."""
    texts = []
    for its in result_file.devices(documents).values():
        cases = {
            name: case
            for name, case in result_file.rivals(its).items()
            if few_rows(name) and OURS in case.get("us", {})
        }
        if not cases:
            continue
        ways = ways_of(cases.values())
        rows = [
            [
                f"`{name.split('/')[0]}`",
                few_rows(name),
                f"{case['us'][OURS]:.2f}",
                *rival_cells(case, ways, 2),
                *host_cells(case),
            ]
            for name, case in cases.items()
        ]
        head = ["op", "rows × width", "µs", *(RIVALS[way] for way in ways), *HOST_HEAD]
        texts.append(lines_of(head, rows) + "\n\n" + rivals_note(its, ways, list(cases)))
    return "\n\n".join(texts) or (
        "No results hold few rows yet: `bench/kernels/rivals.py --sizes few --out bench/results` on a GPU makes them."
    )


def note(documents, ways, names):
    words, tools = [], []
    if not any("benchmarks" in document for document in documents):
        return rivals_note(documents, ways, names)
    for document in documents:
        machine = document.get("machine", {})
        words.append(machine.get("name") or document.get("device"))
        for label, value in (
            ("CUDA", machine.get("nvcc") or document.get("nvcc")),
            ("driver", machine.get("driver_version") or document.get("driver")),
        ):
            if value and not any(tool.startswith(f"{label} {value}") for tool in tools):
                tools.append(f"{label} {value}")
    ours = result_file.benchmarks(documents)
    dates = {ours[name]["date"][:10] for name in names if ours.get(name, {}).get("date")}
    text = (
        f"One {' and '.join(dict.fromkeys(filter(None, words)))} ({', '.join(tools)}, "
        f"{' and '.join(sorted(dates))}), bfloat16 where nothing else is said, inputs not in L2, "
        "median of event times; `bench/kernels/run_gpu.py`."
    )
    return f"{text} {rivals_note(documents, ways, names)}"


def rivals_note(documents, ways, names):
    """Which rivals of the cases of these names, when, which could not be had, and what "failed" means."""
    shown = {name: case for name, case in result_file.rivals(documents).items() if name in names}
    reports = [
        report
        for report in sorted(result_file.rival_reports(documents), key=lambda report: report["date"])
        if any(shown.get(case["name"], {}).get("date") == report["date"] for case in report["cases"])
    ]
    if not reports:
        return f"Rivals were not measured on it ({NOT_MEASURED})."
    torches = sorted({report["torch"] for report in reports})
    dates = sorted({report["date"][:10] for report in reports})
    devices = " and ".join(result_file.devices(documents))
    text = (
        f"Rivals: {devices}, torch {', '.join(torches)}, {' and '.join(dates)}, µs and how many times as long as "
        f"ours beside them in the same process (`bench/kernels/rivals.py`); {NOT_MEASURED}: not measured."
    )
    versions, missing = {}, {}
    for report in reports:
        versions.update(report.get("versions", {}))
        missing.update(report.get("missing", {}))
    had = [f"{PACKAGES[way]} {versions[way]}" for way in PACKAGES if way in ways and way in versions]
    if had:
        text += f" Versions: {', '.join(had)}."
    failures = {}
    for case in shown.values():
        for way, reason in case.get("failed", {}).items():
            reason = re.sub("\x1b\\[[0-9;]*m", "", reason.removeprefix("failed: "))
            if way in ways:
                failures[f"{RIVALS[way]}: {reason[:MOST_OF_A_REASON]}"] = None
    if failures:
        text += f" Failed: {'; '.join(failures)}."
    known = [f"{PACKAGES[way]} ({missing[way]})" for way in PACKAGES if way in missing]
    if known:
        text += f" Could not be had{' in one of the runs' if set(missing) & set(ways) else ''}: {', '.join(known)}."
    absent = [way for way in PACKAGES if way not in ways and way not in missing]
    installed = [PACKAGES[way] for way in absent if way in versions]
    if installed:
        text += f" Installed, and not called for these: {', '.join(installed)}."
    unknown = [PACKAGES[way] for way in absent if way not in versions]
    if unknown:
        text += f" Not tried in these runs: {', '.join(unknown)}."
    return text


TABLES = {MARKS: table, FEW_MARKS: few_table}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", nargs="+", help="<device>.json")
    parser.add_argument("--page", help="the file whose blocks are written anew")
    arguments = parser.parse_args()
    documents = result_file.read_all(arguments.results)
    for marks, made in TABLES.items():
        text = made(documents)
        print(text)
        if arguments.page:
            page_block.write(arguments.page, marks, text)


if __name__ == "__main__":
    main()

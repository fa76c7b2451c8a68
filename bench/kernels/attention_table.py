#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/measured_kernels.md's tables of attention, from what attention.py and attention_decode.py have measured.

    bench/kernels/attention_table.py bench/results --page docs/measured_kernels.md
"""

import argparse
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import page_block  # noqa: E402

WRITTEN = "written by bench/kernels/attention_table.py -->"
MARKS = ("<!-- attention: " + WRITTEN, "<!-- attention: end -->")
FLOAT8_MARKS = ("<!-- attention_float8: " + WRITTEN, "<!-- attention_float8: end -->")
SHORT_MARKS = ("<!-- attention_short: " + WRITTEN, "<!-- attention_short: end -->")
DECODE_MARKS = ("<!-- attention_decode: " + WRITTEN, "<!-- attention_decode: end -->")

# Up to here a table shows times: of shorter sequences memory is what counts, not the rate of operations.
SHORT = 512


def read(folder, name):
    with open(os.path.join(folder, name + "_cuda.json"), encoding="utf-8") as stream:
        return json.load(stream)


def where(document):
    version = document["torch"].split("+")[0]
    return f"One {document['machine']['name']}, torch {version}, {document['date'][:10]}"


def grouped(heads, kv_heads):
    return str(heads) if heads == kv_heads else f"{heads}({kv_heads})"


def lines_of(*rows):
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)


def case_of(row):
    dims = [row["head_dim"], row["head_dim_v"]]
    dim = dims[0] if dims[0] == dims[1] else "/".join(map(str, dims))
    return dim, grouped(row["heads"], row["kv_heads"]), row["sequence"]


def rate_table(folder, passes, titles, note):
    """A row for each size. passes: of which pass which ways are shown. titles: of the columns of full and causal calls."""
    documents = {name: read(folder, "attention_" + name) for name in passes}
    rates, order = {}, []
    for name, document in documents.items():
        for row in document["rows"]:
            case = case_of(row)
            if row["sequence"] < SHORT:
                continue
            if case not in order:
                order.append(case)
            cell = ", ".join(f"{row['tflops'][way]:.0f}" for way in passes[name] if way in row["tflops"])
            rates[case, name, row["causal"]] = cell
    head = ["head_dim", "heads", "sequence", *titles]
    rows = [head, ["---"] * len(head)]
    for case in order:
        rows.append([*case, *(rates.get((case, name, causal), "") for name in passes for causal in (False, True))])
    said = "; ".join(f"{name}: {where(document)}" for name, document in documents.items())
    return f"{lines_of(*rows)}\n\nTFLOP/s, {note}. {said}."


def attention_table(folder):
    return rate_table(
        folder,
        {"forward": ("ours", "cudnn"), "backward": ("ours", "cudnn")},
        ["full, cuDNN", "causal, cuDNN", "backward: full, cuDNN", "causal, cuDNN"],
        "bfloat16",
    )


def float8_table(folder):
    return rate_table(
        folder,
        {"float8": ("ours", "ours_bfloat16", "cudnn")},
        ["full, bfloat16, cuDNN", "causal, bfloat16, cuDNN"],
        "float8_e4m3fn beside our bfloat16 and cuDNN's",
    )


def short_table(folder):
    document = read(folder, "attention_forward")
    times = {}
    for row in document["rows"]:
        if row["sequence"] <= SHORT:
            ways = (row["ms"].get(way) for way in ("ours", "cudnn", "flash"))
            cell = ", ".join("–" if ms is None else f"{1e3 * ms:.0f}" for ms in ways)
            times.setdefault(case_of(row), {})[row["causal"]] = cell
    ways = "ours, cuDNN, FlashAttention 2"
    head = ["head_dim", "heads", "sequence", f"full: {ways}", f"causal: {ways}"]
    rows = [head, ["---"] * len(head), *([*case, cells[False], cells[True]] for case, cells in times.items())]
    return f"{lines_of(*rows)}\n\nµs a call. {where(document)}."


def decode_table(folder):
    document = read(folder, "attention_decode")
    cases = {}
    for row in document["rows"]:
        heads = grouped(row["heads"], row["kv_heads"])
        case = (heads, row["head_dim"], f"{row['batch']} × {row['keys']}", row["q_len"], row["cache"])
        cases.setdefault(case, {})[row["way"]] = row
    head = ["q heads (kv)", "head_dim", "batch × keys", "tokens", "cache", "ours", "TB/s", "cuDNN", "FlashAttention 2"]
    rows = [head, ["---"] * len(head)]
    for case, ways in cases.items():
        ours = ways["ours"]
        rate = f"{ours['cache_bytes'] / ours['us'] / 1e6:.2f}"
        rivals = (f"{ways[way]['us']:.1f}" if way in ways else "–" for way in ("cuDNN", "flash"))
        rows.append([*case, f"{ours['us']:.1f}", rate, *rivals])
    return f"{lines_of(*rows)}\n\nµs a call. {where(document)}."


TABLES = {MARKS: attention_table, SHORT_MARKS: short_table, FLOAT8_MARKS: float8_table, DECODE_MARKS: decode_table}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", help="a directory with attention_forward_cuda.json and the others")
    parser.add_argument("--page", help="the file whose blocks are written anew")
    arguments = parser.parse_args()
    for marks, table in TABLES.items():
        text = table(arguments.results)
        print(text)
        if arguments.page:
            page_block.write(arguments.page, marks, text)


if __name__ == "__main__":
    main()

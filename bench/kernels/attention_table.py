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
AIMS_MARKS = ("<!-- attention_aims: " + WRITTEN, "<!-- attention_aims: end -->")

# Up to here a table shows times: of shorter sequences memory is what counts, not the rate of operations.
SHORT = 512

# Head dimensions that have no kernel of their own, and the one whose kernel takes them; sequences that end within a tile,
# and those that don't.
NEXT_HEAD_DIM = {40: 64, 72: 96, 80: 96}
NEXT_SEQUENCE = {100: 128, 300: 256}
# TB/s of a kernel that only reads so many bytes: one H200, CUDA 13.0, 2026-11-22.
READING = {1 << 28: 4.43, 1 << 29: 4.51}


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


def mask_of(row):
    return "causal" if row["causal"] else "full"


def parts_of_rivals(document):
    """The time of the fastest of the others, as a part of ours, by row."""
    for row in document["rows"]:
        dim, heads, sequence = case_of(row)
        best = min(ms for way, ms in row["ms"].items() if way != "ours")
        yield row, f"{dim}, {heads} heads, {sequence} {mask_of(row)}", best / row["ms"]["ours"]


def parts_of_next(document):
    """Our rate, as a part of that of the size whose kernel or tiles serve this one."""
    rates = {(*case_of(row), row["causal"]): row["tflops"]["ours"] for row in document["rows"]}
    for (dim, heads, sequence, causal), rate in rates.items():
        other = (NEXT_HEAD_DIM.get(dim, dim), heads, NEXT_SEQUENCE.get(sequence, sequence), causal)
        if other in rates and other[:3] != (dim, heads, sequence):
            yield f"{dim}, {sequence} {'causal' if causal else 'full'}", rate / rates[other]


def decode_cases(document):
    """A name, ours and cuDNN's row."""
    cases = {}
    for row in document["rows"]:
        heads = grouped(row["heads"], row["kv_heads"])
        tokens = "" if row["q_len"] == 1 else f", {row['q_len']} tokens"
        name = f"{row['head_dim']}, {heads} heads, {row['batch']} × {row['keys']}{tokens}"
        cases.setdefault((name, row["cache"]), {})[row["way"]] = row
    for (name, cache), ways in cases.items():
        yield name, cache, ways["ours"], ways.get("cuDNN")


def aims_table(folder):
    """What was aimed at, and every row that is below it."""
    forward, backward, decode = (read(folder, "attention_" + name) for name in ("forward", "backward", "decode"))
    rows = []

    def add(what, parts, must, aim=None):
        """parts: a name and a number for each row, at least `must`; of `aim` the number of rows says enough."""
        parts = [(name, part) for name, part in parts]
        below = "; ".join(f"{name}: {int(100 * part) / 100:.2f}" for name, part in parts if part < must)
        reached = sum(part >= must for _, part in parts), sum(part >= (aim or must) for _, part in parts)
        cells = [f"{must:g}: {reached[0]} of {len(parts)}", f"{aim:g}: {reached[1]}" if aim else "", below or "–"]
        rows.append([what, *cells])

    of_forward, of_backward = list(parts_of_rivals(forward)), list(parts_of_rivals(backward))
    add("forward, more than 512 tokens", ((name, part) for row, name, part in of_forward if row["sequence"] > SHORT), 0.9, 1)
    add("forward, up to 512 tokens", ((name, part) for row, name, part in of_forward if row["sequence"] <= SHORT), 1, 1.2)
    add("backward", ((name, part) for _, name, part in of_backward), 0.75, 0.95)
    add(
        "backward, causal, 1024 tokens of head_dim 128",
        (
            (name, part)
            for row, name, part in of_backward
            if row["head_dim"] == 128 and row["sequence"] == 1024 and row["causal"]
        ),
        1,
        1.2,
    )
    for name, document in (("forward", forward), ("backward", backward)):
        add(f"{name}: the rate of the size whose kernel serves this one", parts_of_next(document), 0.7)
    cases = list(decode_cases(decode))
    add("decode beside cuDNN", ((name, cudnn["us"] / ours["us"]) for name, _, ours, cudnn in cases if cudnn), 1)
    add(
        "decode beside reading alone, 268 MB and more of keys and values",
        (
            (name, ours["cache_bytes"] / ours["us"] / 1e6 / READING[max(size for size in READING if size <= ours["cache_bytes"])])
            for name, cache, ours, _ in cases
            if cache == "bfloat16" and ours["q_len"] == 1 and ours["cache_bytes"] >= min(READING)
        ),
        0.92,
    )
    one = {ours["keys"]: ours for _, cache, ours, _ in cases if (ours["batch"], ours["head_dim"], cache) == (1, 128, "bfloat16")}
    add("decode, 1 × 16384, of 3.0 TB/s", [("", one[16384]["cache_bytes"] / one[16384]["us"] / 3e6)], 1)
    add("decode, 1 × 4096, of 9 µs", [(f"{one[4096]['us']:.1f} µs", 9 / one[4096]["us"])], 1)
    head = ["what", "at least, rows", "aim, rows", "below the first"]
    said = "; ".join(f"{name}: {where(d)}" for name, d in (("forward", forward), ("backward", backward), ("decode", decode)))
    return (
        f"{lines_of(head, ['---'] * len(head), *rows)}\n\nParts of the time of the faster of cuDNN and FlashAttention 2 in ours, "
        f"where nothing else is said. {said}."
    )


TABLES = {
    MARKS: attention_table,
    SHORT_MARKS: short_table,
    FLOAT8_MARKS: float8_table,
    DECODE_MARKS: decode_table,
    AIMS_MARKS: aims_table,
}


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

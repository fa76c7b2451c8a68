#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which calls of attention() the kernel for sm_90a computes by the tiles for short sequences: kernels/attention/attention_sm90_limits.h,
from what attention_tiles_benchmark measures.

    bench/kernels/attention_tiles.py --program build/sm90/bench/kernels/attention_tiles_benchmark --out bench/results
    bench/kernels/attention_tiles.py bench/results

The first form measures on a GPU (about four minutes) and writes the header, the second writes it anew. A row of the header is for
the head dimensions that the products are made for; its figures are numbers of queries, up to which the tiles for short sequences
are taken: with nothing added to a score, with a softcap, with a bias, each without a mask and with a causal one.
"""

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

import result_file

sys.path.insert(0, os.path.join(result_file.SOURCE, "bench"))

import page_block  # noqa: E402

HEADER = os.path.join(result_file.SOURCE, "kernels", "attention", "attention_sm90_limits.h")
MARKS = ("// attention_sm90_limits: written by bench/kernels/attention_tiles.py", "// attention_sm90_limits: end")
RESULTS = "attention_tiles_cuda"
REPETITIONS = 3

# In the order of AttentionSm90Heads, AttentionSm90Terms and masks.
HEAD_DIMS = ((64, 64), (96, 96), (128, 128), (192, 128), (192, 192), (256, 256))
TERMS = ("none", "softcap", "bias")
MASKS = ("none", "causal")

NAME = r"attention/head_dim:(\d+)/head_dim_v:(\d+)/terms:(\w+)/mask:(\w+)/seq:(\d+)/tiles:(short|long)"


def measure(program, folder, told):
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "figures.json")
        command = [program, f"--benchmark_out={out}", "--benchmark_out_format=json"]
        # Both tiles at all temperatures of the GPU, and no figure by one disturbed moment.
        command += [f"--benchmark_repetitions={REPETITIONS}", "--benchmark_enable_random_interleaving=true"]
        if subprocess.run(command, env={**os.environ, "CUDAOPS_REQUIRE_GPU": "1"}).returncode:
            raise SystemExit(f"attention_tiles.py: {program} failed; nothing is written.")
        with open(out, encoding="utf-8") as stream:
            entries = json.load(stream)["benchmarks"]
    times = {}
    for entry in entries:
        found = re.fullmatch(NAME, result_file.short_name(entry["name"]))
        if found:
            times.setdefault(found.groups(), []).append(entry.get("real_time", 0))
    rows = []
    for (head_dim, head_dim_v, terms, mask, seq, tiles), each in times.items():
        row = {"head_dim": int(head_dim), "head_dim_v": int(head_dim_v), "terms": terms, "mask": mask, "seq": int(seq)}
        us = statistics.median(each) if min(each) > 0 else 0
        rows.append({**row, "tiles": tiles, "us": round(us, 2)})

    # Benchmarks end in random order.
    def place(row):
        kind = (row["head_dim"], row["head_dim_v"], TERMS.index(row["terms"]), MASKS.index(row["mask"]))
        return (*kind, row["seq"], row["tiles"] == "long")

    rows.sort(key=place)
    without = [row for row in rows if row["us"] <= 0]
    if without or not rows:
        raise SystemExit(
            "attention_tiles.py: without figures nothing is written.\n"
            "  rule    the table is made of the times of both tiles, of every kind of calls\n"
            f"  found   {len(rows)} rows, {len(without)} of them without a time, from {program}\n"
            "  wanted  a build and a GPU with the kernel for sm_90a\n"
            "Fix: cmake --preset sm90, and --program build/sm90/bench/kernels/attention_tiles_benchmark on an H100 or H200"
        )
    facts = result_file.machine()
    command = "bench/kernels/attention_tiles.py --program <build>/bench/kernels/attention_tiles_benchmark"
    result_file.write_rows(folder, RESULTS, command, rows, commit=result_file.commit(told), machine=facts)


def most_short(times):
    """times: of one kind of calls, sequence → tiles → µs. Up to which sequence the tiles for short ones are taken, so that the
    product of all times is the least: one row that was disturbed doesn't decide."""
    total, least, found = 0.0, 0.0, "0"
    for seq in sorted(times):
        total += math.log(times[seq]["short"] / times[seq]["long"])
        if total < least:
            least, found = total, str(seq)
    return "kAllQueries" if found == str(max(times)) else found


def limits(document):
    """The header's lines."""
    times = {}
    for row in document["rows"]:
        kind = (row["head_dim"], row["head_dim_v"]), row["terms"], row["mask"]
        times.setdefault(kind, {}).setdefault(row["seq"], {})[row["tiles"]] = row["us"]
    machine = document["machine"]
    text = f"// {machine['name']}, CUDA {machine['nvcc']}, {document['date'][:10]}, bfloat16, 16384 tokens:\n"
    text += f"// bench/results/{RESULTS}.json.\n"
    text += "constexpr AttentionSm90Limits kAttentionSm90Limits[] = {\n"
    for dims in HEAD_DIMS:
        each = [[most_short(times[dims, terms, mask]) for mask in MASKS] for terms in TERMS]
        name = str(dims[0]) if dims[0] == dims[1] else f"{dims[0]} by {dims[1]}"
        text += f"    // {name}\n    {{{{{', '.join('{' + ', '.join(pair) + '}' for pair in each)}}}}},\n"
    return text + "};"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", help=f"the directory of {RESULTS}.json")
    parser.add_argument("--program", help="attention_tiles_benchmark: measures first")
    parser.add_argument("--out", default="bench/results", help="where its figures go (default: bench/results)")
    result_file.add_commit_argument(parser)
    arguments = parser.parse_args()
    if bool(arguments.program) == bool(arguments.results):
        parser.error("wanted --program, or the directory of figures that were measured")
    folder = arguments.results or arguments.out
    if arguments.program:
        measure(arguments.program, folder, arguments.commit)
    with open(os.path.join(folder, RESULTS + ".json"), encoding="utf-8") as stream:
        page_block.write(HEADER, MARKS, limits(json.load(stream)))


if __name__ == "__main__":
    main()

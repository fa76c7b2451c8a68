#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the lessons of a build of examples/lessons on this machine's GPU, and writes what they print
to one JSON file each: bench/results/lessons/<lesson>.json.

    cmake --preset native -S examples/lessons && cmake --build examples/lessons/build/native
    bench/lessons/measure.py examples/lessons/build/native [--out DIR] [--commit HASH] [<lesson>...]

A lesson that fails, is skipped or isn't built writes no file, and the exit code is 1.
"""

import argparse
import json
import os
import subprocess
import sys

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(BENCH, "kernels"))

import result_file  # noqa: E402

OUT = os.path.join(BENCH, "results", "lessons")
# Lessons whose tests check, and another program measures.
PROGRAMS = {"10_one_add_many_ways": "compare.py"}


def tests(build):
    """ctest's own list: command, environment and folder of each test."""
    shown = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, stdout=subprocess.PIPE
    )
    for test in json.loads(shown.stdout)["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test["properties"]}
        environment = dict(os.environ)
        for line in properties.get("ENVIRONMENT", []):
            name, _, value = line.partition("=")
            environment[name] = value
        for line in properties.get("ENVIRONMENT_MODIFICATION", []):
            name, _, change = line.partition("=")
            operation, _, value = change.partition(":")
            if operation == "path_list_prepend":
                value = os.pathsep.join(filter(None, (value, environment.get(name))))
            environment[name] = value
        labels = properties.get("LABELS", [])
        # Without a command: its program isn't built.
        yield test["name"], test.get("command"), environment, properties["WORKING_DIRECTORY"], labels


def tables_of(text):
    """Tables are lines of as many words as their first line; a blank line ends one."""
    tables = []
    for block in text.split("\n\n"):
        lines = [line.split() for line in block.splitlines() if line.strip()]
        if len(lines) > 1 and all(len(line) == len(lines[0]) for line in lines):
            tables.append({"columns": lines[0], "rows": [[number(word) for word in line] for line in lines[1:]]})
    return tables


def number(word):
    try:
        return float(word) if "." in word else int(word)
    except ValueError:
        return word


def table_of_benchmark(document):
    """One table: a row a case; the columns are the counters that all of them have."""
    # Written by Google Benchmark itself, or the same for each case.
    ours = ("min_us", "max_us", "TB/s", "copy_TB/s", "of_copy", "occupancy", "suggested_block", "registers", "spilled_bytes")
    cases = document["benchmarks"]
    counters = [name for name in ours if all(name in case for case in cases)]
    rows = []
    for case in cases:
        name = case["name"].replace("/iterations:1", "").replace("/manual_time", "")
        rows.append([name, round(case["real_time"], 2), *(round(case[counter], 4) for counter in counters)])
    return {"columns": ["case", "us", *counters], "rows": rows}


def measure(lesson, command, environment, folder, labels):
    """The tables of one program."""
    if lesson in PROGRAMS:
        command = [command[0], os.path.join(os.path.dirname(command[1]), PROGRAMS[lesson])]
    is_benchmark = "benchmark" in labels
    if is_benchmark:
        del environment["CUDAOPS_BENCHMARK_ONCE"]
        command = [*command, "--benchmark_format=json"]
    ran = subprocess.run(command, env=environment, cwd=folder, stdout=subprocess.PIPE, text=True)
    print(f"{lesson}: {' '.join(command)}\n{ran.stdout}", flush=True)
    if ran.returncode != 0 or "SKIPPED: no GPU" in ran.stdout:
        return None
    return [table_of_benchmark(json.loads(ran.stdout))] if is_benchmark else tables_of(ran.stdout)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", help="a build directory of examples/lessons")
    parser.add_argument("lessons", nargs="*", help="default: all")
    parser.add_argument("--out", default=OUT, help="default: bench/results/lessons")
    result_file.add_commit_argument(parser)
    arguments = parser.parse_args()
    commit = result_file.commit(arguments.commit)
    machine, failed, found = result_file.machine(), [], {}
    os.makedirs(arguments.out, exist_ok=True)
    for name, command, environment, folder, labels in tests(arguments.build):
        lesson = os.path.basename(folder)
        wanted = not arguments.lessons or lesson in arguments.lessons
        is_other = name.endswith((".cpu", ".architectures")) or (lesson in PROGRAMS and lesson in found)
        if not wanted or is_other:
            continue
        measured = measure(lesson, command, environment, folder, labels) if command else None
        if measured is None:
            failed.append(name)
            continue
        found.setdefault(lesson, []).extend(measured)
        document = {
            "date": result_file.now(),
            "command": f"bench/lessons/measure.py {lesson}",
            "commit": commit,
            "machine": machine,
            "tables": found[lesson],
        }
        # After each program: one that fails later leaves the others' figures.
        with open(os.path.join(arguments.out, f"{lesson}.json"), "w", encoding="utf-8") as stream:
            json.dump(document, stream, indent=1)
            stream.write("\n")
    print(f"measured {len(found)} lessons; failed: {', '.join(failed) or 'none'}")
    sys.exit(1 if failed or not found else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays docs/tutorial/faults.md: each of its sections plants a fault in the kernel of a new project, and its command names
the kernel, the file and the line, as the page shows it. In the page's output a line `...` stands for any lines.

usage: planted_faults.py [--dir <dir>] [--log <dir>] [--jobs <n>] [<section>...]

A section: words of its title. Default: all. Exit code 77 where there is no GPU, unless sections are named.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
PAGE = REPOSITORY / "docs" / "tutorial" / "faults.md"
CUDA = "csrc/scaled_add.cu"
ANY = "..."

sys.path.insert(0, str(REPOSITORY / "tests" / "python"))

from page_script import steps  # noqa: E402


def sections():
    """(commands that all begin with, {title: its steps})"""
    begin, *parts = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)
    return [step[1] for step in steps(begin)], {part.splitlines()[0]: steps(part) for part in parts}


def patched(text, diff):
    """The lines with '-' stand in the text once; those with '+' come in their place."""
    lines = diff.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] != "+")
    if text.count(old) != 1:
        raise SystemExit("planted_faults.py: this stands %d times in %s, not once:\n%s" % (text.count(old), CUDA, old))
    return text.replace(old, "".join(line[1:] for line in lines if line[0] != "-"))


def pattern(line):
    """`...` stands for any text. A figure, a number that stands alone, is another one elsewhere, but for 0; so is the GPU."""
    words = []
    for word in line.split():
        if re.fullmatch(r"\d+(\.\d+)?", word) and float(word):
            words.append(r"\d+(\.\d+)?")
        else:
            words.append(re.sub(r"\bsm_90\b", r"sm_\\w+", ".*".join(map(re.escape, word.split(ANY)))))
    return re.compile(r"\s*" + r"\s+".join(words))


def difference(expected, output):
    """What of a page's lines the output doesn't have, or ""."""
    lines, groups = output.rstrip().splitlines(), [[]]
    for line in expected:
        if line == ANY:
            groups.append([])
        else:
            groups[-1].append(pattern(line))
    at = 0
    for number, group in enumerate(groups):
        # The first begins where the output does, the last ends where it ends.
        starts = [0] if number == 0 else range(at, len(lines) - len(group) + 1)
        if number == len(groups) - 1:
            starts = [start for start in starts if start + len(group) == len(lines)]
        for start in starts:
            if len(lines) - start >= len(group) and all(map(re.Pattern.fullmatch, group, lines[start:])):
                at = start + len(group)
                break
        else:
            return "not in the output: " + "; ".join(pattern.pattern for pattern in group) if group else "the output goes on"
    return ""


def environment():
    """That of a user whose python is this one."""
    return dict(
        os.environ,
        PATH=os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"],
        PYTHONPATH=os.pathsep.join(filter(None, (str(REPOSITORY / "python"), os.environ.get("PYTHONPATH")))),
        PYTHONDONTWRITEBYTECODE="1",
        CMAKE_BUILD_PARALLEL_LEVEL="2",
    )


def play(title, begin, todo, directory, log):
    """(what is wrong, or "", seconds)"""
    directory = pathlib.Path(directory) / re.sub(r"\W+", "_", title.lower())
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    setup = "set -e\n" + "\n".join(begin) + '\npwd\necho "$CudaOps_ROOT"\n'
    made = subprocess.run(["bash", "-c", setup], cwd=directory, env=environment(), check=True, stdout=subprocess.PIPE, text=True)
    project, root = made.stdout.splitlines()[-2:]
    source, started, wrong, said = pathlib.Path(project) / CUDA, time.monotonic(), [], []
    for step in todo:
        if step[0] == "diff":
            source.write_text(patched(source.read_text(), step[1]))
            continue
        if step[0] == "file":
            (pathlib.Path(project) / step[1]).write_text(step[2])
            continue
        _, command, expected = step
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=project,
            env=dict(environment(), CudaOps_ROOT=root),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        said.append("$ %s\n%s\nexit code %d\n" % (command, done.stdout, done.returncode))
        missing = difference(expected, done.stdout)
        if missing:
            wrong.append("%s: %s" % (command, missing))
    (log / (directory.name + ".log")).write_text("".join(said))
    if wrong:
        wrong.append("output: %s" % (log / (directory.name + ".log")))
    return "\n      ".join(wrong), time.monotonic() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", help="where the projects are made; default: a temporary directory, removed at the end")
    parser.add_argument("--log", help="a directory for the output of each section; default: beside the projects")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2), help="how many at once")
    parser.add_argument("sections", nargs="*", metavar="section")
    options = parser.parse_args()
    begin, known = sections()
    chosen = [title for title in known if not options.sections or any(word.lower() in title.lower() for word in options.sections)]
    if not chosen:
        parser.error("there is no such section among: " + "; ".join(known))
    if not options.sections and not os.path.exists("/dev/nvidiactl"):
        print("SKIPPED: no GPU on this machine")
        return 77
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        directory = options.dir or temporary
        log = pathlib.Path(options.log or directory)
        log.mkdir(parents=True, exist_ok=True)
        failed = 0
        results = pool.map(lambda title: play(title, begin, known[title], directory, log), chosen)
        for title, (wrong, seconds) in zip(chosen, results):
            failed += bool(wrong)
            print("%s %6.1f s  %s%s" % ("FAIL" if wrong else "PASS", seconds, title, wrong and "\n      " + wrong), flush=True)
            if wrong and not options.dir:
                print((log / (re.sub(r"\W+", "_", title.lower()) + ".log")).read_text())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Runs a test under one of compute-sanitizer's tools, for CTest: the tests <test>.<tool> of CUDAOPS_SANITIZER.

usage: _run.py nvidia_tools.sanitize --tool <tool> [--toolkit <dir>] [--library <file>...] -- <command>...

With libraries, their kernels alone are checked; not by initcheck, which has to see what other kernels write. Exit code: the
command's own, or 86 where the tool found something or saw no call of CUDA, 77 where there is no such tool or no GPU. What
was found is said again at the end, a line for each place in the code.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys

from ..binaries.kernels import read_library
from ..problem import Problem
from . import common

FOUND = 86
# A report's head stands one blank from the border ("Invalid __global__ write of size 4 bytes"), and the line below it says
# where ("    at scale(float *)+0x70 in scale.cu:12"), or more; racecheck says both in one. What the test printed without an
# end of line, such as pytest's "test_scale.py ..", stands before.
LINE = re.compile(r"^(?:.*[^=])?={9}(?P<text>[^=].*|)$")
RACE = re.compile(r"(?P<what>Race reported) between (?P<place>.+)$")
# The releases differ in the order: "0x70 in /a/scale.cu:12:scale(float *)" came before 2022.
OLD_PLACE = re.compile(r"^0x[0-9a-f]+ in (?P<file>.+?:\d+):(?P<kernel>.+)$")
NOTHING_SEEN = "Target application terminated before first instrumented API call"
ADDRESS = re.compile(r" (at host access )?(to )?0x[0-9a-f]{6,}")


def main(arguments):
    parser = argparse.ArgumentParser(prog="nvidia_tools.sanitize")
    parser.add_argument("--tool", required=True)
    parser.add_argument("--toolkit", default="")
    parser.add_argument("--library", action="append", default=[])
    parser.add_argument("command", nargs="+")
    options = parser.parse_args(arguments)
    try:
        sanitizer = common.find_tool("compute-sanitizer", options.toolkit)
        common.require_gpu()
    except Problem as problem:
        print(problem.text("SKIPPED"))
        return common.SKIPPED
    try:
        names = kernel_names(options.library)
    except Problem as error:
        print(error.text(options.tool), file=sys.stderr)
        return 1
    if options.library and names == []:
        return _skip("%s holds no kernel" % ", ".join(map(os.path.basename, options.library)))
    if options.tool == "initcheck":
        names = None
    command = [sanitizer, "--tool", options.tool, "--error-exitcode", str(FOUND), "--target-processes", "all"]
    if names:
        option = _filter_option(sanitizer)
        command += [word for part in _name_parts(names) for word in (option, "kns=" + part)]
    code, text = _run(command + options.command, options.tool)
    if re.search(r"^\[==========\] Running 0 tests", text, re.MULTILINE):
        return _skip("no test of the program has Gpu or GPU in its name")
    for line in summary(text):
        print("%s: %s" % (options.tool, line))
    if NOTHING_SEEN in text:
        problem = Problem(
            options.tool,
            "nothing was checked: the tool saw no call of CUDA.",
            ["found   %s" % sanitizer, "in      %s" % shlex.join(options.command)],
            [
                "where the test uses no GPU, the word cpu in its name: my_ops.cpu",
                "where it uses one, another compute-sanitizer: " + ", ".join(common.SOURCES["compute-sanitizer"]),
            ],
        )
        print(problem.text(), file=sys.stderr)
        return code or FOUND
    return code


def kernel_names(libraries):
    """The mangled names of their kernels; None where some of them aren't compiled yet (PTX). Raises Problem."""
    names, notes = set(), []
    for library in libraries:
        names.update(kernel.mangled for kernel in read_library(library, notes))
    return None if notes else sorted(names)


def _skip(reason):
    print("SKIPPED: " + reason)
    return common.SKIPPED


def _name_parts(names):
    """What the names of all kernels contain: their namespace where they have one in common, else the names."""
    mangled = [name for name in names if name.startswith("_Z")]
    common = os.path.commonprefix(mangled)
    named = re.match(r"_ZN?(\d+)([A-Za-z_]\w*)", common)
    if len(mangled) > 1 and named and len(named.group(2)) >= int(named.group(1)):
        mangled = [common[: named.start(2) + int(named.group(1))]]
    return mangled + [name for name in names if not name.startswith("_Z")]


def _filter_option(sanitizer):
    """--kernel-name was --kernel-regex before 2023."""
    shown = subprocess.run([sanitizer, "--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    return "--kernel-name" if "--kernel-name" in shown else "--kernel-regex"


def _run(command, tool):
    """(exit code, output, which is also shown as it comes)"""
    # Each tensor is an allocation of its own: an access beyond its end is then one beyond an allocation. So is, by the name of
    # the tool, what cudaops/testing.h allocates.
    environment = dict(os.environ, PYTORCH_NO_CUDA_MEMORY_CACHING="1", CUDAOPS_SANITIZER_TOOL=tool)
    for name in ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"):
        if name in environment:
            environment[name] = environment[name].replace("expandable_segments:True", "expandable_segments:False")
    lines = []
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
        for line in child.stdout:
            line = line.decode("utf-8", "replace")
            sys.stdout.write(line)
            sys.stdout.flush()
            lines.append(line)
    return child.returncode, "".join(lines)


def summary(text):
    """What the tool found: ["Invalid __global__ write of size 4 bytes at scale(float *)+0x70 in scale.cu:12 (32 times)"]"""
    found, head = {}, ""
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        line = match.group("text")
        race, entry = RACE.search(line), ""
        if race:
            entry = "%s between %s" % (race.group("what"), race.group("place"))
        elif head and re.match(r"\s+at \S", line):
            place = re.sub(r"^\s+at ", "", line)
            old = OLD_PLACE.match(place)
            entry = "%s at %s" % (head, "%s in %s" % (old.group("kernel"), old.group("file")) if old else place)
        elif head and re.search(r"error\b", head) and re.match(r"\s{4,}\S", line):
            detail = "" if "host backtrace" in line else ": " + line.strip()
            entry = ADDRESS.sub("", head.rstrip(".") + detail)
        head = line.strip() if re.match(r" [A-Z]\S* ", line) and not race else ""
        if entry:
            found[entry] = found.get(entry, 0) + 1
    return [entry + (" (%d times)" % count if count > 1 else "") for entry, count in found.items()]

# SPDX-License-Identifier: Apache-2.0
"""The PTX or the machine code of a target's .cu files, as text with the lines of the source: its targets <name>.ptx and
<name>.sass.

usage: _run.py nvidia_tools.machine_code --kind ptx|sass --build <dir> --name <target> [--toolkit <dir>] <object>...

Each file is compiled as the build compiles it, for one architecture at a time; line numbers leave the machine code as it is.
Files go to <build>/<target>.<kind>/, one for each source and architecture. All of them are written, or none.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

from ..build_jobs import GENERATE_CODE
from ..ninja_log import Ninja
from ..problem import Problem, not_written
from ..words import read_text
from . import common

# What CMake writes before the path of a source of the project's.
OBJECT = re.compile(r"(?:^|/)CMakeFiles/[^/]+\.dir/(?:[A-Z]\w*/)?(.+)\.o(?:bj)?$")
# Options before the source, and what becomes of them.
COMPILE = {"-c": [], "-dc": ["-rdc=true"]}
# Lines of the source, as nvdisasm and PTX name them.
LINE = re.compile(r'^\s*//## File "([^"]+)", line (\d+)')
FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]+)"', re.MULTILINE)
PLACE = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")


def main(arguments):
    parser = argparse.ArgumentParser(prog="nvidia_tools.machine_code")
    parser.add_argument("--kind", choices=("ptx", "sass"), required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--toolkit", default="")
    parser.add_argument("objects", nargs="*")
    options = parser.parse_args(arguments)
    target = "%s.%s" % (options.name, options.kind)
    try:
        written, place = write(options, target)
    except Problem as problem:
        print(problem.text(target), file=sys.stderr)
        return 1
    print("%s: %d file%s in %s" % (target, len(written), "s" * (len(written) != 1), place))
    for name in written:
        print("  " + name)
    return 0


class Step:
    """One source for one architecture."""

    def __init__(self, name, words, source, directory):
        self.name, self.words, self.source, self.directory = name, words, source, directory


def write(options, target):
    """(names of the files, their directory)"""
    disassembler = ""
    if options.kind == "sass":
        disassembler = common.find_tool("nvdisasm", options.toolkit)
    compiles = list(read_compiles(options.build, options.objects))
    steps = [step for compiled in compiles for step in steps_of(compiled, options.kind)]
    if not steps:
        raise Problem(
            "",
            "there is no machine code: the architectures are virtual." if compiles else "nvcc compiles nothing of it.",
            ["found   %s" % (", ".join(compiled.name for compiled in compiles) or "no .cu file"), "in      %s" % options.build],
            ["-DCMAKE_CUDA_ARCHITECTURES=<arch>-real" if compiles else "a target with .cu files"],
        )
    with tempfile.TemporaryDirectory() as scratch:
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            texts = list(pool.map(lambda step: text_of(step, disassembler, scratch), steps))
    place = os.path.join(options.build, target)
    try:
        for step, text in zip(steps, texts):
            path = os.path.join(place, step.name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
    except OSError as error:
        raise not_written(place, error) from None
    names = [step.name for step in steps]
    # Of sources and architectures that are gone.
    for directory, _, files in os.walk(place):
        for file in files:
            path = os.path.join(directory, file)
            if os.path.relpath(path, place) not in names and file.endswith("." + options.kind):
                os.remove(path)
    return names, place


def read_compiles(build, objects):
    """A Step with nvcc's own words for each .cu among the objects."""
    commands = {}
    objects = sorted(map(os.path.normpath, objects))
    if os.path.exists(os.path.join(build, "build.ninja")):
        ninja = Ninja(build)
        for path in objects:
            edge = ninja.by_output.get(os.path.relpath(path, build)) or ninja.by_output.get(path)
            if edge:
                commands[path] = ninja.value(edge, "command"), build
    elif os.path.exists(os.path.join(build, "compile_commands.json")):
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
            for entry in json.load(file):
                words = shlex.split(entry["command"])
                output = words[words.index("-o") + 1] if "-o" in words else ""
                path = os.path.normpath(os.path.join(entry["directory"], output))
                commands[path] = entry["command"], entry["directory"]
    else:
        raise Problem(
            "",
            "the compile commands of this build directory aren't known.",
            ["wanted  Ninja, or compile_commands.json", "in      %s" % build],
            ["-G Ninja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"],
        )
    for path in objects:
        command, directory = commands.get(path, ("", ""))
        match = OBJECT.search(path)
        # CUDA_CUBINS: a file for each architecture, and one that stands for all of them.
        if not match or re.search(r"/CudaOps/cubins/.*\.compute_\w+\.cu\.o", path):
            continue
        words, source = compiler_words(command)
        if source.endswith(".cu"):
            yield Step(source_name(match.group(1), os.path.join(directory, source)), words, source, directory)


def compiler_words(command):
    """(nvcc's words without launcher, source, outputs and dependency file; the source); another compiler: ([], "")"""
    words = shlex.split(command)
    start = next((i for i, word in enumerate(words) if os.path.basename(word) == "nvcc"), None)
    if start is None:
        return [], ""
    kept, source, option = [], "", ""
    for word in words[start:]:
        if option:
            source = word if option in COMPILE else source
            option = ""
        elif word in ("-MT", "-MF", "-MQ", "-o", *COMPILE):
            option = word
            kept += COMPILE.get(word, [])
        elif word not in ("-MD", "-MMD", "-MP"):
            kept.append(word)
    return kept, source


def source_name(name, source):
    """csrc/scale.cu: what is compiled, below its project."""
    if "CudaOps/cubins/" in name:
        # A file that includes the one that it stands for.
        name = os.path.basename(re.search(r'#include "(.+)"', read_text(source)).group(1))
    return name.replace("__/", "")


def steps_of(compiled, kind):
    plain = [word for word in compiled.words if not GENERATE_CODE.match(word)]
    codes = {}
    for match in GENERATE_CODE.finditer(" ".join(compiled.words)):
        for code in match.group(2).split(","):
            if kind == "ptx":
                codes[match.group(1)] = match.group(1)
            elif code.startswith("sm_"):
                codes[code] = match.group(1)
    # Not --source-in-ptx: nvcc then refuses sources and paths with a character outside ASCII.
    how = ["-ptx"] if kind == "ptx" else ["-cubin"]
    if "-G" not in plain and "-lineinfo" not in plain:
        how.append("-lineinfo")
    for code, virtual in sorted(codes.items()):
        words = [*plain, *how, "--generate-code=arch=%s,code=%s" % (virtual, code)]
        name = "%s.%s.%s" % (compiled.name[: -len(".cu")], code, kind)
        yield Step(name, words, compiled.source, compiled.directory)


def text_of(step, disassembler, scratch):
    output = os.path.join(scratch, step.name.replace("/", "_"))
    call([*step.words, step.source, "-o", output], step)
    if not disassembler:
        return ptx_with_source(read_text(output))
    return sass_with_source(call([disassembler, "-g", "-c", output], step))


def call(words, step):
    """stdout; raises Problem where it fails, with the first lines of what it said."""
    try:
        done = subprocess.run(words, cwd=step.directory, stdin=subprocess.DEVNULL, capture_output=True)
    except OSError as error:
        raise Problem("", "%s can't be run: %s." % (words[0], error.strerror)) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").splitlines()
        raise Problem("", "%s failed for %s." % (os.path.basename(words[0]), step.name), said[:5], ["the command: " + shlex.join(words)])
    return done.stdout.decode("utf-8", "surrogateescape")


class Sources:
    """Lines of source files, each read once."""

    def __init__(self):
        self.files = {}

    def line(self, path, number):
        """None where there is no such file or line."""
        if path not in self.files:
            self.files[path] = read_text(path).splitlines() if os.path.isfile(path) else []
        lines = self.files[path]
        return lines[number - 1].strip() if 0 < number <= len(lines) else None


def sass_with_source(text):
    """The text of nvdisasm with each line of the source that it names."""
    sources, lines = Sources(), []
    for line in text.splitlines():
        match = LINE.match(line)
        source = sources.line(match.group(1), int(match.group(2))) if match else None
        lines.append(line if source is None else line + ": " + source)
    return "\n".join(lines) + "\n"


def ptx_with_source(text):
    """PTX with a comment for each line of the source that it comes from: //scale.cu:4 out[i] *= 2;"""
    paths = {number: unescaped(path) for number, path in FILE.findall(text)}
    sources, lines = Sources(), []
    for line in text.splitlines():
        match = PLACE.match(line)
        path, number = (paths.get(match.group(1), ""), int(match.group(2))) if match else ("", 0)
        source = sources.line(path, number)
        if source is not None:
            lines.append("//%s:%d %s" % (os.path.basename(path), number, source))
        lines.append(line)
    return "\n".join(lines) + "\n"


def unescaped(path):
    """A path of a .file directive, which has bytes outside ASCII as \\303\\251."""
    return os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda match: bytes([int(match.group(1), 8)]), os.fsencode(path)))

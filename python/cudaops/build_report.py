# SPDX-License-Identifier: Apache-2.0
"""Says where the time of a build went: a page to look at, the same as JSON, and the three dearest facts.

usage: build_report.py [options] <build directory>

  --output <file.html>   where the page goes; default <build directory>/cudaops-build-report.html, the JSON beside it
  --measure-headers      compiles the dearest headers alone, one at a time, so that their cost is known in seconds
  --header-seconds <n>   how long that may take; default 120

What the figures mean:

  seconds     from ninja's log: how long the job held its slot when its output was last made, other jobs beside it
  share       of the seconds of all jobs
  bytes       of a header: those of it and of all that it is the first to include, in the order of the dependency
              file, added up over the files that include it. What compilers read; no seconds follow from it.
  seconds of a header (--measure-headers)
              compiling a file that includes nothing else, less compiling an empty file, both with the command of one of
              the files that include it; no more than the processor worked for it. In all: times the files that include
              it. What two headers both include counts in each.
  phases, memory, cache
              of targets that were traced (CUDAOPS_BUILD_TRACE, CudaOpsReport.cmake); memory of .cu files also where it
              is short, because it is measured there for the number of jobs; empty elsewhere

Read are .ninja_log (formats 5 to 7), .ninja_deps (3 and 4) or depfiles, build.ninja, and of CudaOps' own
cudaops-report.json and CudaOps/trace. Nothing but the two files is written, except in a temporary directory.

Exit code: 0; 1 with one sentence on stderr where there is nothing to report on; 2 for a wrong call.
Python 3.8 or later, standard library only.
"""

import argparse
import array
import csv
import hashlib
import html
import json
import os
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

FORMAT = 1
LOG_VERSIONS = (5, 6, 7)
# Fewer are noise: the timer of ninja's log is in milliseconds, and a build's first second is CMake's.
WORTH_SECONDS = 1.0
MEASURED_HEADERS = 15


class Problem(Exception):
    """One sentence, then facts and cures, as all messages of CudaOps."""

    def __init__(self, sentence, facts=(), fix=()):
        text = "cudaops_build_report: " + sentence
        for fact in facts:
            text += "\n  " + fact
        lead = " Fix: "
        for line in fix:
            text += "\n" + lead + line
            lead = "      "
        super().__init__(text)


def read_text(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


# ---------------------------------------------------------------------------------------------------- ninja's files


class Entry:
    """A line of ninja's log: start and end in seconds since the start of its ninja; `made`, a time of day."""

    __slots__ = ("start", "end", "made", "output", "hash")

    def __init__(self, start, end, made, output, command):
        self.start, self.end, self.made, self.output, self.hash = start, end, made, output, command


def read_log(path):
    """The last line of each output, in the order of the file, and what was wrong with the others."""
    text = read_text(path)
    match = re.match(r"# ninja log v(\d+)\n", text)
    if not match:
        raise Problem(
            "this is not a log of ninja's.",
            ["found   %s, which begins with %r" % (path, text[:30])],
            ["remove it and build again"],
        )
    if int(match.group(1)) not in LOG_VERSIONS:
        raise Problem(
            "the format of this ninja log is not known.",
            [
                "found   version %s in %s" % (match.group(1), path),
                "wanted  %d to %d" % (LOG_VERSIONS[0], LOG_VERSIONS[-1]),
            ],
            ["another release of ninja, then build again"],
        )
    last, bad = {}, 0
    for line in text.split("\n")[1:]:
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        try:
            start, end, made = (int(field) for field in fields[:3])
            output, command = fields[3], fields[4]
            if not output or not command or end < start:
                raise ValueError
        except (ValueError, IndexError):
            bad += 1
            continue
        last.pop(output, None)
        last[output] = Entry(start / 1e3, end / 1e3, made / 1e9 if made > 1e14 else float(made), output, command)
    notes = []
    if bad:
        notes.append("%s of ninja's log can't be read (a build that was killed?) and left out." % count(bad, "line"))
    return list(last.values()), int(match.group(1)), notes


def group(entries, origin_of):
    """[[start of ninja, its end, [Entry]]]: two runs never overlap in a build directory."""
    runs = []
    for entry in sorted(entries, key=origin_of):
        origin = origin_of(entry)
        if not runs or (origin > runs[-1][0] + 0.05 and origin > runs[-1][1] - 0.02):
            runs.append([origin, 0.0, []])
        runs[-1][1] = max(runs[-1][1], runs[-1][0] + entry.end)
        runs[-1][2].append(entry)
    return runs


def split_builds(entries, late):
    """[(start of ninja, [Entry])], one for each run of ninja, in the order of the runs.

    A line holds times since the start of its ninja, and a time of day: when the output was written (ninja 1.11 and
    before), or when the job began (after). The difference is the start of that ninja; which of the two it is shows in
    how well the lines agree. `late`: outputs whose time of day can be older (restat, generator); they go to the run
    that they fit, or to that of their neighbour in the log. Without times of day a run ends where the times go back.
    """
    sure = [entry for entry in entries if entry.made and entry.output not in late]
    if 2 * len(sure) < len([entry for entry in entries if entry.output not in late]) or not sure:
        runs, end = [], 0.0
        for entry in entries:
            if not runs or entry.end < end:
                runs.append([])
            runs[-1].append(entry)
            end = entry.end
        return [(0.0, run) for run in runs]
    choices = []
    for origin_of in (lambda entry: entry.made - entry.start, lambda entry: entry.made - entry.end):
        runs = group(sure, origin_of)
        choices.append((len(runs), sum(origin_of(run[2][-1]) - run[0] for run in runs), len(choices), runs))
    runs = min(choices, key=lambda choice: choice[:3])[3]
    run_of = {entry.output: run for run in runs for entry in run[2]}
    # A time of day is never later than the job's end: what is later than every run's is of a run of its own.
    alone = []
    for entry in entries:
        if entry.output in run_of or not entry.made:
            continue
        possible = [run for run in runs if run[0] >= entry.made - entry.end - 0.3]
        fitting = [run for run in possible if run[0] <= entry.made - entry.start + 0.3]
        if not possible:
            alone.append(entry)
        elif fitting:
            run_of[entry.output] = fitting[0]
            fitting[0][2].append(entry)
    for run in group(alone, lambda entry: entry.made - entry.end):
        runs.append(run)
        run_of.update((entry.output, run) for entry in run[2])
    neighbour = runs[0]
    for entry in entries:
        if entry.output in run_of:
            neighbour = run_of[entry.output]
        else:
            neighbour[2].append(entry)
    return [(run[0], run[2]) for run in runs]


class Deps:
    """.ninja_deps: the inputs that compilers named, as numbers in `paths`."""

    def __init__(self):
        self.paths, self.records, self.notes = [], {}, []
        self.numbers = {}

    def of(self, output):
        return self.records.get(output)

    def add(self, output, paths):
        ids = array.array("I")
        for path in paths:
            if path not in self.numbers:
                self.numbers[path] = len(self.paths)
                self.paths.append(path)
            ids.append(self.numbers[path])
        self.records[output] = ids


def read_deps(path):
    deps = Deps()
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return deps
    except OSError as error:
        deps.notes.append("Headers are unknown: %s: %s." % (path, error.strerror))
        return deps
    magic = b"# ninjadeps\n"
    version = struct.unpack_from("<i", data, len(magic))[0] if len(data) >= len(magic) + 4 else 0
    if not data.startswith(magic) or version not in (3, 4):
        deps.notes.append("Headers are unknown: %s has a format that is not known (version %d)." % (path, version))
        return deps
    position = len(magic) + 4
    head = 8 if version == 3 else 12
    last = {}
    while position + 4 <= len(data):
        size = struct.unpack_from("<I", data, position)[0]
        is_deps, size = size >> 31, size & 0x7FFFFFFF
        position += 4
        if position + size > len(data) or size % 4 or size < (head if is_deps else 8):
            deps.notes.append("The end of .ninja_deps can't be read (a build that was killed?); it is left out.")
            break
        if is_deps:
            last[struct.unpack_from("<i", data, position)[0]] = (position + head, size - head)
        else:
            deps.paths.append(data[position : position + size - 4].rstrip(b"\0").decode("utf-8", "surrogateescape"))
        position += size
    for output, (begin, size) in last.items():
        ids = array.array("I")
        ids.frombytes(data[begin : begin + size])
        if sys.byteorder != "little":
            ids.byteswap()
        if 0 <= output < len(deps.paths) and (not ids or max(ids) < len(deps.paths)):
            deps.records[deps.paths[output]] = ids
    deps.numbers = {path: number for number, path in enumerate(deps.paths)}
    return deps


def read_depfile(text):
    text = re.sub(r"\\\r?\n", " ", text).partition(": ")[2].partition("\n")[0]
    words = re.findall(r"(?:\\[ #\\]|\$\$|[^\s\\]|\\(?![ #\\]))+", text)
    return [re.sub(r"\\([ #\\])", r"\1", word).replace("$$", "$") for word in words]


class Edge:
    __slots__ = ("outputs", "rule", "inputs", "values")

    def __init__(self, outputs, rule, inputs):
        self.outputs, self.rule, self.inputs, self.values = outputs, rule, inputs, {}


class Ninja:
    """What of build.ninja and the files that it includes matters here."""

    PATH = re.compile(r"(?:\$.|[^\s$|])+|\|+@?")
    VARIABLE = re.compile(r"\$(?:([ :$])|\{([A-Za-z0-9_.-]+)\}|([A-Za-z0-9_-]+))")

    def __init__(self, directory):
        self.directory = directory
        self.globals, self.rules, self.edges, self.by_output = {}, {}, [], {}
        self.seen = set()
        self.read("build.ninja")
        # Ninja Multi-Config: the configurations that are not the default.
        for name in sorted(os.listdir(directory)):
            if re.fullmatch(r"build-\w+\.ninja", name):
                self.read(name)

    def expand(self, text, *scopes):
        if "$" not in text:
            return text

        def value(match):
            if match.group(1):
                return match.group(1)
            name = match.group(2) or match.group(3)
            for scope in scopes:
                if name in scope:
                    return self.expand(scope[name], *scopes)
            return self.globals.get(name, "")

        return self.VARIABLE.sub(value, text)

    def read(self, name):
        path = os.path.join(self.directory, name)
        if path in self.seen:
            return
        self.seen.add(path)
        block = None
        for line in re.sub(r"(?<!\$)((?:\$\$)*)\$\r?\n[ ]*", r"\1", read_text(path)).split("\n"):
            if not line or line.startswith("#"):
                continue
            if line[0] == " ":
                # A blank at the end counts: CMake's LAUNCHER stands before the compiler with nothing between.
                name, equals, value = line.partition("=")
                if block is not None and equals:
                    block[name.strip()] = value.lstrip()
                continue
            word, _, rest = line.partition(" ")
            block = None
            if word == "build":
                edge = self.edge(rest)
                if edge:
                    block = edge.values
            elif word == "rule":
                block = self.rules.setdefault(rest.strip(), {})
            elif word == "pool":
                block = {}
            elif word in ("include", "subninja"):
                try:
                    self.read(self.expand(rest.strip()))
                except OSError:
                    pass
            elif "=" in line:
                name, _, value = line.partition("=")
                self.globals[name.strip()] = self.expand(value.strip())

    def edge(self, text):
        match = re.match(r"((?:\$.|[^$:])*):\s*(\S+)", text)
        if not match:
            return None
        outputs = [self.expand(word) for word in self.PATH.findall(match.group(1)) if word[0] != "|"]
        inputs = []
        for word in self.PATH.findall(text[match.end() :]):
            if word[0] == "|":
                break
            inputs.append(self.expand(word))
        edge = Edge(outputs, match.group(2), inputs)
        if edge.rule != "phony":
            self.edges.append(edge)
            for output in outputs:
                self.by_output.setdefault(output, edge)
        return edge

    def value(self, edge, name):
        """A variable of the edge or of its rule, all of it said out."""
        word = quote if name == "command" else str
        special = {"in": " ".join(map(word, edge.inputs)), "out": " ".join(map(word, edge.outputs))}
        text = edge.values.get(name, self.rules.get(edge.rule, {}).get(name, ""))
        return self.expand(text, edge.values, special)


def quote(path):
    return shlex.quote(path) if re.search(r"[^\w@%+=:,./-]", path) else path


# ------------------------------------------------------------------------------------------------ what a job is


RULE = re.compile(r"^(ASM\w*|C|CXX|CUDA|HIP|Fortran|OBJCXX?|ISPC)_(COMPILER|SCAN|DYNDEP|\w*LINK\w*)__(.*)$")
LANGUAGES = {
    ".cu": "CUDA", ".hip": "HIP", ".cpp": "CXX", ".cc": "CXX", ".cxx": "CXX", ".c++": "CXX", ".C": "CXX", ".c": "C",
}  # fmt: skip
# No part of the build: this report, and CMake's test, install, edit_cache ...; CMake's own runs neither.
NO_WORK = re.compile(r"(^|/)CMakeFiles/(cudaops_build_report(-\w+)?|[^/]+\.util)$")
COMPILERS = re.compile(r"(?:nvcc|hipcc|icpx|(?:[\w.]+-)*(?:g\+\+|gcc|c\+\+|cc|clang\+\+|clang))(?:-[\d.]+)?")


class Job:
    def __init__(self, entry, edge):
        self.outputs = [entry.output]
        self.start, self.end, self.began = entry.start, entry.end, None
        self.edge = edge
        self.build, self.slot, self.alone = 0, 0, 0.0
        self.kind, self.language, self.target, self.source = "other", "", "", ""
        # What the command compiles and what it stands for differ in the steps of CUDA_CUBINS.
        self.input, self.step = "", ""
        self.architectures, self.threads, self.command = [], None, ""
        self.phases, self.memory, self.cpu, self.cache = [], None, None, None

    @property
    def seconds(self):
        return self.end - self.start

    @property
    def name(self):
        name = self.source if self.kind == "compile" and self.source else self.outputs[0]
        return "%s (%s)" % (name, self.step) if self.step else name


def describe(job, ninja):
    """Kind, language, target, source, architectures and --threads, from the edge that makes the output."""
    edge = job.edge
    if edge is None:
        return
    if edge.inputs:
        job.source = job.input = edge.inputs[0]
    match = RULE.match(edge.rule)
    job.command = ninja.value(edge, "command")
    if match:
        job.language = match.group(1)
        job.target = re.sub(r"(?:_unscanned|_scanned)?_[^_]*$", "", match.group(3))
        what = match.group(2)
        if what == "COMPILER":
            job.kind = "compile"
        elif what in ("SCAN", "DYNDEP"):
            job.kind = "scan"
        elif "STATIC" in what:
            job.kind = "archive"
        else:
            job.kind = "link"
    elif edge.rule == "CUSTOM_COMMAND":
        job.kind = "command"
    else:
        ending = os.path.splitext(job.source)[1]
        if ending in LANGUAGES and job.outputs[0].endswith((".o", ".obj")):
            job.kind, job.language = "compile", LANGUAGES[ending]
        elif job.outputs[0].endswith(".a"):
            job.kind = "archive"
        elif job.source.endswith((".o", ".obj")):
            job.kind = "link"
    if job.kind == "compile":
        describe_cubins(job, ninja.directory)
        job.architectures, job.virtual = architectures(job.command, job.step)
        match = re.search(r"(?:^|\s)(?:--threads|-t)(?:=|\s+)(\d+)", job.command)
        job.threads = int(match.group(1)) if match else None


HOST_STEP = "host code"


def describe_cubins(job, directory):
    """A step of CUDA_CUBINS compiles one architecture, or the host's part, of a source that only its launcher knows."""
    if "/CudaOps/cubins/" not in job.command:
        return
    try:
        words = shlex.split(job.command)
    except ValueError:
        return
    at = next((i for i, word in enumerate(words[:-2]) if os.path.basename(word) == "cudaops-launch"), None)
    step = re.fullmatch(r"(\w+)(?:\.(compute_\w+))?\.cu", os.path.basename(job.input))
    if at is None or not step:
        return
    settings = [line.split("\t", 1) for line in file_text(words[at + 1]).splitlines() if "\t" in line]
    names, paths = ([value for key, value in settings if key == wanted] for wanted in ("source_name", "source_path"))
    table = dict(zip(names, paths))
    if step.group(1) in table:
        # Where it lies in the build tree its path is relative to that.
        job.source = os.path.normpath(os.path.join(directory, table[step.group(1)]))
        job.step = step.group(2) or HOST_STEP


GENERATE_CODE = re.compile(r"(?:--generate-code|-gencode)[= ]\"?arch=(compute_\w+),code=\[?([\w,]+)")


def architectures(command, step):
    """(sm_90a, compute_120, gfx942 ..., how many times the device code is compiled)"""
    held, virtual = [], []
    for match in GENERATE_CODE.finditer(command):
        if step and match.group(1) != step:
            continue
        virtual.append(match.group(1))
        held += [name for name in match.group(2).split(",") if name]
    for match in re.finditer(r"(?:--gpu-architecture|-arch)[= ](\w+)", command):
        held.append(match.group(1))
    held += re.findall(r"--offload-arch=(\S+)", command)
    return list(dict.fromkeys(held)), len(set(virtual)) or len(set(held))


def make_jobs(builds, ninja):
    """One job for all the outputs of an edge. Outputs that the build makes no longer are counted only."""
    jobs, gone = [], 0
    kept = []
    for origin, entries in builds:
        here = {}
        for entry in entries:
            edge = ninja.by_output.get(entry.output)
            if edge is None and ninja.edges:
                gone += 1
                continue
            if NO_WORK.search(entry.output) or edge and edge.rule in ("RERUN_CMAKE", "VERIFY_GLOBS"):
                continue
            key = id(edge) if edge else (entry.start, entry.end, entry.hash)
            if key in here:
                here[key].outputs.append(entry.output)
                continue
            job = here[key] = Job(entry, edge)
            job.build = len(kept)
            job.began = origin + job.start if origin else None
            describe(job, ninja)
        if here:
            kept.append((origin, list(here.values())))
            jobs += here.values()
    return jobs, kept, gone


def lay_out(jobs):
    """Slots as ninja could have used them, and the time in which a job was the only one. Returns the slots used."""
    ends = []
    for job in sorted(jobs, key=lambda job: (job.start, job.end)):
        for slot, end in enumerate(ends):
            if end <= job.start + 1e-9:
                break
        else:
            slot = len(ends)
            ends.append(0.0)
        job.slot, ends[slot] = slot, job.end
    events = sorted([(job.start, 1, job) for job in jobs] + [(job.end, 0, job) for job in jobs], key=lambda e: e[:2])
    running, before = set(), 0.0
    for moment, starts, job in events:
        if len(running) == 1:
            next(iter(running)).alone += moment - before
        before = moment
        (running.add if starts else running.discard)(job)
    return len(ends)


# ---------------------------------------------------------------------------------------------------------- traces


def add_traces(jobs, directory, notes):
    """What cudaops-launch left: memory, processor time, the cache's answer, nvcc's phases."""
    folder = os.path.join(directory, "CudaOps", "trace")
    if not os.path.isdir(folder):
        return
    bad = 0
    for job in jobs:
        if job.kind != "compile":
            continue
        path = os.path.join(directory, job.outputs[0])
        base = os.path.join(folder, hashlib.sha1(os.path.realpath(path).encode("utf-8", "replace")).hexdigest()[:20])
        try:
            record = json.loads(read_text(base + ".json"))
            # One of a compile before, by a build that wasn't traced any more.
            if job.began and abs(record["started_ns"] / 1e9 - job.began) > 5:
                continue
            job.memory, job.cpu = int(record["peak_memory_bytes"]), float(record["cpu_seconds"])
            cache = record.get("cache")
            job.cache = {"result": str(cache["result"]), "reason": str(cache["reason"])} if cache else None
        except FileNotFoundError:
            continue
        except (OSError, ValueError, KeyError, TypeError):
            bad += 1
            continue
        try:
            job.phases = read_phases(read_text(base + ".csv"))
        except FileNotFoundError:
            pass
        except (OSError, ValueError, IndexError):
            bad += 1
    if bad:
        notes.append("%s of CudaOps/trace can't be read and left out." % count(bad, "file"))


def add_cache_log(jobs, directory):
    """What cudaops-launch noted, which it does in every build: result, what the shared cache did, time, reason
    and object, a compile a line, the last of an object counts. A trace knows more of why there was no entry."""
    found = {}
    for name in ("compiles", "log"):
        for line in file_text(os.path.join(directory, "CudaOps", "cache", name)).splitlines():
            fields = line.split("\t")
            if len(fields) == 5:
                found[os.path.normpath(os.path.join(directory, fields[4]))] = fields
    for job in jobs:
        # The compiler of an architecture's step writes a file of its own, which that of the object reads.
        part = ".part" if job.step and job.step != HOST_STEP else ""
        made = os.path.normpath(os.path.join(directory, job.outputs[0] + part))
        fields = found.get(made) if job.kind == "compile" else None
        if not fields or job.cache or fields[0] not in ("hit", "miss", "not cached"):
            continue
        reason = fields[3]
        if fields[0] == "hit" and fields[1] == "hit":
            reason = "from the shared cache"
        elif fields[0] == "miss" and not reason:
            reason = "no entry for these files and flags; CUDAOPS_BUILD_TRACE=ON tells what is new"
        if fields[0] != "hit" and fields[1] in ("failed", "left out"):
            reason = (
                ("%s; " % reason if reason else "")
                + "the shared cache "
                + ("failed" if fields[1] == "failed" else "was left out")
            )
        job.cache = {"result": fields[0], "reason": reason}


def add_memory(jobs, directory):
    """What accelerate/jobs.cmake measured where memory is short: lines of KiB and source, the last of a source counts."""
    text = file_text(os.path.join(directory, "CudaOps", "jobs", "memory"))
    sizes = {}
    for size, source in re.findall(r"^(\d+) (.+)$", text, re.M):
        # Smaller than a compiler: a cache that had the object.
        if int(size) > 65536:
            sizes[os.path.normpath(os.path.join(directory, source))] = int(size) * 1024
    for job in jobs:
        if job.kind == "compile" and job.memory is None:
            job.memory = sizes.get(os.path.normpath(os.path.join(directory, job.input)))


def read_phases(text):
    """[{"phase", "architecture", "seconds"}] of nvcc's --time."""
    phases = []
    for row in csv.reader(text.splitlines()):
        cells = [cell.strip() for cell in row]
        if len(cells) < 8 or cells[1] == "phase name":
            continue
        # source, phase, inputs, output, arch, tool, metric, unit. File names may hold commas; the last four don't.
        arch, metric, unit = cells[-4], float(cells[-2]), cells[-1]
        seconds = metric / {"ms": 1e3, "s": 1.0, "us": 1e6}[unit] if unit in ("ms", "s", "us") else 0.0
        phase = next(
            (
                cell
                for cell in cells[:-4]
                if re.match(r"(gcc|cl|nvcc|host) \(|cudafe|cicc|ptxas|fatbinary|nvlink", cell)
            ),
            cells[1],
        )
        phases.append({"phase": phase, "architecture": arch, "seconds": round(seconds, 4)})
    return phases


# --------------------------------------------------------------------------------------------------------- headers


class Include:
    """A header as one file includes it: where that is written, and the bytes that come with it."""

    __slots__ = ("header", "at", "line", "spelled", "bytes", "own")

    def __init__(self, header, at, line, spelled, size, own):
        self.header, self.at, self.line, self.spelled, self.bytes, self.own = header, at, line, spelled, size, own


class Headers:
    LINE = re.compile(r'^[ \t]*#[ \t]*include(?:_next)?[ \t]*([<"])([^>"\n]+)[>"]', re.M)
    COMMENT = re.compile(r"/\*.*?\*/", re.S)

    def __init__(self, deps, directory, source_root):
        self.deps, self.directory, self.root = deps, directory, source_root
        self.sizes = [None] * len(deps.paths)
        self.by_name = {}
        for number, path in enumerate(deps.paths):
            self.by_name.setdefault(os.path.basename(path), []).append(number)
        self.texts, self.own, self.named, self.nested = {}, {}, {}, {}

    def path(self, number):
        return os.path.normpath(os.path.join(self.directory, self.deps.paths[number]))

    def size(self, number):
        if self.sizes[number] is None:
            try:
                self.sizes[number] = os.stat(self.path(number)).st_size
            except OSError:
                self.sizes[number] = 0
        return self.sizes[number]

    def is_own(self, path):
        """Written for this project: its includes are looked at, and an advice can name its lines."""
        if path not in self.own:
            inside = any(path.startswith(root + os.sep) for root in (self.root, self.directory) if root)
            foreign = re.search(r"/(site-packages|dist-packages|_deps|third_party|CudaOps/links)/", path)
            self.own[path] = bool(inside and not foreign)
        return self.own[path]

    def includes(self, path):
        """[(line, text between the brackets, quoted)]"""
        if path not in self.texts:
            try:
                text = read_text(path)
            except OSError:
                text = ""
            text = self.COMMENT.sub(lambda match: "\n" * match.group(0).count("\n"), text)
            self.texts[path] = [
                (text.count("\n", 0, match.start(1)) + 1, match.group(2).strip(), match.group(1) == '"')
                for match in self.LINE.finditer(text)
            ]
        return self.texts[path]

    def mentions(self, number):
        """The file names in a header's include lines."""
        if number not in self.named:
            self.named[number] = frozenset(
                os.path.basename(spelled) for _, spelled, _ in self.includes(self.path(number))
            )
        return self.named[number]

    def came_with(self, ids, before, spot):
        """Whether one of the headers since `before` includes that of `spot`."""
        key = (ids[before], ids[spot[0] - 1], spot[1])
        if key not in self.nested:
            name = os.path.basename(self.deps.paths[spot[1]])
            self.nested[key] = any(name in self.mentions(number) for number in ids[before : spot[0]])
        return self.nested[key]

    def usages(self, job):
        """([Include], bytes of all that the compiler read). The project's headers count with what they include."""
        ids = self.deps.of(job.outputs[0])
        if not ids:
            return [], 0
        sizes = [self.size(number) for number in ids]
        source = os.path.normpath(os.path.join(self.directory, job.source))
        found = []
        self.walk(source, ids, sizes, 0, len(ids), found, {source})
        return found, sum(sizes)

    def walk(self, path, ids, sizes, begin, end, found, above):
        spots = []
        for line, spelled, quoted in self.includes(path):
            tail = "/" + os.path.normpath(spelled)
            beside = os.path.normpath(os.path.join(os.path.dirname(path), spelled)) if quoted else None
            best = None
            for number in self.by_name.get(os.path.basename(spelled), ()):
                where = self.path(number)
                if (where == beside or where.endswith(tail)) and where not in above:
                    try:
                        position = ids.index(number)
                    except ValueError:
                        continue
                    if begin <= position < end and (best is None or where == beside or position < best[0]):
                        best = (position, number, line, spelled)
                        if where == beside:
                            break
            if best:
                spots.append(best)
        # In the order of the text. One that lies before its forerunner was there already; one after it may have come
        # with it.
        kept = []
        for spot in spots:
            if not kept or (spot[0] > kept[-1][0] and not self.came_with(ids, kept[-1][0], spot)):
                kept.append(spot)
        for spot, following in zip(kept, [later[0] for later in kept[1:]] + [end]):
            position, number, line, spelled = spot
            where = self.path(number)
            own = self.is_own(where)
            found.append(Include(where, path, line, spelled, sum(sizes[position:following]), own))
            if own:
                self.walk(where, ids, sizes, position + 1, following, found, above | {where})


class Header:
    """A header over all files that include it."""

    def __init__(self, path, spelled):
        self.path, self.spelled = path, spelled
        self.users, self.at, self.bytes, self.own = {}, {}, 0, False
        self.seconds, self.failed = {}, {}

    @property
    def total(self):
        if not self.seconds:
            return None
        return sum(self.seconds[job.language] for job in self.users.values() if job.language in self.seconds)


def gather_headers(jobs, headers):
    rows = {}
    for job in jobs:
        job.includes, job.bytes = headers.usages(job) if job.kind == "compile" else ([], 0)
        for include in job.includes:
            row = rows.setdefault(include.header, Header(include.header, include.spelled))
            row.users[job.outputs[0]] = job
            row.at.setdefault((include.at, include.line), []).append(job)
            row.bytes += include.bytes
            row.own = include.own
    return rows


def measure_headers(rows, ninja, budget, notes):
    """Seconds that a compiler takes for a file that includes the header alone, less those for an empty file."""
    until = time.monotonic() + budget
    empty, done = {}, 0
    wanted = sorted(rows.values(), key=lambda row: -row.bytes)[:MEASURED_HEADERS]
    with tempfile.TemporaryDirectory(prefix="cudaops-headers-") as scratch:
        for row in wanted:
            for language in sorted({job.language for job in row.users.values()}):
                users = [job for job in row.users.values() if job.language == language]
                # The host's step compiles no device code, but its command says all of it.
                job = min(users, key=lambda job: (job.step == HOST_STEP, len(job.architectures), job.seconds))
                at = next(place for place, users in row.at.items() if job in users)[0]
                words = compile_words(job, ninja)
                if not words:
                    row.failed[language] = "its command is not one that can be used again"
                    continue
                key = tuple(words)
                if key not in empty:
                    empty[key] = run_compile(words, "", "", scratch, ninja.directory, until)
                text = '#include "%s"\n' % row.path if row.own else "#include <%s>\n" % row.spelled
                seconds, problem = run_compile(words, text, os.path.dirname(at), scratch, ninja.directory, until)
                if problem == "time":
                    notes.append(
                        "%s of the %d dearest headers were measured, then the %d seconds were over (--header-seconds)."
                        % (done, len(wanted), budget)
                    )
                    return
                if problem or empty[key][1]:
                    row.failed[language] = problem or empty[key][1]
                else:
                    row.seconds[language] = max(seconds - empty[key][0], 0.0)
            done += 1


def compile_words(job, ninja):
    """The compiler's own command, without launcher, source, output and dependency file."""
    try:
        words = shlex.split(job.command)
    except ValueError:
        return []
    if "--" in words and "__run_co_compile" in words:
        words = words[words.index("--") + 1 :]
    start = next((i for i, word in enumerate(words) if COMPILERS.fullmatch(os.path.basename(word))), None)
    if start is None or "&&" in words or ";" in words or "-c" not in words:
        return []
    kept, skip = [], False
    for word in words[start:]:
        if skip:
            skip = False
        elif word in ("-MT", "-MF", "-MQ", "-o"):
            skip = True
        elif word not in ("-MD", "-MMD", "-MP", job.input) and not word.startswith("--time="):
            code = GENERATE_CODE.match(word)
            if not code or job.step in ("", HOST_STEP, code.group(1)):
                kept.append(word)
    return kept


def run_compile(words, text, beside, scratch, directory, until):
    left = until - time.monotonic()
    if left <= 0:
        return 0.0, "time"
    source = os.path.join(scratch, "header" + (".cu" if "nvcc" in os.path.basename(words[0]) else ".cpp"))
    with open(source, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    command = words + (["-I" + beside] if beside else []) + [source, "-o", os.path.join(scratch, "header.o")]
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        run = subprocess.run(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=left,
        )
    except subprocess.TimeoutExpired:
        return 0.0, "time"
    except OSError as error:
        return 0.0, "%s: %s" % (words[0], error.strerror)
    if run.returncode:
        lines = run.stderr.decode("utf-8", "replace").splitlines()
        first = next((line for line in lines if re.search(r"error( +#\S+| *): ", line)), lines[0] if lines else "no message")
        return 0.0, "does not compile alone: " + first.replace(scratch + os.sep, "")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Not the time in which others had the processor.
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return min(time.monotonic() - started, processor), ""


# ---------------------------------------------------------------------------------------------------------- advice


class Advice:
    def __init__(self, kind, file, line, text, seconds, source=""):
        self.kind, self.file, self.line, self.text, self.seconds = kind, file, line, text, seconds
        self.source = source


HEAVY_TORCH = ("torch/extension.h", "torch/all.h", "torch/torch.h", "torch/python.h", "torch/types.h", "ATen/ATen.h")

# Headers that bring all of torch's C++ API, and what of that API torch/types.h (tensors, their factories, ATen,
# torch/library.h) doesn't declare: torch/all.h's other namespaces, Python objects, and the constants of torch/enum.h.
ALL_OF_TORCH = ("torch/extension.h", "torch/all.h", "torch/torch.h")
NOT_IN_TYPES = re.compile(
    r"\b(?:nn|optim|data|jit|autograd|cuda|xpu|mps|fft|nested|special|sparse|serialize|enumtype|profiler|python)::"
    r"(?<!at::cuda::)(?<!c10::cuda::)|\bTHP\w+|\btorch::(?:save|load|pickle_\w+|OrderedDict|TORCH_VERSION\w*|AutoGradMode)\b"
    r"|\btorch::k(?:Linear|Conv\w+|Sigmoid|Tanh|ReLU|GELU|SiLU|Mish|LeakyReLU|FanIn|FanOut|Constant|Reflect|Replicate"
    r"|Circular|Nearest\w*|Bilinear|Bicubic|Trilinear|Area|Sum|Mean|Max|None|BatchMean|Zeros|Border|LSTM|GRU|RNN\w+|Valid|Same)\b"
)


def find_advice(jobs, builds, report, directory, root):
    advice = []
    total = sum(job.seconds for job in jobs) or 1.0
    rows = {job.outputs[0]: job for job in jobs}
    for job in rows.values():
        if job.kind != "compile" or job.seconds < WORTH_SECONDS:
            continue
        advice += header_advice(job, report, root)
        several = job.language == "CUDA" and job.virtual > 1 and job.threads is None
        if several and job.seconds >= 0.05 * total:
            advice.append(threads_advice(job, root))
    advice += tail_advice(builds, root)
    advice += linker_advice(jobs, directory)
    compile_seconds = sum(job.seconds for job in jobs if job.kind == "compile")
    cache = report.get("cache") or {}
    if str(cache.get("problem")).startswith("neither") and "(yours)" not in cache["problem"]:
        if compile_seconds >= 10 * WORTH_SECONDS:
            text = "no compiler cache (%s): %s of compiles were made anew" % (cache["problem"], say(compile_seconds))
            # It spares none of them the first time, so it comes last.
            advice.append(Advice("cache", "", 0, text + "; apt-get install ccache", 0.0))
    merged = {}
    for one in advice:
        # A header of the project's that brings it to many files is one line to change.
        key = (one.kind, one.file, one.line)
        if key in merged and one.line:
            merged[key].append(one)
        else:
            merged.setdefault(key, []).append(one)
    result = []
    for same in merged.values():
        first = max(same, key=lambda one: one.seconds)
        first.seconds = sum(one.seconds for one in same)
        more = len({one.source for one in same}) - 1
        if more:
            first.text += " (and %s more, %s in all)" % (count(more, "file"), say(first.seconds))
        elif len(same) > 1:
            first.text += " (%s in all steps)" % say(first.seconds)
        result.append(first)
    return sorted(result, key=lambda one: -one.seconds)


def header_advice(job, report, root):
    """Of what a file includes, that which costs a good part of it and could be had for less."""
    found = []
    ops = {op.get("name"): op for op in report.get("ops") or [] if isinstance(op, dict)}
    for include in job.includes:
        if include.own:
            continue
        cost, seconds = cost_of(include, job)
        if not cost:
            continue
        spelled = include.spelled
        cure = ""
        if job.language in ("CUDA", "HIP"):
            if re.match(r"(torch|ATen|c10|pybind11)/", spelled):
                cure = "move the binding to a .cpp"
            elif spelled in ("cub/cub.cuh", "cub/cub.hpp"):
                cure = cub_cure(job, include)
        elif spelled in HEAVY_TORCH:
            text = file_text(include.at) + file_text(os.path.join(root, job.source))
            if "PYBIND11_MODULE" in text or (ops.get(job.target) or {}).get("abi") == "PYBIND":
                cure = "for tensors, sizes and the stream, STABLE_TORCH_LIBRARY (ABI STABLE) would do"
            else:
                cure = "torch/csrc/stable/library.h (ABI STABLE) would do for tensors, sizes and the stream"
        less = lighter_header(include, job, root)
        if less:
            cure = "%s would do for what is named here%s" % (less, "; " + cure if cure else "")
        if cure:
            at = short(include.at, root)
            via = (
                ""
                if os.path.basename(include.at) == os.path.basename(job.source)
                else ", which %s includes," % short(job.source, root)
            )
            text = "%s:%d%s includes %s: %s; %s" % (at, include.line, via, spelled, cost, cure)
            found.append(Advice("header", include.at, include.line, text, seconds, job.source))
    return found


def lighter_header(include, job, root):
    """What could stand in the place of a header with all of torch, by the names in the project's files of the compile."""
    if include.spelled not in ALL_OF_TORCH:
        return ""
    own = dict.fromkeys([os.path.join(root, job.source)] + [one.at for one in job.includes])
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", "".join(file_text(path) for path in own), flags=re.S)
    if NOT_IN_TYPES.search(text):
        return ""
    bound = re.search(r"\bpy(?:bind11)?::|\bPYBIND11_\w+|\bPy[A-Z]\w+", text)
    return "torch/types.h" + " with torch/csrc/utils/pybind.h" * bool(bound)


def cost_of(include, job):
    """(what is known of its cost, in words; seconds to sort by), ("", 0) where that is little."""
    header = job.headers.get(include.header)
    measured = header.seconds.get(job.language) if header else None
    if measured is not None:
        seconds = min(measured, job.seconds)
        if seconds >= WORTH_SECONDS and seconds >= 0.3 * job.seconds:
            return "%s of %s" % (say(seconds), say(job.seconds)), seconds
        return "", 0
    share = include.bytes / job.bytes if job.bytes else 0
    if share < 0.3:
        return "", 0
    return (
        "%d %% of what the compiler reads for this file (%s)"
        % (
            round(100 * share),
            say(job.seconds),
        ),
        share * job.seconds,
    )


def cub_cure(job, include):
    """The headers of the parts of CUB that the file names, where all of them can be named."""
    names = set(
        re.findall(
            r"\bcub::(?:Device|Block|Warp|Agent|Cache|Counting|Transform|ArgMax|ArgMin)\w*", file_text(include.at)
        )
    )
    folder = os.path.dirname(include.header)
    wanted = []
    for name in sorted(names):
        file = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.split("::")[1]).lower() + ".cuh"
        path = next(
            (
                part
                for part in ("device", "block", "warp", "agent", "iterator")
                if os.path.exists(os.path.join(folder, part, file))
            ),
            None,
        )
        if not path:
            return ""
        wanted.append("cub/%s/%s" % (path, file))
    if not wanted or len(wanted) > 4:
        return ""
    return "%s would do for %s" % (" and ".join(wanted), " and ".join(sorted(names)))


def threads_advice(job, root):
    gain = 0.0
    serial = {}
    for phase in job.phases:
        if phase["architecture"] and phase["phase"].startswith(("cicc", "ptxas", "gcc (preprocessing 1)")):
            number = re.sub(r"\D", "", phase["architecture"])
            serial[number] = serial.get(number, 0.0) + phase["seconds"]
    if len(serial) > 1:
        gain = sum(serial.values()) - max(serial.values())
    text = "%s is compiled for %d architectures one after the other: %s" % (
        short(job.source, root),
        job.virtual,
        say(job.seconds),
    )
    if gain:
        text += ", of which %s could run beside the rest" % say(gain)
    text += "; nvcc's --threads=0 compiles them at once"
    return Advice("threads", job.source, 0, text, gain or job.seconds * (1 - 1.0 / job.virtual))


def tail_advice(builds, root):
    """The job that the rest of the last build waited for. Of builds before, the log may lack what was made again."""
    found = []
    whole = [build for build in builds if any(job.kind == "compile" for job in build["members"])]
    for build in whole[-1:]:
        if build["slots"] < 2 or build["seconds"] < 2 * WORTH_SECONDS:
            continue
        job = max(build["members"], key=lambda job: job.alone)
        # Others that cost less show that it isn't the headers, which a second file would read as well.
        others = [
            other.seconds
            for other in build["members"]
            if other.source != job.source and other.kind == "compile" and other.language == job.language
            and (other.cache or {}).get("result") != "hit"
        ]  # fmt: skip
        if (
            job.kind == "compile"
            and job.alone >= 0.25 * build["seconds"]
            and job.alone >= WORTH_SECONDS
            and others
            and min(others) <= 0.5 * job.seconds
        ):
            text = (
                "%s ran alone for %s of the build's %s, while %s stood idle, and other %s files take from %s on; "
                "split it (a file for each group of kernels)"
            ) % (
                short(job.name, root),
                say(job.alone),
                say(build["seconds"]),
                "the other slot" if build["slots"] == 2 else "%d other slots" % (build["slots"] - 1),
                job.language,
                say(min(others)),
            )
            found.append(Advice("tail", job.source, 0, text, job.alone))
    return found


def linker_advice(jobs, directory):
    links = [job for job in jobs if job.kind == "link" and "-fuse-ld" not in job.command]
    seconds = sum(job.seconds for job in links)
    slow = [job for job in links if job.seconds >= WORTH_SECONDS]
    total = sum(job.seconds for job in jobs)
    if not slow or seconds < 0.05 * total:
        return []
    try:
        about = subprocess.run(["ld", "--version"], capture_output=True, timeout=10).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired):
        return []
    if not about.startswith("GNU ld"):
        return []
    # gold links as GNU ld does; the others differ where archives or weak references meet.
    for program, name in (("ld.gold", "gold"), ("ld.lld", "lld"), ("mold", "mold")):
        if shutil.which(program):
            slowest = max(slow, key=lambda job: job.seconds)
            text = (
                "linking takes %s (%s alone %s) with GNU ld, and %s is here; "
                "target_link_options(<target> PRIVATE -fuse-ld=%s)"
                % (
                    say(seconds),
                    slowest.outputs[0],
                    say(slowest.seconds),
                    program,
                    name,
                )
            )
            return [Advice("linker", slowest.outputs[0], 0, text, seconds)]
    return []


def file_text(path):
    try:
        return read_text(path)
    except OSError:
        return ""


# ---------------------------------------------------------------------------------------------------------- words


def say(seconds):
    if seconds < 0.995:
        return "%d ms" % round(seconds * 1000)
    if seconds < 9.95:
        return "%.1f s" % seconds
    if seconds < 600:
        return "%d s" % round(seconds)
    return "%d min" % round(seconds / 60)


def count(number, noun):
    return "%d %s%s" % (number, noun, "" if number == 1 else "s")


def short(path, root):
    """As people write it: below the project's directory."""
    return path[len(root) + 1 :] if root and path.startswith(root + os.sep) else path


def clean(value):
    """Names with odd bytes can be written nowhere else."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, dict):
        return {key: clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [clean(item) for item in value]
    return value


# ---------------------------------------------------------------------------------------------------------- report


def read_cache(directory):
    """The few entries of CMakeCache.txt that matter; {} where there is none."""
    found = {}
    for name in ("CMAKE_GENERATOR", "CMAKE_HOME_DIRECTORY", "CMAKE_CACHEFILE_DIR"):
        match = re.search(r"^%s:\w+=(.*)$" % name, file_text(os.path.join(directory, "CMakeCache.txt")), re.M)
        if match:
            found[name] = match.group(1)
    return found


def make_report(directory, options):
    directory = os.path.abspath(directory)
    if not os.path.isdir(directory):
        raise Problem("there is no such directory.", ["found   " + directory], ["build_report.py <build directory>"])
    cache = read_cache(directory)
    generator = cache.get("CMAKE_GENERATOR", "")
    log = os.path.join(directory, ".ninja_log")
    if generator and not generator.startswith("Ninja"):
        raise Problem(
            "only Ninja notes how long its jobs take.",
            ["found   %s, built with %s" % (directory, generator)],
            ["cmake -S <source> -B <another directory> -G Ninja"],
        )
    if not os.path.exists(log):
        if not cache and not os.path.exists(os.path.join(directory, "build.ninja")):
            raise Problem(
                "this is no build directory.",
                ["found   " + directory, "wanted  a directory that CMake or ninja has built in"],
                ["build_report.py <build directory>"],
            )
        raise Problem("no job has succeeded here yet.", ["missing " + log], ["cmake --build " + quote(directory)])
    notes = []
    try:
        entries, version, bad = read_log(log)
        notes += bad
    except OSError as error:
        raise Problem("ninja's log can't be read.", ["found   %s: %s" % (log, error.strerror)]) from None
    moved = cache.get("CMAKE_CACHEFILE_DIR")
    if moved and os.path.realpath(moved) != os.path.realpath(directory):
        notes.append("This build directory was made as %s: sources and headers may be those of another place." % moved)
    try:
        ninja = Ninja(directory)
    except OSError as error:
        raise Problem(
            "build.ninja can't be read.",
            ["found   %s: %s" % (os.path.join(directory, "build.ninja"), error.strerror)],
            ["configure again: cmake " + quote(directory)],
        ) from None

    late = {
        output
        for edge in ninja.edges
        if ninja.value(edge, "restat") or ninja.value(edge, "generator")
        for output in edge.outputs
    }
    jobs, builds, gone = make_jobs(split_builds(entries, late), ninja)
    if gone:
        notes.append("%s that this build makes no longer left out." % count(gone, "output"))
    if not jobs:
        raise Problem(
            "no job has succeeded here yet.", ["found   no job in " + log], ["cmake --build " + quote(directory)]
        )
    root = cache.get("CMAKE_HOME_DIRECTORY") or ""
    described = []
    for origin, members in builds:
        slots = lay_out(members)
        first = min(job.start for job in members)
        described.append({
            "started": origin + first if origin else None,
            "offset": first,
            "seconds": max(job.end for job in members) - first,
            "work": sum(job.seconds for job in members),
            "slots": slots,
            "members": members,
        })  # fmt: skip

    add_traces(jobs, directory, notes)
    add_cache_log(jobs, directory)
    add_memory(jobs, directory)
    deps = read_deps(os.path.join(directory, ".ninja_deps"))
    notes += deps.notes
    for job in jobs:
        if job.kind == "compile" and deps.of(job.outputs[0]) is None:
            depfile = ninja.value(job.edge, "depfile")
            text = file_text(os.path.join(directory, depfile)) if depfile else ""
            if text:
                deps.add(job.outputs[0], read_depfile(text))
    headers = Headers(deps, directory, root)
    rows = gather_headers(jobs, headers)
    if options.measure_headers:
        measure_headers(rows, ninja, options.header_seconds, notes)
    for job in jobs:
        job.headers = rows
    report = {}
    try:
        report = json.loads(read_text(os.path.join(directory, "cudaops-report.json")))
    except (OSError, ValueError):
        pass
    advice = find_advice(jobs, described, report if isinstance(report, dict) else {}, directory, root)
    return compose(directory, root, generator, version, jobs, described, rows, advice, notes)


def compose(directory, root, generator, version, jobs, builds, rows, advice, notes):
    """The report as JSON would have it."""
    total = sum(job.seconds for job in jobs)
    best = sorted(rows.values(), key=lambda row: (-(row.total or 0.0), -row.bytes))[:10]
    kinds = {}
    for job in jobs:
        kinds[job.kind] = round(kinds.get(job.kind, 0.0) + job.seconds, 3)
    data = {
        "format": FORMAT,
        "build_directory": directory,
        "source_directory": root,
        "generator": generator,
        "ninja_log_version": version,
        "seconds": round(total, 3),
        "seconds_by_kind": kinds,
        "builds": [
            {
                "started": (
                    time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(build["started"])) if build["started"] else None
                ),
                "seconds": round(build["seconds"], 3),
                "work_seconds": round(build["work"], 3),
                "most_at_once": build["slots"],
                "jobs": len(build["members"]),
            }
            for build in builds
        ],
        "jobs": [
            {
                "name": short(job.name, root),
                "source": short(job.source, root) if job.kind == "compile" else None,
                "outputs": job.outputs,
                "kind": job.kind,
                "language": job.language,
                "target": job.target,
                "build": job.build,
                "slot": job.slot,
                "start": round(job.start - builds[job.build]["offset"], 3),
                "seconds": round(job.seconds, 3),
                "share": round(job.seconds / total, 4) if total else 0.0,
                "seconds_alone": round(job.alone, 3),
                "architectures": job.architectures,
                "threads": job.threads,
                "phases": job.phases,
                "cpu_seconds": round(job.cpu, 3) if job.cpu is not None else None,
                "peak_memory_bytes": job.memory,
                "cache": job.cache,
            }
            for job in sorted(jobs, key=lambda job: -job.seconds)
        ],
        "headers": [
            {
                "header": row.spelled if not row.own else short(row.path, root),
                "path": row.path,
                "files": len({job.source for job in row.users.values()}),
                "bytes": row.bytes,
                "seconds_each": {language: round(seconds, 3) for language, seconds in row.seconds.items()},
                "seconds": round(row.total, 3) if row.total is not None else None,
                "not_measured": row.failed,
                "included_at": ["%s:%d" % (short(at, root), line) for at, line in sorted(row.at)],
            }
            for row in best
        ],
        "advice": [
            {
                "kind": one.kind,
                "file": short(one.file, root),
                "line": one.line,
                "text": one.text,
                "seconds": round(one.seconds, 3),
            }
            for one in advice
        ],
        "notes": notes,
    }
    data["facts"] = facts(data)
    return clean(data)


def facts(data):
    """The three dearest of advice, headers and jobs. A job that an advice is about needs no second line."""
    rows = [(one["seconds"], one["text"]) for one in data["advice"]]
    named = {one["file"] for one in data["advice"]}
    for header in data["headers"]:
        if header["seconds"] and not any(" includes %s:" % header["header"] in one["text"] for one in data["advice"]):
            text = "%s costs %s in %s" % (header["header"], say(header["seconds"]), count(header["files"], "file"))
            rows.append((header["seconds"], text))
    for job in [job for job in data["jobs"] if (job["source"] or job["name"]) not in named][:3]:
        text = "%s takes %s, %d %% of the work" % (job["name"], say(job["seconds"]), round(100 * job["share"]))
        rows.append((job["seconds"], text))
    rows.sort(key=lambda row: -row[0])
    return [text for _, text in rows[:3]]


def summary(data):
    longest = max(data["builds"], key=lambda build: build["work_seconds"])
    text = "%s, %s of work" % (count(len(data["jobs"]), "job"), say(data["seconds"]))
    if len(data["builds"]) == 1:
        text += " in %s, at most %d at once" % (say(longest["seconds"]), longest["most_at_once"])
    else:
        text += " as each was last done, in %d builds" % len(data["builds"])
    known = [job["cache"]["result"] for job in data["jobs"] if job["cache"]]
    if known:
        text += "; cache: " + ", ".join(
            "%d %s" % (known.count(result), word)
            for result, word in (("hit", "hits"), ("miss", "misses"), ("not cached", "not cached"))
            if result in known
        )
    return text


# ------------------------------------------------------------------------------------------------------------ page

STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1c1f23; --dim: #5b636d; --line: #d8dce1; --soft: #f4f5f7;
  --cuda: #4c8c2b; --hip: #c0392b; --host: #2f6fb5; --link: #b9770e;
  --command: #7d5ba6; --other: #8a929b; --ink: #fff; }
@media (prefers-color-scheme: dark) { :root { --back: #16191d; --text: #e4e7ea; --dim: #9aa3ad; --line: #343a41;
  --soft: #1f2429; --cuda: #7cb85a; --hip: #e57366; --host: #6ea8e0; --link: #dfa448; --command: #b194d6;
  --other: #7d868f; --ink: #111; } }
body { margin: 0 auto; max-width: 1200px; padding: 1rem 1.5rem 4rem; background: var(--back); color: var(--text);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: .5rem 0 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p, ol, ul { margin: .4rem 0; } .dim { color: var(--dim); } li { margin: .25rem 0; }
code, td { font-family: ui-monospace, monospace; font-size: 13px; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.name { overflow-wrap: anywhere; min-width: 16rem; } .number { text-align: right; white-space: nowrap; }
th button { all: unset; cursor: pointer; font-weight: 600; } th button:focus-visible { outline: 2px solid var(--host); }
th[aria-sort=ascending] button::after { content: " \\25B2"; }
th[aria-sort=descending] button::after { content: " \\25BC"; }
svg { display: block; width: 100%; height: auto; background: var(--soft); }
svg text { font: 10px system-ui, sans-serif; }
.axis { fill: var(--dim); } .grid { stroke: var(--line); } .label { fill: var(--ink); pointer-events: none; }
.CUDA { fill: var(--cuda); } .HIP { fill: var(--hip); } .host { fill: var(--host); } .link { fill: var(--link); }
.command { fill: var(--command); } .other { fill: var(--other); } rect.job { stroke: var(--back); stroke-width: .5; }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 .8em; border-radius: 2px; }
.key.CUDA { background: var(--cuda); } .key.HIP { background: var(--hip); } .key.host { background: var(--host); }
.key.link { background: var(--link); } .key.command { background: var(--command); }
.key.other { background: var(--other); }
details { margin: .6rem 0; } summary { cursor: pointer; } .more { margin: .6rem 0; }
"""

# Rows are made a few hundred at a time: a page with thousands of files can be read and sorted meanwhile.
SCRIPT = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
function seconds(x) {
  if (x === null || x === undefined) return "";
  if (x < 0.995) return Math.round(1000 * x) + " ms";
  return x < 9.95 ? x.toFixed(1) + " s" : x < 600 ? Math.round(x) + " s" : Math.round(x / 60) + " min";
}
function bytes(x) {
  if (x === null || x === undefined) return "";
  return x < 1e6 ? Math.round(x / 1e3) + " kB" : x < 1e9 ? (x / 1e6).toFixed(1) + " MB" : (x / 1e9).toFixed(2) + " GB";
}
function phases(job) {
  const sums = new Map();
  for (const phase of job.phases) {
    const name = phase.phase.replace(/^gcc \\((.*)\\)$/, "$1") + (phase.architecture ? " " + phase.architecture : "");
    sums.set(name, (sums.get(name) || 0) + phase.seconds);
  }
  return [...sums].sort((a, b) => b[1] - a[1]).map(([name, time]) => name + " " + seconds(time)).join(", ");
}
const tables = {
  jobs: [
    ["seconds", "Seconds", j => j.seconds, seconds, "number"],
    ["share", "Share", j => j.share, x => (100 * x).toFixed(1) + " %", "number"],
    ["name", "File", j => j.name, String, "name"],
    ["kind", "What", j => [j.kind === "compile" ? "" : j.kind, j.language].filter(Boolean).join(" "), String, ""],
    ["target", "Target", j => j.target, String, ""],
    ["architectures", "Architectures",
      j => j.architectures.join(" ") + (j.threads === null ? "" : " (threads " + j.threads + ")"), String, ""],
    ["phases", "Phases", phases, String, ""],
    ["memory", "Memory", j => j.peak_memory_bytes, bytes, "number"],
    ["cache", "Cache", j => j.cache ? j.cache.result + (j.cache.reason ? ": " + j.cache.reason : "") : "", String, ""]],
  headers: [
    ["seconds", "Seconds in all", h => h.seconds, seconds, "number"],
    ["each", "Alone", h => Object.entries(h.seconds_each).map(([l, s]) => l + " " + seconds(s)).join(", ") ||
      Object.entries(h.not_measured).map(([l, s]) => l + ": " + s).join(", "), String, ""],
    ["bytes", "Read", h => h.bytes, bytes, "number"],
    ["files", "Files", h => h.files, String, "number"],
    ["name", "Header", h => h.header, String, "name"],
    ["at", "Included at", h => h.included_at.slice(0, 8).join(", ") +
      (h.included_at.length > 8 ? " and " + (h.included_at.length - 8) + " places more" : ""), String, ""]] };
for (const [id, columns] of Object.entries(tables)) {
  const table = document.getElementById(id), all = data[id];
  // A column without a value is not shown.
  const shown = columns.filter(c => all.some(row => { const v = c[2](row); return v !== "" && v !== null; }));
  let rows = all.slice(), column = null, down = true, limit = 100, round = 0;
  const head = table.createTHead().insertRow(), body = table.createTBody();
  const more = document.createElement("button");
  more.className = "more";
  table.parentNode.after(more);
  function draw() {
    const mine = ++round;
    let made = 0;
    body.replaceChildren();
    (function step() {
      if (mine !== round) return;
      const part = document.createDocumentFragment(), end = Math.min(made + 200, rows.length, limit);
      for (; made < end; made++) {
        const line = document.createElement("tr");
        for (const c of shown) {
          const cell = line.insertCell();
          const value = c[2](rows[made]);
          cell.textContent = value === null || value === undefined ? "" : c[3](value);
          if (c[4]) cell.className = c[4];
        }
        part.append(line);
      }
      body.append(part);
      if (made < Math.min(rows.length, limit)) requestAnimationFrame(step);
    })();
    more.hidden = rows.length <= limit;
    more.textContent = "Show all " + rows.length;
  }
  more.onclick = () => { limit = Infinity; draw(); };
  for (const c of shown) {
    const cell = document.createElement("th"), button = document.createElement("button");
    button.textContent = c[1];
    cell.scope = "col";
    if (c[4] === "number") cell.className = "number";
    button.onclick = () => {
      down = column === c ? !down : c[4] === "number";
      column = c;
      rows = all.slice().sort((a, b) => {
        const x = c[2](a), y = c[2](b), order = typeof x === "string" || typeof y === "string" ?
          String(x).localeCompare(String(y)) : (x === null ? -1 : x) - (y === null ? -1 : y);
        return down ? -order : order;
      });
      for (const other of head.cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      draw();
    };
    cell.append(button);
    head.append(cell);
  }
  draw();
}
"""


def colour(job):
    if job["kind"] in ("link", "archive"):
        return "link"
    if job["kind"] == "command":
        return "command"
    if job["kind"] == "compile":
        return job["language"] if job["language"] in ("CUDA", "HIP") else "host"
    return "other"


def timeline(data, number):
    """The jobs of one build as bars, a line for each slot."""
    build = data["builds"][number]
    width, high, top = 1000.0, 16, 18
    scale = width / (build["seconds"] or 1.0)
    lines = [
        '<svg viewBox="0 0 %d %d" role="img" aria-label="Timeline of build %d">'
        % (width, top + high * build["most_at_once"], number + 1)
    ]
    step = next(
        (
            s
            for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 36000)
            if s * scale >= 60
        ),
        86400,
    )
    tick = 0
    while tick * step <= build["seconds"]:
        x = tick * step * scale
        lines.append(
            '<line class="grid" x1="%.1f" x2="%.1f" y1="0" y2="%d"/>' % (x, x, top + high * build["most_at_once"])
        )
        lines.append('<text class="axis" x="%.1f" y="12">%s</text>' % (x + 3, say(tick * step) if tick else "0"))
        tick += 1
    for job in data["jobs"]:
        if job["build"] != number:
            continue
        x, y, wide = job["start"] * scale, top + high * job["slot"], max(job["seconds"] * scale, 0.4)
        title = "%s\n%s%s" % (
            job["name"],
            say(job["seconds"]),
            ", " + " ".join(job["architectures"]) if job["architectures"] else "",
        )
        lines.append(
            '<rect class="job %s" x="%.1f" y="%d" width="%.1f" height="%d"><title>%s</title></rect>'
            % (colour(job), x, y, wide, high - 1, html.escape(title))
        )
        name = os.path.basename(job["name"])
        room = int((wide - 6) / 5.6)
        if room >= 4:
            text = name if len(name) <= room else name[: room - 1] + "\u2026"
            lines.append('<text class="label" x="%.1f" y="%d">%s</text>' % (x + 3, y + 11, html.escape(text)))
    lines.append("</svg>")
    return "\n".join(lines)


def render(data):
    def words(text):
        return html.escape(text, quote=False)

    def items(tag, rows):
        return "<%s>\n%s\n</%s>" % (tag, "\n".join("<li>%s</li>" % words(row) for row in rows), tag)

    order = sorted(range(len(data["builds"])), key=lambda n: -data["builds"][n]["work_seconds"])[:5]
    name = os.path.basename(data["source_directory"] or data["build_directory"])
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        "<title>Build of %s</title>" % words(name),
        "<style>%s</style></head><body>" % STYLE,
        "<h1>Build of %s</h1>" % words(name),
        '<p class="dim">%s<br><code>%s</code></p>' % (words(summary(data)), words(data["build_directory"])),
    ]
    if data["facts"]:
        parts += ["<h2>Dearest</h2>", items("ol", data["facts"])]
    if data["advice"]:
        parts += ["<h2>What to change</h2>", items("ul", [one["text"] for one in data["advice"]])]
    parts.append("<h2>Timeline</h2>")
    parts.append(
        '<p class="dim"><span class="key CUDA"></span>CUDA<span class="key HIP"></span>HIP'
        '<span class="key host"></span>C++'
        '<span class="key link"></span>link<span class="key command"></span>command'
        '<span class="key other"></span>other</p>'
    )
    for place, number in enumerate(order):
        build = data["builds"][number]
        title = "%s, %s, at most %d at once%s" % (
            count(build["jobs"], "job"), say(build["seconds"]), build["most_at_once"],
            ", begun " + build["started"].replace("T", " ").replace("Z", " UTC") if build["started"] else "",
        )  # fmt: skip
        if number < len(data["builds"]) - 1:
            title += "; without what was made again since"
        parts.append(
            "<details%s><summary>%s</summary>%s</details>"
            % (" open" if place == 0 else "", words(title), timeline(data, number))
        )
    if len(order) < len(data["builds"]):
        parts.append(
            '<p class="dim">%s with less work are in the JSON.</p>' % count(len(data["builds"]) - len(order), "build")
        )
    plain = ["%s  %s" % (say(job["seconds"]), job["name"]) for job in data["jobs"][:20]]
    parts += [
        "<h2>Files</h2>",
        '<div class="scroll"><table id="jobs"></table></div>',
        "<noscript>%s</noscript>" % items("ol", plain),
        "<h2>Headers</h2>",
        '<p class="dim">Read: the bytes of the header and of all that it is the first to include, over all files. Seconds: '
        "compiled alone, times the files (with CUDAOPS_BUILD_TRACE or --measure-headers). What two headers both include "
        "counts in each.</p>",
        '<div class="scroll"><table id="headers"></table></div>',
        "<noscript>%s</noscript>"
        % items("ol", ["%s, %s" % (header["header"], count(header["files"], "file")) for header in data["headers"]]),
    ]
    if data["notes"]:
        parts += ["<h2>Notes</h2>", items("ul", data["notes"])]
    # "</script>" in a file's name would end the element.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    parts += [
        '<script type="application/json" id="data">%s</script>' % text,
        "<script>%s</script>" % SCRIPT,
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def write(path, text):
    folder = os.path.dirname(path)
    try:
        handle, new = tempfile.mkstemp(dir=folder, prefix=".cudaops-build-report-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(new, 0o666 & ~UMASK)
            os.replace(new, path)
        except BaseException:
            os.unlink(new)
            raise
    except OSError as error:
        raise Problem(
            "the report can't be written.",
            ["found   %s: %s" % (path, error.strerror)],
            ["--output <file.html> in a directory that can be written"],
        ) from None


UMASK = os.umask(0)
os.umask(UMASK)


def main(argv):
    # A reader that has seen enough (| head) ends this program in silence, as it ends others.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    parser = argparse.ArgumentParser(
        prog="build_report.py",
        usage="build_report.py [--output <file.html>] [--measure-headers] [--header-seconds <n>] <build directory>",
        description=__doc__.split("\n\n", 2)[0],
        epilog=__doc__.split("\n\n", 3)[3],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("directory", metavar="<build directory>")
    parser.add_argument("--output", metavar="<file.html>", help="where the page goes; the JSON beside it")
    parser.add_argument("--measure-headers", action="store_true", help="compile the dearest headers alone")
    parser.add_argument("--header-seconds", type=int, default=120, metavar="<n>", help="how long that may take (120)")
    options = parser.parse_args(argv)
    try:
        data = make_report(options.directory, options)
        page = os.path.abspath(options.output or os.path.join(options.directory, "cudaops-build-report.html"))
        if not page.endswith((".html", ".htm")):
            raise Problem(
                "the page is an .html file.", ["found   --output " + page], ["--output %s.html" % quote(page)]
            )
        write(os.path.splitext(page)[0] + ".json", json.dumps(data, indent=1) + "\n")
        write(page, render(data))
    except Problem as problem:
        sys.stderr.write(clean(str(problem)) + "\n")
        return 1
    print(clean("cudaops_build_report: %s   (and .json)" % page))
    print("  " + summary(data))
    for number, fact in enumerate(data["facts"], 1):
        print("  %d. %s" % (number, fact))
    for note in data["notes"]:
        print("  " + note)
    return 0

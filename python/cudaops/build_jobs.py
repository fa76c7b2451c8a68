# SPDX-License-Identifier: Apache-2.0
"""The jobs of a build: what each one made, when it ran beside which others, and what was measured of it."""

import csv
import hashlib
import os
import re
import shlex

from .words import count, file_text, read_text

RULE = re.compile(r"^(ASM\w*|C|CXX|CUDA|HIP|Fortran|OBJCXX?|ISPC)_(COMPILER|SCAN|DYNDEP|\w*LINK\w*)__(.*)$")
LANGUAGES = {
    ".cu": "CUDA", ".hip": "HIP", ".cpp": "CXX", ".cc": "CXX", ".cxx": "CXX", ".c++": "CXX", ".C": "CXX", ".c": "C",
}  # fmt: skip  # fmt: skip
# No part of the build: this report, and CMake's test, install, edit_cache ...; CMake's own runs neither.
NO_WORK = re.compile(r"(^|/)CMakeFiles/(cudaops_build_report(-\w+)?|[^/]+\.util)$")


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
    names, paths = ([value for key, value in settings if key == wanted] for wanted in ("stand_in", "stands_for"))
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
            record = read_record(read_text(base + ".record"))
            # One of a compile before, by a build that wasn't traced any more.
            if job.began and abs(int(record["started_ns"]) / 1e9 - job.began) > 5:
                continue
            job.memory, job.cpu = int(record["peak_memory_bytes"]), float(record["cpu_seconds"])
            job.cache = {key: record[key] for key in ("result", "reason")} if "result" in record else None
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


def read_record(text):
    """What cudaops-launch noted of a compile: lines of a key, a tab and a value; the last value of each key."""
    lines = [line.partition("\t") for line in text.split("\n")]
    record = {key: re.sub(r"\\(.)", lambda escape: "\n" if escape[1] == "n" else escape[1], value) for key, _, value in lines}
    if "end" not in record:
        raise ValueError("the record is cut off")
    return record


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

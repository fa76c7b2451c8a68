# SPDX-License-Identifier: Apache-2.0
"""Says where the time of a build went: a page to look at, the same as JSON, and the three dearest facts.

Python 3.8 or later, standard library only: the target cudaops_build_report runs it.
"""

import argparse
import json
import os
import re
import signal
import sys
import time

from . import depfile, store
from .build_advice import find_advice
from .build_headers import Headers, gather_headers, measure_headers
from .build_jobs import add_cache_log, add_memory, add_traces, lay_out, make_jobs
from .ninja_log import Ninja, quote, read_deps, read_log, split_builds
from .page import render
from .problem import Problem
from .words import clean, count, file_text, read_text, say, short

FORMAT = 1
DESCRIPTION = "Says where the time of a build went: a page to look at, the same as JSON, and the three dearest facts."
# With the lines as they are written here.
FORMATTER = argparse.RawDescriptionHelpFormatter
EPILOG = """\
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

Exit code: 0; 2 with one sentence on stderr where there is nothing to report on, and for a wrong call.
"""


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
        raise Problem("", "there is no such directory.", ["found   " + directory], ["python -m cudaops build-report <build directory>"])
    cache = read_cache(directory)
    generator = cache.get("CMAKE_GENERATOR", "")
    log = os.path.join(directory, ".ninja_log")
    if generator and not generator.startswith("Ninja"):
        raise Problem(
            "",
            "only Ninja notes how long its jobs take.",
            ["found   %s, built with %s" % (directory, generator)],
            ["cmake -S <source> -B <another directory> -G Ninja"],
        )
    if not os.path.exists(log):
        if not cache and not os.path.exists(os.path.join(directory, "build.ninja")):
            raise Problem(
                "",
                "this is no build directory.",
                ["found   " + directory, "wanted  a directory that CMake or ninja has built in"],
                ["python -m cudaops build-report <build directory>"],
            )
        raise Problem("", "no job has succeeded here yet.", ["missing " + log], ["cmake --build " + quote(directory)])
    notes = []
    try:
        entries, version, bad = read_log(log)
        notes += bad
    except OSError as error:
        raise Problem("", "ninja's log can't be read.", ["found   %s: %s" % (log, error.strerror)]) from None
    moved = cache.get("CMAKE_CACHEFILE_DIR")
    if moved and os.path.realpath(moved) != os.path.realpath(directory):
        notes.append("This build directory was made as %s: sources and headers may be those of another place." % moved)
    try:
        ninja = Ninja(directory)
    except OSError as error:
        raise Problem(
            "",
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
        raise Problem("", "no job has succeeded here yet.", ["found   no job in " + log], ["cmake --build " + quote(directory)])
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
            name = ninja.value(job.edge, "depfile")
            text = file_text(os.path.join(directory, name)) if name else ""
            if text:
                deps.add(job.outputs[0], depfile.read(text))
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
            "%d %s" % (known.count(result), result if known.count(result) == 1 else plural)
            for result, plural in (("hit", "hits"), ("miss", "misses"), ("not cached", "not cached"))
            if result in known
        )
    return text


def write(path, text):
    try:
        store.replace(path, text.encode())
    except OSError as error:
        raise Problem(
            "",
            "the report can't be written.",
            ["found   %s: %s" % (path, error.strerror)],
            ["--output <file.html> in a directory that can be written"],
        ) from None


def add_arguments(parser):
    parser.add_argument("directory", nargs="?", default=".", metavar="<build directory>", help="default: this one")
    parser.add_argument("--json", action="store_true", help="print the report for programs, and write nothing")
    parser.add_argument("--output", metavar="<file.html>", help="where the page goes; the JSON beside it")
    parser.add_argument("--measure-headers", action="store_true", help="compile the dearest headers alone")
    parser.add_argument("--header-seconds", type=int, default=120, metavar="<n>", help="how long that may take (120)")


def run(options, program):
    """Exit code: 0, or 2 where there is nothing to report on; `program` begins what it says."""
    try:
        page = os.path.abspath(options.output or os.path.join(options.directory, "cudaops-build-report.html"))
        if not page.endswith((".html", ".htm")):
            found, other = "found   --output " + page, "--output %s.html" % quote(page)
            raise Problem("", "the page is an .html file.", [found], [other])
        data = make_report(options.directory, options)
        if not options.json or options.output:
            write(os.path.splitext(page)[0] + ".json", json.dumps(data, indent=1) + "\n")
            write(page, render(data, summary(data)))
    except Problem as problem:
        sys.stderr.write(clean(problem.text(program)) + "\n")
        return 2
    if options.json:
        print(json.dumps(data, indent=2))
        return 0
    print(clean("%s: %s   (and .json)" % (program, page)))
    print("  " + summary(data))
    for number, fact in enumerate(data["facts"], 1):
        print("  %d. %s" % (number, fact))
    for note in data["notes"]:
        print("  " + note)
    return 0


def main(argv):
    """The target cudaops_build_report."""
    # A reader that has seen enough (| head) ends this program in silence, as it ends others.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    parser = argparse.ArgumentParser(prog="build_report", description=DESCRIPTION, epilog=EPILOG, formatter_class=FORMATTER)
    add_arguments(parser)
    return run(parser.parse_args(argv), "cudaops_build_report")

# SPDX-License-Identifier: Apache-2.0
"""What ninja leaves in a build directory: its log (formats 5 to 7), the dependencies that compilers named (3 and 4), and
what of build.ninja matters for them.
"""

import array
import os
import re
import shlex
import struct
import sys

from .problem import Problem
from .words import count, read_text

LOG_VERSIONS = (5, 6, 7)


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
            "",
            "this is not a log of ninja's.",
            ["found   %s, which begins with %r" % (path, text[:30])],
            ["remove it and build again"],
        )
    if int(match.group(1)) not in LOG_VERSIONS:
        raise Problem(
            "",
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

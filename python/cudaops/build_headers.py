# SPDX-License-Identifier: Apache-2.0
"""The headers that the jobs of a build read: who includes them, where, and what they cost."""

import os
import re
import resource
import shlex
import subprocess
import tempfile
import time

from . import includes
from .build_jobs import GENERATE_CODE, HOST_STEP
from .words import read_text

MEASURED_HEADERS = 15
COMPILERS = re.compile(r"(?:nvcc|hipcc|icpx|(?:[\w.]+-)*(?:g\+\+|gcc|c\+\+|cc|clang\+\+|clang))(?:-[\d.]+)?")


class Include:
    """A header as one file includes it: where that is written, and the bytes that come with it."""

    __slots__ = ("header", "at", "line", "spelled", "bytes", "own")

    def __init__(self, header, at, line, spelled, size, own):
        self.header, self.at, self.line, self.spelled, self.bytes, self.own = header, at, line, spelled, size, own


class Headers:
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
            self.texts[path] = [
                (include.line, include.text.strip(), include.quoted)
                for _, _, include in includes.scan(text)
                if include and include.form in ("include", "include_next")
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

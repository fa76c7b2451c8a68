# SPDX-License-Identifier: Apache-2.0
"""Translates one CUDA source, and the project headers that it includes, into a mirror tree for HIP.

usage: python -I -S _run.py hipify <settings> <source> <translation> <depfile>

HipifySources.cmake writes <settings>, a line each, fields separated by tabs:

  mirror <dir>                  the mirror tree; <dir>/.hipify is ours
  translator torch <dir>        torch/utils/hipify of any torch
  translator perl <file>        hipify-perl
  cache <file>                  where the tables of torch's translator are kept between calls
  base <dir>                    the directory that relative ones below are relative to
  root <prefix> <dir>           what lies below <dir> is translated into <mirror>/<prefix>/<relative path>
  outside <dir>                 what lies below <dir> is not, though a root holds it
  include <dir>                 an include directory, in the order of the target
  own <source> <dir>            one that holds for this source alone, before the others
  system <dir>                  one that the compiler searches last; outside, too
  imported <dir>                one of an imported target: outside, too
  project <dir>                 one that the target itself names: neither of the two
  define <name>="<header>"      a macro of the command line that an #include may name; or <name>=<<header>>
  interface_source <file>       a .cu that a linked library wants to have compiled by its users
  evaluated <word> ...          the same, by a generator expression: the mirror of an include directory may not be one

The translator does the words. What it would do wrong is kept from it: include lines of project headers, comments and
strings (a string may be the name of an op), and the tables that fit no tree but Meta's. What it must not do is checked:
launches, line numbers, a second translation. Paths in messages are those of the originals.

Many of these run at once on one mirror. A header is written only where its content differs, under a lock, so that its
time never moves without a change. A source's translation is written whenever something it was made from is newer.

Exit code: 0; 1 with one sentence on stderr, and then there is no translation of that source; 2 for a wrong call.
Python 3.8 or later, standard library only; run with -I -S -B.
"""

import marshal
import os
import re
import sys

from . import depfile as depfiles
from . import includes, store, translators
from .includes import Include, scan
from .problem import Problem, in_file
from .store import Lock, content, remove, replace, stamp, sweep
from .translators import PerlTranslator, TorchTranslator, translator_cures

# What a translation follows from besides its inputs; hipify.cmake names the same files.
OWN = [__file__, includes.__file__, store.__file__, translators.__file__]
RUNTIME_INCLUDE = '#include "hip/hip_runtime.h"\n'
# Compilers name lines of the source.
FRONT = RUNTIME_INCLUDE + "#line 1\n"


class Changed(Exception):
    """A file was edited while it was being translated."""


def below(path, directory):
    return path == directory or path.startswith(directory if directory.endswith("/") else directory + "/")


class Settings:
    def __init__(self, path):
        self.path = path
        self.mirror = self.cache = self.base = ""
        self.kind = self.translator = ""
        self.roots, self.outside = [], []
        self.includes, self.own, self.macros = [], {}, []
        self.plain, self.interface_sources = set(), []
        system, imported, project = set(), set(), set()
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                word, *fields = line.rstrip("\n").split("\t")
                plain = word != "evaluated"
                if not plain:
                    word, *fields = fields
                # An expression may have been empty.
                if not fields or not fields[-1]:
                    continue
                if word == "mirror":
                    self.mirror = fields[0]
                elif word == "base":
                    self.base = fields[0]
                elif word == "cache":
                    self.cache = fields[0]
                elif word == "translator":
                    self.kind, self.translator = fields
                elif word == "root":
                    self.roots.append((fields[1], os.path.join(self.mirror, fields[0]) if fields[0] else self.mirror))
                elif word == "outside":
                    self.outside.append(fields[0])
                elif word == "interface_source":
                    self.interface_sources.append(os.path.normpath(os.path.join(self.base, fields[0])))
                elif word == "define":
                    found = re.fullmatch(r'(\w+)=(?:"([^"]+)"|<([^>]+)>)', fields[0])
                    if found:
                        self.macros.append((found[1], found[2] or found[3], found[2] is not None))
                else:
                    directory = os.path.normpath(os.path.join(self.base, fields[-1]))
                    if word == "include":
                        self.includes.append(directory)
                    elif word == "own":
                        self.own.setdefault(fields[0], []).append(directory)
                    elif word == "system":
                        system.add(directory)
                    elif word == "imported":
                        imported.add(directory)
                    elif word == "project":
                        project.add(directory)
                    if plain:
                        self.plain.add(directory)
        # The compiler looks into SYSTEM directories last.
        self.includes.sort(key=lambda directory: directory in system - project)
        known = {directory for directory, _ in self.roots}
        self.outside += sorted((system | imported) - project - known)
        self.private = os.path.join(self.mirror, ".hipify")
        # The deepest directory that holds a file decides: a build directory lies inside of the project.
        self.places = [(directory, mirror) for directory, mirror in self.roots]
        self.places += [(directory, None) for directory in self.outside + [self.mirror]]
        self.places.sort(key=lambda place: (-len(place[0]), place[1] is None))

    def searched(self, directory):
        """The mirror of an include directory, where the compiler is given it: hipify/places.cmake says when it is not."""
        mirror = self.mirror_of(directory)
        if directory not in self.plain and mirror:
            root, place = self.roots[0]
            if re.search(r"[,<>]", root + place + directory) or not below(directory, root):
                return None
            if os.path.normpath(os.path.join(place, os.path.relpath(directory, root))) != mirror:
                return None
        return mirror

    def mirror_of(self, path):
        for directory, mirror in self.places:
            if below(path, directory):
                return mirror and os.path.normpath(os.path.join(mirror, os.path.relpath(path, directory)))
        return None


def read(path):
    """(text, stamp) of a file."""
    try:
        when = stamp(path)
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise in_file(path, "it can't be read: %s." % error.strerror, fix=("make it readable for this user",))
    try:
        return data.decode("utf-8"), when
    except UnicodeDecodeError as error:
        raise in_file(
            "%s:%d" % (path, data.count(b"\n", 0, error.start) + 1),
            "not UTF-8, which the translator needs.",
            ("found   byte 0x%02x" % data[error.start],),
            ("iconv -f ISO-8859-1 -t UTF-8, or whatever its encoding is",),
        )


class Text:
    """A file's text, and where its comments, strings and includes are."""

    def __init__(self, text):
        self.bom = text.startswith("\ufeff")
        if self.bom:
            text = text[1:]
        # One kind of line end for the translator; the file's own are put back.
        self.ends = None
        if "\r" in text:
            parts = re.split("(\r\n|\n|\r)", text)
            self.ends = parts[1::2]
            text = "\n".join(parts[::2])
        self.text = text
        self.tokens = []
        self.includes = []
        for begin, end, include in scan(text):
            self.tokens.append((begin, end, include))
            if include:
                self.includes.append(include)

    def hide(self, decisions):
        """The text for the translator, what is hidden in it, and the pattern of what stands for it."""
        text = self.text
        tag = "_cudaops"
        while tag in text:
            tag += "_"
        hidden = []
        out = ["\n"]  # a word that is the first or the last of its file isn't seen
        position = 0
        decision = iter(decisions)
        for start, end, include in self.tokens:
            piece = text[start:end]
            if include is None:
                if piece.startswith("/"):
                    form = "/*%sc%d_*/"
                else:
                    form = '"%ss%d_"'
                    start += piece.index('"')
                    piece = text[start:end]
            else:
                new = next(decision)
                if include.form == "macro" or new is None and include.form == "has":
                    continue
                spelled = ('"%s"' if include.quoted else "<%s>") % include.text
                piece = piece[: piece.rindex(spelled)]
                if new is None and include.text.startswith("hip/") and not include.text.startswith("hip/hip_runtime"):
                    new = spelled
                if new is None:
                    # Not a project header: the translator reads the one spelling that it knows.
                    form = "/*%so%d_*/#include " + spelled.replace("%", "%%")
                else:
                    form = '#include "%sp%d_"'
                    if new != spelled:
                        # The directories after the one where the file itself was found are searched already.
                        piece = piece.replace("include_next", "include")
                    piece += new
            out.append(text[position:start])
            out.append(form % (tag, len(hidden)))
            hidden.append(piece)
            position = end
        out.append(text[position:] + "\n")
        numbered = tag + r"{}(\d+)_"
        pattern = r"/\*%s\*/|\"%s\"|/\*%s\*/#include |#include \"%s\"" % tuple(numbered.format(kind) for kind in "csop")
        return "".join(out), hidden, re.compile(pattern)


def show(text, hidden, pattern):
    """Puts back what hide() took out; None where something of it was lost or moved."""
    order = []

    def back(match):
        order.append(int(match.group(match.lastindex)))
        return hidden[order[-1]] if order[-1] < len(hidden) else ""

    text = pattern.sub(back, text)
    return text if order == list(range(len(hidden))) else None


class Unit:
    """A project file that is translated, as far as it is known."""

    __slots__ = ("path", "mirror", "memo", "memo_path", "text", "stamp", "includes", "decisions", "place")


class Run:
    """One source with everything that it includes."""

    def __init__(self, settings, source, output):
        self.settings = settings
        self.source = source
        self.output = output
        self.directories = []
        for directory in settings.own.get(source, []) + settings.includes:
            if directory not in self.directories:
                self.directories.append(directory)
        self.translator = (PerlTranslator if settings.kind == "perl" else TorchTranslator)(settings)
        # Of the settings what counts: those for another language are often the same.
        searched = [settings.searched(directory) for directory in self.directories]
        self.key = self.translator.key + (settings.places, settings.macros, self.directories, searched)
        self.key += tuple(map(stamp, OWN))
        self.loaded = False
        self.units = {}
        self.macros = {}
        for name, text, quoted in settings.macros:
            self.macros.setdefault(name, []).append((None, Include("define", 0, text, quoted, name)))

    # Where an include leads

    def candidates(self, unit, include):
        """(path, directory or None for beside) in the compiler's order."""
        if os.path.isabs(include.text):
            yield os.path.normpath(include.text), None
            return
        start = 0
        if include.form == "include_next":
            if unit.place is not None:
                start = unit.place + 1
        elif include.quoted:
            yield os.path.normpath(os.path.join(os.path.dirname(unit.path), include.text)), None
        for number in range(start, len(self.directories)):
            yield os.path.normpath(os.path.join(self.directories[number], include.text)), number

    def find(self, unit, include):
        """(path, number of the directory) or None. Removes what the mirror still holds of files that are gone."""
        for path, number in self.candidates(unit, include):
            if os.path.isfile(path):
                return path, number
            mirror = self.settings.mirror_of(path)
            if mirror and os.path.lexists(mirror) and not os.path.isdir(mirror):
                with Lock(os.path.join(self.settings.private, "lock")):
                    if not os.path.exists(path):
                        remove(mirror)
        return None

    def decide(self, unit, include):
        """None: for the translator. Else what stands in the mirror, which may be what stands there now."""
        if include.form == "macro":
            for _, definition in self.macros.get(include.name, []):
                found = self.find(unit, definition)
                if found and self.settings.mirror_of(found[0]):
                    self.meet(found[0], found[1])
            return None
        found = self.find(unit, include)
        path, number = found or (None, None)
        mirror = self.settings.mirror_of(path) if path else None
        if include.form == "include_next" and unit.place is not None and mirror is None:
            self.stop_next(unit, include)
        if path is None:
            return None
        spelled = ('"%s"' if include.quoted else "<%s>") % include.text
        if number is not None:
            self.check_others(unit, include, path, number, mirror)
        here = os.path.dirname(unit.mirror)
        if mirror is None:
            if number is None and include.quoted and not os.path.isabs(include.text):
                # Beside the original, and not beside the mirror.
                return self.spell(include, os.path.relpath(path, here))
            return None
        self.meet(path, number)
        if os.path.isabs(include.text):
            leads = False
        elif number is None:
            leads = os.path.normpath(os.path.join(here, include.text)) == mirror
        else:
            directory = self.settings.searched(self.directories[number])
            leads = bool(directory) and os.path.normpath(os.path.join(directory, include.text)) == mirror
        if leads:
            return spelled
        # An #include that names a macro may stand in another directory.
        return self.spell(include, mirror if include.form == "define" else os.path.relpath(mirror, here))

    @staticmethod
    def spell(include, path):
        return '"%s"' % path

    def check_others(self, unit, include, path, number, mirror):
        """The mirrored directories come first, so that their order decides against the others'."""
        for other in range(number + 1, len(self.directories)):
            second = os.path.normpath(os.path.join(self.directories[other], include.text))
            if second == path or not self.settings.mirror_of(second) or not os.path.isfile(second):
                continue
            if content(second) == content(path):
                continue
            sentence = "%s is found twice, with different content." % include.text
            if mirror is None:
                sentence = "%s is found in the project and outside of it, with different content." % include.text
            raise in_file(
                "%s:%d" % (unit.path, include.line),
                sentence,
                ("found   " + path, "found   " + second),
                (
                    "include it by a path that only one of them has: #include \"<directory>/%s\"" % include.text,
                    "or take one of the two directories out of the include directories",
                ),
            )

    def stop_next(self, unit, include):
        raise in_file(
            "%s:%d" % (unit.path, include.line),
            "#include_next would lead from the translation to the file itself.",
            ("found   %s is translated" % unit.path, "wanted  a header of the project, or none after it"),
            (
                "SYSTEM for the include directory %s: its headers are then used as they are"
                % self.directories[unit.place],
            ),
        )

    # What is met

    def meet(self, path, number):
        if path in self.units:
            return
        unit = Unit()
        unit.path = path
        unit.mirror = self.settings.mirror_of(path)
        unit.place = number
        unit.text = unit.memo = None
        relative = os.path.relpath(unit.mirror, self.settings.mirror)
        unit.memo_path = os.path.join(self.settings.private, "memo", relative.replace("%", "%25").replace("/", "%2F"))
        self.units[path] = unit
        self.todo.append(unit)

    def scan(self, unit):
        """The includes of a file, from the memo of the last translation where the file hasn't changed."""
        unit.memo = None
        if unit.path != self.source:
            try:
                with open(unit.memo_path, "rb") as file:
                    key, includes, decisions = marshal.load(file)
                if key == (unit.path, stamp(unit.path)) + self.key and os.path.exists(unit.mirror):
                    unit.memo = decisions
                    unit.stamp = key[1]
                    unit.includes = [Include(*fields) for fields in includes]
                    return
            except (OSError, ValueError, EOFError, TypeError):
                pass
        text, unit.stamp = read(unit.path)
        unit.text = Text(text)
        unit.includes = unit.text.includes

    def follow(self):
        self.todo = []
        self.meet(self.source, None)
        met = []
        while True:
            while self.todo:
                unit = self.todo.pop()
                met.append(unit)
                self.scan(unit)
                for include in unit.includes:
                    if include.form == "define":
                        self.macros.setdefault(include.name, []).append((unit, include))
                unit.decisions = [self.decide(unit, include) for include in unit.includes]
            # A macro may be defined in a file that is met after the one that includes it.
            for unit in met:
                for include in unit.includes:
                    if include.form == "macro":
                        self.decide(unit, include)
            if not self.todo:
                return

    # Translating

    def translate(self, unit):
        if unit.text is None:
            text, when = read(unit.path)
            if when != unit.stamp:
                raise Changed
            unit.text = Text(text)
        if not self.loaded:
            self.translator.load()
            self.loaded = True
        once, front = self.translate_text(unit, unit.text, unit.decisions)
        twice, _ = self.translate_text(unit, Text(once), [None] * front + unit.decisions)
        if twice != once:
            self.stop_wrong(unit, "translating the translation again would change it", once, twice)
        warn_about_arch(unit.path, once[len(FRONT) :] if front else once)
        if unit.text.ends is not None:
            ends = ["\n"] * (FRONT.count("\n") if front else 0) + unit.text.ends + [""]
            once = "".join(part + end for part, end in zip(once.split("\n"), ends))
        return (("\ufeff" if unit.text.bom else "") + once).encode("utf-8")

    def translate_text(self, unit, text, decisions):
        """(translation, whether it begins with FRONT and the text doesn't)"""
        before, hidden, pattern = text.hide(decisions)
        after = self.ask(unit, before)
        front = after.startswith(RUNTIME_INCLUDE)
        if front:
            after = after[len(RUNTIME_INCLUDE) :]
        # nvcc includes cuda_runtime.h before the first line of each .cu; HIP's compiler doesn't.
        front = (front or unit.path.endswith(".cu")) and not text.text.startswith(RUNTIME_INCLUDE)
        if after.count("\n") != before.count("\n"):
            self.stop_wrong(unit, "the translator added or removed lines", before, after)
        for word in ("<<<", ">>>", "hipLaunchKernelGGL"):
            if after.count(word) != before.count(word):
                lines = zip(before.split("\n"), after.split("\n"))
                number = next((n for n, (a, b) in enumerate(lines) if a.count(word) != b.count(word)), 0)
                raise in_file(
                    "%s:%d" % (unit.path, self.original_line(before, number, hidden)),
                    "the translator rewrote a kernel launch, which HIP's compiler reads as it is.",
                    ("found   " + after.split("\n")[number].strip(), "by      " + self.translator.files[0]),
                    translator_cures(),
                )
        after = show(after, hidden, pattern)
        if after is None or not (after.startswith("\n") and after.endswith("\n")):
            raise in_file(
                unit.path,
                "the translator changed what was hidden from it.",
                ("by      " + self.translator.files[0],),
                translator_cures(),
            )
        return FRONT * front + after[1:-1], front

    def ask(self, unit, text):
        try:
            return self.translator.translate(text)
        except OSError:
            raise
        except Exception as error:
            raise in_file(
                unit.path,
                "the translator failed.",
                (
                    "found   %s: %s" % (type(error).__name__, (str(error).splitlines() or [""])[0]),
                    "by      " + self.translator.files[0],
                ),
                translator_cures(),
            )

    def stop_wrong(self, unit, sentence, first, second):
        facts = []
        for one, two in zip(first.split("\n"), second.split("\n")):
            if one != two:
                facts = ["before  " + one.strip(), "after   " + two.strip()]
                break
        raise in_file(unit.path, sentence + ".", facts + ["by      " + self.translator.files[0]], translator_cures())

    @staticmethod
    def original_line(before, number, hidden):
        line = number
        for match in re.finditer(r"_cudaops_*[csop](\d+)_", "\n".join(before.split("\n")[:number])):
            line += hidden[int(match.group(1))].count("\n")
        return line

    def write(self, unit):
        if unit.memo is not None and unit.memo == unit.decisions:
            return
        is_source = unit.path == self.source
        try:
            data = self.translate(unit)
        except Problem:
            remove(unit.memo_path)
            remove(unit.mirror)
            raise
        target = self.output if is_source else unit.mirror
        with Lock(os.path.join(self.settings.private, "lock")):
            # Another command may have translated what was written since we read.
            try:
                if stamp(unit.path) != unit.stamp:
                    raise Changed
            except FileNotFoundError:
                raise Changed
            same = content(target) == data
            if not same or is_source and not self.is_newest(target):
                replace(target, data, self.settings.private)
            if not is_source:
                includes = [(i.form, i.line, i.text, i.quoted, i.name) for i in unit.includes]
                key = (unit.path, unit.stamp) + self.key
                replace(unit.memo_path, marshal.dumps((key, includes, unit.decisions)), self.settings.private)

    def is_newest(self, target):
        """Whether nothing is newer than the translation, which may be there because another source includes it."""
        time = os.stat(target).st_mtime_ns
        for unit in self.units.values():
            if unit.stamp[1] >= time:
                return False
            if unit.path != self.source and os.stat(unit.mirror).st_mtime_ns >= time:
                return False
        return all(os.stat(file).st_mtime_ns < time for file in self.translator.files + [*OWN, self.settings.path])

    def all(self):
        if not os.path.isfile(self.source):
            raise in_file(self.source, "there is no such file.")
        if self.settings.mirror_of(self.source) != self.output:
            raise in_file(self.source, "it lies in no directory that is translated.")
        for path in self.settings.interface_sources:
            if self.settings.mirror_of(path):
                raise in_file(
                    path,
                    "a .cu file among the INTERFACE sources of a linked library can't be translated.",
                    ("wanted  a source of the target itself",),
                    ("target_sources(<target> PRIVATE %s), or an OBJECT library" % path,),
                )
        # A compiler may warn of an include directory that isn't there.
        for directory in self.directories:
            for root, mirror in self.settings.roots:
                if below(directory, root):
                    os.makedirs(os.path.normpath(os.path.join(mirror, os.path.relpath(directory, root))), exist_ok=True)
        self.follow()
        units = [unit for unit in self.units.values() if unit.path != self.source]
        for unit in units:
            self.write(unit)
        self.write(self.units[self.source])
        return [self.source] + sorted(unit.path for unit in units)


ARCH_CONDITION = re.compile(
    r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b((?:\\\n|[^\n])*)", re.M
)


def warn_about_arch(name, text):
    """HIP's compiler defines no __CUDA_ARCH__: a condition on it is false, and says nothing."""
    if "__CUDA_ARCH__" not in text:
        return
    plain = re.sub(r"//(?:\\\n|[^\n])*|/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)
    groups = []
    found = []
    for match in ARCH_CONDITION.finditer(plain):
        word, condition = match.groups()
        if word.startswith("if"):
            groups.append([bool(groups and groups[-1][0]), []])
        if not groups:
            continue
        if re.search(r"HIP|ROCM", condition):
            groups[-1][0] = True
        elif "__CUDA_ARCH__" in condition:
            newer = re.search(r"__CUDA_ARCH__\s*(>|==)|!\s*defined", condition)
            if newer or not re.search(r"__CUDA_ARCH__\s*<", condition):
                groups[-1][1].append((plain.count("\n", 0, match.start(2)) + 1, " ".join(match.group(0).split())))
        if word == "endif":
            knows, warnings = groups.pop()
            if not knows:
                found += warnings
    for line, condition in sorted(found):
        sys.stderr.write(
            "%s:%d: warning: HIP's compiler doesn't define __CUDA_ARCH__.\n"
            "  found   %s\n"
            " Fix: add what holds for HIP: || defined(__HIP_DEVICE_COMPILE__), or && !defined(USE_ROCM)\n"
            % (name, line, condition)
        )


def forget(settings, depfile, files):
    """Removes the mirrors of headers that the source included the last time and that are gone."""
    try:
        with open(depfile, encoding="utf-8", errors="surrogateescape") as file:
            old = depfiles.written(file.read())
    except OSError:
        return
    for path in old:
        mirror = settings.mirror_of(path)
        if path not in files and mirror and not os.path.exists(path):
            with Lock(os.path.join(settings.private, "lock")):
                if not os.path.exists(path):
                    remove(mirror)


def main(arguments):
    if len(arguments) != 4:
        sys.stderr.write(__doc__.split("\n\n")[1] + "\n")
        return 2
    settings_path, source, output, depfile = arguments
    try:
        settings = Settings(settings_path)
        os.makedirs(settings.private, exist_ok=True)
        sweep(settings.private)
        for attempt in range(20):
            run = Run(settings, source, output)
            try:
                files = run.all()
                break
            except Changed:
                continue
        else:
            raise in_file(source, "it, or a header of it, changes all the time.")
        files += run.translator.files
        forget(settings, depfile, files)
        replace(depfile, os.fsencode(depfiles.rule(output, files)), settings.private)
    except BaseException as error:
        # A build that goes on must not find an old translation, or the beginning of one.
        remove(output)
        remove(depfile)
        if isinstance(error, Problem):
            sys.stderr.write("%s\n" % error.text())
        elif isinstance(error, OSError):
            sys.stderr.write("%s: error: %s.\n" % (error.filename or source, error.strerror))
        else:
            raise
        return 1
    return 0

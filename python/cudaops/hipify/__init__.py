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
import sys

from .. import depfile as depfiles
from .. import includes, store
from ..problem import Problem, in_file
from ..store import Lock, content, remove, replace, stamp, sweep
from . import search, settings, text, translation, translators
from .search import Search
from .settings import Settings, below
from .translation import Changed, Translation

# What a translation follows from besides its inputs; hipify.cmake names the same files.
OWN = [__file__, *(one.__file__ for one in (includes, search, settings, store, text, translation, translators))]


class Run:
    """One source with everything that it includes."""

    def __init__(self, settings, source, output):
        self.settings = settings
        self.source = source
        self.output = output
        self.translation = Translation(settings)
        self.translator = self.translation.translator
        self.search = Search(settings, source, self.translator.key + tuple(map(stamp, OWN)))

    def write(self, unit):
        if unit.memo is not None and unit.memo == unit.decisions:
            return
        is_source = unit.path == self.source
        try:
            data = self.translation.translate(unit)
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
                key = (unit.path, unit.stamp) + self.search.key
                replace(unit.memo_path, marshal.dumps((key, includes, unit.decisions)), self.settings.private)

    def is_newest(self, target):
        """Whether nothing is newer than the translation, which may be there because another source includes it."""
        time = os.stat(target).st_mtime_ns
        for unit in self.search.units.values():
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
        for directory in self.search.directories:
            for root, mirror in self.settings.roots:
                if below(directory, root):
                    os.makedirs(os.path.normpath(os.path.join(mirror, os.path.relpath(directory, root))), exist_ok=True)
        self.search.follow()
        units = [unit for unit in self.search.units.values() if unit.path != self.source]
        for unit in units:
            self.write(unit)
        self.write(self.search.units[self.source])
        return [self.source] + sorted(unit.path for unit in units)


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
        for _ in range(20):
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

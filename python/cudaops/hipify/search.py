# SPDX-License-Identifier: Apache-2.0
"""What a source includes: which files that are, and what stands for their names in the translation."""

import marshal
import os

from ..includes import Include
from ..problem import in_file
from ..store import Lock, content, remove, stamp
from .text import Text, read


class Unit:
    """A project file that is translated, as far as it is known."""

    __slots__ = ("path", "mirror", "memo", "memo_path", "text", "stamp", "includes", "decisions", "place")


class Search:
    """`key`: what decides beside the files and the settings."""

    def __init__(self, settings, source, key):
        self.settings = settings
        self.source = source
        self.directories = list(dict.fromkeys(settings.own.get(source, []) + settings.includes))
        # Of the settings what counts: those for another language are often the same.
        searched = [settings.searched(directory) for directory in self.directories]
        self.key = key + (settings.places, settings.macros, self.directories, searched)
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
                return '"%s"' % os.path.relpath(path, here)
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
        return '"%s"' % (mirror if include.form == "define" else os.path.relpath(mirror, here))

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

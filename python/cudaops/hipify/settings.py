# SPDX-License-Identifier: Apache-2.0
"""What CMake writes for a target: see the package."""

import os
import re


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

# SPDX-License-Identifier: Apache-2.0
"""What builds of one key read, and whether it is still there unchanged.

A manifest is a text file of up to four sections, the newest first: an old text put back finds its old object.

    section <digest of the lines below> <number of lines>
    built <object key> <file> <stamp of the file> <its digest>       or     failed <object key> - - -
    fact <name> <value>
    file <stamp> <digest> <path>        read by the build; the real path
    absent <path>                       would have been read instead of another, had it been there
    there <path>                        was asked for only (__has_include)

A stamp is size, mtime, ctime and inode; "-" where the file was younger than a stamp can tell, which is compared by content.
"""

import os

from .key import digest

SECTIONS = 4
# File systems tell times in steps of some milliseconds.
RACY_NS = 20_000_000


def stamp_of(stat):
    return "%d.%d.%d.%d" % (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)


def digest_of(path):
    with open(path, "rb") as file:
        return digest(file.read())


class Section:
    """One build."""

    def __init__(self, head, facts, entries):
        self.built, self.object, self.file, self.stamp, self.digest = head
        self.facts = facts
        self.entries = entries

    def changed(self, known):
        """None where all is as it was, else (kind, path): what isn't, first of all. `known` holds digests."""
        stat, exists, there = os.stat, os.access, os.F_OK
        for entry in self.entries:
            if entry[0] == "f":
                # "file <stamp> <digest of 32 characters> /<path>", looked at some thousand times a load.
                start = entry.index("/")
                path = entry[start:]
                try:
                    now = stat(path)
                except OSError:
                    return "gone", path
                if entry[5 : start - 34] == "%d.%d.%d.%d" % (now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino):
                    continue
                if path not in known:
                    try:
                        known[path] = digest_of(path)
                    except OSError:
                        return "gone", path
                if known[path] != entry[start - 33 : start - 1]:
                    return "changed", path
            elif entry[0] == "a":
                if exists(entry[7:], there):
                    return "new", entry[7:]
            elif not exists(entry[6:], there):
                return "gone", entry[6:]
        return None

    def files(self):
        """{path: digest}"""
        found = {}
        for entry in self.entries:
            if entry.startswith("file "):
                _, _, content, path = entry.split(" ", 3)
                found[path] = content
        return found

    def text(self):
        lines = ["%s %s %s %s %s" % (self.built, self.object, self.file, self.stamp, self.digest)]
        lines += ["fact %s %s" % item for item in sorted(self.facts.items())]
        lines += self.entries
        body = "\n".join(lines) + "\n"
        return "section %s %d\n%s" % (digest(body), len(lines), body)


def read(path):
    """[Section] or None where the file is damaged; [] where there is none."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            lines = file.read().split("\n")
    except OSError:
        return []
    sections, position = [], 0
    try:
        while position < len(lines) - 1:
            word, check, count = lines[position].split(" ")
            end = position + 1 + int(count)
            body = lines[position + 1 : end]
            if word != "section" or len(body) != int(count) or digest("\n".join(body) + "\n") != check:
                return None
            head = body[0].split(" ")
            facts, first = {}, 1
            while body[first : first + 1] and body[first].startswith("fact "):
                _, name, value = body[first].split(" ", 2)
                facts[name] = value
                first += 1
            if len(head) != 5:
                return None
            sections.append(Section(head, facts, body[first:]))
            position = end
    except ValueError:
        return None
    return sections


def text_of(sections):
    return "".join(section.text() for section in sections[:SECTIONS])


def file_entry(path, started_ns):
    """The line for a file that a build read which started at `started_ns`; None where it has changed since.

    Raises OSError.
    """
    before = os.stat(path)
    content = digest_of(path)
    after = os.stat(path)
    youngest = max(after.st_mtime_ns, after.st_ctime_ns)
    if stamp_of(before) != stamp_of(after) or after.st_ctime_ns > started_ns:
        return None
    racy = youngest > started_ns - RACY_NS
    return "file %s %s %s" % ("-" if racy else stamp_of(after), content, path)

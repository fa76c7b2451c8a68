# SPDX-License-Identifier: Apache-2.0
"""What builds of one key read, and whether it is still there unchanged.

A manifest is a text file of up to four sections, the newest first: an old text put back finds its old object.

    section <digest of the lines below> <their size in bytes>
    built <object key> <file> <stamp of the file> <its digest>       or     failed <object key> - - -
    fact <name> <value>
    files <sum> <directory>             read by the build, by real path; three lines belong to it:
    <name>/<name>/...
    <stamp> <stamp> ...
    <digest> <digest> ...
    absent <path>                       would have been read instead of another, had it been there
    there <path>                        was asked for only (__has_include)

A stamp is size, mtime, ctime and inode; "-" where the file was younger than a stamp can tell, which is compared by content.
A sum is Python's hash of the stamps of a directory's files, which is the same in each process: one number to compare instead
of thousands of texts. Where it differs, as in another Python, the stamps decide.
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
    """One build; data: the lines after the facts."""

    def __init__(self, head, facts, data):
        self.built, self.object, self.file, self.stamp, self.digest = head
        self.facts = facts
        self.data = data

    @property
    def lines(self):
        return self.data.decode("utf-8", "surrogateescape").split("\n")[:-1]

    def changed(self, known, in_c=None):
        """None where all is as it was, else (kind, path): what isn't, first of all. `known` holds digests.

        in_c: stamps.function(), or None.
        """
        if in_c and in_c(self.data) == 0:
            return None
        lines = iter(self.lines)
        for line in lines:
            if line[0] == "f":
                _, total, place = line.split(" ", 2)
                change = _changed(place, total, next(lines).split("/"), next(lines), next(lines), known)
                if change:
                    return change
            elif line[0] == "a":
                if os.access(line[7:], os.F_OK):
                    return "new", line[7:]
            elif not os.access(line[6:], os.F_OK):
                return "gone", line[6:]
        return None

    def files(self):
        """{path: (stamp, digest)} of those that have a stamp."""
        found, lines = {}, iter(self.lines)
        for line in lines:
            if line.startswith("files "):
                place = line.split(" ", 2)[2]
                names, stamps, contents = next(lines).split("/"), next(lines).split(" "), next(lines).split(" ")
                for name, stamp, content in zip(names, stamps, contents):
                    if stamp != "-":
                        found[os.path.join(place, name)] = stamp, content
        return found

    def text(self):
        lines = ["%s %s %s %s %s" % (self.built, self.object, self.file, self.stamp, self.digest)]
        lines += ["fact %s %s" % item for item in sorted(self.facts.items())]
        data = ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape") + self.data
        return "section %s %d\n%s" % (digest(data), len(data), data.decode("utf-8", "surrogateescape"))


def _changed(directory, total, names, stamps, digests, known):
    """Section.changed() for the files of one directory."""
    # By name in an open directory: the kernel has less of a path to follow.
    stat, found = os.stat, 0
    try:
        place = os.open(directory, getattr(os, "O_PATH", os.O_RDONLY) | os.O_CLOEXEC)
        try:
            for name in names:
                now = stat(name, dir_fd=place)
                found = hash((found, now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino))
        finally:
            os.close(place)
        if str(found) == total:
            return None
    except OSError:
        pass
    for name, stamp, content in zip(names, stamps.split(" "), digests.split(" ")):
        path = os.path.join(directory, name)
        try:
            if stamp_of(stat(path)) == stamp:
                continue
            if path not in known:
                known[path] = digest_of(path)
        except OSError:
            return "gone", path
        if known[path] != content:
            return "changed", path
    return None


def each(path):
    """The sections, the newest first. Raises ValueError for a damaged one; nothing where there is no such file."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return
    position = 0
    while position < len(data):
        end = data.index(b"\n", position)
        word, check, size = data[position:end].split(b" ")
        position = end + 1 + int(size)
        body = data[end + 1 : position]
        if word != b"section" or len(body) != int(size) or digest(body) != check.decode():
            raise ValueError
        start = body.index(b"\n") + 1
        head, facts = body[: start - 1].decode().split(" "), {}
        while body.startswith(b"fact ", start):
            end = body.index(b"\n", start)
            _, name, value = body[start:end].decode("utf-8", "surrogateescape").split(" ", 2)
            facts[name] = value
            start = end + 1
        yield Section(head, facts, body[start:])


def read(path):
    """[Section] or None where the file is damaged; [] where there is none."""
    try:
        return list(each(path))
    except ValueError:
        return None


def text_of(sections):
    return "".join(section.text() for section in sections[:SECTIONS])


def data_of(entries):
    """The lines of a section for [("file", stamp, digest, path)], ("absent", path), ("there", path)."""
    directories, lines = {}, []
    for kind, *rest in entries:
        if kind == "file":
            stamp, content, path = rest
            place, name = os.path.split(path)
            for column, value in zip(directories.setdefault(place, ([], [], [])), (name, stamp, content)):
                column.append(value)
        else:
            lines.append("%s %s" % (kind, rest[0]))
    files = []
    for place, (names, stamps, contents) in directories.items():
        files += ["files %s %s" % (_sum(stamps), place), "/".join(names), " ".join(stamps), " ".join(contents)]
    return "".join(line + "\n" for line in [*files, *lines]).encode("utf-8", "surrogateescape")


def _sum(stamps):
    if "-" in stamps:
        return "-"
    total = 0
    for stamp in stamps:
        total = hash((total, *map(int, stamp.split("."))))
    return total


def file_entry(path, started_ns, known=None):
    """("file", stamp, digest, path) of what a build read that started at `started_ns`; None where it has changed since.

    known: (stamp, digest) of an earlier build. Raises OSError.
    """
    before = os.stat(path)
    if known and stamp_of(before) == known[0] and before.st_ctime_ns < started_ns - RACY_NS:
        return "file", *known, path
    content = digest_of(path)
    after = os.stat(path)
    youngest = max(after.st_mtime_ns, after.st_ctime_ns)
    if stamp_of(before) != stamp_of(after) or after.st_ctime_ns > started_ns:
        return None
    racy = youngest > started_ns - RACY_NS
    return "file", "-" if racy else stamp_of(after), content, path

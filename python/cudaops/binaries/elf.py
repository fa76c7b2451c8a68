# SPDX-License-Identifier: Apache-2.0
"""Reads ELF files: header, sections, segments, and what the loader reads of a shared library.

Only tables are read, never code or device code: torch's own libraries have a gigabyte. Builds run it in a Python without
packages, so pyelftools could not replace it.
"""

import os
import stat
import struct
import sys

# A damaged size field must not make us allocate what it says.
MAX_TABLE_BYTES = 256 << 20
ET_REL = 1
PT_LOAD, PT_DYNAMIC, PT_NOTE = 1, 2, 4
SHT_NOBITS = 8
DT_NEEDED, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SONAME, DT_RPATH, DT_RUNPATH = 1, 4, 5, 6, 10, 14, 15, 29
DT_GNU_HASH = 0x6FFFFEF5
STB_GLOBAL = 1


class NotReadable(Exception):
    """The file is no library that can be read; the text is one sentence that names it."""


class File:
    """Bounds-checked reads at positions of a file."""

    def __init__(self, path):
        self.path = os.fspath(path)
        try:
            # Not to wait for ever for the other end of a pipe.
            self._fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise NotReadable("%s can't be read: %s." % (self.path, error.strerror)) from None
        try:
            status = os.fstat(self._fd)
            if not stat.S_ISREG(status.st_mode):
                raise NotReadable("%s is not a file." % self.path)
            self.size = status.st_size
        except BaseException:
            os.close(self._fd)
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._fd)

    def read(self, offset, size, what):
        if offset < 0 or size < 0 or offset + size > self.size:
            raise NotReadable("%s is damaged or cut short: its %s lies beyond its end." % (self.path, what))
        if size > MAX_TABLE_BYTES:
            raise NotReadable("%s is damaged: its %s claims %d bytes." % (self.path, what, size))
        parts = []
        while size:
            try:
                part = os.pread(self._fd, size, offset)
            except OSError as error:
                raise NotReadable("%s can't be read: %s." % (self.path, error.strerror)) from None
            if not part:
                raise NotReadable("%s became shorter while it was read." % self.path)
            parts.append(part)
            offset += len(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)


class Memory:
    """What is already in memory, read like a file."""

    def __init__(self, path, data):
        self.path = path
        self.size = len(data)
        self._data = data

    def read(self, offset, size, what):
        if offset < 0 or size < 0 or offset + size > self.size:
            raise NotReadable("%s is damaged or cut short: its %s lies beyond its end." % (self.path, what))
        return self._data[offset : offset + size]


class Elf:
    """The header and the two tables of a 64-bit little-endian ELF file that starts at `base`."""

    def __init__(self, file, base=0):
        self.file = file
        self.base = base
        start = file.read(base, min(64, file.size - base), "header")
        if start[:4] != b"\x7fELF":
            if start[:8] == b"!<arch>\n":
                raise NotReadable("%s is a static archive: give the library that was linked from it." % file.path)
            raise NotReadable("%s is not an ELF file." % file.path)
        if len(start) < 64:
            raise NotReadable("%s is damaged or cut short: its header lies beyond its end." % file.path)
        if start[4:6] != b"\x02\x01":
            raise NotReadable("%s is not a 64-bit little-endian ELF file." % file.path)
        self.abi, self.abi_version = start[7], start[8]
        self.type, self.machine = struct.unpack_from("<HH", start, 16)
        self.flags = struct.unpack_from("<I", start, 48)[0]
        self._phoff, self._shoff = struct.unpack_from("<QQ", start, 32)
        phentsize, self._phnum, shentsize, self._shnum, self._shstrndx = struct.unpack_from("<HHHHH", start, 54)
        if (self._phnum and phentsize != 56) or (self._shoff and shentsize != 64):
            raise NotReadable("%s is damaged: its header tables have entries of an unknown size." % file.path)

    def segments(self):
        """(type, offset, address, size in the file, alignment) of each program header."""
        table = self.file.read(self.base + self._phoff, 56 * self._phnum, "program header table")
        for entry in struct.iter_unpack("<IIQQQQQQ", table):
            yield entry[0], entry[2], entry[3], entry[5], entry[7]

    def sections(self):
        """(name, type, offset, size) of each section; none where the table was stripped off."""
        if not self._shoff:
            return
        count, names_index = self._shnum, self._shstrndx
        if count == 0 or names_index == 0xFFFF:  # more than 65279 sections: the first entry has the numbers
            first = self.file.read(self.base + self._shoff, 64, "section table")
            count = count or struct.unpack_from("<Q", first, 32)[0]
            if names_index == 0xFFFF:
                names_index = struct.unpack_from("<I", first, 40)[0]
        table = self.file.read(self.base + self._shoff, 64 * count, "section table")
        if names_index >= count:
            return
        _, _, _, _, names_offset, names_size = struct.unpack_from("<IIQQQQ", table, 64 * names_index)
        names = self.file.read(self.base + names_offset, names_size, "section names")
        for entry in struct.iter_unpack("<IIQQQQIIQQ", table):
            yield c_string(names, entry[0]), entry[1], entry[4], entry[5]


def c_string(table, offset):
    end = table.find(b"\0", offset)
    return table[offset : end if end >= 0 else len(table)].decode("utf-8", "replace")


class Dynamic:
    """What the loader reads: DT_ entries, strings and symbols. `entries` is empty where there is no such table."""

    def __init__(self, elf):
        self._file = elf.file
        self._segments = list(elf.segments())
        self.entries = []
        for kind, offset, _, size, _ in self._segments:
            if kind == PT_DYNAMIC:
                table = elf.file.read(offset, size // 16 * 16, "dynamic section")
                for tag, value in struct.iter_unpack("<qQ", table):
                    if tag == 0:
                        break
                    self.entries.append((tag, value))
                break
        self._values = dict(self.entries)
        self._strings = self._offset(DT_STRTAB)

    def _offset(self, tag):
        """Place in the file of the table that an entry points to, or None."""
        address = self._values.get(tag)
        for kind, offset, first, size, _ in self._segments:
            if kind == PT_LOAD and address is not None and first <= address < first + size:
                return offset + address - first
        return None

    def string(self, offset):
        # torch's string tables have 100 MB: take what is needed only.
        if self._strings is None or offset >= self._values.get(DT_STRSZ, 0):
            return ""
        start = self._strings + offset
        for length in (256, 4096, 1 << 20):
            size = min(length, self._values[DT_STRSZ] - offset)
            text = self._file.read(start, size, "dynamic strings")
            if b"\0" in text or size < length:
                break
        return c_string(text, 0)

    def links(self):
        """SONAME, NEEDED and RUNPATH (or RPATH)."""
        result = {"soname": "", "needed": [], "runpath": ""}
        for tag, value in self.entries:
            if tag == DT_NEEDED:
                result["needed"].append(self.string(value))
            elif tag == DT_SONAME:
                result["soname"] = self.string(value)
            elif tag == DT_RUNPATH or (tag == DT_RPATH and not result["runpath"]):
                result["runpath"] = self.string(value)
        return result

    def undefined(self):
        """Names of the symbols that other libraries must bring; weak ones need not exist."""
        symbols, count = self._offset(DT_SYMTAB), 0
        if self._offset(DT_GNU_HASH) is not None:
            # Only defined symbols are hashed, and they stand at the end of the table.
            count = struct.unpack("<II", self._file.read(self._offset(DT_GNU_HASH), 8, "hash table"))[1]
        elif self._offset(DT_HASH) is not None:
            count = struct.unpack("<II", self._file.read(self._offset(DT_HASH), 8, "hash table"))[1]
        names = []
        if symbols is not None and count > 1:
            for name, info, _, index, _, _ in struct.iter_unpack(
                "<IBBHQQ", self._file.read(symbols, 24 * count, "symbols")
            ):
                if name and index == 0 and info >> 4 == STB_GLOBAL:
                    names.append(self.string(name))
        return names

    def defines(self, name):
        """True where the library exports `name`; None where it has no hash table to look it up in."""
        table, symbols = self._offset(DT_GNU_HASH), self._offset(DT_SYMTAB)
        if table is None or symbols is None:
            return None
        encoded = name.encode()
        wanted = 5381
        for byte in encoded:
            wanted = (wanted * 33 + byte) & 0xFFFFFFFF
        buckets, first, words, _ = struct.unpack("<IIII", self._file.read(table, 16, "hash table"))
        if buckets == 0:
            return False
        at = table + 16 + 8 * words
        index = struct.unpack("<I", self._file.read(at + 4 * (wanted % buckets), 4, "hash table"))[0]
        if index < first:
            return False
        at += 4 * buckets
        while True:
            found = struct.unpack("<I", self._file.read(at + 4 * (index - first), 4, "hash table"))[0]
            if found | 1 == wanted | 1:
                offset, _, _, section = struct.unpack("<IBBH", self._file.read(symbols + 24 * index, 8, "symbols"))
                if section != 0 and self.string(offset) == name:
                    return True
            if found & 1:
                return False
            index += 1


def find_library(name, runpath, origin):
    """Where the loader would find a NEEDED library, or None."""
    places = [place.replace("$ORIGIN", origin).replace("${ORIGIN}", origin) for place in runpath.split(":") if place]
    places += [place for place in os.environ.get("LD_LIBRARY_PATH", "").split(":") if place]
    multiarch = "%s-linux-gnu" % os.uname().machine
    # conda's environments bring a runtime of their own.
    places += [os.path.join(sys.prefix, "lib")]
    places += ["/lib/" + multiarch, "/usr/lib/" + multiarch, "/lib64", "/usr/lib64", "/lib", "/usr/lib"]
    for place in places:
        file = os.path.join(place, name)
        if os.path.exists(file):
            return os.path.realpath(file)
    return None

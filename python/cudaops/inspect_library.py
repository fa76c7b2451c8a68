# SPDX-License-Identifier: Apache-2.0
"""Says what a library holds, without loading it: CudaOps' note, the architectures of its device code, what it links.

usage: python -I -S _run.py inspect_library <library> [--json | --archs | --common-archs | --check-archs <list> | --needed]

  (nothing)             a summary for people
  --json                the same and more for programs
  --archs               sm_90a,compute_120 or gfx90a,gfx942:xnack-: what the device code is for
  --common-archs        75,80,90 or gfx90a,gfx942: plain architectures that most of the device code is for
  --check-archs <list>  compares with a list such as sm_90a,compute_120 or gfx90a,gfx942:xnack-
  --needed              libtorch_cpu.so,libc10.so: what it links

Exit code: 0; 1 where --check-archs misses something; 2 where the file, or what the answer depends on, can't be read.

Only the tables of the file are read, never its code or device code: torch's own libraries have a gigabyte.
Python 3.8 or later, standard library only: builds run it.
"""

import json
import os
import re
import signal
import stat
import struct
import sys

NOTE_OWNER = b"CudaOps\0"
NOTE_TYPE = 1
# A damaged size field must not make us allocate what it says.
MAX_TABLE_BYTES = 256 << 20

PT_LOAD, PT_DYNAMIC, PT_NOTE = 1, 2, 4
SHT_NOBITS = 8
DT_NEEDED, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SONAME, DT_RPATH, DT_RUNPATH = 1, 4, 5, 6, 10, 14, 15, 29
DT_GNU_HASH = 0x6FFFFEF5
STB_GLOBAL = 1
FILE_TYPES = {1: "relocatable object", 2: "executable", 3: "shared library"}
MACHINES = {62: "x86_64", 183: "aarch64", 190: "CUDA"}

FATBIN_MAGIC = 0xBA55ED50
FATBIN_KINDS = {1: "ptx", 2: "cubin", 8: "lto"}
ARCH_PREFIX = {"ptx": "compute_", "cubin": "sm_", "lto": "lto_", "hip": ""}
# Flags of an entry, as nvcc 12.8 to 13.2 write them.
FATBIN_SPECIFIC = 0x100000  # the a of 90a
FATBIN_FAMILY = 0x200000  # the f of 100f
# nvcc's link step adds a cubin without code for each architecture that the *link* line names. Compressed ones can only
# be told by their size (about 1500 bytes; the smallest with code 2100).
SMALLEST_CUBIN_WITH_CODE = 2000

# HIP: bundles of code objects, one after another in .hip_fatbin (clang's "offload bundles", plain or compressed).
BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_MAGIC = b"CCOB"
COMPRESSED_HEADERS = {1: struct.Struct("<8xIQ"), 2: struct.Struct("<8xIIQ"), 3: struct.Struct("<8xQQQ")}
WRAPPER_MAGIC = 0x48495046  # of the entries of .hipFatBinSegment, which hand a bundle to the runtime
# Far above what compilers write; a damaged number must not make us read for minutes.
MAX_BUNDLES = 1 << 16
MAX_BUNDLE_ENTRIES = 256
MAX_BUNDLE_HEADER = 1 << 16
MAX_PADDING = 1 << 20
# How far into a compressed bundle code objects are looked into, and what may be unpacked of a file beyond the headers.
MAX_REACH = 1 << 20
MAX_UNPACKED = 256 << 20
# Code objects below it are looked into: those of a device link without device code are smaller.
SMALL_CODE_OBJECT = 8192

HIP_ENTRY = re.compile(r"hip(?:v4)?-(?:amdgcn|spirv64)-[^-]*-[^-]*-(?:unknown)?-*(.+)")
HIP_TARGET = re.compile(r"(gfx[0-9a-f]+(?:-[0-9a-z]+)*|amdgcnspirv)((?::[a-z]+[+-])*)")
EM_AMDGPU, ELFOSABI_AMDGPU_HSA, ELFABIVERSION_AMDGPU_HSA_V4 = 224, 64, 2
# EF_AMDGPU_MACH: the processor in a code object's e_flags, as LLVM's AMDGPUUsage lists them.
HIP_MACHINES = dict(
    enumerate(
        """
        gfx600 gfx601 gfx700 gfx701 gfx702 gfx703 gfx704 ? gfx801 gfx802 gfx803 gfx810 gfx900 gfx902 gfx904 gfx906
        gfx908 gfx909 gfx90c gfx1010 gfx1011 gfx1012 gfx1030 gfx1031 gfx1032 gfx1033 gfx602 gfx705 gfx805 gfx1035
        gfx1034 gfx90a gfx940 gfx1100 gfx1013 gfx1150 gfx1103 gfx1036 gfx1101 gfx1102 gfx1200 gfx1250 gfx1151 gfx941
        gfx942 ? gfx1201 gfx950 ? gfx9-generic gfx10-1-generic gfx10-3-generic gfx11-generic gfx1152 ? ? gfx1153
        gfx12-generic gfx1251 gfx12-5-generic ? ? ? gfx9-4-generic
        """.split(),
        0x20,
    )
)
# Place of a feature's two bits in e_flags, and what they say.
HIP_FEATURES = {"xnack": 8, "sramecc": 10}
HIP_FEATURE_OFF, HIP_FEATURE_ON = 2, 3


class NotReadable(Exception):
    """The file is no library that can be read; the text is one sentence that names it."""


class _File:
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


class _Elf:
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
            yield _c_string(names, entry[0]), entry[1], entry[4], entry[5]


def _c_string(table, offset):
    end = table.find(b"\0", offset)
    return table[offset : end if end >= 0 else len(table)].decode("utf-8", "replace")


def _notes(data, align):
    """(owner, type, descriptor) of each note in the bytes of a segment or section."""
    at = 0
    while at + 12 <= len(data):
        name_size, size, kind = struct.unpack_from("<III", data, at)
        begin = -(-(at + 12 + name_size) // align) * align
        if begin + size > len(data):
            return
        yield data[at + 12 : at + 12 + name_size], kind, data[begin : begin + size]
        at = -(-(begin + size) // align) * align


def _find_note(elf, sections):
    places = [(offset, size, align) for kind, offset, _, size, align in elf.segments() if kind == PT_NOTE]
    # objcopy and linker scripts can leave the section outside any segment, and an object file has no segments.
    places += [
        (offset, size, 4) for name, kind, offset, size in sections if name == ".note.cudaops" and kind != SHT_NOBITS
    ]
    for offset, size, align in places:
        data = elf.file.read(offset, size, "note")
        for owner, kind, text in _notes(data, 8 if align == 8 else 4):
            if owner == NOTE_OWNER and kind == NOTE_TYPE:
                return text
    return None


def note_in_memory(start, read):
    """The text of the note of the library loaded at address `start`, or None; read(address, size) gives bytes."""
    header = read(start, 64)
    if len(header) < 64 or header[:6] != b"\x7fELF\x02\x01":
        return None
    table_offset, entry_size, count = struct.unpack_from("<Q14xHH", header, 32)
    table = read(start + table_offset, 56 * count)
    if entry_size != 56 or len(table) < 56 * count:
        return None
    segments = [(entry[0], entry[3], entry[6], entry[7]) for entry in struct.iter_unpack("<IIQQQQQQ", table)]
    loaded = [(begin, begin + size) for kind, begin, size, _ in segments if kind == PT_LOAD]
    for kind, begin, size, align in segments:
        # A note outside what is loaded isn't there in memory.
        if kind == PT_NOTE and any(first <= begin and begin + size <= last for first, last in loaded):
            address = start + begin - loaded[0][0] // 4096 * 4096
            for owner, number, text in _notes(read(address, size), 8 if align == 8 else 4):
                if owner == NOTE_OWNER and number == NOTE_TYPE:
                    return text
    return None


def parse_note(text):
    """(content, problem) of a note's text."""
    if text is None:
        return None, ""
    try:
        content = json.loads(text.decode("utf-8"))
    except ValueError as error:
        return None, "the note of CudaOps in it is damaged (%s)" % error
    if not isinstance(content, dict):
        return None, "the note of CudaOps in it is damaged (no JSON object)"
    return content, ""


class _Dynamic:
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
        return _c_string(text, 0)

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


class _Image:
    """One cubin, PTX or LTO text in a fatbin, or one code object of HIP."""

    __slots__ = ("kind", "arch", "container", "size", "compressed", "relocatable", "has_code")

    @property
    def name(self):
        return ARCH_PREFIX[self.kind] + self.arch


def _images(elf, sections, unread, max_containers=None):
    """Every device image in the file, container after container; only headers are read.

    What can't be read is added to `unread`, a sentence each.
    """
    yield from _cuda_images(elf, sections, max_containers)
    yield from _hip_images(elf, sections, unread, max_containers)


def _cuda_images(elf, sections, max_containers):
    file = elf.file
    count = 0
    for name, kind, at, size in sections:
        if name not in (".nv_fatbin", "__nv_relfatbin") or kind == SHT_NOBITS:
            continue
        end = at + size
        if end > file.size:
            raise NotReadable("%s is damaged or cut short: its device code lies beyond its end." % file.path)
        while at + 16 <= end:
            # Usually the header of the container and that of its first image in one read.
            ahead = file.read(at, min(16 + 64, end - at), "device code")
            magic, _, header_size, content_size = struct.unpack_from("<IHHQ", ahead)
            if magic != FATBIN_MAGIC:
                if any(ahead[:8]):
                    raise _bad_fatbin(file)
                at += 8  # padding between the containers of two object files
                continue
            entry = at + header_size
            at = entry + content_size
            ahead = ahead[header_size:]
            if header_size < 16 or at > end:
                raise _bad_fatbin(file)
            count += 1
            if max_containers is not None and count > max_containers:
                return
            while entry < at:
                if len(ahead) < 64:
                    if entry + 64 > at:
                        raise _bad_fatbin(file)
                    ahead = file.read(entry, 64, "device code")
                number, _, entry_size, payload_size = struct.unpack_from("<HHIQ", ahead)
                arch, flags, original_size = struct.unpack_from("<I8xQ8xQ", ahead, 28)
                payload = entry + entry_size
                if entry_size < 64 or payload + payload_size > at:
                    raise _bad_fatbin(file)
                if number in FATBIN_KINDS:
                    image = _Image()
                    image.kind = FATBIN_KINDS[number]
                    image.arch = "%d%s" % (
                        arch,
                        "a" if flags & FATBIN_SPECIFIC else "f" if flags & FATBIN_FAMILY else "",
                    )
                    image.container = count
                    image.size = payload_size
                    image.compressed = original_size != 0
                    image.relocatable = name == "__nv_relfatbin"
                    image.has_code = True
                    if image.kind == "cubin":
                        if image.compressed:
                            image.has_code = original_size >= SMALLEST_CUBIN_WITH_CODE
                        elif payload_size < 4 * SMALLEST_CUBIN_WITH_CODE:
                            image.has_code = _cubin_has_code(file, payload)
                    yield image
                entry = payload + payload_size
                ahead = b""


def _bad_fatbin(file):
    return NotReadable("%s is damaged: its device code has no valid headers." % file.path)


def _hip_images(elf, sections, unread, max_containers):
    file = elf.file
    names = {name for name, kind, _, _ in sections if kind != SHT_NOBITS}
    if ".rocm_kpack_ref" in names:
        # ROCm's multi-architecture packages; what is left of .hip_fatbin are zeros.
        unread.append("its HIP device code lies in .kpack archives outside it")
        return
    if ".llvm.offloading" in names:
        unread.append("it has a section .llvm.offloading, device code that a later link takes in")
    budget = _Budget(MAX_UNPACKED)
    # Sections that name what they hold are objects for a device link (-fgpu-rdc).
    for name, kind, at, size in sections:
        if name.startswith(BUNDLE_MAGIC.decode()) and kind != SHT_NOBITS:
            arch = _hip_arch(name[len(BUNDLE_MAGIC) :], unread)
            if arch:
                yield _hip_image(arch, 1, size, False, True)
    count = 0
    for name, kind, at, size in sections:
        if name != ".hip_fatbin" or kind == SHT_NOBITS:
            continue
        end = at + size
        if end > file.size:
            raise NotReadable("%s is damaged or cut short: its device code lies beyond its end." % file.path)
        while True:
            at = _after_zeros(file, at, end)
            if at >= end or (max_containers is not None and count >= max_containers):
                break
            count += 1
            if count > MAX_BUNDLES:
                raise _bad_fatbin(file)
            start = file.read(at, min(24, end - at), "device code")
            if start == BUNDLE_MAGIC:
                source, base, limit, following = file, at, end, None
            elif start[:4] == COMPRESSED_MAGIC:
                source, following = _unpack(file, at, end, budget, unread)
                if source is None:
                    if following is None:
                        return
                    at = following
                    continue
                base, limit = 0, source.size
            else:
                raise _bad_fatbin(file)
            entries, used = _bundle_entries(source, base, limit)
            for entry, offset, entry_size in entries:
                arch = _hip_arch(entry, unread)
                if arch:
                    image = _hip_image(arch, count, entry_size, source is not file, False)
                    _check_code_object(file, _Window(source, base + offset, entry_size), image)
                    yield image
            if source is file:
                at += used
            elif following is not None:
                at = following
            else:
                at = source.find_end()
                if at is None:
                    unread.append("its HIP device code is compressed in an old form of unknown length")
                    return
    if count == 0 and elf.type != 1 and ".hipFatBinSegment" in names:
        unread.append("it hands HIP device code to the runtime that is not in its section .hip_fatbin")
    for name, kind, at, size in sections:
        if name == ".hipFatBinSegment" and kind != SHT_NOBITS and size >= 24:
            magic = struct.unpack("<I", file.read(at, 4, "section .hipFatBinSegment"))[0]
            if magic != WRAPPER_MAGIC:
                unread.append("it hands device code to the HIP runtime in a form that isn't known (0x%08x)" % magic)


def _hip_image(arch, container, size, compressed, relocatable):
    image = _Image()
    image.kind = "hip"
    image.arch = arch
    image.container = container
    image.size = size
    image.compressed = compressed
    image.relocatable = relocatable
    image.has_code = True
    return image


def _hip_arch(entry, unread):
    """gfx90a:xnack- of the name of a bundle's entry, hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-; None for other code."""
    if not entry.startswith("hip"):
        return None
    found = HIP_ENTRY.fullmatch(entry)
    arch = found and _hip_name(found.group(1))
    if not arch:
        text = "it has HIP device code for %s, which isn't known" % ascii(entry[:80])
        if text not in unread and len(unread) < 10:
            unread.append(text)
    return arch


def _hip_name(text):
    """The canonical spelling, features in the order of the alphabet; None where it isn't one."""
    found = HIP_TARGET.fullmatch(text)
    if not found:
        return None
    features = found.group(2).split(":")[1:]
    if len({feature[:-1] for feature in features}) < len(features):
        return None
    return ":".join([found.group(1)] + sorted(features))


def _after_zeros(file, at, end):
    """The next position without a zero: bundles begin at multiples of 4096."""
    begin = at
    while at < end:
        block = file.read(at, min(4096, end - at), "device code")
        rest = block.lstrip(b"\0")
        if rest:
            return at + len(block) - len(rest)
        at += len(block)
        if at - begin > MAX_PADDING:
            raise _bad_fatbin(file)
    return end


def _bundle_entries(source, at, end):
    """([(name, offset, size)...], bytes up to the end of the bundle), offsets counted from `at`."""
    size = min(4096, end - at)
    block = source.read(at, size, "device code")
    if len(block) < 32 or block[:24] != BUNDLE_MAGIC:
        raise _bad_fatbin(source)
    count = struct.unpack_from("<Q", block, 24)[0]
    if not 0 < count <= MAX_BUNDLE_ENTRIES:
        raise _bad_fatbin(source)
    entries = []
    place, used = 32, 0
    while len(entries) < count:
        name_size = struct.unpack_from("<Q", block, place + 16)[0] if place + 24 <= len(block) else 0
        if place + 24 + name_size > len(block):
            if size >= min(MAX_BUNDLE_HEADER, end - at):
                raise _bad_fatbin(source)
            size = min(4 * size, MAX_BUNDLE_HEADER, end - at)
            block = source.read(at, size, "device code")
            continue
        offset, entry_size = struct.unpack_from("<QQ", block, place)
        if not name_size or offset + entry_size > end - at:
            raise _bad_fatbin(source)
        name = block[place + 24 : place + 24 + name_size].decode("utf-8", "replace")
        entries.append((name, offset, entry_size))
        place += 24 + name_size
        used = max(used, offset + entry_size)
    if any(size and offset < place for _, offset, size in entries):
        raise _bad_fatbin(source)
    return entries, max(used, place)


def _check_code_object(file, code, image):
    """A code object says itself what it was made for: it must be what the bundle calls it."""
    image.has_code = code.size > 0
    try:
        if code.read(0, min(4, code.size), "device code") != b"\x7fELF":
            return  # SPIR-V, or nothing
        elf = _Elf(code)
        if elf.machine != EM_AMDGPU:
            raise _bad_fatbin(file)
        name, *features = image.arch.split(":")
        made_for = HIP_MACHINES.get(elf.flags & 0xFF, "?")
        made_for = [name if made_for == "?" else made_for]
        for feature in features:
            sign = feature[-1]
            # Before version 4 other bits said it.
            if elf.abi == ELFOSABI_AMDGPU_HSA and elf.abi_version >= ELFABIVERSION_AMDGPU_HSA_V4:
                bits = elf.flags >> HIP_FEATURES[feature[:-1]] & 3 if feature[:-1] in HIP_FEATURES else 0
                sign = {HIP_FEATURE_OFF: "-", HIP_FEATURE_ON: "+"}.get(bits, sign)
            made_for.append(feature[:-1] + sign)
        if ":".join(made_for) != image.arch:
            raise NotReadable(
                "%s is damaged: what it calls device code for %s was made for %s."
                % (file.path, image.arch, ":".join(made_for))
            )
        if image.size < SMALL_CODE_OBJECT:
            # A device link of objects without device code makes code objects that export nothing.
            sizes = [size for section, _, _, size in elf.sections() if section == ".dynsym"]
            image.has_code = sizes != [24]
    except _OutOfReach:
        pass


class _Window:
    """A part of a file, read like a file."""

    def __init__(self, file, begin, size):
        self.path = file.path
        self.size = size
        self._file = file
        self._begin = begin

    def read(self, offset, size, what):
        if offset < 0 or size < 0 or offset + size > self.size:
            raise _bad_fatbin(self)
        return self._file.read(self._begin + offset, size, what)


class _Budget:
    def __init__(self, left):
        self.left = left


class _OutOfReach(Exception):
    """A place in compressed code that isn't worth unpacking all that stands before it."""


def _unpack(file, at, end, budget, unread):
    """(reader of a compressed bundle, where the next one begins); None each where that can't be known."""
    if end - at < 8:
        raise _bad_fatbin(file)
    version, method = struct.unpack("<4xHH", file.read(at, 8, "device code"))
    header = COMPRESSED_HEADERS.get(version)
    if header is None:
        unread.append("its HIP device code is compressed in a form that isn't known (version %d)" % version)
        return None, None
    if end - at < header.size:
        raise _bad_fatbin(file)
    fields = header.unpack(file.read(at, header.size, "device code"))
    following = None
    if version > 1:
        if not header.size <= fields[0] <= end - at:
            raise _bad_fatbin(file)
        following = end = at + fields[0]
    decoder = _decoder(method)
    if decoder is None:
        known = {1: "zstd, which takes Python 3.14 or libzstd.so.1 to read"}
        text = "its HIP device code is compressed with " + known.get(method, "a method that isn't known (%d)" % method)
        if text not in unread:
            unread.append(text)
        return None, following
    return _Unpacked(file, at + header.size, end, fields[-2], decoder, budget), following


class _Unpacked:
    """Reads at positions of what a compressed bundle holds, for as long as they are near its beginning."""

    def __init__(self, file, at, end, size, decoder, budget):
        self.path = file.path
        self.size = size
        self._file = file
        self._at = at
        self._end = end
        self._decoder = decoder
        self._budget = budget
        self._data = bytearray()
        self._step = 4096

    def read(self, offset, size, what):
        last = offset + size
        if last > self.size:
            raise NotReadable("%s is damaged: its %s lies beyond its end." % (self.path, what))
        if last > max(len(self._data), MAX_BUNDLE_HEADER):
            if last > MAX_REACH or self._budget.left <= 0:
                raise _OutOfReach
            self._budget.left -= last - len(self._data)
        while len(self._data) < last:
            self._data += self._more()
        return bytes(self._data[offset:last])

    def find_end(self):
        """Where the compressed data ends in the file; None where that would take too long."""
        done = len(self._data)
        while not self._decoder.eof:
            if self._budget.left <= 0:
                return None
            part = len(self._more())
            self._budget.left -= part
            done += part
            if done > self.size:
                raise _bad_packed(self.path, "there is more than its header says")
        return self._at - len(self._decoder.rest)

    def _more(self):
        if self._decoder.eof:
            raise _bad_packed(self.path, "it ends too early")
        block = b""
        if not self._decoder.rest:
            block = self._file.read(self._at, min(self._step, self._end - self._at), "device code")
            self._at += len(block)
            self._step = min(2 * self._step, 65536)
        try:
            result = self._decoder.step(block, 16384)
        except Exception as error:  # each decoder has exceptions of its own
            raise _bad_packed(self.path, error) from None
        if not result and not block and not self._decoder.eof:
            raise _bad_packed(self.path, "it ends too early")
        return result


def _bad_packed(path, why):
    return NotReadable("%s is damaged: its compressed device code can't be unpacked (%s)." % (path, why))


def _decoder(method):
    """Takes compressed bytes piece by piece: step(bytes, most bytes to give back), rest (not yet used), eof."""
    if method == 0:
        return _Zlib()
    if method == 1:
        try:
            from compression import zstd
        except ImportError:
            return _system_zstd()
        return _Zstd(zstd)
    return None


class _Zlib:
    def __init__(self):
        import zlib

        self._object = zlib.decompressobj()
        self.rest = b""
        self.eof = False

    def step(self, block, most):
        result = self._object.decompress(self.rest + block, most)
        self.eof = self._object.eof
        self.rest = self._object.unused_data if self.eof else self._object.unconsumed_tail
        return result


class _Zstd:
    """Python's own, since 3.14."""

    def __init__(self, module):
        self._object = module.ZstdDecompressor()
        self.rest = b""
        self.eof = False

    def step(self, block, most):
        result = self._object.decompress(block, most)
        self.eof = self._object.eof
        # What it keeps for the next call is its own affair; that there is something is ours.
        self.rest = self._object.unused_data if self.eof else b"" if self._object.needs_input else b"?"
        return result


def _system_zstd():
    """A decoder by the library that nearly every Linux has; None where it isn't there."""
    try:
        import ctypes

        # The copy that other libraries of this Python's environment would load: it stays in the process.
        library = ctypes.CDLL(_find_library("libzstd.so.1", "", "") or "libzstd.so.1")

        class Buffer(ctypes.Structure):
            _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("at", ctypes.c_size_t)]

        library.ZSTD_createDStream.restype = ctypes.c_void_p
        library.ZSTD_freeDStream.argtypes = [ctypes.c_void_p]
        library.ZSTD_decompressStream.restype = ctypes.c_size_t
        library.ZSTD_decompressStream.argtypes = [ctypes.c_void_p, ctypes.POINTER(Buffer), ctypes.POINTER(Buffer)]
        library.ZSTD_isError.argtypes = [ctypes.c_size_t]
        library.ZSTD_getErrorName.argtypes = [ctypes.c_size_t]
        library.ZSTD_getErrorName.restype = ctypes.c_char_p
    except (ImportError, OSError, AttributeError):
        return None

    class Decoder:
        def __init__(self):
            self._stream = library.ZSTD_createDStream()
            if not self._stream:
                raise MemoryError
            self.rest = b""
            self.eof = False

        def __del__(self):
            library.ZSTD_freeDStream(self._stream)

        def step(self, block, most):
            taken = self.rest + block
            given = ctypes.create_string_buffer(most)
            source = Buffer(ctypes.cast(ctypes.c_char_p(taken), ctypes.c_void_p), len(taken), 0)
            target = Buffer(ctypes.cast(given, ctypes.c_void_p), most, 0)
            code = library.ZSTD_decompressStream(self._stream, ctypes.byref(target), ctypes.byref(source))
            if library.ZSTD_isError(code):
                raise ValueError(library.ZSTD_getErrorName(code).decode())
            self.eof = code == 0
            self.rest = taken[source.at :]
            return given.raw[: target.at]

    return Decoder()


def _cubin_has_code(file, offset):
    try:
        for name, _, _, _ in _Elf(file, offset).sections():
            if name.startswith((".text.", ".nv.global", ".nv.constant3")):
                return True
        return False
    except NotReadable:
        return True


def _arch_key(name):
    """Orders sm_75 sm_90 sm_90a sm_100f compute_120 gfx90a gfx942 gfx1030 amdgcnspirv."""
    if name.startswith("gfx"):
        # gfx90a is 9.0.10: major, and a digit each for minor and step.
        target = name.partition(":")[0][3:]
        major, rest = (target.partition("-")[0], -1) if "-" in target else (target[:-2] or "0", int(target[-2:], 16))
        return (3, (int(major, 16), rest), name)
    if name == "amdgcnspirv":
        return (4, 0, name)
    prefix, _, arch = name.partition("_")
    digits = arch.rstrip("af")
    return (["sm", "lto", "compute"].index(prefix), int(digits), arch)


def _runnable(images):
    """Names of what a driver can run: relocatable cubins can't, relocatable PTX is linked when it is loaded."""
    names = set()
    for image in images:
        if image.has_code and image.kind != "lto" and not (image.relocatable and image.kind in ("cubin", "hip")):
            names.add(image.name)
    return sorted(names, key=_arch_key)


def inspect(path):
    """Everything that is known of a library, as a dictionary of plain values. Raises NotReadable."""
    with _File(path) as file:
        elf = _Elf(file)
        sections = list(elf.sections())
        provenance, problem = parse_note(_find_note(elf, sections))
        unread = []
        images = list(_images(elf, sections, unread))
        result = {
            "path": file.path,
            "type": FILE_TYPES.get(elf.type, "other"),
            "machine": MACHINES.get(elf.machine, str(elf.machine)),
            "provenance": provenance,
            "provenance_problem": problem,
            "architectures": _runnable(images),
            "images": [],
            "unread": unread,
        }
        result.update(_Dynamic(elf).links())
        groups = {}
        for image in images:
            key = (image.relocatable, image.name)
            group = groups.setdefault(key, {"count": 0, "bytes": 0, "compressed": 0, "without_code": 0})
            group["count"] += 1
            group["bytes"] += image.size
            group["compressed"] += image.compressed
            group["without_code"] += not image.has_code
        for relocatable, name in sorted(groups, key=lambda key: (key[0], _arch_key(key[1]))):
            group = {"architecture": name, "relocatable": relocatable}
            group.update(groups[relocatable, name])
            result["images"].append(group)
        return result


def provenance(path):
    """The note of CudaOps in a file, or None; reads nothing else. Raises NotReadable."""
    with _File(path) as file:
        elf = _Elf(file)
        return parse_note(_find_note(elf, []))[0]


def undefined_symbols(path):
    """Names that a library takes from others. Raises NotReadable."""
    with _File(path) as file:
        return _Dynamic(_Elf(file)).undefined()


def missing_symbols(names, libraries):
    """Those of `names` that none of the files exports; [] where one of them can't be searched."""
    missing = list(names)
    for path in libraries:
        if not missing:
            break
        with _File(path) as file:
            dynamic = _Dynamic(_Elf(file))
            found = {name: dynamic.defines(name) for name in missing}
        if None in found.values():
            return []
        missing = [name for name in missing if not found[name]]
    return missing


def _find_library(name, runpath, origin):
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


def architectures(path):
    """What the device code of a file is for: ["sm_80", "compute_120"], ["gfx90a", "gfx942:xnack-"].

    Raises NotReadable, also where the list would not be whole.
    """
    found, unread = _architectures(path)
    if unread:
        raise _incomplete(path, unread)
    return found


def _architectures(path):
    unread = []
    with _File(path) as file:
        elf = _Elf(file)
        return _runnable(_images(elf, list(elf.sections()), unread)), unread


def _incomplete(path, unread):
    return NotReadable("%s can't be read whole: %s." % (os.fspath(path), "; ".join(unread)))


def common_architectures(path):
    """Plain architectures that most of the device code is for: ["75", "80"], ["gfx90a", "gfx942"]. Raises NotReadable.

    Sixty-four containers (one for each source file) tell as much as the five hundred of torch, in 3 ms.
    """
    unread = []
    with _File(path) as file:
        elf = _Elf(file)
        containers = {}
        for image in _images(elf, list(elf.sections()), unread, 64):
            if not image.has_code or image.relocatable and image.kind == "hip":
                continue
            if image.kind == "cubin":
                containers.setdefault(image.container, set()).add(image.arch)
            elif image.kind == "hip":
                # What is built for both settings of a feature is found under its plain name once.
                containers.setdefault(image.container, set()).add(image.arch.partition(":")[0])
    if unread:
        raise _incomplete(path, unread)
    counts = {}
    for archs in containers.values():
        for arch in archs:
            counts[arch] = counts.get(arch, 0) + 1
    common = [a for a, n in counts.items() if (a.isdigit() or a.startswith("gfx")) and 2 * n > len(containers)]
    return sorted(common, key=lambda arch: _arch_key("sm_" + arch if arch.isdigit() else arch))


def split_archs(text):
    """ "sm_90a;compute_120;gfx90a:xnack-", with commas or blanks as well, as a list."""
    names = set()
    for name in text.replace(";", " ").replace(",", " ").split():
        prefix, _, arch = name.partition("_")
        digits = arch[:-1] if arch[-1:] in ("a", "f") else arch
        if prefix not in ("sm", "compute") or not (digits.isdigit() and digits.isascii()):
            hip = _hip_name(name)
            if not hip:
                raise ValueError("'%s' is not an architecture: write sm_90a, compute_120 or gfx90a:xnack-." % name)
            name = hip
        names.add(name)
    return sorted(names, key=_arch_key)


def check_archs(path, wanted):
    """(true where nothing is missing, text) after comparing a file with a list of architectures."""
    found, unread = _architectures(path)
    name = os.path.basename(os.fspath(path))
    missing = [arch for arch in wanted if arch not in found]
    if missing and unread:
        raise _incomplete(path, unread)
    more = [arch for arch in found if arch not in wanted]
    if not missing:
        text = "%s holds %s, as asked for" % (name, " ".join(wanted) or "no device code")
        return True, text + (" (and %s)." % " ".join(more) if more else ".")
    return False, (
        "architectures(%s): the library must hold device code for every architecture that was asked for.\n"
        "  missing    %s\n"
        "  asked for  %s\n"
        "  found      %s in %s\n"
        "Fix: build it again from clean: cmake --build <build directory> --clean-first\n"
        "     still missing: look for a %s that is set for one of its sources or\n"
        "     for the link, in the lines that cmake --build <build directory> --verbose prints"
        % (
            name,
            " ".join(missing),
            " ".join(wanted),
            " ".join(found) or "no device code",
            os.fspath(path),
            "--offload-arch or HIP_ARCHITECTURES" if _is_hip(missing[0]) else "-arch, -gencode or CUDA_ARCHITECTURES",
        )
    )


def _is_hip(arch):
    return not arch.startswith(("sm_", "compute_", "lto_"))


def describe(info):
    """The lines of the summary of what inspect() gave."""
    note = info["provenance"] or {}
    rows = []
    if info["provenance_problem"]:
        rows.append(("note", info["provenance_problem"]))
    elif not note:
        rows.append(("note", "none: not made by CudaOps' add_torch_op, or stripped"))
    else:
        rows.append(("op", "%s of project %s" % (_get(note, "op"), _get(note, "project"))))
        state = _get(note, "state")
        if note.get("reason"):
            state += ": " + _get(note, "reason")
        rows.append(("state", state))
        abi = _get(note, "abi")
        if abi == "STABLE":
            abi += ", runs in torch %s and later" % _get(note, "torch_target")
        elif note.get("torch"):
            abi += ", runs in torch %s only" % ".".join(_get(note, "torch").split(".")[:2])
        rows.append(("abi", abi))
        built = "torch " + _get(note, "torch")
        if note.get("backend") == "HIP":
            built += ", ROCm %s" % _get(note, "rocm")
        elif note.get("toolkit"):
            built += ", CUDA toolkit %s" % _get(note, "toolkit")
            runtime = {"static": "linked statically", "shared": "as a shared library"}.get(note.get("cuda_runtime"))
            if runtime:
                built += ", CUDA runtime " + runtime
        rows.append(("built with", built + ", CudaOps " + _get(note, "cudaops")))
        if note.get("python_module"):
            rows.append(("module", _get(note, "python_module")))
    archs = info["architectures"]
    cubins = " ".join(arch for arch in archs if not arch.startswith("compute_"))
    ptx = " ".join(arch for arch in archs if arch.startswith("compute_"))
    nothing = "unknown" if info["unread"] else "none"
    rows.append(("device code", ", ".join(filter(None, [cubins, ptx and "PTX " + ptx])) or nothing))
    rows += [("not read", text) for text in info["unread"]]
    loose = sorted(
        {image["architecture"] for image in info["images"] if image["relocatable"]} - set(archs), key=_arch_key
    )
    if loose:
        rows.append(("not linked", " ".join(loose)))
    rows.append(("links", " ".join(info["needed"]) or "nothing"))
    if info["runpath"]:
        rows.append(("runpath", info["runpath"]))
    return [info["path"]] + ["  %-12s %s" % row for row in rows]


def _get(note, key):
    value = note.get(key)
    return "unknown" if value is None or value == "" else str(value)


def main(arguments):
    # A reader that has seen enough (| head) ends this program in silence, as it ends others.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    options = ("--json", "--archs", "--common-archs", "--check-archs", "--needed")
    files = []
    mode = wanted = None
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word in ("-h", "--help"):
            print(__doc__.strip())
            return 0
        if word in options:
            if mode is not None:
                return _usage("%s and %s: one at a time." % (mode, word))
            mode = word
            if word == "--check-archs":
                if not rest:
                    return _usage("--check-archs needs a list such as sm_90a,compute_120 or gfx90a,gfx942:xnack-.")
                try:
                    wanted = split_archs(rest.pop(0))
                except ValueError as error:
                    return _usage(str(error))
        elif word.startswith("-"):
            return _usage("unknown option %s: %s" % (word, ", ".join(options)))
        else:
            files.append(word)
    if len(files) != 1:
        return _usage("one library is needed, %d were given." % len(files))
    try:
        if mode == "--archs":
            print(",".join(architectures(files[0])))
        elif mode == "--needed":
            with _File(files[0]) as file:
                print(",".join(_Dynamic(_Elf(file)).links()["needed"]))
        elif mode == "--common-archs":
            print(",".join(common_architectures(files[0])))
        elif mode == "--check-archs":
            good, text = check_archs(files[0], wanted)
            print(text, file=sys.stdout if good else sys.stderr)
            return 0 if good else 1
        elif mode == "--json":
            print(json.dumps(inspect(files[0]), indent=2))
        else:
            print("\n".join(describe(inspect(files[0]))))
    except NotReadable as error:
        print("inspect_library: %s" % error, file=sys.stderr)
        return 2
    return 0


def _usage(problem):
    print("inspect_library: %s" % problem, file=sys.stderr)
    return 2

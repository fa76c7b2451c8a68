# SPDX-License-Identifier: Apache-2.0
"""Kernels of CUDA device code, as ptxas has left them in a cubin: registers, shared memory, stack, spills, bounds.

The attributes of .nv.info are not documented; their names are those that nvlink prints, and each figure was compared
with what `ptxas -v` says of the same kernel (releases 12.4 to 13.5). ptxas itself marks the instructions that it
spills registers with, from 12.6 on: so no compile is needed to know them, and a compiler cache can't lose them.
"""

import re
import struct

from .elf import NotReadable, c_string
from .kernel import Kernel
from .line_table import line_at, read_lines

EM_CUDA = 190
# Of a cubin's header, by LLVM's ELF.h: where the architecture stands in e_flags, and the a of sm_90a.
ABI_OF_BLACKWELL, EF_ACCELERATORS = 8, 0x800
TOLD_ARCH = re.compile(rb"-arch (sm_\d+[af]?)\b")
FRAME_SIZE, MIN_STACK_SIZE, REGCOUNT = 0x11, 0x12, 0x2F  # of a symbol, in .nv.info
MAX_THREADS, MAXREG_COUNT, REQNTID = 0x05, 0x1B, 0x10  # of a function, in .nv.info.<function>
CUDA_API_VERSION, NUM_BARRIERS, ANNOTATIONS = 0x37, 0x4C, 0x55
WITH_BYTES = 4  # format of an attribute whose value stands behind it
NO_REGISTER_LIMIT = 0xFF
SYMBOL_IS_ENTRY = 0x10  # of st_other
ANNOTATION_SPILL = 1
ANNOTATIONS_SINCE = (12, 6)
# From sm_90 on the section of a kernel's shared memory begins with what the driver keeps there.
RESERVED_SHARED_BYTES, RESERVED_SINCE = 1024, 90
# The lower nine bits of an instruction: STL STS, LDL LDS.
STORES, LOADS = (0x187, 0x188), (0x183, 0x184)
# Bits 73 to 75 of a load or store.
ACCESS_BYTES = (1, 1, 2, 2, 4, 8, 16)


def read_kernels(elf, arch):
    """The kernels of a cubin, in the order of its symbols. Raises NotReadable."""
    if elf.machine != EM_CUDA:
        raise NotReadable("%s: its device code for %s is no cubin (machine %d)." % (elf.file.path, arch, elf.machine))
    sections = {name: (offset, size) for name, _, offset, size in elf.sections()}
    names, entries = _symbols(elf, sections)
    if not names:
        raise NotReadable("%s: its device code for %s has lost its symbols." % (elf.file.path, arch))
    try:
        cubin = _Cubin(elf, sections, names)
        return [cubin.kernel(index, arch) for index in entries if ".text." + names[index] in sections]
    except (struct.error, IndexError, KeyError):
        raise NotReadable(
            "%s: the kernels for %s are described in a way that isn't known, perhaps by a newer nvcc; a newer CudaOps may "
            "read them." % (elf.file.path, arch)
        ) from None


def arch_of(elf):
    """sm_90a, of a cubin that is a file of its own: as its compiler was told, else as the header has it."""
    for name, _, offset, size in elf.sections():
        if name == ".note.nv.tkinfo":
            told = TOLD_ARCH.search(elf.file.read(elf.base + offset, size, "section " + name))
            if told:
                return told.group(1).decode()
    if elf.abi_version >= ABI_OF_BLACKWELL:
        return "sm_%d" % (elf.flags >> 8 & 0xFF)
    return "sm_%d%s" % (elf.flags & 0xFF, "a" if elf.flags & EF_ACCELERATORS else "")


def read_line_tables(elf):
    """{kernel: (bytes of its code, [(address, path, line)...])} of a cubin; no lines without -lineinfo."""
    sections = {name: (offset, size) for name, _, offset, size in elf.sections()}
    names, entries = _symbols(elf, sections)
    lines = _Cubin(elf, sections, names)._lines()
    codes = {names[index]: sections.get(".text." + names[index]) for index in entries}
    return {name: (code[1], lines.get(name, [])) for name, code in codes.items() if code}


def _symbols(elf, sections):
    """The names of all symbols by their numbers, and the numbers of the kernels."""
    names, entries = [], []
    if ".symtab" not in sections or ".strtab" not in sections:
        return names, entries
    strings = elf.file.read(elf.base + sections[".strtab"][0], sections[".strtab"][1], "symbol names")
    offset, size = sections[".symtab"]
    table = elf.file.read(elf.base + offset, size // 24 * 24, "symbols")
    for number, (name, _, other, section, _, _) in enumerate(struct.iter_unpack("<IBBHQQ", table)):
        names.append(c_string(strings, name))
        if other & SYMBOL_IS_ENTRY and section:
            entries.append(number)
    return names, entries


class _Cubin:
    def __init__(self, elf, sections, names):
        self._elf = elf
        self._sections = sections
        self._names = names
        self._of_symbol = {}
        for attribute, value in self._attributes(".nv.info"):
            if attribute in (FRAME_SIZE, MIN_STACK_SIZE, REGCOUNT):
                number, amount = struct.unpack("<Ii", value)
                self._of_symbol[attribute, number] = amount
        self._calls = {}
        for caller, callee in struct.iter_unpack("<II", self._content(".nv.callgraph")):
            if caller < len(names) and callee < len(names):
                self._calls.setdefault(caller, set()).add(callee)
        self._read_lines = None

    def _content(self, section):
        offset, size = self._sections.get(section, (0, 0))
        return self._elf.file.read(self._elf.base + offset, size, "section " + section)

    def _size(self, section):
        return self._sections.get(section, (0, 0))[1]

    def _attributes(self, section):
        """[(attribute, its value)]; a short value as a number."""
        table = self._content(section)
        found = []
        at = 0
        while at + 4 <= len(table):
            form, attribute, value = struct.unpack_from("<BBH", table, at)
            at += 4
            if form == WITH_BYTES:
                found.append((attribute, table[at : at + value]))
                at += (value + 3) // 4 * 4
            else:
                found.append((attribute, value))
        return found

    def kernel(self, number, arch):
        name = self._names[number]
        release = max_threads = limit = None
        barriers = 0
        attributes = self._attributes(".nv.info." + name)
        for attribute, value in attributes:
            if attribute == CUDA_API_VERSION:
                release = divmod(struct.unpack("<I", value)[0], 10)
            elif attribute in (MAX_THREADS, REQNTID):
                x, y, z = struct.unpack("<III", value)
                max_threads = x * y * z
            elif attribute == MAXREG_COUNT and value & 0xFF != NO_REGISTER_LIMIT:
                limit = value & 0xFF
            elif attribute == NUM_BARRIERS:
                barriers = value & 0xFF
        if release is None:
            raise KeyError(CUDA_API_VERSION)
        stack = self._of_symbol.get((MIN_STACK_SIZE, number), self._of_symbol.get((FRAME_SIZE, number), 0))
        shared = self._size(".nv.shared." + name)
        reserved = RESERVED_SHARED_BYTES if int(re.sub(r"\D", "", arch)) >= RESERVED_SINCE else 0
        stores, loads, spills = self._spills(number, attributes)
        lines = self._lines().get(name)
        if stack and release < ANNOTATIONS_SINCE:
            stores = loads = None
        return Kernel(
            mangled=name,
            arch=arch,
            release="%d.%d" % release,
            registers=self._of_symbol[REGCOUNT, number],
            static_shared_bytes=max(0, shared - reserved),
            stack_bytes=stack,
            spill_store_bytes=stores,
            spill_load_bytes=loads,
            constant_bytes=sum(self._size(".nv.constant%d.%s" % (bank, name)) for bank in (0, 2)),
            max_threads=max_threads,
            register_limit=limit,
            barriers=barriers,
            debug=".debug_info" in self._sections,
            place=lines[0][1:] if lines else None,
            spilled_at=_sum_by_line(lines, spills) if lines else (),
        )

    def _lines(self):
        if self._read_lines is None:
            # Either has the place first, then the symbol in the upper half.
            begins = {}
            for name, entry in ((".rela.debug_line", "<QQq"), (".rel.debug_line", "<QQ")):
                for place, symbol, *_ in struct.iter_unpack(entry, self._content(name)):
                    begins[place] = self._names[symbol >> 32]
            self._read_lines = read_lines(self._content(".debug_line"), begins)
        return self._read_lines

    def _spills(self, number, attributes):
        """Bytes stored, bytes loaded, by the kernel and the functions that it calls; (place, bytes) in its own code."""
        stores = loads = 0
        places = []
        todo, seen = [number], {number}
        while todo:
            function = todo.pop()
            name = self._names[function]
            own = _annotated(attributes if function == number else self._attributes(".nv.info." + name))
            if own:
                code = self._content(".text." + name)
                for offset in own:
                    low, high = struct.unpack_from("<QQ", code, offset)
                    size = ACCESS_BYTES[high >> 9 & 7]
                    if low & 0x1FF in STORES:
                        stores += size
                    elif low & 0x1FF in LOADS:
                        loads += size
                    if function == number:
                        places.append((offset, size))
            for callee in self._calls.get(function, ()):
                if callee not in seen:
                    seen.add(callee)
                    todo.append(callee)
        return stores, loads, places


def _annotated(attributes):
    """The places of the instructions that ptxas has marked."""
    for attribute, value in attributes:
        if attribute == ANNOTATIONS:
            pairs = struct.iter_unpack("<II", value[: len(value) // 8 * 8])
            return [offset for kind, offset in pairs if kind == ANNOTATION_SPILL]
    return []


def _sum_by_line(lines, spills):
    sums = {}
    for offset, size in spills:
        place = line_at(lines, offset)
        sums[place] = sums.get(place, 0) + size
    return tuple((*place, size) for place, size in sorted(sums.items(), key=lambda item: (-item[1], item[0])))

# SPDX-License-Identifier: Apache-2.0
"""Device code of HIP: bundles of code objects, one after another in .hip_fatbin (clang's "offload bundles", plain or
compressed), by their headers.
"""

import re
import struct

from .elf import SHT_NOBITS, Elf, NotReadable
from .fatbin import Image, bad_fatbin
from .unpack import MAX_BUNDLE_HEADER, MAX_REACH, Budget, OutOfReach, unpack

BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_MAGIC = b"CCOB"
WRAPPER_MAGIC = 0x48495046  # of the entries of .hipFatBinSegment, which hand a bundle to the runtime
# Far above what compilers write; a damaged number must not make us read for minutes.
MAX_BUNDLES = 1 << 16
MAX_BUNDLE_ENTRIES = 256
MAX_PADDING = 1 << 20
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


def hip_images(elf, sections, unread, max_containers, whole=False):
    """Every code object in the file; what can't be read is added to `unread`, a sentence each.

    With `whole` each image's place is a file that can be read to its end.
    """
    file = elf.file
    names = {name for name, kind, _, _ in sections if kind != SHT_NOBITS}
    if ".rocm_kpack_ref" in names:
        # ROCm's multi-architecture packages; what is left of .hip_fatbin are zeros.
        unread.append("its HIP device code lies in .kpack archives outside it")
        return
    if ".llvm.offloading" in names:
        unread.append("it has a section .llvm.offloading, device code that a later link takes in")
    budget = Budget(MAX_UNPACKED)
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
                raise bad_fatbin(file)
            start = file.read(at, min(24, end - at), "device code")
            if start == BUNDLE_MAGIC:
                source, base, limit, following = file, at, end, None
            elif start[:4] == COMPRESSED_MAGIC:
                source, following = unpack(file, at, end, budget, unread, MAX_UNPACKED if whole else MAX_REACH)
                if source is None:
                    if following is None:
                        return
                    at = following
                    continue
                base, limit = 0, source.size
            else:
                raise bad_fatbin(file)
            entries, used = _bundle_entries(source, base, limit)
            for entry, offset, entry_size in entries:
                arch = _hip_arch(entry, unread)
                if arch:
                    image = _hip_image(arch, count, entry_size, source is not file, False)
                    image.place = _Window(source, base + offset, entry_size)
                    _check_code_object(file, image.place, image)
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
    image = Image()
    image.kind = "hip"
    image.arch = arch
    image.container = container
    image.size = size
    image.compressed = compressed
    image.relocatable = relocatable
    image.has_code = True
    image.place = None
    return image


def _hip_arch(entry, unread):
    """gfx90a:xnack- of the name of a bundle's entry, hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-; None for other code."""
    if not entry.startswith("hip"):
        return None
    found = HIP_ENTRY.fullmatch(entry)
    arch = found and hip_name(found.group(1))
    if not arch:
        text = "it has HIP device code for %s, which isn't known" % ascii(entry[:80])
        if text not in unread and len(unread) < 10:
            unread.append(text)
    return arch


def hip_name(text):
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
            raise bad_fatbin(file)
    return end


def _bundle_entries(source, at, end):
    """([(name, offset, size)...], bytes up to the end of the bundle), offsets counted from `at`."""
    size = min(4096, end - at)
    block = source.read(at, size, "device code")
    if len(block) < 32 or block[:24] != BUNDLE_MAGIC:
        raise bad_fatbin(source)
    count = struct.unpack_from("<Q", block, 24)[0]
    if not 0 < count <= MAX_BUNDLE_ENTRIES:
        raise bad_fatbin(source)
    entries = []
    place, used = 32, 0
    while len(entries) < count:
        name_size = struct.unpack_from("<Q", block, place + 16)[0] if place + 24 <= len(block) else 0
        if place + 24 + name_size > len(block):
            if size >= min(MAX_BUNDLE_HEADER, end - at):
                raise bad_fatbin(source)
            size = min(4 * size, MAX_BUNDLE_HEADER, end - at)
            block = source.read(at, size, "device code")
            continue
        offset, entry_size = struct.unpack_from("<QQ", block, place)
        if not name_size or offset + entry_size > end - at:
            raise bad_fatbin(source)
        name = block[place + 24 : place + 24 + name_size].decode("utf-8", "replace")
        entries.append((name, offset, entry_size))
        place += 24 + name_size
        used = max(used, offset + entry_size)
    if any(size and offset < place for _, offset, size in entries):
        raise bad_fatbin(source)
    return entries, max(used, place)


def _check_code_object(file, code, image):
    """A code object says itself what it was made for: it must be what the bundle calls it."""
    image.has_code = code.size > 0
    try:
        if code.read(0, min(4, code.size), "device code") != b"\x7fELF":
            return  # SPIR-V, or nothing
        elf = Elf(code)
        if elf.machine != EM_AMDGPU:
            raise bad_fatbin(file)
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
    except OutOfReach:
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
            raise bad_fatbin(self)
        return self._file.read(self._begin + offset, size, what)

# SPDX-License-Identifier: Apache-2.0
"""Device code of CUDA: the images in .nv_fatbin, by their headers, and the names of architectures."""

import struct
from typing import NamedTuple

from .elf import SHT_NOBITS, Elf, NotReadable

FATBIN_MAGIC = 0xBA55ED50
FATBIN_KINDS = {1: "ptx", 2: "cubin", 8: "lto"}
ARCH_PREFIX = {"ptx": "compute_", "cubin": "sm_", "lto": "lto_", "hip": ""}
# Flags of an entry, as nvcc 12.8 to 13.2 write them.
FATBIN_SPECIFIC = 0x100000  # the a of 90a
FATBIN_FAMILY = 0x200000  # the f of 100f
FATBIN_LZ4 = 0x2000
FATBIN_ZSTD = 0x8000
# nvcc's link step adds a cubin without code for each architecture that the *link* line names. Compressed ones can only
# be told by their size (about 1500 bytes; the smallest with code 2100).
SMALLEST_CUBIN_WITH_CODE = 2000


class Place(NamedTuple):
    """Where the content of an image lies in the file, and how it is packed."""

    offset: int
    size: int
    original_size: int  # 0: not packed
    flags: int


class Image:
    """One cubin, PTX or LTO text in a fatbin, or one code object of HIP."""

    __slots__ = ("kind", "arch", "container", "size", "compressed", "relocatable", "has_code", "place")

    @property
    def name(self):
        return ARCH_PREFIX[self.kind] + self.arch


def cuda_images(elf, sections, max_containers):
    """Every image in the file, container after container; only headers are read."""
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
                    raise bad_fatbin(file)
                at += 8  # padding between the containers of two object files
                continue
            entry = at + header_size
            at = entry + content_size
            ahead = ahead[header_size:]
            if header_size < 16 or at > end:
                raise bad_fatbin(file)
            count += 1
            if max_containers is not None and count > max_containers:
                return
            while entry < at:
                if len(ahead) < 64:
                    if entry + 64 > at:
                        raise bad_fatbin(file)
                    ahead = file.read(entry, 64, "device code")
                number, _, entry_size, payload_size, packed_size = struct.unpack_from("<HHIQI", ahead)
                arch, flags, original_size = struct.unpack_from("<I8xQ8xQ", ahead, 28)
                payload = entry + entry_size
                if entry_size < 64 or payload + payload_size > at:
                    raise bad_fatbin(file)
                if number in FATBIN_KINDS:
                    image = Image()
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
                    image.place = Place(payload, packed_size or payload_size, original_size, flags)
                    if image.kind == "cubin":
                        if image.compressed:
                            image.has_code = original_size >= SMALLEST_CUBIN_WITH_CODE
                        elif payload_size < 4 * SMALLEST_CUBIN_WITH_CODE:
                            image.has_code = _has_code(file, payload)
                    yield image
                entry = payload + payload_size
                ahead = b""


def bad_fatbin(file):
    return NotReadable("%s is damaged: its device code has no valid headers." % file.path)


def _has_code(file, offset):
    try:
        for name, _, _, _ in Elf(file, offset).sections():
            if name.startswith((".text.", ".nv.global", ".nv.constant3")):
                return True
        return False
    except NotReadable:
        return True


def arch_key(name):
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


def runnable(images):
    """Names of what a driver can run: relocatable cubins can't, relocatable PTX is linked when it is loaded."""
    names = set()
    for image in images:
        if image.has_code and image.kind != "lto" and not (image.relocatable and image.kind in ("cubin", "hip")):
            names.add(image.name)
    return sorted(names, key=arch_key)

# SPDX-License-Identifier: Apache-2.0
"""Writes, byte by byte, what clang puts into HIP libraries: also what no compiler here makes, and what is wrong."""

import struct
import zlib

HOST = "host-x86_64-unknown-linux-gnu-"
MACHINES = {"gfx906": 0x2F, "gfx90a": 0x3F, "gfx942": 0x4C, "gfx1100": 0x41, "gfx9-4-generic": 0x5F}


def elf_file(sections, kind=3, machine=62, flags=0, ident=(0, 0)):
    """A 64-bit ELF file of these sections, {name: bytes}, without segments."""
    sections = {**sections, ".shstrtab": b""}
    names, starts = b"\0", []
    for name in sections:
        starts.append(len(names))
        names += name.encode() + b"\0"
    sections[".shstrtab"] = names
    body, table = b"", bytes(64)
    for start, (name, content) in zip(starts, sections.items()):
        body += bytes(-(64 + len(body)) % 64)
        table += struct.pack("<IIQQQQIIQQ", start, 1, 2, 0, 64 + len(body), len(content), 0, 0, 1, 0)
        body += content
    count = len(sections) + 1
    header = b"\x7fELF\x02\x01\x01" + bytes(ident) + bytes(7)
    header += struct.pack("<HHIQQQI", kind, machine, 1, 0, 0, 64 + len(body), flags)
    header += struct.pack("<HHHHHH", 64, 56, 0, 64, count, count - 1)
    return header + body + table


def code_object(target, symbols=2, version=2, machine=None):
    """What clang links for gfx90a:xnack-: e_flags as version 4 of the code objects has them."""
    name, *features = target.split(":")
    flags = MACHINES.get(machine or name, 0)
    for feature in features:
        flags |= {"-": 2, "+": 3}[feature[-1]] << {"xnack": 8, "sramecc": 10}[feature[:-1]]
    dynsym = bytes(24 * (1 + symbols))
    return elf_file({".dynsym": dynsym, ".text": bytes(64)}, machine=224, flags=flags, ident=(64, version))


def entry_name(target):
    return "hipv4-amdgcn-amd-amdhsa--" + target


def bundle(*targets, align=4096, entries=None):
    """One bundle: the empty entry of the host, then a code object for each target."""
    if entries is None:
        entries = [(HOST, b"")] + [(entry_name(target), code_object(target)) for target in targets]
    header = 32 + sum(24 + len(name) for name, _ in entries)
    table, body = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries)), b""
    for name, content in entries:
        body += bytes(-(header + len(body)) % align)
        table += struct.pack("<QQQ", header + len(body), len(content), len(name)) + name.encode()
        body += content
    return table + body


def zstd_stored(content):
    """A zstd frame of stored blocks: every decoder reads it, and no encoder is needed here."""
    frame = b"\x28\xb5\x2f\xfd" + b"\x00\x58"  # a window of 2 MiB
    parts = [content[at : at + 65536] for at in range(0, len(content), 65536)] or [b""]
    for number, part in enumerate(parts):
        frame += struct.pack("<I", len(part) << 3 | (number == len(parts) - 1))[:3] + part
    return frame


def compressed(content, version=2, method="zlib", packed=None):
    """The compressed form, versions 1 to 3."""
    if packed is None:
        packed = zlib.compress(content) if method == "zlib" else zstd_stored(content)
    number = {"zlib": 0, "zstd": 1}.get(method, method)
    start = b"CCOB" + struct.pack("<HH", version, number)
    if version == 1:
        return start + struct.pack("<IQ", len(content), 0) + packed
    size = len(packed) + (24 if version == 2 else 32)
    return start + struct.pack("<IIQ" if version == 2 else "<QQQ", size, len(content), 0) + packed


def aligned(*bundles):
    """As a linker lays out the bundles of several objects."""
    return b"".join(content + bytes(-len(content) % 4096) for content in bundles)


def wrapper(count=1, magic=0x48495046):
    return struct.pack("<IIQQ", magic, 1, 0, 0) * count


def library(path, fatbin, segment=None, **more):
    """A shared library with this .hip_fatbin and an entry for the runtime."""
    path.write_bytes(elf_file({".hip_fatbin": fatbin, ".hipFatBinSegment": segment or wrapper(), **more}))
    return path

# SPDX-License-Identifier: Apache-2.0
"""The note of CudaOps in a library: what it was built from and for, as JSON."""

import json
import struct

from .elf import PT_LOAD, PT_NOTE, SHT_NOBITS

NOTE_OWNER = b"CudaOps\0"
NOTE_TYPE = 1


def read_notes(data, align):
    """(owner, type, descriptor) of each note in the bytes of a segment or section."""
    at = 0
    while at + 12 <= len(data):
        name_size, size, kind = struct.unpack_from("<III", data, at)
        begin = -(-(at + 12 + name_size) // align) * align
        if begin + size > len(data):
            return
        yield data[at + 12 : at + 12 + name_size], kind, data[begin : begin + size]
        at = -(-(begin + size) // align) * align


def find(elf, sections):
    """The text of the note in a file, or None."""
    places = [(offset, size, align) for kind, offset, _, size, align in elf.segments() if kind == PT_NOTE]
    # objcopy and linker scripts can leave the section outside any segment, and an object file has no segments.
    places += [
        (offset, size, 4) for name, kind, offset, size in sections if name == ".note.cudaops" and kind != SHT_NOBITS
    ]
    for offset, size, align in places:
        data = elf.file.read(offset, size, "note")
        for owner, kind, text in read_notes(data, 8 if align == 8 else 4):
            if owner == NOTE_OWNER and kind == NOTE_TYPE:
                return text
    return None


def in_memory(start, read):
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
            for owner, number, text in read_notes(read(address, size), 8 if align == 8 else 4):
                if owner == NOTE_OWNER and number == NOTE_TYPE:
                    return text
    return None


def parse(text):
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

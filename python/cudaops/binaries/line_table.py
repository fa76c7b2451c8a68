# SPDX-License-Identifier: Apache-2.0
"""Lines of source for instructions of a cubin that was compiled with -lineinfo: .debug_line, as DWARF 2 has it."""

import bisect
import os
import struct

from .elf import c_string

EXTENDED, COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC, FIXED_ADVANCE_PC = 0, 1, 2, 3, 4, 8, 9
END_SEQUENCE, SET_ADDRESS = 1, 2


def read_lines(table, begins):
    """{function: [(address, path, line)...]} in the order of addresses; {} where the form isn't known.

    `begins`: the functions by the places in the table of their first addresses, which the linker fills in.
    """
    functions = {}
    try:
        at = 0
        while at + 4 <= len(table):
            end = at + 4 + struct.unpack_from("<I", table, at)[0]
            _unit(table, at, end, begins, functions)
            at = end
    except (IndexError, struct.error, KeyError):
        return {}
    return functions


def line_at(rows, address):
    """(path, line) of an instruction, or None."""
    place = bisect.bisect_right([row[0] for row in rows], address) - 1
    return rows[place][1:] if place >= 0 else None


def _unit(table, at, end, begins, functions):
    version, header_size = struct.unpack_from("<HI", table, at + 4)
    if version not in (2, 3, 4):
        raise KeyError(version)
    at += 10
    program = at + header_size
    at += 2 if version >= 4 else 1  # the shortest instruction is counted in bytes; operations of one: 1
    _, line_base, line_range, opcode_base = struct.unpack_from("<BbBB", table, at)
    at += 4
    lengths = table[at : at + opcode_base - 1]
    at += opcode_base - 1
    directories = [""]
    while table[at]:
        directories.append(c_string(table, at))
        at = table.index(0, at) + 1
    at += 1
    files = [""]
    while table[at]:
        name = c_string(table, at)
        at = table.index(0, at) + 1
        directory, at = _uleb(table, at)
        _, at = _uleb(table, at)
        _, at = _uleb(table, at)
        files.append(os.path.normpath(os.path.join(directories[directory], name)))
    at = program
    rows, address, file, line = [], 0, 1, 1
    while at < end:
        opcode = table[at]
        at += 1
        if opcode >= opcode_base:
            step = opcode - opcode_base
            address += step // line_range
            line += line_base + step % line_range
            rows.append((address, files[file], line))
        elif opcode == EXTENDED:
            size, at = _uleb(table, at)
            kind = table[at]
            if kind == SET_ADDRESS:
                address = struct.unpack_from("<Q", table, at + 1)[0]
                rows = functions.setdefault(begins.get(at + 1, ""), [])
            elif kind == END_SEQUENCE:
                rows, address, file, line = [], 0, 1, 1
            at += size
        elif opcode == COPY:
            rows.append((address, files[file], line))
        elif opcode == ADVANCE_PC:
            step, at = _uleb(table, at)
            address += step
        elif opcode == ADVANCE_LINE:
            step, at = _sleb(table, at)
            line += step
        elif opcode == SET_FILE:
            file, at = _uleb(table, at)
        elif opcode == CONST_ADD_PC:
            address += (255 - opcode_base) // line_range
        elif opcode == FIXED_ADVANCE_PC:
            address += struct.unpack_from("<H", table, at)[0]
            at += 2
        else:
            for _ in range(lengths[opcode - 1]):
                _, at = _uleb(table, at)


def _uleb(table, at):
    value = shift = 0
    while True:
        byte = table[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def _sleb(table, at):
    begin = at
    value, at = _uleb(table, at)
    bits = 7 * (at - begin)
    return value - (1 << bits) if value >> (bits - 1) & 1 else value, at

# SPDX-License-Identifier: Apache-2.0
"""Kernels of a code object of HIP, as its metadata has them (LLVM's AMDGPUUsage, "Code Object Metadata")."""

import struct

from .elf import NotReadable
from .kernel import Kernel
from .notes import read_notes

OWNER, METADATA = b"AMDGPU\0", 32
SHT_NOTE = 7
# What the compiler assumes of a kernel without launch bounds.
DEFAULT_MAX_THREADS = 1024


def read_kernels(elf, arch):
    """Raises NotReadable."""
    for _, kind, offset, size in elf.sections():
        if kind != SHT_NOTE:
            continue
        for owner, number, content in read_notes(elf.file.read(elf.base + offset, size, "note"), 4):
            if owner == OWNER and number == METADATA:
                try:
                    metadata, _ = unpack(content, 0)
                    return [_kernel(found, arch) for found in metadata.get("amdhsa.kernels", [])]
                except (AttributeError, KeyError, IndexError, TypeError, ValueError, struct.error):
                    raise NotReadable(
                        "%s: the kernels for %s are described in a way that isn't known, perhaps by a newer compiler; a newer "
                        "CudaOps may read them." % (elf.file.path, arch)
                    ) from None
    raise NotReadable("%s: its device code for %s has lost its metadata." % (elf.file.path, arch))


def _kernel(found, arch):
    spilled = found.get(".vgpr_spill_count", 0) + found.get(".sgpr_spill_count", 0)
    threads = found.get(".max_flat_workgroup_size")
    return Kernel(
        mangled=found[".name"],
        arch=arch,
        registers=found[".vgpr_count"],
        static_shared_bytes=found[".group_segment_fixed_size"],
        stack_bytes=found[".private_segment_fixed_size"],
        spill_store_bytes=None if spilled else 0,
        spill_load_bytes=None if spilled else 0,
        constant_bytes=found[".kernarg_segment_size"],
        max_threads=None if threads == DEFAULT_MAX_THREADS else threads,
        scalar_registers=found[".sgpr_count"],
        spilled_registers=spilled,
        wave_size=found[".wavefront_size"],
    )


def unpack(data, at):
    """(value, where it ends) of MessagePack, as far as such metadata uses it."""
    byte = data[at]
    at += 1
    if byte < 0x80:
        return byte, at
    if byte < 0x90:
        return _map(data, at, byte & 15)
    if byte < 0xA0:
        return _array(data, at, byte & 15)
    if byte < 0xC0:
        return _string(data, at, byte & 31)
    if byte >= 0xE0:
        return byte - 256, at
    if byte in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[byte], at
    form = {
        0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q", 0xD9: ">B",
        0xDA: ">H", 0xDB: ">I", 0xDC: ">H", 0xDD: ">I", 0xDE: ">H", 0xDF: ">I",
    }[byte]  # fmt: skip
    value = struct.unpack_from(form, data, at)[0]
    at += struct.calcsize(form)
    if byte <= 0xD3:
        return value, at
    return (_string if byte <= 0xDB else _array if byte <= 0xDD else _map)(data, at, value)


def _string(data, at, size):
    return data[at : at + size].decode("utf-8", "replace"), at + size


def _array(data, at, size):
    values = []
    for _ in range(size):
        value, at = unpack(data, at)
        values.append(value)
    return values, at


def _map(data, at, size):
    values, at = _array(data, at, 2 * size)
    return dict(zip(values[::2], values[1::2])), at

# SPDX-License-Identifier: Apache-2.0
"""reload=True of a library of ops: the process's ops get the kernels of another build of the same schemas.

Torch keeps what a library has registered in an object for each TORCH_LIBRARY block, static variables of the library. They
are found by name in its symbol table, and give back their registrations; code and data of the library stay where they are,
because kernels may be running. A kernel for a dispatch key that no device has keeps the ops themselves: OpOverload objects
that a program holds, and what Python has registered for them (fake kernels, gradients), serve the new build.
"""

import ctypes
import os
import re
import struct

from ..binaries.elf import Elf, File, NotReadable, c_string

KEPT_KEY = "PrivateUse3"
_SHT_SYMTAB, _STT_OBJECT = 2, 1
_directory = None
_kept = {}  # op with its overload: the torch.library.Library that keeps it


class ReloadError(RuntimeError):
    """This op can't be loaded anew in this process; nothing was changed, unless the text says so."""


def replace(name, path, ops, schemas, old_ops, old_files):
    """Takes the registrations of these libraries back. Raises ReloadError where the new build's can't take their place."""
    import torch

    _check(torch, name, path, ops, schemas, old_files)
    _release(torch, name, old_ops, old_files)


def copy(path):
    """A copy of the file, to be loaded in its place.

    A library that was loaded before would be given by the loader as it is, without registering its ops again. And its note
    (cudaops/detail/provenance.h) makes a library complain of a second copy: that of the copy has another project in it.
    """
    with open(path, "rb") as file:
        content = file.read()
    directory = _private_directory()
    number = len(os.listdir(directory))
    content = re.sub(rb'(\{"project":"\w+)\w{12}(?=","op":)', rb"\g<1>%012d" % number, content)
    place = os.path.join(directory, str(number), os.path.basename(path))
    os.mkdir(os.path.dirname(place))
    with open(place, "wb") as file:
        file.write(content)
    return place


def _private_directory():
    global _directory
    if _directory is None:
        import atexit
        import shutil
        import tempfile

        _directory, owner = tempfile.mkdtemp(prefix="cudaops-"), os.getpid()
        atexit.register(lambda: os.getpid() == owner and shutil.rmtree(_directory, ignore_errors=True))
    return _directory


def _check(torch, name, path, ops, schemas, old_files):
    new = {}
    for schema in schemas:
        try:
            parsed = torch._C.parse_schema(schema)
        except RuntimeError:
            continue
        new.setdefault(parsed.name, set()).add(str(parsed))
    for op in ops:
        if op.endswith("::"):
            raise ReloadError(_text(name, "the schemas of %s aren't literal texts in its sources" % op[:-2], path))
        old = {str(schema) for schema in torch._C._jit_get_schemas_for_operator(op)}
        if not old:
            continue
        if old != new.get(op):
            facts = "%s\n  loaded  %s\n  wanted  %s" % (path, " ".join(sorted(old)), " ".join(sorted(new.get(op, ()))))
            raise ReloadError(_text(name, "another schema than the one that is loaded", facts))
    for file in old_files:
        if not _registrations(file):
            raise ReloadError(_text(name, "no TORCH_LIBRARY block is found in the loaded library", file))


def _release(torch, name, ops, old_files):
    _keep(torch, ops)
    cpu = _torch_cpu()
    for path in old_files:
        for address, stable in _registrations(path):
            if stable:
                handle = ctypes.c_void_p.from_address(address)
                cpu.aoti_torch_delete_library_object(ctypes.c_void_p(handle.value))
                handle.value = None  # its destructor deletes nothing
            else:
                cpu._ZN5torch7Library5resetEv(ctypes.c_void_p(address))
    left = [op for op in ops if torch._C._jit_get_schemas_for_operator(op)]
    if left:
        raise ReloadError(
            _text(name, "%s is registered by other means as well" % " ".join(left), "the loaded build is taken out of the process")
        )


def _text(name, rule, facts):
    return (
        "cudaops: %s can't be loaded anew in this process: %s.\n  found   %s\n"
        "Fix: start a new process (in a notebook: restart the kernel)" % (name, rule, facts)
    )


def _keep(torch, ops):
    def unloaded(*arguments, **keywords):
        raise RuntimeError("this op is being loaded anew")

    for op in ops:
        for schema in torch._C._jit_get_schemas_for_operator(op):
            full = schema.name + ("." + schema.overload_name if schema.overload_name else "")
            if full not in _kept:
                namespace, _, short = full.partition("::")
                _kept[full] = torch.library.Library(namespace, "FRAGMENT")
                _kept[full].impl(short, unloaded, KEPT_KEY)


def _torch_cpu():
    library = ctypes.CDLL("libtorch_cpu.so")  # by the name that it has in this process: torch is imported
    library.aoti_torch_delete_library_object.argtypes = [ctypes.c_void_p]
    library._ZN5torch7Library5resetEv.argtypes = [ctypes.c_void_p]
    library._ZN5torch7Library5resetEv.restype = None
    return library


def _registrations(path):
    """[(address in this process, whether it is the stable ABI's)] of the library's blocks that hold registrations."""
    base = _base(path)
    if base is None:
        return []
    found = []
    for name, value, size in _objects(path):
        if "TORCH_LIBRARY" not in name or "_static_init_" not in name:
            continue
        stable = "STABLE_TORCH_LIBRARY" in name
        # The stable one is a handle; anything else is another release's, and isn't touched.
        if stable and (size != 8 or not ctypes.c_void_p.from_address(base + value).value):
            continue
        found.append((base + value, stable))
    return found


def _objects(path):
    """(name, address, size) of the variables in the symbol table that only the linker and debuggers read."""
    try:
        with File(path) as file:
            elf = Elf(file)
            sections = {name: (kind, offset, size) for name, kind, offset, size in elf.sections()}
            kind, offset, size = sections.get(".symtab", (0, 0, 0))
            if kind != _SHT_SYMTAB:
                return
            _, names_offset, names_size = sections[".strtab"]
            names = file.read(names_offset, names_size, "names of symbols")
            table = file.read(offset, size // 24 * 24, "symbols")
    except (NotReadable, KeyError):
        return
    for name, info, _, index, value, bytes_ in struct.iter_unpack("<IBBHQQ", table):
        if info & 15 == _STT_OBJECT and index:
            yield c_string(names, name), value, bytes_


def _base(path):
    real = os.path.realpath(path)
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) == 6 and fields[5] == real and int(fields[2], 16) == 0:
                return int(fields[0].partition("-")[0], 16)
    return None

# SPDX-License-Identifier: Apache-2.0
"""What a library needs, what this torch offers, and what the process holds already."""

import importlib.util
import os
import platform
import re
import shlex
import sys

from . import inspect_library as reader
from .binaries import notes
from .binaries.elf import NotReadable


class LibraryError(RuntimeError):
    """A library that can't be read, or that this torch can't run: `sentence` says why in one line, `fix` what helps."""

    def __init__(self, sentence, fix):
        super().__init__(sentence, fix)
        self.sentence, self.fix = sentence, fix

    def __str__(self):
        return "%s\nFix: %s" % (self.sentence, self.fix)


def inspect(path):
    try:
        info = reader.inspect(path)
        info["torch"] = this_torch()
        problems = _problems(info)
    except NotReadable as error:
        raise LibraryError(str(error), "the path of a .so file; one that is damaged has to be built or copied again") from None
    info["problems"], info["fixes"] = map(list, zip(*problems)) if problems else ([], [])
    return info


def load(path, ops=()):
    """ops: names of those that it defines, where they are known."""
    # torch.ops.load_library resolves links too: it is this name that the loader knows the library by.
    path = os.path.realpath(path)
    _refuse_second_copy(path, check(path)["provenance"])
    import torch

    from . import no_kernel

    before = None if ops else set(torch._C._dispatch_get_all_op_names())
    try:
        torch.ops.load_library(path)
    except OSError as error:
        # torch hides the loader's own words in __cause__.
        said = "%s can't be loaded: %s" % (path, error.__cause__ or error)
        raise LibraryError(said, "ldd -r %s lists what it links and what is not found" % shlex.quote(path)) from error
    if not ops:
        ops = {name.partition(".")[0] for name in set(torch._C._dispatch_get_all_op_names()) - before}
    no_kernel.explain(torch, ops)


def check(path):
    """inspect(path); raises LibraryError for a library that this torch can't run."""
    info = inspect(path)
    if info["problems"]:
        raise LibraryError("%s can't be loaded: %s" % (path, info["problems"][0]), info["fixes"][0])
    return info


def this_torch():
    """Facts of this Python's torch, from its files: importing torch takes seconds."""
    try:
        spec = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.origin:
        return None
    directory = os.path.dirname(spec.origin)
    try:
        with open(os.path.join(directory, "version.py"), encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return None
    values = dict(re.findall(r"^(\w+)(?:\s*:[^=\n]+)?\s*=\s*'([^'\n]*)'", text.replace('"', "'"), re.MULTILINE))
    if "__version__" not in values:
        return None
    return {"version": values["__version__"], "cuda": values.get("cuda"), "hip": values.get("hip"), "dir": directory}


# What most problems have in common as their cure.
BUILD_WITH_THIS_TORCH = "build it with this torch, -DPython_EXECUTABLE=" + shlex.quote(sys.executable or "<python>")


def _problems(info):
    """[(why this torch can't run the library, what helps)], the most telling reason first."""
    machine = platform.machine()
    if info["type"] != "shared library":
        return [("it is no shared library but %s." % _article(info["type"]), "the path of a shared library (.so)")]
    if info["machine"] != machine:
        said = "it is for %s, this machine is %s." % (info["machine"], machine)
        return [(said, "a library that was built for %s" % machine)]
    torch = info["torch"]
    if torch is None:
        fix = "%s -m pip install torch, or the Python that has it" % shlex.quote(sys.executable)
        return [("the Python at %s has no torch." % sys.executable, fix)]
    this = "this is torch %s in %s" % (torch["version"], torch["dir"])
    note = info["provenance"] or {}
    problems = _backend_problems(info, note, torch, this)
    if problems:
        return problems  # all else follows from it
    problems = _version_problems(info, note, torch, this)
    problems += _linked_problems(info, torch, this)
    if not problems:
        problems += _symbol_problems(info, torch, this)
    return problems


def _backend_problems(info, note, torch, this):
    backend = _backend(info, note)
    archs = " ".join(info["architectures"])
    made = "it was built for %s%s" % (backend, archs and " (%s)" % archs)
    if backend == "HIP" and torch["cuda"] and not torch["hip"]:
        said = "%s, and %s, for CUDA %s." % (made, this, torch["cuda"])
        return [(said, "a torch for ROCm, or " + BUILD_WITH_THIS_TORCH)]
    if backend == "CUDA" and torch["hip"]:
        said = "%s, and %s, for ROCm %d.%d." % (made, this, *_minor(torch["hip"]))
        return [(said, "a torch for CUDA, or " + BUILD_WITH_THIS_TORCH)]
    return []


def _backend(info, note):
    """ "HIP", "CUDA", or "" for a library that is for neither."""
    if note.get("backend") in ("HIP", "CUDA"):
        return note["backend"]
    # Older notes and libraries of others don't say it.
    archs = info["architectures"]
    if any(name.startswith(("sm_", "compute_")) for name in archs) or any(
        re.match(r"lib(c10_cuda|torch_cuda|cudart|cuda)\.", name) for name in info["needed"]
    ):
        return "CUDA"
    if archs or any(re.match(r"lib(c10_hip|torch_hip|amdhip64)\.", name) for name in info["needed"]):
        return "HIP"
    return ""


def _version_problems(info, note, torch, this):
    abi = note.get("abi")
    if abi == "STABLE":
        target = note.get("torch_target")
        if target and _minor(torch["version"]) < _minor(target):
            said = "it needs torch %s or later, and %s." % (target, this)
            return [(said, "pip install 'torch>=%s', or %s" % (target, BUILD_WITH_THIS_TORCH))]
    elif abi in ("FULL", "PYBIND") and note.get("torch"):
        if _minor(torch["version"]) != _minor(note["torch"]):
            said = "it runs in torch %d.%d only (ABI %s), and %s." % (*_minor(note["torch"]), abi, this)
            return [(said, "pip install 'torch==%d.%d.*', or %s" % (*_minor(note["torch"]), BUILD_WITH_THIS_TORCH))]
        uses_cuda = info["architectures"] or any(re.match(r"lib(c10|torch)_cuda\.", name) for name in info["needed"])
        wanted = _major(note.get("torch_cuda"))
        if uses_cuda and wanted and torch["cuda"] and _major(torch["cuda"]) != wanted:
            said = "it was built with a torch for CUDA %d, and %s, for CUDA %s." % (wanted, this, torch["cuda"])
            return [(said, "a torch for CUDA %d, or %s" % (wanted, BUILD_WITH_THIS_TORCH))]
    # HIP's runtime is always a shared library, and one major version of ROCm can't do another's work.
    rocm = _major(note.get("rocm"))
    if rocm and torch["hip"] and _major(torch["hip"]) != rocm and _backend(info, note) == "HIP":
        said = "it was built with ROCm %d, and %s, for ROCm %d.%d." % (rocm, this, *_minor(torch["hip"]))
        return [(said, "a torch for ROCm %d, or %s" % (rocm, BUILD_WITH_THIS_TORCH))]
    return []


def _linked_problems(info, torch, this):
    problems = []
    tag = re.search(r"\.cpython-(\d)(\d+)[^./]*\.so$", info["path"])
    if tag and (int(tag.group(1)), int(tag.group(2))) != sys.version_info[:2]:
        said = "it is a module for Python %s.%s, this is Python %d.%d." % (*tag.groups(), *sys.version_info[:2])
        problems.append((said, "python%s.%s, or %s" % (*tag.groups(), BUILD_WITH_THIS_TORCH)))
    lib = _torch_lib(torch)
    for name in info["needed"]:
        if lib and re.match(r"lib(c10|torch)[_.]", name) and not os.path.exists(os.path.join(lib, name)):
            wanted = "ROCm" if "_hip." in name else "CUDA"
            kind = "" if torch["cuda"] or torch["hip"] else ", built without %s" % wanted
            problems.append(("it links %s, and %s%s, which has no such file." % (name, this, kind), BUILD_WITH_THIS_TORCH))
        runtime = re.match(r"libcudart\.so\.(\d+)", name)
        if runtime and torch["cuda"] and _major(torch["cuda"]) != int(runtime.group(1)):
            said = "it links %s (a shared CUDA runtime), and %s, for CUDA %s." % (name, this, torch["cuda"])
            problems.append((said, "a torch for CUDA %s, or %s" % (runtime.group(1), BUILD_WITH_THIS_TORCH)))
        runtime = re.match(r"libamdhip64\.so\.(\d+)", name)
        if runtime and torch["hip"] and _major(torch["hip"]) != int(runtime.group(1)):
            hip = "%d.%d" % _minor(torch["hip"])
            said = "it links %s (the HIP runtime), and %s, for ROCm %s." % (name, this, hip)
            problems.append((said, "a torch for ROCm %s, or %s" % (runtime.group(1), BUILD_WITH_THIS_TORCH)))
    return problems


def _torch_lib(torch):
    """Where torch's libraries are: in torch/lib, with conda-forge in <prefix>/lib, two levels above site-packages."""
    for place in (os.path.join(torch["dir"], "lib"), os.path.join(torch["dir"], "..", "..", "..")):
        if os.path.exists(os.path.join(place, "libc10.so")):
            return place
    return None


# Of libraries that bring none of torch's symbols.
_FOREIGN = re.compile(
    r"(lib(c|m|dl|rt|pthread|util|stdc\+\+|gcc_s|gomp|cuda|cudart|nvrtc|cublas\w*|cudnn\w*|amdhip64|hiprtc|hipblas\w*)|"
    r"ld-\S+)\.so"
)
_TORCH_SYMBOL = re.compile(r"aoti_torch_|torch_|_ZNK?(2at|3c10|5torch)")


def _symbol_problems(info, torch, this):
    """Symbols that this torch lacks: the note says what was intended, the symbols what came out."""
    lib = _torch_lib(torch)
    if lib is None:
        return []
    torch_files = []
    for name in info["needed"]:
        if os.path.exists(os.path.join(lib, name)):
            torch_files.append(name)
        elif not _FOREIGN.match(name):
            return []  # may be the one that has them
    names = sorted(name for name in reader.undefined_symbols(info["path"]) if _TORCH_SYMBOL.match(name))
    # What one of torch's libraries lacks may come from another that it links.
    more_files = ("torch_cpu", "c10", "torch_cuda", "c10_cuda", "torch_hip", "c10_hip", "torch_python")
    for name in map("lib{}.so".format, more_files):
        if name not in torch_files and os.path.exists(os.path.join(lib, name)):
            torch_files.append(name)
    missing = reader.missing_symbols(names, [os.path.join(lib, name) for name in torch_files])
    if not missing:
        return []
    more = " (and %d more)" % (len(missing) - 1) if len(missing) > 1 else ""
    said = "it needs %s%s, and %s, which has no such symbol: it was built for another torch." % (missing[0], more, this)
    return [(said, BUILD_WITH_THIS_TORCH)]


def _refuse_second_copy(path, note):
    if not note:
        return
    key = (note.get("project"), note.get("op"))
    for loaded, other, replaced in _loaded_notes():
        if (other.get("project"), other.get("op")) != key:
            continue
        if loaded != path and not _same_file(loaded, path):
            said = "%s can't be loaded: op %s of project %s is loaded already, from %s." % (path, key[1], key[0], loaded)
            raise LibraryError(said, "load one of the two")
        if replaced:
            said = "%s can't be loaded: the file was built anew since this process loaded it." % path
            raise LibraryError(said, "a new process")


def _same_file(first, second):
    try:
        return os.path.samefile(first, second)
    except OSError:
        return False


def _loaded_notes():
    """(file, note, whether the file was replaced since) of every loaded library of ours.

    Read from memory, because the file may be another one by now. Not with dl_iterate_phdr: Python code that runs inside
    the loader's lock and gives up the interpreter's lock waits for ever for a thread that imports something.
    """
    objects = {}
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                fields = line.rstrip("\n").split(None, 5)
                if len(fields) == 6 and fields[5].startswith("/"):
                    start, offset = int(fields[0].partition("-")[0], 16), int(fields[2], 16)
                    entry = objects.setdefault((fields[3], fields[4], fields[5]), {"code": False, "start": None})
                    entry["code"] |= "x" in fields[1]
                    if offset == 0 and entry["start"] is None:
                        entry["start"] = start
        memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return []
    found = []
    try:
        for (_, _, name), entry in objects.items():
            # What has no executable part was mapped as data.
            if entry["code"] and entry["start"] is not None:
                note = _note_at(memory, entry["start"])
                if note:
                    path = name[: -len(_DELETED)] if name.endswith(_DELETED) else name
                    found.append((path, note, name.endswith(_DELETED)))
    finally:
        os.close(memory)
    return found


_DELETED = " (deleted)"


def _note_at(memory, start):
    def read(address, size):
        return os.pread(memory, size, address)

    try:
        return notes.parse(notes.in_memory(start, read))[0]
    except OSError:
        return None  # unloaded meanwhile


def _minor(version):
    numbers = re.match(r"(\d+)\.(\d+)", version or "")
    return (int(numbers.group(1)), int(numbers.group(2))) if numbers else (0, 0)


def _major(version):
    return _minor(version)[0]


def _article(noun):
    return ("an " if noun[0] in "aeo" else "a ") + noun

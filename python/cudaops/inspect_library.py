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
import signal
import sys

from .binaries import notes
from .binaries.elf import Dynamic, Elf, File, NotReadable
from .binaries.fatbin import arch_key, cuda_images, runnable
from .binaries.hip_bundles import hip_images, hip_name

FILE_TYPES = {1: "relocatable object", 2: "executable", 3: "shared library"}
MACHINES = {62: "x86_64", 183: "aarch64", 190: "CUDA"}


def _images(elf, sections, unread, max_containers=None):
    """Every device image in the file, container after container; only headers are read.

    What can't be read is added to `unread`, a sentence each.
    """
    yield from cuda_images(elf, sections, max_containers)
    yield from hip_images(elf, sections, unread, max_containers)


def inspect(path):
    """Everything that is known of a library, as a dictionary of plain values. Raises NotReadable."""
    with File(path) as file:
        elf = Elf(file)
        sections = list(elf.sections())
        provenance, problem = notes.parse(notes.find(elf, sections))
        unread = []
        images = list(_images(elf, sections, unread))
        result = {
            "path": file.path,
            "type": FILE_TYPES.get(elf.type, "other"),
            "machine": MACHINES.get(elf.machine, str(elf.machine)),
            "provenance": provenance,
            "provenance_problem": problem,
            "architectures": runnable(images),
            "images": [],
            "unread": unread,
        }
        result.update(Dynamic(elf).links())
        groups = {}
        for image in images:
            key = (image.relocatable, image.name)
            group = groups.setdefault(key, {"count": 0, "bytes": 0, "compressed": 0, "without_code": 0})
            group["count"] += 1
            group["bytes"] += image.size
            group["compressed"] += image.compressed
            group["without_code"] += not image.has_code
        for relocatable, name in sorted(groups, key=lambda key: (key[0], arch_key(key[1]))):
            group = {"architecture": name, "relocatable": relocatable}
            group.update(groups[relocatable, name])
            result["images"].append(group)
        return result


def provenance(path):
    """The note of CudaOps in a file, or None; reads nothing else. Raises NotReadable."""
    with File(path) as file:
        elf = Elf(file)
        return notes.parse(notes.find(elf, []))[0]


def undefined_symbols(path):
    """Names that a library takes from others. Raises NotReadable."""
    with File(path) as file:
        return Dynamic(Elf(file)).undefined()


def missing_symbols(names, libraries):
    """Those of `names` that none of the files exports; [] where one of them can't be searched."""
    missing = list(names)
    for path in libraries:
        if not missing:
            break
        with File(path) as file:
            dynamic = Dynamic(Elf(file))
            found = {name: dynamic.defines(name) for name in missing}
        if None in found.values():
            return []
        missing = [name for name in missing if not found[name]]
    return missing


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
    with File(path) as file:
        elf = Elf(file)
        return runnable(_images(elf, list(elf.sections()), unread)), unread


def _incomplete(path, unread):
    return NotReadable("%s can't be read whole: %s." % (os.fspath(path), "; ".join(unread)))


def common_architectures(path):
    """Plain architectures that most of the device code is for: ["75", "80"], ["gfx90a", "gfx942"]. Raises NotReadable.

    Sixty-four containers (one for each source file) tell as much as the five hundred of torch, in 3 ms.
    """
    unread = []
    with File(path) as file:
        elf = Elf(file)
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
    return sorted(common, key=lambda arch: arch_key("sm_" + arch if arch.isdigit() else arch))


def split_archs(text):
    """ "sm_90a;compute_120;gfx90a:xnack-", with commas or blanks as well, as a list."""
    names = set()
    for name in text.replace(";", " ").replace(",", " ").split():
        prefix, _, arch = name.partition("_")
        digits = arch[:-1] if arch[-1:] in ("a", "f") else arch
        if prefix not in ("sm", "compute") or not (digits.isdigit() and digits.isascii()):
            hip = hip_name(name)
            if not hip:
                raise ValueError("'%s' is not an architecture: write sm_90a, compute_120 or gfx90a:xnack-." % name)
            name = hip
        names.add(name)
    return sorted(names, key=arch_key)


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
        {image["architecture"] for image in info["images"] if image["relocatable"]} - set(archs), key=arch_key
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
            with File(files[0]) as file:
                print(",".join(Dynamic(Elf(file)).links()["needed"]))
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

# SPDX-License-Identifier: Apache-2.0
"""Ops built beforehand, for machines without compilers: a relocatable directory, found by what is needed to run them.

    <bundle>/index.json                                  every file with its SHA-256, for people and installers
             r/<name>-<seal of the recipe>/<variant>/    library, log, facts

`facts` is what has to fit: ABI and torch, Python, CUDA's shared runtime, architectures, the C library. No compiler and no
path is in it.
"""

import os
import re
import sys

from . import gpus
from .key import digest

# What ELF says of the C and C++ libraries that a file needs.
_GLIBC = re.compile(rb"\0GLIBC_(\d+)\.(\d+)")


def places():
    """The directories of CUDAOPS_JIT_PATH that hold recipes' results."""
    for place in os.environ.get("CUDAOPS_JIT_PATH", "").split(":"):
        place = os.path.expanduser(place)
        if place and os.path.isdir(os.path.join(place, "r")):
            yield place


def find(recipe):
    """(path of a library, its log, None) or (None, None, why the nearest one doesn't fit)."""
    why = None
    for place in places():
        above = os.path.join(place, "r", "%s-%s" % (recipe.name, recipe.seal))
        problem = _insecure(place)
        if problem:
            why = why or problem
            continue
        for variant in sorted(_list(above)):
            facts = _read_facts(os.path.join(above, variant, "facts"))
            path = os.path.join(above, variant, facts.get("file", ""))
            problem = _misfit(facts) or _damage(path, facts)
            if problem is None:
                return path, os.path.join(above, variant, "log"), None
            why = why or "%s: %s" % (path, problem)
    return None, None, why


def _insecure(place):
    mode = os.stat(place).st_mode
    return "others can write to %s (mode %o)" % (place, mode & 0o7777) if mode & 0o022 else None


def _list(path):
    try:
        return os.listdir(path)
    except OSError:
        return []


def _read_facts(path):
    try:
        with open(path, encoding="utf-8") as file:
            return dict(line.rstrip("\n").split(" ", 1) for line in file)
    except (OSError, ValueError):
        return {}


def _misfit(facts):
    from .._library import this_torch

    torch = this_torch()
    if not facts.get("digest"):
        return "its facts are damaged"
    if torch is None:
        return "this Python has no torch"
    if facts["abi"] == "STABLE":
        if _numbers(torch["version"]) < _numbers(facts["torch"]):
            return "it needs torch %s or later, this is %s" % (facts["torch"], torch["version"])
    else:
        if torch["version"] != facts["torch"]:
            return "it is for torch %s, this is %s" % (facts["torch"], torch["version"])
        if facts["python"] != python_tag():
            return "it is for %s, this is %s" % (facts["python"], python_tag())
    if facts["cudart"] != "-" and (torch["cuda"] or "").partition(".")[0] != facts["cudart"]:
        return "it links the shared runtime of CUDA %s, and torch is for CUDA %s" % (facts["cudart"], torch["cuda"])
    if facts["machine"] != os.uname().machine:
        return "it is for %s, this machine is %s" % (facts["machine"], os.uname().machine)
    if _numbers(facts["glibc"]) > _numbers(_libc()):
        return "it needs glibc %s, this is %s" % (facts["glibc"], _libc())
    architectures = [] if facts["architectures"] == "-" else facts["architectures"].split()
    return gpus.problem(architectures, gpus.compute_capabilities()) if architectures else None


def _damage(path, facts):
    try:
        with open(path, "rb") as file:
            return None if digest(file.read()) == facts["digest"] else "it is damaged"
    except OSError as error:
        return os.strerror(error.errno)


def python_tag():
    return "cp%d%d%s" % (*sys.version_info[:2], getattr(sys, "abiflags", ""))


def _numbers(version):
    return [int(number) for number in re.findall(r"\d+", version.partition("+")[0])[:2]]


def _libc():
    try:
        return os.confstr("CS_GNU_LIBC_VERSION").partition(" ")[2]
    except (AttributeError, ValueError, OSError):
        return "0.0"


def add(place, recipe, found):
    """Copies what was built for a recipe into the bundle; returns its directory."""
    import shutil

    from .. import inspect
    from .._library import this_torch
    from . import publish

    info, torch = inspect(found.path), this_torch()
    with open(found.path, "rb") as file:
        content = file.read()
    runtime = [re.match(r"libcudart\.so\.(\d+)", name) for name in info["needed"]]
    floors = [tuple(map(int, pair)) for pair in _GLIBC.findall(content)] or [(0, 0)]
    stable = recipe.values["abi"] == "STABLE"
    facts = {
        "file": os.path.basename(found.path),
        "digest": digest(content),
        "abi": recipe.values["abi"],
        "torch": (info["provenance"] or {}).get("torch_target") or "2.10" if stable else torch["version"],
        "python": "-" if stable else python_tag(),
        "cudart": next((match.group(1) for match in runtime if match), "-"),
        "machine": os.uname().machine,
        "glibc": "%d.%d" % max(floors),
        "architectures": " ".join(info["architectures"]) or "-",
    }
    text = "".join("%s %s\n" % item for item in facts.items())
    # Not by content: a newer build for the same machines takes the place of the older one.
    variant = digest("".join("%s %s\n" % item for item in facts.items() if item[0] not in ("digest", "file")))
    target = os.path.join(place, "r", "%s-%s" % (recipe.name, recipe.seal), variant)
    os.makedirs(target, exist_ok=True)
    for name in (os.path.basename(found.path), "log"):
        beside = os.path.join(target, "%s.%d.new" % (name, os.getpid()))
        shutil.copyfile(os.path.join(found.directory, name), beside)
        os.replace(beside, os.path.join(target, name))
    publish.write(os.path.join(target, "facts"), text)
    return target


def write_index(place):
    """index.json: {"format": 1, "files": {path: sha256}}"""
    import hashlib
    import json

    from . import publish

    files = {}
    for directory, _, names in os.walk(os.path.join(place, "r")):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                files[os.path.relpath(path, place)] = hashlib.sha256(file.read()).hexdigest()
    publish.write(os.path.join(place, "index.json"), json.dumps({"format": 1, "files": files}, indent=1, sort_keys=True) + "\n")

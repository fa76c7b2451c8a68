# SPDX-License-Identifier: Apache-2.0
"""What the programs around NVIDIA's tools share: where a tool is, whether there is a GPU, the kernels of a library."""

import ctypes
import glob
import os
import re
import shutil
import sys

from .elf import Elf, File, NotReadable

# How each comes to a machine: CUDA's toolkit has all of them, pip and conda some.
SOURCES = {
    "compute-sanitizer": "a whole CUDA toolkit, apt-get install cuda-sanitizer-<major>-<minor>, or conda install -c nvidia cuda-sanitizer-api",
    "ncu": "a whole CUDA toolkit, apt-get install nsight-compute, or conda install -c nvidia nsight-compute",
    "nsys": "a whole CUDA toolkit, apt-get install nsight-systems, or conda install -c conda-forge nsight-systems-cli",
    "nvdisasm": "a whole CUDA toolkit, pip install nvidia-cuda-nvdisasm, or conda install -c nvidia cuda-nvdisasm",
}
SKIPPED = 77  # CTest's SKIP_RETURN_CODE
SHT_SYMTAB = 2
STT_FUNC = 2


def find_tool(name, toolkit=""):
    """(path, ""), or (None, a sentence with the cure): in the toolkit, on PATH, among the packages of this Python."""
    places = []
    if toolkit:
        places += [os.path.join(toolkit, "bin", name), os.path.join(toolkit, name, name)]
    on_path = shutil.which(name)
    if on_path:
        places.append(on_path)
    # Started with -S, this Python doesn't know where its packages are.
    packages = "lib/python%d.%d/site-packages/nvidia" % sys.version_info[:2]
    places += sorted(glob.glob(os.path.join(os.path.dirname(os.path.dirname(sys.executable)), packages, "cu*/bin", name)), reverse=True)
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place, ""
    looked = "%s/bin and PATH" % toolkit if toolkit else "PATH"
    return None, "%s was not found in %s: it comes with %s" % (name, looked, SOURCES[name])


def missing_gpu():
    """Why no GPU can be used here, in a sentence; "" where one can."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no GPU can be used here: there is no NVIDIA driver (libcuda.so.1)"
    error = driver.cuInit(0)
    count = ctypes.c_int(0)
    if error == 0:
        error = driver.cuDeviceGetCount(ctypes.byref(count))
    if error or count.value == 0:
        return "no GPU can be used here (the driver's error is %d): check nvidia-smi and CUDA_VISIBLE_DEVICES" % error
    return ""


def kernel_names(path):
    """The mangled names of the kernels in a library, compressed or not: each is registered at the start of the program by its
    name, which is among the constants. Where it isn't mangled, there is a function of the name, too. (Variables of the
    device, and functions whose names are used as texts, may be among them.) Raises NotReadable, also for a stripped library.
    """
    with File(path) as file:
        elf = Elf(file)
        sections = [section for section in elf.sections()]
        constants = [file.read(at, size, name) for name, _, at, size in sections if name == ".rodata"]
        # The names of the symbols of .symtab are in .strtab.
        strings = [file.read(at, size, name) for name, _, at, size in sections if name == ".strtab"]
        symbols = [file.read(at, size, name) for name, kind, at, size in sections if kind == SHT_SYMTAB]
    if not symbols or not strings:
        raise NotReadable("%s is stripped: the names of its kernels are gone." % path)
    registered = set()
    for text in constants:
        registered.update(re.findall(rb"(?<=\0)[A-Za-z_][\w$.]*(?=\0)", b"\0" + text))
    functions = set()
    for at in range(0, len(symbols[0]) - 23, 24):
        # Defined here: an undefined one has no section.
        if symbols[0][at + 4] & 15 == STT_FUNC and symbols[0][at + 6 : at + 8] != b"\0\0":
            name = int.from_bytes(symbols[0][at : at + 4], "little")
            functions.add(strings[0][name : strings[0].index(b"\0", name)])
    # Those that the runtime in the library knows by their names are its own.
    plain = {name for name in functions & registered if not name.startswith((b"_Z", b"cuda", b"__cuda"))}
    return sorted(name.decode() for name in plain | {name for name in registered if name.startswith(b"_Z")})

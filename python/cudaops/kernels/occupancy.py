# SPDX-License-Identifier: Apache-2.0
"""Blocks a multiprocessor and what limits them, by the toolkit's own cuda_occupancy.h, compiled for the host.

What the header must be told of an architecture is asked, too: its shared memory of the header, its threads of ptxas,
which warns of launch bounds that no multiprocessor of it can hold. A new architecture needs no new line here.
"""

import ctypes
import hashlib
import json
import os
import re
from typing import NamedTuple

from .. import store
from ..problem import Problem

SOURCE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "occupancy.cpp")
HEADER = "cuda_occupancy.h"
LIMITS = {1: "warps", 2: "registers", 4: "shared memory", 8: "blocks", 16: "barriers", 32: "virtual resources"}
WARP = 32
MOST_REGISTERS = 255
# Tried where nothing else is known of a launch.
BLOCKS = (128, 256, 512, 1024)
# No multiprocessor has fewer, and none has had more than half of these.
FEWEST_THREADS, MOST_THREADS, THREADS_STEP = 1024, 4096, 256
OUT_OF_RANGE = re.compile(r"Value of threads per SM for entry t(\d+) is out of range")


class Toolkit(NamedTuple):
    include: str  # with cuda_occupancy.h
    ptxas: str
    compiler: str  # for C++


class _Device(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("major", "minor", "threads", "shared_bytes")]


class _Kernel(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("registers", "shared_bytes", "barriers")]


def find_toolkit():
    """The first of find_roots() with header and ptxas; None where there is none, or no C++ compiler."""
    import shutil

    compiler = shutil.which(os.environ.get("CXX") or "c++")
    for root in find_roots():
        ptxas = os.path.join(root, "bin", "ptxas")
        for include in ("include", "targets/%s-linux/include" % os.uname().machine):
            include = os.path.join(root, include)
            if compiler and os.path.exists(ptxas) and os.path.exists(os.path.join(include, HEADER)):
                return Toolkit(include, ptxas, compiler)
    return None


def find_roots():
    """CUDA_HOME, CUDA_PATH, that of nvcc on PATH, /usr/local/cuda, /opt/cuda, and of this Python's wheels: nvcc's, Triton's."""
    import glob
    import importlib.util
    import shutil

    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    nvcc = shutil.which("nvcc")
    if nvcc:
        roots += [os.path.dirname(os.path.dirname(path)) for path in (os.path.realpath(nvcc), nvcc)]
    roots += ["/usr/local/cuda", "/opt/cuda"]
    for package, pattern in (("nvidia", "cu[0-9]*"), ("triton", "backends/nvidia")):
        spec = importlib.util.find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            roots += sorted(glob.glob(os.path.join(glob.escape(place), pattern)), reverse=True)
    return [root for root in roots if root]


def cache_directory():
    """Of the user's store, where the calculator lies once it was compiled."""
    return os.path.join(store.location()[0], "occupancy")


class Calculator:
    """Raises Problem where it can't be compiled."""

    def __init__(self, toolkit, cache):
        self._ptxas = toolkit.ptxas
        try:
            header = store.content(os.path.join(toolkit.include, HEADER))
            if header is None:
                raise Problem(
                    "",
                    "the toolkit has no %s, which says how many blocks a multiprocessor holds." % HEADER,
                    ["ptxas   " + toolkit.ptxas],
                    ["a toolkit with the headers of the CUDA runtime (cuda-cudart-dev, nvidia-cuda-runtime)"],
                )
            key = hashlib.sha1(header + store.content(SOURCE))
            key.update(repr((toolkit, store.stamp(toolkit.ptxas))).encode())
            self._directory = os.path.join(cache, key.hexdigest()[:20])
            library = os.path.join(self._directory, "occupancy.so")
            if not os.path.exists(library):
                os.makedirs(self._directory, exist_ok=True)
                _compile(toolkit, library)
            self._library = ctypes.CDLL(library)
            self._devices = {}
            self._threads_file = os.path.join(self._directory, "threads.json")
            self._threads = json.loads(store.content(self._threads_file) or b"{}")
        except (OSError, ValueError) as error:
            cure = "remove %s, or set CUDAOPS_STORE to a directory that can be written" % cache
            raise Problem("", "the occupancy calculator can't be made.", ["found   %s" % error], [cure]) from None

    def _threads_of(self, digits):
        """Threads of a multiprocessor; 0 where ptxas doesn't know the architecture."""
        if digits in self._threads:
            return self._threads[digits]
        amounts = range(FEWEST_THREADS, MOST_THREADS + 1, THREADS_STEP)
        text = ".version 6.3\n.target sm_%d\n.address_size 64\n" % min(75, int(digits))
        for amount in amounts:
            text += ".visible .entry t%d() .maxntid %d .minnctapersm %d { ret; }\n" % (
                amount,
                THREADS_STEP,
                amount // THREADS_STEP,
            )
        path = os.path.join(self._directory, "threads.%d.ptx" % os.getpid())
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        asked = _run([self._ptxas, "-arch=sm_" + digits, path, "-o", os.devnull])
        store.remove(path)
        refused = {int(amount) for amount in OUT_OF_RANGE.findall(asked.stderr)}
        held = [amount for amount in amounts if amount not in refused]
        # A ptxas that warns in other words refuses nothing.
        threads = held[-1] if asked.returncode == 0 and refused and held == list(amounts)[: len(held)] else 0
        self._threads[digits] = threads
        store.replace(self._threads_file, json.dumps(self._threads).encode())
        return threads

    def device(self, arch):
        """What sm_90a is; None where header or ptxas don't know it."""
        if arch not in self._devices:
            digits = re.sub(r"\D", "", arch)
            major, minor = divmod(int(digits), 10)
            shared = self._library.cudaops_shared_bytes(major, minor)
            threads = self._threads_of(digits) if shared else 0
            self._devices[arch] = _Device(major, minor, threads, shared) if threads else None
        return self._devices[arch]

    def blocks(self, arch, registers, shared_bytes, barriers, block):
        """(blocks a multiprocessor, bits of what limits them); None where that can't be known."""
        device = self.device(arch)
        if device is None:
            return None
        limits = ctypes.c_int()
        kernel = _Kernel(registers, shared_bytes, barriers)
        number = self._library.cudaops_blocks(ctypes.byref(device), ctypes.byref(kernel), block, ctypes.byref(limits))
        return None if number < 0 else (number, limits.value)

    def most_registers(self, arch, block, blocks):
        """Of a thread, so that a multiprocessor holds so many blocks; 0 where that can't be known or had."""
        for registers in range(MOST_REGISTERS, 0, -1):
            found = self.blocks(arch, registers, 0, 0, block)
            if found is None:
                return 0
            if found[0] >= blocks:
                return registers
        return 0

    def row(self, arch, registers, shared_bytes, barriers, block):
        """A row of the report: block, blocks_per_multiprocessor, occupancy, limited_by, next."""
        found = self.blocks(arch, registers, shared_bytes, barriers, block)
        if found is None:
            return None
        number, limits = found
        warps = -(-block // WARP)
        most = self.device(arch).threads // WARP
        return {
            "block": block,
            "blocks_per_multiprocessor": number,
            "occupancy": round(number * warps / most, 4),
            "limited_by": ", ".join(name for bit, name in LIMITS.items() if limits & bit),
            "next": self._next(arch, _Kernel(registers, shared_bytes, barriers), block, number, limits, warps, most),
        }

    def _next(self, arch, kernel, block, number, limits, warps, most):
        """What would give more warps, in a few words; empty where nothing of the kernel's does."""
        if number * warps == most:
            return ""
        device, needed = ctypes.byref(self.device(arch)), _Kernel()
        more = self._library.cudaops_more_blocks(device, ctypes.byref(kernel), block, limits, ctypes.byref(needed))
        if more:
            steps = []
            if needed.registers < kernel.registers:
                steps.append("%d registers or fewer" % needed.registers)
            if needed.shared_bytes < kernel.shared_bytes:
                steps.append("%d bytes of shared memory or fewer" % needed.shared_bytes)
            return "%s give %d warps of %d" % (" and ".join(steps), more * warps, most)
        # The nearest of the blocks that give the most.
        found = {}
        for other in BLOCKS:
            blocks = self.blocks(arch, kernel.registers, kernel.shared_bytes, kernel.barriers, other)[0]
            found[blocks * (other // WARP), -abs(other - block)] = other
        best = max(found)
        return (
            "blocks of %d threads give %d warps of %d" % (found[best], best[0], most)
            if best[0] > number * warps
            else ""
        )


def _run(command):
    # Only the first time: importing it takes longer than all the rest of a budget's test.
    import subprocess

    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)


def _compile(toolkit, library):
    temporary = "%s.%d" % (library, os.getpid())
    command = [
        toolkit.compiler,
        "-std=c++17",
        "-O1",
        "-w",
        "-shared",
        "-fPIC",
        "-I" + toolkit.include,
        SOURCE,
        "-o",
        temporary,
    ]
    try:
        done = _run(command)
    except OSError as error:
        raise Problem(
            "", "the occupancy calculator can't be compiled.", ["found   %s: %s" % (toolkit.compiler, error.strerror)]
        ) from None
    if done.returncode:
        lines = (done.stderr.strip() or "exit code %d" % done.returncode).splitlines()
        raise Problem("", "the occupancy calculator can't be compiled.", ["found   " + line for line in lines[:3]])
    os.replace(temporary, library)

# SPDX-License-Identifier: Apache-2.0
"""Waves that the registers of a kernel leave to a SIMD of an AMD GPU, as the compiler has them.

No rule of an architecture is written here: clang compiles kernels that take just so many registers, and says of each
"Occupancy" in its assembly text. A new architecture needs no new line. LDS limits waves, too: that isn't asked, since clang 14
and 15 take the waves of a whole compute unit for those of one SIMD there.
"""

import hashlib
import json
import os
import re

from .. import store
from ..problem import Problem

# Registers are given out in multiples of it, or of a multiple of it.
VGPR_STEP = 4
# A thread's VGPRs; with AGPRs, where both are of one file.
MOST_VGPRS, MOST_WITH_AGPRS = 256, 512
SGPRS = range(8, 103, 2)
FUNCTION = re.compile(r"^([vs])(\d+):.*?^; (?:Total)?NumSgprs: (\d+)$.*?^; Occupancy: (\d+)$", re.MULTILINE | re.DOTALL)
KERNEL = '__kernel void %s%d(void) { __asm__ volatile("" ::: %s); }\n'


def find_compilers():
    """Clangs that may know AMD's GPUs: HIPCXX, of ROCM_PATH, /opt/rocm and PATH, and of Debian's packages, the newest first."""
    import glob
    import shutil

    places = [os.environ.get("HIPCXX"), os.path.join(os.environ.get("ROCM_PATH") or "/opt/rocm", "llvm/bin/clang++")]
    places += ["amdclang++", "clang++"]
    debian = glob.glob("/usr/lib/llvm-*/bin/clang++")
    places += sorted(debian, key=lambda path: [int(part) for part in re.findall(r"\d+", path)], reverse=True)
    found = [shutil.which(place) for place in places if place]
    return list(dict.fromkeys(path for path in found if path))


class Waves:
    """compilers: tried one after the other, as an older one doesn't know a newer architecture. cache: where answers are kept."""

    def __init__(self, compilers, cache):
        self._compilers = compilers
        self._cache = cache
        self._tables = {}

    def row(self, kernel):
        """What the report has of a kernel's waves; empty where they aren't known."""
        table = self.table(kernel.arch, kernel.wave_size)
        if table is None:
            return {}
        vgprs, sgprs = table
        of = {"VGPRs": _waves(vgprs, kernel.registers), "SGPRs": _waves(sgprs, kernel.scalar_registers)}
        waves, most = min(of.values()), max(vgprs.values())
        limits = [name for name, number in of.items() if number == waves < most]
        step = ""
        if limits == ["VGPRs"]:
            fewer = max(number for number, then in vgprs.items() if then > waves)
            step = "%d VGPRs or fewer give %d waves of %d" % (fewer, min(vgprs[fewer], of["SGPRs"]), most)
        return {
            "waves_per_simd": waves,
            "most_waves_per_simd": most,
            "waves_limited_by": ", ".join(limits),
            "waves_next": step,
        }

    def unknown(self, kernels):
        """A note for each architecture whose waves aren't known."""
        pairs = {(kernel.arch, kernel.wave_size) for kernel in kernels if kernel.wave_size}
        missing = sorted({arch for arch, size in pairs if self.table(arch, size) is None})
        found = "%s can't compile for it" % ", ".join(self._compilers) if self._compilers else "there is no clang"
        return ["waves of %s: %s (HIPCXX, ROCM_PATH, PATH)" % (arch, found) for arch in missing]

    def table(self, arch, wave_size):
        """({VGPRs: waves}, {SGPRs: waves}); None where no compiler knows the architecture."""
        key = arch, wave_size
        if key not in self._tables:
            tried = ((compiler, most) for compiler in self._compilers for most in (MOST_WITH_AGPRS, MOST_VGPRS))
            answers = (self._answer(compiler, arch, wave_size, most) for compiler, most in tried)
            self._tables[key] = next((answer for answer in answers if answer[0] and answer[1]), None)
        return self._tables[key]

    def _answer(self, compiler, arch, wave_size, most):
        command = [compiler, "--target=amdgcn-amd-amdhsa", "-mcpu=" + arch, "-nogpulib", "-x", "cl", "-O1", "-S", "-", "-o", "-"]
        # Before gfx10 all have 64 threads.
        if re.match(r"gfx1\d", arch) and wave_size == 64:
            command.append("-mwavefrontsize64")
        text = program(most)
        digest = hashlib.sha1(repr((command, text, store.stamp(compiler))).encode()).hexdigest()[:20]
        path = os.path.join(self._cache, "waves-%s.json" % digest)
        try:
            kept = store.content(path)
            if kept is not None:
                return [{int(number): waves for number, waves in table.items()} for table in json.loads(kept)]
            tables = _compile(command, text)
            # A failure may have another cause than the architecture.
            if tables[0]:
                os.makedirs(self._cache, exist_ok=True)
                store.replace(path, json.dumps(tables).encode())
            return tables
        except (OSError, ValueError) as error:
            cure = "remove %s, or set CUDAOPS_STORE to a directory that can be written" % self._cache
            raise Problem("", "what the compiler says of waves can't be kept.", ["found   %s" % error], [cure]) from None


def program(most):
    """In OpenCL C, which clang compiles for these GPUs without any other file."""
    lines = []
    for number in range(VGPR_STEP, most + 1, VGPR_STEP):
        taken = '"v%d"' % (min(number, MOST_VGPRS) - 1)
        if number > MOST_VGPRS:
            taken += ', "a%d"' % (number - MOST_VGPRS - 1)
        lines.append(KERNEL % ("v", number, taken))
    return "".join(lines + [KERNEL % ("s", number, '"s%d"' % (number - 1)) for number in SGPRS])


def _compile(command, text):
    # Where the answer isn't kept already.
    import subprocess

    vgprs, sgprs = {}, {}
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace", check=False)
    except OSError:
        return vgprs, sgprs
    for letter, number, all_sgprs, waves in FUNCTION.findall(done.stdout if done.returncode == 0 else ""):
        if letter == "v":
            vgprs[int(number)] = int(waves)
        else:
            # With what the compiler adds, which differs between architectures.
            sgprs[int(all_sgprs)] = int(waves)
    return vgprs, sgprs


def _waves(table, registers):
    """Of so many, or of the next more that were asked; beyond all of them as of the most."""
    return table[min((number for number in table if number >= registers), default=max(table))]

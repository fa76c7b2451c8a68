# SPDX-License-Identifier: Apache-2.0
"""Random edits: after each, load() gives what a fresh build would, and never what was there before.

Twelve edits; CUDAOPS_TEST_LONG=1 makes them 200, the kills 50, and compares device code with that of a build in an empty
store. The seed is in the failure's text.
"""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from conftest import REPOSITORY
from jit_store import jit, make_store, plain  # noqa: F401

from cudaops.jit import api, store

LONG = os.environ.get("CUDAOPS_TEST_LONG") == "1"
EDITS = 200 if LONG else 12
KILLS = 50 if LONG else 3


class Sources:
    """What the answer follows from: the sum of a source's, two headers', a flag's and a variable's numbers."""

    def __init__(self, jit, choice):  # noqa: F811
        self.jit, self.choice = jit, choice
        self.hidden = False
        self.flag = self.variable = 0
        self.source = self.near = self.far = self.asked = 0
        self.path = str(jit.directory / "plain.cpp")
        for name in ("first", "second"):
            (jit.directory / name).mkdir()
        for edit in (self.edit_source, self.edit_near, self.edit_far):
            edit()

    def edit_source(self):
        self.source = self.choice.randrange(3)
        text = '#include "near.h"\n#include <far.h>\n#if __has_include(<asked.h>)\n#include <asked.h>\n#else\n#define ASKED 0\n#endif\n'
        self.jit.write("plain.cpp", text + plain("plain", "(%d + NEAR + FAR + ASKED + FLAG + VARIABLE)" % self.source))

    def edit_near(self):
        self.near = 10 * self.choice.randrange(3)
        self.jit.write("near.h", "#define NEAR %d\n" % self.near)

    def edit_near_with_its_date_put_back(self):
        before = os.stat(self.jit.directory / "near.h")
        self.edit_near()
        os.utime(self.jit.directory / "near.h", ns=(before.st_atime_ns, before.st_mtime_ns))

    def edit_far(self):
        self.far = 100 * self.choice.randrange(3)
        self.jit.write("second/far.h", "#define FAR %d\n" % self.far)
        if self.hidden:
            os.unlink(self.jit.directory / "first" / "far.h")
            self.hidden = False

    def hide_far(self):
        self.far = 100 * self.choice.randrange(3, 6)
        self.jit.write("first/far.h", "#define FAR %d\n" % self.far)
        self.hidden = True

    def make_asked(self):
        self.asked = 1000 * self.choice.randrange(1, 3)
        self.jit.write("second/asked.h", "#define ASKED %d\n" % self.asked)

    def remove_asked(self):
        self.asked = 0
        place = self.jit.directory / "second" / "asked.h"
        if place.exists():
            place.unlink()

    def change_flag(self):
        self.flag = 10_000 * self.choice.randrange(2)

    def change_variable(self):
        self.variable = 100_000 * self.choice.randrange(2)

    def edits(self):
        return [getattr(self, name) for name in sorted(dir(self)) if name.split("_")[0] in ("edit", "hide", "make", "remove", "change")]

    def expected(self):
        return self.source + self.near + self.far + self.asked + self.flag + self.variable

    def load(self):
        self.jit.patch.setenv("CXXFLAGS", "-DVARIABLE=%d" % self.variable)
        places = [str(self.jit.directory / name) for name in ("first", "second")]
        return self.jit.answer("plain", self.path, extra_cflags=["-DFLAG=%d" % self.flag], extra_include_paths=places)


def test_no_edit_gives_what_was_there_before(jit):  # noqa: F811
    seed = int(os.environ.get("CUDAOPS_TEST_SEED", time.time()))
    choice = random.Random(seed)
    sources = Sources(jit, choice)
    edits = sources.edits()
    assert len(edits) == 9
    for number in range(EDITS):
        edit = choice.choice(edits)
        edit()
        # Whoever compares sees it.
        jit.patch.setattr(store, "IN_C_BYTES", choice.choice((0, 1 << 40)))
        answer, state, reason = sources.load()
        assert answer == sources.expected(), "seed %d, edit %d: %s (%s, %s)" % (seed, number, edit.__name__, state, reason)
    with jit.no_process():
        assert sources.load()[:2] == (sources.expected(), "CACHED")
    assert jit.left() == []


DEVICE = """
#include "size.h"
__global__ void edited(float* out) {
  float sum = 0;
  for (int i = 0; i < SIZE; ++i) sum += FACTOR * out[i * %d + threadIdx.x];
#if __CUDA_ARCH__ >= 900
  sum += ONLY_HOPPER;
#endif
  out[blockIdx.x] = sum;
}
"""


def device_code(path):
    """The bytes that the driver gets."""
    from cudaops.binaries.elf import Elf, File

    with File(path) as file:
        for name, _, offset, size in Elf(file).sections():
            if name == ".nv_fatbin":
                return file.read(offset, size, "device code")
    raise AssertionError("no device code in %s" % path)


@pytest.mark.skipif(not LONG, reason="two builds with nvcc for each of 40 edits: CUDAOPS_TEST_LONG=1")
def test_device_code_after_an_edit_is_that_of_a_build_in_an_empty_store(jit, tmp_path):  # noqa: F811
    if not os.environ.get("CUDACXX"):
        pytest.skip("no nvcc: set CUDACXX")
    seed = int(os.environ.get("CUDAOPS_TEST_SEED", time.time()))
    choice = random.Random(seed)
    values = dict.fromkeys(("stride", "size", "hopper", "factor", "architectures", "variable"), 0)
    texts = {}
    for number in range(40):
        name = choice.choice(sorted(values))
        values[name] = choice.randrange(3)
        texts["device.cu"] = DEVICE % (values["stride"] + 1)
        texts["size.h"] = "#define SIZE %d\n#if __CUDA_ARCH__ >= 900\n#define ONLY_HOPPER %d\n#endif\n" % (values["size"] + 4, values["hopper"])
        texts["binding.cpp"] = plain("device")
        for file, text in texts.items():
            if not (jit.directory / file).exists() or (jit.directory / file).read_text() != text:
                jit.write(file, text)
        jit.patch.setenv("TORCH_CUDA_ARCH_LIST", ("8.0", "9.0", "8.0;9.0")[values["architectures"]])
        jit.patch.setenv("NVCC_APPEND_FLAGS", "-DVARIABLE=%d" % values["variable"])
        request = api.Request("device", "module")
        request.set_flags(None, ["-DFACTOR=%d" % values["factor"]], None, None)
        request.set_paths([str(jit.directory / "binding.cpp"), str(jit.directory / "device.cu")])
        found = api.obtain(request)[0]
        with jit.patch.context() as patch:
            patch.setenv("CUDAOPS_STORE", str(make_store(tmp_path / str(number))))
            patch.setenv("CUDAOPS_CACHE", "OFF")
            fresh = api.obtain(request)[0]
        assert device_code(found.path) == device_code(fresh.path), "seed %d, edit %d of %s" % (seed, number, name)


def test_kills_at_any_moment_leave_nothing_in_the_way(jit):  # noqa: F811
    """pytorch#189245"""
    seed = int(os.environ.get("CUDAOPS_TEST_SEED", time.time()))
    choice = random.Random(seed)
    for number in range(KILLS):
        source = jit.write("plain.cpp", plain("plain", number))
        code = """
import sys
sys.path.insert(0, %r)
from cudaops.jit import api, store
request = api.Request("plain", "module")
request.set_flags(None, None, None, None)
request.set_paths(%r)
api.obtain(request)
""" % (str(REPOSITORY / "python"), source)
        process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, **jit.variables}, stderr=subprocess.DEVNULL)
        time.sleep(choice.uniform(0.05, 1.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert jit.answer("plain", source)[0] == number, "seed %d, kill %d" % (seed, number)
        assert jit.left() == [], "seed %d, kill %d" % (seed, number)

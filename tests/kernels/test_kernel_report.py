# SPDX-License-Identifier: Apache-2.0
"""The report of kernels against the driver: registers, shared memory, and cudaOccupancyMaxActiveBlocksPerMultiprocessor()
of every kernel of a library that this GPU runs.

usage: test_kernel_report.py --toolkit <root> [<library>]

<library>: default that of CUDAOPS_CUDAOPS_KERNELS_LIBRARY. Exit code 77: no GPU.
"""

import argparse
import ctypes
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

from cudaops.kernels import occupancy  # noqa: E402
from cudaops.binaries.cubin import read_kernels  # noqa: E402
from cudaops.binaries.elf import Elf, File, Memory  # noqa: E402
from cudaops.binaries.fatbin import cuda_images  # noqa: E402
from cudaops.kernels.report import rows  # noqa: E402
from cudaops.binaries.unpack import cuda_image  # noqa: E402

SHARED_BYTES, REGISTERS = 1, 4  # CU_FUNC_ATTRIBUTE_
MAJOR, MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_


class Driver:
    """The first GPU, by the functions that CUDA's runtime stands on."""

    def __init__(self):
        try:
            self._library = ctypes.CDLL("libcuda.so.1")
        except OSError:
            raise SystemExit(77) from None
        count = ctypes.c_int()
        if self._library.cuInit(0) or self._library.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
            raise SystemExit(77)
        context = ctypes.c_void_p()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self("cuCtxSetCurrent", context)
        self.capability = tuple(self.number("cuDeviceGetAttribute", number, 0) for number in (MAJOR, MINOR))

    def __call__(self, name, *arguments):
        code = getattr(self._library, name)(*arguments)
        assert code == 0, "%s: error %d" % (name, code)

    def number(self, name, *arguments):
        value = ctypes.c_int()
        self(name, ctypes.byref(value), *arguments)
        return value.value


def runs(arch, capability):
    """Whether a cubin for sm_90a runs on (9, 0)."""
    digits = arch[3:].rstrip("af")
    major, minor = int(digits[:-1]), int(digits[-1])
    return major == capability[0] and (minor == capability[1] if arch[-1] in "af" else minor <= capability[1])


def compare(path, driver, calculator):
    """(kernels compared, what differs)"""
    compared, different = 0, []
    with File(path) as file:
        elf = Elf(file)
        for image in cuda_images(elf, list(elf.sections()), None):
            if image.kind != "cubin" or image.relocatable or not image.has_code:
                continue
            if not runs(image.name, driver.capability):
                continue
            cubin = cuda_image(file, image)
            module = ctypes.c_void_p()
            driver("cuModuleLoadData", ctypes.byref(module), cubin)
            for row in rows(read_kernels(Elf(Memory(path, cubin)), image.name), calculator, str):
                function = ctypes.c_void_p()
                driver("cuModuleGetFunction", ctypes.byref(function), module, row["mangled"].encode())
                compared += 1
                figures = {"registers": REGISTERS, "static_shared_bytes": SHARED_BYTES}
                for member, attribute in figures.items():
                    found = driver.number("cuFuncGetAttribute", attribute, function)
                    if found != row[member]:
                        different.append("%s: %s %d, the driver says %d" % (row["name"], member, row[member], found))
                if not row["occupancy"]:
                    different.append("%s: no occupancy" % row["name"])
                for occupied in row["occupancy"]:
                    found = driver.number(
                        "cuOccupancyMaxActiveBlocksPerMultiprocessor", function, occupied["block"], ctypes.c_size_t(0)
                    )
                    if found != occupied["blocks_per_multiprocessor"]:
                        different.append(
                            "%s: %d blocks of %d threads, the driver says %d"
                            % (row["name"], occupied["blocks_per_multiprocessor"], occupied["block"], found)
                        )
            driver("cuModuleUnload", module)
    return compared, different


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--toolkit", required=True)
    parser.add_argument("library", nargs="?", default=os.environ.get("CUDAOPS_CUDAOPS_KERNELS_LIBRARY"))
    options = parser.parse_args()
    driver = Driver()
    compiler = shutil.which(os.environ.get("CXX") or "c++")
    root = options.toolkit
    toolkit = occupancy.Toolkit(os.path.join(root, "include"), os.path.join(root, "bin", "ptxas"), compiler)
    compared, different = compare(options.library, driver, occupancy.Calculator(toolkit, occupancy.cache_directory()))
    print(
        "compute capability %d.%d: %d kernels compared, %d differences" % (*driver.capability, compared, len(different))
    )
    print("\n".join(different[:20]))
    if not compared:
        print("no kernel of %s is for this GPU" % options.library)
    return 1 if different or not compared else 0


if __name__ == "__main__":
    sys.exit(main())

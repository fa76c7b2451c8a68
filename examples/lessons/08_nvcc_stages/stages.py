# SPDX-License-Identifier: Apache-2.0
"""What becomes of a .cu, one command after the other: stages.py <nvcc> [<host compiler>]"""

import ctypes
import os
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SM_80, SM_90 = "arch=compute_80,code=sm_80", "arch=compute_90,code=[sm_90,compute_90]"
nvcc = [sys.argv[1]] + [f"-ccbin={compiler}" for compiler in sys.argv[2:]]
os.chdir(tempfile.mkdtemp())


def step(what, arguments, output):
    """Runs nvcc, and returns what it wrote. {} is the folder of the sources."""
    command = [argument.replace("{}", HERE) for argument in arguments.split()]
    start = time.perf_counter()
    subprocess.run([*nvcc, *command, "-o", output], check=True)
    seconds = time.perf_counter() - start
    with open(output, "rb") as stream:
        content = stream.read()
    print(f"{what:16} {output:16} {len(content):9} {1e3 * seconds:8.0f}")
    return content


print(f"{'step':16} {'file':16} {'bytes':>9} {'ms':>8}")
# C++ → PTX: an assembly language that every later GPU understands. Text: read it.
ptx = step("-ptx", "-rdc=true -arch=compute_90 -ptx {}/twice.cu", "twice.ptx")
assert b".target sm_90" in ptx and b"twice" in ptx
# PTX → cubin: the machine code of one architecture, an ELF file for machine 190 (CUDA).
cubin = step("-cubin", "-rdc=true -arch=sm_90 -cubin twice.ptx", "twice.cubin")
assert cubin[:4] == b"\x7fELF" and struct.unpack_from("<H", cubin, 18)[0] == 190
# Several cubins and PTX in one file, from which the driver chooses when the program starts.
fatbin = step("-fatbin", f"-rdc=true -gencode {SM_80} -gencode {SM_90} -fatbin {{}}/twice.cu", "twice.fatbin")
assert struct.unpack_from("<I", fatbin)[0] == 0xBA55ED50
# Host code with the fatbin in it. -dc leaves calls into other files open...
options = f"-Xcompiler=-fPIC -gencode {SM_90}"
step("-dc", f"{options} -dc {{}}/scale.cu", "scale.o")
step("-dc", f"{options} -dc {{}}/twice.cu", "twice.o")
# ... -dlink joins the device code of all objects, and the host's linker the rest.
step("-dlink", f"{options} -dlink scale.o twice.o", "device.o")
step("link", "-shared --no-device-link scale.o twice.o device.o", "libstages.so")

print()
for library in ("./libstages.so", os.environ["CUDAOPS_STAGES_LIBRARY"]):
    data = (ctypes.c_float * 3)(1, 2, 3)
    error = ctypes.CDLL(library).double_on_gpu(data, 3)
    # 35 and 100: no driver, no GPU. The library is built and loads, which needs neither.
    assert (error == 0 and list(data) == [2, 4, 6]) or error in (35, 100), f"{library}: error {error}"
    what = "by hand" if library.startswith("./") else "by CMake, as in the project"
    print(f"{what}: {'doubled three numbers on the GPU' if error == 0 else 'loaded; there is no GPU'}")

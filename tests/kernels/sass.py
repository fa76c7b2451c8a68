# SPDX-License-Identifier: Apache-2.0
"""Compares the machine code of the kernels of two source trees.

    python tests/kernels/sass.py <tree before> <tree after> [--arch 90] [--jobs 1] kernels/rms_norm/rms_norm.cu ...

Each file is compiled in both trees with the flags of a release build. A change that only takes the sources apart must
leave every kernel's instructions as they were; its name may change. Kernels are compared by their instructions alone,
whatever their names, in two steps:

    SASS  the same instructions with the same registers
    PTX   the same program but for the numbers of its virtual registers: nvcc numbers them otherwise when the members of
          a struct have another order, and ptxas then allocates other registers

The output lists, per file, the kernels that the other tree has in neither way, and their numbers of registers and bytes
of stack (spills are in it). Exit status 1 where there is one.

A file may be given as `<header>:<explicit instantiation>`, for templates that are instantiated in shards:

    'kernels/rms_norm_quantize/rms_norm_quantize_of.cuh:template void
     cudaops_kernels::launch_rms_norm_quantize_of<float>(const cudaops_kernels::RmsNormQuantize&, cudaStream_t)'

`nvcc` and `cuobjdump` (with `nvdisasm`) are looked for in PATH, the latter in installed packages too (triton has one).
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

_KERNEL = re.compile(r"^\s+Function : (\S+)")
_INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(.*?);?\s*/\*")
_SYMBOL = re.compile(r"`\([^)]*\)")
_ENTRY = re.compile(r"\.entry (\w+)\(")
# Virtual registers, labels, and names of symbols; the kind of a register stays.
_NAME = re.compile(r"(%[a-z]+)\d+\b|(\$L__BB)\d+_\d+|\b(_Z)\w+|\b(__\w*_param_)\w+")


def parse_sass(text):
    """The instructions of each kernel in cuobjdump's output, without addresses and names of symbols."""
    kernels = {}
    code = None
    for line in text.splitlines():
        if match := _KERNEL.match(line):
            code = kernels.setdefault(match[1], [])
        elif code is not None and (match := _INSTRUCTION.match(line)):
            code.append(_SYMBOL.sub("<symbol>", match[1].strip()))
    return kernels


def parse_ptx(text):
    """The program of each kernel in PTX, with names numbered in the order in which they come."""
    kernels = {}
    name = None
    for line in text.splitlines():
        line = line.strip()
        if match := _ENTRY.search(line):
            name, numbers = match[1], {}
            kernels[name] = []
        elif line.startswith((".func", ".visible .func", ".weak .func")):
            name = None
        elif name and line and not line.startswith(("//", ".loc", ".file", ".reg")):

            def number(match):
                kind = next(group for group in match.groups() if group)
                return f"{kind}#{numbers.setdefault(match[0], len(numbers))}"

            kernels[name].append(_NAME.sub(number, line))
    return kernels


def parse_usage(text):
    """(registers, bytes of stack) of each kernel in the output of cuobjdump -res-usage."""
    usage = {}
    name = None
    for line in text.splitlines():
        if match := re.match(r"^\s*Function (\S+):", line):
            name = match[1]
        elif name and (match := re.search(r"REG:(\d+) STACK:(\d+)", line)):
            usage[name] = int(match[1]), int(match[2])
    return usage


def find_cuobjdump():
    found = shutil.which("cuobjdump")
    if found:
        return found
    for tool in pathlib.Path(sysconfig.get_paths()["purelib"]).glob("**/bin/cuobjdump"):
        return str(tool)
    sys.exit(
        "sass.py: cuobjdump is neither in PATH nor in a package of this Python.\n"
        "Fix: pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm"
    )


def compile_file(tree, file, arch, folder):
    source, _, instantiation = file.partition(":")
    text = f'#include "{tree / source}"\n'
    if instantiation:
        text += f"namespace cudaops_kernels {{ {instantiation}; }}\n"
    (folder / "source.cu").write_text(text)
    subprocess.run(
        # fmt: off
        ["nvcc", "-cubin", "--keep", "-std=c++17", "-O3", "-DNDEBUG", f"-arch=sm_{arch}",
         '-DCUDAOPS_OP_NAME="op"', f'-DCUDAOPS_ARCHITECTURES="sm_{arch}"',
         f"-I{tree / 'kernels'}", f"-I{tree / 'cmake/include'}", "source.cu", "-o", "source.cubin"],
        # fmt: on
        check=True,
        cwd=folder,
    )


def digest(lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def kernels_of(tree, file, arch, cuobjdump):
    """Kernels of a file: (name, digest of SASS, digest of PTX, instructions, registers, bytes of stack)."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        compile_file(tree, file, arch, folder)
        environment = dict(os.environ, PATH=f"{os.environ['PATH']}:{os.path.dirname(cuobjdump)}")

        def run(option):
            command = [cuobjdump, option, str(folder / "source.cubin")]
            return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout

        code, usage = parse_sass(run("-sass")), parse_usage(run("-res-usage"))
        ptx = parse_ptx((folder / "source.ptx").read_text())
    return [
        (name, digest(lines), digest(ptx[name]), len(lines), *usage.get(name, (0, 0)))
        for name, lines in code.items()
        if name in ptx
    ]


def without(kernels, others, column):
    """(Kernels that have no counterpart among the others, others that have none), by one of the digests."""
    left = list(others)
    unmatched = []
    for kernel in kernels:
        same = next((other for other in left if other[column] == kernel[column]), None)
        if same:
            left.remove(same)
        else:
            unmatched.append(kernel)
    return unmatched, left


def compare(before, after):
    """Numbers of kernels with the same SASS and with the same PTX only, and lines about the others."""
    by_sass, by_sass_after = without(before, after, 1)
    by_ptx, by_ptx_after = without(by_sass, by_sass_after, 2)
    lines = [
        f"  {sign} {size} instructions, {registers} registers, {stack} bytes of stack: {name}"
        for sign, kernels in (("-", by_ptx), ("+", by_ptx_after))
        for name, _, _, size, registers, stack in kernels
    ]
    return len(before) - len(by_sass), len(by_sass) - len(by_ptx), lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--arch", default="90")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    cuobjdump = find_cuobjdump()
    differs = False
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:

        def both(file):
            trees = arguments.before.resolve(), arguments.after.resolve()
            return [kernels_of(tree, file, arguments.arch, cuobjdump) for tree in trees]

        for file, (before, after) in zip(arguments.files, pool.map(both, arguments.files)):
            same, same_ptx, lines = compare(before, after)
            differs = differs or bool(lines)
            print(f"{file}: {len(before)} kernels, {same} with the same SASS, {same_ptx} with the same PTX", flush=True)
            print("\n".join(lines), end="\n" if lines else "")
    sys.exit(1 if differs else 0)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Says what each kernel of a library takes, how many blocks a multiprocessor holds, what limits them, what would help.

Python 3.8 or later, standard library only: the target cudaops_kernel_report runs it.
"""

import argparse
import json
import sys

from ..binaries.code_object import DEFAULT_MAX_THREADS
from ..binaries.demangle import demangler
from ..binaries.kernels import read_library
from ..problem import Problem
from ..words import clean, count, read_text
from . import occupancy
from .waves import Waves, find_compilers

FORMAT = 1
# What --diff looks at, besides the blocks.
MEMBERS_COMPARED = (
    "registers", "static_shared_bytes", "stack_bytes", "spill_store_bytes", "spill_load_bytes", "constant_bytes",
    "max_threads", "min_blocks", "nvcc", "scalar_registers", "spilled_registers", "waves_per_simd",
)  # fmt: skip
OCCUPANCY_COMPARED = "block", "blocks_per_multiprocessor"
# Of those that spill in a kernel.
MOST_LINES = 3
DESCRIPTION = (
    "Says what the kernels of a library take: registers, shared memory, stack, spills, blocks a multiprocessor."
)
EPILOG = """\
What the figures mean:

  registers, shared, stack
              of a thread, of a block (static alone), of a thread
  spills      bytes stored and loaded because registers ran out, as ptxas -v counts them: of the instructions, not of
              the times that they run; unknown (null) where the kernel has a stack and nvcc is older than 12.6
  constant    bytes of the parameters and of the kernel's own constants
  threads     the launch bound; without one 128, 256, 512 and 1024
  blocks      that a multiprocessor holds, and the warps of these blocks, by the CUDA toolkit's cuda_occupancy.h;
              with the dynamic shared memory of --dynamic-shared, which the library doesn't know
  waves       of AMD GPUs: that the registers leave to a SIMD, by clang (HIPCXX, ROCM_PATH, PATH)

Read are the library's own tables: it is neither loaded nor compiled again.
"""


def rows(kernels, calculator, plain, waves=None, dynamic_shared=0):
    """The kernels as the report has them, by name and architecture; `plain`: demangle.demangler(). `dynamic_shared`: bytes that
    a launch asks for."""
    made = []
    for kernel in kernels:
        blocks = (kernel.max_threads,) if kernel.max_threads else occupancy.BLOCKS
        uses = (kernel.arch, kernel.registers, kernel.static_shared_bytes + dynamic_shared, kernel.barriers)
        known = calculator and kernel.release
        found = [calculator.row(*uses, block) for block in blocks] if known else []
        if known and not kernel.max_threads:
            _say_bounds(kernel, found, calculator)
        made.append({
            "name": plain(kernel.mangled),
            "mangled": kernel.mangled,
            "arch": kernel.arch,
            "target": None,
            "file": kernel.place[0] if kernel.place else None,
            "line": kernel.place[1] if kernel.place else None,
            "registers": kernel.registers,
            "static_shared_bytes": kernel.static_shared_bytes,
            "stack_bytes": kernel.stack_bytes,
            "spill_store_bytes": kernel.spill_store_bytes,
            "spill_load_bytes": kernel.spill_load_bytes,
            "constant_bytes": kernel.constant_bytes,
            "max_threads": kernel.max_threads,
            "min_blocks": _min_blocks(kernel, calculator),
            "nvcc": kernel.release,
            "spilled_at": ["%s:%d" % place[:2] for place in kernel.spilled_at[:MOST_LINES]],
            "occupancy": [row for row in found if row],
            "next": "",
        })  # fmt: skip
        if kernel.scalar_registers is not None:
            made[-1].update(scalar_registers=kernel.scalar_registers, spilled_registers=kernel.spilled_registers)
            made[-1].update(waves.row(kernel) if waves else {})
        if spilled(made[-1]):
            made[-1]["next"] = _more_registers(kernel, made[-1]["min_blocks"], known and calculator)
    made.sort(key=lambda row: (row["name"], row["arch"]))
    return made


def _say_bounds(kernel, found, calculator):
    """A kernel without launch bounds may take more registers than the blocks that it is launched with can have."""
    for row in found:
        if row and not row["blocks_per_multiprocessor"]:
            registers = calculator.most_registers(kernel.arch, row["block"], 1)
            if 0 < registers < kernel.registers:
                row["next"] = "__launch_bounds__(%d) leaves %d registers" % (row["block"], registers)


def unknown(kernels, calculator, waves):
    """A note for each architecture whose blocks or waves aren't known."""
    archs = {kernel.arch for kernel in kernels if kernel.release} if calculator else ()
    return [
        "blocks a multiprocessor of %s: this toolkit's cuda_occupancy.h or ptxas doesn't know it" % arch
        for arch in sorted(archs)
        if calculator.device(arch) is None
    ] + (waves.unknown(kernels) if waves else [])


def _min_blocks(kernel, calculator):
    """The second launch bound, of which a cubin keeps only the registers that it leaves to a thread."""
    if not (kernel.register_limit and kernel.max_threads and calculator):
        return None
    found = calculator.blocks(kernel.arch, kernel.register_limit, 0, 0, kernel.max_threads)
    return found[0] if found else None


def _more_registers(kernel, min_blocks, calculator):
    """What would leave more registers to a kernel that spills, in a few words."""
    if calculator and kernel.registers >= occupancy.MOST_REGISTERS:
        return "a thread can't have more registers: keep fewer values in each"
    if not kernel.max_threads:
        bound = "with what it is launched with" if kernel.release else "of fewer than %d threads" % DEFAULT_MAX_THREADS
        return "__launch_bounds__ %s leaves more registers" % bound
    if not calculator:
        return ""
    threads, blocks, registers = kernel.max_threads, min_blocks or 1, 0
    while blocks > 1 and registers <= kernel.registers:
        blocks -= 1
        registers = calculator.most_registers(kernel.arch, threads, blocks)
    if registers <= kernel.registers:
        threads, blocks = threads // 2, 1
        registers = calculator.most_registers(kernel.arch, threads, blocks) if threads else 0
    if registers <= kernel.registers:
        return ""
    bounds = "%d, %d" % (threads, blocks) if blocks > 1 or min_blocks else str(threads)
    return "__launch_bounds__(%s) leaves %d registers" % (bounds, registers)


def report(path, calculator, notes, waves=None, part="", dynamic_shared=0):
    """`part`: of the names of the kernels that are reported on."""
    kernels = read_library(path, notes)
    if not kernels:
        raise Problem(
            "",
            "there is no device code with figures in it.",
            ["found   " + path] + ["        " + note for note in notes],
            ["the library of an op with CUDA sources, built for an architecture such as 90-real"],
        )
    plain = demangler()
    chosen = [kernel for kernel in kernels if part in plain(kernel.mangled)]
    if not chosen:
        import difflib

        near = difflib.get_close_matches(part, {plain(kernel.mangled) for kernel in kernels}, 3, 0)
        facts = ["found   " + part, "wanted  part of a name such as", *("        " + name for name in near)]
        raise Problem("", "no kernel has this in its name.", facts, ["without --kernel all are listed"])
    notes += unknown(chosen, calculator, waves)
    data = {"format": FORMAT, "kernels": rows(chosen, calculator, plain, waves, dynamic_shared), "notes": notes}
    if dynamic_shared:
        data["dynamic_shared_bytes"] = dynamic_shared
    return clean(data)


def spilled(row):
    return (row["spill_store_bytes"] or 0) + (row["spill_load_bytes"] or 0) + row.get("spilled_registers", 0)


def refused(row):
    """Of its occupancy, the blocks of which a multiprocessor holds none."""
    return [occupied for occupied in row["occupancy"] if not occupied["blocks_per_multiprocessor"]]


def of_them_spill(number):
    return "; %d of them %s" % (number, "spills" if number == 1 else "spill") if number else ""


def said_of_spills(row):
    if row.get("spilled_registers"):
        return "%d registers" % row["spilled_registers"]
    if row["spill_store_bytes"] is None:
        return "?"
    return "%d + %d" % (row["spill_store_bytes"], row["spill_load_bytes"]) if spilled(row) else "0"


def describe(data):
    """The report for people, a line each: what spills first, then what can't be launched with some block."""
    lines = [
        "%9s %6s %5s %11s %8s %7s %8s %6s  %-22s %s"
        % ("registers", "shared", "stack", "spills", "constant", "threads", "blocks", "warps", "limited by", "kernel")
    ]
    for row in sorted(data["kernels"], key=lambda row: (-spilled(row), not refused(row))):
        spills = said_of_spills(row)
        place = "  %s:%s" % (row["file"], row["line"]) if row["file"] else ""
        first = (row["registers"], row["static_shared_bytes"], row["stack_bytes"], spills, row["constant_bytes"])
        last = "%s  %s%s" % (row["name"], row["arch"], place)
        if row.get("scalar_registers") is not None:
            last += ";  %d scalar registers" % row["scalar_registers"]
        if "waves_per_simd" in row:
            limits = " (%s)" % row["waves_limited_by"] if row["waves_limited_by"] else ""
            last += ";  %d waves of %d a SIMD%s" % (row["waves_per_simd"], row["most_waves_per_simd"], limits)
            # Fewer registers would make it spill more.
            last += ";  " + row["waves_next"] if row["waves_next"] and not row["next"] else ""
        for occupied in row["occupancy"] or [None]:
            line = "%9s %6s %5s %11s %8s " % first
            if occupied:
                line += "%7s %8s %5.0f%%  %-22s " % (
                    occupied["block"],
                    occupied["blocks_per_multiprocessor"],
                    100 * occupied["occupancy"],
                    occupied["limited_by"],
                )
            else:
                line += "%7s %8s %6s  %-22s " % (row["max_threads"] or "", "", "", "")
            if last and row["spilled_at"]:
                last += ";  spills at " + ", ".join(row["spilled_at"])
            if last and row["next"]:
                last += ";  " + row["next"]
            # Fewer registers would make it spill more.
            if occupied and occupied["next"] and not row["next"]:
                last += "%s%s" % (";  " if last else "", occupied["next"])
            lines.append((line + last).rstrip())
            first, last = ("",) * 5, ""
    return lines + ["not counted  " + note for note in data["notes"]]


def difference(old, new):
    """What is different between two reports, a line each."""
    lines = []
    before, after = ({(row["name"], row["arch"], number): row for number, row in numbered(data)} for data in (old, new))
    for key in sorted(set(before) | set(after)):
        name = "%s  %s" % key[:2]
        if key not in after:
            lines.append("gone     " + name)
        elif key not in before:
            lines.append("new      " + name)
        else:
            changes = [
                "%s %s -> %s" % (member.replace("_", " "), before[key].get(member), after[key].get(member))
                for member in MEMBERS_COMPARED
                if before[key].get(member) != after[key].get(member)
            ]
            then = dict(tuple(row[member] for member in OCCUPANCY_COMPARED) for row in before[key]["occupancy"])
            for row in after[key]["occupancy"]:
                blocks = then.get(row["block"])
                if blocks not in (None, row["blocks_per_multiprocessor"]):
                    changes.append(
                        "blocks of %d threads %d -> %d" % (row["block"], blocks, row["blocks_per_multiprocessor"])
                    )
            if changes:
                lines.append("changed  %s: %s" % (name, ", ".join(changes)))
    return lines


def numbered(data):
    """(number, row): several kernels may have one name, local to a file each."""
    seen = {}
    for row in data["kernels"]:
        key = row["name"], row["arch"]
        seen[key] = seen.get(key, 0) + 1
        yield seen[key], row


def read_report(path):
    """A report that was written before. Raises Problem."""
    cure = ["python -m cudaops kernels <library> --json > <file>"]
    try:
        data = json.loads(read_text(path))
    except OSError as error:
        raise Problem(
            "", "the report to compare with can't be read.", ["found   %s: %s" % (path, error.strerror)], cure
        ) from None
    except ValueError as error:
        raise Problem("", "the report to compare with is no JSON.", ["found   %s: %s" % (path, error)], cure) from None
    found = data.get("format") if isinstance(data, dict) else None
    if found != FORMAT or not _is_rows(data.get("kernels")):
        facts = wrong_format(path, found, FORMAT)
        raise Problem("", "the file to compare with is no report of kernels.", facts, cure)
    return data


def _is_rows(kernels):
    return isinstance(kernels, list) and all(
        isinstance(row, dict)
        and all(isinstance(row.get(member), str) for member in ("name", "arch"))
        and isinstance(row.get("occupancy"), list)
        and all(isinstance(occupied, dict) and set(OCCUPANCY_COMPARED) <= set(occupied) for occupied in row["occupancy"])
        for row in kernels
    )


def wrong_format(path, found, wanted):
    """Facts of a file that isn't what it is given for."""
    other = ", with entries that are none of that format" if found == wanted else ""
    return ["found   %s, format %s%s" % (path, found, other), "wanted  format %d" % wanted]


def find_calculator(notes):
    toolkit = occupancy.find_toolkit()
    if toolkit is None:
        notes.append(
            "blocks a multiprocessor: no CUDA toolkit with cuda_occupancy.h and ptxas, or no C++ compiler "
            "(CUDA_HOME, PATH, CXX; torch's Triton has the former)"
        )
        return None
    return occupancy.Calculator(toolkit, occupancy.cache_directory())


def add_arguments(parser):
    parser.add_argument("library", help="path of a .so file, a program, an object file or a cubin")
    parser.add_argument("--json", action="store_true", help="the same for programs")
    parser.add_argument("--kernel", metavar="<text>", default="", help="only the kernels with this in their names")
    parser.add_argument(
        "--dynamic-shared",
        metavar="<bytes>",
        type=_bytes,
        default=0,
        help="the dynamic shared memory of a block, which the launch asks for",
    )
    parser.add_argument(
        "--diff", metavar="<old.json>", help="what is different from such a report (--json, cudaops-kernels.json)"
    )


def _bytes(text):
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("wanted a number of bytes, found %s" % text)
    return int(text)


def run(options, program):
    """Exit code: 0, or 2 where there is nothing to report on."""
    try:
        old = read_report(options.diff) if options.diff else None
        notes = []
        waves = Waves(find_compilers(), occupancy.cache_directory())
        data = report(options.library, find_calculator(notes), notes, waves, options.kernel, options.dynamic_shared)
    except Problem as problem:
        sys.stderr.write(clean(problem.text(program)) + "\n")
        return 2
    if old:
        lines = difference(old, data)
        print("\n".join(lines) or "%s: no difference" % count(len(data["kernels"]), "kernel"))
    elif options.json:
        print(json.dumps(data, indent=1))
    else:
        print("\n".join(describe(data)))
    return 0

# SPDX-License-Identifier: Apache-2.0
"""python -m cudaops"""

import argparse
import json
import sys

from . import LibraryError, __version__, cmake_dir, inspect
from ._package import reader


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m cudaops",
        description="Operators for torch in C++, CUDA and HIP, built with CMake: where the CMake package is, and what "
        "a built library holds.",
        epilog="In CMake: find_package(CudaOps REQUIRED), configured with "
        "-DCudaOps_ROOT=$(python -m cudaops --cmake-dir)",
    )
    parser.add_argument("--cmake-dir", action="store_true", help="print the directory of CudaOpsConfig.cmake")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", metavar="inspect")
    command = commands.add_parser(
        "inspect",
        help="say what a library holds and whether this torch can run it",
        description="Says what a library was built from and for, what its device code runs on, and whether the torch "
        "of this Python can run it. Neither the library nor torch is loaded.",
        epilog="Exit code: 0 where this torch can run it, 1 where it can't, 2 where the file can't be read.",
    )
    command.add_argument("library", nargs="+", help="path of a .so file")
    command.add_argument("--json", action="store_true", help="the same and more, for programs")
    options = parser.parse_args(arguments)

    if options.cmake_dir:
        print(cmake_dir())
        return 0
    if options.command != "inspect":
        parser.print_help()
        return 0
    code = 0
    for number, path in enumerate(options.library):
        try:
            info = inspect(path)
        except LibraryError as error:
            print("cudaops inspect: %s" % error, file=sys.stderr)
            code = 2
            continue
        if options.json:
            print(json.dumps(info, indent=2))
        else:
            print("\n" * bool(number) + "\n".join(reader.describe(info) + _verdict(info)))
        if info["problems"]:
            code = max(code, 1)
    return code


def _verdict(info):
    """The last lines of the summary: can this Python's torch run it?"""
    if info["problems"]:
        return ["  %-12s can't run it: %s" % ("this Python", problem) for problem in info["problems"]]
    torch = "torch %s in %s" % (info["torch"]["version"], info["torch"]["dir"])
    if info["provenance"] is None:
        return ["  %-12s has all that it links: %s" % ("this Python", torch)]
    return ["  %-12s can run it: %s" % ("this Python", torch)]


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""python -m cudaops"""

import errno
import json
import os
import signal
import sys

from . import LibraryError, __version__, build_report, cmake_dir, inspect, inspect_library, module_help, new
from ._arguments import Parser
from .jit import cli as jit
from .kernels import report as kernel_report
from .port import PortError, port
from .problem import Problem
from .words import print_any_text


def main(arguments=None):
    parser = Parser(
        prog="python -m cudaops",
        description="Operators for torch in C++, CUDA and HIP, built with CMake: where the CMake package is, a new "
        "project, what a built library holds, what its kernels take, where the time of a build went, and a CMakeLists.txt for a setup.py.",
        epilog="In CMake: find_package(CudaOps REQUIRED), configured with "
        "-DCudaOps_ROOT=$(python -m cudaops --cmake-dir)",
    )
    parser.add_argument("--cmake-dir", action="store_true", help="print the directory of CudaOpsConfig.cmake")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", metavar="{new,inspect,kernels,build-report,port,build,cache,doctor,report,help}")
    new.add_command(commands)
    command = commands.add_parser(
        "inspect",
        help="say what a library holds and whether this torch can run it",
        description="Says what a library was built from and for, what its device code runs on, and whether the torch "
        "of this Python can run it. Neither the library nor torch is loaded.",
        epilog="Exit code: 0 where this torch can run it, 1 where it can't, 2 where the file can't be read.",
    )
    command.add_argument("library", nargs="+", help="path of a .so file")
    command.add_argument("--json", action="store_true", help="the same and more, for programs")
    command = commands.add_parser(
        "kernels",
        help="say what the kernels of a library take, and what limits them",
        description=kernel_report.DESCRIPTION,
        epilog=kernel_report.EPILOG,
        formatter_class=build_report.FORMATTER,
    )
    kernel_report.add_arguments(command)
    command = commands.add_parser(
        "build-report",
        help="say where the time of a build went",
        description=build_report.DESCRIPTION,
        epilog=build_report.EPILOG,
        formatter_class=build_report.FORMATTER,
    )
    build_report.add_arguments(command)
    command = commands.add_parser(
        "port",
        help="print a CMakeLists.txt for what a setup.py builds",
        description="Prints a CMakeLists.txt for the extensions of a setup.py, or of a Python file that calls "
        "torch.utils.cpp_extension's load(). The file is read, not run: what can't be read becomes a comment that names "
        "its line. Names of sources that a pattern matches today are listed.",
        epilog="Exit code: 0, also with such comments (their number is on stderr); 2 where nothing was found to port. "
        "What each argument becomes: docs/porting.md.",
    )
    command.add_argument("file", help="setup.py, or a Python file that calls load()")
    where = "write it there (-: print it); a file that exists is left as it is"
    command.add_argument("-o", "--output", metavar="FILE", help=where)
    jit.add_commands(commands)
    module_help.add_command(commands)
    options = parser.parse_args(arguments)

    if options.cmake_dir:
        print(cmake_dir())
        return 0
    if options.command in jit.COMMANDS:
        return jit.run(options)
    if options.command == "new":
        return new.run(options)
    if options.command == "kernels":
        return kernel_report.run(options, "cudaops kernels")
    if options.command == "build-report":
        return build_report.run(options, "cudaops build-report")
    if options.command == "port":
        return _port(options)
    if options.command == "help":
        return module_help.run(options)
    if options.command != "inspect":
        parser.print_help()
        return 0
    code = 0
    for number, path in enumerate(options.library):
        try:
            info = inspect(path)
        except LibraryError as error:
            problem = Problem("", error.sentence, (), [error.fix])
            print(problem.text("cudaops inspect"), file=sys.stderr)
            code = 2
            continue
        if options.json:
            print(json.dumps(info, indent=2))
        else:
            print("\n" * bool(number) + "\n".join(inspect_library.describe(info) + _verdict(info)))
        if info["problems"]:
            code = max(code, 1)
    return code


def _port(options):
    output = None if options.output == "-" else options.output
    try:
        text, facts = port(options.file, output)
        if output:
            _write_new(output, text)
    except PortError as error:
        print("cudaops %s" % error, file=sys.stderr)
        return 2
    if not output:
        sys.stdout.write(text)
    extensions = "%d extension%s" % (facts["ops"], "s" * (facts["ops"] != 1))
    if facts["unmade"]:
        extensions += " (%d without sources that could be read: comments, too)" % facts["unmade"]
    comments = "%d comment%s" % (facts["comments"], "s" * (facts["comments"] != 1))
    print("cudaops port: %s: %s, %s to look at" % (facts["file"], extensions, comments), file=sys.stderr)
    return 0


def _write_new(path, text):
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise PortError(
            "port: -o doesn't overwrite a file.\n  found   %s\nFix: -o <directory>/CMakeLists.txt (paths are then relative to it), or without -o to see it" % path
        ) from None
    except OSError as error:
        place = os.path.dirname(path)
        fix = "a place where it can be written" if os.path.isdir(place or ".") else "mkdir -p " + place
        raise PortError(
            "port: the file can't be written.\n  found   %s: %s\nFix: %s" % (path, os.strerror(error.errno), fix)
        ) from None


def _verdict(info):
    """The last lines of the summary: can this Python's torch run it?"""
    if info["problems"]:
        lines = ["  %-12s can't run it: %s" % ("this Python", problem) for problem in info["problems"]]
        return lines + ["  %-12s Fix: %s" % ("", fix) for fix in dict.fromkeys(info["fixes"])]
    torch = "torch %s in %s" % (info["torch"]["version"], info["torch"]["dir"])
    if info["provenance"] is None:
        return ["  %-12s has all that it links: %s" % ("this Python", torch)]
    return ["  %-12s can run it: %s" % ("this Python", torch)]


def _with_output():
    """main(); its output may go nowhere (>&-), or where there is no room."""
    sys.stdout = sys.stdout or open(os.devnull, "w")
    print_any_text()
    try:
        code = main()
        sys.stdout.flush()
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO, errno.EDQUOT) or error.filename is not None:
            raise
        problem = Problem("", "the output can't be written: %s." % os.strerror(error.errno), (), ["a disk with room, or another file"])
        print(problem.text("cudaops"), file=sys.stderr)
        # What is left can't be written at the end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except UnicodeEncodeError as error:
        # Files of a build name others in UTF-8.
        encoding = sys.getfilesystemencoding()
        if encoding == "utf-8":
            raise
        facts = ["found   %s, for %s (LC_ALL, LC_CTYPE, LANG, PYTHONUTF8)" % (encoding, ascii(error.object))]
        problem = Problem("", "the locale's encoding doesn't have the name of a file.", facts, ["PYTHONUTF8=1 in the environment"])
        print(problem.text("cudaops"), file=sys.stderr)
        return 2
    return code


if __name__ == "__main__":
    # A reader that has seen enough (| head) ends this program in silence, as it ends others.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(_with_output())

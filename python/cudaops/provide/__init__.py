# SPDX-License-Identifier: Apache-2.0
"""Brings torch or a CUDA toolkit from the user's package index into the per-user store.

    python _run.py provide torch|toolkit --store DIR --version V [--or-older] --why TEXT --result FILE --pythons P...

The result file is JSON: {"path": ...}, or {"head", "facts", "fix"} for the error that CMake prints.
Run by the first of --pythons (3.10 or newer); the others are asked for pip only. No third-party package.
"""

import argparse
import errno
import json
import signal

from .errors import Stop, no_space
from .store import provide
from .wanted import Torch, Toolkit


def main(argv):
    parser = argparse.ArgumentParser(prog="provide")
    parser.add_argument("kind", choices=["torch", "toolkit"])
    parser.add_argument("--store", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--why", default="")
    parser.add_argument("--or-older", action="store_true")
    parser.add_argument("--result", required=True)
    parser.add_argument("--pythons", nargs="+", required=True)
    arguments = parser.parse_args(argv)

    def ended(number, frame):
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ended)

    wanted = {"torch": Torch, "toolkit": Toolkit}[arguments.kind](
        arguments.version, arguments.why, arguments.or_older
    )
    try:
        result = {"path": provide(wanted, arguments.store, arguments.pythons)}
    except Stop as stop:
        result = stop.text
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            result = no_space(arguments.store, wanted).text
        else:
            result = Stop(
                "the store can't be written.",
                ["store   %s: %s" % (error.filename or arguments.store, error.strerror or error)],
                ["name another place: -DCUDAOPS_STORE=<dir>"],
            ).text
    with open(arguments.result, "w", encoding="utf-8") as file:
        json.dump(result, file)
    return 0 if "path" in result else 1

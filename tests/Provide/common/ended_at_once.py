# SPDX-License-Identifier: Apache-2.0
"""Installers that end their parent as soon as they start: none is left behind. usage: ended_at_once.py <python/>"""

import os
import signal
import sys

sys.path.insert(0, sys.argv[1])

from cudaops.provide.installers import run_live  # noqa: E402


def ended(number, frame):
    raise SystemExit(number)


signal.signal(signal.SIGTERM, ended)
for _ in range(30):
    try:
        run_live(["/bin/sh", "-c", "kill -15 $PPID; exec sleep 60"], dict(os.environ))
    except SystemExit:
        pass
    else:
        sys.exit("the signal is lost")
    try:
        pid, _ = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        continue
    sys.exit("the installer lives on" if pid == 0 else "nobody waited for the installer")
print("none is left behind")

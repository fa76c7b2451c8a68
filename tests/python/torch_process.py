# SPDX-License-Identifier: Apache-2.0
"""Processes that have imported torch already: forks of one that is started once, because the import takes a second.

They end without Python's own end, which takes half a second with torch; an exception ends them as ever.
"""

import atexit
import json
import os
import subprocess
import sys
import tempfile

from conftest import REPOSITORY

SERVER = """
import json, os, sys
import torch
for line in sys.stdin:
    code, environment, directory = json.loads(line)
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number in (1, 2):
            os.dup2(os.open(os.path.join(directory, str(number)), os.O_CREAT | os.O_WRONLY), number)
        os.environ.clear()
        os.environ.update(environment)
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
os._exit(0)
"""
started = []


def server():
    if not started:
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        started.append(subprocess.Popen([sys.executable, "-c", SERVER], env=environment, **pipes))
        # It ends where its input does.
        atexit.register(started[0].communicate)
    return started[0]


def run_with_torch(code, **variables):
    """(exit code, stdout, stderr) of conftest.run_python("-c", code, **variables), where torch is imported before."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python"), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    with tempfile.TemporaryDirectory() as directory:
        process = server()
        process.stdin.write(json.dumps([code, environment, directory]) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        assert answer, "the process that imports torch has ended"
        texts = []
        for number in (1, 2):
            with open(os.path.join(directory, str(number)), encoding="utf-8") as file:
                texts.append(file.read())
    return int(answer), *texts

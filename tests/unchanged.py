# SPDX-License-Identifier: Apache-2.0
"""Runs a test, unless it passed before and nothing that it depends on has changed since.

    unchanged.py --record <file> --input <file or directory>... -- <command>...
    unchanged.py --record <file> --input <file or directory>... --script <script> [<argument>...]

What RunCase.cmake does for cases, for tests that are programs. The second form runs a Python script with this
interpreter. The inputs are compared by content; the libraries that CUDAOPS_<OP>_LIBRARY names, torch, the interpreter
and CUDAOPS_TEST_LONG are inputs, too. A run that skipped something is not recorded, unless the command writes the names of
what it skipped into the file that CUDAOPS_TEST_SKIPPED names (conftest.py does): then these alone are tried again.
CUDAOPS_TEST_AGAIN=1 in the environment runs the test all the same.
"""

import argparse
import hashlib
import importlib.util
import os
import re
import subprocess
import sys

SKIPPED = re.compile(r"^SKIPPED: |\b[0-9]+ skipped\b", re.MULTILINE)


def files(path):
    """The files of an input, without what Python or a build leaves there."""
    if not os.path.isdir(path):
        return [path]
    found = []
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(set(folders) - {"__pycache__", "build", ".pytest_cache"})
        found += [os.path.join(folder, name) for name in sorted(names)]
    return found


def state(inputs, command):
    """A text that is another one whenever something is that the test depends on."""
    lines = [*command, sys.version, os.environ.get("CUDAOPS_TEST_LONG", "")]
    libraries = [v for k, v in sorted(os.environ.items()) if re.match(r"CUDAOPS_\w+_LIBRARY$", k)]
    for path in [sys.executable, __file__, *inputs, *libraries]:
        for file in files(path):
            with open(file, "rb") as stream:
                lines.append(f"{hashlib.sha1(stream.read()).hexdigest()} {file}")
    torch = importlib.util.find_spec("torch")
    if torch:
        # Large: by name, size and time.
        folder = os.path.dirname(torch.origin)
        for name in ("version.py", os.path.join("lib", "libtorch_cpu.so")):
            file = os.path.join(folder, name)
            if os.path.exists(file):
                about = os.stat(file)
                lines.append(f"{file} {about.st_size} {about.st_mtime_ns}")
    return "\n".join(lines) + "\n"


def run(command, names):
    """(exit code, whether something was skipped); the output is passed on as it comes."""
    environment = {**os.environ, "CUDAOPS_TEST_SKIPPED": names}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    skipped = False
    for line in process.stdout:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        skipped = skipped or bool(SKIPPED.search(line.decode(errors="replace")))
    code = process.wait()
    return (code if code >= 0 else 128 - code), skipped


def remove(path):
    if os.path.exists(path):
        os.remove(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", required=True)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--script", nargs=argparse.REMAINDER, default=[])
    arguments = sys.argv[1:]
    command = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, command = arguments[:at], arguments[at + 1 :]
    options = parser.parse_args(arguments)
    command = command or [sys.executable, *options.script]

    before = state(options.input, command)
    names = options.record + ".skipped"
    passed = False
    if not os.environ.get("CUDAOPS_TEST_AGAIN") and os.path.exists(options.record):
        with open(options.record, encoding="utf-8") as stream:
            passed = stream.read() == before
    if passed:
        but = ", but for what was skipped" if os.path.exists(names) else ""
        print(
            f"Passed before{but}, and nothing that it depends on has changed; CUDAOPS_TEST_AGAIN=1 runs it again.",
            flush=True,
        )
        if not but:
            return 0
    else:
        remove(names)
    # The record returns with a pass only.
    remove(options.record)
    code, skipped = run(command, names)
    if not skipped or (os.path.exists(names) and os.path.getsize(names) == 0):
        remove(names)
    # What was changed while the test ran was not tested.
    if code == 0 and skipped == os.path.exists(names) and state(options.input, command) == before:
        with open(options.record, "w", encoding="utf-8") as stream:
            stream.write(before)
    return code


if __name__ == "__main__":
    sys.exit(main())

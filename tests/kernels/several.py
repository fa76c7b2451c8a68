# SPDX-License-Identifier: Apache-2.0
"""The tests of several files in one process, on the CPU: several.py <file without .py>... [--only R]

For runs where importing torch would take most of the time.
"""

import argparse
import importlib
import sys

import op_testing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--only", default="", help="regular expression: the tests to run")
    arguments = parser.parse_args()
    wrong = []
    for file in arguments.files:
        print(f"== {file}", flush=True)
        module = importlib.import_module(file)
        passed, failed = op_testing.run(vars(module), "cpu", arguments.only)
        # Without --only each file has something to test on the CPU.
        if failed or (passed == 0 and not arguments.only):
            wrong.append(file)
    print(f"{len(arguments.files)} files, failures in: {' '.join(wrong) or 'none'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

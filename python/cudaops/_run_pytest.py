# SPDX-License-Identifier: Apache-2.0
"""`python -m pytest` for the tests of cudaops_add_python_test(... PYTEST), with a cure where there is no pytest.

usage: python _run_pytest.py <argument of pytest>...
"""

import os
import shlex
import sys


def main():
    # As with -m: the current directory is searched for modules, not this one.
    if sys.path and os.path.realpath(sys.path[0]) == os.path.dirname(os.path.realpath(__file__)):
        sys.path[0] = os.getcwd()
    try:
        import pytest
    except ModuleNotFoundError as error:
        if error.name != "pytest":
            raise
        python = sys.executable
        sys.exit(
            "cudaops_add_python_test(... PYTEST): this Python has no pytest.\n"
            "  found   %s\n Fix: %s -m pip install pytest" % (python, shlex.quote(python))
        )
    return pytest.main()


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Runs a module of this package where it stands, installed or not.

usage: python -I -S -B _run.py <module> <argument>...          hipify, kernels.build

So do the CMake modules while they configure and build. With -I and -S Python's own library is all there is; without them
`cudaops` is still the package of this directory, whatever else that Python has under the name.
"""

import os
import sys


def main():
    here = os.path.dirname(os.path.realpath(__file__))
    # Without -I this directory is searched first, and our modules could hide Python's own.
    if sys.path and os.path.realpath(sys.path[0]) == here:
        del sys.path[0]
    sys.path.insert(0, os.path.dirname(here))
    import cudaops  # noqa: F401

    # The directory above is site-packages in a wheel. The modules are found through the package from now on.
    del sys.path[0]
    from cudaops.words import print_any_text

    print_any_text()
    name = "cudaops." + sys.argv[1]
    __import__(name)
    return sys.modules[name].main(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())

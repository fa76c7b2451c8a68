# SPDX-License-Identifier: Apache-2.0
"""The kernels' Python package of this checkout with a library that is given on the command line."""

import os
import sys

from result_file import SOURCE

_VARIABLE = "CUDAOPS_CUDAOPS_KERNELS_LIBRARY"


def add_argument(parser):
    parser.add_argument(
        "--library",
        default=os.environ.get(_VARIABLE),
        help=f"libcudaops_kernels.so (default: ${_VARIABLE})",
    )


def load(library):
    """The module cudaops_kernels; `library` is the argument's value."""
    if not library:
        program = os.path.basename(sys.argv[0])
        raise SystemExit(f"{program}: which library? --library <libcudaops_kernels.so>")
    os.environ[_VARIABLE] = os.path.abspath(library)
    sys.path.insert(0, os.path.join(SOURCE, "kernels", "python"))
    import cudaops_kernels

    return cudaops_kernels

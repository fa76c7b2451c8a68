# SPDX-License-Identifier: Apache-2.0
"""Where the CMake part of the package lies, and what is read from it."""

import os
import re


def cmake_dir() -> str:
    """In a wheel cmake/ is inside the package, in a checkout (and an editable install) beside python/; `cmake --install`
    puts python/ beside the modules."""
    here = os.path.dirname(os.path.realpath(__file__))
    for place in ("cmake", "../../cmake", "../.."):
        place = os.path.normpath(os.path.join(here, place))
        if os.path.isfile(os.path.join(place, "CudaOpsConfig.cmake")):
            return place
    if not os.path.isdir(here):
        raise RuntimeError("cudaops can't be used from inside of a file: CMake and compilers read what is in it.\n  found   %s\nFix: unpack it" % here)
    raise RuntimeError("cudaops in %s has lost its cmake directory: install it again." % here)


def version() -> str:
    path = os.path.join(cmake_dir(), "CudaOpsConfigVersion.cmake")
    with open(path, encoding="utf-8") as file:
        found = re.search(r'^set\(PACKAGE_VERSION "([^"]+)"\)', file.read(), re.MULTILINE)
    if not found:
        raise RuntimeError("%s has no line set(PACKAGE_VERSION ...)." % path)
    return found.group(1)

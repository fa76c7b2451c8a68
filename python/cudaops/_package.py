# SPDX-License-Identifier: Apache-2.0
"""Where the CMake part of the package lies, and what is read from it."""

import importlib.util
import os
import re


def cmake_dir() -> str:
    """In a wheel cmake/ lies inside the package, in a checkout (and an editable install) beside python/."""
    here = os.path.dirname(os.path.realpath(__file__))
    for place in (os.path.join(here, "cmake"), os.path.join(here, "..", "..", "cmake")):
        if os.path.isfile(os.path.join(place, "CudaOpsConfig.cmake")):
            return os.path.normpath(place)
    raise RuntimeError("cudaops in %s has lost its cmake directory: install it again." % here)


def version() -> str:
    path = os.path.join(cmake_dir(), "CudaOpsConfigVersion.cmake")
    with open(path, encoding="utf-8") as file:
        found = re.search(r'^set\(PACKAGE_VERSION "([^"]+)"\)', file.read(), re.MULTILINE)
    if not found:
        raise RuntimeError("%s has no line set(PACKAGE_VERSION ...)." % path)
    return found.group(1)


def _load_reader():
    # A build runs the reader without this package, so it lives with the CMake files.
    path = os.path.join(cmake_dir(), "tools", "inspect_library.py")
    spec = importlib.util.spec_from_file_location("cudaops._inspect_library", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reader = _load_reader()

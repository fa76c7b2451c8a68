# SPDX-License-Identifier: Apache-2.0
"""C++ names as people write them, by the C++ runtime of this machine."""

import re

_LIBRARIES = ("libstdc++.so.6", "libc++abi.so.1", "libc++.so.1")
# In front of what is local to a file, where it is linked separately: hashes that differ from checkout to checkout.
_STATIC = re.compile(r"__nv_static_\d+__\w+?_(?=_Z)")


def demangler():
    """A function from the mangled names of kernels to plain ones, which are the same in each checkout.

    Names stay as they are where there is no C++ runtime.
    """
    import ctypes

    for name in _LIBRARIES:
        try:
            library = ctypes.CDLL(name)
            demangle, free = library.__cxa_demangle, ctypes.CDLL(None).free
        except (OSError, AttributeError):
            continue
        demangle.restype = ctypes.c_void_p
        demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
        free.argtypes = [ctypes.c_void_p]

        def plain(mangled):
            status = ctypes.c_int()
            text = demangle(_STATIC.sub("", mangled).encode(), None, None, ctypes.byref(status))
            if not text:
                return mangled
            found = ctypes.string_at(text).decode("utf-8", "replace")
            free(text)
            # That of a template begins with what it returns.
            return found[5:] if found.startswith("void ") else found

        return plain
    return str

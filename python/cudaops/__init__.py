# SPDX-License-Identifier: Apache-2.0
"""Builds operators for torch at first use, finds them again in milliseconds, looks into libraries, and loads them.

    import cudaops
    module = cudaops.load("my_ext", ["my.cpp", "my.cu"])   # torch.utils.cpp_extension.load(), kept in a store
    module = cudaops.load_inline("v", cuda_sources=text, functions=["add"])
    cudaops.load_library("build/sm90/libmy_ops.so")   # torch.ops.load_library, or one line that says why not
    cudaops.inspect("build/sm90/libmy_ops.so")        # what the library holds, without loading it
    with cudaops.trace("out.json"): ...               # a chrome trace, and a table by kernel
    cudaops.cmake_dir()                               # for -DCudaOps_ROOT=...

Importing this package imports nothing: each name brings its module when it is first used. Builds start this package
hundreds of times.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

# Where each public name lives.
_PLACES = {
    "BuildError": "jit.errors",
    "CompileWarning": "jit.errors",
    "FallbackWarning": "jit.errors",
    "LibraryError": "_library",
    "OpLibrary": "jit.library",
    "PolicyError": "jit.errors",
    "jit_policy": "jit.policy",
    "load": "jit.api",
    "load_inline": "jit.api",
    "trace": "_trace",
    "warm_up": "jit.library",
}

__all__ = ["__version__", "cmake_dir", "inspect", "load_library", *_PLACES]


def __getattr__(name):
    if name == "__version__":
        from ._package import version

        value = version()
    elif name in _PLACES:
        from importlib import import_module

        value = getattr(import_module("." + _PLACES[name], __name__), name)
    else:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})


def cmake_dir() -> str:
    """The directory that holds CudaOpsConfig.cmake: the value for -DCudaOps_ROOT=."""
    from . import _package

    return _package.cmake_dir()


def inspect(path: "str | os.PathLike") -> dict:
    """Says what a library holds, and whether this Python's torch can run it; loads neither of them.

    The keys of the result:
      path, type, machine, soname, needed, runpath
      provenance       what the library was built from and for (None where it has no note of CudaOps)
      architectures    what its device code runs on: ["sm_80", "sm_90a", "compute_120"], ["gfx90a", "gfx942:xnack-"]
      images           the device code in detail
      unread           one sentence for each part of the device code that can't be read here
      torch            {"version", "cuda", "hip", "dir"} of this Python's torch, or None
      problems, fixes  one sentence for each reason why this torch can't run it, and what helps

    Raises LibraryError where the file can't be read.
    """
    from . import _library

    return _library.inspect(path)


def load_library(path: "str | os.PathLike") -> None:
    """torch.ops.load_library(path), after a check that it can work.

    Raises LibraryError, one line that says why and one with what helps, for a library that this torch can't run (built
    for a newer torch, for another minor version, another CUDA or ROCm, for HIP where torch is for CUDA and the other
    way round), and for a second copy of an op that the process has already: torch would say "undefined symbol", end
    the process, or replace the first copy. Loading the same file twice does nothing.
    """
    from . import _library

    _library.load(path)

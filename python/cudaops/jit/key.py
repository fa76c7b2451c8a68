# SPDX-License-Identifier: Apache-2.0
"""The build key: all that a build follows from and that is known before one.

What the compilers read is in the manifest, with what they themselves are made of. The key is text, one input a line, so
that two of them can be compared in words.
"""

import os
import sys

try:
    from _blake2 import blake2b
except ImportError:  # pragma: no cover (a Python without its own BLAKE2)
    from hashlib import blake2b

FORMAT = "2"

# What compilers, linkers, CMake and the search for torch and toolkits read. tests/python/test_jit_key.py compares it with
# the list in cmake/detail/base/stamps.cmake.
ENVIRONMENT = (
    "CFLAGS CXXFLAGS CUDAFLAGS HIPFLAGS CPPFLAGS LDFLAGS CC CXX CUDACXX CUDAHOSTCXX HIPCXX PYTORCH_NVCC CUDAARCHS "
    "TORCH_CUDA_ARCH_LIST PYTORCH_ROCM_ARCH AMDGPU_TARGETS GPU_TARGETS CUDA_HOME CUDA_PATH CUDAToolkit_ROOT ROCM_PATH "
    "ROCM_HOME HIP_PATH CONDA_PREFIX CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER ROCR_VISIBLE_DEVICES HIP_VISIBLE_DEVICES "
    "NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS NVCC_CCBIN CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH OBJC_INCLUDE_PATH "
    "LIBRARY_PATH COMPILER_PATH GCC_EXEC_PREFIX GCC_COMPARE_DEBUG DEPENDENCIES_OUTPUT SUNPRO_DEPENDENCIES "
    "CCC_OVERRIDE_OPTIONS CLANG_CONFIG_FILE_SYSTEM_DIR CLANG_CONFIG_FILE_USER_DIR CLANG_NO_DEFAULT_CONFIG SDKROOT "
    "LDEMULATION LD_RUN_PATH LD_LIBRARY_PATH GNUTARGET SOURCE_DATE_EPOCH CMAKE_CUDA_ARCHITECTURES_NATIVE_CLAMP "
    "CUDAOPS_BACKEND CUDAOPS_VERSION_POLICY CUDAOPS_COMPATIBLE_VERSIONS CUDAOPS_HIPIFY CUDAOPS_PROVIDE Torch_ROOT Torch_DIR "
    "CMAKE_PREFIX_PATH CMAKE_TOOLCHAIN_FILE"
).split()

# Found by name. The places, not PATH itself: an activated venv is no reason to build anew.
PROGRAMS = "c++ g++ gcc cc as ld nvcc hipcc nvidia-smi".split()

_ARCHITECTURES = ("TORCH_CUDA_ARCH_LIST", "CUDAARCHS", "PYTORCH_ROCM_ARCH")


def digest(text):
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogateescape")
    return blake2b(text, digest_size=16).hexdigest()


def build_key(request):
    """(key, its lines)"""
    lines = ["format=" + FORMAT, "cudaops=" + _package_stamp()]
    lines += ["python=%s %s" % (sys.executable, _suffix()), "torch=" + (torch_directory() or "none")]
    lines += request.lines()
    environment = os.environ
    for name in ENVIRONMENT:
        value = environment.get(name)
        if value:
            lines.append("environment %s=%s" % (name, value))
    lines += programs(environment.get("PATH", os.defpath))
    lines += toolkits()
    if not any(environment.get(name) for name in _ARCHITECTURES):
        lines += gpus()
    return digest("\n".join(lines)), lines


def _package_stamp():
    place = os.path.dirname(os.path.dirname(__file__))
    try:
        stat = os.stat(os.path.join(place, "__init__.py"))
    except NotADirectoryError:
        from .._package import cmake_dir

        cmake_dir()  # raises: says what is wrong with a zip file
        raise
    return "%s %d %d" % (place, stat.st_size, stat.st_mtime_ns)


def _suffix():
    import _imp

    return _imp.extension_suffixes()[0]


_torch = None


def torch_directory():
    """Of the torch that this process has or would import; None where there is none."""
    global _torch
    module = sys.modules.get("torch")
    if module is not None and getattr(module, "__file__", None):
        return os.path.dirname(module.__file__)
    if _torch is None:
        spec = None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find("torch", None) if find else None
            if spec is not None:
                break
        _torch = os.path.dirname(spec.origin) if spec is not None and spec.origin else ""
    return _torch or None


def programs(path):
    lines = []
    directories = [directory for directory in path.split(os.pathsep) if os.access(directory or ".", os.X_OK)]
    for name in PROGRAMS:
        for directory in directories:
            place = os.path.join(directory or ".", name)
            if os.access(place, os.X_OK):
                lines.append("program %s=%s" % (name, _real(place)))
                break
    return lines


def toolkits():
    """A new toolkit in /usr/local may be a better match for torch."""
    lines = []
    for directory, prefix in (("/usr/local", "cuda"), ("/opt", "rocm")):
        try:
            names = sorted(name for name in os.listdir(directory) if name.startswith(prefix))
        except OSError:
            continue
        for name in names:
            place = os.path.join(directory, name)
            lines.append("toolkit %s=%s" % (place, _real(place)))
    return lines


def _real(path):
    """os.path.realpath(), by the kernel: it asks for each directory on the way, which is a third of what a key costs."""
    try:
        file = os.open(path, getattr(os, "O_PATH", os.O_RDONLY) | os.O_CLOEXEC)
    except OSError:
        return os.path.realpath(path)
    try:
        return os.readlink("/proc/self/fd/%d" % file)
    except OSError:  # no /proc
        return os.path.realpath(path)
    finally:
        os.close(file)


def gpus():
    """Models of the GPUs, from the drivers' own lists: no process, no context. A model has one compute capability."""
    lines = []
    root = "/proc/driver/nvidia/gpus"
    try:
        for name in sorted(os.listdir(root)):
            with open(os.path.join(root, name, "information"), encoding="utf-8", errors="replace") as file:
                model = [line for line in file if line.startswith("Model:")]
            lines.append("gpu %s=%s" % (name, model[0][6:].strip() if model else ""))
    except OSError:
        try:
            lines += sorted("gpu " + name for name in os.listdir("/dev") if name.startswith("nvidia") and name[6:].isdigit())
        except OSError:
            pass
    root = "/sys/class/kfd/kfd/topology/nodes"
    try:
        for name in sorted(os.listdir(root)):
            with open(os.path.join(root, name, "properties"), encoding="utf-8", errors="replace") as file:
                lines += ["gpu %s %s" % (name, line.strip()) for line in file if line.startswith("gfx_target_version")]
    except OSError:
        pass
    return lines

# SPDX-License-Identifier: Apache-2.0
"""What the programs around NVIDIA's tools share: where a tool is, and whether there is a GPU."""

import ctypes
import glob
import os
import shutil
import sys

from .problem import Problem

# How each comes to a machine where there is no whole toolkit, which has all of them.
SOURCES = {
    "compute-sanitizer": ("apt-get install cuda-sanitizer-<major>-<minor>", "conda install -c nvidia cuda-sanitizer-api"),
    "ncu": ("apt-get install nsight-compute", "conda install -c nvidia nsight-compute"),
    "nsys": ("apt-get install nsight-systems", "conda install -c conda-forge nsight-systems-cli"),
    "nvdisasm": ("pip install nvidia-cuda-nvdisasm", "conda install -c nvidia cuda-nvdisasm"),
}
SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def find_tool(name, toolkit=""):
    """Its path: in the toolkit, on PATH, among the packages of this Python. Raises Problem where it is in none of them."""
    places = []
    if toolkit:
        places += [os.path.join(toolkit, "bin", name), os.path.join(toolkit, name, name)]
    on_path = shutil.which(name)
    if on_path:
        places.append(on_path)
    # Started with -S, this Python doesn't know where its packages are.
    packages = "lib/python%d.%d/site-packages/nvidia" % sys.version_info[:2]
    places += sorted(glob.glob(os.path.join(os.path.dirname(os.path.dirname(sys.executable)), packages, "cu*/bin", name)), reverse=True)
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    looked = ", ".join([os.path.join(toolkit, "bin")] * bool(toolkit) + ["PATH", "the packages of %s" % sys.executable])
    raise Problem("", "%s was not found." % name, ["looked  %s" % looked], how_to_get(name))


def how_to_get(name):
    """Lines of a `Fix:`."""
    return ["a whole CUDA toolkit, with -DCUDAToolkit_ROOT=<dir>", *SOURCES[name]]


def require_gpu():
    """Raises Problem where no GPU can be used here."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise Problem(
            "",
            "no GPU can be used here.",
            ["found   no NVIDIA driver (libcuda.so.1)"],
            ["run it on a machine with an NVIDIA GPU; in a container, docker run --gpus all"],
        ) from None
    error = driver.cuInit(0)
    count = ctypes.c_int(0)
    if error == 0:
        error = driver.cuDeviceGetCount(ctypes.byref(count))
    if error or count.value == 0:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        raise Problem(
            "",
            "no GPU can be used here.",
            [
                "found   %d GPUs, the driver's error %d" % (count.value, error),
                "with    CUDA_VISIBLE_DEVICES %s" % ("is not set" if visible is None else "= '%s'" % visible),
            ],
            ["nvidia-smi -L   (lists the GPUs that the driver sees)"],
        )

# SPDX-License-Identifier: Apache-2.0
"""What the programs around NVIDIA's tools share: where a tool is, and whether there is a GPU."""

import ctypes
import glob
import os
import shutil
import sys

from ..problem import Problem

# How each comes to a machine without a whole toolkit, which has all of them.
SOURCES = {
    "compute-sanitizer": ["apt-get install cuda-sanitizer-<major>-<minor>", "conda install -c nvidia cuda-sanitizer-api"],
    "ncu": ["apt-get install nsight-compute", "conda install -c nvidia nsight-compute"],
    "nsys": ["apt-get install nsight-systems", "conda install -c conda-forge nsight-systems-cli"],
    "nvdisasm": ["pip install nvidia-cuda-nvdisasm", "conda install -c nvidia cuda-nvdisasm"],
}
SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def find_tool(name, toolkit=""):
    """Its path: in the toolkit, on PATH, among the packages of this Python. Raises Problem."""
    places = []
    if toolkit:
        places += [os.path.join(toolkit, "bin", name), os.path.join(toolkit, name, name)]
    on_path = shutil.which(name)
    if on_path:
        places.append(on_path)
    # Started with -S, this Python doesn't know where its packages are.
    packages = os.path.join(
        os.path.dirname(os.path.dirname(sys.executable)), "lib/python%d.%d/site-packages/nvidia" % sys.version_info[:2]
    )
    places += sorted(glob.glob(os.path.join(glob.escape(packages), "cu*/bin", name)), reverse=True)
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    searched = [os.path.join(toolkit, "bin")] * bool(toolkit) + ["PATH", packages + "/cu*/bin"]
    raise Problem(
        "",
        "%s was not found." % name,
        ["searched  " + searched[0], *("          " + place for place in searched[1:])],
        [*SOURCES[name], "or a whole CUDA toolkit: -DCUDAToolkit_ROOT=<dir>"],
    )


def require_gpu():
    """Raises Problem where no GPU can be used."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise Problem(
            "",
            "no GPU can be used here.",
            ["found   no NVIDIA driver (libcuda.so.1)"],
            ["a machine with an NVIDIA GPU; in a container, docker run --gpus all"],
        ) from None
    error = driver.cuInit(0)
    count = ctypes.c_int(0)
    if error == 0:
        error = driver.cuDeviceGetCount(ctypes.byref(count))
    if error or count.value == 0:
        found = "the driver's error %d" % error if error else "no device"
        raise Problem("", "no GPU can be used here.", ["found   " + found], ["nvidia-smi, and the value of CUDA_VISIBLE_DEVICES"])

# SPDX-License-Identifier: Apache-2.0
"""What the programs around NVIDIA's tools share: where a tool is, and whether there is a GPU."""

import ctypes
import glob
import os
import shutil
import sys

# How each comes to a machine: CUDA's toolkit has all of them, pip and conda some.
SOURCES = {
    "compute-sanitizer": "a whole CUDA toolkit, apt-get install cuda-sanitizer-<major>-<minor>, or conda install -c nvidia cuda-sanitizer-api",
    "ncu": "a whole CUDA toolkit, apt-get install nsight-compute, or conda install -c nvidia nsight-compute",
    "nsys": "a whole CUDA toolkit, apt-get install nsight-systems, or conda install -c conda-forge nsight-systems-cli",
    "nvdisasm": "a whole CUDA toolkit, pip install nvidia-cuda-nvdisasm, or conda install -c nvidia cuda-nvdisasm",
}
SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def find_tool(name, toolkit=""):
    """(path, ""), or (None, a sentence with the cure): in the toolkit, on PATH, among the packages of this Python."""
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
            return place, ""
    looked = "%s/bin and PATH" % toolkit if toolkit else "PATH"
    return None, "%s was not found in %s: it comes with %s" % (name, looked, SOURCES[name])


def missing_gpu():
    """Why no GPU can be used here, in a sentence; "" where one can."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no GPU can be used here: there is no NVIDIA driver (libcuda.so.1)"
    error = driver.cuInit(0)
    count = ctypes.c_int(0)
    if error == 0:
        error = driver.cuDeviceGetCount(ctypes.byref(count))
    if error or count.value == 0:
        return "no GPU can be used here (the driver's error is %d): check nvidia-smi and CUDA_VISIBLE_DEVICES" % error
    return ""

# SPDX-License-Identifier: Apache-2.0
"""Which GPUs this process would see, and whether a library's device code runs on them.

Asked of NVML: a CUDA context would make fork() useless to the caller.
"""

import ctypes
import os
import re


def compute_capabilities():
    """[(9, 0)] of the visible GPUs, each once; [] without a GPU or a driver that answers."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and re.match(r"\s*(-|$)", visible):
        return []
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return []
    if nvml.nvmlInit_v2() != 0:
        return []
    count, found = ctypes.c_uint(), []
    try:
        if nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
            return []
        for index in range(count.value):
            device, major, minor = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int()
            if nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)) != 0:
                continue
            if nvml.nvmlDeviceGetCudaComputeCapability(device, ctypes.byref(major), ctypes.byref(minor)) == 0:
                found.append((major.value, minor.value))
    finally:
        nvml.nvmlShutdown()
    # CUDA_VISIBLE_DEVICES counts in CUDA's order, which is NVML's only where it is told so.
    if visible is not None and os.environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID":
        chosen = [found[int(item)] for item in re.findall(r"\d+", visible) if int(item) < len(found)]
        if re.fullmatch(r"[\d, ]+", visible) and chosen:
            found = chosen
    return sorted(set(found))


def serves(architecture, capability):
    """Whether code for sm_90, sm_90a, sm_100f, compute_80 runs on a GPU of this compute capability."""
    kind, _, name = architecture.partition("_")
    number, suffix = re.match(r"(\d+)([af]?)", name).groups()
    code = (int(number[:-1]), int(number[-1]))
    if suffix == "a":
        return code == capability
    if suffix == "f" or kind == "sm":
        return code[0] == capability[0] and code[1] <= capability[1]
    return code <= capability


def problem(architectures, capabilities):
    """Why a library with this device code doesn't run on these GPUs, or None. No device code: nothing stands against it."""
    cuda = [name for name in architectures if name.startswith(("sm_", "compute_"))]
    for capability in capabilities:
        if cuda and not any(serves(name, capability) for name in cuda):
            return "it holds %s, and a visible GPU is sm_%d%d" % (", ".join(cuda), *capability)
    return None

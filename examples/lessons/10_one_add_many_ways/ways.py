# SPDX-License-Identifier: Apache-2.0
"""load(<way>) gives a function of two tensors; importing its file builds it."""

import importlib
import importlib.util
import os

MODULES = {"load_inline": "inline_add", "NVRTC": "nvrtc_add", "Triton": "triton_add", "Numba": "numba_add"}
WAYS = ("torch", "torch.compile", "add_torch_op", *MODULES)


def missing(way):
    """Why it can't be had here; empty if it can."""
    package = way.lower()
    if way in ("Triton", "Numba") and importlib.util.find_spec(package) is None:
        return f"no {package}: pip install {'numba-cuda' if way == 'Numba' else package}"
    return ""


def load(way):
    import torch

    if way == "torch":
        return torch.add
    if way == "torch.compile":
        return torch.compile(lambda a, b: a + b)
    if way == "add_torch_op":
        torch.ops.load_library(os.environ["CUDAOPS_ONE_ADD_LIBRARY"])
        return torch.ops.one_add.add
    importlib.import_module(MODULES[way])
    return getattr(torch.ops, MODULES[way]).add

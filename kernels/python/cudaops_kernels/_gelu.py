# SPDX-License-Identifier: Apache-2.0
"""gelu's value and slope by torch's ops, for forward-mode AD."""

import math

import torch


def gelu_and_slope(x, approximate):
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        tanh = torch.tanh(inner)
        inner_slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)
        return (
            0.5 * x * (1 + tanh),
            0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * inner_slope,
        )
    cdf = 0.5 * (1 + torch.erf(x * math.sqrt(0.5)))
    density = torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return x * cdf, cdf + x * density

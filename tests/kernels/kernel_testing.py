# SPDX-License-Identifier: Apache-2.0
"""For the tests of torch.ops.cudaops: the library, its Python package, tolerances."""

import contextlib
import math
import os
import sys

import op_testing
from op_testing import cases, dtypes, main, normal, opcheck, pytest_generate_tests, refusal, shapes  # noqa: F401

op_testing.library("CUDAOPS_CUDAOPS_KERNELS_LIBRARY")
op_testing.probed_op = "cudaops::rms_norm"
sys.path.insert(
    0, os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "kernels", "python")
)

import cudaops_kernels as kernels  # noqa: E402
import torch  # noqa: E402

ops = torch.ops.cudaops
DTYPES = dtypes()

# Of a result that is computed in float32 and rounded once.
TOLERANCES = {
    torch.float32: {"rtol": 5e-6, "atol": 1e-6},
    torch.float16: {"rtol": 1e-3, "atol": 1e-5},
    torch.bfloat16: {"rtol": 1e-2, "atol": 1e-5},
}


def assert_close(actual, expected, case=None, **larger):
    """expected: float64, from the same rounded inputs. larger: atol, rtol above the table's."""
    tolerance = dict(TOLERANCES[actual.dtype])
    for name, value in larger.items():
        tolerance[name] = max(tolerance[name], value)
    torch.testing.assert_close(
        actual.double(),
        expected,
        equal_nan=True,
        msg=lambda message: f"{case}: {message}",
        **tolerance,
    )


@contextlib.contextmanager
def looking_at_numbers():
    """Within it a device's lengths, offsets and tables are checked as the CPU's are."""
    os.environ["CUDAOPS_CHECK"] = "1"
    try:
        yield
    finally:
        del os.environ["CUDAOPS_CHECK"]


def sum_tolerance(count):
    """Of a float32 sum of that many terms around 1: errors of either sign, a step each."""
    return {"atol": 1e-6 * math.sqrt(count)}

# SPDX-License-Identifier: Apache-2.0
"""The kernels without torch: a C library, called with ctypes."""

import array
import ctypes
import os
import sys

library = ctypes.CDLL(os.environ["CUDAOPS_MATMUL_C_LIBRARY"])
library.matmul_bf16_on_cpu.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 3
library.matmul_bf16_on_cpu.restype = None


def bfloat16(values):
    """The upper halves of float32 numbers: exact for small integers."""
    return array.array("H", (bits >> 16 for bits in array.array("I", array.array("f", values).tobytes())))


def address(numbers):
    return numbers.buffer_info()[0]


num_m, num_n, num_k = 5, 3, 7
a = [m * num_k + k - 17 for m in range(num_m) for k in range(num_k)]
b = [n - k for n in range(num_n) for k in range(num_k)]
a_bits, b_bits, out = bfloat16(a), bfloat16(b), array.array("f", [float("nan")] * (num_m * num_n))
library.matmul_bf16_on_cpu(address(a_bits), address(b_bits), address(out), num_m, num_n, num_k)
wanted = [
    sum(a[m * num_k + k] * b[n * num_k + k] for k in range(num_k)) for m in range(num_m) for n in range(num_n)
]
assert out.tolist() == wanted, (out, wanted)
assert "torch" not in sys.modules
print(f"{num_m} x {num_n} numbers as expected, without torch")

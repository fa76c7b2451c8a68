# SPDX-License-Identifier: Apache-2.0
"""torch.cuda.get_device_properties() beside cudaGetDeviceProperties(), and what follows from them."""

import ctypes
import os
import sys

library = ctypes.CDLL(os.environ["CUDAOPS_DEVICE_QUERY_LIBRARY"])
text = ctypes.create_string_buffer(4096)
error = library.device_query(0, text, ctypes.c_size_t(len(text)))
if error in (35, 100):  # no driver, no GPU
    print(f"SKIPPED: no GPU: cudaGetDeviceProperties returns {error}")
    sys.exit(77)
assert error == 0, f"cudaGetDeviceProperties: error {error}"
runtime = dict(line.split("=", 1) for line in text.value.decode().splitlines())

import torch  # noqa: E402 (takes a second)

properties = torch.cuda.get_device_properties(0)

print(f"{'fact':34} {'cuda':>22} {'torch':>22}")
for name, value in runtime.items():
    # Older releases of torch have fewer of them.
    theirs = str(getattr(properties, name, "-"))
    print(f"{name:34} {value.replace(' ', '_'):>22} {theirs.replace(' ', '_'):>22}")
    assert theirs in (value, "-"), f"{name}: CUDA says {value}, torch says {theirs}"

facts = {name: int(value) for name, value in runtime.items() if name != "name"}
multiprocessors = facts["multi_processor_count"]
print(f"\n{'memory':34} {'bytes':>22}")
print(f"{'registers':34} {4 * facts['regs_per_multiprocessor'] * multiprocessors:22}")
print(f"{'shared_memory':34} {facts['shared_memory_per_multiprocessor'] * multiprocessors:22}")
print(f"{'L2_cache':34} {facts['L2_cache_size']:22}")
print(f"{'device_memory':34} {facts['total_memory']:22}")

# Two transfers in a clock cycle; kHz and bits.
bandwidth = 2 * facts["memory_clock_rate"] * 1e3 * facts["memory_bus_width"] / 8
print(f"\n{'limit':34} {'value':>22}")
print(f"{'threads_at_once':34} {facts['max_threads_per_multi_processor'] * multiprocessors:22}")
print(f"{'device_memory_TB/s':34} {bandwidth / 1e12:22.2f}")

# SPDX-License-Identifier: Apache-2.0
"""What the Python tests of all ops share: inputs, devices, how a file is run.

A test file runs as a script (`test_square.py --device cpu`) and under pytest. As a script its exit
code is 0 when every test passed, 1 when one failed, 77 when nothing could be tested; then the reason
is printed.
"""

import argparse
import functools
import json
import os
import re
import sys
import traceback
import unittest

SKIPPED = 77


def skip_file(reason):
    """Leaves a file whose tests can't run here, in the way its caller understands."""
    if "pytest" in sys.modules:
        import pytest

        pytest.skip(reason, allow_module_level=True)
    print(f"SKIPPED: {reason}")
    sys.exit(SKIPPED)


# Of NVIDIA, NVIDIA's integrated ones, AMD, and either under WSL.
GPU_DEVICES = ("/dev/nvidiactl", "/dev/nvhost-gpu", "/dev/nvgpu", "/dev/kfd", "/dev/dxg")


def gpu_asked_in_vain():
    """Whether this script was told `--device cuda` on a machine without any; importing torch costs seconds."""
    words = sys.argv[1:]
    asked = "--device=cuda" in words or ("--device", "cuda") in zip(words, words[1:])
    return asked and "pytest" not in sys.modules and not any(map(os.path.exists, GPU_DEVICES))


def refuse(reason):
    """Ends a script that can't test: skipped, or failed where a GPU has to be there."""
    if gpu_is_required():
        print(f"FAILED: CUDAOPS_REQUIRE_GPU is set, but {reason}")
        sys.exit(1)
    skip_file(reason)


def library(variable):
    """The path in an environment variable; without one nothing here can be tested."""
    if gpu_asked_in_vain():
        assert "torch" not in sys.modules, "a test imports kernel_testing or example_testing before torch"
        refuse("this machine has no GPU")
    path = os.environ.get(variable)
    if not path:
        skip_file(f"{variable} does not name the library to test")
    return path


# An op of the library under test, that has all kernels which the library was built with.
probed_op = None


def has_cuda_kernels():
    import torch

    return torch._C._dispatch_has_kernel_for_dispatch_key(probed_op, "CUDA")


def skip_reason(device):
    """Why nothing can be tested on this device; None if it can."""
    import torch

    if device == "cpu":
        return None
    if not has_cuda_kernels():
        return "the library has no CUDA kernels"
    if not torch.cuda.is_available():
        return "torch sees no GPU"
    return None


def gpu_is_required():
    return os.environ.get("CUDAOPS_REQUIRE_GPU", "0") not in ("", "0")


@functools.cache
def _kinds_of_shapes():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "shapes.json")) as file:
        return json.load(file)["kinds"]


def _kind_of(op):
    for kind in _kinds_of_shapes():
        if op in kind["ops"]:
            return kind
    raise KeyError(f"tests/kernels/shapes.json has no kind with {op} among its ops")


def shapes(op):
    """What the tests of an op go through, in C++ too."""
    return tuple(map(tuple, _kind_of(op)["shapes"]))


def cases(op):
    """The same of an op that needs more than a shape."""
    return tuple(tuple(map(tuple, case)) for case in _kind_of(op)["cases"])


def dtypes():
    import torch

    return (torch.float32, torch.float16, torch.bfloat16)


def normal(*shape, dtype, device, seed=0):
    import torch

    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(dtype).to(device)


def opcheck(op, args, kwargs=None):
    """torch's own four checks; one that fails raises with its name and reason."""
    import torch

    torch.library.opcheck(op, args, kwargs)


def refusal(call):
    """The sentence with which a call is refused."""
    try:
        call()
    except (RuntimeError, TypeError, ValueError) as error:
        return str(error)
    raise AssertionError("the call was not refused")


def devices_for_pytest():
    """For pytest.mark.parametrize: both devices, the one that isn't there marked as skipped."""
    import pytest

    params = []
    for device in ("cpu", "cuda"):
        reason = skip_reason(device)
        skip = reason is not None and not gpu_is_required()
        marks = [pytest.mark.skip(reason=reason)] if skip else []
        params.append(pytest.param(device, marks=marks))
    return params


def pytest_generate_tests(metafunc):
    """Test files import this name: each test's `device` argument gets both devices."""
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", devices_for_pytest())


def run(module, device, only=""):
    """Runs the test_* functions of a test file whose names match `only`: how many passed, of how many."""
    failed = passed = 0
    tests = {
        name: test
        for name, test in module.items()
        if name.startswith("test_") and re.search(only, name)
    }
    for name, test in tests.items():
        try:
            test(device)
            passed += 1
            print(f"PASSED {name} [{device}]")
        except unittest.SkipTest as skipped:
            print(f"SKIPPED {name} [{device}]: {skipped}")
        except Exception:
            failed += 1
            print(f"FAILED {name} [{device}]")
            traceback.print_exc(file=sys.stdout)
    import torch

    print(f"torch {torch.__version__}: {passed} of {len(tests)} tests passed")
    return passed, failed


def main(module):
    """Runs every test_* function of a test file on one device."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only", default="", help="regular expression: the tests to run")
    arguments = parser.parse_args()
    reason = skip_reason(arguments.device)
    if reason is not None:
        refuse(reason)
    passed, failed = run(module, arguments.device, arguments.only)
    sys.exit(1 if failed or passed == 0 else 0)

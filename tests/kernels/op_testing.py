# SPDX-License-Identifier: Apache-2.0
"""What the Python tests of all ops share: the library, its fake kernels and gradients, devices.

A test file runs as a script (`test_square.py --device cpu`) and under pytest. As a script its exit
code is 0 when every test passed, 1 when one failed, 77 when nothing could be tested; then the reason
is printed.
"""

import argparse
import os
import sys
import traceback
import unittest

SKIPPED = 77
LIBRARY_VARIABLE = "CUDAOPS_CUDAOPS_EXAMPLES_LIBRARY"


def skip_file(reason):
    """Leaves a file whose tests can't run here, in the way its caller understands."""
    if "pytest" in sys.modules:
        import pytest

        pytest.skip(reason, allow_module_level=True)
    print(f"SKIPPED: {reason}")
    sys.exit(SKIPPED)


_library = os.environ.get(LIBRARY_VARIABLE)
if not _library:
    skip_file(f"{LIBRARY_VARIABLE} does not name the library to test")

import torch  # noqa: E402  (a missing library is reported before a slow import)

DTYPES = (torch.float32, torch.float16, torch.bfloat16)

# Once a process: pytest collects several files into one.
if not torch._C._dispatch_has_kernel("cudaops_examples::square"):
    torch.ops.load_library(_library)
    ops = torch.ops.cudaops_examples

    @torch.library.register_fake("cudaops_examples::vector_add")
    def _(a, b):
        return torch.empty_like(a, memory_format=torch.contiguous_format)

    @torch.library.register_fake("cudaops_examples::square")
    def _(input):
        return torch.empty_like(input, memory_format=torch.contiguous_format)

    @torch.library.register_fake("cudaops_examples::sum")
    def _(input):
        return input.new_empty(())

    def _save_input(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    def _square_backward(ctx, grad_output):
        return 2 * ctx.saved_tensors[0] * grad_output

    def _sum_backward(ctx, grad_output):
        return grad_output.expand_as(ctx.saved_tensors[0])

    torch.library.register_autograd(
        "cudaops_examples::vector_add", lambda ctx, grad_output: (grad_output, grad_output)
    )
    torch.library.register_autograd(
        "cudaops_examples::square", _square_backward, setup_context=_save_input
    )
    torch.library.register_autograd(
        "cudaops_examples::sum", _sum_backward, setup_context=_save_input
    )

ops = torch.ops.cudaops_examples


def has_cuda_kernels():
    return torch._C._dispatch_has_kernel_for_dispatch_key("cudaops_examples::square", "CUDA")


def skip_reason(device):
    """Why nothing can be tested on this device; None if it can."""
    if device == "cpu":
        return None
    if not has_cuda_kernels():
        return "the library has no CUDA kernels"
    if not torch.cuda.is_available():
        return "torch sees no GPU"
    return None


def gpu_is_required():
    return os.environ.get("CUDAOPS_REQUIRE_GPU", "0") not in ("", "0")


def normal(*shape, dtype, device, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(dtype).to(device)


def opcheck(op, args):
    """torch's own four checks; one that fails raises with its name and reason."""
    torch.library.opcheck(op, args)


def refusal(call):
    """The sentence with which a call is refused."""
    try:
        call()
    except RuntimeError as error:
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


def main(module):
    """Runs every test_* function of a test file on one device."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    device = parser.parse_args().device
    reason = skip_reason(device)
    if reason is not None:
        if gpu_is_required():
            print(f"FAILED: CUDAOPS_REQUIRE_GPU is set, but {reason}")
            sys.exit(1)
        skip_file(reason)
    failed = passed = 0
    tests = {name: test for name, test in module.items() if name.startswith("test_")}
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
    print(f"torch {torch.__version__}: {passed} of {len(tests)} tests passed")
    sys.exit(1 if failed or passed == 0 else 0)

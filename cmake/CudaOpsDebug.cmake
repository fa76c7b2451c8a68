# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsDebug
------------

Builds ops and kernels for debuggers, profilers and sanitizers. The options apply to ops, kernels, their test programs and
benchmarks, and to targets with :command:`cudaops_target_defaults`; projects made by ``python -m cudaops new`` have them as
presets.

``CUDAOPS_DEBUG`` (variable, or environment variable of the same name; preset ``debug``)
  ``ON``: compiles for cuda-gdb and gdb, whatever the build type is: device code with ``-G``, C++ with ``-O0 -g``, with
  ``assert()``. The host code of ``.cu`` files is unoptimised with ``CMAKE_BUILD_TYPE=Debug``. ``CUDAOPS_CHECK_LAUNCH()``
  of :file:`cudaops/check.h` waits for each kernel, so that a failure is reported where it was launched, by the kernel's
  name (CUDA 12.3 and later), grid and block::

    op my_ops: kernel scale(float*, long) <<<(4, 1, 1), (256, 1, 1)>>>, launched in launch_scale,
    failed: cudaErrorIllegalAddress, an illegal memory access was encountered

  A stream that records a CUDA graph isn't waited for. Device code with ``-G`` is many times slower, and can need more
  registers than a launch has: its figures mean nothing.

``CUDAOPS_PROFILE`` (variable, or environment variable of the same name; preset ``profile``)
  ``ON``: adds line numbers for profilers and sanitizers (``-lineinfo``), and leaves device code uncompressed. All other
  flags are those of the build type, and the machine code is the same, byte for byte: what is measured is what ships. Not
  together with ``CUDAOPS_DEBUG`` or the build type ``Debug``; in a build directory of several build types, ``Debug`` is
  built as without it.

``CUDAOPS_SANITIZER`` (variable, or environment variable of the same name; preset ``sanitize``)
  A list of ``memcheck``, ``racecheck``, ``initcheck`` and ``synccheck``: for each of them, a test ``<name>.<tool>`` beside
  each :command:`cudaops_add_gtest` and each :command:`cudaops_add_python_test`, label ``sanitizer``, that runs the test
  under that tool of compute-sanitizer. It fails where the tool finds something, in child processes too, and says again
  at its end what and where::

    racecheck: Race reported between Write access at block_sum(float *)+0x90 in sum.cu:9

  Of a gtest program, the tests with ``Gpu`` or ``GPU`` in their names run; a Python test with the word ``cpu`` in its name,
  such as ``my_ops.cpu``, has no such tests, since it uses no GPU. In the others, only the kernels of their ops are checked
  (by initcheck all, since it has to see what other kernels write), and torch allocates each tensor by itself. The time limit
  is 20 times that of the test. Skipped, with the reason, where there is no compute-sanitizer or no GPU: ``ctest -V`` prints
  it. Failed where the tool saw no call of CUDA, so that nothing was checked. With ``CUDAOPS_PROFILE``, places have file and
  line.

``CUDAOPS_SANITIZER_TOOL`` (environment variable)
  Set by these tests; for a run of compute-sanitizer by hand, set it yourself. With ``memcheck`` a ``DeviceBuffer`` of
  :file:`cudaops/testing.h` ends with its last element, so that memcheck sees an access behind it; else a guard zone stands
  there. With each tool it is filled with NaN, which initcheck takes for a write: it finds reads of memory that nobody
  wrote in tensors, and in memory that a test or a kernel allocates itself.

``CUDAOPS_NVTX`` (variable, or environment variable of the same name)
  ``ON``: ``CUDAOPS_RANGE("name")`` of :file:`cudaops/nvtx.h` is a range on the time line of Nsight Systems; without it,
  nothing is compiled for it. Operators of torch have ranges without being built again, inside of
  ``torch.autograd.profiler.emit_nvtx()``.

``CUDAOPS_FAST_MATH`` (variable, or environment variable of the same name; target property)
  The property ``ON`` compiles the device code of a target with ``--use_fast_math``: division, square root and the
  functions of ``math.h`` are approximate, and denormal numbers are zero. The variable initialises the property.

Targets of each op and each kernels library with device code for CUDA, never part of ``all``:

``<name>.ptx``, ``<name>.sass``
  The PTX, or the machine code, of its ``.cu`` files and those of the kernels that it links, as text between the lines of
  the source it comes from: ``<build>/<name>.ptx/<source>.compute_90.ptx``, ``<build>/<name>.sass/<source>.sm_90.sass``.
  Each source is compiled once more, as the build compiles it. ``.sass`` needs nvdisasm, of the toolkit or
  of ``pip install nvidia-cuda-nvdisasm``.

Targets of each :command:`cudaops_add_benchmark` for CUDA, never part of ``all``:

``<name>.ncu``
  Nsight Compute on one launch of each case, after a check of its result and a launch to warm up; clocks are left as they
  are, the L2 cache is cold. Prints time, occupancy beside the highest possible one, the bandwidth of the device's memory
  and the bank conflicts of shared memory, by case and kernel, and where bank conflicts are::

    bank conflicts: 1015808 excessive wavefronts in transpose(const float *, float *), transpose.cu:33

  ``<build>/<name>.ncu/`` gets the report, with the source where ``CUDAOPS_PROFILE`` is on, and :file:`roofline.png`,
  with matplotlib.
``<name>.nsys``
  Nsight Systems on the same: its tables of kernels and NVTX ranges, and a report in ``<build>/<name>.nsys/``. The nsys that
  comes with Nsight Compute makes no report; what it has recorded is kept for another machine's nsys-ui.

``BENCHMARK_FILTER`` in the environment, a regular expression, chooses cases of both.

Example, a project without presets:

.. run by tests/Debug/real_launches-steps.cmake: CUDAOPS_DEBUG=ON

.. code-block:: console

  $ cmake -S . -B build/debug -DCMAKE_BUILD_TYPE=Debug -DCUDAOPS_DEBUG=ON
  $ cmake --build build/debug
  $ cuda-gdb --args build/debug/scale_test --gtest_filter='*Gpu*'

Each GPU test under all tools of compute-sanitizer, and one test under one of them:

.. run by tests/Debug/sanitizer-steps.cmake: CUDAOPS_SANITIZER

.. code-block:: console

  $ cmake -S . -B build/sanitize -DCUDAOPS_PROFILE=ON "-DCUDAOPS_SANITIZER=memcheck;racecheck;initcheck;synccheck"
  $ cmake --build build/sanitize
  $ ctest --test-dir build/sanitize -L sanitizer --output-on-failure
  $ ctest --test-dir build/sanitize -R '^scale_test[.]racecheck$' --verbose

The machine code of an op with the lines of its source:

.. run by tests/Debug/code-steps.cmake: sass

.. code-block:: console

  $ cmake --build build --target my_ops.sass

What limits a kernel:

.. run by tests/python/test_profiler.py: <benchmark>.ncu

.. code-block:: console

  $ cmake -S . -B build/profile -DCUDAOPS_PROFILE=ON
  $ BENCHMARK_FILTER='square<float>' cmake --build build/profile --target square_benchmark.ncu

A file whose results may be approximate, in a project where others may not:

.. code-block:: cmake

  cudaops_add_kernels(activations SOURCES gelu.cu)
  set_target_properties(activations PROPERTIES CUDAOPS_FAST_MATH ON)
#]=======================================================================]

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/detail/base/use.cmake")
endif()
_cudaops_use(CudaOpsTargets CudaOpsTesting)

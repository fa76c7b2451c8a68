# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsKernelReport
-------------------

Reports what kernels take and what limits them, and fails a test where a change makes them take more.

After a build::

  cmake --build build --target cudaops_kernel_report

writes ``<build>/cudaops-kernels.html``, a self-contained page, and ``<build>/cudaops-kernels.json``, the same for programs,
and prints the kernels to look at first. The target exists in each build tree with ``find_package(CudaTorchMatch)``, is
never part of ``all``, and builds nothing: it reads the objects and libraries of all :command:`add_torch_op` and
:command:`cudaops_add_kernels` that are there, a few milliseconds for a hundred kernels, whether they were compiled
or came from a compiler cache, and says of which kernels the source was changed since. For any library, program, object
file or ``.cubin``, also one that was built elsewhere or by another tool: ``python -m cudaops kernels <file>``; ``--json``
prints the report, and ``--diff <old.json>`` what is different from an earlier one. It needs a C++ compiler, and a CUDA
toolkit or the Triton of a torch, for the blocks a multiprocessor, and nothing for the rest.

``kernels`` of the JSON has an entry for each kernel and architecture:

``name``, ``mangled``, ``arch``, ``target``
  ``ns::k<float>(float*)``, ``sm_90a`` or ``gfx90a``.
``file``, ``line``
  Of the kernel. Exact with ``-lineinfo``; else where its name stands behind ``__global__`` in the project's files that
  the compile has read. ``null`` if that isn't one file. ``spilled_at``: with ``-lineinfo`` the lines that spill most.
``registers``, ``static_shared_bytes``, ``stack_bytes``, ``constant_bytes``
  Of a thread, of a block (without what a launch asks for), of a thread with the functions that it calls, of the
  parameters and the kernel's own constants.
``spill_store_bytes``, ``spill_load_bytes``
  As ``ptxas -v`` counts them, and of the functions that the kernel calls; ``null`` where the kernel has a stack and
  ``nvcc``, the release that compiled it, is older than 12.6. ``next``: what would leave it more registers, empty where it
  doesn't spill: "__launch_bounds__(512, 1) leaves 128 registers".
``max_threads``, ``min_blocks``
  The launch bounds; of the second a kernel keeps no more than the registers that it leaves to a thread (as
  ``-maxrregcount`` would), from which it is worked out. ``null``: none.
``occupancy``
  At the launch bound, without one for blocks of 128, 256, 512 and 1024 threads: ``block``,
  ``blocks_per_multiprocessor``, ``occupancy`` (share of the warps that a multiprocessor holds), ``limited_by``
  (``warps``, ``registers``, ``shared memory``, ``blocks``, ``barriers``) and ``next``, what would give more: "32 registers
  or fewer give 64 warps of 64", and of a kernel without launch bounds for a block that can't be launched
  "__launch_bounds__(1024) leaves 64 registers". Worked out by the toolkit's own ``cuda_occupancy.h``, which is compiled once
  a user and toolkit; they are the figures of ``cudaOccupancyMaxActiveBlocksPerMultiprocessor()`` without dynamic shared memory (compared
  for 405 reference kernels on an H100, nvcc 13.0, 2026-11-26, by :file:`tests/kernels/test_kernel_report.py`: no difference).
  ``python -m cudaops kernels <library> --kernel scale --dynamic-shared 65536`` has them with that much of it.

For AMD GPUs ``registers`` are VGPRs, ``static_shared_bytes`` LDS and ``stack_bytes`` scratch; ``scalar_registers`` are
SGPRs, ``spilled_registers`` stand in place of bytes, and ``occupancy`` is empty. ``waves_per_simd`` is what the registers
leave to a SIMD, of at most ``most_waves_per_simd``; ``waves_limited_by`` (``VGPRs``, ``SGPRs``), and in ``waves_next``
"96 VGPRs or fewer give 5 waves of 8". They are clang's own figures, asked once an architecture: of the compiler for HIP in a
build, else of ``HIPCXX``, ``ROCM_PATH`` or ``PATH``. LDS, which limits waves as well, is not in them.

.. command:: cudaops_add_kernel_budget

  .. code-block:: cmake

    cudaops_add_kernel_budget(<target> FILE <budget.json>)

  Adds the test ``<target>.kernels``, which needs no GPU and compiles nothing. It fails where a kernel of ``<target>``, an
  op, kernels, or another library or program with device code, spills more than the file says, has a larger stack,
  fewer blocks a multiprocessor at its launch bound, or no launch bound any more, and where a kernel that the file doesn't
  know spills or has a stack. A change of registers that changes no blocks is a note. The test of the 966 reference kernels
  takes 0.09 s of processor time (``ctest -R cudaops_kernels.kernels``, AMD EPYC, Python 3.11, nvcc 13.0,
  2026-11-26). Call ``enable_testing()`` or ``include(CTest)`` in the top-level ``CMakeLists.txt``.

  ``FILE`` is committed. The target ``<target>.update_kernels`` writes it and its folder, a line for each kernel; the test of a
  missing file fails and says so. Figures are kept for each release of nvcc and architecture: another release's kernels are compared
  with those of the newest in the file and reported, and fail nothing; architectures that the file doesn't know are
  reported. What the file holds of other releases and architectures stays when it is written.

  Kernels are known by their plain names, which are the same in each checkout; kernels of one name, local to a file each, are
  numbered in the order of the link. Without a GPU's toolkit the test is skipped, and so it is where kernels are compiled
  with ``-G``.

Example:

.. code-block:: cmake

  include(CTest)
  add_torch_op(attention SOURCES attention.cpp CUDA_SOURCES attention_cuda.cpp attention.cu)
  cudaops_add_kernel_budget(attention FILE attention_kernels.json)

.. run by tests/KernelReport/real_budget-steps.cmake: --target kernels.update_kernels

.. code-block:: console

  $ cmake --build build --target attention.update_kernels    # once, and where a change is meant
  $ ctest --test-dir build -R '^attention\.kernels$'
#]=======================================================================]

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)
# An empty value of a keyword is a value.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)
endif()

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/detail/base/use.cmake")
endif()
_cudaops_use(base/message op/arguments report/kernels)

function(cudaops_add_kernel_budget)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_add_kernel_budget")
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FILE" "")
  _cudaops_first_argument(target ${ARGC} "${ARGV0}")
  set(usage "cudaops_add_kernel_budget(<target> FILE <budget.json>)")
  _cudaops_check_target(cudaops_add_kernel_budget "${target}" "${usage}")
  set(command "cudaops_add_kernel_budget(${target})")
  _cudaops_check_keywords("${command}" "${ARGV}" SINGLES FILE REQUIRED FILE USAGE "${usage}")
  _cudaops_check_match("${command}")
  cmake_path(ABSOLUTE_PATH arg_FILE BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE file)
  if(IS_DIRECTORY "${file}")
    _cudaops_stop("${command}: FILE is a directory." FACTS "found   ${file}" FIX "FILE ${arg_FILE}/kernels.json")
  endif()
  if(TEST "${target}.kernels" OR TARGET "${target}.update_kernels")
    _cudaops_stop("${command}: this target has a budget already." FIX "one call for each target")
  endif()
  if(DEFINED BUILD_TESTING AND NOT BUILD_TESTING)
    return()
  endif()
  _cudaops_kernel_budget(${target} "${file}")
endfunction()

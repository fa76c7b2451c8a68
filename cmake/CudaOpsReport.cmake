# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsReport
-------------

Reports where the time of a build went, and what to change.

After a build with Ninja::

  cmake --build build --target cudaops_build_report

writes ``<build>/cudaops-build-report.html``, a self-contained page, and ``<build>/cudaops-build-report.json``, the same
for programs, and prints the three most expensive items. The target exists in each build tree with
``find_package(CudaTorchMatch)``, is never part of ``all`` and builds nothing. The program can also be run directly, on
any directory that Ninja has built in: ``python -m cudaops build-report <build>``, with
``PYTHONPATH=<CudaOps>/python`` where CudaOps was not installed by pip; ``--help`` explains its figures, ``--json`` prints
the report alone. Use it where the configure step says that there is no target (some releases of CMake make no custom
target in a build directory with ``#`` in its path).

The page holds the timeline of each run of Ninja, a table of the jobs, the ten most expensive headers, and advice that
names file and line. Times come from Ninja's log, headers from the dependency files: these cost the build nothing. The
advice is about this build only: headers that are most of what a compiler reads (torch in a ``.cu``,
``torch/extension.h`` where the stable ABI would do, ``cub/cub.cuh`` where a part of it would), architectures that are
compiled one after the other, the file that the rest of the build waited for, a slow linker, a missing compiler cache.

``CUDAOPS_BUILD_TRACE`` (variable, or environment variable of the same name)
  Whether compiles are measured: ``OFF`` (default), ``ON`` or ``PHASES``. ``ON``: each compile of ops, kernels and
  targets with :command:`cudaops_target_defaults` also notes its peak memory (of the largest of its processes), its
  processor time, and with ccache whether it was a hit, a miss or not cached, and why; a compile takes a millisecond
  longer. The report then compiles the most expensive headers alone, for two minutes at most, and gives their cost in
  seconds. ``PHASES``: nvcc's own phases as well (``--time``); such an object is not cached. Changing the value
  compiles everything again.

.. command:: cudaops_target_build_trace

  .. code-block:: cmake

    cudaops_target_build_trace(<target> [PHASES])

  Traces the compiles of one target, whatever ``CUDAOPS_BUILD_TRACE`` is; with ``PHASES`` nvcc's phases too. A launcher
  that the target already has (``<LANG>_COMPILER_LAUNCHER``, :command:`cudaops_target_cache`) stays in use. With other
  generators than Ninja it does nothing, because the report needs Ninja's log. What runs the compiles of a target is
  in ``<build>/cudaops-report.json``, member ``launch``.

Example:

.. code-block:: cmake

  add_torch_op(attention SOURCES attention.cpp CUDA_SOURCES attention.cu)
  cudaops_target_build_trace(attention PHASES)
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
_cudaops_use(base/hooks base/message op/arguments)

function(cudaops_target_build_trace)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_target_build_trace")
  set(usage "cudaops_target_build_trace(<target> [PHASES])")
  if(ARGC LESS 1 OR ARGC GREATER 2 OR (ARGC EQUAL 2 AND NOT ARGV1 STREQUAL "PHASES"))
    list(JOIN ARGV " " found)
    _cudaops_stop(
      "cudaops_target_build_trace(): takes a target, and PHASES or nothing."
      FACTS "found   '${found}'"
      FIX "${usage}"
    )
  endif()
  set(target "${ARGV0}")
  _cudaops_check_target(cudaops_target_build_trace "${target}" "${usage}")
  set(mode ON)
  if(ARGC EQUAL 2)
    set(mode PHASES)
  endif()
  _cudaops_announce(trace ${target} ${mode})
endfunction()

# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsCubins
-------------

Compiles each architecture of a ``.cu`` file by itself.

``CUDA_CUBINS`` of :command:`add_torch_op` and :command:`cudaops_add_kernels` is this step; for targets made by hand:

.. command:: cudaops_target_cubins

  .. code-block:: cmake

    cudaops_target_cubins(<target>)

  Each ``.cu`` of ``<target>`` gets one compile step an architecture, and one that puts their code into the object. The
  object is the one that nvcc makes of all architectures at once: the same commands run, which nvcc itself names.

  It pays for files that compile for long, for several architectures. Architectures are jobs of Ninja's or Make's like
  any other, over all cores, where ``--threads`` starts as many at once as it is told, busy cores or not. After an edit
  only those are compiled again whose preprocessed text has changed: with one under ``#if __CUDA_ARCH__ >= 900``, those
  from 9.0 up. With ccache, each architecture is kept by that text, so that going back to an older state, or another
  build tree of this checkout, finds it.

  It costs one more preprocessing and parsing of the host part, and a few processes a file: files of a second compile
  slower with it, and so does a file that has all cores for itself. (7 architectures, 12 s, on 2 cores: 8 % slower from
  nothing, 3 times faster after an edit of one architecture; with 16 idle cores 20 % and 15 % slower.)

  Line numbers count as text only with debug information (``-lineinfo``, ``-G``) and where a file asks for them at
  compile time (``__builtin_LINE()``, which ``std::source_location`` and some of CUDA's own headers do).

At the end of the directory, files that stand for the source and its architectures take the place of each ``.cu`` in the
target's ``SOURCES``; so whatever CMake knows of target and source holds for these steps as well. A result is taken only
if its commands were those of the object; where they were not, or there is none, that architecture is compiled with the
object, and the build says so. So it does, always, for a file whose first definition is there for the host alone
(``#ifndef __CUDA_ARCH__``): nvcc names its internal symbols by it.

With CMAKE_EXPORT_COMPILE_COMMANDS the sources themselves stand in :file:`compile_commands.json` too, for editors, by a
target ``<target>_compile_commands`` that nothing builds.

The target is compiled as always, and the configure step says why, with one architecture, with another CUDA compiler
than nvcc, with a launcher of your own, with sccache (which takes nvcc apart itself), with nvcc's phases traced, with
UNITY_BUILD, interprocedural optimisation or ``-dlto``, and with generators other than Ninja and Makefiles. With
``CUDA_SEPARABLE_COMPILATION`` the architectures are compiled apart as well. For AMD GPUs the step means nothing.

Example:

.. code-block:: cmake

  cudaops_add_kernels(attention CUDA_CUBINS SOURCES forward.cu backward.cu)

  add_library(sorting SHARED sorting.cu)
  cudaops_target_architectures(sorting 80 90 100)
  cudaops_target_cubins(sorting)
#]=======================================================================]

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/detail/base/use.cmake")
endif()
_cudaops_use(base/hooks op/arguments)

function(cudaops_target_cubins)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_target_cubins")
  _cudaops_check_one_target(cudaops_target_cubins target ${ARGC} "${ARGV}")
  _cudaops_announce(cubins ${target} cudaops_target_cubins)
endfunction()

# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsCubins
-------------

Compiles each architecture of a ``.cu`` file separately.

``CUDA_CUBINS`` of :command:`add_torch_op` and :command:`cudaops_add_kernels` calls this command; for other targets:

.. command:: cudaops_target_cubins

  .. code-block:: cmake

    cudaops_target_cubins(<target>)

  Each ``.cu`` of ``<target>`` gets one compile step for each architecture, and one that combines their code in the
  object. The object is the one that nvcc makes of all architectures at once: the same commands run, as
  ``nvcc --dryrun`` prints them.

  Use it for files that take long to compile, for several architectures. Each architecture is a job of Ninja or Make,
  scheduled over all cores; ``nvcc --threads`` starts a fixed number, whether cores are idle or not. After an edit only
  the architectures whose preprocessed text has changed are compiled again: for an edit under ``#if __CUDA_ARCH__ >=
  900``, those from 9.0 on. With ccache, each architecture is cached by that text, so that an older state of the source,
  or another build tree of this checkout, is a hit.

  It costs one more preprocessing and parsing of the host part, and a few processes for each file: a file that compiles
  in a second takes longer with it, and so does a file that has all cores to itself. (7 architectures, 12 s, on 2 cores:
  8 % slower from nothing, 3 times faster after an edit of one architecture; with 16 idle cores 20 % and 15 % slower.)

  A changed line number counts as a change only with debug information (``-lineinfo``, ``-G``) and where a file uses
  line numbers at compile time (``__builtin_LINE()``, as ``std::source_location`` and some CUDA headers do).

At the end of the directory, each ``.cu`` in the target's ``SOURCES`` is replaced by files for the source and its
architectures; properties of target and source apply to these steps as well. The result of a step is used only if its
commands were those of the object; otherwise that architecture is compiled together with the object, and the build
prints so. This is always the case for a file whose first definition is for the host alone (``#ifndef __CUDA_ARCH__``),
because nvcc derives the names of internal symbols from it.

With CMAKE_EXPORT_COMPILE_COMMANDS the sources themselves are in :file:`compile_commands.json` too, for editors, through
a target ``<target>_compile_commands`` that is never built.

The target is compiled in the usual way, and the configure step gives the reason, with one architecture, with a CUDA
compiler other than nvcc, with a launcher set by the user, with sccache (which splits nvcc's commands itself), with
traced phases of nvcc, with UNITY_BUILD, interprocedural optimisation or ``-dlto``, and with generators other than
Ninja and Makefiles. With ``CUDA_SEPARABLE_COMPILATION`` the architectures are compiled separately as well. The command
has no effect for AMD GPUs.

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

# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsCache
------------

Compiles through a compiler cache, so that the object is always the one that the compiler would make.

.. command:: cudaops_target_cache

  .. code-block:: cmake

    cudaops_target_cache(<target>)

  Compiles the C++ and CUDA sources of ``<target>`` through the cache that ``CUDAOPS_CACHE`` names. Ops and kernels,
  and every target given to :command:`cudaops_target_defaults`, are compiled so already. Where
  ``CMAKE_<LANG>_COMPILER_LAUNCHER`` (variable or environment), the target property ``<LANG>_COMPILER_LAUNCHER`` or
  ``RULE_LAUNCH_COMPILE`` is set, that is used as it is, and the report says so.

``CUDAOPS_CACHE`` (variable, or environment variable of the same name)
  ``AUTO`` (default): the first sound one on ``PATH``: ccache 4.7.5 or newer, sccache 0.10 or newer; else none, and the
  report says why. ``ccache``, ``sccache``: that one, or an error. ``OFF``: none.

Plain ``ccache nvcc`` returns wrong objects: it sees one of nvcc's passes, none of nvcc's environment variables, and not
what is behind option files. The launcher used here takes the headers from the dependency file, which names those of all
passes, and puts into the key the variables that nvcc and the host compiler read, and the content of cicc, ptxas,
cudafe++, nvcc.profile, libdevice and the host compiler's programs. What it can't describe is compiled without the
cache: ``-dc`` (``-rdc=true -c`` is fine), ``-arch=native``, several option files in one, ``-keep``, ``-save-temps``,
time traces, profiling, sources with ``.incbin`` or with ``__has_include`` of a file of the project's, HIP (clang's
dependency files leave out what only device passes include). An entry isn't used where a file has come since that the
compiler would find before a header the entry names.

Entries are found again from another checkout, venv, toolkit directory or home, because the launcher says paths relative
to the build tree (``<build>/CudaOps/links`` leads to torch, Python and the toolkit). Builds with debug information
(``-g``, ``-G``, ``-lineinfo``) hold their paths and keep to their place. A cache that fails is left out for a minute,
with one line, and the build goes on.

Example:

.. code-block:: cmake

  add_library(inference SHARED inference.cpp kernels.cu)
  cudaops_target_cache(inference)
#]=======================================================================]

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)
# An empty value of a keyword is a value.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)
endif()

include("${CMAKE_CURRENT_LIST_DIR}/detail/arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/cache.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/message.cmake")

function(cudaops_target_cache)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_target_cache")
  if(NOT ARGC EQUAL 1)
    list(JOIN ARGV " " found)
    _cudaops_stop(
      "cudaops_target_cache(): takes one argument, a target."
      FACTS "found   '${found}'"
      FIX "cudaops_target_cache(<target>)"
    )
  endif()
  set(target "${ARGV0}")
  _cudaops_check_target(cudaops_target_cache "${target}" "cudaops_target_cache(<target>)")
  _cudaops_cache_target(${target})
endfunction()

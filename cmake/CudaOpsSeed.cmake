# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsSeed
-----------

Configures a fresh build tree in the time of an unchanged one: CMake's detection of the compilers is done once for each
user and machine.

.. code-block:: console

  $ cmake -S . -B build -DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=<prefix>/share/cmake/CudaOps/CudaOpsSeed.cmake

or, in a preset, ``"CMAKE_PROJECT_TOP_LEVEL_INCLUDES": "<path of this file>"`` among ``cacheVariables``. The languages C,
CXX and CUDA of the project are then taken from ``<store>/seeds`` where an earlier configure with the same inputs has left
them. The inputs are CMake, generator, compilers and their parts, variables and environment; when one changes, or is not
understood, CMake detects as always. ``find_package(CudaTorchMatch)`` does the same for CUDA, without this file.

``CUDAOPS_SEED_COMPILERS``
  ``OFF`` (variable or environment) detects always. Default ``ON``.
``CUDAOPS_STORE``
  Place of the store; default ``~/.cache/cudaops``.

``CMAKE_MODULE_PATH`` has one directory more at its end. Nothing else changes.
#]=======================================================================]

include("${CMAKE_CURRENT_LIST_DIR}/detail/base/use.cmake")
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/accelerate/seed.cmake")
  _cudaops_use(accelerate/seed)
  _cudaops_seed_begin()
  unset(_cudaops_seed_begun)
endif()

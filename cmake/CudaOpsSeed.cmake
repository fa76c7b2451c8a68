# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsSeed
-----------

Configures a fresh build tree in the time of an unchanged one: CMake's detection of the compilers is done once for each
user and machine.

.. run by tests/Seed/suite.cmake: TOP_LEVEL_INCLUDES

.. code-block:: console

  $ cmake -S . -B build -DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=<prefix>/share/cmake/CudaOps/CudaOpsSeed.cmake

or, in a preset, ``"CMAKE_PROJECT_TOP_LEVEL_INCLUDES": "<path of this file>"`` among ``cacheVariables``. The languages C,
CXX and CUDA of the project are then read from ``<store>/seeds`` where an earlier configure with the same inputs has
stored them. The inputs are CMake, generator, compilers and their parts, variables and environment; when one changes, or
is unknown, CMake's own detection runs. ``find_package(CudaTorchMatch)`` does the same for CUDA, without this file.

``CUDAOPS_SEED_COMPILERS``
  ``OFF`` (variable or environment): CMake's own detection runs each time. Default ``ON``.
``CUDAOPS_STORE``
  Directory of the store; default ``~/.cache/cudaops``.

One directory is appended to ``CMAKE_MODULE_PATH``. Nothing else changes.
#]=======================================================================]

include("${CMAKE_CURRENT_LIST_DIR}/detail/base/use.cmake")
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/accelerate/seed.cmake")
  _cudaops_use(accelerate/seed)
  _cudaops_seed_begin()
  unset(_cudaops_seed_begun)
endif()

# SPDX-License-Identifier: Apache-2.0
# Instead of CMake's look at the linker (since 3.31 or so, after the test of the compiler) where the detection came from a
# seed; else around it, and then the detection is complete and kept.
#
# No cmake_policy() here, as in determine.cmake.

if(NOT _cudaops_seed_${_cudaops_seed_language} STREQUAL "HIT")
  if(_cudaops_seed_${_cudaops_seed_language} STREQUAL "MISS")
    _cudaops_seed_watch(${_cudaops_seed_language})
  endif()
  include("${CMAKE_ROOT}/Modules/Internal/CMakeInspect${_cudaops_seed_language}Linker.cmake")
  if(_cudaops_seed_${_cudaops_seed_language} STREQUAL "MISS")
    _cudaops_seed_note(${_cudaops_seed_language})
    _cudaops_seed_keep(${_cudaops_seed_language})
  endif()
endif()
include("${CMAKE_CURRENT_LIST_DIR}/done.cmake")

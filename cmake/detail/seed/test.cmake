# SPDX-License-Identifier: Apache-2.0
# Instead of CMake's test of a compiler where its detection came from a seed; else around it. Where CMake doesn't look at
# the linker afterwards, the detection is then complete and kept.
#
# No cmake_policy() here, as in determine.cmake.

if(_cudaops_seed_${_cudaops_seed_language} STREQUAL "HIT")
  set(CMAKE_${_cudaops_seed_language}_COMPILER_WORKS TRUE)
else()
  if(_cudaops_seed_${_cudaops_seed_language} STREQUAL "MISS")
    _cudaops_seed_watch(${_cudaops_seed_language})
  endif()
  include("${CMAKE_ROOT}/Modules/CMakeTest${_cudaops_seed_language}Compiler.cmake")
  if(_cudaops_seed_${_cudaops_seed_language} STREQUAL "MISS")
    _cudaops_seed_note(${_cudaops_seed_language})
  endif()
endif()
if(NOT EXISTS "${CMAKE_ROOT}/Modules/Internal/CMakeInspect${_cudaops_seed_language}Linker.cmake")
  if(_cudaops_seed_${_cudaops_seed_language} STREQUAL "MISS")
    _cudaops_seed_keep(${_cudaops_seed_language})
  endif()
  include("${CMAKE_CURRENT_LIST_DIR}/done.cmake")
endif()

# SPDX-License-Identifier: Apache-2.0
# Around CMake's test of a compiler. Where CMake has no later step, the detection is then complete and kept.
#
# No cmake_policy() here, as in determine.cmake.

_cudaops_seed_watch(${_cudaops_seed_language})
include("${CMAKE_ROOT}/Modules/CMakeTest${_cudaops_seed_language}Compiler.cmake")
_cudaops_seed_note(${_cudaops_seed_language})
if(NOT EXISTS "${CMAKE_ROOT}/Modules/Internal/CMakeInspect${_cudaops_seed_language}Linker.cmake")
  _cudaops_seed_finish(${_cudaops_seed_language})
endif()
unset(_cudaops_seed_language)

# SPDX-License-Identifier: Apache-2.0
# Around CMake's look at the linker, the last step since 4.0. The detection is then complete and kept.
#
# No cmake_policy() here, as in determine.cmake.

_cudaops_seed_watch(${_cudaops_seed_language})
include("${CMAKE_ROOT}/Modules/Internal/CMakeInspect${_cudaops_seed_language}Linker.cmake")
_cudaops_seed_note(${_cudaops_seed_language})
_cudaops_seed_finish(${_cudaops_seed_language})
unset(_cudaops_seed_language)

# SPDX-License-Identifier: Apache-2.0
# Found by enable_language(C) before CMake's own module of this name; see seed.cmake.

if(_cudaops_seed_C STREQUAL "HIT")
  set(CMAKE_C_COMPILER_WORKS TRUE)
  if(CMAKE_VERSION VERSION_LESS 4.0)
    unset(_cudaops_seed_C)
  endif()
elseif(_cudaops_seed_C STREQUAL "MISS")
  set(_cudaops_seed_language C)
  include("${CMAKE_CURRENT_LIST_DIR}/test.cmake")
else()
  include("${CMAKE_ROOT}/Modules/CMakeTestCCompiler.cmake")
endif()

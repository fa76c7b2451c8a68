# SPDX-License-Identifier: Apache-2.0
# Found by enable_language(CXX) before CMake's own module of this name; see seed.cmake.

if(_cudaops_seed_CXX STREQUAL "HIT")
  set(CMAKE_CXX_COMPILER_WORKS TRUE)
  if(CMAKE_VERSION VERSION_LESS 4.0)
    unset(_cudaops_seed_CXX)
  endif()
elseif(_cudaops_seed_CXX STREQUAL "MISS")
  set(_cudaops_seed_language CXX)
  include("${CMAKE_CURRENT_LIST_DIR}/test.cmake")
else()
  include("${CMAKE_ROOT}/Modules/CMakeTestCXXCompiler.cmake")
endif()

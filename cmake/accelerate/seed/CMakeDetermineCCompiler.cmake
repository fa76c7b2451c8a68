# SPDX-License-Identifier: Apache-2.0
# Found by enable_language(C) before CMake's own module of this name; see seed.cmake.

if(COMMAND _cudaops_seed_use)
  set(_cudaops_seed_language C)
  include("${CMAKE_CURRENT_LIST_DIR}/determine.cmake")
else()
  include("${CMAKE_ROOT}/Modules/CMakeDetermineCCompiler.cmake")
endif()

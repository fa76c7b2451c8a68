# SPDX-License-Identifier: Apache-2.0
# Found by enable_language(CXX) before CMake's own module of this name; see seed.cmake.

if(_cudaops_seed_CXX STREQUAL "MISS")
  set(_cudaops_seed_language CXX)
  include("${CMAKE_CURRENT_LIST_DIR}/../inspect.cmake")
elseif(_cudaops_seed_CXX STREQUAL "HIT")
  unset(_cudaops_seed_CXX)
else()
  include("${CMAKE_ROOT}/Modules/Internal/CMakeInspectCXXLinker.cmake")
endif()

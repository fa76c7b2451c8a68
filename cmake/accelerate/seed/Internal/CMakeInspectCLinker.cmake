# SPDX-License-Identifier: Apache-2.0
# Found by enable_language(C) before CMake's own module of this name; see seed.cmake.

if(_cudaops_seed_C STREQUAL "MISS")
  set(_cudaops_seed_language C)
  include("${CMAKE_CURRENT_LIST_DIR}/../inspect.cmake")
elseif(_cudaops_seed_C STREQUAL "HIT")
  unset(_cudaops_seed_C)
else()
  include("${CMAKE_ROOT}/Modules/Internal/CMakeInspectCLinker.cmake")
endif()

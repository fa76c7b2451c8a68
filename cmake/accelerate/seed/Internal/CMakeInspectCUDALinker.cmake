# SPDX-License-Identifier: Apache-2.0
# Found by enable_language(CUDA) before CMake's own module of this name; see seed.cmake.

if(_cudaops_seed_CUDA STREQUAL "MISS")
  set(_cudaops_seed_language CUDA)
  include("${CMAKE_CURRENT_LIST_DIR}/../inspect.cmake")
elseif(_cudaops_seed_CUDA STREQUAL "HIT")
  unset(_cudaops_seed_CUDA)
else()
  include("${CMAKE_ROOT}/Modules/Internal/CMakeInspectCUDALinker.cmake")
endif()

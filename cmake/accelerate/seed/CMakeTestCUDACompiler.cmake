# SPDX-License-Identifier: Apache-2.0
# Found by enable_language(CUDA) before CMake's own module of this name; see seed.cmake.

if(_cudaops_seed_CUDA STREQUAL "HIT")
  set(CMAKE_CUDA_COMPILER_WORKS TRUE)
  if(CMAKE_VERSION VERSION_LESS 4.0)
    unset(_cudaops_seed_CUDA)
  endif()
elseif(_cudaops_seed_CUDA STREQUAL "MISS")
  set(_cudaops_seed_language CUDA)
  include("${CMAKE_CURRENT_LIST_DIR}/test.cmake")
else()
  include("${CMAKE_ROOT}/Modules/CMakeTestCUDACompiler.cmake")
endif()

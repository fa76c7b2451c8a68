# SPDX-License-Identifier: Apache-2.0
# Found by enable_language(CUDA) before CMake's own module of this name; see seed.cmake.

set(_cudaops_seed_language CUDA)
set(_cudaops_seed_step Inspect)
include("${CMAKE_CURRENT_LIST_DIR}/../hook.cmake")

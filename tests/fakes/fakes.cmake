# SPDX-License-Identifier: Apache-2.0
# Machines that we don't have: toolkits, torches and compilers that answer like the real ones.

include("${CMAKE_CURRENT_LIST_DIR}/toolkit.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/torch.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/compiler.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/rocm.cmake")

# SPDX-License-Identifier: Apache-2.0
# Defines the commands and makes FindCudaTorchMatch known to this directory. Sets no flag, enables no language.

cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/detail/package.cmake")
_cudaops_package_check("${CMAKE_CURRENT_LIST_DIR}")

if(NOT CMAKE_CURRENT_LIST_DIR IN_LIST CMAKE_MODULE_PATH)
  list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
endif()

include("${CMAKE_CURRENT_LIST_DIR}/CudaOpsArchitectures.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CudaOpsCache.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CudaOpsCubins.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CudaOpsReport.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CudaOpsShard.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CudaOpsTargets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/HipifySources.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CudaOpsKernels.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/AddTorchOp.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CudaOpsTesting.cmake")

cmake_policy(POP)

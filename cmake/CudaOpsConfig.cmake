# SPDX-License-Identifier: Apache-2.0
# Defines the commands and makes FindCudaTorchMatch known to this directory. Sets no flag, enables no language.

cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/detail/use.cmake")
_cudaops_use(package)
_cudaops_package_check("${CMAKE_CURRENT_LIST_DIR}")

if(NOT CMAKE_CURRENT_LIST_DIR IN_LIST CMAKE_MODULE_PATH)
  list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
endif()

_cudaops_use(../AddTorchOp ../HipifySources)
_cudaops_use(../CudaOpsArchitectures ../CudaOpsCache ../CudaOpsCubins ../CudaOpsKernels ../CudaOpsReport ../CudaOpsShard)
_cudaops_use(../CudaOpsTargets ../CudaOpsTesting)

cmake_policy(POP)

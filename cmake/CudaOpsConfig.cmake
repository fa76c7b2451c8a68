# SPDX-License-Identifier: Apache-2.0
# Defines the commands and makes FindCudaTorchMatch known to this directory. Sets no flag, enables no language.
#
# Result variable: CudaOps_KERNELS_DIR, the reference kernels' sources, which
# cudaops_add_reference_kernels() builds. Not set where this copy of the package came without them.

cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/detail/base/use.cmake")
_cudaops_use(base/hooks base/package)
_cudaops_package_check("${CMAKE_CURRENT_LIST_DIR}")

if(NOT CMAKE_CURRENT_LIST_DIR IN_LIST CMAKE_MODULE_PATH)
  list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
endif()

_cudaops_use(AddTorchOp HipifySources)
_cudaops_use(CudaOpsArchitectures CudaOpsCache CudaOpsCubins CudaOpsDebug CudaOpsKernelReport CudaOpsKernels CudaOpsReport CudaOpsShard)
_cudaops_use(CudaOpsReferenceKernels CudaOpsTargets CudaOpsTesting)
# What makes builds quick; without this folder they come to the same result.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/accelerate/accelerate.cmake")
  _cudaops_use(accelerate/accelerate)
endif()
_cudaops_announce(package)

_cudaops_kernels_dir(CudaOps_KERNELS_DIR)
if(CudaOps_KERNELS_DIR STREQUAL "")
  unset(CudaOps_KERNELS_DIR)
endif()

foreach(component IN LISTS CudaOps_FIND_COMPONENTS)
  if(CudaOps_FIND_REQUIRED_${component})
    set(CudaOps_FOUND FALSE)
    string(
      CONCAT CudaOps_NOT_FOUND_MESSAGE
      "it has no components.\n"
      "  found   COMPONENTS ${component}\n"
      " Fix: find_package(CudaOps REQUIRED)\n"
      "      and, where ops without CUDA are an error, find_package(CudaTorchMatch REQUIRED COMPONENTS CUDA)"
    )
  endif()
endforeach()

cmake_policy(POP)

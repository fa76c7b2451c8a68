# SPDX-License-Identifier: Apache-2.0
# A build tree whose match is made: toolkit 13.0, request 9.0 and 10.3 and 12.0 with PTX.

include("${CMAKE_CURRENT_LIST_DIR}/check.cmake")
include("${check_CMAKE_DIR}/CudaOpsArchitectures.cmake")

_cudaops_state_set(VERDICT EXACT)
_cudaops_state_set(TOOLKIT_ARCHS "${check_13_0}")
_cudaops_state_set(TOOLKIT_VERSION 13.0.88)
_cudaops_state_set(TOOLKIT_ROOT /opt/cuda-13.0)
_cudaops_state_set(ARCHITECTURES "90-real;103-real;120-real;120-virtual")
_cudaops_state_set(ARCHITECTURES_SOURCE "environment TORCH_CUDA_ARCH_LIST")

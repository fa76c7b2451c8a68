// SPDX-License-Identifier: Apache-2.0
// Compiled by find_package(CudaTorchMatch) before HIP is enabled: what fails here can be explained.
#include <hip/hip_runtime.h>

__global__ void cudaops_trial(int* result) { result[threadIdx.x] = static_cast<int>(blockIdx.x); }

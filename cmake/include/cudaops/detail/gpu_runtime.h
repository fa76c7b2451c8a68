// SPDX-License-Identifier: Apache-2.0
//
// Private: the CUDA or HIP runtime for CudaOps' headers, which hipify doesn't translate.
// CUDAOPS_GPU(name) adds the prefix of the runtime to a name.
//
//   CUDAOPS_HIP         1 for HIP, else 0
//   CUDAOPS_GPU(name)   cuda##name or hip##name; defined if the runtime's headers are available
//   CUDAOPS_GPU_ATTRIBUTE(name)  the same for device attributes
//   CUDAOPS_GPU_PREFIX  "cuda" or "hip", for texts
#pragma once

#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__) || defined(__HIP__)

#define CUDAOPS_HIP 1
#define CUDAOPS_GPU_PREFIX "hip"
#define CUDAOPS_GPU(name) hip##name
#define CUDAOPS_GPU_ATTRIBUTE(name) hipDeviceAttribute##name
#if defined(__HIP__)
#include <hip/hip_runtime.h>
#else
#include <hip/hip_runtime_api.h>
#endif

#else

#define CUDAOPS_HIP 0
#define CUDAOPS_GPU_PREFIX "cuda"
#define CUDAOPS_GPU_ATTRIBUTE(name) cudaDevAttr##name
#if defined(CUDAOPS_WITH_CUDA) || defined(__CUDACC__)
#include <cuda_runtime_api.h>
#define CUDAOPS_GPU(name) cuda##name
#elif defined(__has_include)
#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#define CUDAOPS_GPU(name) cuda##name
#endif
#endif

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Private: the runtime of the back end at hand for our own headers, which hipify never sees. Where
// the two runtimes differ only in the prefix of a name, CUDAOPS_GPU(name) is the whole difference.
//
//   CUDAOPS_HIP         1 for HIP, else 0
//   CUDAOPS_GPU(name)   cuda##name or hip##name; defined where the runtime's headers are at hand
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

// SPDX-License-Identifier: Apache-2.0
//
// Private: which kernel was launched last by this thread, and waiting for it (CUDAOPS_DEBUG). Only
// the runtime's own functions see each launch, so what CudaOps' commands link hands them over:
// one source of it defines CUDAOPS_DEBUG_LAUNCH_WRAPPERS, and the linker's --wrap sends the calls
// of those functions there. A program that others link has no wrappers; a failure then has the name
// of the launching function alone, and the whole device is waited for.
#pragma once

#include <cxxabi.h>

#include <cstdlib>

#include "gpu_runtime.h"

#define CUDAOPS_HIDDEN __attribute__((visibility("hidden")))

namespace cudaops {
namespace detail {

#if defined(CUDAOPS_GPU)

struct Launch {
  const void* kernel = nullptr;  // nullptr: none since the last wait
  int count = 0;                 // launches since the last wait
  dim3 grid;
  dim3 block;
  CUDAOPS_GPU(Stream_t) stream = nullptr;
};

// One of each linked file, as its wrappers.
CUDAOPS_HIDDEN inline Launch& last_launch() {
  thread_local Launch launch;
  return launch;
}

// "kernel scale(float*, long) <<<(4, 1, 1), (256, 1, 1)>>>"
template <typename Text>
void describe_launch(const Launch& launch, Text& text) {
  const char* name = nullptr;
#if !CUDAOPS_HIP && CUDART_VERSION >= 12030
  if (cudaFuncGetName(&name, launch.kernel) != cudaSuccess) {
    cudaGetLastError();
    name = nullptr;
  }
#endif
  text << "kernel ";
  if (name != nullptr) {
    int status = 0;
    char* demangled = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    text << (status == 0 ? demangled : name) << " ";
    free(demangled);
  }
  const dim3 sizes[] = {launch.grid, launch.block};
  text << "<<<";
  for (int i = 0; i < 2; ++i) {
    text << (i == 0 ? "(" : ", (") << static_cast<int>(sizes[i].x) << ", "
         << static_cast<int>(sizes[i].y) << ", " << static_cast<int>(sizes[i].z) << ")";
  }
  text << ">>>";
  if (launch.count > 1) text << ", the last of " << launch.count << " launches";
}

// Waits for the last launch of this thread, or for the device where it isn't known; describes it.
// A stream that records a graph isn't waited for: nothing runs yet.
template <typename Text>
CUDAOPS_HIDDEN CUDAOPS_GPU(Error_t) wait_for_launch(Text& text) {
  const Launch launch = last_launch();
  last_launch() = Launch();
  if (launch.kernel == nullptr) {
    text << "a kernel";
    return CUDAOPS_GPU(DeviceSynchronize)();
  }
  CUDAOPS_GPU(StreamCaptureStatus) status = CUDAOPS_GPU(StreamCaptureStatusNone);
  const CUDAOPS_GPU(Error_t) error = CUDAOPS_GPU(StreamIsCapturing)(launch.stream, &status);
  if (error == CUDAOPS_GPU(Success) && status != CUDAOPS_GPU(StreamCaptureStatusNone)) return error;
  // Before the wait: a failed kernel leaves the runtime unable to answer.
  describe_launch(launch, text);
  return CUDAOPS_GPU(StreamSynchronize)(launch.stream);
}

#endif  // CUDAOPS_GPU

}  // namespace detail
}  // namespace cudaops

#if defined(CUDAOPS_DEBUG_LAUNCH_WRAPPERS)

namespace cudaops {
namespace detail {

inline void note_launch(const void* kernel, dim3 grid, dim3 block, cudaStream_t stream) {
  Launch& launch = last_launch();
  launch.kernel = kernel;
  ++launch.count;
  launch.grid = grid;
  launch.block = block;
  launch.stream = stream;
}

}  // namespace detail
}  // namespace cudaops

// _ptsz: the functions that nvcc's --default-stream per-thread calls in place of the others; no
// stream means that of the thread there.
#define CUDAOPS_WRAP_LAUNCH(function, Kernel, no_stream)                                        \
  extern "C" cudaError_t __real_##function(Kernel, dim3, dim3, void**, size_t, cudaStream_t);   \
  extern "C" CUDAOPS_HIDDEN cudaError_t __wrap_##function(Kernel kernel, dim3 grid, dim3 block, \
                                                          void** args, size_t shared_bytes,     \
                                                          cudaStream_t stream) {                \
    cudaops::detail::note_launch(static_cast<const void*>(kernel), grid, block,                 \
                                 stream == nullptr ? no_stream : stream);                       \
    return __real_##function(kernel, grid, block, args, shared_bytes, stream);                  \
  }
#define CUDAOPS_WRAP_LAUNCH_EX(function, no_stream)                                          \
  extern "C" cudaError_t __real_##function(const cudaLaunchConfig_t*, const void*, void**);  \
  extern "C" CUDAOPS_HIDDEN cudaError_t __wrap_##function(const cudaLaunchConfig_t* config,  \
                                                          const void* kernel, void** args) { \
    cudaops::detail::note_launch(kernel, config->gridDim, config->blockDim,                  \
                                 config->stream == nullptr ? no_stream : config->stream);    \
    return __real_##function(config, kernel, args);                                          \
  }

CUDAOPS_WRAP_LAUNCH(cudaLaunchKernel, const void*, nullptr)
CUDAOPS_WRAP_LAUNCH(cudaLaunchKernel_ptsz, const void*, cudaStreamPerThread)
CUDAOPS_WRAP_LAUNCH(cudaLaunchCooperativeKernel, const void*, nullptr)
CUDAOPS_WRAP_LAUNCH(cudaLaunchCooperativeKernel_ptsz, const void*, cudaStreamPerThread)
CUDAOPS_WRAP_LAUNCH_EX(cudaLaunchKernelExC, nullptr)
CUDAOPS_WRAP_LAUNCH_EX(cudaLaunchKernelExC_ptsz, cudaStreamPerThread)
#if CUDART_VERSION >= 13000
// What <<<>>> calls from CUDA 13 on.
CUDAOPS_WRAP_LAUNCH(__cudaLaunchKernel, cudaKernel_t, nullptr)
CUDAOPS_WRAP_LAUNCH(__cudaLaunchKernel_ptsz, cudaKernel_t, cudaStreamPerThread)
#endif

#endif  // CUDAOPS_DEBUG_LAUNCH_WRAPPERS

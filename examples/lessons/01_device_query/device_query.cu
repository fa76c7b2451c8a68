// SPDX-License-Identifier: Apache-2.0
// What the CUDA runtime says about a GPU, a line of text for each fact.
#include <cstdio>

// Returns 0, or the runtime's error; device_query.py calls it through ctypes.
extern "C" int device_query(int device, char* text, size_t size) {
  cudaDeviceProp p;
  int memory_clock_khz = 0;
  cudaError_t error = cudaGetDeviceProperties(&p, device);
  if (error != cudaSuccess) return error;
  // CUDA 13 has no clock in cudaDeviceProp any more.
  error = cudaDeviceGetAttribute(&memory_clock_khz, cudaDevAttrMemoryClockRate, device);
  if (error != cudaSuccess) return error;
  snprintf(text, size,
           "name=%s\nmajor=%d\nminor=%d\nmulti_processor_count=%d\nwarp_size=%d\n"
           "max_threads_per_block=%d\nmax_threads_per_multi_processor=%d\n"
           "regs_per_multiprocessor=%d\nshared_memory_per_block=%zu\n"
           "shared_memory_per_block_optin=%zu\nshared_memory_per_multiprocessor=%zu\n"
           "L2_cache_size=%d\ntotal_memory=%zu\nmemory_bus_width=%d\nmemory_clock_rate=%d\n",
           p.name, p.major, p.minor, p.multiProcessorCount, p.warpSize, p.maxThreadsPerBlock,
           p.maxThreadsPerMultiProcessor, p.regsPerMultiprocessor, p.sharedMemPerBlock,
           p.sharedMemPerBlockOptin, p.sharedMemPerMultiprocessor, p.l2CacheSize, p.totalGlobalMem,
           p.memoryBusWidth, memory_clock_khz);
  return 0;
}

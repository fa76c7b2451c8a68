// SPDX-License-Identifier: Apache-2.0
// Counters in device memory for kernels in which the last block to arrive does the rest: zero
// before a launch and after it. Launches on a stream follow each other, so a stream's launches
// share counters; those that are captured have those of their capture and stream, as a graph that
// is launched again waits for itself.
#pragma once

#include <cuda_runtime.h>
#include <cudaops/check.h>

#include <map>
#include <mutex>
#include <utility>

namespace cudaops_kernels {
namespace decode {

constexpr int kArrivalsOfStream = 1024;
constexpr int kMostStreams = 256;
static __device__ unsigned int arrivals_of_streams[kMostStreams * kArrivalsOfStream];

// kArrivalsOfStream counters for a launch on the current device; null where others have all, or the
// runtime can't tell streams apart.
inline unsigned int* arrivals_of(cudaStream_t stream) {
#if CUDART_VERSION >= 12000
  cudaStreamCaptureStatus status;
  unsigned long long capture = 0, id = 0;
  int device = 0;
  if (cudaStreamGetCaptureInfo(stream, &status, &capture) != cudaSuccess ||
      cudaStreamGetId(stream, &id) != cudaSuccess || cudaGetDevice(&device) != cudaSuccess) {
    (void)cudaGetLastError();
    return nullptr;
  }
  if (status == cudaStreamCaptureStatusNone) capture = 0;
  static std::mutex mutex;
  struct Pool {
    void* first = nullptr;
    std::map<std::pair<unsigned long long, unsigned long long>, int> index_of;
  };
  static std::map<int, Pool> pools;  // of the devices
  const std::lock_guard<std::mutex> lock(mutex);
  Pool& pool = pools[device];
  if (pool.first == nullptr) CUDAOPS_CHECK(cudaGetSymbolAddress(&pool.first, arrivals_of_streams));
  const int count = static_cast<int>(pool.index_of.size());
  auto found = pool.index_of.find({id, capture});
  if (found == pool.index_of.end()) {
    if (count == kMostStreams) return nullptr;
    found = pool.index_of.insert({{id, capture}, count}).first;
  }
  return static_cast<unsigned int*>(pool.first) + found->second * kArrivalsOfStream;
#else
  (void)stream;
  return nullptr;
#endif
}

}  // namespace decode
}  // namespace cudaops_kernels

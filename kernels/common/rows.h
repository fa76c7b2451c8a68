// SPDX-License-Identifier: Apache-2.0
// Rows as launchers take them: `stride` elements from the start of one row to that of the next;
// within a row elements stand side by side.
#pragma once

#include <cstdint>

#if defined(__CUDACC__) || defined(__HIP__)
#define CUDAOPS_HOST_DEVICE __host__ __device__
#else
#define CUDAOPS_HOST_DEVICE
#endif

namespace cudaops_kernels {

struct ConstRows {
  const void* data;
  int64_t stride;

  template <typename T>
  CUDAOPS_HOST_DEVICE const T* row(int64_t index) const {
    return static_cast<const T*>(data) + index * stride;
  }
};

struct Rows {
  void* data;
  int64_t stride;

  template <typename T>
  CUDAOPS_HOST_DEVICE T* row(int64_t index) const {
    return static_cast<T*>(data) + index * stride;
  }
};

}  // namespace cudaops_kernels

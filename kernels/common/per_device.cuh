// SPDX-License-Identifier: Apache-2.0
// What a launcher asks of a device once.
#pragma once

#include <cuda_runtime.h>
#include <cudaops/check.h>

namespace cudaops_kernels {

// What find(device) says of the current device, a number from 0 on. The answer is kept for each of
// the first 64: threads that ask at once may all find it, which is the same. 0 without a device.
template <typename Find>
int known_for_device(int (&known)[64], const Find& find) {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  if (device >= 64) return find(device);
  int value = __atomic_load_n(&known[device], __ATOMIC_RELAXED);
  if (value == 0) {
    value = find(device) + 1;
    __atomic_store_n(&known[device], value, __ATOMIC_RELAXED);
  }
  return value - 1;
}

// Of the current device; without one CUDA's error.
inline int num_multiprocessors() {
  static int known[64];
  int current = 0;
  CUDAOPS_CHECK(cudaGetDevice(&current));
  return known_for_device(known, [](int device) {
    int number = 0;
    CUDAOPS_CHECK(cudaDeviceGetAttribute(&number, cudaDevAttrMultiProcessorCount, device));
    return number;
  });
}

}  // namespace cudaops_kernels

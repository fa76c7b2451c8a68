// SPDX-License-Identifier: Apache-2.0
// What the device code of several ops shares: the element types and 16-byte vectors.
#pragma once

#include <cudaops/gpu_compat.h>

#include <cstdint>

#include "dtype.h"

namespace cudaops_kernels {

using cudaops::bfloat16;
using cudaops::from_float;
using cudaops::to_float;

// As many elements as one thread loads or stores with a single instruction.
template <typename T>
struct alignas(16) Vector {
  static constexpr int kSize = 16 / sizeof(T);
  T element[kSize];
};

// The vectors that start at `data`. Index these, not the elements: nvcc 13.0 stores a vector whose
// address was computed in elements with four instructions.
template <typename T>
__device__ __forceinline__ const Vector<T>* vectors_at(const T* data) {
  return reinterpret_cast<const Vector<T>*>(data);
}
template <typename T>
__device__ __forceinline__ Vector<T>* vectors_at(T* data) {
  return reinterpret_cast<Vector<T>*>(data);
}

// How a contiguous array splits into 16-byte vectors: `head` elements stand before the first
// aligned address, then come `num_vectors` whole vectors, the rest is the tail. An array that isn't
// aligned to its own element size has no aligned address and is refused by the launchers' contract.
struct VectorSplit {
  int64_t head;
  int64_t num_vectors;
  int64_t num_leftovers;  // head and tail together
};

template <typename T>
VectorSplit split_into_vectors(const void* data, int64_t num_elements) {
  const int64_t misaligned_bytes = static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % 16);
  int64_t head = misaligned_bytes == 0 ? 0 : (16 - misaligned_bytes) / int64_t{sizeof(T)};
  if (head > num_elements) head = num_elements;
  const int64_t num_vectors = (num_elements - head) / Vector<T>::kSize;
  return {head, num_vectors, num_elements - num_vectors * Vector<T>::kSize};
}

inline bool same_alignment(const void* a, const void* b) {
  return reinterpret_cast<uintptr_t>(a) % 16 == reinterpret_cast<uintptr_t>(b) % 16;
}

// Blocks of `per_block` items that cover num_items; the grid's limit of 2^31 - 1 blocks lies beyond
// the memory of any device for the block sizes used here. HIP allows 2^32 - 1 threads: with a
// vector a thread that is 64 GiB an array, and a larger one is refused by the launch.
inline unsigned int num_blocks(int64_t num_items, int64_t per_block) {
  return static_cast<unsigned int>((num_items + per_block - 1) / per_block);
}

// Call::run<T>(arguments...) with the element type that dtype names.
template <typename Call, typename... Arguments>
void for_device_type(DType dtype, const Arguments&... arguments) {
  switch (dtype) {
    case DType::kFloat32:
      return Call::template run<float>(arguments...);
    case DType::kFloat16:
      return Call::template run<__half>(arguments...);
    case DType::kBFloat16:
      return Call::template run<bfloat16>(arguments...);
  }
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// vector_add on CUDA devices. Moves 3 * sizeof(T) bytes an element and is bound by that alone.
#include <cuda_runtime.h>
#include <cudaops/check.h>

#include "../common/device_types.cuh"
#include "vector_add.h"

namespace cudaops_examples {
namespace {

constexpr int kBlockSize = 256;

// One vector a thread, no loop: many short-lived blocks keep more loads in flight than a persistent
// grid does. The threads after the last vector take one leftover element each.
template <typename T>
__global__ void __launch_bounds__(kBlockSize)
    vector_add_kernel(const T* a, const T* b, T* out, VectorSplit split) {
  const int64_t index = int64_t{blockIdx.x} * kBlockSize + threadIdx.x;
  if (index < split.num_vectors) {
    const Vector<T> va = vectors_at(a + split.head)[index];
    const Vector<T> vb = vectors_at(b + split.head)[index];
    Vector<T> result;
#pragma unroll
    for (int i = 0; i < Vector<T>::kSize; ++i) {
      result.element[i] = from_float<T>(to_float(va.element[i]) + to_float(vb.element[i]));
    }
    vectors_at(out + split.head)[index] = result;
    return;
  }
  int64_t leftover = index - split.num_vectors;
  if (leftover >= split.num_leftovers) return;
  if (leftover >= split.head) leftover += split.num_vectors * Vector<T>::kSize;
  out[leftover] = from_float<T>(to_float(a[leftover]) + to_float(b[leftover]));
}

// For pointers that don't reach a 16-byte boundary together. A thread's elements are a block apart,
// so that each load of a warp is contiguous.
template <typename T>
__global__ void __launch_bounds__(kBlockSize)
    vector_add_unaligned_kernel(const T* a, const T* b, T* out, int64_t num_elements) {
  const int64_t first = int64_t{blockIdx.x} * (kBlockSize * Vector<T>::kSize) + threadIdx.x;
#pragma unroll
  for (int i = 0; i < Vector<T>::kSize; ++i) {
    const int64_t index = first + i * kBlockSize;
    if (index < num_elements) out[index] = from_float<T>(to_float(a[index]) + to_float(b[index]));
  }
}

template <typename T>
void launch(const void* a, const void* b, void* out, int64_t num_elements, cudaStream_t stream) {
  const T* typed_a = static_cast<const T*>(a);
  const T* typed_b = static_cast<const T*>(b);
  T* typed_out = static_cast<T*>(out);
  if (same_alignment(a, b) && same_alignment(a, out)) {
    const VectorSplit split = split_into_vectors<T>(out, num_elements);
    vector_add_kernel<T><<<num_blocks(split.num_vectors + split.num_leftovers, kBlockSize),
                           kBlockSize, 0, stream>>>(typed_a, typed_b, typed_out, split);
  } else {
    vector_add_unaligned_kernel<T>
        <<<num_blocks(num_elements, kBlockSize * Vector<T>::kSize), kBlockSize, 0, stream>>>(
            typed_a, typed_b, typed_out, num_elements);
  }
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace

void launch_vector_add(const void* a, const void* b, void* out, int64_t num_elements, DType dtype,
                       void* stream) {
  if (num_elements == 0) return;  // a grid of 0 blocks is a launch error
  const cudaStream_t cuda_stream = static_cast<cudaStream_t>(stream);
  switch (dtype) {
    case DType::kFloat32:
      return launch<float>(a, b, out, num_elements, cuda_stream);
    case DType::kFloat16:
      return launch<__half>(a, b, out, num_elements, cuda_stream);
    case DType::kBFloat16:
      return launch<bfloat16>(a, b, out, num_elements, cuda_stream);
  }
}

}  // namespace cudaops_examples

// SPDX-License-Identifier: Apache-2.0
// square on CUDA devices. Moves 2 * sizeof(T) bytes an element and is bound by that alone.
#include <cuda_runtime.h>
#include <cudaops/check.h>

#include "../common/device_types.cuh"
#include "square.h"

namespace cudaops_examples {
namespace {

constexpr int kBlockSize = 256;

template <typename T>
__device__ __forceinline__ T squared(T value) {
  const float wide = to_float(value);
  return from_float<T>(wide * wide);
}

// One vector a thread, no loop: many short-lived blocks keep more loads in flight than a persistent
// grid does. The threads after the last vector take one leftover element each.
template <typename T>
__global__ void __launch_bounds__(kBlockSize)
    square_kernel(const T* input, T* out, VectorSplit split) {
  const int64_t index = int64_t{blockIdx.x} * kBlockSize + threadIdx.x;
  if (index < split.num_vectors) {
    const Vector<T> vector = vectors_at(input + split.head)[index];
    Vector<T> result;
#pragma unroll
    for (int i = 0; i < Vector<T>::kSize; ++i) result.element[i] = squared(vector.element[i]);
    vectors_at(out + split.head)[index] = result;
    return;
  }
  int64_t leftover = index - split.num_vectors;
  if (leftover >= split.num_leftovers) return;
  if (leftover >= split.head) leftover += split.num_vectors * Vector<T>::kSize;
  out[leftover] = squared(input[leftover]);
}

// For pointers that don't reach a 16-byte boundary together. A thread's elements are a block apart,
// so that each load of a warp is contiguous.
template <typename T>
__global__ void __launch_bounds__(kBlockSize)
    square_unaligned_kernel(const T* input, T* out, int64_t num_elements) {
  const int64_t first = int64_t{blockIdx.x} * (kBlockSize * Vector<T>::kSize) + threadIdx.x;
#pragma unroll
  for (int i = 0; i < Vector<T>::kSize; ++i) {
    const int64_t index = first + i * kBlockSize;
    if (index < num_elements) out[index] = squared(input[index]);
  }
}

template <typename T>
void launch(const void* input, void* out, int64_t num_elements, cudaStream_t stream) {
  const T* typed_input = static_cast<const T*>(input);
  T* typed_out = static_cast<T*>(out);
  if (same_alignment(input, out)) {
    const VectorSplit split = split_into_vectors<T>(out, num_elements);
    square_kernel<T><<<num_blocks(split.num_vectors + split.num_leftovers, kBlockSize), kBlockSize,
                       0, stream>>>(typed_input, typed_out, split);
  } else {
    square_unaligned_kernel<T>
        <<<num_blocks(num_elements, kBlockSize * Vector<T>::kSize), kBlockSize, 0, stream>>>(
            typed_input, typed_out, num_elements);
  }
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace

void launch_square(const void* input, void* out, int64_t num_elements, DType dtype, void* stream) {
  if (num_elements == 0) return;  // a grid of 0 blocks is a launch error
  const cudaStream_t cuda_stream = static_cast<cudaStream_t>(stream);
  switch (dtype) {
    case DType::kFloat32:
      return launch<float>(input, out, num_elements, cuda_stream);
    case DType::kFloat16:
      return launch<__half>(input, out, num_elements, cuda_stream);
    case DType::kBFloat16:
      return launch<bfloat16>(input, out, num_elements, cuda_stream);
  }
}

}  // namespace cudaops_examples

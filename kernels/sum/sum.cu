// SPDX-License-Identifier: Apache-2.0
// sum on CUDA devices, in two passes: every block sums one tile of 32 KiB into the workspace, then
// one block sums those. Reads sizeof(T) bytes an element and is bound by that; the second pass adds
// one float in 32 KiB. A tile's size does not depend on the device, so the order of additions, and
// with it every bit of the result, does not either.
#include <cuda_runtime.h>
#include <cudaops/check.h>

#include "../common/device_types.cuh"
#include "sum.h"

namespace cudaops_examples {
namespace {

constexpr int kBlockSize = 256;
constexpr int kVectorsPerThread = 8;
constexpr int64_t kVectorsPerTile = kBlockSize * kVectorsPerThread;
constexpr int kFinishBlockSize = 1024;

// Sums one value a thread over a block of kThreads; the result is thread 0's. Lanes add up in
// groups of 32 on every GPU, on those with warps of 64 too: another grouping would be another order
// of additions.
template <int kThreads, typename Accumulator>
__device__ Accumulator block_sum(Accumulator value) {
  constexpr int kGroupSize = 32;
  constexpr int kGroups = kThreads / kGroupSize;
  __shared__ Accumulator group_sums[kGroups];
#pragma unroll
  for (int offset = kGroupSize / 2; offset > 0; offset /= 2) {
    value += cudaops::shfl_down(value, offset, kGroupSize);
  }
  if (threadIdx.x % kGroupSize == 0) group_sums[threadIdx.x / kGroupSize] = value;
  __syncthreads();
  if (threadIdx.x >= kGroupSize) return Accumulator{0};
  value = threadIdx.x < kGroups ? group_sums[threadIdx.x] : Accumulator{0};
#pragma unroll
  for (int offset = kGroupSize / 2; offset > 0; offset /= 2) {
    value += cudaops::shfl_down(value, offset, kGroupSize);
  }
  return value;
}

template <typename T>
__device__ __forceinline__ float vector_sum(const Vector<T>& vector) {
  float sum = to_float(vector.element[0]);
#pragma unroll
  for (int i = 1; i < Vector<T>::kSize; ++i) sum += to_float(vector.element[i]);
  return sum;
}

// Output is float for the workspace, T where one tile is all there is.
template <typename T, typename Output>
__global__ void __launch_bounds__(kBlockSize)
    sum_tiles_kernel(const T* input, Output* tile_sums, VectorSplit split) {
  const Vector<T>* vectors = vectors_at(input + split.head);
  const int64_t first = int64_t{blockIdx.x} * kVectorsPerTile + threadIdx.x;
  // All loads stand before the first addition: 128 bytes in flight a thread.
  Vector<T> loaded[kVectorsPerThread];
  if ((int64_t{blockIdx.x} + 1) * kVectorsPerTile <= split.num_vectors) {
#pragma unroll
    for (int i = 0; i < kVectorsPerThread; ++i) loaded[i] = vectors[first + i * kBlockSize];
  } else {
#pragma unroll
    for (int i = 0; i < kVectorsPerThread; ++i) {
      const int64_t index = first + i * kBlockSize;
      if (index < split.num_vectors) {
        loaded[i] = vectors[index];
      } else {
#pragma unroll
        for (int k = 0; k < Vector<T>::kSize; ++k) loaded[i].element[k] = from_float<T>(0.0f);
      }
    }
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kVectorsPerThread; ++i) sum += vector_sum(loaded[i]);
  // At most 14 elements lie outside the vectors.
  if (blockIdx.x == 0 && threadIdx.x < split.num_leftovers) {
    int64_t leftover = threadIdx.x;
    if (leftover >= split.head) leftover += split.num_vectors * Vector<T>::kSize;
    sum += to_float(input[leftover]);
  }
  sum = block_sum<kBlockSize>(sum);
  if (threadIdx.x == 0) tile_sums[blockIdx.x] = from_float<Output>(sum);
}

template <typename T>
__global__ void __launch_bounds__(kFinishBlockSize)
    sum_finish_kernel(const float* tile_sums, int64_t num_tiles, T* out) {
  // Double costs nothing here and keeps the long chain of a huge array exact enough.
  double sum = 0;
#pragma unroll 8
  for (int64_t i = threadIdx.x; i < num_tiles; i += kFinishBlockSize) sum += tile_sums[i];
  sum = block_sum<kFinishBlockSize>(sum);
  if (threadIdx.x == 0) *out = from_float<T>(static_cast<float>(sum));
}

// From the upper bound of the number of vectors, so that the workspace does not depend on
// alignment.
int64_t num_tiles_of(int64_t num_elements, DType dtype) {
  const int64_t num_vectors = num_elements * size_of(dtype) / 16;
  const int64_t num_tiles = (num_vectors + kVectorsPerTile - 1) / kVectorsPerTile;
  return num_tiles == 0 ? 1 : num_tiles;
}

template <typename T>
void launch(const void* input, void* out, int64_t num_elements, DType dtype, void* workspace,
            cudaStream_t stream) {
  const T* typed_input = static_cast<const T*>(input);
  T* typed_out = static_cast<T*>(out);
  const VectorSplit split = split_into_vectors<T>(input, num_elements);
  const int64_t num_tiles = num_tiles_of(num_elements, dtype);
  const unsigned int grid = static_cast<unsigned int>(num_tiles);
  if (num_tiles == 1) {
    sum_tiles_kernel<T, T><<<grid, kBlockSize, 0, stream>>>(typed_input, typed_out, split);
    CUDAOPS_CHECK_LAUNCH();
    return;
  }
  float* tile_sums = static_cast<float*>(workspace);
  sum_tiles_kernel<T, float><<<grid, kBlockSize, 0, stream>>>(typed_input, tile_sums, split);
  CUDAOPS_CHECK_LAUNCH();
  sum_finish_kernel<T><<<1, kFinishBlockSize, 0, stream>>>(tile_sums, num_tiles, typed_out);
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace

int64_t sum_workspace_bytes(int64_t num_elements, DType dtype) {
  const int64_t num_tiles = num_tiles_of(num_elements, dtype);
  return num_tiles == 1 ? 0 : num_tiles * int64_t{sizeof(float)};
}

void launch_sum(const void* input, void* out, int64_t num_elements, DType dtype, void* workspace,
                void* stream) {
  const cudaStream_t cuda_stream = static_cast<cudaStream_t>(stream);
  switch (dtype) {
    case DType::kFloat32:
      return launch<float>(input, out, num_elements, dtype, workspace, cuda_stream);
    case DType::kFloat16:
      return launch<__half>(input, out, num_elements, dtype, workspace, cuda_stream);
    case DType::kBFloat16:
      return launch<bfloat16>(input, out, num_elements, dtype, workspace, cuda_stream);
  }
}

}  // namespace cudaops_examples

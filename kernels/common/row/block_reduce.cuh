// SPDX-License-Identifier: Apache-2.0
// The steps of a reduction over a row's threads: within 32 lanes, then over what warps have left in
// shared memory. The order of operations depends on the number of threads alone.
#pragma once

#include <cudaops/gpu_compat.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../cluster.cuh"
#include "../vectors.cuh"

namespace cudaops_kernels {

// What the warps of a block, and the blocks of a cluster, exchange in a reduction. Double-buffered:
// a buffer is written again only after the barrier of the reduction between, so one barrier a
// reduction is enough.
struct RowScratch {
  static constexpr int kMaxValueBytes = 16;
  static constexpr int kMaxValues = 64;  // one for each 32 virtual threads
  alignas(16) char warps[2][kMaxValues * kMaxValueBytes];
  alignas(16) char blocks[2][kMaxClusterSize * kMaxValueBytes];
};

// What a thread brings to a reduction over the row whose order is the same for any number of
// threads: a value for each of the kVirtual virtual threads that it stands for, in turns of its
// kSlots vectors.
template <typename Value, int kVirtual, int kSlots>
struct Shares {
  Value of[kVirtual];

  __device__ __forceinline__ explicit Shares(const Value& value) {
#pragma unroll
    for (int i = 0; i < kVirtual; ++i) of[i] = value;
  }
  // That of the vector at this place; a peeled one comes last.
  template <typename Place>
  __device__ __forceinline__ Value& at(const Place& place) {
    if (kVirtual == 1) return of[0];
    return of[place.slot < kSlots ? place.slot % kVirtual : kVirtual - 1];
  }
  __device__ __forceinline__ float max() const {
    float max = of[0];
#pragma unroll
    for (int i = 1; i < kVirtual; ++i) max = fmaxf(max, of[i]);
    return max;
  }
};

namespace detail {

constexpr int kReduceLanes = 32;  // on GPUs with warps of 64 too: the same bits everywhere

struct AddValues {
  template <typename Value>
  __device__ __forceinline__ Value operator()(const Value& a, const Value& b) const {
    return a + b;
  }
};

// The larger of two non-negative floats, by their bits.
struct MaxOfBits {
  __device__ __forceinline__ uint32_t operator()(uint32_t a, uint32_t b) const {
    return a < b ? b : a;
  }
};

// Over kLanes neighbours.
template <int kLanes, typename Value, typename Op>
__device__ __forceinline__ Value reduce_over_group(Value value, const Op& op) {
#if !CUDAOPS_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  // redux.sync, which only integers have.
  if constexpr (std::is_same<Op, MaxOfBits>::value && kLanes == kReduceLanes) {
    return __reduce_max_sync(cudaops::kAllLanes, value);
  } else
#endif
  {
    return cudaops::warp_reduce(value, op, kLanes);
  }
}

// Word by word: of structs nvcc would choose an address, and have them in memory for that.
template <typename Value>
__device__ __forceinline__ Value chosen(bool first, const Value& a, const Value& b) {
  static_assert(sizeof(Value) % 4 == 0, "wanted whole words");
  constexpr int kWords = sizeof(Value) / 4;
  uint32_t words_of_a[kWords], words_of_b[kWords];
  memcpy(words_of_a, &a, sizeof(Value));
  memcpy(words_of_b, &b, sizeof(Value));
#pragma unroll
  for (int i = 0; i < kWords; ++i) words_of_a[i] = first ? words_of_a[i] : words_of_b[i];
  Value result;
  memcpy(&result, words_of_a, sizeof(Value));
  return result;
}

// Several values at once, each over kLanes neighbours: lane l gets that of
// values[l / (kLanes / kCount)]. The same pairs as in reduce_over_group(), and at each step a lane
// hands over the half of the values that it doesn't keep: one shuffle for two values.
template <int kLanes, int kCount, typename Value, typename Op>
__device__ __forceinline__ Value reduce_each_over_group(const Value (&values)[kCount],
                                                        const Op& op) {
  if constexpr (kCount == 1) {
    return reduce_over_group<kLanes>(values[0], op);
  } else {
    constexpr int kHalf = kCount / 2;
    const bool keeps_upper = threadIdx.x % kLanes >= kLanes / 2;
    Value kept[kHalf];
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
      const Value given = chosen(keeps_upper, values[i], values[i + kHalf]);
      const Value own = chosen(keeps_upper, values[i + kHalf], values[i]);
      kept[i] = op(own, cudaops::shfl_xor(given, kLanes / 2, kLanes));
    }
    return reduce_each_over_group<kLanes / 2>(kept, op);
  }
}

// The block's value, from kEach values a warp: lane l has that of l / (kReduceLanes / kEach). They
// are combined in the order of the virtual threads that they stand for (row_base.cuh), so that the
// result depends on the number of those alone. Up to eight take three shuffles, others five.
template <int kEach, typename Value, typename Op>
__device__ __forceinline__ Value reduce_over_warps(void* buffer, Value value, const Value& identity,
                                                   const Op& op) {
  constexpr int kFew = 8, kLanesEach = kReduceLanes / kEach;
  Value* const values = static_cast<Value*>(buffer);
  const int lane = threadIdx.x % kReduceLanes, warp = threadIdx.x / kReduceLanes;
  const int num_warps = static_cast<int>(blockDim.x) / kReduceLanes, count = kEach * num_warps;
  if (lane % kLanesEach == 0) values[lane / kLanesEach * num_warps + warp] = value;
  __syncthreads();
  const bool are_few = count <= kFew;
  const int own = are_few ? lane % kFew : lane;
  value = own < count ? values[own] : identity;
  if (are_few) return reduce_over_group<kFew>(value, op);
#pragma unroll
  for (int other = kReduceLanes; kEach > 1 && other < RowScratch::kMaxValues;
       other += kReduceLanes) {
    if (own + other < count) value = op(value, values[own + other]);
  }
  return reduce_over_group<kReduceLanes>(value, op);
}

// The values of a block's two halves, from one a warp, in the order of a block of half of the
// threads: lanes 8 to 15 and 24 to 31 have that of the second half.
template <typename Value, typename Op>
__device__ __forceinline__ Value reduce_over_halves(void* buffer, Value value,
                                                    const Value& identity, const Op& op) {
  constexpr int kFew = 8;  // warps of a half, at most
  Value* const values = static_cast<Value*>(buffer);
  const int lane = threadIdx.x % kReduceLanes, warp = threadIdx.x / kReduceLanes;
  const int half = static_cast<int>(blockDim.x) / kReduceLanes / 2;
  if (lane == 0) values[warp] = value;
  __syncthreads();
  const int own = lane % kFew;
  value = own < half ? values[lane / kFew % 2 * half + own] : identity;
  return reduce_over_group<kFew>(value, op);
}

}  // namespace detail
}  // namespace cudaops_kernels

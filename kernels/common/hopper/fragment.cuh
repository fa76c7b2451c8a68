// SPDX-License-Identifier: Apache-2.0
// What a fused operator does with a fragment: the 64 x N numbers of a product that lie in the
// registers of a warpgroup (sm_90a). Their layout: wgmma.cuh.
#pragma once

#include <cuda_fp16.h>
#include <cudaops/gpu_compat.h>

#include <cstdint>
#include <cstring>

#include "../activations.h"
#include "../device_types.cuh"
#include "../vectors.cuh"
#include "tile.cuh"

#if !CUDAOPS_HIP && CUDAOPS_HAS_WGMMA

namespace cudaops_kernels {

// The first of the 16 rows that this thread's warp has, with `first_row` that of the fragment. Lane
// l has the rows l / 4 and l / 4 + 8 of them, and of each 8 columns l % 4 * 2 and the next.
__device__ __forceinline__ uint32_t row_of_warp(int first_row) {
  return first_row + threadIdx.x % kWarpgroupSize / 32 * 16;
}

// body(number, row, column) of a thread's numbers, with row and column counted from its first ones.
template <typename Numbers, typename Body>
__device__ __forceinline__ void for_each_number(Numbers& numbers, const Body& body) {
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(numbers) / sizeof(numbers[0])); ++i) {
    body(numbers[i], i / 2 % 2 * 8, i / 4 * 8 + i % 2);
  }
}

template <int kSize>
__device__ __forceinline__ void clear(float (&numbers)[kSize]) {
#pragma unroll
  for (int i = 0; i < kSize; ++i) numbers[i] = 0.0f;
}

template <typename T, int kSize>
__device__ __forceinline__ void pack_all(uint32_t (&packed)[kSize / 2],
                                         const float (&values)[kSize]) {
#pragma unroll
  for (int i = 0; i < kSize / 2; ++i) {
    packed[i] = detail::pack_pair<T>(values[2 * i], values[2 * i + 1]);
  }
}

template <typename T>
__device__ __forceinline__ float2 unpack_pair(uint32_t word) {
  T pair[2];
  static_assert(sizeof(pair) == sizeof(word), "");
  memcpy(pair, &word, sizeof(word));
  return make_float2(to_float(pair[0]), to_float(pair[1]));
}

// A row's numbers lie in four neighbouring lanes.
__device__ __forceinline__ float max_of_row(float value) {
  value = fmaxf(value, cudaops::shfl_xor(value, 1));
  return fmaxf(value, cudaops::shfl_xor(value, 2));
}
__device__ __forceinline__ float sum_of_row(float value) {
  value += cudaops::shfl_xor(value, 1);
  return value + cudaops::shfl_xor(value, 2);
}

// To about 1e-7, which tanh.approx (5e-4) would be for an operand that is scaled up again.
__device__ __forceinline__ float fast_tanh(float x) {
  constexpr float kTwiceLog2e = 2.885390081777927f;
  return fmaf(-2.0f, __fdividef(1.0f, detail::exp2_of(x * kTwiceLog2e) + 1.0f), 1.0f);
}

// Four matrices of 8 x 8 elements of 16 bits, as products leave them in registers, packed in pairs:
// lanes 0 to 7 have the addresses of the first one's rows, and so on. PTX ISA, "stmatrix".
__device__ __forceinline__ void store_matrices(uint32_t row, const uint32_t* words) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

// 64 x kColumns of a fragment, packed in pairs, to rows of a tile from `row` on. All threads of a
// warpgroup.
template <typename Tile, int kColumns>
__device__ __forceinline__ void store_fragment(char* tile, int row,
                                               const uint32_t (&packed)[kColumns / 4]) {
  const int lane = threadIdx.x % 32;
  const int own_row = row_of_warp(row) + lane % 16;
  const uint32_t to = shared_address(tile) + own_row * kBoxRowBytes;
#pragma unroll
  for (int k = 0; k < kColumns / 16; ++k) {
    const uint32_t unit = (k % 4 * 2 + lane / 16) ^ lane % 8;
    store_matrices(to + k / 4 * Tile::kChunkBytes + unit * 16, packed + 4 * k);
  }
}

// A thread's numbers in the order of its registers, four at a time: the n-th four of all threads of
// a warpgroup stand side by side. `to`: this thread's first four.
template <int kSize>
__device__ __forceinline__ void store_in_order(float4* to, const float (&numbers)[kSize]) {
#pragma unroll
  for (int i = 0; i < kSize / 4; ++i) {
    to[i * kWarpgroupSize] =
        make_float4(numbers[4 * i], numbers[4 * i + 1], numbers[4 * i + 2], numbers[4 * i + 3]);
  }
}
template <int kSize>
__device__ __forceinline__ void add_in_order(float4* to, const float (&numbers)[kSize]) {
#pragma unroll
  for (int i = 0; i < kSize / 4; ++i) {
    atomicAdd(to + i * kWarpgroupSize, make_float4(numbers[4 * i], numbers[4 * i + 1],
                                                   numbers[4 * i + 2], numbers[4 * i + 3]));
  }
}

// Lane t of four has words w[0..3], w[j] being the t-th four bytes of vector j; afterwards it has
// vector t. All lanes of a warp.
__device__ __forceinline__ void gather_vectors(uint32_t (&w)[4]) {
  const bool odd = (threadIdx.x & 1) != 0;
  const bool upper = (threadIdx.x & 2) != 0;
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const uint32_t other = cudaops::shfl_xor(odd ? w[i] : w[i + 1], 1);
    if (odd) {
      w[i] = other;
    } else {
      w[i + 1] = other;
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint32_t other = cudaops::shfl_xor(upper ? w[i] : w[i + 2], 2);
    if (upper) {
      w[i] = other;
    } else {
      w[i + 2] = other;
    }
  }
}

// 64 x kColumns of a fragment to memory, in vectors of 16 bytes: this lane's rows, `row` and the
// one 8 behind it, up to `end_row`, and of each `width` elements, a multiple of 8. Lane l stores
// the vector at column 32 * i + l % 4 * 8, for each i: at(0 or 8, 32 * i) is its address in that
// row. word(i): the thread's numbers 2i and 2i + 1, packed. What comes by reference is read where
// it is used, and takes no registers. All lanes of a warp.
template <int kColumns, typename Word, typename Address>
__device__ __forceinline__ void write_fragment_rows(int row, const int& end_row, const int& width,
                                                    const Word& word, const Address& at) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < kColumns / 32; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      uint32_t words[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) words[j] = word(8 * i + 2 * j + half);
      gather_vectors(words);
      if (row + 8 * half < end_row && 32 * i + lane % 4 * 8 < width) {
        *reinterpret_cast<uint4*>(at(8 * half, 32 * i)) =
            make_uint4(words[0], words[1], words[2], words[3]);
      }
    }
  }
}

}  // namespace cudaops_kernels

#endif

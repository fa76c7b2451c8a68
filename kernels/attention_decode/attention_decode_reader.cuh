// SPDX-License-Identifier: Apache-2.0
// How a cache's numbers come from shared memory into products of attention_decode_block.cuh, those
// of float8 as float16.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "../common/device_types.cuh"
#include "../common/mma.cuh"
#include "attention_decode_plan.cuh"

namespace cudaops_kernels {
namespace decode {

#if !CUDAOPS_HIP
#if CUDAOPS_HAS_MMA

struct Four {
  uint32_t word[4];
};

// Two float8 as two float16.
__device__ __forceinline__ uint32_t halves_of(uint32_t two) {
#if __CUDA_ARCH__ >= 890
  uint32_t word;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(word) : "h"(static_cast<uint16_t>(two)));
  return word;
#else
  // As the bits of a float16 whose exponent has another bias: times 2^8. NaN is the only number
  // with all bits set.
  uint32_t result = 0;
  for (int i = 0; i < 2; ++i) {
    const uint32_t bits = two >> (8 * i) & 0xffu, magnitude = bits & 0x7fu;
    __half value = __ushort_as_half(static_cast<unsigned short>(magnitude << 7));
    value = __hmul(value, __ushort_as_half(0x5c00));
    uint32_t half = magnitude == 0x7fu ? 0x7e00u : uint32_t{__half_as_ushort(value)};
    half |= (bits & 0x80u) << 8;
    result |= half << (16 * i);
  }
  return result;
#endif
}

// Math: what the products are of.
template <typename T, typename Cache>
struct Reader {
  using Math = T;
  // Keys: words 2i and 2i + 1 are B of keys 8i …, for the 16 elements of `step`.
  template <typename M>
  __device__ static Four keys(uint32_t tile, int step, int lane) {
    const int i = lane / 8;
    Four f;
    load_matrices(f.word, tile + M::at(i / 2 * 8 + lane % 8, 2 * step + i % 2));
    return f;
  }
  // Values: words 2i and 2i + 1 are B of elements 16 * step + 8i ….
  template <typename M>
  __device__ static Four values(uint32_t tile, int step, int lane) {
    const int i = lane / 8;
    Four f;
    load_transposed(f.word, tile + M::at(i % 2 * 8 + lane % 8, 2 * step + i / 2));
    return f;
  }
  // The elements of sums 0 … 3 of a lane's two C of a step: C[0][0], C[0][1], C[1][0], C[1][1].
  __device__ static int element(int sum, int t) { return sum / 2 * 8 + 2 * t + sum % 2; }
};

// A word of a matrix's row has two elements more than products expect: elements change places, in
// queries as in keys, and in the sums.
template <typename T>
struct Reader<T, Float8> {
  using Math = __half;
  template <typename M>
  __device__ static Four keys(uint32_t tile, int step, int lane) {
    const int i = lane / 8;
    // Two matrices, each of 8 keys' 16 elements; the other two are the same again.
    Four f;
    load_matrices(f.word, tile + M::at(i % 2 * 8 + lane % 8, step));
    return {{halves_of(f.word[0]), halves_of(f.word[0] >> 16), halves_of(f.word[1]),
             halves_of(f.word[1] >> 16)}};
  }
  template <typename M>
  __device__ static Four values(uint32_t tile, int step, int lane) {
    const int i = lane / 8;
    Four f;
    load_transposed(f.word, tile + M::at(i % 2 * 8 + lane % 8, step));
    // Of keys 2t and 2t + 1, elements 2g and 2g + 1 each.
    const uint32_t a0 = halves_of(f.word[0]), a1 = halves_of(f.word[0] >> 16);
    const uint32_t b0 = halves_of(f.word[1]), b1 = halves_of(f.word[1] >> 16);
    return {{__byte_perm(a0, a1, 0x5410), __byte_perm(b0, b1, 0x5410), __byte_perm(a0, a1, 0x7632),
             __byte_perm(b0, b1, 0x7632)}};
  }
  __device__ static int element(int sum, int t) { return 4 * t + sum % 2 * 2 + sum / 2; }
};

#endif
#endif

}  // namespace decode
}  // namespace cudaops_kernels

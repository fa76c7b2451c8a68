// SPDX-License-Identifier: Apache-2.0
// Dropout where a warp has 16 rows and up to 64 columns of weights as matrix products leave them in
// registers: rows lane / 4 and 8 further, columns 2 * (lane % 4) and the next of every 8. The
// fragments of mma.m16n8k16 and of wgmma.m64nNk16 are these.
#pragma once

#include <cudaops/gpu_compat.h>

#include "attention_dropout.h"

#if !CUDAOPS_HIP

namespace cudaops_kernels {
namespace attention_detail {

// Which weights of a warp's 16 rows are dropped, a bit each: n * 4 + e. Here rows are queries, and
// columns `parts` times 16 keys.
__device__ __forceinline__ uint32_t dropped_of_queries(const AttentionDropout& dropout,
                                                       int64_t batch, int64_t head,
                                                       int64_t first_query, int64_t first_key,
                                                       int parts = 4) {
  const int lane = threadIdx.x % 32;
  uint32_t dropped = 0;
#pragma unroll 1
  for (int part = 0; part < parts; ++part) {
    const Philox words =
        dropout.words(batch, head, first_query + lane / 4, first_key + part * 16 + lane % 4 * 2);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int key_half = i / 4, query_half = i / 2 % 2, parity = i % 2;
      dropped |=
          dropout.is_dropped(words, query_half, key_half, parity) ? 1u << (part * 8 + i) : 0u;
    }
  }
  return dropped;
}

// Here rows are keys. Lanes with keys j and j + 1 need the same calls: each makes those of its own
// half of the queries, and gives the other one its halves of their words.
__device__ __forceinline__ uint32_t dropped_of_keys(const AttentionDropout& dropout, int64_t batch,
                                                    int64_t head, int64_t first_query,
                                                    int64_t first_key) {
  const int lane = threadIdx.x % 32, parity = lane / 4 % 2;
  const unsigned int own_halves = parity == 0 ? 0x5410 : 0x7632;
  const unsigned int other_halves = parity == 0 ? 0x7632 : 0x5410;
  uint32_t of_own = 0, of_other = 0;  // queries; as if both were even
#pragma unroll 1
  for (int part = 0; part < 4; ++part) {
    const Philox words = dropout.words(batch, head, first_query + part * 16 + lane % 4 * 2 + parity,
                                       first_key + lane / 4);
#pragma unroll
    for (int query_half = 0; query_half < 2; ++query_half) {
      const uint32_t a = words.words[2 * query_half], b = words.words[2 * query_half + 1];
      const uint32_t own = __byte_perm(a, b, own_halves);
      const uint32_t other = cudaops::shfl_xor(__byte_perm(a, b, other_halves), 4, 32);
#pragma unroll
      for (int key_half = 0; key_half < 2; ++key_half) {
        const uint32_t bit = 1u << (part * 8 + query_half * 4 + key_half * 2);
        of_own |= (own >> (16 * key_half) & 0xffffu) < dropout.threshold ? bit : 0u;
        of_other |= (other >> (16 * key_half) & 0xffffu) < dropout.threshold ? bit : 0u;
      }
    }
  }
  return parity == 0 ? of_own | of_other << 1 : of_own << 1 | of_other;
}

}  // namespace attention_detail
}  // namespace cudaops_kernels

#endif

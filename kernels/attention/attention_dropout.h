// SPDX-License-Identifier: Apache-2.0
// Which weights of attention are dropped: the same ones by every kernel, in both passes, whatever
// the shapes of its tiles.
//
// Each weight has 16 random bits of its own and is dropped if they are less than p * 65536. A call
// of Philox4x32-10, whose key is the seed, gives the bits of eight weights of head h of sequence b:
//
//   counter  rows, columns, h, b
//            rows = i / 16 * 8 + i % 8,  columns = j / 16 * 4 + j % 8 / 2
//   bits     of word i / 8 % 2 * 2 + j / 8 % 2 the lower half if j is even, else the upper one
//
// with i the query's and j the key's index in its sequence. So the results of mma.m16n8k16 that a
// lane has are of whole calls if rows are queries, and of two lanes' together if rows are keys.
#pragma once

#include "../common/philox.h"
#include "attention.h"

namespace cudaops_kernels {

struct AttentionDropout {
  uint64_t seed;
  uint32_t threshold;  // of 65536; 0: nothing is dropped

  CUDAOPS_HOST_DEVICE explicit AttentionDropout(const Attention& call)
      : AttentionDropout(threshold_of(call), call.seed) {}
  CUDAOPS_HOST_DEVICE AttentionDropout(uint32_t of_call, const int64_t* seed_of_call)
      : seed(0), threshold(of_call) {
    if (threshold > 0) seed = static_cast<uint64_t>(*seed_of_call);
  }
  CUDAOPS_HOST_DEVICE static uint32_t threshold_of(const Attention& call) {
    return static_cast<uint32_t>(static_cast<float>(call.dropout_p) * 65536.0f + 0.5f);
  }

  // Of weights that are not dropped; the inverse of how probable that is.
  template <typename Number>
  CUDAOPS_HOST_DEVICE static Number factor_of(uint32_t threshold) {
    return threshold >= 65536 ? Number{0} : Number{65536} / static_cast<Number>(65536 - threshold);
  }
  template <typename Number>
  CUDAOPS_HOST_DEVICE Number factor() const {
    return factor_of<Number>(threshold);
  }

  // The bits of the eight weights that one of these is among.
  CUDAOPS_HOST_DEVICE Philox words(int64_t batch, int64_t head, int64_t query, int64_t key) const {
    const uint32_t rows = static_cast<uint32_t>(query / 16 * 8 + query % 8);
    const uint32_t columns = static_cast<uint32_t>(key / 16 * 4 + key % 8 / 2);
    return philox(seed, static_cast<uint64_t>(columns) << 32 | rows,
                  static_cast<uint64_t>(batch) << 32 | static_cast<uint32_t>(head));
  }
  // One of them.
  CUDAOPS_HOST_DEVICE bool is_dropped(const Philox& words, int query_half, int key_half,
                                      int key_parity) const {
    return (words.words[query_half * 2 + key_half] >> (16 * key_parity) & 0xffffu) < threshold;
  }
};

}  // namespace cudaops_kernels

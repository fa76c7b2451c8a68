// SPDX-License-Identifier: Apache-2.0
// rope_append_kv_ for a token, on either device: where it goes, and its elements two at a time.
#pragma once

#include "../common/quantized.h"
#include "rope_append_kv.h"

namespace cudaops_kernels {
namespace append {

struct CachePlace {
  int64_t position;  // negative: padding
  int64_t block;     // -1: nothing is appended
  int64_t in_page;
};

CUDAOPS_HOST_DEVICE inline CachePlace place_of(const RopeAppendKv& call, int64_t token) {
  CachePlace place{};
  place.position = call.position_type == PositionType::kInt32
                       ? int64_t{static_cast<const int32_t*>(call.positions)[token]}
                       : static_cast<const int64_t*>(call.positions)[token];
  place.block = -1;
  const int64_t page = place.position / call.page_size;
  if (place.position < 0 || page >= call.blocks_per_sequence) return place;
  place.in_page = place.position % call.page_size;
  const int64_t block = call.block_table[token / call.seq_length * call.blocks_per_sequence + page];
  if (block >= 0 && block < call.num_blocks) place.block = block;
  return place;
}

// The two elements of a head that item `item` of its (head_dim + 1) / 2 has; those of a pair, or
// two that are copied. `second` may be head_dim: there is none.
struct Elements {
  int64_t first, second;
  bool is_pair;
};
CUDAOPS_HOST_DEVICE inline Elements elements_of(int64_t item, int64_t rotary_dim,
                                                bool interleaved) {
  const int64_t half = rotary_dim / 2;
  if (item >= half) return {2 * item, 2 * item + 1, false};
  if (interleaved) return {2 * item, 2 * item + 1, true};
  return {item, item + half, true};
}

CUDAOPS_HOST_DEVICE inline float inverse_scale(const WrittenCache& cache, int64_t head) {
  return cache.scale == nullptr ? 1.0f : 1.0f / cache.scale[head * cache.scale_stride];
}

CUDAOPS_HOST_DEVICE inline int64_t offset_of(const WrittenCache& cache, const CachePlace& place,
                                             int64_t head) {
  return place.block * cache.block_stride + place.in_page * cache.token_stride +
         head * cache.head_stride;
}

}  // namespace append
}  // namespace cudaops_kernels

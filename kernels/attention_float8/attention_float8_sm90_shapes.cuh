// SPDX-License-Identifier: Apache-2.0
// attention_float8 for sm_90a: shapes of tiles, and how its tensors are told to the kernel.
#pragma once

#include <cstdint>

#include "../attention/attention_sm90_tiles.cuh"
#include "attention_float8.h"

namespace cudaops_kernels {

template <int kHeadDim, int kHeadDimV, int kWarpgroups, int kKeys, int kStages, int kQBuffers>
struct AttentionSm90Float8Shape
    : AttentionSm90ShapeOf<kHeadDim, kHeadDimV, kWarpgroups, kKeys, kStages, kQBuffers, 1, true> {};

// Measured on an H100, 16384 tokens. Of 64 the products take as long as the softmax: float8 is not
// faster than 16 bits there.
using AttentionSm90Float8Shape64 = AttentionSm90Float8Shape<64, 64, 3, 128, 3, 6>;
using AttentionSm90Float8Shape128 = AttentionSm90Float8Shape<128, 128, 3, 128, 3, 6>;
using AttentionSm90Float8Shape192By128 = AttentionSm90Float8Shape<192, 128, 3, 128, 2, 6>;
using AttentionSm90Float8Shape256 = AttentionSm90Float8Shape<256, 256, 2, 128, 2, 2>;

// The values as the kernel reads them: [batch, kv_heads, head_dim_v, keys], of sequences of
// different lengths without the batch. Keys of a sequence begin at a multiple of what a block of
// them has, and zeros stand behind them, so that no block has another sequence's.
struct TransposedValues {
  int64_t batch, heads, width, columns;

  TransposedValues(const Attention& call, int64_t block_keys) {
    const bool varlen = call.cu_seqlens_q != nullptr;
    batch = varlen ? 1 : call.batch;
    heads = call.kv_heads;
    width = call.head_dim_v;
    columns = varlen ? (call.total_k / block_keys + call.batch) * block_keys
                     : (call.seq_k + 31) / 32 * 32;
  }
  int64_t bytes() const { return batch * heads * width * columns; }
  // In pairs of elements.
  MappedTensor mapped(const void* data) const {
    const int64_t row = columns / 2;
    return {data, row, width, heads, batch, row, width * row, heads * width * row};
  }
};

// To the copy engine elements are pairs of them; columns of v, which it doesn't read, stay.
inline Attention in_pairs(const Attention& call) {
  Attention pairs = call;
  pairs.head_dim /= 2;
  for (AttentionTensor* tensor : {&pairs.q, &pairs.k, &pairs.v}) {
    tensor->batch_stride /= 2;
    tensor->seq_stride /= 2;
    tensor->head_stride /= 2;
  }
  return pairs;
}

}  // namespace cudaops_kernels

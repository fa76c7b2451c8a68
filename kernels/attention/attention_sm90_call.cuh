// SPDX-License-Identifier: Apache-2.0
// What a call is to the kernels for sm_90a, forward and backward: its tensors as the copy engine
// sees them, its sequences, its mask, and the sections of its heads.
#pragma once

#include <cudaops/check.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "../common/device_types.cuh"
#include "../common/divider.cuh"
#include "../common/hopper/tma.cuh"
#include "../common/hopper/wgmma.cuh"
#include "attention.h"
#include "attention_dropout.h"

namespace cudaops_kernels {

// What the forward and the backward kernel are both told of a call.
struct AttentionSm90Call {
  CUtensorMap q, k, v;
  int seq_q, seq_k, heads, head_dim_v;  // seq: of different lengths, the longest
  // Of different lengths: where the sequences begin.
  const int* cu_seqlens_q;
  const int* cu_seqlens_k;
  int window_left, window_right;  // -1: all
  // exp(score) is exp2(factor * s) with s = cap * tanh(s * inverse_cap) before it if cap isn't 0.
  float factor, cap, inverse_cap;
  // Heads in a section, whose tiles come in the order of their lengths; 0: there are no sections.
  int section, num_sections;
  detail::Divider by_heads{1}, by_section_tiles{1}, by_section{1}, by_last_section{1};

  bool is_masked() const { return window_left >= 0 || window_right >= 0; }
};

#if CUDAOPS_HAS_WGMMA

// Item `index` where there are sections: which one, which of its heads, which of that head's items
// in the order of their lengths.
struct InSection {
  int section, head, place;
};
__device__ __forceinline__ InSection find_in_section(const AttentionSm90Call& call, int index) {
  InSection in;
  in.section = call.by_section_tiles.divide(&index);
  const bool is_last = in.section == call.num_sections - 1;
  in.place = (is_last ? call.by_last_section : call.by_section).divide(&index);
  in.head = index;
  return in;
}

// The sequence of a tile whose batch is known: how long it is, and where it begins.
template <bool kVarlen, typename Tile>
__device__ __forceinline__ void find_sequence(const AttentionSm90Call& call, Tile& tile) {
  tile.seq_q = call.seq_q;
  tile.seq_k = call.seq_k;
  tile.q_row = tile.k_row = 0;
  if (kVarlen) {
    tile.q_row = call.cu_seqlens_q[tile.batch];
    tile.k_row = call.cu_seqlens_k[tile.batch];
    tile.seq_q = call.cu_seqlens_q[tile.batch + 1] - tile.q_row;
    tile.seq_k = call.cu_seqlens_k[tile.batch + 1] - tile.k_row;
  }
}

#endif

inline CUtensorMapDataType map_type(const Attention& call) {
  return call.dtype == DType::kFloat16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                       : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
}

// What the copy engine sees of a tensor with rows of queries, or of keys: sequences of different
// lengths are one.
template <typename Tensor>
MappedTensor mapped(const Attention& call, const Tensor& tensor, int64_t columns, int64_t seq,
                    int64_t heads) {
  const int64_t batch = call.cu_seqlens_q != nullptr ? 1 : call.batch;
  return {tensor.data,        columns, seq, heads, batch, tensor.seq_stride, tensor.head_stride,
          tensor.batch_stride};
}
template <typename Tensor>
MappedTensor mapped_queries(const Attention& call, const Tensor& tensor, int64_t columns) {
  const int64_t seq = call.cu_seqlens_q != nullptr ? call.total_q : call.seq_q;
  return mapped(call, tensor, columns, seq, call.heads);
}
template <typename Tensor>
MappedTensor mapped_keys(const Attention& call, const Tensor& tensor, int64_t columns) {
  const int64_t seq = call.cu_seqlens_k != nullptr ? call.total_k : call.seq_k;
  return mapped(call, tensor, columns, seq, call.kv_heads);
}

// Whether there is a bias that can be copied to shared memory, eight keys at a time.
inline bool has_bias_vectors(const Attention& call) {
  return call.bias != nullptr && call.bias_dtype == call.dtype && has_aligned_bias(call, 8);
}

struct MappedTensors {
  MappedTensor q, k, v, o;

  explicit MappedTensors(const Attention& call)
      : q(mapped_queries(call, call.q, call.head_dim)),
        k(mapped_keys(call, call.k, call.head_dim)),
        v(mapped_keys(call, call.v, call.head_dim_v)),
        o(mapped_queries(call, call.output, call.head_dim_v)) {}
};

// Of a tensor that can_be_mapped(), which ..._serves() has asked.
inline void encode_map(const Attention& call, const MappedTensor& tensor, int box_rows,
                       CUtensorMap* map) {
  if (!encode_tensor_map(map, map_type(call), tensor, box_rows)) {
    CUDAOPS_CHECK(cudaErrorInvalidValue);
  }
}

// Whether scores are more than products before the mask and the softmax.
inline bool changes_scores(const Attention& call) {
  return call.softcap != 0.0 || call.bias != nullptr || call.alibi_slopes != nullptr;
}

inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// All but by_heads and the sections. A box of k and v has `keys` rows, one of q `queries`.
inline void describe(const Attention& call, int queries, int keys, AttentionSm90Call* to) {
  constexpr double kLog2e = 1.4426950408889634;
  const MappedTensors tensors(call);
  encode_map(call, tensors.q, queries, &to->q);
  encode_map(call, tensors.k, keys, &to->k);
  encode_map(call, tensors.v, keys, &to->v);
  to->seq_q = static_cast<int>(call.seq_q);
  to->seq_k = static_cast<int>(call.seq_k);
  to->heads = static_cast<int>(call.heads);
  to->head_dim_v = static_cast<int>(call.head_dim_v);
  to->cu_seqlens_q = call.cu_seqlens_q;
  to->cu_seqlens_k = call.cu_seqlens_k;
  // Windows as long as both sequences leave everything visible.
  const int64_t longest = call.seq_q + call.seq_k;
  const auto window = [&](int64_t size) {
    return size < 0 || size >= longest ? -1 : static_cast<int>(size);
  };
  to->window_left = window(call.window_left);
  to->window_right = window(call.window_right);
  const bool has_cap = call.softcap != 0.0;
  to->cap = static_cast<float>(call.softcap);
  to->inverse_cap = has_cap ? static_cast<float>(call.scale / call.softcap) : 0.0f;
  to->factor = static_cast<float>(has_cap ? kLog2e : call.scale * kLog2e);
}

// Slopes, bias and dropout, which both kernels' parameters have.
template <typename Parameters>
void describe_options(const Attention& call, Parameters* to) {
  to->slopes = call.alibi_slopes;
  to->slopes_batch_stride = call.alibi_batch_stride;
  to->bias = call.bias;
  to->bias_batch_stride = call.bias_batch_stride;
  to->bias_head_stride = call.bias_head_stride;
  to->bias_query_stride = call.bias_query_stride;
  to->threshold = AttentionDropout::threshold_of(call);
  to->seed = call.seed;
}

// At most `largest` of all heads, which have `tiles` each, in a section.
inline void divide_into_sections(int64_t heads, int64_t largest, int64_t tiles,
                                 AttentionSm90Call* to) {
  const auto by = [](int64_t n) { return detail::Divider(static_cast<uint32_t>(n)); };
  const int64_t section = divide_up(heads, divide_up(heads, std::min(largest, heads)));
  const int64_t num_sections = divide_up(heads, section);
  to->section = static_cast<int>(section);
  to->num_sections = static_cast<int>(num_sections);
  to->by_section_tiles = by(section * tiles);
  to->by_section = by(section);
  to->by_last_section = by(heads - (num_sections - 1) * section);
}

// Heads whose K and V together fill half of the L2 cache, at least one group's. `key_bytes`: of a
// key and its value.
inline int64_t attention_sm90_section(const Attention& call, int64_t key_bytes) {
  constexpr int64_t kSectionBytes = int64_t{32} << 20;
  const int64_t group = call.heads / call.kv_heads;
  const int64_t bytes = call.seq_k * key_bytes;
  return std::max<int64_t>(1, kSectionBytes / std::max<int64_t>(1, bytes)) * group;
}

}  // namespace cudaops_kernels

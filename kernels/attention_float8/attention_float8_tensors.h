// SPDX-License-Identifier: Apache-2.0
// q, k and v of attention_float8 one by one: what is done with all of their rows.
#pragma once

#include <cstdint>

#include "attention_float8.h"

namespace cudaops_kernels {

// One of q, k and v. Its rows are [batch, seq, heads], or [tokens, heads] of sequences of different
// lengths.
struct Float8Tensor {
  AttentionTensor tensor;
  AttentionDescale descale;
  const int32_t* cu_seqlens;
  int64_t batch, seq, total;    // seq: the longest; total: tokens of all sequences together
  int64_t heads, group, width;  // group: heads that have one factor

  CUDAOPS_HOST_DEVICE int64_t length(int64_t index) const {
    return cu_seqlens == nullptr ? seq : cu_seqlens[index + 1] - cu_seqlens[index];
  }
  // Rows before a sequence's first one.
  CUDAOPS_HOST_DEVICE int64_t first_token(int64_t index) const {
    return cu_seqlens == nullptr ? index * seq : cu_seqlens[index];
  }
  CUDAOPS_HOST_DEVICE const uint8_t* row(int64_t index, int64_t token, int64_t head) const {
    const int64_t first =
        cu_seqlens == nullptr ? index * tensor.batch_stride : cu_seqlens[index] * tensor.seq_stride;
    return static_cast<const uint8_t*>(tensor.data) + first + token * tensor.seq_stride +
           head * tensor.head_stride;
  }
  CUDAOPS_HOST_DEVICE float factor(int64_t index, int64_t head) const {
    return descale.at(index, head / group);
  }
  int64_t num_tokens() const { return cu_seqlens == nullptr ? batch * seq : total; }
  int64_t num_elements() const { return num_tokens() * heads * width; }
};

struct Float8Tensors {
  Float8Tensor q, k, v;

  explicit Float8Tensors(const AttentionFloat8& call) {
    const Attention& a = call.attention;
    const auto of_keys = [&](const AttentionTensor& tensor, const AttentionDescale& descale,
                             int64_t width) {
      return Float8Tensor{tensor,     descale, a.cu_seqlens_k, a.batch, a.seq_k, a.total_k,
                          a.kv_heads, 1,       width};
    };
    q = {a.q,       call.q_descale, a.cu_seqlens_q,       a.batch,   a.seq_q,
         a.total_q, a.heads,        a.heads / a.kv_heads, a.head_dim};
    k = of_keys(a.k, call.k_descale, a.head_dim);
    v = of_keys(a.v, call.v_descale, a.head_dim_v);
  }
};

// The same attention of copies without gaps, of which q, k and v say where they begin.
inline Attention attention_of_copies(const AttentionFloat8& call, const void* q, const void* k,
                                     const void* v) {
  Attention copied = call.attention;
  const Float8Tensors from(call);
  const auto whole = [](const void* data, const Float8Tensor& of) {
    return AttentionTensor{data, of.seq * of.heads * of.width, of.heads * of.width, of.width};
  };
  copied.q = whole(q, from.q);
  copied.k = whole(k, from.k);
  copied.v = whole(v, from.v);
  return copied;
}

}  // namespace cudaops_kernels

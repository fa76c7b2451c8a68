// SPDX-License-Identifier: Apache-2.0
// Attention: for each query the mean of the values, weighted by the softmax of its scores.
//
//   score  = softcap(scale * dot(q, k)) - slope * |i + seq_k - seq_q - j| + bias, where visible
//   weight = exp(score - lse),  lse = log(sum over the visible keys of exp(score) [+ exp(sink)])
//   output = sum over the visible keys of weight * v
//
// With dropout a weight counts as 0 with probability p, else 1 / (1 - p) times; lse is that of all.
// p is rounded to a multiple of 2^-16, there and here; attention_dropout.h says which are dropped.
//
// with i the query's and j the key's index in its sequence, and softcap(x) = cap * tanh(x / cap).
// Key j is visible to query i where -window_left <= j - (i + seq_k - seq_q) <= window_right, the
// order of FlashAttention: the last query is aligned with the last key. Causal is a window_right
// of 0.
//
// Shapes   q [batch, seq_q, heads, head_dim], k [batch, seq_k, kv_heads, head_dim],
//          v [batch, seq_k, kv_heads, head_dim_v], output [batch, seq_q, heads, head_dim_v],
//          lse [batch, heads, seq_q]; heads is a multiple of kv_heads, query head h reads the key
//          head h / (heads / kv_heads). head_dim and head_dim_v from 1 to kMaxHeadDim. With
//          cu_seqlens sequences of different lengths stand one after the other: q and output are
//          [total_q, heads, ...], k and v [total_k, kv_heads, ...], lse [heads, total_q].
// Types    float32, float16, bfloat16 for q, k, v and output alike; on the CPU also double. lse,
//          sinks and sums are float32 (double for double), slopes float32. On tensor cores weights
//          are rounded to the elements' type before they are multiplied with v.
// Strides  those of batch, sequence and heads are free; elements of a head stand side by side.
// Aliasing none with what is written.
// Results  the same bits from run to run, but for grad_q on sm_90a: AttentionBackward; a sequence's
//          are the same in any batch of sequences of one length. A query that
//          sees no key has output 0 and lse minus infinity (with a sink: the sink). What is masked
//          out by a whole tile is not read; within a tile that is masked in part, masked scores
//          count for nothing, but a NaN or an infinity in a masked row of v reaches the output as
//          0 * NaN does.
// Method   Dao, FlashAttention-2, 2023; sinks as in Xiao et al., 2023, with one a head.
#pragma once

#include <cstdint>

#include "../common/dtype.h"
#include "../common/parallel_for.h"
#include "../common/rows.h"

namespace cudaops_kernels {

// Strides in elements. In sequences of different lengths that of the batch is not read.
struct AttentionTensor {
  const void* data;
  int64_t batch_stride;
  int64_t seq_stride;
  int64_t head_stride;
};

struct AttentionOutput {
  void* data;
  int64_t batch_stride;
  int64_t seq_stride;
  int64_t head_stride;
};

// What elements of 8 bits are multiplied with: a number for each sequence and key head.
struct AttentionDescale {
  const float* data;  // null: 1
  int64_t batch_stride;
  int64_t head_stride;

  CUDAOPS_HOST_DEVICE float at(int64_t batch, int64_t kv_head) const {
    return data == nullptr ? 1.0f : data[batch * batch_stride + kv_head * head_stride];
  }
};

struct Attention {
  static constexpr int64_t kMaxHeadDim = 256;

  DType dtype;
  bool is_double;  // elements are double, dtype isn't read; CPU only
  int64_t batch;
  // Of different lengths: at least those of the longest; rows behind may be left out.
  int64_t seq_q;
  int64_t seq_k;
  int64_t heads;
  int64_t kv_heads;
  int64_t head_dim;
  int64_t head_dim_v;
  AttentionTensor q, k, v;
  AttentionOutput output;
  void* lse;  // float32, double for double; may be null

  double scale;              // of dot(q, k); float32 is enough where elements aren't double
  int64_t window_left = -1;  // keys before the aligned one that are visible; -1: all
  int64_t window_right = -1;
  double softcap;  // 0: none

  // Added to the scores: of q's dtype or float32 (double for double); a stride of 0 where it is
  // broadcast. Null: none. Not for sequences of different lengths.
  const void* bias;
  DType bias_dtype;
  int64_t bias_batch_stride, bias_head_stride, bias_query_stride, bias_key_stride;

  const float* alibi_slopes;  // one a head, or null; batch stride 0 or heads
  int64_t alibi_batch_stride;
  const void* sinks;  // one a head, float32 (double for double), or null

  double dropout_p;     // from 0 (none) to 1
  const int64_t* seed;  // of dropout: one number, where the tensors are; not read without it

  // Sequences of different lengths: batch + 1 offsets each, in tokens, or null for both.
  const int32_t* cu_seqlens_q;
  const int32_t* cu_seqlens_k;
  int64_t total_q;  // lse's distance between heads
  int64_t total_k;  // rows of k and v
};

// Whether the biases of so many keys, a power of two, can be loaded at a time.
inline bool has_aligned_bias(const Attention& call, int64_t count) {
  const int64_t strides = call.bias_batch_stride | call.bias_head_stride | call.bias_query_stride;
  return call.bias_key_stride == 1 && strides % count == 0 &&
         reinterpret_cast<uintptr_t>(call.bias) %
                 static_cast<uintptr_t>(count * size_of(call.bias_dtype)) ==
             0;
}

// One sequence of the batch: where it starts in each tensor, in elements, and how long it is.
struct AttentionSequence {
  int64_t seq_q, seq_k;
  int64_t q, k, v, output;
  int64_t lse, lse_head_stride;
  int64_t bias;

  CUDAOPS_HOST_DEVICE AttentionSequence(const Attention& call, int64_t index) {
    bias = index * call.bias_batch_stride;
    if (call.cu_seqlens_q == nullptr) {
      seq_q = call.seq_q;
      seq_k = call.seq_k;
      q = index * call.q.batch_stride;
      k = index * call.k.batch_stride;
      v = index * call.v.batch_stride;
      output = index * call.output.batch_stride;
      lse = index * call.heads * call.seq_q;
      lse_head_stride = call.seq_q;
      return;
    }
    const int64_t first_q = call.cu_seqlens_q[index], first_k = call.cu_seqlens_k[index];
    seq_q = call.cu_seqlens_q[index + 1] - first_q;
    seq_k = call.cu_seqlens_k[index + 1] - first_k;
    q = first_q * call.q.seq_stride;
    k = first_k * call.k.seq_stride;
    v = first_k * call.v.seq_stride;
    output = first_q * call.output.seq_stride;
    lse = first_q;
    lse_head_stride = call.total_q;
  }

  // Where tiles of what is seen from `begin` on begin: with dropout at a multiple of 16, as blocks
  // of 16 x 16 weights share their random words.
  CUDAOPS_HOST_DEVICE static int64_t begin_of_tiles(const Attention& call, int64_t begin) {
    if (begin < 0) return 0;
    return call.dropout_p > 0 ? begin / 16 * 16 : begin;
  }

  // Queries first … last together see keys begin <= j < end, with dropout perhaps not all of them.
  CUDAOPS_HOST_DEVICE int64_t begin_key(const Attention& call, int64_t first) const {
    if (call.window_left < 0) return 0;
    return begin_of_tiles(call, first + seq_k - seq_q - call.window_left);
  }
  CUDAOPS_HOST_DEVICE int64_t end_key(const Attention& call, int64_t last) const {
    if (call.window_right < 0) return seq_k;
    const int64_t end = last + seq_k - seq_q + call.window_right + 1;
    return end < 0 ? 0 : end > seq_k ? seq_k : end;
  }
  // Keys first … last together are seen by queries begin <= i < end, likewise.
  CUDAOPS_HOST_DEVICE int64_t begin_query(const Attention& call, int64_t first) const {
    if (call.window_right < 0) return 0;
    return begin_of_tiles(call, first - (seq_k - seq_q) - call.window_right);
  }
  CUDAOPS_HOST_DEVICE int64_t end_query(const Attention& call, int64_t last) const {
    if (call.window_left < 0) return seq_q;
    const int64_t end = last - (seq_k - seq_q) + call.window_left + 1;
    return end < 0 ? 0 : end > seq_q ? seq_q : end;
  }
};

// The derivatives, given those by output and lse. With p = weight and d(score) before the softcap
//
//   delta  = sum over head_dim_v of grad_output * output - grad_lse
//   dscore = p * (z * dot(grad_output, v) - delta)
//   grad_v = sum over the queries of p * z * grad_output
//   grad_q = scale * sum of softcap'(score) * dscore * k;  grad_k = the same of q
//   grad_bias = dscore;  grad_sink = sum over the queries of exp(sink - lse) * (-delta)
//
// z is what dropout multiplies a weight with, 1 without it.
// A key head's gradients are sums over the query heads that read it.
struct AttentionBackward {
  Attention forward;  // output and lse as the forward pass has left them: both are read
  AttentionTensor grad_output;
  const void* grad_lse;  // as lse, or null
  AttentionOutput grad_q, grad_k, grad_v;
  // One for each score, [batch, heads, seq_q, seq_k], contiguous; zero where a key is not visible.
  // Of q's dtype or float32 (double for double). Null: none.
  void* grad_bias;
  DType grad_bias_dtype;
  void* grad_sinks;  // one a head, as sinks, or null
  void* delta;       // room for as many numbers as lse has
  // Whether the kernel for sm_90a adds up grad_q in a fixed order, which takes longer. All other
  // results are the same from run to run anyway.
  bool deterministic;
};

// Device pointers; 16-byte loads are used where all of a tensor's rows start at multiples of 16
// bytes. Enqueue on `stream` (a cudaStream_t) of the current device and return. Throw
// std::runtime_error when a launch fails. `workspace`: so many bytes of device memory as the
// function before says, aligned to 16, free again when the launch's work is done; null where that
// is 0.
int64_t attention_workspace_bytes(const Attention& call);
void launch_attention(const Attention& call, void* workspace, void* stream);
int64_t attention_backward_workspace_bytes(const AttentionBackward& call);
void launch_attention_backward(const AttentionBackward& call, void* workspace, void* stream);

// Whether the current device has compute capability 9.0 and the binary the kernels for sm_90a
// alone.
bool has_attention_for_hopper();

// Host pointers. Return when the results are written. Don't throw, but for std::bad_alloc.
void attention_cpu(const Attention& call, ParallelFor parallel_for = serial_for);
void attention_backward_cpu(const AttentionBackward& call, ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// attention on CUDA devices: forward, by the plain kernel, which serves every device, dtype and
// shape. A block has 64 queries of a head and takes 64 keys at a time; scores and outputs stay in
// registers, weights go through shared memory. 4 * seq_q * seq_k * head_dim operations a head at a
// fraction of the rate of float32 arithmetic; memory is no limit.
#include "../attention_decode/attention_few.h"
#include "attention_sm80.h"
#include "attention_sm90.h"
#include "attention_tiles.cuh"

namespace cudaops_kernels {
namespace {

using namespace attention_detail;

template <int kWidthV>
__global__ void __launch_bounds__(kThreads, kMinBlocks<kWidthV>)
    attention_kernel(const Attention call) {
  __shared__ Shared shared;
  const Place<kTile> place(call.seq_q, call.heads);
  const AttentionSequence sequence(call, place.batch);
  const int64_t kv_head = place.head / (call.heads / call.kv_heads);
  const AttentionDropout dropout(call);
  // With a max_seqlen_q that is too small a block has several tiles.
  for (int64_t first_query = place.tile * kTile; first_query < sequence.seq_q;
       first_query += place.num_tiles * kTile) {
    const int64_t end_query =
        first_query + kTile < sequence.seq_q ? first_query + kTile : sequence.seq_q;
    const Rows64 q(call.dtype, call.q, sequence.q, place.head, first_query, end_query,
                   call.head_dim);
    float max[4], sum[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      // A sink is a key with this score and a value of zeros.
      max[i] = call.sinks == nullptr ? -INFINITY
                                     : static_cast<const float*>(call.sinks)[place.head] * kLog2E;
      sum[i] = max[i] == -INFINITY ? 0 : 1;
    }
    RowSums<kWidthV> output;
    output.clear();
    const int64_t end_key = sequence.end_key(call, end_query - 1);
    for (int64_t first_key = sequence.begin_key(call, first_query); first_key < end_key;
         first_key += kTile) {
      const Rows64 k(call.dtype, call.k, sequence.k, kv_head, first_key, end_key, call.head_dim);
      const Rows64 v(call.dtype, call.v, sequence.v, kv_head, first_key, end_key, call.head_dim_v);
      Scores scores;
      find_products(q, k, shared, scores);
      const Pair pair{call, sequence, place.batch, place.head, first_query, first_key};
      float slope;
      scores.for_each([&](int i, int j, float& score) {
        score = pair.score(score, thread_row() + i, thread_column() + j, &slope);
      });
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float largest = max[i];
#pragma unroll
        for (int j = 0; j < 4; ++j) largest = fmaxf(largest, scores.at[i][j]);
        largest = max_over_lanes(largest, 16);
        const float shift = largest == -INFINITY ? 0 : largest;
        const float factor = detail::exp2_of(max[i] - shift);
        max[i] = largest;
        float part = 0;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          scores.at[i][j] = detail::exp2_of(scores.at[i][j] - shift);
          part += scores.at[i][j];
        }
        sum[i] = sum[i] * factor + sum_of_lanes(part, 16);
#pragma unroll
        for (int n = 0; n < RowSums<kWidthV>::kParts; ++n) {
#pragma unroll
          for (int j = 0; j < 4; ++j) output.at[i][n][j] *= factor;
        }
      }
      if (dropout.threshold > 0) {
        const uint32_t dropped = dropped_of_thread<false>(dropout, pair);
        scores.for_each([&](int i, int j, float& weight) {
          if (dropped >> (i * 4 + j) & 1) weight = 0;
        });
      }
      share_weights(scores, shared);
      add_weighted(v, shared, output);
    }
    float inverse[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      inverse[i] = sum[i] == 0 ? 0 : dropout.factor<float>() / sum[i];
      const int64_t query = first_query + thread_row() + i;
      if (call.lse != nullptr && thread_column() == 0 && query < end_query) {
        constexpr float kLn2 = 0.693147181f;
        static_cast<float*>(
            call.lse)[sequence.lse + place.head * sequence.lse_head_stride + query] =
            max[i] * kLn2 + logf(sum[i]);
      }
    }
    store_rows(output, call.dtype, call.output, sequence.output, place.head, first_query, end_query,
               call.head_dim_v, inverse);
  }
}

bool is_empty(const Attention& call) {
  return call.batch == 0 || call.heads == 0 || (call.cu_seqlens_q == nullptr && call.seq_q == 0);
}

// Of few queries attention_decode's kernels divide the keys among multiprocessors. Where there are
// few of these, too, tiles of one warpgroup take less time: one key of 16384 sequences 2.1 ms for
// 3.2 (head_dim 128, H200).
bool divides_keys(const Attention& call) {
  constexpr int64_t kFewKeys = 128;
  return call.seq_k > kFewKeys && attention_few_serves(call);
}

}  // namespace

int64_t attention_workspace_bytes(const Attention& call) {
  if (is_empty(call) || !divides_keys(call)) return 0;
  return attention_few_workspace_bytes(call);
}

void launch_attention(const Attention& call, void* workspace, void* stream) {
  if (is_empty(call)) return;
  if (divides_keys(call)) return launch_attention_few(call, workspace, stream);
#if defined(CUDAOPS_ATTENTION_WITH_SM90)
  if (attention_sm90_serves_forward(call)) return launch_attention_sm90(call, stream);
#endif
  if (attention_sm80_serves(call)) return launch_attention_sm80(call, stream);
  const unsigned int num_blocks = Place<kTile>::num_blocks(call.batch, call.seq_q, call.heads);
  for_width(call.head_dim_v, [&](auto width) {
    attention_kernel<width.value>
        <<<num_blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(call);
    CUDAOPS_CHECK_LAUNCH();
  });
}

bool has_attention_for_hopper() {
#if defined(CUDAOPS_ATTENTION_WITH_SM90)
  // The plainest call: nothing of it is read.
  Attention call{};
  call.dtype = DType::kBFloat16;
  call.batch = call.seq_q = call.seq_k = call.heads = call.kv_heads = 1;
  call.head_dim = call.head_dim_v = 64;
  call.scale = 1;
  call.window_left = call.window_right = -1;
  return attention_sm90_serves(call);
#else
  return false;
#endif
}

}  // namespace cudaops_kernels

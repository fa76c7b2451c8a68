// SPDX-License-Identifier: Apache-2.0
// attention on CUDA devices: backward, by plain kernels. Weights are computed again from lse,
// twice: by blocks of 64 queries, which give grad_q, and by blocks of 64 keys, which give grad_k
// and grad_v of all query heads that read them. So each sum has one owner and one order, and
// results are the same from run to run; the price is 14 products of seq_q * seq_k * head_dim
// for 10.
#include "attention_backward_sm90.h"
#include "attention_sm80.h"
#include "attention_tiles.cuh"

namespace cudaops_kernels {
namespace {

using namespace attention_detail;

// All queries of a head one after the other, whatever their sequences: their number, and where the
// head's numbers begin in what is like lse.
struct HeadRows {
  int64_t num_sequences, seq;

  __device__ __forceinline__ explicit HeadRows(const Attention& call) {
    const bool is_varlen = call.cu_seqlens_q != nullptr;
    num_sequences = is_varlen ? 1 : call.batch;
    seq = is_varlen ? call.total_q : call.seq_q;
  }
};

// A warp a query.
__global__ void __launch_bounds__(kThreads) delta_kernel(const AttentionBackward call) {
  const Attention& forward = call.forward;
  const HeadRows rows(forward);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int64_t index = int64_t{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
  if (index >= rows.num_sequences * forward.heads * rows.seq) return;
  const int64_t query = index % rows.seq, head = index / rows.seq % forward.heads;
  const int64_t batch = index / rows.seq / forward.heads;
  float sum = 0;
  for_element_type(forward.dtype, [&](auto element) {
    const auto row = [&](const auto& tensor) {
      return static_cast<const decltype(element)*>(tensor.data) + batch * tensor.batch_stride +
             head * tensor.head_stride + query * tensor.seq_stride;
    };
    const auto* const output = row(forward.output);
    const auto* const grad = row(call.grad_output);
    for (int i = lane; i < forward.head_dim_v; i += 32)
      sum += to_float(output[i]) * to_float(grad[i]);
  });
  sum = sum_of_lanes(sum, 32);
  if (lane != 0) return;
  if (call.grad_lse != nullptr) sum -= static_cast<const float*>(call.grad_lse)[index];
  static_cast<float*>(call.delta)[index] = sum;
}

// A block a head.
__global__ void __launch_bounds__(kThreads) grad_sinks_kernel(const AttentionBackward call) {
  __shared__ float sums[kThreads];
  const Attention& forward = call.forward;
  const HeadRows rows(forward);
  const int64_t head = blockIdx.x;
  const float sink = static_cast<const float*>(forward.sinks)[head];
  float sum = 0;
  for (int64_t i = threadIdx.x; i < rows.num_sequences * rows.seq; i += kThreads) {
    const int64_t index = (i / rows.seq * forward.heads + head) * rows.seq + i % rows.seq;
    const float lse = static_cast<const float*>(forward.lse)[index];
    // A sink of minus infinity has no weight, also where there is no other.
    if (lse == -INFINITY) continue;
    sum -= detail::exp2_of((sink - lse) * kLog2E) * static_cast<const float*>(call.delta)[index];
  }
  sums[threadIdx.x] = sum;
  for (unsigned int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) static_cast<float*>(call.grad_sinks)[head] = sums[0];
}

// From products to weights, and to derivatives by scale * q·k. kRowsAreKeys: else queries.
// store(query, key, derivative): that by the score, of those that are visible. Weights that are
// dropped become 0; the others are not multiplied with dropout's factor.
template <bool kRowsAreKeys, typename Store>
__device__ __forceinline__ void find_derivatives(const Pair& pair, const AttentionDropout& dropout,
                                                 const QueryStatistics (&queries)[4],
                                                 Scores& weights, Scores& derivatives,
                                                 const Store& store) {
  uint32_t dropped = 0;
  if (dropout.threshold > 0) {
    dropped = dropped_of_thread<kRowsAreKeys>(dropout, pair);
    const float factor = dropout.factor<float>();
    derivatives.for_each([&](int i, int j, float& derivative) {
      derivative = dropped >> (i * 4 + j) & 1 ? 0 : derivative * factor;
    });
  }
  weights.for_each([&](int i, int j, float& weight) {
    const int row = thread_row() + i, column = thread_column() + j;
    const int query = kRowsAreKeys ? column : row, key = kRowsAreKeys ? row : column;
    const QueryStatistics& statistics = queries[kRowsAreKeys ? j : i];
    float slope = 1;
    const float score = pair.score(weight, query, key, &slope);
    float& derivative = derivatives.at[i][j];
    weight = detail::exp2_of(score - statistics.lse);
    // What a row of v holds that is not visible counts for nothing.
    if (score == -INFINITY) {
      derivative = 0;
      return;
    }
    derivative = weight * (derivative - statistics.delta);
    if (dropped >> (i * 4 + j) & 1) weight = 0;
    store(pair.first_query + query, pair.first_key + key, derivative);
    derivative *= slope;
  });
}

template <int kWidth>
__global__ void __launch_bounds__(kThreads, kMinBlocks<kWidth>)
    by_queries_kernel(const AttentionBackward call) {
  __shared__ Shared shared;
  const Attention& forward = call.forward;
  const Place<kTile> place(forward.seq_q, forward.heads);
  const AttentionSequence sequence(forward, place.batch);
  const int64_t kv_head = place.head / (forward.heads / forward.kv_heads);
  const int64_t first_grad = first_of(call.grad_output, place.batch, forward.cu_seqlens_q);
  const AttentionDropout dropout(forward);
  for (int64_t first_query = place.tile * kTile; first_query < sequence.seq_q;
       first_query += place.num_tiles * kTile) {
    const int64_t end_query =
        first_query + kTile < sequence.seq_q ? first_query + kTile : sequence.seq_q;
    const Rows64 q(forward.dtype, forward.q, sequence.q, place.head, first_query, end_query,
                   forward.head_dim);
    const Rows64 grad(forward.dtype, call.grad_output, first_grad, place.head, first_query,
                      end_query, forward.head_dim_v);
    QueryStatistics queries[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      queries[i].load(call, sequence.lse + place.head * sequence.lse_head_stride,
                      first_query + thread_row() + i, end_query);
    }
    RowSums<kWidth> grad_q;
    grad_q.clear();
    const int64_t end_key = sequence.end_key(forward, end_query - 1);
    for (int64_t first_key = sequence.begin_key(forward, first_query); first_key < end_key;
         first_key += kTile) {
      const Rows64 k(forward.dtype, forward.k, sequence.k, kv_head, first_key, end_key,
                     forward.head_dim);
      const Rows64 v(forward.dtype, forward.v, sequence.v, kv_head, first_key, end_key,
                     forward.head_dim_v);
      Scores weights, derivatives;
      find_products(q, k, shared, weights);
      find_products(grad, v, shared, derivatives);
      const Pair pair{forward, sequence, place.batch, place.head, first_query, first_key};
      find_derivatives<false>(
          pair, dropout, queries, weights, derivatives,
          [&](int64_t query, int64_t key, float derivative) {
            if (call.grad_bias == nullptr) return;
            const int64_t row = (place.batch * forward.heads + place.head) * forward.seq_q + query;
            store_number(call.grad_bias_dtype, call.grad_bias, row * forward.seq_k + key,
                         derivative);
          });
      share_weights(derivatives, shared);
      add_weighted(k, shared, grad_q);
    }
    const float scale = static_cast<float>(forward.scale);
    store_rows(grad_q, forward.dtype, call.grad_q,
               first_of(call.grad_q, place.batch, forward.cu_seqlens_q), place.head, first_query,
               end_query, forward.head_dim, {scale, scale, scale, scale});
  }
}

template <int kWidth>
__global__ void __launch_bounds__(kThreads, kMinBlocks<kWidth>)
    by_keys_kernel(const AttentionBackward call) {
  __shared__ Shared shared;
  const Attention& forward = call.forward;
  const Place<kTile> place(forward.seq_k, forward.kv_heads);
  const AttentionSequence sequence(forward, place.batch);
  const int64_t group = forward.heads / forward.kv_heads;
  const int64_t first_grad = first_of(call.grad_output, place.batch, forward.cu_seqlens_q);
  const AttentionDropout dropout(forward);
  // Of causal attention the first keys are those that most queries see.
  for (int64_t tile = place.num_tiles - 1 - place.tile; tile * kTile < sequence.seq_k;
       tile += place.num_tiles) {
    const int64_t first_key = tile * kTile;
    const int64_t end_key = first_key + kTile < sequence.seq_k ? first_key + kTile : sequence.seq_k;
    const Rows64 k(forward.dtype, forward.k, sequence.k, place.head, first_key, end_key,
                   forward.head_dim);
    const Rows64 v(forward.dtype, forward.v, sequence.v, place.head, first_key, end_key,
                   forward.head_dim_v);
    RowSums<kWidth> grad_k, grad_v;
    grad_k.clear();
    grad_v.clear();
    const int64_t begin_query = sequence.begin_query(forward, first_key);
    const int64_t end_query = sequence.end_query(forward, end_key - 1);
    for (int64_t head = place.head * group; head < (place.head + 1) * group; ++head) {
      for (int64_t first_query = begin_query; first_query < end_query; first_query += kTile) {
        const Rows64 q(forward.dtype, forward.q, sequence.q, head, first_query, end_query,
                       forward.head_dim);
        const Rows64 grad(forward.dtype, call.grad_output, first_grad, head, first_query, end_query,
                          forward.head_dim_v);
        QueryStatistics queries[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          queries[j].load(call, sequence.lse + head * sequence.lse_head_stride,
                          first_query + thread_column() + j, end_query);
        }
        Scores weights, derivatives;
        find_products(k, q, shared, weights);
        find_products(v, grad, shared, derivatives);
        const Pair pair{forward, sequence, place.batch, head, first_query, first_key};
        find_derivatives<true>(pair, dropout, queries, weights, derivatives,
                               [](int64_t, int64_t, float) {});
        share_weights(weights, shared);
        add_weighted(grad, shared, grad_v);
        __syncthreads();
        share_weights(derivatives, shared);
        add_weighted(q, shared, grad_k);
      }
    }
    const float scale = static_cast<float>(forward.scale);
    store_rows(grad_k, forward.dtype, call.grad_k,
               first_of(call.grad_k, place.batch, forward.cu_seqlens_k), place.head, first_key,
               end_key, forward.head_dim, {scale, scale, scale, scale});
    const float kept = dropout.factor<float>();
    store_rows(grad_v, forward.dtype, call.grad_v,
               first_of(call.grad_v, place.batch, forward.cu_seqlens_k), place.head, first_key,
               end_key, forward.head_dim_v, {kept, kept, kept, kept});
  }
}

}  // namespace

int64_t attention_backward_workspace_bytes(const AttentionBackward& call) {
#if defined(CUDAOPS_ATTENTION_BACKWARD_WITH_SM90)
  if (call.forward.batch > 0 && attention_backward_sm90_serves(call)) {
    return attention_backward_sm90_workspace_bytes(call);
  }
#endif
  (void)call;
  return 0;
}

void launch_attention_backward(const AttentionBackward& call, void* workspace,
                               void* stream_of_torch) {
  const cudaStream_t stream = static_cast<cudaStream_t>(stream_of_torch);
  const Attention& forward = call.forward;
  const bool is_varlen = forward.cu_seqlens_q != nullptr;
  const int64_t num_rows =
      forward.heads * (is_varlen ? forward.total_q : forward.batch * forward.seq_q);
  if (call.grad_bias != nullptr) {
    // Zeros of all types; the tiles that are visited follow.
    const int64_t count = num_rows * forward.seq_k;
    CUDAOPS_CHECK(cudaMemsetAsync(
        call.grad_bias, 0, static_cast<size_t>(count * size_of(call.grad_bias_dtype)), stream));
  }
  bool is_done = forward.batch == 0;
#if defined(CUDAOPS_ATTENTION_BACKWARD_WITH_SM90)
  if (!is_done && attention_backward_sm90_serves(call)) {
    launch_attention_backward_sm90(call, workspace, stream);
    is_done = true;
  } else
#endif
      if (num_rows > 0) {
    delta_kernel<<<num_blocks(num_rows, kThreads / 32), kThreads, 0, stream>>>(call);
    CUDAOPS_CHECK_LAUNCH();
  }
  if (call.grad_sinks != nullptr) {
    grad_sinks_kernel<<<static_cast<unsigned int>(forward.heads), kThreads, 0, stream>>>(call);
    CUDAOPS_CHECK_LAUNCH();
  }
  if (is_done) return;
  if (attention_backward_sm80_serves(call)) return launch_attention_backward_sm80(call, stream);
  const auto blocks_of = [&](int64_t seq, int64_t heads) {
    return Place<kTile>::num_blocks(forward.batch, seq, heads);
  };
  if (is_varlen || forward.seq_q > 0) {
    for_width(forward.head_dim, [&](auto width) {
      by_queries_kernel<width.value>
          <<<blocks_of(forward.seq_q, forward.heads), kThreads, 0, stream>>>(call);
      CUDAOPS_CHECK_LAUNCH();
    });
  }
  if (is_varlen || forward.seq_k > 0) {
    for_width(widest(forward), [&](auto width) {
      by_keys_kernel<width.value>
          <<<blocks_of(forward.seq_k, forward.kv_heads), kThreads, 0, stream>>>(call);
      CUDAOPS_CHECK_LAUNCH();
    });
  }
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// attention on the tensor cores of sm_80 and later: backward. Weights are computed again from lse,
// twice, by one kernel with two sides: rows are 64 queries, against all keys that they see, for
// grad_q; or 64 keys, against all queries, for grad_k and grad_v. With keys as rows the weights are
// in the registers as the products for grad_v and grad_k take them, so that nothing is exchanged
// and nothing is added up by atomics: results are the same from run to run.
#pragma once

#include <type_traits>

#include "attention_mma.cuh"
#include "attention_sm80.h"

namespace cudaops_kernels {

#if CUDAOPS_HIP

// HIP has no mma.sync; attention_backward_sm80_serves() says so, and nobody calls this.
template <typename T, int kWidth>
void launch_attention_backward_sm80_of(const AttentionBackward&, cudaStream_t) {}

#else

namespace attention_detail {

// kHasLines: grad_q, or grad_k. kHasValues: grad_v. Of wide heads there are not registers for both.
template <typename T, int kWidth, bool kRowsAreKeys, bool kHasExtras, bool kHasLines,
          bool kHasValues>
__global__ void __launch_bounds__(kMmaThreads)
    attention_backward_mma_kernel(const AttentionBackward call) {
#if CUDAOPS_HAS_MMA
  if constexpr (kHasOnlyExtras && !kHasExtras) return;
  static_assert(kRowsAreKeys || !kHasValues, "grad_v has a row for each key");
  constexpr int kElements = kTile * kWidth;
  extern __shared__ __align__(1024) uint4 dynamic_shared[];
  // Rows of q and grad_output, or of k and v; then the others.
  T* const rows = reinterpret_cast<T*>(dynamic_shared);
  T* const rows_v = rows + kElements;
  T* const others = rows_v + kElements;
  float* const statistics =
      reinterpret_cast<float*>(others + kBackwardStages<kWidth> * 2 * kElements);

  const Attention& forward = call.forward;
  const int width = static_cast<int>(forward.head_dim);
  const int width_v = static_cast<int>(forward.head_dim_v);
  const int64_t group = forward.heads / forward.kv_heads;
  const Place<kTile> place(kRowsAreKeys ? forward.seq_k : forward.seq_q,
                           kRowsAreKeys ? forward.kv_heads : forward.heads);
  const AttentionSequence sequence(forward, place.batch);
  const int64_t first_grad = first_of(call.grad_output, place.batch, forward.cu_seqlens_q);
  const int64_t num_rows = kRowsAreKeys ? sequence.seq_k : sequence.seq_q;
  // Of causal attention the first keys are those that most queries see.
  const int64_t own_tile = kRowsAreKeys ? place.num_tiles - 1 - place.tile : place.tile;
  const int first_row_of_warp = mma_warp() * 16;
  const float factor = static_cast<float>(forward.scale) * kLog2E;
  const bool has_terms = kHasExtras && has_score_terms(forward);
  const AttentionDropout dropout(forward);

  const auto begin_queries = [&](int64_t head, int64_t first, int64_t end, T* q, T* grad) {
    begin_tile<kTile, kWidth>(forward.q, sequence.q, head, first, end, width, q);
    begin_tile<kTile, kWidth>(call.grad_output, first_grad, head, first, end, width_v, grad);
  };
  const auto begin_keys = [&](int64_t kv_head, int64_t first, int64_t end, T* k, T* v) {
    begin_tile<kTile, kWidth>(forward.k, sequence.k, kv_head, first, end, width, k);
    begin_tile<kTile, kWidth>(forward.v, sequence.v, kv_head, first, end, width_v, v);
  };

  // With a max_seqlen that is too small a block has several tiles.
  for (int64_t first_row = own_tile * kTile; first_row < num_rows;
       first_row += place.num_tiles * kTile) {
    const int64_t end_row = first_row + kTile < num_rows ? first_row + kTile : num_rows;
    // The other side: from begin to end, of one head or of all that read these keys.
    const int64_t begin = kRowsAreKeys ? sequence.begin_query(forward, first_row)
                                       : sequence.begin_key(forward, first_row);
    const int64_t end = kRowsAreKeys ? sequence.end_query(forward, end_row - 1)
                                     : sequence.end_key(forward, end_row - 1);
    const int tiles_a_head = begin < end ? static_cast<int>((end - begin + kTile - 1) / kTile) : 0;
    const int num_others = tiles_a_head * (kRowsAreKeys ? static_cast<int>(group) : 1);
    const auto head_of = [&](int index) {
      return kRowsAreKeys ? place.head * group + index / tiles_a_head : place.head;
    };
    const auto begin_other = [&](int index) {
      if (index < num_others) {
        const int stage = index % kBackwardStages<kWidth>;
        T* const tile = others + stage * 2 * kElements;
        const int64_t first = begin + index % tiles_a_head * kTile;
        if constexpr (kRowsAreKeys) {
          begin_queries(head_of(index), first, end, tile, tile + kElements);
          const int i = static_cast<int>(threadIdx.x);
          if (i < kTile) {
            const int64_t line = sequence.lse + head_of(index) * sequence.lse_head_stride;
            QueryStatistics query;
            query.load(call, line, first + i, end);
            statistics[(stage * 2) * kTile + i] = query.lse;
            statistics[(stage * 2 + 1) * kTile + i] = query.delta;
          }
        } else {
          begin_keys(place.head / group, first, end, tile, tile + kElements);
        }
      }
      close_copies();
    };

    WarpSums<kWidth, 1> of_lines, of_values;
    if constexpr (kHasLines) of_lines.clear();
    if constexpr (kHasValues) of_values.clear();
    __syncthreads();  // the tiles before are read
    if constexpr (kRowsAreKeys) {
      begin_keys(place.head, first_row, end_row, rows, rows_v);
    } else {
      begin_queries(place.head, first_row, end_row, rows, rows_v);
    }
    begin_other(0);
    const int64_t own_line = sequence.lse + place.head * sequence.lse_head_stride;
    const int64_t own_row = first_row + first_row_of_warp + mma_lane() / 4;
    const int64_t end_of_queries = kRowsAreKeys ? 0 : end_row;
    QueryStatistics of_row[2];
    of_row[0].load(call, own_line, own_row, end_of_queries);
    of_row[1].load(call, own_line, own_row + 8, end_of_queries);

    for (int index = 0; index < num_others; ++index) {
      if constexpr (kBackwardStages<kWidth> == 2) {
        begin_other(index + 1);
        wait_for_groups<1>();
      } else {
        wait_for_groups<0>();
      }
      __syncthreads();
      const int stage = index % kBackwardStages<kWidth>;
      const T* const other = others + stage * 2 * kElements;
      const float* const lse_of_columns = statistics + stage * 2 * kTile;
      WarpScores<1> weights, derivatives;
      find_warp_products<kWidth>(rows, first_row_of_warp, other, width, weights);
      if constexpr (kHasLines) {
        find_warp_products<kWidth>(rows_v, first_row_of_warp, other + kElements, width_v,
                                   derivatives);
      }

      const int64_t first_other = begin + index % tiles_a_head * kTile;
      const int64_t first_query = kRowsAreKeys ? first_other : first_row;
      const int64_t first_key = kRowsAreKeys ? first_row : first_other;
      const int64_t head = head_of(index);
      uint32_t dropped = 0;
      if constexpr (kHasExtras) {
        if (dropout.threshold > 0) {
          const int64_t own = first_row + first_row_of_warp;
          dropped = kRowsAreKeys ? dropped_of_keys(dropout, place.batch, head, first_query, own)
                                 : dropped_of_queries(dropout, place.batch, head, own, first_key);
          if constexpr (kHasLines) {
            const float kept = dropout.factor<float>();
            derivatives.for_each([&](int, int, float& derivative) { derivative *= kept; });
            drop(dropped, derivatives.at[0]);
          }
        }
      }
      const bool masked = is_masked(forward, sequence, first_query, kTile, first_key);
      const TileMask mask(forward, sequence, first_query, first_key);
      const TileScores tile(forward, sequence, place.batch, head, first_query, first_key);
      const auto find = [&](auto terms, int half, int column, float& weight, float* derivative) {
        constexpr bool kHasTerms = decltype(terms)::value;
        const int row = first_row_of_warp + half * 8 + mma_lane() / 4;
        const int query = kRowsAreKeys ? column : row, key = kRowsAreKeys ? row : column;
        const QueryStatistics& own = of_row[half];
        const float lse = kRowsAreKeys ? lse_of_columns[column] : own.lse;
        const float delta = kRowsAreKeys ? lse_of_columns[kTile + column] : own.delta;
        float slope = 1;
        bool is_hidden = false;
        if constexpr (kHasTerms) {
          const float score = tile.score(weight, query, key, &slope);
          is_hidden = score == -INFINITY;
          weight = detail::exp2_of(score - lse);
        } else {
          is_hidden = masked && !mask.is_visible(query, key);
          weight = detail::exp2_of(weight * factor - lse);
        }
        if (is_hidden) weight = 0;
        if (derivative == nullptr) return;
        // What a row of v holds that is not visible counts for nothing.
        *derivative = is_hidden ? 0 : weight * (*derivative - delta);
        if constexpr (kHasTerms && !kRowsAreKeys) {
          if (call.grad_bias != nullptr && !is_hidden) {
            const int64_t line = (place.batch * forward.heads + head) * forward.seq_q;
            store_number(call.grad_bias_dtype, call.grad_bias,
                         (line + first_query + query) * forward.seq_k + first_key + key,
                         *derivative);
          }
        }
        if constexpr (kHasTerms) *derivative *= slope;
      };
      const auto find_all = [&](auto terms) {
#pragma unroll
        for (int n = 0; n < 8; ++n) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            find(terms, e / 2, n * 8 + mma_lane() % 4 * 2 + e % 2, weights.at[0][n][e],
                 kHasLines ? &derivatives.at[0][n][e] : nullptr);
          }
        }
      };
      if constexpr (kHasExtras) {
        if (has_terms) {
          find_all(std::true_type{});
        } else {
          find_all(std::false_type{});
        }
        if (kHasValues && dropped != 0) drop(dropped, weights.at[0]);
      } else {
        find_all(std::false_type{});
      }
      if constexpr (kHasValues) {
        add_warp_weighted<kWidth>(weights, other + kElements, width_v, of_values);
      }
      if constexpr (kHasLines) add_warp_weighted<kWidth>(derivatives, other, width, of_lines);
      __syncthreads();
      if constexpr (kBackwardStages<kWidth> == 1) begin_other(index + 1);
    }
    wait_for_groups<0>();
    __syncthreads();  // also the rows of other warps are there, where no tile was visited
    const float scale = static_cast<float>(forward.scale);
    if constexpr (kHasLines) {
      const AttentionOutput& grad = kRowsAreKeys ? call.grad_k : call.grad_q;
      const int32_t* const offsets = kRowsAreKeys ? forward.cu_seqlens_k : forward.cu_seqlens_q;
      store_warp_rows<kWidth, 1>(of_lines, {{scale, scale}}, rows, first_row_of_warp, grad,
                                 first_of(grad, place.batch, offsets), place.head, first_row,
                                 end_row, width);
    }
    if constexpr (kHasValues) {
      const float kept = kHasExtras ? dropout.factor<float>() : 1;
      store_warp_rows<kWidth, 1>(of_values, {{kept, kept}}, rows_v, first_row_of_warp, call.grad_v,
                                 first_of(call.grad_v, place.batch, forward.cu_seqlens_k),
                                 place.head, first_row, end_row, width_v);
    }
  }
#endif
}

template <typename T, int kWidth, bool kRowsAreKeys, bool kHasExtras, bool kHasLines,
          bool kHasValues>
void launch_backward_side(const AttentionBackward& call, cudaStream_t stream) {
  const Attention& forward = call.forward;
  const int64_t seq = kRowsAreKeys ? forward.seq_k : forward.seq_q;
  if (seq == 0 && forward.cu_seqlens_q == nullptr) return;
  const auto kernel =
      attention_backward_mma_kernel<T, kWidth, kRowsAreKeys, kHasExtras, kHasLines, kHasValues>;
  constexpr int kBytes = kBackwardBytes<kWidth>;
  CUDAOPS_CHECK(cudaops::allow_dynamic_shared_memory(kernel, kBytes));
  const unsigned int num_blocks =
      Place<kTile>::num_blocks(forward.batch, seq, kRowsAreKeys ? forward.kv_heads : forward.heads);
  kernel<<<num_blocks, kMmaThreads, kBytes, stream>>>(call);
  CUDAOPS_CHECK_LAUNCH();
}

template <typename T, int kWidth, bool kHasExtras>
void launch_backward_sides(const AttentionBackward& call, cudaStream_t stream) {
  launch_backward_side<T, kWidth, false, kHasExtras, true, false>(call, stream);
  if constexpr (kWidth <= 128) {
    launch_backward_side<T, kWidth, true, kHasExtras, true, true>(call, stream);
  } else {
    launch_backward_side<T, kWidth, true, kHasExtras, true, false>(call, stream);
    launch_backward_side<T, kWidth, true, kHasExtras, false, true>(call, stream);
  }
}

}  // namespace attention_detail

// Heads of at most kWidth elements.
template <typename T, int kWidth>
void launch_attention_backward_sm80_of(const AttentionBackward& call, cudaStream_t stream) {
  using namespace attention_detail;
  // A sink is part of lse, and a scale of any sign is one.
  Attention forward = call.forward;
  forward.sinks = nullptr;
  forward.scale = 1;
  if (has_extras(forward) || has_only_extras()) {
    return launch_backward_sides<T, kWidth, true>(call, stream);
  }
  launch_backward_sides<T, kWidth, false>(call, stream);
}

#endif

}  // namespace cudaops_kernels

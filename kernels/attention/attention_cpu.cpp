// SPDX-License-Identifier: Apache-2.0
// attention on the CPU: forward, a tile of queries at a time over all tiles of keys that they see.
#include "attention_cpu.h"

namespace cudaops_kernels {
namespace {

using namespace attention_cpu_detail;

// Tiles of queries begin … end - 1 of all heads of all sequences.
template <typename M>
struct Forward {
  const Attention& call;
  int64_t begin, end;

  template <int kBytes>
  CUDAOPS_INLINED void run() const {
    const int64_t width_v = padded(call.head_dim_v);
    std::vector<M> queries(kQueries * padded(call.head_dim)), keys(kKeys * padded(call.head_dim));
    std::vector<M> transposed(call.head_dim * kQueries), values(kKeys * width_v);
    std::vector<M> scores(kKeys * kQueries), output(kQueries * width_v);
    const AttentionDropout dropout(call);
    const M kept_factor = dropout.factor<M>();
    std::vector<M> kept(dropout.threshold > 0 ? kKeys * kQueries : 0);
    M max[kQueries], sum[kQueries], shift[kQueries], factor[kQueries];
    constexpr M kNothing = -std::numeric_limits<M>::infinity();
    const int64_t num_tiles = (call.seq_q + kQueries - 1) / kQueries;
    for (int64_t index = begin; index < end; ++index) {
      const int64_t batch = index / num_tiles / call.heads;
      const int64_t head = index / num_tiles % call.heads;
      const int64_t kv_head = head / (call.heads / call.kv_heads);
      const AttentionSequence sequence(call, batch);
      Tile tile{call, sequence, batch, head, index % num_tiles * kQueries, 0, 0, 0};
      tile.num_queries = std::min(kQueries, sequence.seq_q - tile.first_query);
      if (tile.num_queries <= 0) continue;
      const Numbers<M> rows =
          rows_at(call, call.q,
                  sequence.q + head * call.q.head_stride + tile.first_query * call.q.seq_stride,
                  tile.num_queries, call.head_dim, queries);
      transpose_rows(rows, tile.num_queries, call.head_dim, transposed.data());
      std::fill(output.begin(), output.end(), M{0});
      std::fill(max, max + kQueries, kNothing);
      std::fill(sum, sum + kQueries, M{0});
      if (call.sinks != nullptr) {
        // A key with this score and a value of zeros.
        std::fill(max, max + kQueries, static_cast<const M*>(call.sinks)[head]);
        std::fill(sum, sum + kQueries, max[0] == kNothing ? M{0} : M{1});
      }
      const int64_t last_query = tile.first_query + tile.num_queries - 1;
      const int64_t end_key = sequence.end_key(call, last_query);
      tile.first_key = sequence.begin_key(call, tile.first_query);
      for (; tile.first_key < end_key; tile.first_key += kKeys) {
        tile.num_keys = std::min(kKeys, end_key - tile.first_key);
        const Numbers<M> k =
            rows_at(call, call.k,
                    sequence.k + kv_head * call.k.head_stride + tile.first_key * call.k.seq_stride,
                    tile.num_keys, call.head_dim, keys);
        const Numbers<M> v =
            rows_at(call, call.v,
                    sequence.v + kv_head * call.v.head_stride + tile.first_key * call.v.seq_stride,
                    tile.num_keys, call.head_dim_v, values);
        std::fill(scores.begin(), scores.end(), M{0});
        add_products<kBytes>(k.data, k.stride, 1, transposed.data(), kQueries, scores.data(),
                             kQueries, tile.num_keys, kQueries, call.head_dim);
        finish_scores<M>(tile, scores.data(), nullptr);
        for (int64_t i = 0; i < kQueries; ++i) factor[i] = max[i];
        for (int64_t line = 0; line < tile.num_keys; ++line) {
          const M* const score = scores.data() + line * kQueries;
          for (int64_t i = 0; i < kQueries; ++i) max[i] = score[i] > max[i] ? score[i] : max[i];
        }
        for (int64_t i = 0; i < kQueries; ++i) {
          shift[i] = max[i] == kNothing ? M{0} : max[i];
          factor[i] = exp_of(factor[i] - shift[i]);
          sum[i] *= factor[i];
        }
        for (int64_t line = 0; line < tile.num_keys; ++line) {
          M* const score = scores.data() + line * kQueries;
          for (int64_t i = 0; i < kQueries; ++i) {
            score[i] = exp_of(score[i] - shift[i]);
            sum[i] += score[i];
          }
        }
        if (!kept.empty()) {
          find_kept(dropout, tile, kept.data());
          for (int64_t i = 0; i < tile.num_keys * kQueries; ++i)
            scores[i] = kept[i] == 0 ? M{0} : scores[i];
        }
        for (int64_t row = 0; row < tile.num_queries; ++row) {
          M* const out = output.data() + row * width_v;
          for (int64_t n = 0; n < width_v; ++n) out[n] *= factor[row];
        }
        add_products<kBytes>(scores.data(), 1, kQueries, v.data, v.stride, output.data(), width_v,
                             tile.num_queries, call.head_dim_v, tile.num_keys);
      }
      store(tile, output.data(), max, sum, kept_factor);
    }
  }

 private:
  CUDAOPS_APART void store(const Tile& tile, M* output, const M* max, const M* sum,
                           M kept_factor) const {
    const int64_t width_v = padded(call.head_dim_v);
    const int64_t first = tile.sequence.output + tile.head * call.output.head_stride;
    const int64_t first_lse = tile.sequence.lse + tile.head * tile.sequence.lse_head_stride;
    for (int64_t row = 0; row < tile.num_queries; ++row) {
      // Only a sum of nothing is 0: the largest exponential of others is 1.
      const bool is_empty = sum[row] == 0;
      const M inverse = is_empty ? M{0} : kept_factor / sum[row];
      M* const out = output + row * width_v;
      for (int64_t n = 0; n < call.head_dim_v; ++n) out[n] *= inverse;
      const int64_t query = tile.first_query + row;
      store_row(call.dtype, call.output.data, first + query * call.output.seq_stride,
                call.head_dim_v, out);
      if (call.lse != nullptr) {
        static_cast<M*>(call.lse)[first_lse + query] = max[row] + std::log(sum[row]);
      }
    }
  }
};

template <typename M>
void run_forward(const Attention& call, ParallelFor parallel_for) {
  const int64_t num_tiles = (call.seq_q + kQueries - 1) / kQueries;
  run_parallel(parallel_for, 0, call.batch * call.heads * num_tiles, 1,
               [&](int64_t begin, int64_t end) {
                 run_on_this_cpu(Forward<M>{call, begin, end});
               });
}

}  // namespace

void attention_cpu(const Attention& call, ParallelFor parallel_for) {
  if (call.is_double) {
    run_forward<double>(call, parallel_for);
  } else {
    run_forward<float>(call, parallel_for);
  }
}

}  // namespace cudaops_kernels

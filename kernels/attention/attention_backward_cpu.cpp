// SPDX-License-Identifier: Apache-2.0
// attention on the CPU: backward. Weights are computed again from lse, twice: for tiles of queries,
// which give grad_q, and for tiles of keys, which give grad_k and grad_v. So each sum has one owner
// and one order.
#include <cstring>

#include "attention_cpu.h"

namespace cudaops_kernels {
namespace {

using namespace attention_cpu_detail;

int64_t size_of_number(const Attention& call, DType dtype) {
  return call.is_double ? int64_t{sizeof(double)} : size_of(dtype);
}

// A sequence's first element.
template <typename Tensor>
int64_t first_of(const Tensor& tensor, int64_t batch, const int32_t* cu_seqlens) {
  return cu_seqlens == nullptr ? batch * tensor.batch_stride
                               : cu_seqlens[batch] * tensor.seq_stride;
}

// delta of all queries of a head of a sequence.
template <typename M>
void find_delta(const AttentionBackward& call, int64_t batch, int64_t head) {
  const Attention& forward = call.forward;
  const AttentionSequence sequence(forward, batch);
  const int64_t width = forward.head_dim_v;
  std::vector<M> output(static_cast<size_t>(width)), grad(static_cast<size_t>(width));
  const int64_t first_grad =
      first_of(call.grad_output, batch, forward.cu_seqlens_q) + head * call.grad_output.head_stride;
  const int64_t first = sequence.output + head * forward.output.head_stride;
  const int64_t first_lse = sequence.lse + head * sequence.lse_head_stride;
  for (int64_t query = 0; query < sequence.seq_q; ++query) {
    load_rows(forward.dtype, forward.output.data, first + query * forward.output.seq_stride, 0, 1,
              width, output.data(), width);
    load_rows(forward.dtype, call.grad_output.data,
              first_grad + query * call.grad_output.seq_stride, 0, 1, width, grad.data(), width);
    double sum = 0;
    for (int64_t i = 0; i < width; ++i) sum += double{grad[i]} * double{output[i]};
    if (call.grad_lse != nullptr) sum -= static_cast<const M*>(call.grad_lse)[first_lse + query];
    static_cast<M*>(call.delta)[first_lse + query] = static_cast<M>(sum);
  }
}

template <typename M>
void find_grad_sink(const AttentionBackward& call, int64_t head) {
  const Attention& forward = call.forward;
  const double sink = static_cast<const M*>(forward.sinks)[head];
  double sum = 0;
  for (int64_t batch = 0; batch < forward.batch; ++batch) {
    const AttentionSequence sequence(forward, batch);
    const int64_t first = sequence.lse + head * sequence.lse_head_stride;
    for (int64_t query = 0; query < sequence.seq_q; ++query) {
      const double lse = static_cast<const M*>(forward.lse)[first + query];
      // A sink of minus infinity has no weight, also where there is no other.
      if (lse == -INFINITY) continue;
      sum -= std::exp(sink - lse) * double{static_cast<const M*>(call.delta)[first + query]};
    }
  }
  static_cast<M*>(call.grad_sinks)[head] = static_cast<M>(sum);
}

// What both passes do with a pair of tiles.
template <typename M>
struct Pair {
  const AttentionBackward& call;
  AttentionDropout dropout;
  M kept_factor;
  std::vector<M> weights, derivatives, slopes, kept;
  M lse[kQueries], delta[kQueries];

  explicit Pair(const AttentionBackward& backward)
      : call(backward),
        dropout(backward.forward),
        kept_factor(dropout.factor<M>()),
        weights(kKeys * kQueries),
        derivatives(kKeys * kQueries),
        slopes(backward.forward.softcap != 0 ? kKeys * kQueries : 0),
        kept(dropout.threshold > 0 ? kKeys * kQueries : 0) {}

  void load_queries(const Tile& tile) {
    const int64_t first =
        tile.sequence.lse + tile.head * tile.sequence.lse_head_stride + tile.first_query;
    for (int64_t i = 0; i < kQueries; ++i) {
      const bool is_there = i < tile.num_queries;
      lse[i] = is_there ? static_cast<const M*>(call.forward.lse)[first + i] : M{0};
      // No score of such a query is visible.
      if (lse[i] == -std::numeric_limits<M>::infinity()) lse[i] = 0;
      delta[i] = is_there ? static_cast<const M*>(call.delta)[first + i] : M{0};
    }
  }

  // Weights, and derivatives by the products q·k * scale. q and grad_output: transposed. Weights
  // that are dropped are 0; the others are not multiplied with dropout's factor.
  template <int kBytes>
  CUDAOPS_INLINED void find(const Tile& tile, const Numbers<M>& k, const Numbers<M>& v, const M* q,
                            const M* grad_output, bool stores_grad_bias) {
    const Attention& forward = call.forward;
    std::fill(weights.begin(), weights.end(), M{0});
    std::fill(derivatives.begin(), derivatives.end(), M{0});
    add_products<kBytes>(k.data, k.stride, 1, q, kQueries, weights.data(), kQueries, tile.num_keys,
                         kQueries, forward.head_dim);
    add_products<kBytes>(v.data, v.stride, 1, grad_output, kQueries, derivatives.data(), kQueries,
                         tile.num_keys, kQueries, forward.head_dim_v);
    finish_scores<M>(tile, weights.data(), slopes.empty() ? nullptr : slopes.data());
    if (!kept.empty()) {
      find_kept(dropout, tile, kept.data());
      for (int64_t i = 0; i < tile.num_keys * kQueries; ++i) {
        // What a dropped row of v holds counts for nothing.
        derivatives[i] = kept[i] == 0 ? M{0} : derivatives[i] * kept_factor;
      }
    }
    constexpr M kHidden = -std::numeric_limits<M>::infinity();
    for (int64_t line = 0; line < tile.num_keys; ++line) {
      M* const weight = weights.data() + line * kQueries;
      M* const derivative = derivatives.data() + line * kQueries;
      for (int64_t i = 0; i < kQueries; ++i) {
        const bool is_hidden = weight[i] == kHidden;
        weight[i] = exp_of(weight[i] - lse[i]);
        // What a masked row of v holds counts for nothing.
        const M d = weight[i] * (derivative[i] - delta[i]);
        derivative[i] = is_hidden ? M{0} : d;
      }
    }
    if (!kept.empty()) {
      for (int64_t i = 0; i < tile.num_keys * kQueries; ++i)
        weights[i] = kept[i] == 0 ? M{0} : weights[i];
    }
    if (stores_grad_bias) store_grad_bias(tile);
    if (slopes.empty()) return;
    for (int64_t line = 0; line < tile.num_keys; ++line) {
      for (int64_t i = 0; i < tile.num_queries; ++i) {
        const int64_t at = line * kQueries + i;
        // A hidden score may come from anything.
        derivatives[at] = derivatives[at] == 0 ? M{0} : derivatives[at] * slopes[at];
      }
    }
  }

  CUDAOPS_APART void store_grad_bias(const Tile& tile) const {
    const Attention& forward = call.forward;
    M row[kKeys];
    for (int64_t i = 0; i < tile.num_queries; ++i) {
      for (int64_t line = 0; line < tile.num_keys; ++line) {
        row[line] = derivatives[line * kQueries + i];
      }
      const int64_t query =
          (tile.batch * forward.heads + tile.head) * forward.seq_q + tile.first_query + i;
      store_row(call.grad_bias_dtype, call.grad_bias, query * forward.seq_k + tile.first_key,
                tile.num_keys, row);
    }
  }
};

int64_t first_row(const AttentionTensor& tensor, int64_t sequence, int64_t head, int64_t row) {
  return sequence + head * tensor.head_stride + row * tensor.seq_stride;
}

template <typename M>
CUDAOPS_APART void store_rows(const Attention& forward, const AttentionOutput& tensor,
                              int64_t sequence, int64_t head, int64_t first, int64_t num_rows,
                              int64_t width, M factor, M* rows) {
  for (int64_t row = 0; row < num_rows; ++row) {
    M* const numbers = rows + row * padded(width);
    for (int64_t i = 0; i < width; ++i) numbers[i] *= factor;
    store_row(forward.dtype, tensor.data,
              sequence + head * tensor.head_stride + (first + row) * tensor.seq_stride, width,
              numbers);
  }
}

// grad_q and grad_bias of tiles of queries begin … end - 1.
template <typename M>
struct ByQueries {
  const AttentionBackward& call;
  int64_t begin, end;

  template <int kBytes>
  CUDAOPS_INLINED void run() const {
    const Attention& forward = call.forward;
    const int64_t width = padded(forward.head_dim), width_v = padded(forward.head_dim_v);
    std::vector<M> queries(kQueries * width), keys(kKeys * width), values(kKeys * width_v);
    std::vector<M> grads(kQueries * width_v), transposed(forward.head_dim * kQueries);
    std::vector<M> transposed_grads(forward.head_dim_v * kQueries), grad_q(kQueries * width);
    Pair<M> pair(call);
    const int64_t num_tiles = (forward.seq_q + kQueries - 1) / kQueries;
    for (int64_t index = begin; index < end; ++index) {
      const int64_t batch = index / num_tiles / forward.heads;
      const int64_t head = index / num_tiles % forward.heads;
      const int64_t kv_head = head / (forward.heads / forward.kv_heads);
      const AttentionSequence sequence(forward, batch);
      Tile tile{forward, sequence, batch, head, index % num_tiles * kQueries, 0, 0, 0};
      tile.num_queries = std::min(kQueries, sequence.seq_q - tile.first_query);
      if (tile.num_queries <= 0) continue;
      transpose_rows(
          rows_at(forward, forward.q, first_row(forward.q, sequence.q, head, tile.first_query),
                  tile.num_queries, forward.head_dim, queries),
          tile.num_queries, forward.head_dim, transposed.data());
      const int64_t first_grad = first_of(call.grad_output, batch, forward.cu_seqlens_q);
      transpose_rows(rows_at(forward, call.grad_output,
                             first_row(call.grad_output, first_grad, head, tile.first_query),
                             tile.num_queries, forward.head_dim_v, grads),
                     tile.num_queries, forward.head_dim_v, transposed_grads.data());
      pair.load_queries(tile);
      std::fill(grad_q.begin(), grad_q.end(), M{0});
      const int64_t end_key = sequence.end_key(forward, tile.first_query + tile.num_queries - 1);
      tile.first_key = sequence.begin_key(forward, tile.first_query);
      for (; tile.first_key < end_key; tile.first_key += kKeys) {
        tile.num_keys = std::min(kKeys, end_key - tile.first_key);
        const Numbers<M> k =
            rows_at(forward, forward.k, first_row(forward.k, sequence.k, kv_head, tile.first_key),
                    tile.num_keys, forward.head_dim, keys);
        const Numbers<M> v =
            rows_at(forward, forward.v, first_row(forward.v, sequence.v, kv_head, tile.first_key),
                    tile.num_keys, forward.head_dim_v, values);
        pair.template find<kBytes>(tile, k, v, transposed.data(), transposed_grads.data(),
                                   call.grad_bias != nullptr);
        add_products<kBytes>(pair.derivatives.data(), 1, kQueries, k.data, k.stride, grad_q.data(),
                             width, tile.num_queries, forward.head_dim, tile.num_keys);
      }
      store_rows<M>(forward, call.grad_q, first_of(call.grad_q, batch, forward.cu_seqlens_q), head,
                    tile.first_query, tile.num_queries, forward.head_dim,
                    static_cast<M>(forward.scale), grad_q.data());
    }
  }
};

// grad_k and grad_v of tiles of keys begin … end - 1.
template <typename M>
struct ByKeys {
  const AttentionBackward& call;
  int64_t begin, end;

  template <int kBytes>
  CUDAOPS_INLINED void run() const {
    const Attention& forward = call.forward;
    const int64_t width = padded(forward.head_dim), width_v = padded(forward.head_dim_v);
    std::vector<M> queries(kQueries * width), keys(kKeys * width), values(kKeys * width_v);
    std::vector<M> grads(kQueries * width_v), transposed(forward.head_dim * kQueries);
    std::vector<M> transposed_grads(forward.head_dim_v * kQueries);
    std::vector<M> grad_k(kKeys * width), grad_v(kKeys * width_v);
    Pair<M> pair(call);
    const int64_t num_tiles = (forward.seq_k + kKeys - 1) / kKeys;
    const int64_t group = forward.heads / forward.kv_heads;
    for (int64_t index = begin; index < end; ++index) {
      const int64_t batch = index / num_tiles / forward.kv_heads;
      const int64_t kv_head = index / num_tiles % forward.kv_heads;
      const AttentionSequence sequence(forward, batch);
      const int64_t first_key = index % num_tiles * kKeys;
      const int64_t num_keys = std::min(kKeys, sequence.seq_k - first_key);
      if (num_keys <= 0) continue;
      const Numbers<M> k =
          rows_at(forward, forward.k, first_row(forward.k, sequence.k, kv_head, first_key),
                  num_keys, forward.head_dim, keys);
      const Numbers<M> v =
          rows_at(forward, forward.v, first_row(forward.v, sequence.v, kv_head, first_key),
                  num_keys, forward.head_dim_v, values);
      const int64_t first_grad = first_of(call.grad_output, batch, forward.cu_seqlens_q);
      std::fill(grad_k.begin(), grad_k.end(), M{0});
      std::fill(grad_v.begin(), grad_v.end(), M{0});
      for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
        Tile tile{forward, sequence, batch, head, 0, 0, first_key, num_keys};
        const int64_t end_query = sequence.end_query(forward, first_key + num_keys - 1);
        tile.first_query = sequence.begin_query(forward, first_key);
        for (; tile.first_query < end_query; tile.first_query += kQueries) {
          tile.num_queries = std::min(kQueries, end_query - tile.first_query);
          const Numbers<M> q =
              rows_at(forward, forward.q, first_row(forward.q, sequence.q, head, tile.first_query),
                      tile.num_queries, forward.head_dim, queries);
          const Numbers<M> grad =
              rows_at(forward, call.grad_output,
                      first_row(call.grad_output, first_grad, head, tile.first_query),
                      tile.num_queries, forward.head_dim_v, grads);
          transpose_rows(q, tile.num_queries, forward.head_dim, transposed.data());
          transpose_rows(grad, tile.num_queries, forward.head_dim_v, transposed_grads.data());
          pair.load_queries(tile);
          pair.template find<kBytes>(tile, k, v, transposed.data(), transposed_grads.data(), false);
          add_products<kBytes>(pair.weights.data(), kQueries, 1, grad.data, grad.stride,
                               grad_v.data(), width_v, num_keys, forward.head_dim_v,
                               tile.num_queries);
          add_products<kBytes>(pair.derivatives.data(), kQueries, 1, q.data, q.stride,
                               grad_k.data(), width, num_keys, forward.head_dim, tile.num_queries);
        }
      }
      store_rows<M>(forward, call.grad_k, first_of(call.grad_k, batch, forward.cu_seqlens_k),
                    kv_head, first_key, num_keys, forward.head_dim, static_cast<M>(forward.scale),
                    grad_k.data());
      store_rows<M>(forward, call.grad_v, first_of(call.grad_v, batch, forward.cu_seqlens_k),
                    kv_head, first_key, num_keys, forward.head_dim_v, pair.kept_factor,
                    grad_v.data());
    }
  }
};

template <typename M>
void run_backward(const AttentionBackward& call, ParallelFor parallel_for) {
  const Attention& forward = call.forward;
  const int64_t num_heads = forward.batch * forward.heads;
  run_parallel(parallel_for, 0, num_heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) find_delta<M>(call, i / forward.heads, i % forward.heads);
  });
  if (call.grad_sinks != nullptr) {
    run_parallel(parallel_for, 0, forward.heads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t head = begin; head < end; ++head) find_grad_sink<M>(call, head);
    });
  }
  if (call.grad_bias != nullptr) {
    // Zeros of all types; the tiles that are visited follow.
    std::memset(call.grad_bias, 0,
                static_cast<size_t>(num_heads * forward.seq_q * forward.seq_k *
                                    size_of_number(forward, call.grad_bias_dtype)));
  }
  run_parallel(parallel_for, 0, num_heads * ((forward.seq_q + kQueries - 1) / kQueries), 1,
               [&](int64_t begin, int64_t end) {
                 run_on_this_cpu(ByQueries<M>{call, begin, end});
               });
  run_parallel(parallel_for, 0,
               forward.batch * forward.kv_heads * ((forward.seq_k + kKeys - 1) / kKeys), 1,
               [&](int64_t begin, int64_t end) {
                 run_on_this_cpu(ByKeys<M>{call, begin, end});
               });
}

}  // namespace

void attention_backward_cpu(const AttentionBackward& call, ParallelFor parallel_for) {
  if (call.forward.is_double) {
    run_backward<double>(call, parallel_for);
  } else {
    run_backward<float>(call, parallel_for);
  }
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// attention_decode on the CPU: a thread has a sequence's keys of one head and reads each of them
// once, a tile at a time, for all queries that see it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "../common/cpu_rows.h"
#include "../common/quantized.h"
#include "attention_decode.h"

namespace cudaops_kernels {
namespace {

constexpr int kKeys = 64;  // of a tile
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Float8 {
  uint8_t bits;
};
using cudaops_kernels::to_float;
inline float to_float(Float8 value) { return float8_to_float(value.bits); }

template <typename T>
const T* row_of(const PagedCache& cache, int64_t block, int64_t token, int64_t head) {
  return static_cast<const T*>(cache.data) + block * cache.block_stride +
         token * cache.token_stride + head * cache.head_stride;
}

float scale_of(const PagedCache& cache, int64_t head) {
  return cache.scale == nullptr ? 1.0f : cache.scale[head * cache.scale_stride];
}

// The queries of one sequence that read one head of the cache.
template <typename T, typename Cache>
class Sequence {
 public:
  Sequence(const AttentionDecode& call, int64_t batch, int64_t kv_head)
      : call_(call),
        batch_(batch),
        kv_head_(kv_head),
        group_(call.num_heads / call.num_kv_heads),
        num_rows_(group_ * call.q_length),
        length_(std::min<int64_t>(call.lengths[batch], call.blocks_per_sequence * call.page_size)),
        q_(static_cast<size_t>(num_rows_ * call.head_dim)),
        sums_(static_cast<size_t>(num_rows_ * call.head_dim)),
        largest_(static_cast<size_t>(num_rows_), -kInfinity),
        total_(static_cast<size_t>(num_rows_)),
        keys_(static_cast<size_t>(kKeys * call.head_dim)),
        values_(static_cast<size_t>(kKeys * call.head_dim)) {
    for (int64_t row = 0; row < num_rows_; ++row) {
      const T* const from = static_cast<const T*>(call.q) + batch * call.q_batch_stride +
                            row / group_ * call.q_token_stride + head_of(row) * call.q_head_stride;
      for (int64_t i = 0; i < call.head_dim; ++i) q_[at(row, i)] = to_float(from[i]);
    }
  }

  void run() {
    const int64_t first = first_key(0);
    for (int64_t begin = first - first % kKeys; begin < length_; begin += kKeys) {
      load(begin, static_cast<int>(std::min<int64_t>(kKeys, length_ - begin)));
      for (int64_t row = 0; row < num_rows_; ++row) add(row, begin);
    }
    for (int64_t row = 0; row < num_rows_; ++row) store(row);
  }

 private:
  size_t at(int64_t row, int64_t i) const { return static_cast<size_t>(row * call_.head_dim + i); }
  int64_t head_of(int64_t row) const { return kv_head_ * group_ + row % group_; }
  int64_t position(int64_t row) const { return length_ - call_.q_length + row / group_; }
  int64_t first_key(int64_t row) const {
    if (call_.window_left < 0) return 0;
    return std::max<int64_t>(0, position(row) - call_.window_left);
  }

  // Keys one element of all of them after the other, so that a sum over elements is one for each
  // lane; what isn't there is 0 and not seen.
  void load(int64_t begin, int count) {
    const int64_t width = call_.head_dim;
    for (int key = 0; key < kKeys; ++key) {
      const int64_t token = begin + key;
      int64_t block = -1;
      if (key < count) {
        block = call_.block_table[batch_ * call_.block_table_stride + token / call_.page_size];
      }
      is_there_[key] = block >= 0 && block < call_.num_blocks;
      float* const value = &values_[static_cast<size_t>(key * width)];
      if (!is_there_[key]) {
        for (int64_t i = 0; i < width; ++i) keys_[static_cast<size_t>(i * kKeys + key)] = 0;
        std::fill_n(value, width, 0.0f);
        continue;
      }
      const int64_t in_page = token % call_.page_size;
      const Cache* const k = row_of<Cache>(call_.k, block, in_page, kv_head_);
      const Cache* const v = row_of<Cache>(call_.v, block, in_page, kv_head_);
      for (int64_t i = 0; i < width; ++i) {
        keys_[static_cast<size_t>(i * kKeys + key)] = to_float(k[i]);
      }
      for (int64_t i = 0; i < width; ++i) value[i] = to_float(v[i]);
    }
  }

  void add(int64_t row, int64_t begin) {
    float scores[kKeys] = {};
    for (int64_t i = 0; i < call_.head_dim; ++i) {
      const float q = q_[at(row, i)];
      const float* const keys = &keys_[static_cast<size_t>(i * kKeys)];
      for (int key = 0; key < kKeys; ++key) scores[key] += q * keys[key];
    }
    const float scale = call_.scale * scale_of(call_.k, kv_head_);
    const int64_t first = first_key(row), last = position(row);
    const float before = largest_[static_cast<size_t>(row)];
    float largest = before;
    bool is_seen[kKeys];
    for (int key = 0; key < kKeys; ++key) {
      const int64_t token = begin + key;
      is_seen[key] = is_there_[key] && token >= first && token <= last;
      float score = scores[key] * scale;
      if (call_.softcap > 0) score = call_.softcap * std::tanh(score / call_.softcap);
      scores[key] = score;
      if (is_seen[key] && score > largest) largest = score;
    }
    const float base = largest == -kInfinity ? 0.0f : largest;
    const float kept = std::exp(before - base);
    float total = total_[static_cast<size_t>(row)] * kept;
    float* const sums = &sums_[at(row, 0)];
    if (kept != 1) {
      for (int64_t i = 0; i < call_.head_dim; ++i) sums[i] *= kept;
    }
    for (int key = 0; key < kKeys; ++key) {
      if (!is_seen[key]) continue;
      const float p = std::exp(scores[key] - base);
      total += p;
      const float* const value = &values_[static_cast<size_t>(key * call_.head_dim)];
      for (int64_t i = 0; i < call_.head_dim; ++i) sums[i] += p * value[i];
    }
    largest_[static_cast<size_t>(row)] = largest;
    total_[static_cast<size_t>(row)] = total;
  }

  void store(int64_t row) const {
    const int64_t token = row / group_, head = head_of(row);
    float largest = largest_[static_cast<size_t>(row)], total = total_[static_cast<size_t>(row)];
    float kept = 1;
    if (call_.sinks != nullptr) {
      const float sink = call_.sinks[head];
      const float with_sink = std::max(largest, sink);
      if (with_sink > -kInfinity) {
        kept = std::exp(largest - with_sink);
        total = total * kept + std::exp(sink - with_sink);
        largest = with_sink;
      }
    }
    // NaN: a NaN among what is seen.
    const float factor = total == 0 ? 0.0f : kept * scale_of(call_.v, kv_head_) / total;
    T* const output = static_cast<T*>(call_.output) +
                      ((batch_ * call_.q_length + token) * call_.num_heads + head) * call_.head_dim;
    for (int64_t i = 0; i < call_.head_dim; ++i) {
      output[i] = from_float<T>(sums_[at(row, i)] * factor);
    }
    if (call_.lse != nullptr) {
      call_.lse[(batch_ * call_.num_heads + head) * call_.q_length + token] =
          total == 0 ? -kInfinity : largest + std::log(total);
    }
  }

  const AttentionDecode& call_;
  const int64_t batch_, kv_head_, group_, num_rows_, length_;
  std::vector<float> q_, sums_, largest_, total_, keys_, values_;
  bool is_there_[kKeys] = {};
};

struct Decode {
  template <typename T>
  static void run(const AttentionDecode& call, ParallelFor parallel_for) {
    run_parallel(parallel_for, 0, call.num_batches * call.num_kv_heads, 1,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t batch = i / call.num_kv_heads, head = i % call.num_kv_heads;
                     if (call.has_float8_cache) {
                       Sequence<T, Float8>(call, batch, head).run();
                     } else {
                       Sequence<T, T>(call, batch, head).run();
                     }
                   }
                 });
  }
};

}  // namespace

void attention_decode_cpu(const AttentionDecode& call, ParallelFor parallel_for) {
  for_host_type<Decode>(call.dtype, call, parallel_for);
}

}  // namespace cudaops_kernels

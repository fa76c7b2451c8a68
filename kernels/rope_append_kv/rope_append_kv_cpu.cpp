// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "../common/cpu_rows.h"
#include "rope_append_kv_formula.h"

namespace cudaops_kernels {
namespace {

using namespace append;

template <typename T, typename Table>
class Tokens {
 public:
  explicit Tokens(const RopeAppendKv& call) : call_(call) {}

  void run(int64_t token) const {
    const CachePlace place = place_of(call_, token);
    const int64_t batch = token / call_.seq_length, in_batch = token % call_.seq_length;
    const auto row_of = [&](const TokenHeads& heads, int64_t head) {
      return static_cast<const T*>(heads.data) + batch * heads.strides.batch +
             in_batch * heads.strides.token + head * heads.strides.head;
    };
    const int64_t rotary_dim = place.position < 0 ? 0 : call_.rotary_dim;
    for (int64_t head = 0; head < call_.num_heads; ++head) {
      T* const out =
          static_cast<T*>(call_.q_out) + (token * call_.num_heads + head) * call_.head_dim;
      move(row_of(call_.q, head), rotary_dim, place,
           [&](int64_t i, float x) { out[i] = from_float<T>(x); });
    }
    if (place.block < 0) return;
    for (int64_t head = 0; head < call_.num_kv_heads; ++head) {
      append(row_of(call_.k, head), rotary_dim, place, call_.k_cache, head);
      append(row_of(call_.v, head), 0, place, call_.v_cache, head);
    }
  }

 private:
  template <typename Store>
  void move(const T* from, int64_t rotary_dim, const CachePlace& place, const Store& store) const {
    const Table* const cos = static_cast<const Table*>(call_.cos);
    const Table* const sin = static_cast<const Table*>(call_.sin);
    const bool has_row = place.position < call_.num_positions;
    const int64_t row = has_row ? place.position * (call_.rotary_dim / 2) : 0;
    for (int64_t item = 0; item < (call_.head_dim + 1) / 2; ++item) {
      const Elements e = elements_of(item, rotary_dim, call_.interleaved);
      const float a = to_float(from[e.first]);
      if (!e.is_pair) {
        store(e.first, a);
        if (e.second < call_.head_dim) store(e.second, to_float(from[e.second]));
        continue;
      }
      const float b = to_float(from[e.second]);
      const float nan = std::numeric_limits<float>::quiet_NaN();
      const float c = has_row ? to_float(cos[row + item]) : nan;
      const float s = has_row ? to_float(sin[row + item]) : nan;
      store(e.first, a * c - b * s);
      store(e.second, b * c + a * s);
    }
  }

  void append(const T* from, int64_t rotary_dim, const CachePlace& place, const WrittenCache& cache,
              int64_t head) const {
    const int64_t offset = offset_of(cache, place, head);
    if (call_.has_float8_cache) {
      uint8_t* const out = static_cast<uint8_t*>(cache.data) + offset;
      const float inverse = inverse_scale(cache, head);
      move(from, rotary_dim, place,
           [&](int64_t i, float x) { out[i] = nearest_float8(x * inverse); });
    } else {
      T* const out = static_cast<T*>(cache.data) + offset;
      move(from, rotary_dim, place, [&](int64_t i, float x) { out[i] = from_float<T>(x); });
    }
  }

  const RopeAppendKv& call_;
};

struct Append {
  template <typename T>
  static void run(const RopeAppendKv& call, ParallelFor parallel_for) {
    const int64_t width = (call.num_heads + 2 * call.num_kv_heads) * call.head_dim;
    run_parallel(parallel_for, 0, call.num_batches * call.seq_length, row_grain(width),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t token = begin; token < end; ++token) {
                     if (call.table_dtype == DType::kFloat32) {
                       Tokens<T, float>(call).run(token);
                     } else {
                       Tokens<T, T>(call).run(token);
                     }
                   }
                 });
  }
};

}  // namespace

void rope_append_kv_cpu(const RopeAppendKv& call, ParallelFor parallel_for) {
  for_host_type<Append>(call.dtype, call, parallel_for);
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// rope on the CPU: threads over tokens, loops over a head's pairs that vectorise, compiled for what
// x86-64 CPUs have and chosen at run time.
#include <cstring>
#include <limits>
#include <vector>

#include "../common/cpu_rows.h"
#include "rope.h"

namespace cudaops_kernels {
namespace {

// One head by the cosines and sines of its token.
template <typename T>
inline __attribute__((always_inline)) void rotate(const T* input, T* output, const float* cos,
                                                  const float* sin, int64_t pairs,
                                                  bool interleaved) {
  if (interleaved) {
#pragma GCC ivdep
    for (int64_t i = 0; i < pairs; ++i) {
      const float a = to_float(input[2 * i]), b = to_float(input[2 * i + 1]);
      output[2 * i] = from_float<T>(a * cos[i] - b * sin[i]);
      output[2 * i + 1] = from_float<T>(b * cos[i] + a * sin[i]);
    }
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < pairs; ++i) {
      const float a = to_float(input[i]), b = to_float(input[pairs + i]);
      output[i] = from_float<T>(a * cos[i] - b * sin[i]);
      output[pairs + i] = from_float<T>(b * cos[i] + a * sin[i]);
    }
  }
}

#if defined(__x86_64__)
template <typename T>
__attribute__((flatten, target("avx2,fma"))) void rotate_avx2(const T* input, T* output,
                                                              const float* cos, const float* sin,
                                                              int64_t pairs, bool interleaved) {
  rotate(input, output, cos, sin, pairs, interleaved);
}

template <typename T>
__attribute__((flatten, target("avx512f,avx512bw,avx512dq,avx512vl,fma"))) void rotate_avx512(
    const T* input, T* output, const float* cos, const float* sin, int64_t pairs,
    bool interleaved) {
  rotate(input, output, cos, sin, pairs, interleaved);
}
#endif

template <typename T>
void rotate_by_cpu(const T* input, T* output, const float* cos, const float* sin, int64_t pairs,
                   bool interleaved) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return rotate_avx512(input, output, cos, sin, pairs, interleaved);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return rotate_avx2(input, output, cos, sin, pairs, interleaved);
  }
#endif
  rotate(input, output, cos, sin, pairs, interleaved);
}

int64_t offset_of(const RopeStrides& strides, int64_t batch, int64_t token, int64_t head) {
  return batch * strides.batch + token * strides.token + head * strides.head;
}

struct RunRope {
  template <typename T>
  static void run(const Rope& call, ParallelFor parallel_for) {
    const int64_t pairs = call.rotary_dim / 2, rest = call.head_dim - call.rotary_dim;
    const int64_t width = (call.q.num_heads + call.k.num_heads) * call.head_dim;
    const auto tokens = [&](int64_t begin, int64_t end) {
      std::vector<float> cos(static_cast<size_t>(pairs)), sin(static_cast<size_t>(pairs));
      for (int64_t index = begin; index < end; ++index) {
        load_tables<T>(call, position_at(call, index), cos.data(), sin.data());
        const int64_t batch = index / call.seq_length, token = index % call.seq_length;
        for (const RopeHeads* heads : {&call.q, &call.k}) {
          for (int64_t head = 0; head < heads->num_heads; ++head) {
            const T* const input = static_cast<const T*>(heads->input) +
                                   offset_of(heads->input_strides, batch, token, head);
            T* const output = static_cast<T*>(heads->output) +
                              offset_of(heads->output_strides, batch, token, head);
            rotate_by_cpu(input, output, cos.data(), sin.data(), pairs, call.interleaved);
            if (rest == 0 || input == output) continue;
            std::memcpy(output + 2 * pairs, input + 2 * pairs,
                        static_cast<size_t>(rest) * sizeof(T));
          }
        }
      }
    };
    run_parallel(parallel_for, 0, call.num_batches * call.seq_length, row_grain(width), tokens);
  }

  // sin with the sign of the direction; NaN where the tables have no such row.
  template <typename T>
  static void load_tables(const Rope& call, int64_t position, float* cos, float* sin) {
    const int64_t pairs = call.rotary_dim / 2;
    if (position < 0 || position >= call.num_positions) {
      for (int64_t i = 0; i < pairs; ++i) cos[i] = sin[i] = std::numeric_limits<float>::quiet_NaN();
      return;
    }
    const int64_t first = position * pairs;
    const float sign = call.backward ? -1.0f : 1.0f;
    with_columns<T>(call.cos, call.table_dtype, [&](auto value) {
      for (int64_t i = 0; i < pairs; ++i) cos[i] = value(first + i);
    });
    with_columns<T>(call.sin, call.table_dtype, [&](auto value) {
      for (int64_t i = 0; i < pairs; ++i) sin[i] = sign * value(first + i);
    });
  }
};

}  // namespace

void rope_cpu(const Rope& call, ParallelFor parallel_for) {
  for_host_type<RunRope>(call.dtype, call, parallel_for);
}

}  // namespace cudaops_kernels

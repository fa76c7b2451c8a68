// SPDX-License-Identifier: Apache-2.0
// What attention's CPU kernels share: tiles of numbers, and one matrix product over them.
//
// A tile of scores has a line for each key and a column for each query, so that everything that
// belongs to a query is done for a vector of them, and nothing is transposed for each pair of tiles
// but the queries.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "../common/activations.h"
#include "../common/half_types.h"
#include "attention.h"
#include "attention_dropout.h"

namespace cudaops_kernels {
namespace attention_cpu_detail {

constexpr int64_t kQueries = 64;  // a tile's
constexpr int64_t kKeys = 64;

// Whole vectors, also of the widest registers.
inline int64_t padded(int64_t width) { return (width + 15) / 16 * 16; }

#define CUDAOPS_INLINED inline __attribute__((always_inline))
// Converting is the same for all instruction sets.
#define CUDAOPS_APART __attribute__((noinline))

// ---------------------------------------------------------------------------------------------------
// Numbers: elements as float, or double as they are

template <typename T>
void convert_rows(const T* data, int64_t stride, int64_t num_rows, int64_t width, float* out,
                  int64_t out_stride) {
  for (int64_t row = 0; row < num_rows; ++row) {
    for (int64_t i = 0; i < width; ++i) {
      out[row * out_stride + i] = to_float(data[row * stride + i]);
    }
  }
}

CUDAOPS_APART inline void load_rows(DType dtype, const void* data, int64_t offset, int64_t stride,
                                    int64_t num_rows, int64_t width, float* out,
                                    int64_t out_stride) {
  switch (dtype) {
    case DType::kFloat32:
      return convert_rows(static_cast<const float*>(data) + offset, stride, num_rows, width, out,
                          out_stride);
    case DType::kFloat16:
      return convert_rows(static_cast<const Float16*>(data) + offset, stride, num_rows, width, out,
                          out_stride);
    case DType::kBFloat16:
      return convert_rows(static_cast<const BFloat16*>(data) + offset, stride, num_rows, width, out,
                          out_stride);
  }
}

CUDAOPS_APART inline void load_rows(DType, const void* data, int64_t offset, int64_t stride,
                                    int64_t num_rows, int64_t width, double* out,
                                    int64_t out_stride) {
  for (int64_t row = 0; row < num_rows; ++row) {
    const double* from = static_cast<const double*>(data) + offset + row * stride;
    std::copy(from, from + width, out + row * out_stride);
  }
}

CUDAOPS_APART inline void store_row(DType dtype, void* data, int64_t offset, int64_t width,
                                    const float* numbers) {
  switch (dtype) {
    case DType::kFloat32:
      std::copy(numbers, numbers + width, static_cast<float*>(data) + offset);
      return;
    case DType::kFloat16:
      for (int64_t i = 0; i < width; ++i) {
        static_cast<Float16*>(data)[offset + i] = from_float<Float16>(numbers[i]);
      }
      return;
    case DType::kBFloat16:
      for (int64_t i = 0; i < width; ++i) {
        static_cast<BFloat16*>(data)[offset + i] = from_float<BFloat16>(numbers[i]);
      }
      return;
  }
}

CUDAOPS_APART inline void store_row(DType, void* data, int64_t offset, int64_t width,
                                    const double* numbers) {
  std::copy(numbers, numbers + width, static_cast<double*>(data) + offset);
}

// Rows of a tensor as numbers.
template <typename M>
struct Numbers {
  const M* data;
  int64_t stride;
};

// Where they lie if they are numbers already, in whole vectors and in fours, as add_products()
// reads them; else a copy in `buffer`.
template <typename M>
CUDAOPS_APART Numbers<M> rows_at(const Attention& call, const AttentionTensor& tensor,
                                 int64_t offset, int64_t num_rows, int64_t width,
                                 std::vector<M>& buffer) {
  const bool are_numbers = sizeof(M) == sizeof(double) || call.dtype == DType::kFloat32;
  if (are_numbers && width % 16 == 0 && num_rows % 4 == 0) {
    return {static_cast<const M*>(tensor.data) + offset, tensor.seq_stride};
  }
  load_rows(call.dtype, tensor.data, offset, tensor.seq_stride, num_rows, width, buffer.data(),
            padded(width));
  return {buffer.data(), padded(width)};
}

// out[i * kQueries + row].
template <typename M>
CUDAOPS_APART void transpose_rows(const Numbers<M>& rows, int64_t num_rows, int64_t width, M* out) {
  for (int64_t first = 0; first < width; first += 16) {
    const int64_t end = std::min(first + 16, width);
    for (int64_t row = 0; row < num_rows; ++row) {
      for (int64_t i = first; i < end; ++i) {
        out[i * kQueries + row] = rows.data[row * rows.stride + i];
      }
    }
  }
}

inline float number_at(DType dtype, const void* data, int64_t index, float) {
  switch (dtype) {
    case DType::kFloat32:
      return static_cast<const float*>(data)[index];
    case DType::kFloat16:
      return to_float(static_cast<const Float16*>(data)[index]);
    case DType::kBFloat16:
      return to_float(static_cast<const BFloat16*>(data)[index]);
  }
  return 0;
}

inline double number_at(DType, const void* data, int64_t index, double) {
  return static_cast<const double*>(data)[index];
}

// ---------------------------------------------------------------------------------------------------
// out[row][n] += sum over k of a[row][k] * b[k][n]

// Four rows of kVectors vectors, which stay in registers.
template <int kBytes, int kVectors, typename M>
CUDAOPS_INLINED void add_products_of_four(const M* a, int64_t a_row, int64_t a_step, const M* b,
                                          int64_t b_stride, M* out, int64_t out_stride,
                                          int64_t depth) {
  typedef M Vector __attribute__((vector_size(kBytes)));
  typedef M Memory __attribute__((vector_size(kBytes), aligned(sizeof(M)), may_alias));
  constexpr int64_t kLanes = kBytes / static_cast<int64_t>(sizeof(M));
  Vector sum[4][kVectors];
  for (int row = 0; row < 4; ++row) {
    for (int n = 0; n < kVectors; ++n) {
      sum[row][n] = *reinterpret_cast<const Memory*>(out + row * out_stride + n * kLanes);
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    Vector line[kVectors];
    for (int n = 0; n < kVectors; ++n) {
      line[n] = *reinterpret_cast<const Memory*>(b + k * b_stride + n * kLanes);
    }
    for (int row = 0; row < 4; ++row) {
      const M factor = a[row * a_row + k * a_step];
      for (int n = 0; n < kVectors; ++n) sum[row][n] += factor * line[n];
    }
  }
  for (int row = 0; row < 4; ++row) {
    for (int n = 0; n < kVectors; ++n) {
      *reinterpret_cast<Memory*>(out + row * out_stride + n * kLanes) = sum[row][n];
    }
  }
}

// num_rows is rounded up to fours, width to 16.
template <int kBytes, typename M>
CUDAOPS_INLINED void add_products(const M* a, int64_t a_row, int64_t a_step, const M* b,
                                  int64_t b_stride, M* out, int64_t out_stride, int64_t num_rows,
                                  int64_t width, int64_t depth) {
  // As many as there are registers for: 32 of AVX-512, 16 otherwise.
  constexpr int kVectors = kBytes == 64 ? 4 : 2;
  constexpr int64_t kLanes = kBytes / static_cast<int64_t>(sizeof(M));
  int64_t n = 0;
  for (; n + kVectors * kLanes <= padded(width); n += kVectors * kLanes) {
    for (int64_t row = 0; row < num_rows; row += 4) {
      add_products_of_four<kBytes, kVectors>(a + row * a_row, a_row, a_step, b + n, b_stride,
                                             out + row * out_stride + n, out_stride, depth);
    }
  }
  for (; n < padded(width); n += kLanes) {
    for (int64_t row = 0; row < num_rows; row += 4) {
      add_products_of_four<kBytes, 1>(a + row * a_row, a_row, a_step, b + n, b_stride,
                                      out + row * out_stride + n, out_stride, depth);
    }
  }
}

// ---------------------------------------------------------------------------------------------------
// Scores

// A head of a sequence, and a pair of tiles in it.
struct Tile {
  const Attention& call;
  const AttentionSequence& sequence;
  int64_t batch, head;
  int64_t first_query, num_queries;
  int64_t first_key, num_keys;
};

// From products q·k to what is exponentiated: lines of keys, columns of queries. slopes: those of
// the softcap, where it has one; null if nobody asks.
template <typename M>
CUDAOPS_INLINED void finish_scores(const Tile& tile, M* scores, M* slopes) {
  const Attention& call = tile.call;
  const int64_t shift = tile.sequence.seq_k - tile.sequence.seq_q;
  const M scale = static_cast<M>(call.scale), cap = static_cast<M>(call.softcap);
  for (int64_t line = 0; line < tile.num_keys; ++line) {
    const int64_t key = tile.first_key + line;
    M* const score = scores + line * kQueries;
    for (int64_t i = 0; i < kQueries; ++i) score[i] *= scale;
    if (call.softcap != 0) {
      for (int64_t i = 0; i < tile.num_queries; ++i) {
        const M t = std::tanh(score[i] / cap);
        score[i] = cap * t;
        if (slopes != nullptr) slopes[line * kQueries + i] = 1 - t * t;
      }
    }
    if (call.alibi_slopes != nullptr) {
      const M slope = call.alibi_slopes[tile.batch * call.alibi_batch_stride + tile.head];
      const int64_t distance = tile.first_query + shift - key;
      for (int64_t i = 0; i < kQueries; ++i) {
        score[i] -= slope * static_cast<M>(std::abs(distance + i));
      }
    }
    if (call.bias != nullptr) {
      const int64_t first = tile.sequence.bias + tile.head * call.bias_head_stride +
                            tile.first_query * call.bias_query_stride + key * call.bias_key_stride;
      for (int64_t i = 0; i < tile.num_queries; ++i) {
        score[i] += number_at(call.bias_dtype, call.bias, first + i * call.bias_query_stride, M{});
      }
    }
    const int64_t begin =
        call.window_right < 0 ? 0 : key - shift - call.window_right - tile.first_query;
    const int64_t end =
        std::min(tile.sequence.end_query(call, key) - tile.first_query, tile.num_queries);
    constexpr M kHidden = -std::numeric_limits<M>::infinity();
    for (int64_t i = 0; i < std::min(begin, kQueries); ++i) score[i] = kHidden;
    for (int64_t i = std::max<int64_t>(end, 0); i < kQueries; ++i) score[i] = kHidden;
  }
}

// What dropout multiplies a tile's weights with, but for its factor: 1, or 0 of those that are
// dropped. Tiles begin where blocks of 16 x 16 weights do.
template <typename M>
CUDAOPS_APART void find_kept(const AttentionDropout& dropout, const Tile& tile, M* kept) {
  for (int64_t line = 0; line < tile.num_keys; line += line % 8 == 6 ? 10 : 2) {
    for (int64_t row = 0; row < tile.num_queries; row += row % 8 == 7 ? 9 : 1) {
      const Philox words =
          dropout.words(tile.batch, tile.head, tile.first_query + row, tile.first_key + line);
      for (int i = 0; i < 8; ++i) {
        const int query_half = i / 4, key_half = i / 2 % 2, parity = i % 2;
        kept[(line + key_half * 8 + parity) * kQueries + row + query_half * 8] =
            dropout.is_dropped(words, query_half, key_half, parity) ? M{0} : M{1};
      }
    }
  }
}

CUDAOPS_INLINED float exp_of(float x) { return detail::exp2_of(kLog2E * x); }
CUDAOPS_INLINED double exp_of(double x) { return std::exp(x); }

// ---------------------------------------------------------------------------------------------------
// Instruction sets

#if defined(__x86_64__)
template <typename Work>
__attribute__((flatten, target("avx2,fma"))) void run_avx2(const Work& work) {
  work.template run<32>();
}
template <typename Work>
__attribute__((flatten,
               target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512"))) void
run_avx512(const Work& work) {
  work.template run<64>();
}
#endif

// work.run<bytes of a vector>(), compiled for what this CPU has.
template <typename Work>
void run_on_this_cpu(const Work& work) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return run_avx512(work);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return run_avx2(work);
#endif
  work.template run<16>();
}

}  // namespace attention_cpu_detail
}  // namespace cudaops_kernels

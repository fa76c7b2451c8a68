// SPDX-License-Identifier: Apache-2.0
// What attention's kernels for sm_80 and later share: tiles of rows in shared memory, the two kinds
// of products of a warp, scores in registers.
#pragma once

#include "../common/mma.cuh"
#include "attention_dropout.cuh"
#include "attention_tiles.cuh"

namespace cudaops_kernels {
namespace attention_detail {

constexpr int kMmaThreads = 128;  // four warps

inline bool has_whole_units(const Attention& call) {
  return !call.is_double && call.dtype != DType::kFloat32 &&
         has_whole_units(call.q, call.head_dim) && has_whole_units(call.k, call.head_dim) &&
         has_whole_units(call.v, call.head_dim_v) && has_whole_units(call.output, call.head_dim_v);
}

// Scores are more than scale * q·k and a mask.
CUDAOPS_HOST_DEVICE inline bool has_score_terms(const Attention& call) {
  return call.softcap != 0 || call.bias != nullptr || call.alibi_slopes != nullptr;
}

// More than exponentials of positive multiples of q·k: scores, sums or weights take instructions of
// their own.
inline bool has_extras(const Attention& call) {
  return has_score_terms(call) || call.sinks != nullptr || call.dropout_p != 0 ||
         !(static_cast<float>(call.scale) * kLog2E > 0);
}

// Where sm_90a has kernels of its own, sm_90 has only the ones with extras here: of calls without
// them only those of strides or sizes that the copy engine can't have are left for it, in the
// backward pass a scale that isn't positive, and GPUs that compile the PTX of sm_90. Kernels with
// extras serve these too, the backward pass in up to 1.15 times the time (H200, 2026-11-27; forward
// not measured), and the others are half of what these files take to compile.
#if defined(CUDAOPS_ATTENTION_WITH_SM90) && defined(CUDAOPS_ATTENTION_BACKWARD_WITH_SM90)
constexpr bool kSm90HasOnlyExtras = true;
#else
constexpr bool kSm90HasOnlyExtras = false;
#endif

#if !CUDAOPS_HIP

#if defined(__CUDA_ARCH__)
constexpr bool kHasOnlyExtras = kSm90HasOnlyExtras && __CUDA_ARCH__ == 900;
#endif

namespace {

// What this source's binary holds for the current device decides.
inline bool has_only_extras() { return kSm90HasOnlyExtras && compiled_for_mma() == 90; }

}  // namespace

// Shared memory of the backward kernels (attention_backward_sm80.cuh): tiles of the other side that
// are copied at once, one ahead if there is room; two tiles of the rows' side, two of the other's a
// stage, and statistics of queries.
template <int kWidth>
constexpr int kBackwardStages = kWidth <= 128 ? 2 : 1;
template <int kWidth>
constexpr int kBackwardBytes = (2 + 2 * kBackwardStages<kWidth>)*kTile* kWidth * 2 +
                               kBackwardStages<kWidth> * 2 * kTile* static_cast<int>(sizeof(float));

// Whether a block of the current device may have so much shared memory.
inline bool has_shared_memory(int bytes) {
  int device = 0, most = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return false;
  if (cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) !=
      cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  return bytes <= most;
}

#endif

#if CUDAOPS_HAS_MMA

// The first rows of `from`, kRows of them, to a tile; zeros behind their number and width.
template <int kRows, int kWidth, typename T>
__device__ __forceinline__ void begin_tile(const AttentionTensor& from, int64_t sequence,
                                           int64_t head, int64_t first, int64_t end, int64_t width,
                                           T* tile) {
  const T* const data = static_cast<const T*>(from.data) + sequence + head * from.head_stride +
                        first * from.seq_stride;
  const int num_rows = static_cast<int>(end - first < kRows ? end - first : kRows);
  constexpr int kUnits = kWidth / 8, kRowsAtOnce = kMmaThreads / kUnits;
  const int unit = static_cast<int>(threadIdx.x) % kUnits;
  const int first_row = static_cast<int>(threadIdx.x) / kUnits;
  const bool has_unit = unit * 8 < width;
  const T* source = data + first_row * from.seq_stride + unit * 8;
  const SharedAddress address = shared_address(tile);
#pragma unroll 2
  for (int i = 0; i < kRows / kRowsAtOnce; ++i) {
    const int row = first_row + i * kRowsAtOnce;
    const bool is_there = has_unit && row < num_rows;
    begin_copy(address + 2 * static_cast<SharedAddress>(place_of_unit<kWidth>(row, unit)),
               is_there ? source : data, is_there);
    source += kRowsAtOnce * from.seq_stride;
  }
}

__device__ __forceinline__ int mma_lane() { return static_cast<int>(threadIdx.x) % 32; }
__device__ __forceinline__ int mma_warp() { return static_cast<int>(threadIdx.x) / 32; }

// A warp's scores: kRowTiles times 16 rows, 64 columns. Element e of part n of a row tile is that
// of row e / 2 * 8 + lane / 4 and column n * 8 + lane % 4 * 2 + e % 2.
template <int kRowTiles>
struct WarpScores {
  float at[kRowTiles][8][4];

  // body(row in the warp's, column, score).
  template <typename Body>
  __device__ __forceinline__ void for_each(const Body& body) {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (int n = 0; n < 8; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          body(r * 16 + e / 2 * 8 + mma_lane() / 4, n * 8 + mma_lane() % 4 * 2 + e % 2,
               at[r][n][e]);
        }
      }
    }
  }
};

// scores[row][column] = a[first_row + row] · b[column], of tiles.
template <int kWidth, int kRowTiles, typename T>
__device__ __forceinline__ void find_warp_products(const T* a, int first_row, const T* b, int width,
                                                   WarpScores<kRowTiles>& scores) {
  scores.for_each([](int, int, float& score) { score = 0; });
  const int lane = mma_lane();
  const SharedAddress of_a =
      shared_address(a + place_of_unit<kWidth>(first_row + lane % 16, lane / 16));
  const SharedAddress of_b =
      shared_address(b + place_of_unit<kWidth>(lane / 16 * 8 + lane % 8, lane / 8 % 2));
#pragma unroll
  for (int k = 0; k < kWidth / 16; ++k) {
    if (k * 16 >= width) break;
    uint32_t rows[kRowTiles][4];
    load_matrices(rows[0], next_unit<kWidth, 0>(of_a, k));
    if constexpr (kRowTiles > 1) load_matrices(rows[1], next_unit<kWidth, 16>(of_a, k));
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      uint32_t columns[4];
      load_matrices(columns, next_unit<kWidth, 0>(of_b, k) + n * 16 * kWidth * 2);
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
        multiply_add<T>(scores.at[r][2 * n], rows[r], columns[0], columns[1]);
        multiply_add<T>(scores.at[r][2 * n + 1], rows[r], columns[2], columns[3]);
      }
    }
  }
}

// Those of a row tile are 0.
__device__ __forceinline__ void drop(uint32_t dropped, float (&weights)[8][4]) {
#pragma unroll
  for (int n = 0; n < 8; ++n) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      if (dropped >> (n * 4 + e) & 1) weights[n][e] = 0;
    }
  }
}

// A warp's rows of results, in the places of scores.
template <int kWidth, int kRowTiles>
struct WarpSums {
  float at[kRowTiles][kWidth / 8][4];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (int n = 0; n < kWidth / 8; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) at[r][n][e] = 0;
      }
    }
  }
};

// sums[row] += sum over the 64 columns of weights[row][column] * lines[column]; weights are rounded
// to T.
template <int kWidth, int kRowTiles, typename T>
__device__ __forceinline__ void add_warp_weighted(const WarpScores<kRowTiles>& weights,
                                                  const T* lines, int width,
                                                  WarpSums<kWidth, kRowTiles>& sums) {
  const int lane = mma_lane();
  const SharedAddress first = shared_address(lines + place_of_unit<kWidth>(lane % 16, lane / 16));
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    uint32_t packed[kRowTiles][4];
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
      const float(&left)[4] = weights.at[r][2 * k];
      const float(&right)[4] = weights.at[r][2 * k + 1];
      packed[r][0] = detail::pack_pair<T>(left[0], left[1]);
      packed[r][1] = detail::pack_pair<T>(left[2], left[3]);
      packed[r][2] = detail::pack_pair<T>(right[0], right[1]);
      packed[r][3] = detail::pack_pair<T>(right[2], right[3]);
    }
#pragma unroll
    for (int n = 0; n < kWidth / 16; ++n) {
      if (n * 16 >= width) break;
      uint32_t columns[4];
      load_transposed(columns, next_unit<kWidth, 0>(first, n) + k * 16 * kWidth * 2);
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
        multiply_add<T>(sums.at[r][2 * n], packed[r], columns[0], columns[1]);
        multiply_add<T>(sums.at[r][2 * n + 1], packed[r], columns[2], columns[3]);
      }
    }
  }
}

// Rows of results to a tensor, each times factor[row tile][half], by way of the warp's own rows of
// a tile that nobody reads any more: whole units of 16 bytes.
template <int kWidth, int kRowTiles, typename T>
__device__ __forceinline__ void store_warp_rows(const WarpSums<kWidth, kRowTiles>& sums,
                                                const float (&factor)[kRowTiles][2], T* tile,
                                                int first_row, const AttentionOutput& to,
                                                int64_t sequence, int64_t head, int64_t first,
                                                int64_t end, int64_t width) {
  const int lane = mma_lane();
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
    for (int n = 0; n < kWidth / 8; ++n) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = first_row + r * 16 + half * 8 + lane / 4;
        const uint32_t pair = detail::pack_pair<T>(sums.at[r][n][2 * half] * factor[r][half],
                                                   sums.at[r][n][2 * half + 1] * factor[r][half]);
        *reinterpret_cast<uint32_t*>(tile + place_of_unit<kWidth>(row, n) + lane % 4 * 2) = pair;
      }
    }
  }
  cudaops::sync_warp();
  T* const data = static_cast<T*>(to.data) + sequence + head * to.head_stride;
#pragma unroll 4
  for (int i = lane; i < kRowTiles * 16 * (kWidth / 8); i += 32) {
    const int row = first_row + i / (kWidth / 8), unit = i % (kWidth / 8);
    if (first + row < end && unit * 8 < width) {
      store_aligned(data + (first + row) * to.seq_stride + unit * 8,
                    load_aligned(tile + place_of_unit<kWidth>(row, unit)));
    }
  }
}

// Whether a score of these tiles is not visible, or not there.
__device__ __forceinline__ bool is_masked(const Attention& call, const AttentionSequence& sequence,
                                          int64_t first_query, int num_queries, int64_t first_key) {
  const int64_t shift = sequence.seq_k - sequence.seq_q;
  return first_query + num_queries > sequence.seq_q || first_key + kTile > sequence.seq_k ||
         (call.window_right >= 0 &&
          first_key + kTile - 1 > first_query + shift + call.window_right) ||
         (call.window_left >= 0 &&
          first_key < first_query + num_queries - 1 + shift - call.window_left);
}

// Query and key as numbers within their tiles: whether the key is visible.
struct TileMask {
  int left, right, queries, keys;

  __device__ __forceinline__ TileMask(const Attention& call, const AttentionSequence& sequence,
                                      int64_t first_query, int64_t first_key) {
    const int64_t own = first_query + sequence.seq_k - sequence.seq_q - first_key;
    left = call.window_left < 0 ? -kFar : clamped(own - call.window_left);
    right = call.window_right < 0 ? kFar : clamped(own + call.window_right);
    queries = clamped(sequence.seq_q - first_query);
    keys = clamped(sequence.seq_k - first_key);
  }
  __device__ __forceinline__ bool is_visible(int query, int key) const {
    return key >= left + query && key <= right + query && key < keys && query < queries;
  }

 private:
  static constexpr int kFar = 1 << 29;
  __device__ __forceinline__ static int clamped(int64_t number) {
    return static_cast<int>(number < -kFar ? -kFar : number > kFar ? kFar : number);
  }
};

// From products q·k to scores in powers of two, minus infinity where the key is not visible: what
// Pair::score() does, with numbers within the tiles.
struct TileScores {
  TileMask mask;
  float factor, cap_factor, cap, slope;
  int own;  // distance of query 0 and key 0
  const void* bias;
  DType bias_dtype;
  int64_t bias_first, bias_query_stride, bias_key_stride;

  __device__ __forceinline__ TileScores(const Attention& call, const AttentionSequence& sequence,
                                        int64_t batch, int64_t head, int64_t first_query,
                                        int64_t first_key)
      : mask(call, sequence, first_query, first_key),
        factor(static_cast<float>(call.scale) * kLog2E),
        cap_factor(0),
        cap(0),
        slope(0),
        own(static_cast<int>(first_query + sequence.seq_k - sequence.seq_q - first_key)),
        bias(call.bias),
        bias_dtype(call.bias_dtype),
        bias_first(sequence.bias + head * call.bias_head_stride +
                   first_query * call.bias_query_stride + first_key * call.bias_key_stride),
        bias_query_stride(call.bias_query_stride),
        bias_key_stride(call.bias_key_stride) {
    if (call.softcap != 0) {
      cap = static_cast<float>(call.softcap) * kLog2E;
      cap_factor = 2 * factor / static_cast<float>(call.softcap);
    }
    if (call.alibi_slopes != nullptr) {
      slope = call.alibi_slopes[batch * call.alibi_batch_stride + head] * kLog2E;
    }
  }

  // slope_of_cap: of the softcap, 1 without one.
  __device__ __forceinline__ float score(float product, int query, int key,
                                         float* slope_of_cap) const {
    float score = product * factor;
    *slope_of_cap = 1;
    if (cap != 0) {
      // tanh(x) = 1 - 2 / (exp(2 x) + 1): its error is one of scores, which count absolutely.
      const float t = 1 - 2 * detail::reciprocal_of(detail::exp2_of(product * cap_factor) + 1);
      score = cap * t;
      *slope_of_cap = 1 - t * t;
    }
    if (!mask.is_visible(query, key)) return -INFINITY;
    score -= slope * static_cast<float>(abs(own + query - key));
    if (bias != nullptr) {
      score += kLog2E * number_at(bias_dtype, bias,
                                  bias_first + query * bias_query_stride + key * bias_key_stride);
    }
    return score;
  }
};

#endif

}  // namespace attention_detail
}  // namespace cudaops_kernels

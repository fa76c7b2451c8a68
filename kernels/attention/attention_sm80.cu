// SPDX-License-Identifier: Apache-2.0
// attention on the tensor cores of sm_80 and later: forward, and which calls the backward kernels
// serve (attention_backward_sm80.cuh). A block of four warps has 128 queries of a head (64 of wide
// heads), each warp its own, and takes 64 keys at a time: the next keys are copied while these
// weights are found, the values while the products are. Weights stay in registers, rounded to the
// elements' type (Dao, FlashAttention-2, 2023).
#include "attention_mma.cuh"
#include "attention_sm80.h"

namespace cudaops_kernels {
namespace {

using namespace attention_detail;

#if !CUDAOPS_HIP

// With extras one: dropout's bits are those of one row tile.
template <int kWidth, bool kHasExtras>
constexpr int kRowTilesOf = kWidth <= 128 && !kHasExtras ? 2 : 1;

// Queries, keys and values.
template <int kWidth, bool kHasExtras>
constexpr int kSharedBytes = (64 * kRowTilesOf<kWidth, kHasExtras> + 2 * kTile) * kWidth * 2;

#if CUDAOPS_HAS_MMA

__device__ __forceinline__ float largest_of_4_lanes(float x) {
  x = fmaxf(x, cudaops::shfl_xor(x, 1, 32));
  return fmaxf(x, cudaops::shfl_xor(x, 2, 32));
}
__device__ __forceinline__ float sum_of_4_lanes(float x) {
  x += cudaops::shfl_xor(x, 1, 32);
  return x + cudaops::shfl_xor(x, 2, 32);
}

// The largest score and the sum of exponentials of a thread's rows; sums of a thread's own columns
// until the end. Scores are in units of 1 / factor powers of two.
template <int kWidth, int kRowTiles>
struct WarpSoftmax {
  float max[kRowTiles][2], sum[kRowTiles][2];
  WarpSums<kWidth, kRowTiles> output;

  __device__ __forceinline__ explicit WarpSoftmax(float sink) {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        max[r][half] = sink;
        sum[r][half] = sink == -INFINITY || mma_lane() % 4 != 0 ? 0 : 1;
      }
    }
    output.clear();
  }

  // Scores become weights.
  __device__ __forceinline__ void take(WarpScores<kRowTiles>& scores, float factor) {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float largest = max[r][half];
#pragma unroll
        for (int n = 0; n < 8; ++n) {
          largest = fmaxf(largest, fmaxf(scores.at[r][n][2 * half], scores.at[r][n][2 * half + 1]));
        }
        largest = largest_of_4_lanes(largest);
        const float shift = largest == -INFINITY ? 0 : largest * factor;
        const float scale = detail::exp2_of(max[r][half] * factor - shift);
        max[r][half] = largest;
        float part = 0;
#pragma unroll
        for (int n = 0; n < 8; ++n) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            float& score = scores.at[r][n][2 * half + e];
            score = detail::exp2_of(score * factor - shift);
            part += score;
          }
        }
        sum[r][half] = sum[r][half] * scale + part;
#pragma unroll
        for (int n = 0; n < kWidth / 8; ++n) {
          output.at[r][n][2 * half] *= scale;
          output.at[r][n][2 * half + 1] *= scale;
        }
      }
    }
  }
};

#endif

// With extras three blocks of a multiprocessor, where shared memory lets them: what they need more
// registers for is not worth the others' time.
template <typename T, int kWidth, bool kHasExtras>
__global__ void __launch_bounds__(kMmaThreads, kHasExtras&& kWidth <= 128 ? 3 : 1)
    attention_mma_kernel(const Attention call) {
#if CUDAOPS_HAS_MMA
  if constexpr (kHasOnlyExtras && !kHasExtras) return;
  constexpr int kRowTiles = kRowTilesOf<kWidth, kHasExtras>, kQueries = 64 * kRowTiles;
  extern __shared__ __align__(1024) uint4 dynamic_shared[];
  T* const q_tile = reinterpret_cast<T*>(dynamic_shared);
  T* const k_tile = q_tile + kQueries * kWidth;
  T* const v_tile = k_tile + kTile * kWidth;
  const Place<kQueries> place(call.seq_q, call.heads);
  const AttentionSequence sequence(call, place.batch);
  const int64_t kv_head = place.head / (call.heads / call.kv_heads);
  const int width = static_cast<int>(call.head_dim), width_v = static_cast<int>(call.head_dim_v);
  const int first_row = mma_warp() * 16 * kRowTiles;
  // Scores of products are multiplied in the exponential; others come in powers of two.
  const float factor_of_products = static_cast<float>(call.scale) * kLog2E;
  const float factor = kHasExtras ? 1 : factor_of_products;
  const bool has_terms = has_score_terms(call);
  const AttentionDropout dropout(call);
  // With a max_seqlen_q that is too small a block has several tiles.
  for (int64_t first_query = place.tile * kQueries; first_query < sequence.seq_q;
       first_query += place.num_tiles * kQueries) {
    const int64_t end_query =
        first_query + kQueries < sequence.seq_q ? first_query + kQueries : sequence.seq_q;
    const int64_t end_key = sequence.end_key(call, end_query - 1);
    int64_t first_key = sequence.begin_key(call, first_query);
    const auto begin_keys = [&] {
      if (first_key < end_key) {
        begin_tile<kTile, kWidth>(call.k, sequence.k, kv_head, first_key, end_key, width, k_tile);
      }
      close_copies();
    };
    __syncthreads();  // the tiles of the queries before are read
    begin_tile<kQueries, kWidth>(call.q, sequence.q, place.head, first_query, end_query, width,
                                 q_tile);
    begin_keys();
    float sink = -INFINITY;
    if (kHasExtras && call.sinks != nullptr) {
      sink = static_cast<const float*>(call.sinks)[place.head] * kLog2E;
    }
    WarpSoftmax<kWidth, kRowTiles> softmax(sink);
    while (first_key < end_key) {
      wait_for_groups<0>();
      __syncthreads();  // keys are there, values before are read
      begin_tile<kTile, kWidth>(call.v, sequence.v, kv_head, first_key, end_key, width_v, v_tile);
      close_copies();
      WarpScores<kRowTiles> scores;
      find_warp_products<kWidth>(q_tile, first_row, k_tile, width, scores);
      wait_for_groups<0>();
      __syncthreads();  // values are there, keys are read
      const int64_t this_key = first_key;
      first_key += kTile;
      begin_keys();
      const bool masked =
          is_masked(call, sequence, first_query + first_row, kRowTiles * 16, this_key);
      if (kHasExtras && has_terms) {
        const TileScores tile(call, sequence, place.batch, place.head, first_query + first_row,
                              this_key);
        scores.for_each([&](int row, int column, float& score) {
          float slope;
          score = tile.score(score, row, column, &slope);
        });
      } else {
        if constexpr (kHasExtras) {
          scores.for_each([&](int, int, float& score) { score *= factor_of_products; });
        }
        if (masked) {
          const TileMask mask(call, sequence, first_query + first_row, this_key);
          scores.for_each([&](int row, int column, float& score) {
            if (!mask.is_visible(row, column)) score = -INFINITY;
          });
        }
      }
      softmax.take(scores, factor);
      if constexpr (kHasExtras) {
        if (dropout.threshold > 0) {
          drop(dropped_of_queries(dropout, place.batch, place.head, first_query + first_row,
                                  this_key),
               scores.at[0]);
        }
      }
      add_warp_weighted<kWidth>(scores, v_tile, width_v, softmax.output);
    }
    wait_for_groups<0>();
    __syncthreads();  // also the queries of other warps are there, where no tile was visited
    float inverse[kRowTiles][2];
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float sum = sum_of_4_lanes(softmax.sum[r][half]);
        inverse[r][half] = sum == 0 ? 0 : (kHasExtras ? dropout.factor<float>() : 1) / sum;
        const int64_t query = first_query + first_row + r * 16 + half * 8 + mma_lane() / 4;
        if (call.lse != nullptr && mma_lane() % 4 == 0 && query < end_query) {
          constexpr float kLn2 = 0.693147181f;
          static_cast<float*>(
              call.lse)[sequence.lse + place.head * sequence.lse_head_stride + query] =
              softmax.max[r][half] * factor * kLn2 + logf(sum);
        }
      }
    }
    store_warp_rows<kWidth>(softmax.output, inverse, q_tile, first_row, call.output,
                            sequence.output, place.head, first_query, end_query, width_v);
  }
#endif
}

template <int kWidth>
struct LaunchWidth {
  template <typename T, bool kHasExtras>
  static void run(const Attention& call, cudaStream_t stream) {
    constexpr int kQueries = 64 * kRowTilesOf<kWidth, kHasExtras>;
    const auto kernel = attention_mma_kernel<T, kWidth, kHasExtras>;
    constexpr int kBytes = kSharedBytes<kWidth, kHasExtras>;
    CUDAOPS_CHECK(cudaops::allow_dynamic_shared_memory(kernel, kBytes));
    const unsigned int num_blocks = Place<kQueries>::num_blocks(call.batch, call.seq_q, call.heads);
    kernel<<<num_blocks, kMmaThreads, kBytes, stream>>>(call);
    CUDAOPS_CHECK_LAUNCH();
  }
};

template <typename T, bool kHasExtras>
void launch(const Attention& call, cudaStream_t stream) {
  const int64_t width = widest(call);
  if (width <= 64) return LaunchWidth<64>::run<T, kHasExtras>(call, stream);
  if (width <= 128) return LaunchWidth<128>::run<T, kHasExtras>(call, stream);
  LaunchWidth<256>::run<T, kHasExtras>(call, stream);
}

template <typename T>
void launch(const Attention& call, cudaStream_t stream) {
  if (has_extras(call) || has_only_extras()) return launch<T, true>(call, stream);
  launch<T, false>(call, stream);
}

#endif

}  // namespace

bool attention_sm80_serves(const Attention& call) {
#if CUDAOPS_HIP
  (void)call;
  return false;  // no mma.sync
#else
  if (!has_whole_units(call)) return false;
  const int64_t width = widest(call);
  const int bytes = width <= 64    ? kSharedBytes<64, false>
                    : width <= 128 ? kSharedBytes<128, false>
                                   : kSharedBytes<256, false>;
  return is_compiled_for_mma() && has_shared_memory(bytes);
#endif
}

void launch_attention_sm80(const Attention& call, void* stream) {
#if !CUDAOPS_HIP
  if (call.dtype == DType::kFloat16) {
    launch<__half>(call, static_cast<cudaStream_t>(stream));
  } else {
    launch<bfloat16>(call, static_cast<cudaStream_t>(stream));
  }
#endif
}

// ---------------------------------------------------------------------------------------------------
// Backward: which kernel a call takes. In this file, for one of its own would take a second to
// compile.

#if !CUDAOPS_HIP

// Defined in attention_backward_sm80.cuh, for each element type and width in shards (ops.cmake).
template <typename T, int kWidth>
void launch_attention_backward_sm80_of(const AttentionBackward& call, cudaStream_t stream);

namespace {

template <typename T>
void launch_width(const AttentionBackward& call, cudaStream_t stream) {
  const int64_t width = attention_detail::widest(call.forward);
  if (width <= 64) return launch_attention_backward_sm80_of<T, 64>(call, stream);
  if (width <= 128) return launch_attention_backward_sm80_of<T, 128>(call, stream);
  launch_attention_backward_sm80_of<T, 256>(call, stream);
}

}  // namespace

#endif

bool attention_backward_sm80_serves(const AttentionBackward& call) {
#if CUDAOPS_HIP
  (void)call;
  return false;  // no mma.sync
#else
  using namespace attention_detail;
  const Attention& forward = call.forward;
  if (!has_whole_units(forward) || !has_whole_units(call.grad_output, forward.head_dim_v) ||
      !has_whole_units(call.grad_q, forward.head_dim) ||
      !has_whole_units(call.grad_k, forward.head_dim) ||
      !has_whole_units(call.grad_v, forward.head_dim_v)) {
    return false;
  }
  const int64_t width = widest(forward);
  const int bytes = width <= 64    ? kBackwardBytes<64>
                    : width <= 128 ? kBackwardBytes<128>
                                   : kBackwardBytes<256>;
  return is_compiled_for_mma() && has_shared_memory(bytes);
#endif
}

void launch_attention_backward_sm80(const AttentionBackward& call, void* stream) {
#if CUDAOPS_HIP
  (void)call;
  (void)stream;
#else
  if (call.forward.dtype == DType::kFloat16) {
    launch_width<__half>(call, static_cast<cudaStream_t>(stream));
  } else {
    launch_width<bfloat16>(call, static_cast<cudaStream_t>(stream));
  }
#endif
}

}  // namespace cudaops_kernels

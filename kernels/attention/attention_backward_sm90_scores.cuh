// SPDX-License-Identifier: Apache-2.0
// What the kernel of attention_backward_sm90.cuh does with scores of 64 keys and a query block:
// softcap, slopes, bias and masks, weights, dropout, and dS. They are transposed: a thread has
// parts of two keys (the layout: common/hopper/wgmma.cuh).
#pragma once

#include "../common/hopper/fragment.cuh"
#include "attention_backward_sm90_bias.cuh"
#include "attention_backward_sm90_tiles.cuh"
#include "attention_dropout.cuh"
#include "attention_tiles.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_WGMMA

namespace attention_backward_sm90 {

template <typename Element, typename Shape, Lengths kLengths, bool kHasExtras>
struct Scores {
  static constexpr int kQueries = Shape::kQueries;
  // Whether there are registers for dropout and bias.
  static constexpr bool kIsRoomy = Shape::kRoles != AttentionBackwardSm90Roles::kKeysInTurn;
  using Numbers = float[kQueries / 2];

  const AttentionBackwardSm90Parameters& call;
  const Rings<Shape> rings;

  // Of the n-th query block, from this thread's first column on.
  __device__ __forceinline__ const float* lse(uint32_t n) const {
    return rings.q().numbers(n) + threadIdx.x % 4 * 2;
  }
  __device__ __forceinline__ const float* delta(uint32_t n) const {
    return rings.grad().numbers(n) + threadIdx.x % 4 * 2;
  }

  __device__ __forceinline__ bool has_cap() const { return kHasExtras && call.cap != 0.0f; }
  __device__ __forceinline__ bool has_slopes() const {
    return kHasExtras && call.slopes != nullptr;
  }
  __device__ __forceinline__ bool has_bias() const {
    return kHasExtras && kLengths != Lengths::kOwn && kIsRoomy && call.bias != nullptr;
  }
  __device__ __forceinline__ bool has_dropout() const {
    return kHasExtras && kIsRoomy && call.threshold > 0;
  }

  // Of a tile's first block.
  __device__ __forceinline__ void begin_bias(const Block& block) const {
    if constexpr (Shape::kHasBias) {
      const int first_key = block.first_key;
      if (!block.is_first) return;
      WarpBias<Element, Shape>(call, rings.shared)
          .begin_load(block.tile, first_key, block.first_query, block.head);
    }
  }

  // body(number, query, key), of those in the sequence.
  template <typename OwnNumbers, typename Body>
  __device__ __forceinline__ static void for_each_pair(const Block& block, OwnNumbers& numbers,
                                                       const Body& body) {
    const Tile& tile = block.tile;
    const int first_query = block.first_query + threadIdx.x % 4 * 2;
    const int first_key = block.first_key + (row_of_warp(0) + threadIdx.x % 32 / 4);
    for_each_number(numbers, [&](auto& number, int row, int column) {
      const int query = first_query + column, key = first_key + row;
      if (query < tile.seq_q && key < tile.seq_k) body(number, query, key);
    });
  }

  __device__ __forceinline__ bool is_masked(const Block& block, int first_key) const {
    const int offset = block.tile.seq_k - block.tile.seq_q;
    const int left = call.window_left, right = call.window_right;
    const int first_query = block.first_query, last_query = first_query + kQueries - 1;
    const int last_key = first_key + 63;
    return (last_key >= block.tile.seq_k) |
           ((right >= 0) & (last_key > first_query + offset + right)) |
           ((left >= 0) & (first_key < last_query + offset - left));
  }
  // Scores of queries that don't see a row's key become minus infinity.
  __device__ __forceinline__ void mask(const Block& block, int first_key, int offset,
                                       Numbers& s) const {
    const int lane = threadIdx.x % 32;
    const int row = row_of_warp(first_key) + lane / 4;
    const int column = block.first_query + lane % 4 * 2;
    const int seq_k = block.tile.seq_k;
    const int left = call.window_left, right = call.window_right;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int key = row + 8 * half;
      // The query that the key is aligned with, counted from the thread's first column.
      const int aligned = key - offset - column;
      const int begin = key >= seq_k ? kQueries : right < 0 ? -1 : aligned - right;
      const int end = left < 0 ? kQueries : aligned + left + 1;
#pragma unroll
      for (int i = 0; i < kQueries / 8; ++i) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int query = 8 * i + j;
          float& score = s[4 * i + 2 * half + j];
          if (query < begin || query >= end) score = -INFINITY;
        }
      }
    }
  }

  // Scores of the n-th query block to weights. Returns whether some are masked.
  __device__ __forceinline__ bool weigh(const Block& block, Numbers& s, uint32_t n) const {
    const Tile& tile = block.tile;
    const int first_key = block.first_key, offset = tile.seq_k - tile.seq_q;
    const bool is_masked = this->is_masked(block, first_key);
    if (has_cap()) {
#pragma unroll
      for (int i = 0; i < kQueries / 2; ++i) s[i] = call.cap * fast_tanh(s[i] * call.inverse_cap);
    }
    if (has_slopes()) {
      const float slope =
          call.slopes[tile.batch * call.slopes_batch_stride + block.head] * (kLog2E / call.factor);
      // Of the thread's first key and query.
      const int distance = row_of_warp(first_key) + threadIdx.x % 32 / 4 - block.first_query -
                           threadIdx.x % 4 * 2 - offset;
      for_each_number(s, [&](float& score, int key, int query) {
        score -= slope * static_cast<float>(abs(distance + key - query));
      });
    }
    if (has_bias()) {
      const int64_t first =
          tile.batch * call.bias_batch_stride + block.head * call.bias_head_stride;
      for_each_pair(block, s, [&](float& score, int query, int key) {
        const float bias = attention_detail::number_at(
            call.bias_dtype, call.bias,
            first + query * call.bias_query_stride + key * call.bias_key_stride);
        score += bias * (kLog2E / call.factor);
      });
    }
    if constexpr (Shape::kHasBias) {
      const WarpBias<Element, Shape> bias(call, rings.shared);
      bias.add_to(s, kLog2E / call.factor);
      bias.begin_next(block);
    }
    if (is_masked) mask(block, first_key, offset, s);
    const float* const lse_here = lse(n);
#pragma unroll
    for (int i = 0; i < kQueries / 8; ++i) {
      const float2 pair = *reinterpret_cast<const float2*>(lse_here + 8 * i);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float* const two = s + 4 * i + 2 * half;
        two[0] = detail::exp2_of(fmaf(two[0], call.factor, -pair.x));
        two[1] = detail::exp2_of(fmaf(two[1], call.factor, -pair.y));
      }
    }
    return is_masked;
  }

  // Which weights are dropped, a bit each: that of weight i is bit i % 32 of word i / 32.
  __device__ __forceinline__ void find_dropped(const Block& block,
                                               uint32_t (&dropped)[kQueries / 64]) const {
    const AttentionDropout dropout(call.threshold, call.seed);
#pragma unroll
    for (int i = 0; i < kQueries / 64; ++i) {
      dropped[i] = attention_detail::dropped_of_keys(dropout, block.tile.batch, block.head,
                                                     block.first_query + 64 * i,
                                                     row_of_warp(block.first_key));
    }
  }
  // dP of weights that are dropped becomes 0, and those are 0 for dV, packed.
  __device__ __forceinline__ void drop(Numbers& dp,
                                       const uint32_t (&dropped)[kQueries / 64]) const {
    if (!has_dropout()) return;
    const float kept = this->kept();
#pragma unroll
    for (int i = 0; i < kQueries / 2; ++i) {
      dp[i] = dropped[i / 32] >> i % 32 & 1 ? 0.0f : dp[i] * kept;
    }
  }
  __device__ __forceinline__ void drop(uint32_t (&packed)[kQueries / 4],
                                       const uint32_t (&dropped)[kQueries / 64]) const {
    if (!has_dropout()) return;
#pragma unroll
    for (int i = 0; i < kQueries / 4; ++i) {
      const uint32_t both = dropped[i / 16] >> (2 * i % 32) & 3;
      packed[i] = (both & 1 ? 0 : packed[i] & 0xffffu) | (both & 2 ? 0 : packed[i] & 0xffff0000u);
    }
  }
  // What weights that are not dropped are multiplied with.
  __device__ __forceinline__ float kept() const {
    return has_dropout() ? AttentionDropout(call.threshold, call.seed).template factor<float>()
                         : 1.0f;
  }

  // dP to dS, with weights: the i-th four numbers of a thread.
  __device__ __forceinline__ void derive(Numbers& dp, const float* weight, int i,
                                         uint32_t n) const {
    const float2 pair = *reinterpret_cast<const float2*>(delta(n) + 8 * i);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      dp[4 * i + j] = weight[j] * (dp[4 * i + j] - (j % 2 == 0 ? pair.x : pair.y));
    }
    if (has_cap()) {
      // 1 - tanh^2, with the capped score found again from its weight.
      const float to_tanh = 1.0f / (call.factor * call.cap);
      const float2 lse_pair = *reinterpret_cast<const float2*>(lse(n) + 8 * i);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float tanh = (__log2f(weight[j]) + (j % 2 == 0 ? lse_pair.x : lse_pair.y)) * to_tanh;
        dp[4 * i + j] = weight[j] == 0.0f ? 0.0f : dp[4 * i + j] * fmaf(-tanh, tanh, 1.0f);
      }
    }
  }
  // What a key or a value holds that is not visible counts for nothing: dP becomes 0.
  __device__ __forceinline__ static void hide(Numbers& dp, const float* weight, int i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) dp[4 * i + j] = weight[j] == 0.0f ? 0.0f : dp[4 * i + j];
  }
  // dS is the derivative by the bias too; that of what nobody sees stays zero.
  __device__ __forceinline__ void store_grad_bias(const Block& block, const Numbers& ds) const {
    if constexpr (Shape::kHasBias) {
      if (call.grad_bias != nullptr && call.grad_bias_dtype == DType::kFloat32) {
        WarpBias<Element, Shape>(call, rings.shared).store_gradient(block, ds);
      }
      return;
    }
    if (!has_bias() || call.grad_bias == nullptr) return;
    const Tile& tile = block.tile;
    const int64_t line = (int64_t{tile.batch} * call.heads + block.head) * tile.seq_q;
    attention_detail::for_element_type(call.grad_bias_dtype, [&](auto element) {
      using T = decltype(element);
      T* const grad = static_cast<T*>(call.grad_bias);
      for_each_pair(block, ds, [&](float number, int query, int key) {
        grad[(line + query) * tile.seq_k + key] = from_float<T>(number);
      });
    });
  }
  // Of shapes with a bias in 16 bits, packed.
  __device__ __forceinline__ void store_grad_bias(const Block& block,
                                                  const uint32_t (&ds)[kQueries / 4]) const {
    if constexpr (Shape::kHasBias) {
      if (call.grad_bias != nullptr && call.grad_bias_dtype != DType::kFloat32) {
        WarpBias<Element, Shape>(call, rings.shared).store_gradient(block, ds);
      }
    }
  }
};

}  // namespace attention_backward_sm90

#endif

}  // namespace cudaops_kernels

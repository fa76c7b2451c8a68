// SPDX-License-Identifier: Apache-2.0
// What the kernel of attention_sm90.cuh does with a block of scores: softcap, slopes, bias, masks,
// the softmax's weights and dropout. A thread has parts of two rows (the layout:
// common/hopper/wgmma.cuh).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "../common/device_types.cuh"
#include "../common/hopper/fragment.cuh"
#include "../common/quantized.cuh"
#include "attention_dropout.cuh"
#include "attention_sm90_schedule.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_WGMMA

namespace attention_sm90 {

// The two rows of a thread: the score that exponents are relative to, which is the largest one or
// not far below it, and the thread's part of the sum of exp.
struct Rows {
  float max[2];
  float sum[2];
};

// body(element): of the kernel's T, or of float8 of the type that the call says.
template <typename T, typename Body>
__device__ __forceinline__ auto for_element(const AttentionSm90Parameters& call, const Body& body) {
  if constexpr (!std::is_same<T, uint16_t>::value) {
    return body(T());
  } else {
    return call.writes_half ? body(__half()) : body(bfloat16());
  }
}

// To a row's scores of the keys from `column` on; those are the thread's, and the bias of a row of
// seq_k keys begins at `bias`.
template <typename Bias, typename Shape>
__device__ __forceinline__ void add_bias(const AttentionSm90Parameters& call, const Bias* bias,
                                         int column, int seq_k, int half,
                                         float (&s)[Shape::kKeys / 2]) {
  const auto unpacked = [&](auto pair) {
    return for_element<Bias>(call,
                             [&](auto element) { return unpack_pair<decltype(element)>(pair); });
  };
  bias += column;
  const int count = seq_k - column;
#pragma unroll
  for (int i = 0; i < Shape::kKeys / 8; ++i) {
    float2 pair = make_float2(0.0f, 0.0f);
    if (8 * i + 1 < count) {
      if constexpr (sizeof(Bias) == 4) {
        pair = *reinterpret_cast<const float2*>(bias + 8 * i);
      } else {
        pair = unpacked(*reinterpret_cast<const uint32_t*>(bias + 8 * i));
      }
    } else if (8 * i < count) {
      if constexpr (std::is_same<Bias, uint16_t>::value) {
        pair.x = unpacked(bias[8 * i]).x;
      } else {
        pair.x = to_float(bias[8 * i]);
      }
    }
    s[4 * i + 2 * half] = fmaf(pair.x, call.unit, s[4 * i + 2 * half]);
    s[4 * i + 2 * half + 1] = fmaf(pair.y, call.unit, s[4 * i + 2 * half + 1]);
  }
}

// Softcap, ALiBi and bias of a block of keys; sequences of lengths of their own have no bias.
template <typename T, typename Shape, bool kVarlen>
__device__ __forceinline__ void change_scores(const AttentionSm90Parameters& call, const Tile& tile,
                                              int warpgroup, int block,
                                              float (&s)[Shape::kKeys / 2]) {
  if constexpr (Shape::kIsFloat8) {
#pragma unroll
    for (int i = 0; i < Shape::kKeys / 2; ++i) s[i] *= tile.product_factor;
  }
  if (call.cap != 0.0f) {
#pragma unroll
    for (int i = 0; i < Shape::kKeys / 2; ++i) s[i] = call.cap * fast_tanh(s[i] * call.inverse_cap);
  }
  const int lane = threadIdx.x % 32;
  const int row = row_of_warp(tile.first_query + warpgroup * 64) + lane / 4;
  const int column = block * Shape::kKeys + lane % 4 * 2;
  if (call.slopes != nullptr) {
    const float slope = call.slopes[tile.batch * call.slopes_batch_stride + tile.head] * call.unit;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float first = static_cast<float>(row + 8 * half + tile.seq_k - tile.seq_q - column);
#pragma unroll
      for (int i = 0; i < Shape::kKeys / 8; ++i) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          float& score = s[4 * i + 2 * half + j];
          score = fmaf(-slope, fabsf(first - static_cast<float>(8 * i + j)), score);
        }
      }
    }
  }
  if (!Shape::kHasBias && !kVarlen && call.bias != nullptr) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (row + 8 * half >= tile.seq_q) continue;
      const int64_t at = tile.batch * call.bias_batch_stride + tile.head * call.bias_head_stride +
                         (row + 8 * half) * call.bias_query_stride;
      if (call.bias_is_float) {
        add_bias<float, Shape>(call, static_cast<const float*>(call.bias) + at, column, tile.seq_k,
                               half, s);
      } else {
        add_bias<T, Shape>(call, static_cast<const T*>(call.bias) + at, column, tile.seq_k, half,
                           s);
      }
    }
  }
}

// Scores of keys behind the last one that a row sees become minus infinity, or those of keys before
// the first one. `first`: the warpgroup's first row, aligned with the keys.
template <typename Shape, bool kBehind>
__device__ __forceinline__ void mask_scores(const AttentionSm90Parameters& call,
                                            float (&s)[Shape::kKeys / 2], int seq_k, int first,
                                            int block) {
  const int lane = threadIdx.x % 32;
  const int row = row_of_warp(first) + lane / 4;
  const int column = block * Shape::kKeys + lane % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int aligned = row + 8 * half;
    const int end = call.window_right < 0 ? seq_k : min(seq_k, aligned + call.window_right + 1);
    const int bound = (kBehind ? end : aligned - call.window_left) - column;
#pragma unroll
    for (int i = 0; i < Shape::kKeys / 8; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int key = 8 * i + j;
        float& score = s[4 * i + 2 * half + j];
        if (kBehind ? key >= bound : key < bound) score = -INFINITY;
      }
    }
  }
}

// The exponent that a weight of 1 has.
template <int kShift>
__device__ __forceinline__ float exponent_of_largest(float max, float factor) {
  if constexpr (kShift == 0) return max * factor;
  return fmaf(max, factor, -static_cast<float>(kShift));
}

// Scores, which are exponents of 2 times `factor`, to weights: 2^kShift for a row's largest score
// up to now. `rescale`: by what sums and outputs up to now are to be multiplied. Returns whether
// outputs are, the same for all of a warp. Of float8, whose weights must not grow, always; else
// only where a row's largest score has grown by so much that a weight of more than 2^kGrowth would
// come out; else the row's weights stay relative to what they were.
template <int kShift, int kSize>
__device__ __forceinline__ bool weigh(float factor, float (&s)[kSize], Rows& rows,
                                      float (&rescale)[2]) {
  constexpr bool kRarely = kShift == 0;
  constexpr float kGrowth = 8.0f, kBeyondSums = 1e30f;
  bool is_rescaled = !kRarely;
  float offset[2], sum[2], last_max[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float largest[2] = {s[2 * half], s[2 * half + 1]};
#pragma unroll
    for (int i = 1; i < kSize / 4; ++i) {
      largest[0] = fmaxf(largest[0], s[4 * i + 2 * half]);
      largest[1] = fmaxf(largest[1], s[4 * i + 2 * half + 1]);
    }
    last_max[half] = rows.max[half];
    const float max = max_of_row(fmaxf(last_max[half], fmaxf(largest[0], largest[1])));
    const bool grows = !kRarely || (max - last_max[half]) * factor > kGrowth;
    if (grows) rows.max[half] = max;
    is_rescaled = is_rescaled || grows;
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    // A row that has seen nothing yet: exp2(-inf - 0) is 0, exp2(-inf + inf) would be NaN.
    offset[half] =
        rows.max[half] == -INFINITY ? 0.0f : exponent_of_largest<kShift>(rows.max[half], factor);
    float sums[2] = {0.0f, 0.0f};
#pragma unroll
    for (int i = 0; i < kSize / 4; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        float& value = s[4 * i + 2 * half + j];
        value = detail::exp2_of(fmaf(value, factor, -offset[half]));
        sums[j] += value;
      }
    }
    sum[half] = sums[0] + sums[1];
  }
  // No sum is so large. But ptxas would put the sums behind a branch that doesn't need them, where
  // nothing runs beside them.
  if constexpr (kRarely) {
    is_rescaled = __any_sync(0xFFFFFFFF, is_rescaled || sum[0] + sum[1] > kBeyondSums);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    rescale[half] =
        is_rescaled
            ? detail::exp2_of(exponent_of_largest<kShift>(last_max[half], factor) - offset[half])
            : 1.0f;
    rows.sum[half] = fmaf(rows.sum[half], rescale[half], sum[half]);
  }
  return is_rescaled;
}

// Weights that dropout drops become 0; sums have counted them.
template <typename Shape>
__device__ __forceinline__ void drop_weights(const AttentionSm90Parameters& call, const Tile& tile,
                                             int warpgroup, int block,
                                             float (&s)[Shape::kKeys / 2]) {
  const AttentionDropout dropout(call.threshold, call.seed);
  const int row = row_of_warp(tile.first_query + warpgroup * 64);
#pragma unroll
  for (int first = 0; first < Shape::kKeys; first += 64) {
    const uint32_t dropped = attention_detail::dropped_of_queries(
        dropout, tile.batch, tile.head, row, block * Shape::kKeys + first,
        min(4, (Shape::kKeys - first) / 16));
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const int at = first / 2 + i;
      if (at < Shape::kKeys / 2 && (dropped >> i & 1) != 0) s[at] = 0.0f;
    }
  }
}

// Weights as operands of the products with values. Of float8 the columns of a product of 32 keys
// are in the order in which a thread has them: attention_float8_sm90.cuh, "order of keys".
template <typename T, typename Shape>
__device__ __forceinline__ void pack_weights(uint32_t (&p)[Shape::kWeightWords],
                                             const float (&s)[Shape::kKeys / 2]) {
  if constexpr (!Shape::kIsFloat8) {
    pack_all<T>(p, s);
  } else {
#pragma unroll
    for (int i = 0; i < Shape::kWeightWords; ++i) {
      const float* const first = s + i / 2 * 8 + i % 2 * 2;
      p[i] = detail::float8_word(first[0], first[1], first[4], first[5]);
    }
  }
}

template <int kSize>
__device__ __forceinline__ void multiply_rows(float (&o)[kSize], const float (&factor)[2]) {
#pragma unroll
  for (int i = 0; i < kSize; ++i) o[i] *= factor[i / 2 % 2];
}

// o = o * factor + more, of columns that lie side by side.
template <int kFirst, int kCount, int kSize, int kMore>
__device__ __forceinline__ void multiply_add_rows(float (&o)[kSize], const float (&factor)[2],
                                                  const float (&more)[kMore]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    o[kFirst + i] = fmaf(o[kFirst + i], factor[i / 2 % 2], more[i]);
  }
}

}  // namespace attention_sm90

#endif

}  // namespace cudaops_kernels

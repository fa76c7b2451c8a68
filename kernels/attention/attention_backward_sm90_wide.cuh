// SPDX-License-Identifier: Apache-2.0
// The consumers of attention_backward_sm90.cuh for heads of more than 128 elements, of which a
// warpgroup has not the registers for both dK and dV. A tile has 64 keys, which both warpgroups
// share:
//
//   first    S^T = K Q^T and P^T, which it gives to the other one; dV += P^T dO
//   second   dP^T = V dO^T and dS^T, which goes to shared memory; dK += dS^T Q
//
// and each every second 64 rows of dQ^T = K^T dS^T, which it adds to memory from its registers:
// there is no room for them in shared memory.
#pragma once

#include "attention_backward_sm90_tiles.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_WGMMA

namespace attention_backward_sm90 {

template <typename T, typename Shape, bool kVarlen, bool kHasCap>
__device__ __forceinline__ void consume_wide(const AttentionBackwardSm90Parameters& call,
                                             char* shared, const Barriers<Shape>& barriers,
                                             int warpgroup) {
  constexpr int kQueries = Shape::kQueries;
  constexpr int kHeadDim = Shape::kHeadDim;
  constexpr int kThreads = Shape::kWarpgroups * kWarpgroupSize;
  constexpr int kWeightsBarrier = 1, kScoresBarrier = 2;  // of both warpgroups
  const int own_barrier = 3 + warpgroup;
  const int thread = threadIdx.x % kWarpgroupSize;
  const bool is_first = warpgroup == 0;
  const bool is_first_lane = threadIdx.x % 32 == 0;
  float4* const weights = reinterpret_cast<float4*>(shared + Shape::kSumsOffset) + thread;
  char* const scores_tile = shared + Shape::kScoresOffset;
  uint32_t n = 0;            // query blocks up to now
  float sums[kHeadDim / 2];  // of dV or dK
  float s[kQueries / 2];     // S or dP, then P or dS
  uint32_t packed[kQueries / 4];
  float dq[kQueries / 2];

  for (uint32_t known = 0;; ++known) {
    wait_for_phase(barriers.tile_full(known), parity<2>(known));
    const Tile& tile = known_tile<Shape>(shared, known);
    if (tile.batch < 0) break;
#pragma unroll
    for (int i = 0; i < kHeadDim / 2; ++i) sums[i] = 0.0f;
    wait_for_phase(barriers.keys_full(), parity<1>(known));
    if (!tile.is_empty()) {
      const int offset = tile.seq_k - tile.seq_q;
      const int blocks = tile.end_block - tile.first_block;
      int block = tile.first_block;
      int to = tile.sums;
      if (kVarlen && tile.first_key + Shape::kKeys > tile.seq_k) {
        clear_rows_from<typename Shape::KTile, Shape::kKeys>(
            shared + Shape::kKOffset, tile.seq_k - tile.first_key, own_barrier);
      }
#pragma unroll 1
      for (int left = blocks * call.group; left > 0; --left, ++n) {
        const int first_query = block * kQueries;
        char* const q_tile =
            shared + Shape::kQOffset + stage<Shape::kQStages>(n) * Shape::QTile::kBytes;
        char* const grad_tile =
            shared + Shape::kGradOffset + stage<Shape::kGradStages>(n) * Shape::QTile::kBytes;
        wait_for_phase(barriers.q_full(stage<Shape::kQStages>(n)), parity<Shape::kQStages>(n));
        wait_for_phase(barriers.grad_full(stage<Shape::kGradStages>(n)),
                       parity<Shape::kGradStages>(n));
        if (kVarlen && first_query + kQueries > tile.seq_q) {
          const int end = tile.seq_q - first_query;
          clear_rows_from<typename Shape::QTile, kQueries>(q_tile, end, own_barrier);
          clear_rows_from<typename Shape::QTile, kQueries>(grad_tile, end, own_barrier);
        }
        fence_wgmma();
        multiply_by_rows<T, Shape::kKeys, kQueries, kHeadDim>(
            s, shared + (is_first ? Shape::kKOffset : Shape::kVOffset), 0,
            is_first ? q_tile : grad_tile);
        commit_wgmma();
        wait_for_wgmma<0>();
        keep(s);
        const int own_column = threadIdx.x % 4 * 2;
        const float* const lse = reinterpret_cast<const float*>(shared + Shape::kLseOffset) +
                                 stage<Shape::kQStages>(n) * kQueries + own_column;
        if (is_first) {
          if (kHasCap) {
#pragma unroll
            for (int i = 0; i < kQueries / 2; ++i)
              s[i] = call.cap * fast_tanh(s[i] * call.inverse_cap);
          }
          const int last_key = tile.first_key + 63, last_query = first_query + kQueries - 1;
          const bool is_masked =
              last_key >= tile.seq_k ||
              (call.window_right >= 0 && last_key > first_query + offset + call.window_right) ||
              (call.window_left >= 0 && tile.first_key < last_query + offset - call.window_left);
          if (is_masked) {
            mask_scores<Shape>(call, s, tile.seq_k, offset, tile.first_key, first_query);
          }
#pragma unroll
          for (int i = 0; i < kQueries / 8; ++i) {
            const float2 pair = *reinterpret_cast<const float2*>(lse + 8 * i);
            float* const four = s + 4 * i;
            four[0] = detail::exp2_of(fmaf(four[0], call.factor, -pair.x));
            four[1] = detail::exp2_of(fmaf(four[1], call.factor, -pair.y));
            four[2] = detail::exp2_of(fmaf(four[2], call.factor, -pair.x));
            four[3] = detail::exp2_of(fmaf(four[3], call.factor, -pair.y));
            weights[i * kWarpgroupSize] = make_float4(four[0], four[1], four[2], four[3]);
          }
          arrive_at_barrier(kWeightsBarrier, kThreads);
        } else {
          const float* const delta = reinterpret_cast<const float*>(shared + Shape::kDeltaOffset) +
                                     stage<Shape::kGradStages>(n) * kQueries + own_column;
          wait_at_barrier(kWeightsBarrier, kThreads);
#pragma unroll
          for (int i = 0; i < kQueries / 8; ++i) {
            const float2 pair = *reinterpret_cast<const float2*>(delta + 8 * i);
            const float4 four = weights[i * kWarpgroupSize];
            const float weight[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int j = 0; j < 4; ++j) {
              float& value = s[4 * i + j];
              // What a key or a value holds that is not visible counts for nothing.
              value =
                  weight[j] == 0.0f ? 0.0f : weight[j] * (value - (j % 2 == 0 ? pair.x : pair.y));
            }
            if (kHasCap) {
              // 1 - tanh^2, with the capped score found again from its weight.
              const float to_tanh = 1.0f / (call.factor * call.cap);
              const float2 lse_pair = *reinterpret_cast<const float2*>(lse + 8 * i);
#pragma unroll
              for (int j = 0; j < 4; ++j) {
                const float tanh =
                    (__log2f(weight[j]) + (j % 2 == 0 ? lse_pair.x : lse_pair.y)) * to_tanh;
                float& value = s[4 * i + j];
                value = weight[j] == 0.0f ? 0.0f : value * fmaf(-tanh, tanh, 1.0f);
              }
            }
          }
        }
        pack_all<T>(packed, s);
        if (!is_first) {
          store_fragment<typename Shape::ScoreTile, kQueries>(scores_tile, 0, packed);
          fence_for_wgmma();
        }
        // dV beside dS; the other warpgroup's dK comes behind dQ's first part there.
        fence_wgmma();
        multiply_add_by_columns<T, kQueries, kHeadDim>(sums, packed, is_first ? grad_tile : q_tile);
        commit_wgmma();
        // dS is there, and the weights are read.
        wait_at_barrier(kScoresBarrier, kThreads);
        float* const block_sums = call.sums + int64_t{to} * Shape::kBlockSums;
        ++to;
        if (++block == tile.end_block) {
          block = tile.first_block;
          to += call.query_blocks - blocks;
        }
#pragma unroll
        for (int turn = 0; turn < (Shape::kSumParts + 1) / 2; ++turn) {
          const int part = 2 * turn + warpgroup;
          if (part >= Shape::kSumParts) break;
          fence_wgmma();
          multiply_columns<T, Shape::kKeys, kQueries>(
              dq, shared + Shape::kKOffset + part * Shape::KTile::kChunkBytes, scores_tile);
          commit_wgmma();
          wait_for_wgmma<0>();
          keep(dq);
          keep(sums);
          float4* const own_sums =
              reinterpret_cast<float4*>(block_sums + part * Shape::kSums) + thread;
#pragma unroll
          for (int i = 0; i < kQueries / 8; ++i) {
            atomicAdd(own_sums + i * kWarpgroupSize,
                      make_float4(dq[4 * i], dq[4 * i + 1], dq[4 * i + 2], dq[4 * i + 3]));
          }
        }
        __syncwarp();  // all lanes have read lse and delta
        if (is_first_lane) {
          arrive(barriers.q_empty(stage<Shape::kQStages>(n)));
          arrive(barriers.grad_empty(stage<Shape::kGradStages>(n)));
        }
      }
    }
    if (is_first_lane) arrive(barriers.keys_empty());
    const AttentionOutput& grad = is_first ? call.grad_v : call.grad_k;
    const int64_t first = tile.kv_head * grad.head_stride +
                          (kVarlen ? tile.k_row * grad.seq_stride : tile.batch * grad.batch_stride);
    write_rows<T, kHeadDim>(grad, first, tile.first_key, tile.seq_k,
                            is_first ? call.head_dim_v : call.head_dim, sums,
                            is_first ? 1.0f : call.scale);
    __syncwarp();
    if (is_first_lane) arrive(barriers.tile_empty(known));
  }
  let_next_kernel_start();
}

}  // namespace attention_backward_sm90

#endif

}  // namespace cudaops_kernels

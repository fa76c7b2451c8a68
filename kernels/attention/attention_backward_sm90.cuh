// SPDX-License-Identifier: Apache-2.0
// Attention, backward, for sm_90a (H100, H200): 16-bit elements, head dimensions that are multiples
// of 8. What it computes: attention.h.
//
// A block computes dK and dV of tiles of 128 keys of a key head, one tile after the other: K and V
// stay in shared memory, and Q and dO of all query heads that read them go by in blocks of kQueries
// rows. Tiles are given out by a counter, the longest of some heads first. Warpgroups have roles:
//
//   producer    two threads have the copy engine load K and V once a tile, and Q and dO with their
//               rows' lse and delta into rings; the other registers are given to the consumers.
//   consumers   64 keys each. S^T = K Q^T and dP^T = V dO^T from shared memory; P^T = exp2(S^T -
//               lse) and dS^T = P^T (dP^T - delta) in registers, where they are operands of
//               dV += P^T dO and dK += dS^T Q. dS^T also goes to shared memory, for dQ^T = K^T
//               dS^T of the keys of both warpgroups, of which each computes a half.
//
// dQ is a sum over the blocks that have the keys: each adds its part to numbers in memory by the
// copy engine, in the order of a thread's registers, and a last kernel brings them into rows. In
// which order they are added is not known: grad_q is not the same from run to run.
//
// Products run beside what is done in registers: dP^T beside the exponentials, dV beside dS, dK
// beside writing dQ.
//
// Heads of more than 128 elements: attention_backward_sm90_wide.cuh.
//
// Method: Dao, FlashAttention-2, 2023; Shah et al., FlashAttention-3, 2024.
#pragma once

#include <cudaops/check.h>

#include <algorithm>
#include <cstdint>

#include "../common/bulk_copy.cuh"
#include "../common/device_types.cuh"
#include "../common/hopper/mbarrier.cuh"
#include "../common/hopper/tile.cuh"
#include "../common/hopper/tma.cuh"
#include "../common/hopper/wgmma.cuh"
#include "attention_backward_sm90_tiles.cuh"
#include "attention_backward_sm90_wide.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_WGMMA

namespace attention_backward_sm90 {

// One thread fills a tile with rows of the tensor from `row` on; the barrier expects the bytes.
template <typename Tile>
__device__ __forceinline__ void copy_rows(char* tile, const CUtensorMap* map, int row, int head,
                                          int batch, uint64_t* barrier) {
  // Not unrolled: the thread that does it has few registers.
#pragma unroll 1
  for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
    copy_box_to_shared(tile + chunk * Tile::kChunkBytes, map, chunk * kBoxColumns, row, head, batch,
                       barrier);
  }
}

// Blocks of Q or dO of a tile, with their rows' lse or delta, which lie where sums do. `n`: blocks
// of the tiles before.
template <typename Shape, int kStages, bool kVarlen>
__device__ __forceinline__ void copy_blocks(const AttentionBackwardSm90Parameters& call,
                                            const Tile& tile, const CUtensorMap* map,
                                            const float* statistics, char* to, char* statistics_to,
                                            uint64_t* full, uint64_t* empty, uint32_t& n) {
  constexpr uint32_t kStatisticBytes = Shape::kQueries * 4;
#pragma unroll 1
  for (int head = 0; head < call.group; ++head) {
#pragma unroll 1
    for (int block = tile.first_block; block < tile.end_block; ++block, ++n) {
      const int at = stage<kStages>(n);
      wait_for_phase(empty + at, parity<kStages>(n) ^ 1);
      expect_bytes(full + at, Shape::QTile::kBytes + kStatisticBytes);
      const int64_t from = tile.sums + head * call.query_blocks + block - tile.first_block;
      copy_to_shared(statistics_to + at * kStatisticBytes, statistics + from * Shape::kQueries,
                     kStatisticBytes, full + at);
      copy_rows<typename Shape::QTile>(
          to + at * Shape::QTile::kBytes, map, tile.q_row + block * Shape::kQueries,
          tile.kv_head * call.group + head, kVarlen ? 0 : tile.batch, full + at);
    }
  }
}

template <typename Shape, bool kVarlen>
__device__ __forceinline__ void produce_keys_and_queries(
    const AttentionBackwardSm90Parameters& call, char* shared, const Barriers<Shape>& barriers) {
  uint32_t n = 0;  // query blocks up to now
  for (uint32_t known = 0;; ++known) {
    // The consumers have some blocks of the tile before to do.
    const int index = static_cast<int>(
        known == 0 ? blockIdx.x : gridDim.x + static_cast<uint32_t>(atomicAdd(call.next_tile, 1)));
    Tile& tile = known_tile<Shape>(shared, known);
    wait_for_phase(barriers.tile_empty(known), parity<2>(known) ^ 1);
    if (index < call.num_tiles) {
      tile = tile_at<Shape, kVarlen>(call, index);
    } else {
      tile.batch = -1;
    }
    arrive(barriers.tile_full(known));
    if (index >= call.num_tiles) break;
    wait_for_phase(barriers.keys_empty(), parity<1>(known) ^ 1);
    expect_bytes(barriers.keys_full(), 2 * Shape::KTile::kBytes);
    const int row = tile.k_row + tile.first_key, batch = kVarlen ? 0 : tile.batch;
    copy_rows<typename Shape::KTile>(shared + Shape::kKOffset, &call.k, row, tile.kv_head, batch,
                                     barriers.keys_full());
    copy_rows<typename Shape::KTile>(shared + Shape::kVOffset, &call.v, row, tile.kv_head, batch,
                                     barriers.keys_full());
    copy_blocks<Shape, Shape::kQStages, kVarlen>(
        call, tile, &call.q, call.lse, shared + Shape::kQOffset, shared + Shape::kLseOffset,
        barriers.q_full(0), barriers.q_empty(0), n);
  }
}

template <typename Shape, bool kVarlen>
__device__ __forceinline__ void produce_grad_output(const AttentionBackwardSm90Parameters& call,
                                                    char* shared, const Barriers<Shape>& barriers) {
  uint32_t n = 0;  // query blocks up to now
  for (uint32_t known = 0;; ++known) {
    wait_for_phase(barriers.tile_full(known), parity<2>(known));
    const Tile& tile = known_tile<Shape>(shared, known);
    if (tile.batch < 0) break;
    copy_blocks<Shape, Shape::kGradStages, kVarlen>(
        call, tile, &call.grad_output, call.delta, shared + Shape::kGradOffset,
        shared + Shape::kDeltaOffset, barriers.grad_full(0), barriers.grad_empty(0), n);
    arrive(barriers.tile_empty(known));
  }
}

template <typename T, typename Shape, bool kVarlen, bool kHasCap>
__device__ __forceinline__ void consume(const AttentionBackwardSm90Parameters& call, char* shared,
                                        const Barriers<Shape>& barriers, int warpgroup) {
  constexpr int kQueries = Shape::kQueries;
  constexpr int kHeadDim = Shape::kHeadDim;
  constexpr int kScoresBarrier = 1;  // of both warpgroups
  const int own_barrier = 2 + warpgroup;
  const int thread = threadIdx.x % kWarpgroupSize;
  const bool is_first_lane = threadIdx.x % 32 == 0;
  char* const own_sums = shared + Shape::kSumsOffset + warpgroup * Shape::kSums * 4;
  uint32_t n = 0;  // query blocks up to now
  float s[kQueries / 2], dp[kQueries / 2];
  uint32_t p[kQueries / 4], ds[kQueries / 4];
  float dq[Shape::kSumQueries / 2];
  float dk[kHeadDim / 2], dv[kHeadDim / 2];

  const auto q_tile = [&] {
    return shared + Shape::kQOffset + stage<Shape::kQStages>(n) * Shape::QTile::kBytes;
  };
  const auto grad_tile = [&] {
    return shared + Shape::kGradOffset + stage<Shape::kGradStages>(n) * Shape::QTile::kBytes;
  };
  const auto scores_tile = [&] {
    return shared + Shape::kScoresOffset + (n & 1) * Shape::ScoreTile::kBytes;
  };

  for (uint32_t known = 0;; ++known) {
    wait_for_phase(barriers.tile_full(known), parity<2>(known));
    const Tile& tile = known_tile<Shape>(shared, known);
    if (tile.batch < 0) break;
#pragma unroll
    for (int i = 0; i < kHeadDim / 2; ++i) dk[i] = dv[i] = 0.0f;
    const int first_key = tile.first_key + warpgroup * 64;
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
        const bool ends = kVarlen && first_query + kQueries > tile.seq_q;
        wait_for_phase(barriers.q_full(stage<Shape::kQStages>(n)), parity<Shape::kQStages>(n));
        if (ends) {
          clear_rows_from<typename Shape::QTile, kQueries>(q_tile(), tile.seq_q - first_query,
                                                           own_barrier);
        }
        fence_wgmma();
        multiply_by_rows<T, Shape::kKeys, kQueries, kHeadDim>(s, shared + Shape::kKOffset,
                                                              warpgroup * 64, q_tile());
        commit_wgmma();
        wait_for_phase(barriers.grad_full(stage<Shape::kGradStages>(n)),
                       parity<Shape::kGradStages>(n));
        if (ends) {
          clear_rows_from<typename Shape::QTile, kQueries>(grad_tile(), tile.seq_q - first_query,
                                                           own_barrier);
        }
        fence_wgmma();
        multiply_by_rows<T, Shape::kKeys, kQueries, kHeadDim>(dp, shared + Shape::kVOffset,
                                                              warpgroup * 64, grad_tile());
        commit_wgmma();
        wait_for_wgmma<1>();
        keep(s);
        if (kHasCap) {
#pragma unroll
          for (int i = 0; i < kQueries / 2; ++i)
            s[i] = call.cap * fast_tanh(s[i] * call.inverse_cap);
        }
        const int last_key = first_key + 63, last_query = first_query + kQueries - 1;
        const bool is_masked =
            last_key >= tile.seq_k ||
            (call.window_right >= 0 && last_key > first_query + offset + call.window_right) ||
            (call.window_left >= 0 && first_key < last_query + offset - call.window_left);
        if (is_masked) {
          mask_scores<Shape>(call, s, tile.seq_k, offset, first_key, first_query);
        }
        const int own_column = threadIdx.x % 4 * 2;
        const float* const lse = reinterpret_cast<const float*>(shared + Shape::kLseOffset) +
                                 stage<Shape::kQStages>(n) * kQueries + own_column;
        const float* const delta = reinterpret_cast<const float*>(shared + Shape::kDeltaOffset) +
                                   stage<Shape::kGradStages>(n) * kQueries + own_column;
#pragma unroll
        for (int i = 0; i < kQueries / 8; ++i) {
          const float2 pair = *reinterpret_cast<const float2*>(lse + 8 * i);
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            float* const two = s + 4 * i + 2 * half;
            two[0] = detail::exp2_of(fmaf(two[0], call.factor, -pair.x));
            two[1] = detail::exp2_of(fmaf(two[1], call.factor, -pair.y));
          }
        }
        const auto issue_values = [&] {
          pack_all<T>(p, s);
          fence_wgmma();
          multiply_add_by_columns<T, kQueries, kHeadDim>(dv, p, grad_tile());
          commit_wgmma();
        };
        if (Shape::kOverlapsValues) {
          issue_values();
          wait_for_wgmma<1>();
        } else {
          wait_for_wgmma<0>();
        }
        keep(dp);
        if (is_masked) {
          // What a key or a value holds that is not visible counts for nothing.
#pragma unroll
          for (int i = 0; i < kQueries / 2; ++i) dp[i] = s[i] == 0.0f ? 0.0f : dp[i];
        }
#pragma unroll
        for (int i = 0; i < kQueries / 8; ++i) {
          const float2 pair = *reinterpret_cast<const float2*>(delta + 8 * i);
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const int at = 4 * i + 2 * half;
            dp[at] = s[at] * (dp[at] - pair.x);
            dp[at + 1] = s[at + 1] * (dp[at + 1] - pair.y);
          }
          if (kHasCap) {
            // 1 - tanh^2, with the capped score found again from its weight.
            const float to_tanh = 1.0f / (call.factor * call.cap);
            const float2 lse_pair = *reinterpret_cast<const float2*>(lse + 8 * i);
#pragma unroll
            for (int at = 4 * i; at < 4 * i + 4; ++at) {
              const float tanh =
                  (__log2f(s[at]) + (at % 2 == 0 ? lse_pair.x : lse_pair.y)) * to_tanh;
              dp[at] = s[at] == 0.0f ? 0.0f : dp[at] * fmaf(-tanh, tanh, 1.0f);
            }
          }
        }
        pack_all<T>(ds, dp);
        if (!Shape::kOverlapsValues) issue_values();
        store_fragment<typename Shape::ScoreTile, kQueries>(scores_tile(), warpgroup * 64, ds);
        fence_for_wgmma();
        // Then both halves of dS are there, dQ of the block before is read, and dS of the one
        // before that too.
        if (thread == 0) wait_for_reads();
        wait_at_barrier(kScoresBarrier, Shape::kWarpgroups * kWarpgroupSize);
        fence_wgmma();
        const char* const sum_keys =
            shared + Shape::kKOffset +
            (Shape::kSplitsQueries ? 0 : warpgroup * Shape::KTile::kChunkBytes);
        const char* const sum_scores =
            scores_tile() + (Shape::kSplitsQueries ? warpgroup * Shape::ScoreTile::kChunkBytes : 0);
        multiply_columns<T, Shape::kKeys, Shape::kSumQueries>(dq, sum_keys, sum_scores);
        commit_wgmma();
        multiply_add_by_columns<T, kQueries, kHeadDim>(dk, ds, q_tile());
        commit_wgmma();
        const int to_this = to;
        ++to;
        if (++block == tile.end_block) {
          block = tile.first_block;
          to += call.query_blocks - blocks;
        }
        wait_for_wgmma<1>();
        keep(dv);
        keep(dq);
        __syncwarp();  // all lanes have read delta
        if (is_first_lane) arrive(barriers.grad_empty(stage<Shape::kGradStages>(n)));
#pragma unroll
        for (int i = 0; i < Shape::kSumQueries / 8; ++i) {
          reinterpret_cast<float4*>(own_sums)[i * kWarpgroupSize + thread] =
              make_float4(dq[4 * i], dq[4 * i + 1], dq[4 * i + 2], dq[4 * i + 3]);
        }
        fence_for_wgmma();
        wait_at_barrier(own_barrier, kWarpgroupSize);
        if (thread == 0) {
          add_to_memory(call.sums + int64_t{to_this} * Shape::kBlockSums + warpgroup * Shape::kSums,
                        own_sums, Shape::kSums * 4);
        }
        wait_for_wgmma<0>();
        keep(dk);
        __syncwarp();  // and lse
        if (is_first_lane) arrive(barriers.q_empty(stage<Shape::kQStages>(n)));
      }
    }
    if (is_first_lane) arrive(barriers.keys_empty());
    const int num_rows = tile.seq_k;
    const auto first_of = [&](const AttentionOutput& tensor) {
      return tile.kv_head * tensor.head_stride +
             (kVarlen ? tile.k_row * tensor.seq_stride : tile.batch * tensor.batch_stride);
    };
    write_rows<T, kHeadDim>(call.grad_v, first_of(call.grad_v), first_key, num_rows,
                            call.head_dim_v, dv, 1.0f);
    write_rows<T, kHeadDim>(call.grad_k, first_of(call.grad_k), first_key, num_rows, call.head_dim,
                            dk, call.scale);
    __syncwarp();
    if (is_first_lane) arrive(barriers.tile_empty(known));
  }
  let_next_kernel_start();
  if (thread == 0) wait_for_additions();
}

}  // namespace attention_backward_sm90

#endif

// Without wgmma it has no body, and is never launched: attention_backward_sm90_serves().
template <typename T, typename Shape, bool kVarlen, bool kHasCap>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    attention_backward_sm90_kernel(const __grid_constant__ AttentionBackwardSm90Parameters call) {
#if CUDAOPS_HAS_WGMMA
  using namespace attention_backward_sm90;
  extern __shared__ __align__(1024) char shared[];
  const Barriers<Shape> barriers = {reinterpret_cast<uint64_t*>(shared + Shape::kBarriersOffset)};
  const int warp = __shfl_sync(0xFFFFFFFF, threadIdx.x / 32, 0);
  if (threadIdx.x == 0) {
    for (const CUtensorMap* map : {&call.q, &call.k, &call.v, &call.grad_output}) {
      prefetch_tensor_map(map);
    }
    constexpr int kConsumerWarps = 4 * Shape::kWarpgroups;
    init_barrier(barriers.keys_full());
    init_barrier(barriers.keys_empty(), kConsumerWarps);
    for (int n = 0; n < 2; ++n) {
      init_barrier(barriers.tile_full(n));
      init_barrier(barriers.tile_empty(n), kConsumerWarps + 1);
    }
    for (int stage = 0; stage < Shape::kQStages; ++stage) {
      init_barrier(barriers.q_full(stage));
      init_barrier(barriers.q_empty(stage), kConsumerWarps);
    }
    for (int stage = 0; stage < Shape::kGradStages; ++stage) {
      init_barrier(barriers.grad_full(stage));
      init_barrier(barriers.grad_empty(stage), kConsumerWarps);
    }
    fence_barriers();
  }
  __syncthreads();
  wait_for_kernels_before();
  if (warp < 4) {
    give_registers_back<Shape::kProducerRegisters>();
    if (threadIdx.x == 0) produce_keys_and_queries<Shape, kVarlen>(call, shared, barriers);
    if (threadIdx.x == 32) produce_grad_output<Shape, kVarlen>(call, shared, barriers);
  } else {
    take_registers<Shape::kConsumerRegisters>();
    if constexpr (Shape::kIsWide) {
      consume_wide<T, Shape, kVarlen, kHasCap>(call, shared, barriers, warp / 4 - 1);
    } else {
      consume<T, Shape, kVarlen, kHasCap>(call, shared, barriers, warp / 4 - 1);
    }
  }
#endif
}

template <typename T, typename Shape, bool kVarlen, bool kHasCap>
void launch_attention_backward_sm90_type(const AttentionBackwardSm90Parameters& parameters,
                                         cudaStream_t stream) {
  int device = 0, multiprocessors = 0;
  CUDAOPS_CHECK(cudaGetDevice(&device));
  CUDAOPS_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  const auto kernel = &attention_backward_sm90_kernel<T, Shape, kVarlen, kHasCap>;
  CUDAOPS_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     Shape::kSharedBytes));
  const auto blocks = static_cast<unsigned int>(std::min(parameters.num_tiles, multiprocessors));
  launch_overlapping_with(kernel, dim3(blocks), dim3(Shape::kThreads), Shape::kSharedBytes, stream,
                          parameters);
}

// One shape, a unit of its own: kernels/CMakeLists.txt.
template <typename Shape>
void launch_attention_backward_sm90_of(DType dtype,
                                       const AttentionBackwardSm90Parameters& parameters,
                                       cudaStream_t stream) {
  const auto launch = [&](auto element) {
    using T = decltype(element);
    const bool has_cap = parameters.cap != 0.0f;
    if (parameters.cu_seqlens_q != nullptr) {
      (has_cap ? launch_attention_backward_sm90_type<T, Shape, true, true>
               : launch_attention_backward_sm90_type<T, Shape, true, false>)(parameters, stream);
    } else {
      (has_cap ? launch_attention_backward_sm90_type<T, Shape, false, true>
               : launch_attention_backward_sm90_type<T, Shape, false, false>)(parameters, stream);
    }
  };
  if (dtype == DType::kFloat16) {
    launch(__half());
  } else {
    launch(bfloat16());
  }
}

}  // namespace cudaops_kernels

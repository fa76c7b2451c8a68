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
//               dS^T of the keys of both warpgroups, of which each computes a part. Heads of more
//               than 128 elements: attention_backward_sm90_consumers.cuh.
//
// Here are the roles. What a tile is, where it lies and which block has it:
// attention_backward_sm90_tiles.cuh; a consumer's work on a query block: ..._consumers.cuh; what
// becomes of scores: ..._scores.cuh, and ..._bias.cuh; which calls come here, and the kernels
// before and behind: attention_backward_sm90.cu. Products, copies, barriers: common/hopper.
//
// dQ is a sum over the blocks that have the keys: each adds its part to numbers in memory, in the
// order of a thread's registers, and a last kernel brings them into rows. In which order they are
// added is not known, and grad_q not the same from run to run, unless a fixed order is asked for:
// then blocks wait for each other, a query block's last keys being first, as causal attention
// reaches them.
//
// racecheck (CUDA 13.0) reports hazards between the copies of lse and delta and their readers; it
// does so for any ring of bulk copies whose buffers are released through an mbarrier.
//
// Method: Dao, FlashAttention-2, 2023; Shah et al., FlashAttention-3, 2024.
#pragma once

#include <cudaops/check.h>

#include <algorithm>
#include <cstdint>

#include "../common/device_types.cuh"
#include "../common/hopper/ring.cuh"
#include "../common/hopper/tile.cuh"
#include "../common/hopper/tma.cuh"
#include "../common/hopper/wgmma.cuh"
#include "attention_backward_sm90_consumers.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_WGMMA

namespace attention_backward_sm90 {

// Blocks of Q or dO of a tile to their ring, with their queries' lse or delta, `numbers`, which lie
// in memory in the order of query blocks, as sums do. `n`: blocks of the tiles before.
template <typename Shape, bool kVarlen, typename Rows>
__device__ __forceinline__ void copy_blocks(const AttentionBackwardSm90Parameters& call,
                                            const Tile& tile, const CUtensorMap* map,
                                            const float* numbers, const Rows& rows, uint32_t& n) {
  constexpr uint32_t kNumberBytes = Shape::kQueries * 4;
#pragma unroll 1
  for (int head = 0; head < call.group; ++head) {
#pragma unroll 1
    for (int block = tile.first_block; block < tile.end_block; ++block, ++n) {
      uint64_t* const full = rows.ring.full(n);
      rows.ring.wait_until_empty(n);
      expect_bytes(full, Rows::Tile::kBytes + kNumberBytes);
      const int64_t from =
          tile.workspace_block + head * call.query_blocks + block - tile.first_block;
      copy_to_shared(rows.numbers(n), numbers + from * Shape::kQueries, kNumberBytes, full);
      copy_rows<typename Rows::Tile>(rows.tile(n), 0, map, tile.q_row + block * Shape::kQueries,
                                     tile.kv_head * call.group + head, kVarlen ? 0 : tile.batch,
                                     full);
    }
  }
}

template <typename Shape, bool kVarlen>
__device__ __forceinline__ void produce_keys_and_queries(
    const AttentionBackwardSm90Parameters& call, const Rings<Shape>& rings) {
  uint32_t n = 0;  // query blocks up to now; t: tiles
  for (uint32_t t = 0;; ++t) {
    // The consumers have some blocks of the tile before to do.
    const int index = static_cast<int>(
        t == 0 ? blockIdx.x : gridDim.x + static_cast<uint32_t>(atomicAdd(call.next_tile, 1)));
    Tile& tile = shared_tile<Shape>(rings.shared, t);
    wait_for_phase(rings.tile_empty(t), parity<2>(t) ^ 1);
    if (index < call.num_tiles) {
      tile = tile_at<Shape, kVarlen>(call, index);
    } else {
      tile.batch = -1;
    }
    arrive(rings.tile_full(t));
    if (index >= call.num_tiles) break;
    rings.keys().wait_until_empty(t);
    uint64_t* const full = rings.keys().full(t);
    expect_bytes(full, Shape::KTile::kBytes + Shape::VTile::kBytes);
    const int row = tile.k_row + tile.first_key, batch = kVarlen ? 0 : tile.batch;
    copy_rows<typename Shape::KTile>(rings.shared + Shape::kKOffset, 0, &call.k, row, tile.kv_head,
                                     batch, full);
    copy_rows<typename Shape::VTile>(rings.shared + Shape::kVOffset, 0, &call.v, row, tile.kv_head,
                                     batch, full);
    copy_blocks<Shape, kVarlen>(call, tile, &call.q, call.lse, rings.q(), n);
  }
}

template <typename Shape, bool kVarlen>
__device__ __forceinline__ void produce_grad_output(const AttentionBackwardSm90Parameters& call,
                                                    const Rings<Shape>& rings) {
  uint32_t n = 0;  // query blocks up to now
  for (uint32_t t = 0;; ++t) {
    wait_for_phase(rings.tile_full(t), parity<2>(t));
    const Tile& tile = shared_tile<Shape>(rings.shared, t);
    if (tile.batch < 0) break;
    copy_blocks<Shape, kVarlen>(call, tile, &call.grad_output, call.delta, rings.grad(), n);
    arrive(rings.tile_empty(t));
  }
}

template <typename T, typename Shape, bool kVarlen, bool kHasExtras>
__device__ __forceinline__ void consume(const AttentionBackwardSm90Parameters& call,
                                        const Rings<Shape>& rings, int warpgroup) {
  using Common = Consumer<T, Shape, kVarlen, kHasExtras>;
  ConsumerFor<Common> consumer{{call, rings, warpgroup}};
  for (uint32_t t = 0;; ++t) {
    wait_for_phase(rings.tile_full(t), parity<2>(t));
    const Tile& in_shared = shared_tile<Shape>(rings.shared, t);
    if (in_shared.batch < 0) break;
    const Tile tile = in_shared;
    consumer.clear_sums();
    rings.keys().wait_until_full(t);
    if (!tile.is_empty()) {
      if (kVarlen && tile.first_key + Shape::kKeys > tile.seq_k) {
        clear_rows_from<typename Shape::KTile, Shape::kKeys>(
            rings.shared + Shape::kKOffset, tile.seq_k - tile.first_key, consumer.own_barrier());
      }
      const int blocks = tile.end_block - tile.first_block;
      int index = tile.first_block, head = tile.kv_head * call.group;
      int workspace_block = tile.workspace_block;
#pragma unroll 1
      for (int left = blocks * call.group; left > 0; --left) {
        consumer.add({tile, consumer.first_key(tile), index * Shape::kQueries, head,
                      workspace_block, left == blocks * call.group});
        ++consumer.n;
        ++workspace_block;
        if (++index == tile.end_block) {
          index = tile.first_block;
          workspace_block += call.query_blocks - blocks;
          ++head;
        }
      }
      consumer.end_blocks();
    }
    if (consumer.is_first_lane()) rings.keys().release(t);
    consumer.write(in_shared);
    __syncwarp();
    if (consumer.is_first_lane()) arrive(rings.tile_empty(t));
  }
  let_next_kernel_start();
  if (!Shape::kIsWide && consumer.thread() == 0) wait_for_additions();
}

}  // namespace attention_backward_sm90

#endif

// Without wgmma it has no body, and is never launched: attention_backward_sm90_serves().
template <typename T, typename Shape, bool kVarlen, bool kHasExtras>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    attention_backward_sm90_kernel(const __grid_constant__ AttentionBackwardSm90Parameters call) {
#if CUDAOPS_HAS_WGMMA
  using namespace attention_backward_sm90;
  extern __shared__ __align__(1024) char shared[];
  const Rings<Shape> rings = {shared, reinterpret_cast<uint64_t*>(shared + Shape::kBarriersOffset)};
  const int warp = __shfl_sync(0xFFFFFFFF, threadIdx.x / 32, 0);
  if (threadIdx.x == 0) {
    for (const CUtensorMap* map : {&call.q, &call.k, &call.v, &call.grad_output}) {
      prefetch_tensor_map(map);
    }
    constexpr int kConsumerWarps = 4 * Shape::kWarpgroups;
    rings.keys().init(0, kConsumerWarps);
    for (int n = 0; n < 2; ++n) {
      init_barrier(rings.tile_full(n));
      init_barrier(rings.tile_empty(n), kConsumerWarps + 1);
    }
    for (int n = 0; n < Shape::kStages; ++n) {
      rings.q().ring.init(n, kConsumerWarps);
      rings.grad().ring.init(n, kConsumerWarps);
    }
    for (int i = 0; i < 2 * Shape::kWarpgroups; ++i) {
      reinterpret_cast<int*>(shared + Shape::kTurnsOffset)[i] = 0;
    }
    fence_barriers();
  }
  __syncthreads();
  wait_for_kernels_before();
  if (warp < 4) {
    give_registers_back<Shape::kProducerRegisters>();
    if (threadIdx.x == 0) produce_keys_and_queries<Shape, kVarlen>(call, rings);
    if (threadIdx.x == 32) produce_grad_output<Shape, kVarlen>(call, rings);
  } else {
    take_registers<Shape::kConsumerRegisters>();
    consume<T, Shape, kVarlen, kHasExtras>(call, rings, warp / 4 - 1);
  }
#endif
}

template <typename T, typename Shape, bool kVarlen, bool kHasExtras>
void launch_attention_backward_sm90_type(const AttentionBackwardSm90Parameters& parameters,
                                         cudaStream_t stream) {
  const auto kernel = &attention_backward_sm90_kernel<T, Shape, kVarlen, kHasExtras>;
  CUDAOPS_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     Shape::kSharedBytes));
  const auto blocks =
      static_cast<unsigned int>(std::min(parameters.num_tiles, num_multiprocessors()));
  launch_overlapping_with(kernel, dim3(blocks), dim3(Shape::kThreads), Shape::kSharedBytes, stream,
                          parameters);
}

// body(element, is_varlen) with a number of the call's element type and a std::bool_constant.
template <typename Body>
void for_sm90_kernel(DType dtype, bool is_varlen, const Body& body) {
  const auto with = [&](auto element) {
    is_varlen ? body(element, std::true_type()) : body(element, std::false_type());
  };
  dtype == DType::kFloat16 ? with(__half()) : with(bfloat16());
}

// One shape; ops.cmake names them all.
template <typename Shape>
void launch_attention_backward_sm90_of(DType dtype,
                                       const AttentionBackwardSm90Parameters& parameters,
                                       cudaStream_t stream) {
  for_sm90_kernel(dtype, parameters.cu_seqlens_q != nullptr, [&](auto element, auto is_varlen) {
    using T = decltype(element);
    constexpr bool kVarlen = decltype(is_varlen)::value && !Shape::kHasBias;
    if constexpr (Shape::kHasBias) {
      launch_attention_backward_sm90_type<T, Shape, kVarlen, false>(parameters, stream);
    } else if (parameters.has_extras()) {
      launch_attention_backward_sm90_type<T, Shape, kVarlen, true>(parameters, stream);
    } else {
      launch_attention_backward_sm90_type<T, Shape, kVarlen, false>(parameters, stream);
    }
  });
}

}  // namespace cudaops_kernels

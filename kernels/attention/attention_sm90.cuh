// SPDX-License-Identifier: Apache-2.0
// Attention, forward, for sm_90a (H100, H200): 16-bit elements, head dimensions that are multiples
// of 8. What it computes: attention.h. Of float8: attention_float8/attention_float8_sm90.cuh. Of
// sequences of one tile: attention_sm90_one_tile.cu.
//
// A block computes tiles of 64 * kWarpgroups query rows of a head, one after the other; of some
// shapes it has two teams, which do so side by side, each with buffers and barriers of its own. Its
// warpgroups have roles:
//
//   producer    one thread of a team has the copy engine load Q once a tile, 64 rows for each
//               consumer, and the key blocks of K and V into rings of kStages buffers; the other
//               registers are given to the consumers.
//   consumers   64 query rows each. S = Q K^T from shared memory; P = exp2(S - max) in registers,
//               where it is an operand of O += P V; O is divided by the sum of P at the end, and
//               goes to memory through shared memory, where there is room.
//
// Two things run beside a warpgroup's softmax on the tensor cores. Its own products: S of the next
// key block and O += P V of this one are issued together, and the softmax of the next block starts
// when S is there; S of the next tile's first block is computed while O is divided and, of some
// shapes, written, of others O is written beside the products after that. And those of the other
// warpgroups, which issue theirs in turns (named barriers).
//
// Key blocks are read from the last to the first, because the blocks that are masked in part come
// last and the first one costs most. A warpgroup whose rows see nothing of the first blocks, or are
// none of the sequence's, only passes its turn on.
//
// The tiles of a block are known from the beginning (attention_sm90_schedule.cuh). The producer
// finds them, ahead of the consumers, and puts them into a ring: a warpgroup between two tiles has
// nothing on the tensor cores to hide the search behind.
//
// Here are the kernel and its launch. In the order in which they are read: which calls come here:
// attention_sm90.cu; what a call is to the kernels: attention_sm90_call.cuh; shapes of tiles, where
// they lie, and the kernel's parameters: attention_sm90_tiles.cuh; the producer:
// attention_sm90_producer.cuh; the consumers: attention_sm90_consumer.cuh, with what becomes of
// scores, attention_sm90_scores.cuh and attention_sm90_bias.cuh, and how outputs come to memory,
// attention_sm90_output.cuh. Products, copies, barriers: common/hopper.
//
// Method: Shah et al., FlashAttention-3, 2024.
#pragma once

#include <cudaops/check.h>

#include <algorithm>
#include <cstdint>

#include "../common/device_types.cuh"
#include "../common/hopper/tma.cuh"
#include "../common/hopper/wgmma.cuh"
#include "../common/per_device.cuh"
#include "attention_dropout.h"
#include "attention_sm90_call.cuh"
#include "attention_sm90_consumer.cuh"
#include "attention_sm90_producer.cuh"
#include "attention_sm90_schedule.cuh"
#include "attention_sm90_tiles.cuh"

namespace cudaops_kernels {

// T: of the output and, but for float8, of all else of 16 bits; of float8 uint16_t, as the call
// says which of the two: it matters once a tile. Without wgmma it has no body, and is never
// launched: attention_sm90_serves().
template <typename T, typename Shape, bool kVarlen>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    attention_sm90_kernel(const __grid_constant__ AttentionSm90Parameters call) {
#if CUDAOPS_HAS_WGMMA
  using namespace attention_sm90;
  extern __shared__ __align__(1024) char shared[];
  auto& order = *reinterpret_cast<AttentionSm90Order*>(shared + Shape::kOrderOffset);
  const int warp = __shfl_sync(0xFFFFFFFF, threadIdx.x / 32, 0);
  // The first warps of the producer have a team each.
  const int consumer = warp / 4 - 1;
  const int team = Shape::kTeams == 1 ? 0 : warp < 4 ? warp : consumer / Shape::kWarpgroups;
  char* const own = shared + team * Shape::kTeamBytes;
  const Barriers<Shape> barriers = {reinterpret_cast<uint64_t*>(own + Shape::kBarriersOffset)};
  const bool is_producer = warp < Shape::kTeams && threadIdx.x % 32 == 0;
  if (is_producer) {
    prefetch_tensor_map(&call.q);
    prefetch_tensor_map(&call.k);
    prefetch_tensor_map(&call.v);
    if (!Shape::kIsFloat8) prefetch_tensor_map(&call.o);
    constexpr int kConsumerWarps = 4 * Shape::kWarpgroups;
    for (int n = 0; n < Shape::kQBuffers; ++n) barriers.q().init(n, 4);
    for (int n = 0; n < Shape::kStages; ++n) {
      barriers.k().init(n, kConsumerWarps);
      barriers.v().init(n, kConsumerWarps);
    }
    for (int slot = 0; slot < Shape::kTilesAhead; ++slot) {
      init_barrier(barriers.tile_full(slot));
      init_barrier(barriers.tile_empty(slot), kConsumerWarps);
    }
    fence_barriers();
  }
  if (kVarlen && call.by_length) find_order<Shape>(call, order);
  __syncthreads();
  if (warp < 4) {
    give_registers_back<Shape::kProducerRegisters>();
    if (is_producer) produce<Shape, kVarlen>(call, order, team, own, barriers);
  } else {
    take_registers<Shape::kConsumerRegisters>();
    consume<T, Shape, kVarlen>(call, order, team, own, barriers,
                               consumer - team * Shape::kWarpgroups);
  }
#endif
}

// Kernels of both types are described alike.
using AttentionSm90Kernel = void (*)(AttentionSm90Parameters);
template <typename Shape, bool kVarlen>
AttentionSm90Kernel attention_sm90_kernel_of(DType dtype) {
  if constexpr (Shape::kIsFloat8) {
    return &attention_sm90_kernel<uint16_t, Shape, kVarlen>;
  } else if (dtype == DType::kFloat16) {
    return &attention_sm90_kernel<__half, Shape, kVarlen>;
  } else {
    return &attention_sm90_kernel<bfloat16, Shape, kVarlen>;
  }
}

// For what attention_sm90_serves_forward(). describe_more(parameters): what the shape alone needs.
template <typename Shape, bool kVarlen, typename DescribeMore>
void launch_attention_sm90_tiles(const Attention& call, cudaStream_t stream,
                                 const DescribeMore& describe_more) {
  AttentionSm90Parameters parameters{};
  describe(call, 64, Shape::kKeys, &parameters);
  describe_more(&parameters);
  describe_outputs(call, &parameters);
  describe_options(call, &parameters);
  describe_schedule<Shape, kVarlen>(call, &parameters);
  parameters.unit = static_cast<float>(parameters.cap != 0.0f ? 1.0 : 1.0 / call.scale);
  parameters.bias_is_float = call.bias_dtype == DType::kFloat32;
  parameters.changes_scores = parameters.cap != 0.0f ||
                              (!Shape::kHasBias && call.bias != nullptr) ||
                              call.alibi_slopes != nullptr;
  parameters.kept = AttentionDropout::factor_of<float>(parameters.threshold);
  parameters.writes_late = !parameters.is_masked() || call.seq_q > 512;

  const AttentionSm90Kernel kernel = attention_sm90_kernel_of<Shape, kVarlen>(call.dtype);
  CUDAOPS_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     Shape::shared_bytes(kVarlen)));
  const int64_t tiles = parameters.query_tiles * call.batch * call.heads;
  const int64_t blocks = std::min<int64_t>(divide_up(tiles, Shape::kTeams), num_multiprocessors());
  kernel<<<static_cast<unsigned int>(blocks), Shape::kThreads, Shape::shared_bytes(kVarlen),
           stream>>>(parameters);
  CUDAOPS_CHECK_LAUNCH();
}

template <typename Shape, typename DescribeMore>
void launch_attention_sm90_shape(const Attention& call, cudaStream_t stream,
                                 const DescribeMore& describe_more) {
  const auto launch = [&](auto is_varlen) {
    constexpr bool kVarlen = decltype(is_varlen)::value;
    if constexpr (!Shape::kChangesScores) {
      if (changes_scores(call)) {
        // Tiles for long sequences of head dimensions 96 and 128 have a kernel with options for a
        // bias, which sequences of different lengths don't have: choose_attention_sm90_tiles().
        constexpr bool kIsForBias = std::is_same<Shape, AttentionSm90Shape96>::value ||
                                    std::is_same<Shape, AttentionSm90Shape128>::value;
        if constexpr (!(kIsForBias && kVarlen)) {
          return launch_attention_sm90_tiles<WithScoreOptions<Shape>, kVarlen>(call, stream,
                                                                               describe_more);
        } else {
          CUDAOPS_CHECK(cudaErrorInvalidValue);
        }
      }
    }
    launch_attention_sm90_tiles<Shape, kVarlen>(call, stream, describe_more);
  };
  if constexpr (!Shape::kHasBias) {
    if (call.cu_seqlens_q != nullptr) return launch(std::true_type());
  }
  launch(std::false_type());
}

// One shape; ops.cmake names them all.
template <typename Shape>
void launch_attention_sm90_of(const Attention& call, cudaStream_t stream) {
  const auto describe_output = [&](AttentionSm90Parameters* parameters) {
    encode_map(call, MappedTensors(call).o, 16, &parameters->o);  // a warp writes 16 rows
  };
  launch_attention_sm90_shape<Shape>(call, stream, describe_output);
}

}  // namespace cudaops_kernels

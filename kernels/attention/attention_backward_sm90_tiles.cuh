// SPDX-License-Identifier: Apache-2.0
// The kernel of attention_backward_sm90.cuh: shapes of its tiles and where they lie in shared
// memory, its parameters, and which block computes which tile.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../common/divider.cuh"
#include "../common/hopper/ring.cuh"
#include "../common/hopper/tile.cuh"
#include "../common/hopper/tma.cuh"
#include "../common/hopper/wgmma.cuh"
#include "attention.h"
#include "attention_sm90_call.cuh"

namespace cudaops_kernels {

// How the two warpgroups of consumers share a tile's work:
// attention_backward_sm90_consumers.cuh.
enum class AttentionBackwardSm90Roles {
  kKeys,        // half of the keys each
  kKeysInTurn,  // the same, with fewer numbers in registers at a time
  kGradients,   // all keys; one has dV and the other dK
};

// kHeadDim, kHeadDimV: what the products are made for, at least head_dim and head_dim_v; the copy
// engine fills up with zeros. kQueries: rows of a query block.
template <int kHeadDim_, int kHeadDimV_, int kQueries_, AttentionBackwardSm90Roles kRoles_>
struct AttentionBackwardSm90Shape {
  using Roles = AttentionBackwardSm90Roles;
  static constexpr int kHeadDim = kHeadDim_;
  static constexpr int kHeadDimV = kHeadDimV_;
  static constexpr int kQueries = kQueries_;
  static constexpr Roles kRoles = kRoles_;
  static constexpr bool kIsWide = kRoles == Roles::kGradients;
  static constexpr int kStages = 2;  // buffers for blocks of Q, and of dO
  // Whether dV is computed beside dS: weights are then kept in both their forms, for which the
  // registers must suffice.
  static constexpr bool kOverlapsValues = kQueries <= 64;
  static constexpr int kWarpgroups = 2;
  static constexpr int kKeys = kIsWide ? 64 : 128;
  static constexpr int kThreads = kWarpgroupSize * (1 + kWarpgroups);
  static constexpr int kProducerRegisters = 24;
  static constexpr int kConsumerRegisters = 240;

  using KTile = SharedTile<kKeys, kHeadDim>;
  using VTile = SharedTile<kKeys, kHeadDimV>;
  using QTile = SharedTile<kQueries, kHeadDim>;
  using GradTile = SharedTile<kQueries, kHeadDimV>;
  using ScoreTile = SharedTile<kKeys, kQueries>;
  // dQ^T of a query block comes in parts of 64 rows, or of 64 queries where there are no more rows
  // than that; a warpgroup computes every second one.
  static constexpr bool kSplitsQueries = KTile::kChunks == 1;
  static constexpr int kSumParts = kSplitsQueries ? kQueries / 64 : KTile::kChunks;
  static constexpr int kSumQueries = kSplitsQueries ? 64 : kQueries;
  static_assert(kRoles != Roles::kKeys || kSumParts == kWarpgroups, "a part a warpgroup");
  // Numbers of dQ a part, and a query block.
  static constexpr int kSums = 64 * kSumQueries;
  static constexpr int kBlockSums = kSumParts * kSums;
  static constexpr int kScoreStages = kRoles == Roles::kKeys ? 2 : 1;
  // Where dQ is written before it is added to memory; or weights, from one warpgroup to the other.
  static constexpr int kStagedBytes = kIsWide ? kKeys * kQueries * 4 : kBlockSums * 4;

  static constexpr int kKOffset = 0;
  static constexpr int kVOffset = kKOffset + KTile::kBytes;
  static constexpr int kQOffset = kVOffset + VTile::kBytes;
  static constexpr int kGradOffset = kQOffset + kStages * QTile::kBytes;
  static constexpr int kScoresOffset = kGradOffset + kStages * GradTile::kBytes;
  static constexpr int kSumsOffset = kScoresOffset + kScoreStages * ScoreTile::kBytes;
  static constexpr int kLseOffset = kSumsOffset + kStagedBytes;
  static constexpr int kDeltaOffset = kLseOffset + kStages * kQueries * 4;
  static constexpr int kBarriersOffset = kDeltaOffset + kStages * kQueries * 4;
  static constexpr int kNumBarriers = 6 + 4 * kStages;
  static constexpr int kTilesOffset = kBarriersOffset + 8 * kNumBarriers;
  static constexpr int kTileBytes = 48;
  static constexpr int kTurnsOffset = kTilesOffset + 2 * kTileBytes;
  static constexpr int kSharedBytes = kTurnsOffset + 2 * kWarpgroups * 4;
  static constexpr bool kHasBias = false;
  static_assert(kSharedBytes <= 227 * 1024, "more shared memory than a block can have");
};

// Names: head dimensions.
using AttentionBackwardSm90Shape64 =
    AttentionBackwardSm90Shape<64, 64, 128, AttentionBackwardSm90Roles::kKeys>;
using AttentionBackwardSm90Shape96 =
    AttentionBackwardSm90Shape<96, 96, 64, AttentionBackwardSm90Roles::kKeys>;
using AttentionBackwardSm90Shape128 =
    AttentionBackwardSm90Shape<128, 128, 64, AttentionBackwardSm90Roles::kKeys>;
using AttentionBackwardSm90Shape192By128 =
    AttentionBackwardSm90Shape<192, 128, 64, AttentionBackwardSm90Roles::kKeysInTurn>;
using AttentionBackwardSm90Shape192 =
    AttentionBackwardSm90Shape<192, 192, 64, AttentionBackwardSm90Roles::kGradients>;
using AttentionBackwardSm90Shape256 =
    AttentionBackwardSm90Shape<256, 256, 64, AttentionBackwardSm90Roles::kGradients>;

// A bias comes through shared memory, of sequences of one length: attention_backward_sm90_bias.cuh.
template <typename Shape>
struct WithBiasOfKeys : Shape {
  static_assert(Shape::kRoles != AttentionBackwardSm90Roles::kKeysInTurn,
                "consumers of keys in turn load no bias");
  static constexpr bool kHasBias = true;
  static constexpr int kBiasOffset = (Shape::kSharedBytes + 127) / 128 * 128;
  static constexpr int kWarpBiasBytes = 16 * Shape::kQueries * 2;
  // Of the warps that have scores.
  static constexpr int kSharedBytes = kBiasOffset + Shape::kKeys / 16 * kWarpBiasBytes;
  static_assert(kSharedBytes <= 227 * 1024, "more shared memory than a block can have");
};
using AttentionBackwardSm90Shape64Bias = WithBiasOfKeys<AttentionBackwardSm90Shape64>;
using AttentionBackwardSm90Shape128Bias = WithBiasOfKeys<AttentionBackwardSm90Shape128>;
using AttentionBackwardSm90Shape256Bias = WithBiasOfKeys<AttentionBackwardSm90Shape256>;

// Sections are of key heads.
struct AttentionBackwardSm90Parameters : AttentionSm90Call {
  // More than scores, a mask and weights: kernels of their own.
  bool has_extras() const {
    return cap != 0.0f || slopes != nullptr || bias != nullptr || threshold != 0 ||
           turns != nullptr;
  }

  CUtensorMap grad_output;
  // Of each query block, kQueries of each: lse in powers of two, delta, and sums of dQ. What is
  // behind the end of a sequence has an lse of infinity.
  const float* lse;
  const float* delta;
  float* sums;
  AttentionOutput grad_k, grad_v;
  int group, head_dim;
  int query_blocks;  // of a head, those of all sequences of different lengths
  float scale;
  int* next_tile;  // tiles that are given out, without the first one of each block
  // Where dQ is added up in a fixed order: for each part of a query block, how many tiles have
  // added theirs. Null: in any order.
  int* turns;
  int key_tiles, num_tiles;
  // Other extras: slopes of positions, one a head, or null; dropout, of which nothing is dropped
  // with a threshold of 0.
  const float* slopes;
  int64_t slopes_batch_stride;
  const int64_t* seed;
  uint32_t threshold;
  // What is added to the scores, as in Attention, and where its derivatives go: null, or zeros.
  const void* bias;
  DType bias_dtype, grad_bias_dtype;
  int64_t bias_batch_stride, bias_head_stride, bias_query_stride, bias_key_stride;
  void* grad_bias;
  detail::Divider by_key_tiles{1};
};

// The first query block of a sequence: each has a block to spare, so that it begins with one.
CUDAOPS_HOST_DEVICE inline int64_t first_query_block(int64_t queries_before, int64_t sequence,
                                                     int block_queries) {
  return queries_before / block_queries + sequence;
}

#if CUDAOPS_HAS_WGMMA

namespace attention_backward_sm90 {

struct Tile {
  int first_key, kv_head, batch;
  int first_block, end_block;  // query blocks of a head
  int seq_q, seq_k;            // lengths of the sequence
  int q_row, k_row;            // where it begins in the tensors, if lengths are different
  int workspace_block;         // of the first head's first query block
  __device__ __forceinline__ bool is_empty() const { return end_block <= first_block; }
};

// The scores that a warpgroup has at a time: of 64 keys of a tile, and a query block of one of the
// heads that read them.
struct Block {
  const Tile& tile;
  int first_key, first_query, head;
  int workspace_block;
  bool is_first;  // of the tile
};

template <typename Shape, bool kVarlen>
__device__ __forceinline__ Tile tile_at(const AttentionBackwardSm90Parameters& call, int index) {
  Tile tile;
  int key_tile;
  if (call.section == 0) {
    key_tile = index;
    tile.kv_head = call.by_key_tiles.divide(&key_tile);
  } else {
    // Of causal attention the first keys are those that most queries see.
    const InSection in = find_in_section(call, index);
    key_tile = in.place;
    tile.kv_head = in.section * call.section + in.head;
  }
  tile.batch = call.by_heads.divide(&tile.kv_head);
  // In a fixed order a tile waits for those with later keys, which must have been given out before.
  if (call.turns != nullptr) key_tile = call.key_tiles - 1 - key_tile;
  tile.first_key = key_tile * Shape::kKeys;
  find_sequence<kVarlen>(call, tile);
  const int offset = tile.seq_k - tile.seq_q;
  const int last = min(tile.first_key + Shape::kKeys, tile.seq_k) - 1;
  const int begin = call.window_right < 0 ? 0 : max(0, tile.first_key - offset - call.window_right);
  const int end = call.window_left < 0
                      ? tile.seq_q
                      : max(0, min(tile.seq_q, last - offset + call.window_left + 1));
  tile.first_block = begin / Shape::kQueries;
  tile.end_block = (end + Shape::kQueries - 1) / Shape::kQueries;
  // Beyond the end of a sequence that is shorter than the longest.
  if (kVarlen && tile.first_key >= tile.seq_k) tile.end_block = 0;
  const int head = tile.kv_head * call.group;
  const int first =
      kVarlen ? head * call.query_blocks +
                    static_cast<int>(first_query_block(tile.q_row, tile.batch, Shape::kQueries))
              : (tile.batch * call.heads + head) * call.query_blocks;
  tile.workspace_block = first + tile.first_block;
  return tile;
}

// The n-th tile of a block: that which it computes, or the next. Its fields are read where they are
// needed, and take no registers.
template <typename Shape>
__device__ __forceinline__ Tile& shared_tile(char* shared, uint32_t n) {
  static_assert(sizeof(Tile) <= Shape::kTileBytes, "room for a tile");
  return *reinterpret_cast<Tile*>(shared + Shape::kTilesOffset + (n & 1) * Shape::kTileBytes);
}

// The ring of Q's blocks with their queries' lse, or of dO's with delta: where the n-th one is.
template <typename Shape, typename RowTile, int kTileOffset, int kNumbersOffset>
struct QueryRing {
  using Tile = RowTile;
  Ring<Shape::kStages> ring;
  char* shared;

  __device__ __forceinline__ char* tile(uint32_t n) const {
    return shared + kTileOffset + stage<Shape::kStages>(n) * Tile::kBytes;
  }
  __device__ __forceinline__ float* numbers(uint32_t n) const {
    return reinterpret_cast<float*>(shared + kNumbersOffset) +
           stage<Shape::kStages>(n) * Shape::kQueries;
  }
};

// What goes through the shared memory of a thread block, with its barriers: tiles, their keys, and
// query blocks.
template <typename Shape>
struct Rings {
  char* shared;
  uint64_t* barriers;

  __device__ __forceinline__ Ring<1> keys() const { return {barriers}; }
  __device__ __forceinline__ uint64_t* tile_full(uint32_t n) const { return barriers + 2 + n % 2; }
  __device__ __forceinline__ uint64_t* tile_empty(uint32_t n) const { return barriers + 4 + n % 2; }
  __device__ __forceinline__ auto q() const {
    return QueryRing<Shape, typename Shape::QTile, Shape::kQOffset, Shape::kLseOffset>{
        {barriers + 6}, shared};
  }
  __device__ __forceinline__ auto grad() const {
    return QueryRing<Shape, typename Shape::GradTile, Shape::kGradOffset, Shape::kDeltaOffset>{
        {barriers + 6 + 2 * Shape::kStages}, shared};
  }
};

}  // namespace attention_backward_sm90

#endif

}  // namespace cudaops_kernels

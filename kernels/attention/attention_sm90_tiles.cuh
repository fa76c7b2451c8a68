// SPDX-License-Identifier: Apache-2.0
// The kernel of attention_sm90.cuh: shapes of its tiles and where they lie in shared memory, and
// its parameters.
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

// Rows of a head that a block computes at a time.
struct alignas(16) AttentionSm90Tile {
  int first_query, head, batch;  // batch: below 0 there are no tiles any more,
                                 // and head says whether some were empty
  int last_block, first_block;   // key blocks, read in falling order; none: last < first
  int seq_q, seq_k;              // lengths of the sequence
  int q_row, k_row;              // where it begins in the tensors, if lengths are different
  // Of float8 alone. Products times product_factor are scores, or before what changes them; scores
  // times score_factor are exponents of 2; outputs are multiplied with output_factor.
  float product_factor, score_factor, output_factor;

  __device__ bool is_empty() const { return last_block < first_block; }
};

// Sequences of different lengths, the longest first: of the n-th the index, and the first of its
// items (attention_sm90_schedule.cuh).
struct AttentionSm90Order {
  static constexpr int kMost = 256;
  int first_item[kMost + 1];
  int length[kMost];
  uint8_t index[kMost];
};

// The most of `columns` columns of outputs, in whole boxes and equal parts, for which `warpgroups`
// have room in so many bytes; 0: none.
constexpr int attention_sm90_output_columns(int columns, int warpgroups, int bytes) {
  int most = columns / kBoxColumns * kBoxColumns;
  while (most > 0 && (columns % most != 0 || most * warpgroups * 64 * 2 > bytes)) {
    most -= kBoxColumns;
  }
  return most;
}

// kHeadDim, kHeadDimV: what the products are made for, at least head_dim and head_dim_v; the copy
// engine fills up with zeros. kWarpgroups: consumers of a tile. kKeys: rows of a key block.
// kStages: buffers for K and for V. kQBuffers: buffers for the 64 queries of a warpgroup: as many
// as warpgroups, or more for what comes next, for three tiles where they are so short that the one
// whose outputs are being written and the next one don't hide the loading. kTeams: tiles that a
// block computes at a time, each by consumers and with buffers of its own. kIsFloat8: elements of
// q, k and v have 8 bits; the values of a key block come transposed, columns as rows.
// kReservedBytes: of shared memory, for others; sequences are of one length then.
template <int kHeadDim_, int kHeadDimV_, int kWarpgroups_, int kKeys_, int kStages_, int kQBuffers_,
          int kTeams_, bool kIsFloat8_, int kReservedBytes = 0>
struct AttentionSm90ShapeOf {
  static constexpr int kHeadDim = kHeadDim_;
  static constexpr int kHeadDimV = kHeadDimV_;
  static constexpr int kWarpgroups = kWarpgroups_;
  static constexpr int kQueries = 64 * kWarpgroups;
  static constexpr int kKeys = kKeys_;
  static constexpr int kStages = kStages_;
  static constexpr int kQBuffers = kQBuffers_;
  static constexpr int kTeams = kTeams_;
  static constexpr bool kChangesScores = false;
  static constexpr bool kHasDropout = false;
  static constexpr bool kHasBias = false;
  static constexpr bool kIsFloat8 = kIsFloat8_;
  // Weights, relative to a row's largest one, are 2^kWeightShift times what they are elsewhere:
  // float8 has numbers up to 448, and at its lower end few bits.
  static constexpr int kWeightShift = kIsFloat8 ? 8 : 0;
  static constexpr int kWeightWords = kKeys / (kIsFloat8 ? 8 : 4);  // of a thread
  // Warpgroups whose queries of the next tile have buffers while this one is computed; those of the
  // others come when this tile's last scores are computed.
  static constexpr int kEarlyQueries = std::min(kQBuffers - kWarpgroups, kWarpgroups);
  static_assert(kEarlyQueries >= 0, "a buffer for each warpgroup's queries");
  // Whether the scores of the next tile's first block are computed while a tile is written: without
  // more buffers they would have to wait for their queries.
  static constexpr bool kOverlapsTiles = kEarlyQueries > 0;
  // Whether outputs go through the queries' place: the next ones have another. Queries of 8 bits
  // would leave too little room.
  static constexpr bool kWritesThroughQueries = kEarlyQueries == kWarpgroups && !kIsFloat8;
  // Whether a tile is written while the next one's second products are computed: the first ones are
  // as short as a softmax. Its outputs are kept in registers until then, if there are enough. With
  // buffers of queries for fewer than three tiles the next tile's would wait for their place, and
  // this one's keys behind them.
  static constexpr bool kWritesLate = kQBuffers >= 3 * kWarpgroups && kTeams == 1 && !kIsFloat8;
  // Whether the next tile's queries are loaded behind this one's first keys and values: a tile's
  // whole time to come from memory, which short sequences keep busy. Their buffer is free by then.
  static constexpr bool kLoadsQueriesEarly = kOverlapsTiles && kWarpgroups == 2 && !kIsFloat8;
  // Tiles that are known: one that is computed, the next, and two that are loaded or prefetched.
  static constexpr int kTilesAhead = 4;
  static constexpr int kConsumers = kTeams * kWarpgroups;
  static constexpr int kThreads = kWarpgroupSize * (1 + kConsumers);
  // A thread's registers, in steps of 8. The block starts with as many for each thread as there are
  // on a multiprocessor; consumers wait for ever for more than the producer gives back.
  static constexpr int kStartRegisters = 65536 / kThreads / 8 * 8;
  static constexpr int kProducerRegisters = kConsumers == 2 ? 40 : 32;
  static constexpr int kConsumerRegisters = kConsumers == 2 ? 232 : kConsumers == 3 ? 160 : 112;
  static_assert(2 <= kConsumers && kConsumers <= 4, "registers are shared out for these");
  static_assert(kProducerRegisters + kConsumers * kConsumerRegisters <=
                    (1 + kConsumers) * kStartRegisters,
                "more registers than the block has");
  static_assert(!kWritesThroughQueries || kHeadDimV <= kHeadDim,
                "outputs take the place of queries");
  static_assert(!kIsFloat8 || (kKeys % 32 == 0 && kHeadDim % 32 == 0), "products of 32 elements");
  // Outputs that one product adds to: of float8 it takes the registers of the scores.
  static constexpr int kColumns = kIsFloat8 && kHeadDimV > kKeys ? kHeadDimV / 2 : kHeadDimV;
  static_assert(!kIsFloat8 || kColumns <= kKeys, "products have the registers of the scores");

  static constexpr int kMostSharedBytes = 227 * 1024 - kReservedBytes;
  using QTile = SharedTile<64, kIsFloat8 ? kHeadDim / 2 : kHeadDim>;
  using KTile = SharedTile<kKeys, kIsFloat8 ? kHeadDim / 2 : kHeadDim>;
  using VTile = SharedTile<kIsFloat8 ? kHeadDimV : kKeys, kIsFloat8 ? kKeys / 2 : kHeadDimV>;
  static constexpr int kQOffset = 0;
  static constexpr int kKOffset = kQOffset + kQBuffers * QTile::kBytes;
  static constexpr int kVOffset = kKOffset + kStages * KTile::kBytes;
  static constexpr int kOOffset = kVOffset + kStages * VTile::kBytes;
  static constexpr int kNumBarriers = 2 * kQBuffers + 4 * kStages + 2 * kTilesAhead;
  // Columns of outputs that are staged in a place of their own, if there is room.
  // From registers, with less than a row's columns in one instruction, they took a tenth of the
  // time of 512 queries.
  static constexpr int kOutputColumns =
      kWritesThroughQueries || kIsFloat8
          ? 0
          : attention_sm90_output_columns(
                kHeadDimV, kWarpgroups,
                (kMostSharedBytes - static_cast<int>(sizeof(AttentionSm90Order))) / kTeams -
                    kOOffset - 8 * kNumBarriers - 32 -
                    kTilesAhead * static_cast<int>(sizeof(AttentionSm90Tile)) -
                    (kTeams == 1 ? 0 : 1024));
  static constexpr int kBarriersOffset =
      kOOffset + (kOutputColumns == 0 ? 0 : kWarpgroups * 64 * 2 * kOutputColumns);
  static constexpr int kTilesOffset = (kBarriersOffset + 8 * kNumBarriers + 15) / 16 * 16;
  static constexpr int kProgressOffset =
      kTilesOffset + kTilesAhead * static_cast<int>(sizeof(AttentionSm90Tile));
  // All this for each team; the order of sequences of different lengths is the block's.
  static constexpr int kTeamBytes =
      kTeams == 1 ? kProgressOffset + 16 : (kProgressOffset + 16 + 1023) / 1024 * 1024;
  static constexpr int kOrderOffset = kTeams * kTeamBytes;
  static constexpr int shared_bytes(bool varlen) {
    return kOrderOffset + (varlen ? static_cast<int>(sizeof(AttentionSm90Order)) : 0);
  }
  static_assert(kReservedBytes > 0 ||
                    kOrderOffset + static_cast<int>(sizeof(AttentionSm90Order)) <= kMostSharedBytes,
                "more shared memory than a block can have");
};

template <int kHeadDim, int kHeadDimV, int kWarpgroups, int kKeys, int kStages, int kQBuffers,
          int kTeams = 1>
struct AttentionSm90Shape : AttentionSm90ShapeOf<kHeadDim, kHeadDimV, kWarpgroups, kKeys, kStages,
                                                 kQBuffers, kTeams, false> {};

// Softcap, ALiBi and bias are a third of the kernel's code, which each multiprocessor reads from
// memory and keeps next to the rest: calls without them have a kernel without them.
template <typename Shape>
struct WithScoreOptions : Shape {
  static constexpr bool kChangesScores = true;
};

// Dropout takes registers that the rest needs: it has shapes of its own, also for head dimensions
// that have others without it. Its random words take longer than the products.
template <typename Shape>
struct WithDropout : WithScoreOptions<Shape> {
  static constexpr bool kHasDropout = true;
};

// A bias comes through shared memory, where there is room for it: attention_sm90_bias.cuh.
// Sequences are of one length.
template <int kHeadDim, int kWarpgroups, int kKeys, int kStages, int kQBuffers, int kTeams = 1>
struct AttentionSm90ShapeWithRoom
    : AttentionSm90ShapeOf<kHeadDim, kHeadDim, kWarpgroups, kKeys, kStages, kQBuffers, kTeams,
                           false, 4 * kTeams * kWarpgroups * 16 * kKeys * 2> {};
template <typename Shape>
struct WithBias : WithScoreOptions<Shape> {
  static constexpr bool kHasBias = true;
  static constexpr int kBiasOffset = Shape::kOrderOffset;
  static constexpr int kWarpBiasBytes = 16 * Shape::kKeys * 2;
  static constexpr int shared_bytes(bool) {
    return kBiasOffset + 4 * Shape::kConsumers * kWarpBiasBytes;
  }
  static_assert(Shape::kKeys % 64 == 0 && kBiasOffset % 16 == 0, "its layout: place_of_unit()");
  static_assert(kBiasOffset + 4 * Shape::kConsumers * kWarpBiasBytes <= 227 * 1024,
                "more shared memory than a block can have");
};

// Measured on an H200 and an H100, 16384 tokens: bench/kernels/attention.py. Names: head
// dimensions; the rows are consumer warpgroups x keys. Short: up to 1024 queries or so, where what
// stands between two tiles weighs more; of longer sequences three warpgroups that share keys are
// faster. 64Short: two tiles at a time. 256Short: up to 512 queries; half of a mask's diagonal is
// less of 64 keys. (Of one tile: attention_sm90_one_tile.cu.)
using AttentionSm90Shape64Short = AttentionSm90Shape<64, 64, 2, 64, 3, 6, 2>;
using AttentionSm90Shape64 = AttentionSm90Shape<64, 64, 3, 128, 2, 6>;
using AttentionSm90Shape96Short = AttentionSm90Shape<96, 96, 2, 128, 2, 6>;
using AttentionSm90Shape96 = AttentionSm90Shape<96, 96, 3, 96, 2, 6>;
using AttentionSm90Shape128Short = AttentionSm90Shape<128, 128, 2, 128, 2, 6>;
using AttentionSm90Shape128 = AttentionSm90Shape<128, 128, 3, 80, 3, 6>;
using AttentionSm90Shape192By128Short = AttentionSm90Shape<192, 128, 2, 128, 2, 2>;
using AttentionSm90Shape192By128 = AttentionSm90Shape<192, 128, 3, 80, 2, 3>;
using AttentionSm90Shape192Short = AttentionSm90Shape<192, 192, 2, 64, 2, 5>;
using AttentionSm90Shape192 = AttentionSm90Shape<192, 192, 2, 112, 2, 2>;
using AttentionSm90Shape256Short = AttentionSm90Shape<256, 256, 2, 64, 2, 2>;
using AttentionSm90Shape256 = AttentionSm90Shape<256, 256, 2, 80, 2, 2>;
using AttentionSm90Shape128Dropout = WithDropout<AttentionSm90Shape128>;
using AttentionSm90Shape256Dropout = WithDropout<AttentionSm90Shape256>;
using AttentionSm90Shape64Bias = WithBias<AttentionSm90ShapeWithRoom<64, 2, 64, 3, 6, 2>>;
using AttentionSm90Shape128Bias = WithBias<AttentionSm90ShapeWithRoom<128, 2, 128, 2, 4>>;
using AttentionSm90Shape256Bias = WithBias<AttentionSm90ShapeWithRoom<256, 2, 64, 2, 2>>;

// What the forward kernel is told.
struct AttentionSm90Parameters : AttentionSm90Call {
  CUtensorMap o;
  void* output;
  float* lse;
  const float* sinks;
  int64_t output_batch_stride, output_seq_stride, output_head_stride;
  int batch;
  int total_q;  // of different lengths: queries together
  // After the cap slopes and bias, times `unit`, are added to s. changes_scores: any of the three,
  // but for the bias of shapes WithBias.
  bool changes_scores;
  float unit;
  const float* slopes;  // may be null
  int64_t slopes_batch_stride;
  const void* bias;  // may be null; elements of a row stand side by side, pairs are aligned
  bool bias_is_float;
  int64_t bias_batch_stride, bias_head_stride, bias_query_stride;
  // Dropout: of 65536, and 0 where nothing is dropped; what other weights are multiplied with.
  uint32_t threshold;
  float kept;
  const int64_t* seed;
  int query_tiles, num_items;
  bool by_couples, by_length;
  // The first item of the shorter ones, none if beyond num_items, and its pair of heads.
  int first_shorter, first_shorter_pair;
  detail::Divider by_shorter{1};
  bool writes_late;  // Shape::kWritesLate; not where a tile has few key blocks
  detail::Divider by_query_tiles{1}, by_group{1};
  AttentionDescale q_descale, k_descale, v_descale;  // of float8
  // Of shapes WithBias: sequences of the batch have one bias, and their tiles come side by side.
  bool shares_bias;
  detail::Divider by_batch{1};
  bool writes_half;  // of float8: output and bias are float16, not bfloat16
};

#if CUDAOPS_HAS_WGMMA

namespace attention_sm90 {

// Which of a team's queries, 64 at a time, a warpgroup has in the t-th tile; and where the n-th
// are.
template <typename Shape>
__device__ __forceinline__ uint32_t index_of_queries(uint32_t t, int warpgroup) {
  return t * Shape::kWarpgroups + warpgroup;
}
template <typename Shape>
__device__ __forceinline__ char* queries_at(char* shared, uint32_t n) {
  return shared + Shape::kQOffset + stage<Shape::kQBuffers>(n) * Shape::QTile::kBytes;
}

// Rings of queries, of keys, of values and of tiles.
template <typename Shape>
struct Barriers {
  uint64_t* base;
  __device__ __forceinline__ Ring<Shape::kQBuffers> q() const { return {base}; }
  __device__ __forceinline__ Ring<Shape::kStages> k() const { return {behind_q(0)}; }
  __device__ __forceinline__ Ring<Shape::kStages> v() const { return {behind_q(2)}; }
  __device__ __forceinline__ uint64_t* tile_full(int slot) const { return behind_q(4) + slot; }
  __device__ __forceinline__ uint64_t* tile_empty(int slot) const {
    return behind_q(4) + Shape::kTilesAhead + slot;
  }
  __device__ __forceinline__ uint64_t* behind_q(int stages) const {
    return base + 2 * Shape::kQBuffers + stages * Shape::kStages;
  }
};

}  // namespace attention_sm90

#endif

// Where the forward kernels write.
inline void describe_outputs(const Attention& call, AttentionSm90Parameters* to) {
  to->output = call.output.data;
  to->output_batch_stride = call.output.batch_stride;
  to->output_seq_stride = call.output.seq_stride;
  to->output_head_stride = call.output.head_stride;
  to->lse = static_cast<float*>(call.lse);
  to->sinks = static_cast<const float*>(call.sinks);
  to->total_q = static_cast<int>(call.total_q);
}

}  // namespace cudaops_kernels

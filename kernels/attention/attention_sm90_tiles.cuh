// SPDX-License-Identifier: Apache-2.0
// The kernel of attention_sm90.cuh: shapes of its tiles and where they lie in shared memory, and
// its parameters.
#pragma once

#include <cudaops/check.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "../common/device_types.cuh"
#include "../common/divider.cuh"
#include "../common/hopper/ring.cuh"
#include "../common/hopper/tile.cuh"
#include "../common/hopper/tma.cuh"
#include "../common/hopper/wgmma.cuh"
#include "../common/per_device.cuh"
#include "attention.h"
#include "attention_dropout.h"

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
// less of 64 keys. Shortest: up to 64 queries of few keys, which are one warpgroup's; what comes
// before and after a tile's products is more than they are, and runs beside that of other tiles.
using AttentionSm90Shape64Shortest = AttentionSm90Shape<64, 64, 1, 64, 2, 2, 4>;
using AttentionSm90Shape64Short = AttentionSm90Shape<64, 64, 2, 64, 3, 6, 2>;
using AttentionSm90Shape64 = AttentionSm90Shape<64, 64, 3, 128, 2, 6>;
using AttentionSm90Shape96Short = AttentionSm90Shape<96, 96, 2, 128, 2, 6>;
using AttentionSm90Shape96 = AttentionSm90Shape<96, 96, 3, 96, 2, 6>;
using AttentionSm90Shape128Shortest = AttentionSm90Shape<128, 128, 1, 64, 1, 2, 3>;
using AttentionSm90Shape128Short = AttentionSm90Shape<128, 128, 2, 128, 2, 6>;
using AttentionSm90Shape128 = AttentionSm90Shape<128, 128, 3, 80, 3, 6>;
using AttentionSm90Shape192By128Short = AttentionSm90Shape<192, 128, 2, 128, 2, 2>;
using AttentionSm90Shape192By128 = AttentionSm90Shape<192, 128, 3, 80, 2, 3>;
using AttentionSm90Shape192Short = AttentionSm90Shape<192, 192, 2, 64, 2, 5>;
using AttentionSm90Shape192 = AttentionSm90Shape<192, 192, 2, 112, 2, 2>;
using AttentionSm90Shape256Shortest = AttentionSm90Shape<256, 256, 1, 64, 1, 1, 2>;
using AttentionSm90Shape256Short = AttentionSm90Shape<256, 256, 2, 64, 2, 2>;
using AttentionSm90Shape256 = AttentionSm90Shape<256, 256, 2, 80, 2, 2>;
using AttentionSm90Shape128Dropout = WithDropout<AttentionSm90Shape128>;
using AttentionSm90Shape256Dropout = WithDropout<AttentionSm90Shape256>;
using AttentionSm90Shape64Bias = WithBias<AttentionSm90ShapeWithRoom<64, 2, 64, 3, 6, 2>>;
using AttentionSm90Shape128Bias = WithBias<AttentionSm90ShapeWithRoom<128, 2, 128, 2, 4>>;
using AttentionSm90Shape256Bias = WithBias<AttentionSm90ShapeWithRoom<256, 2, 64, 2, 2>>;

// What the forward and the backward kernel are both told of a call.
struct AttentionSm90Call {
  CUtensorMap q, k, v;
  int seq_q, seq_k, heads, head_dim_v;  // seq: of different lengths, the longest
  // Of different lengths: where the sequences begin.
  const int* cu_seqlens_q;
  const int* cu_seqlens_k;
  int window_left, window_right;  // -1: all
  // exp(score) is exp2(factor * s) with s = cap * tanh(s * inverse_cap) before it if cap isn't 0.
  float factor, cap, inverse_cap;
  // Heads in a section, whose tiles come in the order of their lengths; 0: there are no sections.
  int section, num_sections;
  detail::Divider by_heads{1}, by_section_tiles{1}, by_section{1}, by_last_section{1};

  bool is_masked() const { return window_left >= 0 || window_right >= 0; }
};

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
};

#if CUDAOPS_HAS_WGMMA

// Item `index` where there are sections: which one, which of its heads, which of that head's items
// in the order of their lengths.
struct InSection {
  int section, head, place;
};
__device__ __forceinline__ InSection find_in_section(const AttentionSm90Call& call, int index) {
  InSection in;
  in.section = call.by_section_tiles.divide(&index);
  const bool is_last = in.section == call.num_sections - 1;
  in.place = (is_last ? call.by_last_section : call.by_section).divide(&index);
  in.head = index;
  return in;
}

// The sequence of a tile whose batch is known: how long it is, and where it begins.
template <bool kVarlen, typename Tile>
__device__ __forceinline__ void find_sequence(const AttentionSm90Call& call, Tile& tile) {
  tile.seq_q = call.seq_q;
  tile.seq_k = call.seq_k;
  tile.q_row = tile.k_row = 0;
  if (kVarlen) {
    tile.q_row = call.cu_seqlens_q[tile.batch];
    tile.k_row = call.cu_seqlens_k[tile.batch];
    tile.seq_q = call.cu_seqlens_q[tile.batch + 1] - tile.q_row;
    tile.seq_k = call.cu_seqlens_k[tile.batch + 1] - tile.k_row;
  }
}

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

// body(element, is_varlen) with a number of the call's element type and a std::bool_constant.
template <typename Body>
void for_sm90_kernel(DType dtype, bool is_varlen, const Body& body) {
  const auto with = [&](auto element) {
    is_varlen ? body(element, std::true_type()) : body(element, std::false_type());
  };
  dtype == DType::kFloat16 ? with(__half()) : with(bfloat16());
}

inline CUtensorMapDataType map_type(const Attention& call) {
  return call.dtype == DType::kFloat16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                       : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
}

// What the copy engine sees of a tensor with rows of queries, or of keys: sequences of different
// lengths are one.
template <typename Tensor>
MappedTensor mapped(const Attention& call, const Tensor& tensor, int64_t columns, int64_t seq,
                    int64_t heads) {
  const int64_t batch = call.cu_seqlens_q != nullptr ? 1 : call.batch;
  return {tensor.data,        columns, seq, heads, batch, tensor.seq_stride, tensor.head_stride,
          tensor.batch_stride};
}
template <typename Tensor>
MappedTensor mapped_queries(const Attention& call, const Tensor& tensor, int64_t columns) {
  const int64_t seq = call.cu_seqlens_q != nullptr ? call.total_q : call.seq_q;
  return mapped(call, tensor, columns, seq, call.heads);
}
template <typename Tensor>
MappedTensor mapped_keys(const Attention& call, const Tensor& tensor, int64_t columns) {
  const int64_t seq = call.cu_seqlens_k != nullptr ? call.total_k : call.seq_k;
  return mapped(call, tensor, columns, seq, call.kv_heads);
}

// Whether there is a bias that can be copied to shared memory, eight keys at a time.
inline bool has_bias_vectors(const Attention& call) {
  return call.bias != nullptr && call.bias_dtype == call.dtype && has_aligned_bias(call, 8);
}

struct MappedTensors {
  MappedTensor q, k, v, o;

  explicit MappedTensors(const Attention& call)
      : q(mapped_queries(call, call.q, call.head_dim)),
        k(mapped_keys(call, call.k, call.head_dim)),
        v(mapped_keys(call, call.v, call.head_dim_v)),
        o(mapped_queries(call, call.output, call.head_dim_v)) {}
};

// Of a tensor that can_be_mapped(), which ..._serves() has asked.
inline void encode_map(const Attention& call, const MappedTensor& tensor, int box_rows,
                       CUtensorMap* map) {
  if (!encode_tensor_map(map, map_type(call), tensor, box_rows)) {
    CUDAOPS_CHECK(cudaErrorInvalidValue);
  }
}

// Whether scores are more than products before the mask and the softmax.
inline bool changes_scores(const Attention& call) {
  return call.softcap != 0.0 || call.bias != nullptr || call.alibi_slopes != nullptr;
}

inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// All but by_heads and the sections. A box of k and v has `keys` rows, one of q `queries`.
inline void describe(const Attention& call, int queries, int keys, AttentionSm90Call* to) {
  constexpr double kLog2e = 1.4426950408889634;
  const MappedTensors tensors(call);
  encode_map(call, tensors.q, queries, &to->q);
  encode_map(call, tensors.k, keys, &to->k);
  encode_map(call, tensors.v, keys, &to->v);
  to->seq_q = static_cast<int>(call.seq_q);
  to->seq_k = static_cast<int>(call.seq_k);
  to->heads = static_cast<int>(call.heads);
  to->head_dim_v = static_cast<int>(call.head_dim_v);
  to->cu_seqlens_q = call.cu_seqlens_q;
  to->cu_seqlens_k = call.cu_seqlens_k;
  // Windows as long as both sequences leave everything visible.
  const int64_t longest = call.seq_q + call.seq_k;
  const auto window = [&](int64_t size) {
    return size < 0 || size >= longest ? -1 : static_cast<int>(size);
  };
  to->window_left = window(call.window_left);
  to->window_right = window(call.window_right);
  const bool has_cap = call.softcap != 0.0;
  to->cap = static_cast<float>(call.softcap);
  to->inverse_cap = has_cap ? static_cast<float>(call.scale / call.softcap) : 0.0f;
  to->factor = static_cast<float>(has_cap ? kLog2e : call.scale * kLog2e);
}

// Slopes, bias and dropout, which both kernels' parameters have.
template <typename Parameters>
void describe_options(const Attention& call, Parameters* to) {
  to->slopes = call.alibi_slopes;
  to->slopes_batch_stride = call.alibi_batch_stride;
  to->bias = call.bias;
  to->bias_batch_stride = call.bias_batch_stride;
  to->bias_head_stride = call.bias_head_stride;
  to->bias_query_stride = call.bias_query_stride;
  to->threshold = AttentionDropout::threshold_of(call);
  to->seed = call.seed;
}

// At most `largest` of all heads, which have `tiles` each, in a section.
inline void divide_into_sections(int64_t heads, int64_t largest, int64_t tiles,
                                 AttentionSm90Call* to) {
  const auto by = [](int64_t n) { return detail::Divider(static_cast<uint32_t>(n)); };
  const int64_t section = divide_up(heads, divide_up(heads, std::min(largest, heads)));
  const int64_t num_sections = divide_up(heads, section);
  to->section = static_cast<int>(section);
  to->num_sections = static_cast<int>(num_sections);
  to->by_section_tiles = by(section * tiles);
  to->by_section = by(section);
  to->by_last_section = by(heads - (num_sections - 1) * section);
}

// Up to so many queries of a sequence a mask's tiles are taken in couples: a section is larger than
// what the blocks work on at a time, and its keys and values come all at once.
constexpr int64_t kCoupleQueries = 2048;

// Heads whose K and V together fill half of the L2 cache, at least one group's. `key_bytes`: of a
// key and its value.
inline int64_t attention_sm90_section(const Attention& call, int64_t key_bytes) {
  constexpr int64_t kSectionBytes = int64_t{32} << 20;
  const int64_t group = call.heads / call.kv_heads;
  const int64_t bytes = call.seq_k * key_bytes;
  return std::max<int64_t>(1, kSectionBytes / std::max<int64_t>(1, bytes)) * group;
}

}  // namespace cudaops_kernels

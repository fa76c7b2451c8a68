// SPDX-License-Identifier: Apache-2.0
// Which block computes which tile in the kernel of attention_sm90.cuh. Nothing is counted at run
// time: a block knows its tiles from the beginning, and results don't depend on how fast others
// are.
//
// Items are given to the blocks in rounds. What an item is and in which order they come:
//
//   plain     A tile. Those of a head stand side by side, all are of one length.
//   couples   Where a mask leaves tiles of different lengths: tile n - 1 - i of a head and tile i
//             of the next one. All items of a sequence are of about the same length. Where the last
//             round would leave multiprocessors without one, those of its heads come in more and
//             shorter items: the longest tile of either head alone, then couples of the others.
//   length    Sequences of different lengths: either of these, the longest sequence's first; every
//             second round is given out in reverse order, so that a block's items add up to about
//             as much as another's.
//   sections  A mask, and few items or many sequences: single tiles. Heads come in sections whose K
//             and V fit into the L2 cache; a section's tiles stand in the order of their lengths,
//             falling and rising by turns so that neighbours are alike, and every second round is
//             given out in reverse order.
#pragma once

#include <cstdint>

#include "../common/divider.cuh"
#include "../common/per_device.cuh"
#include "attention_sm90_call.cuh"
#include "attention_sm90_tiles.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_WGMMA

namespace attention_sm90 {

using Tile = AttentionSm90Tile;

__device__ __forceinline__ int length_of(const int* cu_seqlens, int batch) {
  return cu_seqlens[batch + 1] - cu_seqlens[batch];
}

// By all threads of the block.
template <typename Shape>
__device__ __forceinline__ void find_order(const AttentionSm90Parameters& call,
                                           AttentionSm90Order& order) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int b = thread; b < call.batch; b += Shape::kThreads) {
    order.length[b] = length_of(call.cu_seqlens_k, b);
  }
  __syncthreads();
  const int rows_of_heads = call.by_couples ? (call.heads + 1) / 2 : call.heads;
  for (int b = thread; b < call.batch; b += Shape::kThreads) {
    const int length = order.length[b];
    int place = 0;
    for (int other = 0; other < call.batch; ++other) {
      const int others = order.length[other];
      place += others > length || (others == length && other < b) ? 1 : 0;
    }
    order.index[place] = static_cast<uint8_t>(b);
    order.first_item[place + 1] =
        (length_of(call.cu_seqlens_q, b) + Shape::kQueries - 1) / Shape::kQueries * rows_of_heads;
  }
  __syncthreads();
  if (thread < 32) {
    int before = 0;
    for (int first = 0; first < call.batch; first += 32) {
      const int place = first + thread;
      int sum = place < call.batch ? order.first_item[place + 1] : 0;
      for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(0xFFFFFFFF, sum, step);
        if (thread >= step) sum += other;
      }
      if (place < call.batch) order.first_item[place + 1] = before + sum;
      before += __shfl_sync(0xFFFFFFFF, sum, 31);
    }
    if (thread == 0) order.first_item[0] = 0;
  }
  __syncthreads();
}

// How far a block has come: four numbers, which are kept where there is room.
struct Progress {
  int round;  // the next item's
  int item;
  int place;       // of the item's sequence
  bool is_second;  // the next tile is the item's second one
};

// The tiles of a block's team, one after the other.
template <typename Shape, bool kVarlen>
class Schedule {
 public:
  __device__ __forceinline__ Schedule(const AttentionSm90Parameters& call,
                                      const AttentionSm90Order& order, int team, Progress& progress)
      : call_(call), order_(order), team_(team), progress_(progress) {
    progress = {};
  }

  // False when there is none any more.
  __device__ __forceinline__ bool next(Tile& tile) {
    if (!progress_.is_second) {
      progress_.item = next_item();
      if (progress_.item < 0) return false;
    }
    int query_tile = progress_.item;
    if (call_.section != 0) {
      const InSection in = find_in_section(call_, query_tile);
      // The last section falls: the last tiles are short.
      const bool falls = ((call_.num_sections - 1 - in.section) & 1) == 0;
      tile.head = in.section * call_.section + in.head;
      query_tile = falls ? call_.query_tiles - 1 - in.place : in.place;
      find_batch(tile);
    } else {
      int heads = call_.batch * call_.heads, query_tiles = call_.query_tiles;
      if (kVarlen && call_.by_length) {
        while (progress_.item >= order_.first_item[progress_.place + 1]) ++progress_.place;
        tile.batch = order_.index[progress_.place];
        query_tile -= order_.first_item[progress_.place];
        query_tiles =
            (length_of(call_.cu_seqlens_q, tile.batch) + Shape::kQueries - 1) / Shape::kQueries;
        heads = call_.heads;
        tile.head = query_tile / query_tiles;
        query_tile -= tile.head * query_tiles;
      } else if (!kVarlen && query_tile >= call_.first_shorter) {
        query_tile -= call_.first_shorter;
        tile.head = call_.first_shorter_pair + call_.by_shorter.divide(&query_tile);
        query_tile -= 2;
        --query_tiles;
      } else {
        tile.head = call_.by_query_tiles.divide(&query_tile);
      }
      if (query_tile < 0) {
        tile.head = 2 * tile.head + query_tile + 2;
        query_tile = query_tiles;
      } else if (call_.by_couples) {
        tile.head = 2 * tile.head + (progress_.is_second ? 1 : 0);
        if (!progress_.is_second) query_tile = query_tiles - 1 - query_tile;
        progress_.is_second = !progress_.is_second && tile.head + 1 < heads;
      }
      if (!(kVarlen && call_.by_length)) find_batch(tile);
    }
    tile.first_query = query_tile * Shape::kQueries;
    find_blocks(tile);
    return true;
  }

 private:
  // From the number of a head among those of all sequences.
  __device__ __forceinline__ void find_batch(Tile& tile) const {
    if (Shape::kHasBias && call_.shares_bias) {
      tile.batch = tile.head;
      tile.head = call_.by_batch.divide(&tile.batch);
    } else {
      tile.batch = call_.by_heads.divide(&tile.head);
    }
  }

  __device__ __forceinline__ int next_item() {
    int num_items = call_.num_items;
    if (kVarlen && call_.by_length) num_items = order_.first_item[call_.batch];
    for (;;) {
      const int teams = static_cast<int>(gridDim.x) * Shape::kTeams;
      const int team = static_cast<int>(blockIdx.x) * Shape::kTeams + team_;
      const int first = progress_.round * teams;
      if (first >= num_items) return -1;
      const bool is_reverse =
          (progress_.round & 1) != 0 && (call_.section != 0 || (kVarlen && call_.by_length));
      const int index = first + (is_reverse ? teams - 1 - team : team);
      ++progress_.round;
      if (index < num_items) return index;
    }
  }

  __device__ __forceinline__ void find_blocks(Tile& tile) const {
    find_sequence<kVarlen>(call_, tile);
    const int first = tile.first_query + tile.seq_k - tile.seq_q;
    const int last = min(first + Shape::kQueries, tile.seq_k) - 1;
    const int begin = call_.window_left < 0 ? 0 : max(0, first - call_.window_left);
    const int end = call_.window_right < 0 ? tile.seq_k
                                           : max(0, min(tile.seq_k, last + call_.window_right + 1));
    tile.last_block = (end + Shape::kKeys - 1) / Shape::kKeys - 1;
    tile.first_block = begin / Shape::kKeys;
    // Beyond the end of a sequence that is shorter than the longest.
    if (kVarlen && tile.first_query >= tile.seq_q) tile.last_block = -1;
    if constexpr (Shape::kIsFloat8) {
      int in_group = tile.head;
      const int kv_head = call_.by_group.divide(&in_group);
      tile.product_factor =
          call_.q_descale.at(tile.batch, kv_head) * call_.k_descale.at(tile.batch, kv_head);
      tile.score_factor = call_.changes_scores ? call_.factor : call_.factor * tile.product_factor;
      tile.output_factor = call_.v_descale.at(tile.batch, kv_head);
    }
  }

  const AttentionSm90Parameters& call_;
  const AttentionSm90Order& order_;
  const int team_;
  Progress& progress_;
};

}  // namespace attention_sm90

#endif

// Up to so many queries of a sequence a mask's tiles are taken in couples: a section is larger than
// what the blocks work on at a time, and its keys and values come all at once.
constexpr int64_t kCoupleQueries = 2048;

// Which items there are, for the kernel's Schedule.
template <typename Shape, bool kVarlen>
void describe_schedule(const Attention& call, AttentionSm90Parameters* to) {
  const auto by = [](int64_t n) { return detail::Divider(static_cast<uint32_t>(n)); };
  const int64_t query_tiles = divide_up(call.seq_q, Shape::kQueries);
  const int64_t all_heads = call.batch * call.heads;
  to->batch = static_cast<int>(call.batch);
  to->query_tiles = static_cast<int>(query_tiles);
  to->by_query_tiles = by(query_tiles);
  to->by_heads = by(call.heads);
  to->by_group = by(call.heads / call.kv_heads);
  to->by_batch = by(call.batch);
  to->shares_bias = call.bias_batch_stride == 0;
  to->num_items = to->first_shorter = static_cast<int>(query_tiles * all_heads);
  if (kVarlen && call.batch <= AttentionSm90Order::kMost) {
    to->by_length = true;
    to->by_couples = to->is_masked();
    return;
  }
  if (!to->is_masked()) return;
  const int64_t couples = divide_up(all_heads, 2) * query_tiles;
  const int64_t teams = int64_t{num_multiprocessors()} * Shape::kTeams;
  const int64_t in_rounds = divide_up(couples, teams) * teams;
  to->by_couples = !kVarlen && Shape::kQueries == 128 && call.seq_q <= kCoupleQueries &&
                   8 * in_rounds <= 9 * couples;
  if (!to->by_couples) {
    // Of float8 head_dim counts pairs.
    const int64_t key_bytes = 2 * call.head_dim + (Shape::kIsFloat8 ? 1 : 2) * call.head_dim_v;
    return divide_into_sections(all_heads, attention_sm90_section(call, key_bytes), query_tiles,
                                to);
  }
  // Of the last round the heads' longest tiles alone, if the others then leave no round more.
  const int64_t first_pair = couples / teams * teams / query_tiles;
  const int64_t first = first_pair * query_tiles;
  const int64_t shorter = (all_heads / 2 - first_pair) * (query_tiles + 1);
  const bool has_shorter =
      all_heads % 2 == 0 && divide_up(first + shorter, teams) * teams == in_rounds;
  to->num_items = static_cast<int>(has_shorter ? first + shorter : couples);
  to->by_shorter = by(query_tiles + 1);
  if (has_shorter) {
    to->first_shorter = static_cast<int>(first);
    to->first_shorter_pair = static_cast<int>(first_pair);
  }
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// The producer of the kernel of attention_sm90.cuh: the thread that finds the tiles of a team and
// has the copy engine load their queries, and the key blocks of keys and values.
#pragma once

#include "../common/hopper/tile.cuh"
#include "attention_sm90_schedule.cuh"
#include "attention_sm90_tiles.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_WGMMA

namespace attention_sm90 {

template <typename Shape, Lengths kLengths>
__device__ __forceinline__ void produce(const AttentionSm90Parameters& call,
                                        const AttentionSm90Order& order, int team, char* shared,
                                        const Barriers<Shape>& barriers) {
  constexpr int kTilesAhead = Shape::kTilesAhead;
  Tile* const tiles = reinterpret_cast<Tile*>(shared + Shape::kTilesOffset);
  uint32_t n = 0;      // key blocks up to now
  uint32_t known = 0;  // tiles that the consumers know
  bool is_end = false, has_empty = false;
  // In shared memory: the thread has few registers.
  Schedule<Shape, kLengths> schedule(call, order, team,
                                     *reinterpret_cast<Progress*>(shared + Shape::kProgressOffset));
  const auto find_tile = [&] {
    const int slot = stage<kTilesAhead>(known);
    wait_for_phase(barriers.tile_empty(slot), parity<kTilesAhead>(known) ^ 1);
    Tile& tile = tiles[slot];
    for (;;) {
      is_end = !schedule.next(tile);
      if (is_end || !tile.is_empty()) break;
      has_empty = true;
    }
    if (is_end) {
      tile.batch = -1;
      tile.head = has_empty ? 1 : 0;
    }
    arrive(barriers.tile_full(slot));
    ++known;
  };
  // Of the warpgroups from `first` up to `end`.
  const auto load_q = [&](const Tile& tile, uint32_t t, int first, int end) {
    for (int w = first; w < end; ++w) {
      const uint32_t n = index_of_queries<Shape>(t, w);
      barriers.q().wait_until_empty(n);
      load_rows<typename Shape::QTile, 64>(
          queries_at<Shape>(shared, n), 0, &call.q, tile.q_row + tile.first_query + 64 * w,
          tile.head, is_varlen<kLengths>(call) ? 0 : tile.batch, barriers.q().full(n));
    }
  };
  find_tile();
  for (uint32_t t = 0;; ++t) {
    const Tile& tile = tiles[stage<kTilesAhead>(t)];
    if (tile.batch < 0) break;
    const int batch = is_varlen<kLengths>(call) ? 0 : tile.batch, k_row = tile.k_row;
    const int first_block = tile.first_block;
    int in_group = tile.head;
    const int kv_head = call.by_group.divide(&in_group);
    const auto load_k = [&](int block, uint32_t n) {
      barriers.k().wait_until_empty(n);
      load_rows<typename Shape::KTile, Shape::kKeys>(
          shared + Shape::kKOffset + stage<Shape::kStages>(n) * Shape::KTile::kBytes, 0, &call.k,
          k_row + block * Shape::kKeys, kv_head, batch, barriers.k().full(n));
    };
    const auto load_v = [&](int block, uint32_t n) {
      barriers.v().wait_until_empty(n);
      if constexpr (Shape::kIsFloat8) {
        // Sequences of different lengths begin at multiples of kKeys, with room for one more each.
        const int before = is_varlen<kLengths>(call) ? k_row / Shape::kKeys + tile.batch : 0;
        load_columns<typename Shape::VTile, Shape::kHeadDimV>(
            shared + Shape::kVOffset + stage<Shape::kStages>(n) * Shape::VTile::kBytes, &call.v,
            (before + block) * (Shape::kKeys / 2), kv_head, batch, barriers.v().full(n));
        return;
      }
      load_rows<typename Shape::VTile, Shape::kKeys>(
          shared + Shape::kVOffset + stage<Shape::kStages>(n) * Shape::VTile::kBytes, 0, &call.v,
          k_row + block * Shape::kKeys, kv_head, batch, barriers.v().full(n));
    };
    // In the order in which the consumers wait.
    int block = tile.last_block;
    load_k(block, n);
    if (Shape::kEarlyQueries < Shape::kWarpgroups || t == 0) {
      load_q(tile, t, t == 0 ? 0 : Shape::kEarlyQueries, Shape::kWarpgroups);
    }
    // The consumers have left the tile whose place a new one takes before they need more of this
    // one.
#pragma unroll 1
    while (!is_end && known < t + 3) find_tile();
    bool are_queries_loaded = false;  // the next tile's, as far as there are buffers
    for (; block > first_block; --block, ++n) {
      load_k(block - 1, n + 1);
      load_v(block, n);
      if (Shape::kLoadsQueriesEarly && !are_queries_loaded) {
        const Tile& next = tiles[stage<kTilesAhead>(t + 1)];
        if (next.batch >= 0) load_q(next, t + 1, 0, Shape::kEarlyQueries);
        are_queries_loaded = true;
      }
    }
    // They come at the latest while this one's last blocks are computed; of a short tile the values
    // are waited for earlier.
    const Tile& next = tiles[stage<kTilesAhead>(t + 1)];
    const bool is_short = tile.last_block - first_block < 2;
    if (is_short) load_v(first_block, n);
    if (next.batch >= 0) {
      if (!are_queries_loaded) load_q(next, t + 1, 0, Shape::kEarlyQueries);
      constexpr int kLate = Shape::kWarpgroups - Shape::kEarlyQueries;
#pragma unroll 1
      for (int i = 0; i < kLate * Shape::QTile::kChunks; ++i) {
        prefetch_box(
            &call.q, i % Shape::QTile::kChunks * kBoxColumns,
            next.q_row + next.first_query + (Shape::kEarlyQueries + i / Shape::QTile::kChunks) * 64,
            next.head, is_varlen<kLengths>(call) ? 0 : next.batch);
      }
    }
    if (!is_short) load_v(first_block, n);
    ++n;
  }
}

}  // namespace attention_sm90

#endif

}  // namespace cudaops_kernels

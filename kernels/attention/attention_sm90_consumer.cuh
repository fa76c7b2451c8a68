// SPDX-License-Identifier: Apache-2.0
// A consumer of the kernel of attention_sm90.cuh: a warpgroup, which has 64 query rows of each tile
// of its team. First the steps that it takes, then in which order, with elements of 16 and of 8
// bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "../common/bulk_copy.cuh"
#include "../common/hopper/fragment.cuh"
#include "../common/hopper/ring.cuh"
#include "../common/hopper/tile.cuh"
#include "../common/hopper/wgmma.cuh"
#include "attention_sm90_bias.cuh"
#include "attention_sm90_output.cuh"
#include "attention_sm90_schedule.cuh"
#include "attention_sm90_scores.cuh"
#include "attention_sm90_tiles.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_WGMMA

namespace attention_sm90 {

// The last key block with keys for this warpgroup, or with none; those before it are skipped.
template <typename Shape>
__device__ __forceinline__ int last_block_of(const AttentionSm90Parameters& call, const Tile& tile,
                                             int warpgroup) {
  const int first_row = tile.first_query + warpgroup * 64;
  if (first_row >= tile.seq_q) return tile.first_block;
  if (call.window_right < 0) return tile.last_block;
  const int end = first_row + 64 + tile.seq_k - tile.seq_q + call.window_right;
  return max(tile.first_block, min(tile.last_block, (max(end, 1) - 1) / Shape::kKeys));
}

template <typename T, typename Shape, bool kVarlen>
__device__ __forceinline__ void consume(const AttentionSm90Parameters& call,
                                        const AttentionSm90Order& order, int team, char* shared,
                                        const Barriers<Shape>& barriers, int warpgroup) {
  using Element = std::conditional_t<Shape::kIsFloat8, E4m3, T>;
  constexpr int kKeys = Shape::kKeys;
  constexpr int kTurnThreads = 2 * kWarpgroupSize;
  // Named barriers: each warpgroup of a team has one for its turn and one for itself.
  const int first_barrier = 1 + 2 * Shape::kWarpgroups * team;
  // Shuffled, or they are computed again before each barrier, while nobody issues products. Sums of
  // float8 leave no registers to keep them, or places, in: ptxas would serialise the products.
  const auto kept = [](int barrier) {
    return Shape::kIsFloat8 ? barrier : __shfl_sync(0xFFFFFFFF, barrier, 0);
  };
  const int turn = kept(first_barrier + warpgroup);
  const int next_turn = kept(warpgroup + 1 == Shape::kWarpgroups ? first_barrier : turn + 1);
  const bool is_first_lane = threadIdx.x % 32 == 0;
  // The keys whose scores, and the values whose outputs come next; and the last values before.
  std::conditional_t<Shape::kIsFloat8, CountedPlace<Shape::kStages>, RingPlace<Shape::kStages>>
      k_at, v_at, last_v_at;
  uint32_t t = 0;  // tiles that are begun
  const Tile* const tiles = reinterpret_cast<const Tile*>(shared + Shape::kTilesOffset);
  float s[kKeys / 2];
  uint32_t p[Shape::kWeightWords];
  float o[Shape::kHeadDimV / 2];
  uint32_t packed[Shape::kHeadDimV / 4];
  Rows rows;
  float rescale[2];

  // The n-th tile of the block: n up to that of the next one.
  const auto tile_at = [&](uint32_t n) -> const Tile& {
    return tiles[stage<Shape::kTilesAhead>(n)];
  };
  // Of the first block of the tile that comes next, or of any block of this one.
  const auto begin_bias = [&](uint32_t n, int block) {
    if constexpr (Shape::kHasBias) {
      WarpBias<T, Shape>(call, shared - team * Shape::kTeamBytes)
          .begin_load(tile_at(n), warpgroup, block);
    }
  };
  const auto has_next_tile = [&] {
    wait_for_phase(barriers.tile_full(stage<Shape::kTilesAhead>(t)), parity<Shape::kTilesAhead>(t));
    const bool has = tile_at(t).batch >= 0;
    if (Shape::kHasBias && has) begin_bias(t, last_block_of<Shape>(call, tile_at(t), warpgroup));
    return has;
  };
  const auto wait_for_turn = [&] { wait_at_barrier(turn, kTurnThreads); };
  const auto pass_turn = [&] { arrive_at_barrier(next_turn, kTurnThreads); };
  const auto wait_for_q = [&] {
    barriers.q().wait_until_full(index_of_queries<Shape>(t, warpgroup));
    ++t;
  };
  const auto release_q = [&](uint32_t n) {
    if (is_first_lane) barriers.q().release(index_of_queries<Shape>(n, warpgroup));
  };
  const auto queries = [&](uint32_t n) {
    return queries_at<Shape>(shared, index_of_queries<Shape>(n, warpgroup));
  };
  // The outputs of the n-th tile: what is to be written of them, and to memory.
  const auto finish = [&](uint32_t n) {
    float factor[2];
    finish_rows<Shape, kVarlen>(call, tile_at(n), warpgroup, rows, factor);
    for_element<T>(call, [&](auto element) {
#pragma unroll
      for (int i = 0; i < Shape::kHeadDimV / 4; ++i) {
        packed[i] = detail::pack_pair<decltype(element)>(o[2 * i] * factor[i % 2],
                                                         o[2 * i + 1] * factor[i % 2]);
      }
    });
  };
  bool is_being_read = false;  // by the copy engine: what the last tile's queries gave way to
  const auto release_written = [&](uint32_t n) {
    if (!is_being_read) return;
    is_being_read = false;
    if (is_first_lane) wait_for_reads();
    release_q(n);
  };
  const auto write = [&](uint32_t n) {
    if constexpr (Shape::kWritesThroughQueries) {
      write_rows<T, Shape, kVarlen, Shape::kHeadDimV>(call, tile_at(n), queries(n), warpgroup, 0,
                                                      packed);
      __syncwarp();
      if (kVarlen) {
        release_q(n);
      } else {
        is_being_read = true;
      }
    } else if constexpr (Shape::kOutputColumns > 0) {
      constexpr int kColumns = Shape::kOutputColumns;
      char* const place = shared + Shape::kOOffset + warpgroup * 64 * 2 * kColumns;
#pragma unroll
      for (int first = 0; first < Shape::kHeadDimV; first += kColumns) {
        if (is_first_lane) wait_for_reads();
        __syncwarp();
        write_rows<T, Shape, kVarlen, kColumns>(call, tile_at(n), place, warpgroup, first, packed);
      }
      __syncwarp();
    } else {
      write_fragment<T, Shape, kVarlen>(call, tile_at(n), warpgroup, packed);
      __syncwarp();
    }
    if (is_first_lane) arrive(barriers.tile_empty(stage<Shape::kTilesAhead>(n)));
  };
  // Of the tile before this one, once.
  bool is_unwritten = false;
  const auto write_before = [&] {
    if (Shape::kWritesLate && is_unwritten) {
      write(t - 2);
      is_unwritten = false;
    }
  };
  const auto wait_for_k = [&] { barriers.k().wait_until_full(k_at); };
  const auto wait_for_v = [&] { barriers.v().wait_until_full(v_at); };
  const auto release_k = [&] {
    if (is_first_lane) barriers.k().release(k_at);
    k_at.advance();
  };
  const auto pass_v = [&] {
    last_v_at = v_at;
    v_at.advance();
  };
  const auto release_last_v = [&] {
    if (is_first_lane) barriers.v().release(last_v_at);
  };
  const auto keys = [&] { return shared + Shape::kKOffset + k_at.stage() * Shape::KTile::kBytes; };
  const auto values = [&] {
    return shared + Shape::kVOffset + v_at.stage() * Shape::VTile::kBytes;
  };
  const auto issue_scores = [&](const char* k) {
    fence_wgmma();
    multiply_by_rows<Element, 64, kKeys, Shape::QTile::kColumns>(s, queries(t - 1), 0, k);
    commit_wgmma();
  };
  const auto issue_outputs = [&](const auto& weights) {
    fence_wgmma();
    multiply_add_by_columns<T, kKeys, Shape::kHeadDimV>(o, weights, values());
    commit_wgmma();
    pass_v();
  };
  // Of float8 the tensor cores' sums have about 14 bits and the others are cut off, of many keys a
  // good part of the sum. A block's outputs are added in float32; where the weights were packed,
  // the registers of the scores are free.
  const auto add_outputs = [&](const auto& weights, auto part) {
    constexpr int kColumns = Shape::kColumns, kFirst = decltype(part)::value * kColumns;
    auto& products = reinterpret_cast<float(&)[kColumns / 2]>(s);
    fence_wgmma();
    multiply_by_rows<Element, Shape::kHeadDimV, kKeys, kColumns>(products, weights, values(),
                                                                 kFirst);
    commit_wgmma();
    wait_for_wgmma<0>();
    keep(products);
    multiply_add_rows<kFirst / 2, kColumns / 2>(o, rescale, products);
  };
  // Blocks from_block up to to_block are seen by all of the warpgroup's rows.
  int from_block, to_block;
  const auto find_whole_blocks = [&](const Tile& tile) {
    const int first = tile.first_query + tile.seq_k - tile.seq_q + warpgroup * 64;
    from_block = 0;
    if (call.window_left >= 0)
      from_block = (max(0, first + 63 - call.window_left) + kKeys - 1) / kKeys;
    int end = tile.seq_k;
    if (call.window_right >= 0) end = max(0, min(end, first + call.window_right + 1));
    to_block = end / kKeys;
  };
  const auto scores_to_weights = [&](int block) {
    if (Shape::kChangesScores && call.changes_scores) {
      change_scores<T, Shape, kVarlen>(call, tile_at(t - 1), warpgroup, block, s);
    }
    if constexpr (Shape::kHasBias) {
      WarpBias<T, Shape>(call, shared - team * Shape::kTeamBytes).add_to(s);
      if (block > tile_at(t - 1).first_block) begin_bias(t - 1, block - 1);
    }
    const auto mask = [&](auto is_behind) {
      const Tile& tile = tile_at(t - 1);
      mask_scores<Shape, is_behind.value>(
          call, s, tile.seq_k, tile.first_query + tile.seq_k - tile.seq_q + warpgroup * 64, block);
    };
    if (block >= to_block) mask(std::true_type());
    if (block < from_block) mask(std::false_type());
    const float factor = Shape::kIsFloat8 ? tile_at(t - 1).score_factor : call.factor;
    const bool is_rescaled = weigh<Shape::kWeightShift>(factor, s, rows, rescale);
    if constexpr (Shape::kHasDropout) {
      drop_weights<Shape>(call, tile_at(t - 1), warpgroup, block, s);
    }
    return is_rescaled;
  };
  // Key blocks of the tile that comes next, without one for this warpgroup.
  const auto blocks_to_skip = [&] {
    return tile_at(t).last_block - last_block_of<Shape>(call, tile_at(t), warpgroup);
  };
  // The scores of a tile's first block that isn't skipped.
  const auto begin_scores = [&] {
    wait_for_q();
    wait_for_k();
    issue_scores(keys());
  };
  const auto begin_tile = [&] {
    for (int i = blocks_to_skip(); i > 0; --i) {
      wait_for_k();
      release_k();
      wait_for_turn();
      pass_turn();
      wait_for_v();
      pass_v();
      release_last_v();
    }
    begin_scores();
    wait_for_wgmma<0>();
    keep(s);
    release_k();
  };

  // The turn begins at the first warpgroup.
  if (warpgroup + 1 == Shape::kWarpgroups) pass_turn();
  // Whether there is a tile, and its first scores are computed while the one before is written.
  bool is_tile = has_next_tile(), is_begun = false;
  while (is_tile) {
    if (!is_begun) begin_tile();
    const uint32_t done = t - 1;
    const auto first_block = [&] { return tile_at(t - 1).first_block; };
    int block = last_block_of<Shape>(call, tile_at(t - 1), warpgroup);
    find_whole_blocks(tile_at(t - 1));
    clear(o);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      rows.max[half] = -INFINITY;
      rows.sum[half] = 0.0f;
    }
    if constexpr (Shape::kIsFloat8) {
      for (;;) {
        if (!Shape::kWritesThroughQueries && block == first_block()) release_q(t - 1);
        scores_to_weights(block);
        pack_weights<T, Shape>(p, s);
        wait_for_v();
        wait_for_turn();
        add_outputs(p, std::integral_constant<int, 0>());
        if constexpr (Shape::kColumns < Shape::kHeadDimV) {
          add_outputs(p, std::integral_constant<int, 1>());
        }
        pass_v();
        release_last_v();
        if (block == first_block()) break;
        --block;
        wait_for_k();
        issue_scores(keys());
        pass_turn();
        wait_for_wgmma<0>();
        keep(s);
        release_k();
      }
      is_tile = has_next_tile();
      is_begun = is_tile && blocks_to_skip() == 0;
      if (Shape::kOverlapsTiles && is_begun) begin_scores();
      pass_turn();
      finish(done);
      if (!Shape::kOverlapsTiles && is_begun) begin_scores();
      write(done);
      wait_for_wgmma<0>();
      keep(s);
      if (is_begun) release_k();
    } else {
      // Of the block whose output comes next.
      const auto clear_beyond_end = [&] {
        const int seq_k = kVarlen ? tile_at(t - 1).seq_k : 0;
        if (kVarlen && (block + 1) * kKeys > seq_k) {
          wait_for_v();
          clear_rows_from<typename Shape::VTile, kKeys>(values(), seq_k - block * kKeys,
                                                        turn + Shape::kWarpgroups);
        }
      };
      // One body for all blocks: the kernel's code is read from memory, too. Of the first one there
      // are no outputs yet, and zeros are multiplied.
      bool is_first = true;
#pragma unroll 1
      for (;;) {
        if (!Shape::kWritesThroughQueries && block == first_block()) release_q(t - 1);
        const bool is_rescaled = scores_to_weights(block);
        // ptxas moves a wait for products up to the last branch: to this one, behind the weights,
        // so that they are computed beside the products. Which rows are rescaled is each warp's
        // own, and a wait is for all four.
        const bool is_last = block == first_block();
        if (!is_last) wait_for_k();
        wait_for_wgmma<0>();
        keep(o);
        if (!is_first) release_last_v();
        if (is_rescaled && !is_first) multiply_rows(o, rescale);
        pack_all<T>(p, s);
        if (is_last) break;
        is_first = false;
        clear_beyond_end();
        --block;
        const char* const k = keys();
        wait_for_turn();
        issue_scores(k);
        wait_for_v();
        issue_outputs(p);
        pass_turn();
        release_written(t - 2);
        write_before();
        wait_for_wgmma<1>();
        keep(s);
        release_k();
      }
      // The next tile's queries take its place.
      write_before();
      release_written(t - 2);
      is_tile = has_next_tile();
      is_begun = is_tile && blocks_to_skip() == 0;
      clear_beyond_end();
      wait_for_v();
      wait_for_turn();
      issue_outputs(p);
      if (Shape::kOverlapsTiles && is_begun) {
        begin_scores();
        pass_turn();
        wait_for_wgmma<1>();
      } else {
        pass_turn();
        wait_for_wgmma<0>();
      }
      keep(o);
      release_last_v();
      finish(done);
      if (!Shape::kOverlapsTiles && is_begun) begin_scores();
      if (Shape::kWritesLate && is_begun && call.writes_late) {
        is_unwritten = true;
      } else {
        write(done);
      }
      // On every path, or ptxas adds a wait on the other one (C7517).
      wait_for_wgmma<0>();
      keep(s);
      if (is_begun) {
        release_k();
      } else {
        release_written(done);
      }
    }
  }
  if (Shape::kOutputColumns > 0 && is_first_lane) wait_for_reads();
  // The turn that nobody takes any more: barriers end as they began.
  if (warpgroup == 0) wait_for_turn();
  if (tile_at(t).head != 0) write_empty_tiles<T, Shape, kVarlen>(call, order, team);
}

}  // namespace attention_sm90

#endif

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// Attention, forward, for sm_90a (H100, H200): 16-bit elements, head dimensions that are multiples
// of 8. What it computes: attention.h. Of float8: attention_float8/attention_float8_sm90.cuh.
//
// A block computes tiles of 64 * kWarpgroups query rows of a head, one after the other; of some
// shapes it has two teams, which do so side by side, each with buffers and barriers of its own. Its
// warpgroups have roles:
//
//   producer    one thread of a team has the copy engine load Q once a tile, and the key blocks of
//               K and V into rings of kStages buffers; the other registers are given to the
//               consumers.
//   consumers   64 query rows each. S = Q K^T from shared memory; P = exp2(S - max) in registers,
//               where it is an operand of O += P V; O is divided by the sum of P at the end.
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
// Here are the roles. Shapes of tiles, where they lie, and the kernel's parameters:
// attention_sm90_tiles.cuh; what becomes of scores: attention_sm90_scores.cuh; how outputs come to
// memory: attention_sm90_output.cuh; which calls come here: attention_sm90.cu. Products, copies,
// barriers: common/hopper.
//
// Method: Shah et al., FlashAttention-3, 2024.
#pragma once

#include <cudaops/check.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "../common/bulk_copy.cuh"
#include "../common/device_types.cuh"
#include "../common/hopper/fragment.cuh"
#include "../common/hopper/ring.cuh"
#include "../common/hopper/tile.cuh"
#include "../common/hopper/tma.cuh"
#include "../common/hopper/wgmma.cuh"
#include "attention_sm90_output.cuh"
#include "attention_sm90_schedule.cuh"
#include "attention_sm90_scores.cuh"
#include "attention_sm90_tiles.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_WGMMA

namespace attention_sm90 {

template <typename Shape, bool kVarlen>
__device__ __forceinline__ void produce(const AttentionSm90Parameters& call,
                                        const AttentionSm90Order& order, int team, char* shared,
                                        const Barriers<Shape>& barriers) {
  constexpr int kTilesAhead = Shape::kTilesAhead;
  Tile* const tiles = reinterpret_cast<Tile*>(shared + Shape::kTilesOffset);
  uint32_t n = 0;      // key blocks up to now
  uint32_t known = 0;  // tiles that the consumers know
  bool is_end = false, has_empty = false;
  // In shared memory: the thread has few registers.
  Schedule<Shape, kVarlen> schedule(call, order, team,
                                    *reinterpret_cast<Progress*>(shared + Shape::kProgressOffset));
  const auto find_tile = [&] {
    if (is_end) return;
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
  const auto load_q = [&](const Tile& tile, uint32_t t) {
    for (int w = 0; w < Shape::kWarpgroups; ++w) {
      barriers.q(w).wait_until_empty(t);
      load_rows<typename Shape::QTile, 64>(
          shared + Shape::kQOffset + stage<Shape::kQStages>(t) * Shape::QTile::kBytes, 64 * w,
          &call.q, tile.q_row + tile.first_query + 64 * w, tile.head, kVarlen ? 0 : tile.batch,
          barriers.q(w).full(t));
    }
  };
  find_tile();
  for (uint32_t t = 0;; ++t) {
    const Tile& tile = tiles[stage<kTilesAhead>(t)];
    if (tile.batch < 0) break;
    const int batch = kVarlen ? 0 : tile.batch, k_row = tile.k_row;
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
        const int before = kVarlen ? k_row / Shape::kKeys + tile.batch : 0;
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
    if (Shape::kQStages == 1 || t == 0) load_q(tile, t);
    // The consumers have left the tile whose place it takes before they need more of this one.
    if (t == 0) find_tile();
    find_tile();
    bool are_queries_loaded = false;  // the next tile's
    for (; block > first_block; --block, ++n) {
      load_k(block - 1, n + 1);
      load_v(block, n);
      if (Shape::kLoadsQueriesEarly && !are_queries_loaded) {
        const Tile& next = tiles[stage<kTilesAhead>(t + 1)];
        if (next.batch >= 0) load_q(next, t + 1);
        are_queries_loaded = true;
      }
    }
    // They come at the latest while this one's last blocks are computed; of a short tile the values
    // are waited for earlier.
    const Tile& next = tiles[stage<kTilesAhead>(t + 1)];
    const bool is_short = tile.last_block - first_block < 2;
    if (is_short) load_v(first_block, n);
    if (next.batch >= 0 && !are_queries_loaded) {
      if (Shape::kQStages > 1) {
        load_q(next, t + 1);
      } else {
#pragma unroll 1
        for (int i = 0; i < Shape::kWarpgroups * Shape::QTile::kChunks; ++i) {
          prefetch_box(&call.q, i / Shape::kWarpgroups * kBoxColumns,
                       next.q_row + next.first_query + i % Shape::kWarpgroups * 64, next.head,
                       kVarlen ? 0 : next.batch);
        }
      }
    }
    if (!is_short) load_v(first_block, n);
    ++n;
  }
}

// Of the tiles in which no query sees a key, by the consumers when they have done the others.
template <typename T, typename Shape, bool kVarlen>
__device__ __forceinline__ void write_empty_tiles(const AttentionSm90Parameters& call,
                                                  const AttentionSm90Order& order, int team) {
  constexpr int kThreads = Shape::kWarpgroups * kWarpgroupSize;
  const int thread = static_cast<int>(threadIdx.x) - kWarpgroupSize - team * kThreads;
  const int vectors = call.head_dim_v / 8;
  Progress progress;
  Schedule<Shape, kVarlen> schedule(call, order, team, progress);
  for (Tile tile; schedule.next(tile);) {
    if (!tile.is_empty()) continue;
    const int num_rows = min(Shape::kQueries, tile.seq_q - tile.first_query);
    T* const output = first_of_output<T, kVarlen>(call, tile);
    for (int i = thread; i < num_rows * vectors; i += kThreads) {
      const int row = i / vectors;
      *reinterpret_cast<uint4*>(output + (tile.first_query + row) * call.output_seq_stride +
                                (i - row * vectors) * 8) = make_uint4(0, 0, 0, 0);
    }
    if (call.lse == nullptr) continue;
    float* const lse = call.lse + first_of_lse<kVarlen>(call, tile) + tile.first_query;
    for (int row = thread; row < num_rows; row += kThreads) {
      lse[row] = call.sinks == nullptr ? -INFINITY : call.sinks[tile.head];
    }
  }
}

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
  const int turn = first_barrier + warpgroup;
  const int next_turn = warpgroup + 1 == Shape::kWarpgroups ? first_barrier : turn + 1;
  const bool is_first_lane = threadIdx.x % 32 == 0;
  uint32_t n = 0;  // key blocks whose scores are computed or skipped
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
  const auto has_next_tile = [&] {
    wait_for_phase(barriers.tile_full(stage<Shape::kTilesAhead>(t)), parity<Shape::kTilesAhead>(t));
    return tile_at(t).batch >= 0;
  };
  const auto wait_for_turn = [&] { wait_at_barrier(turn, kTurnThreads); };
  const auto pass_turn = [&] { arrive_at_barrier(next_turn, kTurnThreads); };
  const auto wait_for_q = [&] {
    barriers.q(warpgroup).wait_until_full(t);
    ++t;
  };
  const auto release_q = [&](uint32_t n) {
    if (is_first_lane) barriers.q(warpgroup).release(n);
  };
  // The outputs of the n-th tile: what is to be written of them, and to memory. With one buffer for
  // Q the next queries don't wait for it.
  const auto finish = [&](uint32_t n) {
    float factor[2];
    finish_rows<Shape, kVarlen>(call, tile_at(n), warpgroup, rows, factor);
#pragma unroll
    for (int i = 0; i < Shape::kHeadDimV / 4; ++i) {
      packed[i] = detail::pack_pair<T>(o[2 * i] * factor[i % 2], o[2 * i + 1] * factor[i % 2]);
    }
  };
  bool is_being_read = false;  // by the copy engine: what the last tile's queries gave way to
  const auto release_written = [&](uint32_t n) {
    if (!is_being_read) return;
    is_being_read = false;
    if (is_first_lane) wait_for_reads();
    release_q(n);
  };
  const auto write = [&](uint32_t n) {
    if constexpr (Shape::kOverlapsTiles && !Shape::kIsFloat8) {
      char* const q = shared + Shape::kQOffset + stage<Shape::kQStages>(n) * Shape::QTile::kBytes;
      write_rows<T, Shape, kVarlen>(call, tile_at(n), q, warpgroup, packed);
      __syncwarp();
      if (kVarlen) {
        release_q(n);
      } else {
        is_being_read = true;
      }
    } else {
      write_fragment<T, Shape, kVarlen>(call, tile_at(n), warpgroup, packed);
      __syncwarp();
      if (Shape::kOverlapsTiles) release_q(n);
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
  // Of the n-th block, and of the one before.
  const auto wait_for_k = [&] { barriers.k().wait_until_full(n); };
  const auto wait_for_v = [&] { barriers.v().wait_until_full(n - 1); };
  const auto release_k = [&] {
    if (is_first_lane) barriers.k().release(n);
    ++n;
  };
  const auto release_v = [&](uint32_t n) {
    if (is_first_lane) barriers.v().release(n);
  };
  const auto issue_scores = [&] {
    fence_wgmma();
    multiply_by_rows<Element, Shape::kQueries, kKeys, Shape::QTile::kColumns>(
        s, shared + Shape::kQOffset + stage<Shape::kQStages>(t - 1) * Shape::QTile::kBytes,
        warpgroup * 64, shared + Shape::kKOffset + stage<Shape::kStages>(n) * Shape::KTile::kBytes);
    commit_wgmma();
  };
  const auto values = [&] {
    return shared + Shape::kVOffset + stage<Shape::kStages>(n - 1) * Shape::VTile::kBytes;
  };
  const auto issue_outputs = [&](const auto& weights) {
    fence_wgmma();
    multiply_add_by_columns<T, kKeys, Shape::kHeadDimV>(o, weights, values());
    commit_wgmma();
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
    if (__builtin_expect(call.changes_scores, false)) {
      change_scores<T, Shape>(call, tile_at(t - 1), warpgroup, block, s);
    }
    const auto mask = [&](auto is_behind) {
      const Tile& tile = tile_at(t - 1);
      mask_scores<Shape, is_behind.value>(
          call, s, tile.seq_k, tile.first_query + tile.seq_k - tile.seq_q + warpgroup * 64, block);
    };
    if (block >= to_block) mask(std::true_type());
    if (block < from_block) mask(std::false_type());
    const float factor = Shape::kIsFloat8 ? tile_at(t - 1).score_factor : call.factor;
    const bool is_rescaled =
        weigh<Shape::kRescalesRarely, Shape::kWeightShift>(factor, s, rows, rescale);
    if (Shape::kHasDropout && __builtin_expect(call.threshold != 0, false)) {
      drop_weights<Shape>(call, tile_at(t - 1), warpgroup, block, s);
    }
    return is_rescaled;
  };
  // The scores of the tile's first block that isn't skipped.
  const auto begin_tile = [&](int to_skip) {
    for (int i = 0; i < to_skip; ++i) {
      wait_for_k();
      release_k();
      wait_for_turn();
      pass_turn();
      wait_for_v();
      release_v(n - 1);
    }
    wait_for_q();
    wait_for_k();
    issue_scores();
    wait_for_wgmma<0>();
    keep(s);
    release_k();
  };

  // The turn begins at the first warpgroup.
  if (warpgroup + 1 == Shape::kWarpgroups) pass_turn();
  bool is_tile = has_next_tile();
  if (is_tile)
    begin_tile(tile_at(0).last_block - last_block_of<Shape>(call, tile_at(0), warpgroup));
  while (is_tile) {
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
        if (!Shape::kOverlapsTiles && block == first_block()) release_q(t - 1);
        scores_to_weights(block);
        pack_weights<T, Shape>(p, s);
        wait_for_v();
        wait_for_turn();
        add_outputs(p, std::integral_constant<int, 0>());
        if constexpr (Shape::kColumns < Shape::kHeadDimV) {
          add_outputs(p, std::integral_constant<int, 1>());
        }
        release_v(n - 1);
        if (block == first_block()) break;
        --block;
        wait_for_k();
        issue_scores();
        pass_turn();
        wait_for_wgmma<0>();
        keep(s);
        release_k();
      }
      is_tile = has_next_tile();
      const int to_skip =
          is_tile ? tile_at(t).last_block - last_block_of<Shape>(call, tile_at(t), warpgroup) : 0;
      if (Shape::kOverlapsTiles && is_tile && to_skip == 0) {
        wait_for_q();
        wait_for_k();
        issue_scores();
        pass_turn();
        finish(t - 2);
        write(t - 2);
        wait_for_wgmma<0>();
        keep(s);
        release_k();
      } else {
        pass_turn();
        finish(t - 1);
        write(t - 1);
        if (is_tile) begin_tile(to_skip);
      }
    } else {
      if (!Shape::kOverlapsTiles && block == first_block()) release_q(t - 1);
      scores_to_weights(block);
      pack_all<T>(p, s);
      release_written(t - 2);
      // Of the block whose output comes next.
      const auto clear_beyond_end = [&] {
        const int seq_k = kVarlen ? tile_at(t - 1).seq_k : 0;
        if (kVarlen && (block + 1) * kKeys > seq_k) {
          wait_for_v();
          clear_rows_from<typename Shape::VTile, kKeys>(
              shared + Shape::kVOffset + stage<Shape::kStages>(n - 1) * Shape::VTile::kBytes,
              seq_k - block * kKeys, turn + Shape::kWarpgroups);
        }
      };
      while (block > first_block()) {
        clear_beyond_end();
        --block;
        wait_for_k();
        wait_for_turn();
        issue_scores();
        wait_for_v();
        issue_outputs(p);
        pass_turn();
        write_before();
        wait_for_wgmma<1>();
        keep(s);
        release_k();
        if (!Shape::kOverlapsTiles && block == first_block()) release_q(t - 1);
        const bool is_rescaled = scores_to_weights(block);
        wait_for_wgmma<0>();
        keep(o);
        release_v(n - 2);
        if (is_rescaled) multiply_rows(o, rescale);
        pack_all<T>(p, s);
        release_written(t - 2);
      }
      // The next tile's queries take its place.
      write_before();
      release_written(t - 2);
      is_tile = has_next_tile();
      int to_skip = 0;
      if (is_tile)
        to_skip = tile_at(t).last_block - last_block_of<Shape>(call, tile_at(t), warpgroup);
      clear_beyond_end();
      wait_for_v();
      wait_for_turn();
      if (Shape::kOverlapsTiles && is_tile && to_skip == 0) {
        issue_outputs(p);
        wait_for_q();
        wait_for_k();
        issue_scores();
        pass_turn();
        wait_for_wgmma<1>();
        keep(o);
        release_v(n - 1);
        finish(t - 2);
        if (Shape::kWritesLate && call.writes_late) {
          is_unwritten = true;
        } else {
          write(t - 2);
        }
        wait_for_wgmma<0>();
        keep(s);
        release_k();
      } else {
        issue_outputs(p);
        pass_turn();
        wait_for_wgmma<0>();
        keep(o);
        release_v(n - 1);
        finish(t - 1);
        write(t - 1);
        release_written(t - 1);
        if (is_tile) begin_tile(to_skip);
      }
    }
  }
  // The turn that nobody takes any more: barriers end as they began.
  if (warpgroup == 0) wait_for_turn();
  if (tile_at(t).head != 0) write_empty_tiles<T, Shape, kVarlen>(call, order, team);
}

}  // namespace attention_sm90

#endif

// Without wgmma it has no body, and is never launched: attention_sm90_serves().
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
    for (int w = 0; w < Shape::kWarpgroups; ++w) {
      for (int n = 0; n < Shape::kQStages; ++n) barriers.q(w).init(n, 4);
    }
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

// For what attention_sm90_serves_forward(). describe_more(parameters): what the shape alone needs.
template <typename T, typename Shape, bool kVarlen, typename DescribeMore>
void launch_attention_sm90_type(const Attention& call, cudaStream_t stream,
                                const DescribeMore& describe_more) {
  AttentionSm90Parameters parameters{};
  describe(call, 64, Shape::kKeys, &parameters);
  describe_more(&parameters);
  parameters.output = call.output.data;
  parameters.lse = static_cast<float*>(call.lse);
  parameters.sinks = static_cast<const float*>(call.sinks);
  parameters.output_batch_stride = call.output.batch_stride;
  parameters.output_seq_stride = call.output.seq_stride;
  parameters.output_head_stride = call.output.head_stride;
  parameters.total_q = static_cast<int>(call.total_q);
  const auto by = [](int64_t n) { return detail::Divider(static_cast<uint32_t>(n)); };
  const int64_t query_tiles = divide_up(call.seq_q, Shape::kQueries);
  const int64_t all_heads = call.batch * call.heads;
  const int64_t num_tiles = query_tiles * all_heads;
  parameters.batch = static_cast<int>(call.batch);
  parameters.query_tiles = static_cast<int>(query_tiles);
  parameters.by_query_tiles = by(query_tiles);
  parameters.by_heads = by(call.heads);
  parameters.by_group = by(call.heads / call.kv_heads);
  parameters.unit = static_cast<float>(parameters.cap != 0.0f ? 1.0 : 1.0 / call.scale);
  parameters.slopes = call.alibi_slopes;
  parameters.slopes_batch_stride = call.alibi_batch_stride;
  parameters.bias = call.bias;
  parameters.bias_is_float = call.bias_dtype == DType::kFloat32;
  parameters.bias_batch_stride = call.bias_batch_stride;
  parameters.bias_head_stride = call.bias_head_stride;
  parameters.bias_query_stride = call.bias_query_stride;
  parameters.changes_scores =
      parameters.cap != 0.0f || call.bias != nullptr || call.alibi_slopes != nullptr;
  parameters.threshold = AttentionDropout::threshold_of(call);
  parameters.seed = call.seed;
  parameters.kept = AttentionDropout::factor_of<float>(parameters.threshold);
  parameters.num_items = static_cast<int>(num_tiles);
  parameters.writes_late = !parameters.is_masked() || call.seq_q > 512;
  const bool is_masked = parameters.is_masked();
  const int64_t multiprocessors = num_multiprocessors();
  if (kVarlen && call.batch <= AttentionSm90Order::kMost) {
    parameters.by_length = true;
    parameters.by_couples = is_masked;
  } else if (is_masked) {
    const int64_t couples = divide_up(all_heads, 2) * query_tiles;
    const int64_t teams = multiprocessors * Shape::kTeams;
    const int64_t in_rounds = divide_up(couples, teams) * teams;
    parameters.by_couples = !kVarlen && Shape::kQueries == 128 && call.seq_q <= kCoupleQueries &&
                            8 * in_rounds <= 9 * couples;
    if (parameters.by_couples) parameters.num_items = static_cast<int>(couples);
  }
  if (is_masked && !parameters.by_couples) {
    const int64_t section =
        attention_sm90_section(call, Shape::kIsFloat8 ? 1 : size_of(call.dtype));
    divide_into_sections(all_heads, section, query_tiles, &parameters);
  }

  const auto kernel = &attention_sm90_kernel<T, Shape, kVarlen>;
  CUDAOPS_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     Shape::shared_bytes(kVarlen)));
  const int64_t blocks = std::min(divide_up(num_tiles, Shape::kTeams), multiprocessors);
  kernel<<<static_cast<unsigned int>(blocks), Shape::kThreads, Shape::shared_bytes(kVarlen),
           stream>>>(parameters);
  CUDAOPS_CHECK_LAUNCH();
}

template <typename Shape, typename DescribeMore>
void launch_attention_sm90_shape(const Attention& call, cudaStream_t stream,
                                 const DescribeMore& describe_more) {
  for_sm90_kernel(call.dtype, call.cu_seqlens_q != nullptr, [&](auto element, auto is_varlen) {
    launch_attention_sm90_type<decltype(element), Shape, is_varlen.value>(call, stream,
                                                                          describe_more);
  });
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

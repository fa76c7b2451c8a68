// SPDX-License-Identifier: Apache-2.0
// What the consumers of attention_backward_sm90.cuh do with a query block, in three ways: one for
// each of AttentionBackwardSm90Roles. What happens to scores: attention_backward_sm90_scores.cuh.
#pragma once

#include <type_traits>

#include "../common/bulk_copy.cuh"
#include "../common/hopper/counter.cuh"
#include "../common/hopper/fragment.cuh"
#include "attention_backward_sm90_scores.cuh"
#include "attention_backward_sm90_tiles.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_WGMMA

namespace attention_backward_sm90 {

// What they have in common: where things are, products, and sums of dQ.
template <typename T_, typename Shape_, Lengths kLengths_, bool kHasExtras>
struct Consumer {
  using T = T_;
  using Shape = Shape_;
  static constexpr Lengths kLengths = kLengths_;
  static constexpr int kQueries = Shape::kQueries;
  static constexpr int kConsumers = Shape::kWarpgroups * kWarpgroupSize;
  // Named barriers: of both warpgroups, and of each.
  static constexpr int kScoresBarrier = 1, kReadBarrier = 2;

  const AttentionBackwardSm90Parameters& call;
  char* const shared;
  const Barriers<Shape> barriers;
  const int warpgroup;
  const Scores<T, Shape, kLengths, kHasExtras> scores;
  uint32_t n;  // query blocks up to now

  __device__ __forceinline__ Consumer(const AttentionBackwardSm90Parameters& of_call,
                                      char* of_block, const Barriers<Shape>& of_shape, int index)
      : call(of_call),
        shared(of_block),
        barriers(of_shape),
        warpgroup(index),
        scores{of_call, of_block},
        n(0) {}

  __device__ __forceinline__ bool is_ordered() const { return kHasExtras && call.turns != nullptr; }
  __device__ __forceinline__ int own_barrier() const { return 3 + warpgroup; }
  __device__ __forceinline__ int thread() const { return threadIdx.x % kWarpgroupSize; }
  __device__ __forceinline__ bool is_first_lane() const { return threadIdx.x % 32 == 0; }

  // Of the n-th query block.
  __device__ __forceinline__ char* q_tile(uint32_t n) const {
    return shared + Shape::kQOffset + stage<Shape::kStages>(n) * Shape::QTile::kBytes;
  }
  __device__ __forceinline__ char* grad_tile(uint32_t n) const {
    return shared + Shape::kGradOffset + stage<Shape::kStages>(n) * Shape::GradTile::kBytes;
  }
  __device__ __forceinline__ char* scores_tile(uint32_t n) const {
    return shared + Shape::kScoresOffset + n % Shape::kScoreStages * Shape::ScoreTile::kBytes;
  }

  // Rows behind the last query are those of the next sequence: see clear_rows_from().
  __device__ __forceinline__ void wait_for_q(const Tile& tile, int first_query) const {
    barriers.q().wait_until_full(n);
    if (is_varlen<kLengths>(call) && first_query + kQueries > tile.seq_q) {
      clear_rows_from<typename Shape::QTile, kQueries>(q_tile(n), tile.seq_q - first_query,
                                                       own_barrier());
    }
  }
  __device__ __forceinline__ void wait_for_grad(const Tile& tile, int first_query) const {
    barriers.grad().wait_until_full(n);
    if (is_varlen<kLengths>(call) && first_query + kQueries > tile.seq_q) {
      clear_rows_from<typename Shape::GradTile, kQueries>(grad_tile(n), tile.seq_q - first_query,
                                                          own_barrier());
    }
  }
  // All lanes have read lse, or delta, by then.
  __device__ __forceinline__ void release_q(uint32_t n) const {
    __syncwarp();
    if (is_first_lane()) barriers.q().release(n);
  }
  __device__ __forceinline__ void release_grad(uint32_t n) const {
    __syncwarp();
    if (is_first_lane()) barriers.grad().release(n);
  }

  // S^T or dP^T of 64 keys, those of a tile from `row` on.
  __device__ __forceinline__ void issue_scores(float (&s)[kQueries / 2], int row) const {
    fence_wgmma();
    multiply_by_rows<T, Shape::kKeys, kQueries, Shape::kHeadDim>(s, shared + Shape::kKOffset, row,
                                                                 q_tile(n));
    commit_wgmma();
  }
  __device__ __forceinline__ void issue_products(float (&dp)[kQueries / 2], int row) const {
    fence_wgmma();
    multiply_by_rows<T, Shape::kKeys, kQueries, Shape::kHeadDimV>(dp, shared + Shape::kVOffset, row,
                                                                  grad_tile(n));
    commit_wgmma();
  }
  // A part of dQ^T, of the keys of both warpgroups.
  __device__ __forceinline__ void issue_sums(float (&dq)[Shape::kSumQueries / 2], int part) const {
    const char* const keys =
        shared + Shape::kKOffset + (Shape::kSplitsQueries ? 0 : part * Shape::KTile::kChunkBytes);
    const char* const scores =
        scores_tile(n) + (Shape::kSplitsQueries ? part * Shape::ScoreTile::kChunkBytes : 0);
    fence_wgmma();
    multiply_columns<T, Shape::kKeys, Shape::kSumQueries>(dq, keys, scores);
    commit_wgmma();
  }
  // To shared memory, from where the copy engine adds it to memory.
  __device__ __forceinline__ void add_sums(const float (&dq)[Shape::kSumQueries / 2], int part,
                                           const Tile& tile, const Block& block) const {
    char* const staged = shared + Shape::kSumsOffset + part * Shape::kSums * 4;
    store_in_order(reinterpret_cast<float4*>(staged) + thread(), dq);
    fence_for_wgmma();
    wait_at_barrier(own_barrier(), kWarpgroupSize);
    if (thread() != 0) return;
    if (is_ordered()) wait_for_turn(tile, block, part);
    add_to_memory(sums(block, part), staged, Shape::kSums * 4);
    if (is_ordered()) own_turns()[part / 2] = block.workspace_block * Shape::kSumParts + part + 1;
  }
  // By the thread that had them added: until they are read, or, in order, until they are there.
  __device__ __forceinline__ void finish_sums() const {
    if (is_ordered()) {
      wait_for_additions();
      pass_turns();
    } else {
      wait_for_reads();
    }
  }
  // Of a tile's last block: others wait for them.
  __device__ __forceinline__ void end_sums() const {
    if (is_ordered() && thread() == 0) finish_sums();
  }
  __device__ __forceinline__ float* sums(const Block& block, int part) const {
    return call.sums + int64_t{block.workspace_block} * Shape::kBlockSums + part * Shape::kSums;
  }

  // With a fixed order of additions to dQ: the tile with the last keys that a query block sees is
  // first. `turns` counts, for each part of a query block, the tiles that are done. One thread of a
  // warpgroup waits for its turn, and passes it on later; up to then it remembers which one.
  __device__ __forceinline__ int* own_turns() const {
    return reinterpret_cast<int*>(shared + Shape::kTurnsOffset) + 2 * warpgroup;
  }
  __device__ __forceinline__ void wait_for_turn(const Tile& tile, const Block& block,
                                                int part) const {
    int last_tile = (tile.seq_k - 1) / Shape::kKeys;
    if (call.window_right >= 0) {
      const int last_key =
          block.first_query + kQueries - 1 + tile.seq_k - tile.seq_q + call.window_right;
      last_tile = min(last_tile, last_key / Shape::kKeys);
    }
    const int turn = last_tile - tile.first_key / Shape::kKeys;
    wait_for_count(call.turns + int64_t{block.workspace_block} * Shape::kSumParts + part, turn);
  }
  __device__ __forceinline__ void pass_turns() const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      int& turn = own_turns()[i];
      if (turn > 0) count(call.turns + turn - 1);
      turn = 0;
    }
  }

  // 64 x kColumns numbers of a warpgroup, times `factor`, to rows of keys; `first_key`: the
  // warpgroup's.
  template <int kColumns>
  __device__ __forceinline__ void write(const Tile& tile, const AttentionOutput& grad,
                                        int first_key, int width, const float (&sums)[kColumns / 2],
                                        float factor) const {
    const int64_t first =
        tile.kv_head * grad.head_stride +
        (is_varlen<kLengths>(call) ? tile.k_row * grad.seq_stride : tile.batch * grad.batch_stride);
    const int num_keys = tile.seq_k;
    const int lane = threadIdx.x % 32;
    const int key = row_of_warp(first_key) + lane / 4;
    T* const data = static_cast<T*>(grad.data) + first + lane % 4 * 8;
    const auto word = [&](int i) {
      return detail::pack_pair<T>(sums[2 * i] * factor, sums[2 * i + 1] * factor);
    };
    write_fragment_rows<kColumns>(key, num_keys, width, word, [&](int row, int column) {
      return data + (key + row) * grad.seq_stride + column;
    });
  }
};

// Half of the keys each: dK and dV of 64 of them.
template <typename Common>
struct HalfOfKeys {
  using Shape = typename Common::Shape;
  Common common;
  float dk[Shape::kHeadDim / 2], dv[Shape::kHeadDimV / 2];

  __device__ __forceinline__ void clear_sums() {
    clear(dk);
    clear(dv);
  }
  __device__ __forceinline__ int row() const { return common.warpgroup * 64; }
  __device__ __forceinline__ int first_key(const Tile& tile) const {
    return tile.first_key + row();
  }
  __device__ __forceinline__ void write(const Tile& tile) const {
    common.template write<Shape::kHeadDimV>(tile, common.call.grad_v, first_key(tile),
                                            common.call.head_dim_v, dv, common.scores.kept());
    common.template write<Shape::kHeadDim>(tile, common.call.grad_k, first_key(tile),
                                           common.call.head_dim, dk, common.call.scale);
  }
};

// Products run beside what is done in registers: dP^T beside the exponentials, dV beside dS, dK
// beside writing dQ.
template <typename Common>
struct ConsumerOfKeys : HalfOfKeys<Common> {
  using T = typename Common::T;
  using Shape = typename Common::Shape;
  static constexpr int kQueries = Shape::kQueries;
  using HalfOfKeys<Common>::common, HalfOfKeys<Common>::dk, HalfOfKeys<Common>::dv;
  float s[kQueries / 2], dp[kQueries / 2];
  uint32_t p[kQueries / 4], ds[kQueries / 4];
  uint32_t dropped[kQueries / 64];
  float dq[Shape::kSumQueries / 2];

  __device__ __forceinline__ void issue_values() {
    pack_all<T>(p, s);
    common.scores.drop(p, dropped);
    fence_wgmma();
    multiply_add_by_columns<T, kQueries, Shape::kHeadDimV>(dv, p, common.grad_tile(common.n));
    commit_wgmma();
  }

  __device__ __forceinline__ void add(const Tile& tile, const Block& block) {
    const uint32_t n = common.n;
    const int row = this->row(), first_key = this->first_key(tile);
    common.scores.begin_bias(tile, block, first_key);
    common.wait_for_q(tile, block.first_query);
    common.issue_scores(s, row);
    common.wait_for_grad(tile, block.first_query);
    common.issue_products(dp, row);
    wait_for_wgmma<1>();
    keep(s);
    const bool is_masked = common.scores.is_masked(tile, block, first_key);
    common.scores.weigh(tile, block, s, first_key, is_masked, n);
    if (common.scores.has_dropout()) common.scores.find_dropped(tile, block, first_key, dropped);
    if (Shape::kOverlapsValues) {
      issue_values();
      wait_for_wgmma<1>();
    } else {
      wait_for_wgmma<0>();
    }
    keep(dp);
    if (is_masked) {
#pragma unroll
      for (int i = 0; i < kQueries / 8; ++i) common.scores.hide(dp, s + 4 * i, i);
    }
    common.scores.drop(dp, dropped);
#pragma unroll
    for (int i = 0; i < kQueries / 8; ++i) common.scores.derive(dp, s + 4 * i, i, n);
    common.scores.store_grad_bias(tile, block, first_key, dp);
    pack_all<T>(ds, dp);
    if (!Shape::kOverlapsValues) issue_values();
    store_fragment<typename Shape::ScoreTile, kQueries>(common.scores_tile(n), row, ds);
    fence_for_wgmma();
    // Then both halves of dS are there, dQ of the block before is read, and dS of the one before
    // that too.
    if (common.thread() == 0) common.finish_sums();
    wait_at_barrier(Common::kScoresBarrier, Common::kConsumers);
    common.issue_sums(dq, common.warpgroup);
    multiply_add_by_columns<T, kQueries, Shape::kHeadDim>(dk, ds, common.q_tile(n));
    commit_wgmma();
    common.scores.store_grad_bias(tile, block, first_key, ds);
    wait_for_wgmma<1>();
    keep(dv);
    keep(dq);
    common.release_grad(n);
    common.add_sums(dq, common.warpgroup, tile, block);
    wait_for_wgmma<0>();
    keep(dk);
    common.release_q(n);
  }
  __device__ __forceinline__ void end_blocks() const { common.end_sums(); }
};

// The same where dK and dV leave registers for either S^T or dP^T: weights are kept packed, dP^T
// comes when they are, and one part of dQ after the other.
//
// dK of the block before runs beside the exponentials, dV beside dS.
template <typename Common>
struct ConsumerOfKeysInTurn : HalfOfKeys<Common> {
  using T = typename Common::T;
  using Shape = typename Common::Shape;
  static constexpr int kQueries = Shape::kQueries;
  static_assert(Shape::kSumParts == 3, "a part a warpgroup, and one by turns");
  using HalfOfKeys<Common>::common, HalfOfKeys<Common>::dk, HalfOfKeys<Common>::dv;

  // Of the n-th block.
  __device__ __forceinline__ void issue_keys(uint32_t n) {
    fence_wgmma();
    multiply_add_by_columns<T, Shape::kKeys, kQueries, Shape::kHeadDim>(
        dk, common.scores_tile(n), this->row(), common.q_tile(n));
  }

  __device__ __forceinline__ void add(const Tile& tile, const Block& block) {
    const uint32_t n = common.n;
    const int row = this->row(), first_key = this->first_key(tile);
    float s[kQueries / 2], dp[kQueries / 2], dq[kQueries / 2];
    uint32_t p[kQueries / 4], ds[kQueries / 4];
    common.wait_for_q(tile, block.first_query);
    common.issue_scores(s, row);
    if (!block.is_first) issue_keys(n - 1);
    commit_wgmma();
    wait_for_wgmma<1>();
    keep(s);
    const bool is_masked = common.scores.is_masked(tile, block, first_key);
    common.scores.weigh(tile, block, s, first_key, is_masked, n);
    pack_all<T>(p, s);
    common.wait_for_grad(tile, block.first_query);
    fence_wgmma();
    multiply_add_by_columns<T, kQueries, Shape::kHeadDimV>(dv, p, common.grad_tile(n));
    commit_wgmma();
    wait_for_wgmma<1>();
    keep(dk);
    if (!block.is_first) common.release_q(n - 1);
    common.issue_products(dp, row);
    wait_for_wgmma<0>();
    keep(dv);
    keep(dp);
#pragma unroll
    for (int i = 0; i < kQueries / 8; ++i) {
      const Numbers<T> weights = unpack<T>({p[2 * i], p[2 * i + 1], 0, 0});
      const float weight[4] = {weights[0], weights[1], weights[2], weights[3]};
      if (is_masked) common.scores.hide(dp, weight, i);
      common.scores.derive(dp, weight, i, n);
    }
    pack_all<T>(ds, dp);
    common.release_grad(n);
    // Both have computed dQ of the block before, and its third part is read.
    if (common.thread() == 0) common.finish_sums();
    wait_at_barrier(Common::kReadBarrier, Common::kConsumers);
    store_fragment<typename Shape::ScoreTile, kQueries>(common.scores_tile(n), row, ds);
    fence_for_wgmma();
    wait_at_barrier(Common::kScoresBarrier, Common::kConsumers);
    common.issue_sums(dq, common.warpgroup);
    wait_for_wgmma<0>();
    keep(dq);
    common.add_sums(dq, common.warpgroup, tile, block);
    if ((n & 1) == static_cast<uint32_t>(common.warpgroup)) {
      common.issue_sums(dq, 2);
      wait_for_wgmma<0>();
      keep(dq);
      common.add_sums(dq, 2, tile, block);
    }
  }
  // Of the last block.
  __device__ __forceinline__ void end_blocks() {
    issue_keys(common.n - 1);
    commit_wgmma();
    wait_for_wgmma<0>();
    keep(dk);
    common.release_q(common.n - 1);
    common.end_sums();
  }
};

// Heads of more elements than a warpgroup has registers for dK and dV of. A tile has 64 keys, which
// both share:
//
//   first    S^T = K Q^T and P^T, which it gives to the other one; dV += P^T dO
//   second   dP^T = V dO^T and dS^T, which goes to shared memory; dK += dS^T Q
//
// and each every second 64 rows of dQ^T = K^T dS^T, which it adds to memory from its registers:
// there is no room for them in shared memory.
template <typename Common>
struct ConsumerOfGradient {
  using T = typename Common::T;
  using Shape = typename Common::Shape;
  static constexpr int kQueries = Shape::kQueries;
  static constexpr int kWeightsBarrier = Common::kReadBarrier;
  static_assert(Shape::kHeadDim == Shape::kHeadDimV, "dV's registers are dK's");
  Common common;
  float sums[Shape::kHeadDim / 2];  // of dV or dK
  float s[kQueries / 2];            // S or dP, then P or dS
  uint32_t packed[kQueries / 4];
  float dq[kQueries / 2];

  __device__ __forceinline__ bool is_first() const { return common.warpgroup == 0; }
  __device__ __forceinline__ void clear_sums() { clear(sums); }

  __device__ __forceinline__ void add(const Tile& tile, const Block& block) {
    const uint32_t n = common.n;
    const int thread = common.thread();
    float4* const weights = reinterpret_cast<float4*>(common.shared + Shape::kSumsOffset) + thread;
    if (is_first()) common.scores.begin_bias(tile, block, tile.first_key);
    common.wait_for_q(tile, block.first_query);
    common.wait_for_grad(tile, block.first_query);
    fence_wgmma();
    multiply_by_rows<T, Shape::kKeys, kQueries, Shape::kHeadDim>(
        s, common.shared + (is_first() ? Shape::kKOffset : Shape::kVOffset), 0,
        is_first() ? common.q_tile(n) : common.grad_tile(n));
    commit_wgmma();
    wait_for_wgmma<0>();
    keep(s);
    if (is_first()) {
      common.scores.weigh(tile, block, s, tile.first_key,
                          common.scores.is_masked(tile, block, tile.first_key), n);
      // Those that are dropped are given as negative numbers.
      uint32_t dropped[kQueries / 64];
      if (common.scores.has_dropout()) {
        common.scores.find_dropped(tile, block, tile.first_key, dropped);
#pragma unroll
        for (int i = 0; i < kQueries / 2; ++i) {
          if (dropped[i / 32] >> i % 32 & 1) s[i] = -s[i];
        }
      }
      store_in_order(weights, s);
      if (common.scores.has_dropout()) {
#pragma unroll
        for (int i = 0; i < kQueries / 2; ++i) s[i] = fmaxf(s[i], 0.0f);
      }
      arrive_at_barrier(kWeightsBarrier, Common::kConsumers);
    } else {
      const float kept = common.scores.kept();
      wait_at_barrier(kWeightsBarrier, Common::kConsumers);
#pragma unroll
      for (int i = 0; i < kQueries / 8; ++i) {
        const float4 four = weights[i * kWarpgroupSize];
        float weight[4] = {four.x, four.y, four.z, four.w};
        if (common.scores.has_dropout()) {
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            s[4 * i + j] = signbit(weight[j]) ? 0.0f : s[4 * i + j] * kept;
            weight[j] = fabsf(weight[j]);
          }
        }
        common.scores.hide(s, weight, i);
        common.scores.derive(s, weight, i, n);
      }
      common.scores.store_grad_bias(tile, block, tile.first_key, s);
    }
    pack_all<T>(packed, s);
    if (!is_first()) {
      common.scores.store_grad_bias(tile, block, tile.first_key, packed);
      store_fragment<typename Shape::ScoreTile, kQueries>(common.scores_tile(n), 0, packed);
      fence_for_wgmma();
    }
    // dV beside dS; the other warpgroup's dK comes behind dQ's first part there.
    fence_wgmma();
    multiply_add_by_columns<T, kQueries, Shape::kHeadDim>(
        sums, packed, is_first() ? common.grad_tile(n) : common.q_tile(n));
    commit_wgmma();
    // dS is there, and the weights are read.
    wait_at_barrier(Common::kScoresBarrier, Common::kConsumers);
#pragma unroll
    for (int turn = 0; turn < (Shape::kSumParts + 1) / 2; ++turn) {
      const int part = 2 * turn + common.warpgroup;
      if (part >= Shape::kSumParts) break;
      common.issue_sums(dq, part);
      wait_for_wgmma<0>();
      keep(dq);
      keep(sums);
      if (common.is_ordered()) {
        pass_turns();
        if (thread == 0) {
          common.wait_for_turn(tile, block, part);
          common.own_turns()[0] = block.workspace_block * Shape::kSumParts + part + 1;
        }
        wait_at_barrier(common.own_barrier(), kWarpgroupSize);
      }
      add_in_order(reinterpret_cast<float4*>(common.sums(block, part)) + thread, dq);
    }
    common.release_q(n);
    common.release_grad(n);
  }
  // When all threads have added what is to be added before.
  __device__ __forceinline__ void pass_turns() const {
    __threadfence();
    wait_at_barrier(common.own_barrier(), kWarpgroupSize);
    if (common.thread() == 0) common.pass_turns();
  }
  __device__ __forceinline__ void end_blocks() const {
    if (common.is_ordered()) pass_turns();
  }

  __device__ __forceinline__ void write(const Tile& tile) const {
    common.template write<Shape::kHeadDim>(
        tile, is_first() ? common.call.grad_v : common.call.grad_k, tile.first_key,
        is_first() ? common.call.head_dim_v : common.call.head_dim, sums,
        is_first() ? common.scores.kept() : common.call.scale);
  }
};

template <typename Common>
using ConsumerFor = std::conditional_t<
    Common::Shape::kRoles == AttentionBackwardSm90Roles::kKeys, ConsumerOfKeys<Common>,
    std::conditional_t<Common::Shape::kRoles == AttentionBackwardSm90Roles::kKeysInTurn,
                       ConsumerOfKeysInTurn<Common>, ConsumerOfGradient<Common>>>;

}  // namespace attention_backward_sm90

#endif

}  // namespace cudaops_kernels

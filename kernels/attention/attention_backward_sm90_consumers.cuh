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
template <typename T_, typename Shape_, bool kVarlen_, bool kHasExtras>
struct Consumer {
  using T = T_;
  using Shape = Shape_;
  static constexpr bool kVarlen = kVarlen_;
  static constexpr int kQueries = Shape::kQueries;
  static constexpr int kConsumers = Shape::kWarpgroups * kWarpgroupSize;
  // Named barriers: of both warpgroups, and of each.
  static constexpr int kScoresBarrier = 1, kReadBarrier = 2;

  const AttentionBackwardSm90Parameters& call;
  const Rings<Shape> rings;
  const int warpgroup;
  const Scores<T, Shape, kVarlen, kHasExtras> scores{call, rings};
  uint32_t n = 0;  // query blocks up to now

  __device__ __forceinline__ bool is_ordered() const { return kHasExtras && call.turns != nullptr; }
  __device__ __forceinline__ int own_barrier() const { return 3 + warpgroup; }
  __device__ __forceinline__ int thread() const { return threadIdx.x % kWarpgroupSize; }
  // The warpgroup's first key, in the tile and in the sequence.
  __device__ __forceinline__ int row() const { return Shape::kIsWide ? 0 : warpgroup * 64; }
  __device__ __forceinline__ int first_key(const Tile& tile) const {
    return tile.first_key + row();
  }
  __device__ __forceinline__ bool is_first_lane() const { return threadIdx.x % 32 == 0; }

  __device__ __forceinline__ char* scores_tile(uint32_t n) const {
    return rings.shared + Shape::kScoresOffset + n % Shape::kScoreStages * Shape::ScoreTile::kBytes;
  }

  // Q, or dO. Rows behind the last query are those of the next sequence: see clear_rows_from().
  template <typename Rows>
  __device__ __forceinline__ void wait_for(const Rows& rows, const Block& block) const {
    rows.ring.wait_until_full(n);
    if (kVarlen && block.first_query + kQueries > block.tile.seq_q) {
      clear_rows_from<typename Rows::Tile, kQueries>(
          rows.tile(n), block.tile.seq_q - block.first_query, own_barrier());
    }
  }
  // All lanes have read lse, or delta, by then.
  template <typename Rows>
  __device__ __forceinline__ void release(const Rows& rows, uint32_t n) const {
    __syncwarp();
    if (is_first_lane()) rows.ring.release(n);
  }

  // S^T of K and Q, or dP^T of V and dO, of the warpgroup's 64 keys.
  template <typename Rows>
  __device__ __forceinline__ void issue_scores(float (&s)[kQueries / 2], int keys_offset,
                                               const Rows& rows) const {
    fence_wgmma();
    multiply_by_rows<T, Shape::kKeys, kQueries, Rows::Tile::kColumns>(s, rings.shared + keys_offset,
                                                                      row(), rows.tile(n));
    commit_wgmma();
  }
  // dV of P^T and dO, or dK of dS^T and Q.
  template <int kColumns>
  __device__ __forceinline__ void issue_gradient(float (&sums)[kColumns / 2],
                                                 const uint32_t (&scores)[kQueries / 4],
                                                 const char* queries) const {
    fence_wgmma();
    multiply_add_by_columns<T, kQueries, kColumns>(sums, scores, queries);
    commit_wgmma();
  }
  // A part of dQ^T, of the keys of both warpgroups.
  __device__ __forceinline__ void issue_sums(float (&dq)[Shape::kSumQueries / 2], int part) const {
    const char* const keys = rings.shared + Shape::kKOffset +
                             (Shape::kSplitsQueries ? 0 : part * Shape::KTile::kChunkBytes);
    const char* const scores =
        scores_tile(n) + (Shape::kSplitsQueries ? part * Shape::ScoreTile::kChunkBytes : 0);
    fence_wgmma();
    multiply_columns<T, Shape::kKeys, Shape::kSumQueries>(dq, keys, scores);
    commit_wgmma();
  }
  // To shared memory, from where the copy engine adds it to memory.
  __device__ __forceinline__ void add_sums(const float (&dq)[Shape::kSumQueries / 2], int part,
                                           const Block& block) const {
    char* const staged = rings.shared + Shape::kSumsOffset + part * Shape::kSums * 4;
    store_in_order(reinterpret_cast<float4*>(staged) + thread(), dq);
    fence_for_wgmma();
    wait_at_barrier(own_barrier(), kWarpgroupSize);
    if (thread() != 0) return;
    if (is_ordered()) wait_for_turn(block, part);
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
    return reinterpret_cast<int*>(rings.shared + Shape::kTurnsOffset) + 2 * warpgroup;
  }
  __device__ __forceinline__ void wait_for_turn(const Block& block, int part) const {
    int last_tile = (block.tile.seq_k - 1) / Shape::kKeys;
    if (call.window_right >= 0) {
      const int last_key = block.first_query + kQueries - 1 + block.tile.seq_k - block.tile.seq_q +
                           call.window_right;
      last_tile = min(last_tile, last_key / Shape::kKeys);
    }
    const int turn = last_tile - block.tile.first_key / Shape::kKeys;
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
    const int64_t first = tile.kv_head * grad.head_stride +
                          (kVarlen ? tile.k_row * grad.seq_stride : tile.batch * grad.batch_stride);
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
struct HalfOfKeys : Common {
  using Shape = typename Common::Shape;
  using Common::call, Common::scores;
  float dk[Shape::kHeadDim / 2], dv[Shape::kHeadDimV / 2];

  __device__ __forceinline__ void clear_sums() {
    clear(dk);
    clear(dv);
  }
  __device__ __forceinline__ void write(const Tile& tile) const {
    Common::template write<Shape::kHeadDimV>(tile, call.grad_v, this->first_key(tile),
                                             call.head_dim_v, dv, scores.kept());
    Common::template write<Shape::kHeadDim>(tile, call.grad_k, this->first_key(tile), call.head_dim,
                                            dk, call.scale);
  }
};

// Products run beside what is done in registers: dP^T beside the exponentials, dV beside dS, dK
// beside writing dQ.
template <typename Common>
struct ConsumerOfKeys : HalfOfKeys<Common> {
  using T = typename Common::T;
  using Shape = typename Common::Shape;
  using Common::n, Common::rings, Common::scores, Common::warpgroup;
  static constexpr int kQueries = Shape::kQueries;
  using HalfOfKeys<Common>::dk, HalfOfKeys<Common>::dv;
  float s[kQueries / 2], dp[kQueries / 2];
  uint32_t p[kQueries / 4], ds[kQueries / 4];
  uint32_t dropped[kQueries / 64];
  float dq[Shape::kSumQueries / 2];

  __device__ __forceinline__ void issue_values() {
    pack_all<T>(p, s);
    scores.drop(p, dropped);
    this->template issue_gradient<Shape::kHeadDimV>(dv, p, rings.grad().tile(n));
  }

  __device__ __forceinline__ void add(const Block& block) {
    const int row = this->row();
    scores.begin_bias(block);
    this->wait_for(rings.q(), block);
    this->issue_scores(s, Shape::kKOffset, rings.q());
    this->wait_for(rings.grad(), block);
    this->issue_scores(dp, Shape::kVOffset, rings.grad());
    wait_for_wgmma<1>(s);
    const bool is_masked = scores.weigh(block, s, n);
    if (scores.has_dropout()) scores.find_dropped(block, dropped);
    if (Shape::kOverlapsValues) {
      issue_values();
      wait_for_wgmma<1>(dp);
    } else {
      wait_for_wgmma<0>(dp);
    }
    if (is_masked) {
#pragma unroll
      for (int i = 0; i < kQueries / 8; ++i) scores.hide(dp, s + 4 * i, i);
    }
    scores.drop(dp, dropped);
#pragma unroll
    for (int i = 0; i < kQueries / 8; ++i) scores.derive(dp, s + 4 * i, i, n);
    scores.store_grad_bias(block, dp);
    pack_all<T>(ds, dp);
    if (!Shape::kOverlapsValues) issue_values();
    store_fragment<typename Shape::ScoreTile, kQueries>(this->scores_tile(n), row, ds);
    fence_for_wgmma();
    // Then both halves of dS are there, dQ of the block before is read, and dS of the one before
    // that too.
    if (this->thread() == 0) this->finish_sums();
    wait_at_barrier(Common::kScoresBarrier, Common::kConsumers);
    this->issue_sums(dq, warpgroup);
    multiply_add_by_columns<T, kQueries, Shape::kHeadDim>(dk, ds, rings.q().tile(n));
    commit_wgmma();
    scores.store_grad_bias(block, ds);
    wait_for_wgmma<1>(dv, dq);
    this->release(rings.grad(), n);
    this->add_sums(dq, warpgroup, block);
    wait_for_wgmma<0>(dk);
    this->release(rings.q(), n);
  }
  __device__ __forceinline__ void end_blocks() const { this->end_sums(); }
};

// The same where dK and dV leave registers for either S^T or dP^T: weights are kept packed, dP^T
// comes when they are, and one part of dQ after the other.
//
// dK of the block before runs beside the exponentials, dV beside dS.
template <typename Common>
struct ConsumerOfKeysInTurn : HalfOfKeys<Common> {
  using T = typename Common::T;
  using Shape = typename Common::Shape;
  using Common::n, Common::rings, Common::scores, Common::warpgroup;
  static constexpr int kQueries = Shape::kQueries;
  static_assert(Shape::kSumParts == 3, "a part a warpgroup, and one by turns");
  using HalfOfKeys<Common>::dk, HalfOfKeys<Common>::dv;

  // Of the n-th block.
  __device__ __forceinline__ void issue_keys(uint32_t n) {
    fence_wgmma();
    multiply_add_by_columns<T, Shape::kKeys, kQueries, Shape::kHeadDim>(
        dk, this->scores_tile(n), this->row(), rings.q().tile(n));
  }

  __device__ __forceinline__ void add(const Block& block) {
    const int row = this->row();
    float s[kQueries / 2], dp[kQueries / 2], dq[kQueries / 2];
    uint32_t p[kQueries / 4], ds[kQueries / 4];
    this->wait_for(rings.q(), block);
    this->issue_scores(s, Shape::kKOffset, rings.q());
    if (!block.is_first) issue_keys(n - 1);
    commit_wgmma();
    wait_for_wgmma<1>(s);
    const bool is_masked = scores.weigh(block, s, n);
    pack_all<T>(p, s);
    this->wait_for(rings.grad(), block);
    this->template issue_gradient<Shape::kHeadDimV>(dv, p, rings.grad().tile(n));
    wait_for_wgmma<1>(dk);
    if (!block.is_first) this->release(rings.q(), n - 1);
    this->issue_scores(dp, Shape::kVOffset, rings.grad());
    wait_for_wgmma<0>(dv, dp);
#pragma unroll
    for (int i = 0; i < kQueries / 8; ++i) {
      const Numbers<T> weights = unpack<T>({p[2 * i], p[2 * i + 1], 0, 0});
      const float weight[4] = {weights[0], weights[1], weights[2], weights[3]};
      if (is_masked) scores.hide(dp, weight, i);
      scores.derive(dp, weight, i, n);
    }
    pack_all<T>(ds, dp);
    this->release(rings.grad(), n);
    // Both have computed dQ of the block before, and its third part is read.
    if (this->thread() == 0) this->finish_sums();
    wait_at_barrier(Common::kReadBarrier, Common::kConsumers);
    store_fragment<typename Shape::ScoreTile, kQueries>(this->scores_tile(n), row, ds);
    fence_for_wgmma();
    wait_at_barrier(Common::kScoresBarrier, Common::kConsumers);
    this->issue_sums(dq, warpgroup);
    wait_for_wgmma<0>(dq);
    this->add_sums(dq, warpgroup, block);
    if ((n & 1) == static_cast<uint32_t>(warpgroup)) {
      this->issue_sums(dq, 2);
      wait_for_wgmma<0>(dq);
      this->add_sums(dq, 2, block);
    }
  }
  // Of the last block.
  __device__ __forceinline__ void end_blocks() {
    issue_keys(n - 1);
    commit_wgmma();
    wait_for_wgmma<0>(dk);
    this->release(rings.q(), n - 1);
    this->end_sums();
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
struct ConsumerOfGradient : Common {
  using T = typename Common::T;
  using Shape = typename Common::Shape;
  using Common::call, Common::rings, Common::scores, Common::warpgroup;
  static constexpr int kQueries = Shape::kQueries;
  static constexpr int kWeightsBarrier = Common::kReadBarrier;
  static_assert(Shape::kHeadDim == Shape::kHeadDimV, "dV's registers are dK's");
  float sums[Shape::kHeadDim / 2];  // of dV or dK
  float s[kQueries / 2];            // S or dP, then P or dS
  uint32_t packed[kQueries / 4];
  float dq[kQueries / 2];

  __device__ __forceinline__ bool is_first() const { return warpgroup == 0; }
  __device__ __forceinline__ void clear_sums() { clear(sums); }

  // S to P, which the other warpgroup finds at `weights`: those that are dropped are negative
  // there.
  __device__ __forceinline__ void find_weights(const Block& block, uint32_t n, float4* weights) {
    scores.weigh(block, s, n);
    uint32_t dropped[kQueries / 64];
    if (scores.has_dropout()) {
      scores.find_dropped(block, dropped);
#pragma unroll
      for (int i = 0; i < kQueries / 2; ++i) {
        if (dropped[i / 32] >> i % 32 & 1) s[i] = -s[i];
      }
    }
    store_in_order(weights, s);
    if (scores.has_dropout()) {
#pragma unroll
      for (int i = 0; i < kQueries / 2; ++i) s[i] = fmaxf(s[i], 0.0f);
    }
    arrive_at_barrier(kWeightsBarrier, Common::kConsumers);
  }
  // dP to dS.
  __device__ __forceinline__ void find_derivatives(const Block& block, uint32_t n,
                                                   const float4* weights) {
    const float kept = scores.kept();
    wait_at_barrier(kWeightsBarrier, Common::kConsumers);
#pragma unroll
    for (int i = 0; i < kQueries / 8; ++i) {
      const float4 four = weights[i * kWarpgroupSize];
      float weight[4] = {four.x, four.y, four.z, four.w};
      if (scores.has_dropout()) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          s[4 * i + j] = signbit(weight[j]) ? 0.0f : s[4 * i + j] * kept;
          weight[j] = fabsf(weight[j]);
        }
      }
      scores.hide(s, weight, i);
      scores.derive(s, weight, i, n);
    }
    scores.store_grad_bias(block, s);
  }

  __device__ __forceinline__ void add(const Block& block) {
    const uint32_t n = this->n;
    float4* const weights =
        reinterpret_cast<float4*>(rings.shared + Shape::kSumsOffset) + this->thread();
    if (is_first()) scores.begin_bias(block);
    this->wait_for(rings.q(), block);
    this->wait_for(rings.grad(), block);
    fence_wgmma();
    multiply_by_rows<T, Shape::kKeys, kQueries, Shape::kHeadDim>(
        s, rings.shared + (is_first() ? Shape::kKOffset : Shape::kVOffset), 0,
        is_first() ? rings.q().tile(n) : rings.grad().tile(n));
    commit_wgmma();
    wait_for_wgmma<0>(s);
    if (is_first()) {
      find_weights(block, n, weights);
    } else {
      find_derivatives(block, n, weights);
    }
    pack_all<T>(packed, s);
    if (!is_first()) {
      scores.store_grad_bias(block, packed);
      store_fragment<typename Shape::ScoreTile, kQueries>(this->scores_tile(n), 0, packed);
      fence_for_wgmma();
    }
    // dV beside dS; the other warpgroup's dK comes behind dQ's first part there.
    this->template issue_gradient<Shape::kHeadDim>(
        sums, packed, is_first() ? rings.grad().tile(n) : rings.q().tile(n));
    // dS is there, and the weights are read.
    wait_at_barrier(Common::kScoresBarrier, Common::kConsumers);
#pragma unroll
    for (int turn = 0; turn < (Shape::kSumParts + 1) / 2; ++turn) {
      const int part = 2 * turn + warpgroup;
      if (part >= Shape::kSumParts) break;
      this->issue_sums(dq, part);
      wait_for_wgmma<0>(dq, sums);
      add_sums(block, part);
    }
    this->release(rings.q(), n);
    this->release(rings.grad(), n);
  }
  // From registers to memory; in a fixed order, when it is the warpgroup's turn.
  __device__ __forceinline__ void add_sums(const Block& block, int part) const {
    if (this->is_ordered()) {
      pass_turns();
      if (this->thread() == 0) {
        this->wait_for_turn(block, part);
        this->own_turns()[0] = block.workspace_block * Shape::kSumParts + part + 1;
      }
      wait_at_barrier(this->own_barrier(), kWarpgroupSize);
    }
    add_in_order(reinterpret_cast<float4*>(Common::sums(block, part)) + this->thread(), dq);
  }
  // When all threads have added what is to be added before.
  __device__ __forceinline__ void pass_turns() const {
    __threadfence();
    wait_at_barrier(this->own_barrier(), kWarpgroupSize);
    if (this->thread() == 0) Common::pass_turns();
  }
  __device__ __forceinline__ void end_blocks() const {
    if (this->is_ordered()) pass_turns();
  }

  __device__ __forceinline__ void write(const Tile& tile) const {
    Common::template write<Shape::kHeadDim>(tile, is_first() ? call.grad_v : call.grad_k,
                                            tile.first_key,
                                            is_first() ? call.head_dim_v : call.head_dim, sums,
                                            is_first() ? scores.kept() : call.scale);
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

// SPDX-License-Identifier: Apache-2.0
// A bias of 16-bit elements in the kernel of attention_sm90.cuh, of shapes WithBias. A warp copies
// what its 16 rows need of a key block to shared memory of its own, in vectors, a block ahead of
// its products, and reads it from there as scores lie in registers. (From memory into that layout a
// warp's load has eight rows of 16 bytes: as many requests as the products take clocks.)
#pragma once

#include <algorithm>
#include <cstdint>

#include "../common/async_copy.cuh"
#include "../common/hopper/fragment.cuh"
#include "../common/matrices.cuh"
#include "attention_sm90_scores.cuh"
#include "attention_sm90_tiles.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_WGMMA

namespace attention_sm90 {

template <typename T, typename Shape>
class WarpBias {
 public:
  // `shared`: the block's.
  __device__ __forceinline__ WarpBias(const AttentionSm90Parameters& call, char* shared)
      : call_(call),
        place_(shared_address(shared) + Shape::kBiasOffset +
               (threadIdx.x - kWarpgroupSize) / 32 * Shape::kWarpBiasBytes) {}

  // All lanes of the warp, when they have added the block before. Zeros beyond the sequences.
  __device__ __forceinline__ void begin_load(const Tile& tile, int warpgroup, int block) const {
    constexpr int kUnits = Shape::kKeys / 8;  // of 16 bytes, in a row
    constexpr int kRows = 32 / kUnits;        // at a time
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int unit = lane % kUnits, row = lane / kUnits;
    const int query = static_cast<int>(row_of_warp(tile.first_query + warpgroup * 64)) + row;
    const int key = block * Shape::kKeys + unit * 8;
    const int bytes = max(0, min(8, tile.seq_k - key)) * 2;
    const T* from = static_cast<const T*>(call_.bias) + tile.batch * call_.bias_batch_stride +
                    tile.head * call_.bias_head_stride + query * call_.bias_query_stride + key;
#pragma unroll
    for (int i = 0; i < 16; i += kRows) {
      if (is_one_row() && row + i > 0) break;
      begin_partial_copy(place_ + place_of_unit<Shape::kKeys>(row + i, unit) * 2, from,
                         query + i < tile.seq_q ? bytes : 0);
      from += kRows * call_.bias_query_stride;
    }
    close_copies();
  }

  // Of the block whose load was begun last.
  __device__ __forceinline__ void add_to(float (&s)[Shape::kKeys / 2]) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = is_one_row() ? 0 : lane % 16;
    wait_for_groups<0>();
    __syncwarp();
#pragma unroll
    for (int i = 0; i < Shape::kKeys / 16; ++i) {
      uint32_t words[4];
      load_matrices(words, place_ + place_of_unit<Shape::kKeys>(row, 2 * i + lane / 16) * 2);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float2 pair = unpack_pair<T>(words[j]);
        float* const two = s + 8 * i + 2 * j;
        two[0] = fmaf(pair.x, call_.unit, two[0]);
        two[1] = fmaf(pair.y, call_.unit, two[1]);
      }
    }
    __syncwarp();
  }

 private:
  // All multiprocessors read it, which the second-level cache is slow at.
  __device__ __forceinline__ bool is_one_row() const { return call_.bias_query_stride == 0; }

  const AttentionSm90Parameters& call_;
  const SharedAddress place_;
};

}  // namespace attention_sm90

#endif

}  // namespace cudaops_kernels

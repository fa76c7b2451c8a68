// SPDX-License-Identifier: Apache-2.0
// A bias of 16-bit elements, and its derivatives, in the kernel of attention_backward_sm90.cuh. A
// warp copies what its 16 keys need of a query block to shared memory of its own, in vectors, a
// block ahead of its products. Rows there are queries, and are transposed when they are read and
// when derivatives are written, as scores are.
#pragma once

#include <cstdint>

#include "../common/async_copy.cuh"
#include "../common/hopper/fragment.cuh"
#include "../common/matrices.cuh"
#include "attention_backward_sm90_tiles.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_WGMMA

namespace attention_backward_sm90 {

template <typename T, typename Shape>
class WarpBias {
 public:
  __device__ __forceinline__ WarpBias(const AttentionBackwardSm90Parameters& call, char* shared)
      : call_(call),
        place_(shared_address(shared) + Shape::kBiasOffset +
               (threadIdx.x - kWarpgroupSize) / 32 * Shape::kWarpBiasBytes) {}

  // All lanes of the warp, when they have added the block before. Zeros beyond the sequences.
  __device__ __forceinline__ void begin_load(const Tile& tile, int first_key, int first_query,
                                             int head) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int unit = lane % 2, row = lane / 2;
    const int query = first_query + row;
    const int key = static_cast<int>(row_of_warp(first_key)) + unit * 8;
    const int bytes = max(0, min(8, call_.seq_k - key)) * 2;
    const T* from = static_cast<const T*>(call_.bias) + tile.batch * call_.bias_batch_stride +
                    head * call_.bias_head_stride + query * call_.bias_query_stride + key;
#pragma unroll
    for (int i = 0; i < Shape::kQueries; i += 16) {
      if (is_one_row() && row + i > 0) break;
      begin_partial_copy(place_of(row + i, unit), from, query + i < call_.seq_q ? bytes : 0);
      from += 16 * call_.bias_query_stride;
    }
    close_copies();
  }

  __device__ __forceinline__ void begin_next(const Block& block) const {
    const Tile& tile = block.tile;
    int query = block.first_query + Shape::kQueries, head = block.head;
    if (query >= tile.end_block * Shape::kQueries) {
      query = tile.first_block * Shape::kQueries;
      ++head;
    }
    if (head < (tile.kv_head + 1) * call_.group) begin_load(tile, block.first_key, query, head);
  }

  // Of the block whose load was begun last, times `unit`.
  __device__ __forceinline__ void add_to(float (&s)[Shape::kQueries / 2], float unit) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    wait_for_groups<0>();
    __syncwarp();
#pragma unroll
    for (int i = 0; i < Shape::kQueries / 16; ++i) {
      uint32_t words[4];
      const int row = is_one_row() ? 0 : 16 * i + lane / 16 * 8 + lane % 8;
      load_transposed(words, place_of(row, lane / 8 % 2));
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float2 pair = unpack_pair<T>(words[j]);
        float* const two = s + 8 * i + 2 * j;
        two[0] = fmaf(pair.x, unit, two[0]);
        two[1] = fmaf(pair.y, unit, two[1]);
      }
    }
    __syncwarp();
  }

  // dS, packed in pairs, to where there is room for a derivative of each score.
  __device__ __forceinline__ void store_gradient(const Block& block,
                                                 const uint32_t (&ds)[Shape::kQueries / 4]) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int query = block.first_query + lane % 4 / 2 * 8 + lane / 4;
    const int key = static_cast<int>(row_of_warp(block.first_key)) + lane % 2 * 8;
    T* const to = static_cast<T*>(call_.grad_bias) + first_gradient(block) + key;
#pragma unroll
    for (int i = 0; i < Shape::kQueries / 16; ++i) {
      uint32_t words[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) words[j] = transpose_matrix(ds[4 * i + j]);
      // Now of 16 queries, eight after the other, two vectors of keys each.
      gather_vectors(words);
      if (query + 16 * i < call_.seq_q && key < call_.seq_k) {
        *reinterpret_cast<uint4*>(to + (query + 16 * i) * int64_t{call_.seq_k}) =
            make_uint4(words[0], words[1], words[2], words[3]);
      }
    }
  }
  // The same in float32: eight keys are a sector.
  __device__ __forceinline__ void store_gradient(const Block& block,
                                                 const float (&ds)[Shape::kQueries / 2]) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int query = block.first_query + lane % 4 * 2;
    const int key = static_cast<int>(row_of_warp(block.first_key)) + lane / 4;
    const int num_queries = call_.seq_q - query, num_keys = call_.seq_k - key;
    float* to = static_cast<float*>(call_.grad_bias) + first_gradient(block) +
                query * int64_t{call_.seq_k} + key;
#pragma unroll
    for (int i = 0; i < Shape::kQueries / 8; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        if (8 * i + j < num_queries) {
          if (num_keys > 0) to[j * call_.seq_k] = ds[4 * i + j];
          if (num_keys > 8) to[j * call_.seq_k + 8] = ds[4 * i + 2 + j];
        }
      }
      to += 8 * int64_t{call_.seq_k};
    }
  }

 private:
  // All multiprocessors read it, which the second-level cache is slow at.
  __device__ __forceinline__ bool is_one_row() const { return call_.bias_query_stride == 0; }
  // Of the head's first query and key.
  __device__ __forceinline__ int64_t first_gradient(const Block& block) const {
    return (int64_t{block.tile.batch} * call_.heads + block.head) * call_.seq_q * call_.seq_k;
  }
  // Of eight keys of a query. Eight rows' same units lie in all banks.
  __device__ __forceinline__ SharedAddress place_of(int row, int unit) const {
    return place_ + row * 32 + (unit ^ (row / 4 % 2)) * 16;
  }

  const AttentionBackwardSm90Parameters& call_;
  const SharedAddress place_;
};

}  // namespace attention_backward_sm90

#endif

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// How the outputs of a tile of attention_sm90.cuh and its lse come to memory.
#pragma once

#include <cmath>
#include <cstdint>

#include "../common/activations.h"
#include "../common/device_types.cuh"
#include "../common/hopper/fragment.cuh"
#include "../common/hopper/tma.cuh"
#include "attention_sm90_schedule.cuh"
#include "attention_sm90_scores.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_WGMMA

namespace attention_sm90 {

// Where a sequence's lse and output begin.
template <Lengths kLengths>
__device__ __forceinline__ int64_t first_of_lse(const AttentionSm90Parameters& call,
                                                const Tile& tile) {
  if (is_varlen<kLengths>(call)) return static_cast<int64_t>(tile.head) * call.total_q + tile.q_row;
  return (static_cast<int64_t>(tile.batch) * call.heads + tile.head) * tile.seq_q;
}
template <typename T, Lengths kLengths>
__device__ __forceinline__ T* first_of_output(const AttentionSm90Parameters& call,
                                              const Tile& tile) {
  return static_cast<T*>(call.output) + tile.head * call.output_head_stride +
         (is_varlen<kLengths>(call) ? tile.q_row * call.output_seq_stride
                                    : tile.batch * call.output_batch_stride);
}

// By what a row's outputs are to be multiplied. Writes lse.
template <typename Shape, Lengths kLengths>
__device__ __forceinline__ void finish_rows(const AttentionSm90Parameters& call, const Tile& tile,
                                            int warpgroup, const Rows& rows, float (&factor)[2]) {
  constexpr float kLn2 = 0.6931471805599453f;
  const int lane = threadIdx.x % 32;
  const int first_row = row_of_warp(tile.first_query + warpgroup * 64) + lane / 4;
  const float sink = call.sinks == nullptr ? -INFINITY : call.sinks[tile.head] * kLog2E;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = first_row + 8 * half;
    const float max = rows.max[half] == -INFINITY
                          ? -INFINITY
                          : exponent_of_largest<Shape::kWeightShift>(
                                rows.max[half], Shape::kIsFloat8 ? tile.score_factor : call.factor);
    const float largest = fmaxf(max, sink);
    const float offset = largest == -INFINITY ? 0.0f : largest;
    const float scaled = detail::exp2_of(max - offset);
    const float sum = sum_of_row(rows.sum[half]) * scaled + detail::exp2_of(sink - offset);
    factor[half] =
        sum == 0.0f ? 0.0f
                    : __fdividef(scaled * (Shape::kIsFloat8 ? tile.output_factor : call.kept), sum);
    if (call.lse != nullptr && lane % 4 == 0 && row < tile.seq_q) {
      const int64_t at = first_of_lse<kLengths>(call, tile);
      call.lse[at + row] = sum == 0.0f ? -INFINITY : (offset + log2f(sum)) * kLn2;
    }
  }
}

// kColumns of the outputs from `first_column` on, packed in pairs, to memory. A warp's rows are put
// into a place in shared memory that is free, and written from there: by the copy engine, which is
// to have read them before the place is free again, or, where the sequence ends before the tensor,
// by the warp. `place`: for the warpgroup's rows, a SharedTile<64, kColumns>.
template <typename T, typename Shape, Lengths kLengths, int kColumns>
__device__ __forceinline__ void write_rows(const AttentionSm90Parameters& call, const Tile& tile,
                                           char* place, int warpgroup, int first_column,
                                           const uint32_t (&packed)[Shape::kHeadDimV / 4]) {
  constexpr int kUnits = kColumns / 8;  // of 16 bytes, in a row
  const int lane = threadIdx.x % 32;
  const int first_row = tile.first_query + row_of_warp(warpgroup * 64);
  char* const rows_of_warp = place + row_of_warp(0) * kBoxRowBytes;
  const auto at = [&](int row, int unit) {
    return rows_of_warp + unit / 8 * SharedTile<64, kColumns>::kChunkBytes + row * kBoxRowBytes +
           (unit % 8 ^ row % 8) * 16;
  };
#pragma unroll
  for (int unit = 0; unit < kUnits; unit += 2) {
    store_matrices(shared_address(at(lane % 16, unit + lane / 16)),
                   packed + first_column / 4 + 2 * unit);
  }
  if (!is_varlen<kLengths>(call)) {
    fence_for_wgmma();
    __syncwarp();
    if (lane == 0) {
#pragma unroll
      for (int chunk = 0; chunk < SharedTile<64, kColumns>::kChunks; ++chunk) {
        copy_box_from_shared(&call.o, at(0, 8 * chunk), first_column + chunk * kBoxColumns,
                             first_row, tile.head, tile.batch);
      }
    }
  } else {
    __syncwarp();
    const int num_rows = tile.seq_q - first_row;
    T* const to = first_of_output<T, kLengths>(call, tile) + first_row * call.output_seq_stride +
                  first_column;
    const int num_columns = call.head_dim_v - first_column;
#pragma unroll
    for (int i = lane; i < 16 * kUnits; i += 32) {
      const int row = i / kUnits, unit = i % kUnits;
      if (row < num_rows && unit * 8 < num_columns) {
        *reinterpret_cast<uint4*>(to + row * call.output_seq_stride + unit * 8) =
            *reinterpret_cast<const uint4*>(at(row, unit));
      }
    }
    fence_for_wgmma();  // the next queries come by the copy engine
  }
}

// All columns from registers, where there is no place in shared memory.
template <typename T, typename Shape, Lengths kLengths>
__device__ __forceinline__ void write_fragment(const AttentionSm90Parameters& call,
                                               const Tile& tile, int warpgroup,
                                               const uint32_t (&packed)[Shape::kHeadDimV / 4]) {
  const int lane = threadIdx.x % 32;
  const int first_row = row_of_warp(tile.first_query + warpgroup * 64) + lane / 4;
  T* const output = first_of_output<T, kLengths>(call, tile);
  const auto word = [&](int i) { return packed[i]; };
  write_fragment_rows<Shape::kHeadDimV>(
      first_row, tile.seq_q, call.head_dim_v, word, [&](int row, int column) {
        return output + (first_row + row) * call.output_seq_stride + (column + lane % 4 * 8);
      });
}

// Of the tiles in which no query sees a key, by the consumers when they have done the others.
template <typename T, typename Shape, Lengths kLengths>
__device__ __forceinline__ void write_empty_tiles(const AttentionSm90Parameters& call,
                                                  const AttentionSm90Order& order, int team) {
  constexpr int kThreads = Shape::kWarpgroups * kWarpgroupSize;
  const int thread = static_cast<int>(threadIdx.x) - kWarpgroupSize - team * kThreads;
  const int vectors = call.head_dim_v / 8;
  Progress progress;
  Schedule<Shape, kLengths> schedule(call, order, team, progress);
  for (Tile tile; schedule.next(tile);) {
    if (!tile.is_empty()) continue;
    const int num_rows = min(Shape::kQueries, tile.seq_q - tile.first_query);
    T* const output = first_of_output<T, kLengths>(call, tile);
    for (int i = thread; i < num_rows * vectors; i += kThreads) {
      const int row = i / vectors;
      *reinterpret_cast<uint4*>(output + (tile.first_query + row) * call.output_seq_stride +
                                (i - row * vectors) * 8) = make_uint4(0, 0, 0, 0);
    }
    if (call.lse == nullptr) continue;
    float* const lse = call.lse + first_of_lse<kLengths>(call, tile) + tile.first_query;
    for (int row = thread; row < num_rows; row += kThreads) {
      lse[row] = call.sinks == nullptr ? -INFINITY : call.sinks[tile.head];
    }
  }
}

}  // namespace attention_sm90

#endif

}  // namespace cudaops_kernels

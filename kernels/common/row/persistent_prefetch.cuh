// SPDX-License-Identifier: Apache-2.0
// The persistent loop that loads the next row into registers (persistent.cuh).
#pragma once

#include "persistent_row.cuh"

namespace cudaops_kernels {
namespace detail {

template <typename Op, int kVectors, bool kWhole>
__global__ void __launch_bounds__(kMaxRowThreads)
    prefetch_rows_kernel(const Op op, const PersistentGrid grid) {
  using T = typename Op::Element;
  using OneRow = PersistentRow<T, kVectors, kWhole>;
  __shared__ RowScratch scratch;
  extern __shared__ float of_groups[];
  ColumnSums<Op::kNumSums, kVectors, OneRow::kSize> sums = {};
  // The first of the rows that this block has at once, and the step to those of its next iteration.
  int64_t first = int64_t{blockIdx.x} * blockDim.y;
  const int64_t step = int64_t{gridDim.x} * blockDim.y;
  const T* const anchor = grid.anchor.template row<T>(first + threadIdx.y);
  const auto row_at = [&](int64_t index) {
    return OneRow(index, grid.num_rows, grid.width, anchor, &scratch);
  };
  const auto scalars_of = [&](int64_t index) {
    return load_scalars(op, index < grid.num_rows ? index : grid.num_rows - 1);
  };
  using Tile = typename OneRow::Tile;
  const auto load_tiles = [&](const OneRow& row, Tile(&tiles)[Op::kNumInputs]) {
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) tiles[i] = row.load_ahead(op.input(i));
  };
  OneRow row = row_at(first + threadIdx.y);
  Tile tiles[Op::kNumInputs], next_tiles[Op::kNumInputs];
  load_tiles(row, tiles);
  const auto fixed = op.fixed(row);
  auto scalars = scalars_of(row.index());
  // All threads make all iterations: the last rows of a block may be none.
  for (; first < grid.num_rows; first += step) {
    OneRow next_row = row_at(row.index() + step);
    load_tiles(next_row, next_tiles);
    const auto next_scalars = scalars_of(next_row.index());
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) row.finish(tiles[i]);
    const Floats<Op::kNumTotals> share = op.totals(row, tiles, fixed, scalars, sums);
    op.gradient(row, tiles, fixed, scalars, row.sum(share));
    next_row.follow(row);
    row = next_row;
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) tiles[i] = next_tiles[i];
    scalars = next_scalars;
  }
  if (grid.workspace == nullptr) return;
  let_next_kernel_start();
  const OneRow any_row = row_at(0);  // that exists
#pragma unroll
  for (int which = 0; which < Op::kNumSums; ++which) {
    float* const part = grid.part(which, blockIdx.x, gridDim.x);
    if (blockDim.y == 1) {
      sums.store(any_row, which, part);
    } else {
      store_sums_of_groups(sums, any_row, which, static_cast<int>(grid.width), of_groups, part);
    }
  }
}

// Threads of a row.
inline int prefetch_lanes(int64_t num_vectors, int vectors) {
  int lanes = 32 * warps_for(num_vectors, vectors);
  if (lanes > 32) return lanes;
  while (lanes > 1 && lanes / 2 * vectors >= num_vectors) lanes /= 2;
  return lanes;
}

template <typename Op, int kVectors, bool kWhole>
int64_t launch_prefetch_rows(const Op& op, const PersistentGrid& grid, int64_t num_vectors,
                             cudaStream_t stream) {
  auto* const kernel = &prefetch_rows_kernel<Op, kVectors, kWhole>;
  const int lanes = prefetch_lanes(num_vectors, kVectors);
  int groups = 1, shared_bytes = 0;
  if (lanes <= 32) {
    groups = kGroupThreads / lanes;
    if (grid.workspace != nullptr) {
      shared_bytes = groups * static_cast<int>(grid.width * int64_t{sizeof(float)});
    }
  }
  const int num_threads = lanes * groups;
  int blocks_each = 0;
  CUDAOPS_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks_each, reinterpret_cast<const void*>(kernel), num_threads, shared_bytes));
  const int64_t blocks = num_persistent_blocks(
      grid.num_rows, groups, num_multiprocessors() * at_most(blocks_each, most_blocks(num_threads)),
      kWhole ? 1 : alignment_period<typename Op::Element>(grid.anchor));
  kernel<<<static_cast<unsigned int>(blocks), dim3(lanes, groups), shared_bytes, stream>>>(op,
                                                                                           grid);
  CUDAOPS_CHECK_LAUNCH();
  return blocks;
}

}  // namespace detail
}  // namespace cudaops_kernels

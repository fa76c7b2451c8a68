// SPDX-License-Identifier: Apache-2.0
// Gradients and sums of rows that are too long for a loop over them in one pass (persistent.cuh).
#pragma once

#include "dispatch.cuh"
#include "persistent_row.cuh"

namespace cudaops_kernels {
namespace detail {

template <typename Op>
struct GradientRows {
  using Element = typename Op::Element;
  static constexpr int kNumTiles = 0;  // a block a row: few calls have such rows
  static constexpr bool kReadsColumns = true;
  Op op;
  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    NoSums none;
    typename Row::Tile tiles[Op::kNumInputs];
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) tiles[i] = row.load(op.input(i));
    const auto fixed = op.fixed(row);
    const auto scalars = load_scalars(op, row.index());
    const Floats<Op::kNumTotals> share = op.totals(row, tiles, fixed, scalars, none);
    op.gradient(row, tiles, fixed, scalars, row.sum(share));
  }
};

// One vector of each row, for Op::totals() where the columns' sums alone are wanted: what is
// calculated of the totals the compiler drops.
template <typename T, bool kWhole>
struct ColumnRow {
  using Place = cudaops_kernels::Place<Vector<T>::kSize, kWhole>;
  struct Columns {};
  struct Tile {
    const T* row;
    int64_t width;
    Margins margins;
    __device__ __forceinline__ Numbers<T> at(const Place& place) const {
      const Packed vector = load_vector(row, place, width, margins);
      return unpack<T>(place.is_whole() ? vector : masked<T>(vector, place.begin, place.end));
    }
  };
  Place place;
  bool exists;

  template <typename Body>
  __device__ __forceinline__ void each(const Body& body) const {
    if (exists) body(place);
  }
  __device__ __forceinline__ Numbers<T> at(const Columns&, const Place&) const { return {}; }
};

// 32 vectors of kTallRows rows a block, kTallGroups rows at once.
template <typename Op, bool kWhole>
__global__ void __launch_bounds__(32 * kTallGroups)
    sum_columns_kernel(const Op op, const PersistentGrid grid) {
  using T = typename Op::Element;
  using Columns = ColumnRow<T, kWhole>;
  constexpr int kSize = Vector<T>::kSize, kWidth = 32 * kSize;
  __shared__ float of_groups[kTallGroups * kWidth];
  const int64_t first_column = int64_t{blockIdx.x} * kWidth;
  const int64_t left = grid.width - first_column;
  const int width = left < kWidth ? static_cast<int>(left) : kWidth;
  // From the block's first column on.
  const int column = static_cast<int>(threadIdx.x) * kSize;
  const int end = width - column < kSize ? width - column : kSize;
  const Columns columns{{0, column, 0, end}, end > 0};
  const int64_t first = int64_t{blockIdx.y} * kTallRows;
  const int64_t last = first + kTallRows < grid.num_rows ? first + kTallRows : grid.num_rows;
  ColumnSums<Op::kNumSums, 1, kSize> sums = {};
  if (columns.exists) {
    // Of rows that aren't whole, for which each vector has long code, two from sm_90 on: rms_norm's
    // gradient of 4096 x 9001 bfloat16 whose arrays start at different places took 185 us for 214,
    // of 64 x 600001 403 for 412, of 1024 x 20000 float32 170 for 171. H200, 2026-11-27.
    constexpr int kAtOnce = CUDAOPS_HAS_HOPPER && !kWhole ? 2 : 4;
#pragma unroll kAtOnce
    for (int64_t index = first + threadIdx.y; index < last; index += kTallGroups) {
      typename Columns::Tile tiles[Op::kNumInputs];
#pragma unroll
      for (int i = 0; i < Op::kNumInputs; ++i) {
        const ConstRows rows = op.input(i);
        tiles[i] = {rows.template row<T>(index) + first_column, left,
                    margins_of_row<kSize>(index, grid.num_rows, rows.stride)};
      }
      op.totals(columns, tiles, typename Columns::Columns(), load_scalars(op, index), sums);
    }
  }
  let_next_kernel_start();
#pragma unroll
  for (int which = 0; which < Op::kNumSums; ++which) {
    store_sums_of_groups(sums, columns, which, width, of_groups,
                         grid.part(which, blockIdx.y, gridDim.y) + first_column);
  }
}

template <typename Op>
int64_t launch_long_gradient_rows(const Op& op, const PersistentGrid& grid, bool aligned,
                                  cudaStream_t stream) {
  launch_long_rows(GradientRows<Op>{op}, RowGrid{grid.num_rows, grid.width, grid.anchor}, aligned,
                   stream);
  if (grid.workspace == nullptr) return 0;
  constexpr int kSize = Vector<typename Op::Element>::kSize;
  const unsigned int parts = num_blocks(grid.num_rows, kTallRows);
  const dim3 blocks(num_blocks(grid.width, 32 * kSize), parts), block(32, kTallGroups);
  if (aligned && grid.width % kSize == 0) {
    sum_columns_kernel<Op, true><<<blocks, block, 0, stream>>>(op, grid);
  } else {
    sum_columns_kernel<Op, false><<<blocks, block, 0, stream>>>(op, grid);
  }
  CUDAOPS_CHECK_LAUNCH();
  return parts;
}

}  // namespace detail
}  // namespace cudaops_kernels

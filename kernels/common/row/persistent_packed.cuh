// SPDX-License-Identifier: Apache-2.0
// The persistent loop over packed short rows (persistent.cuh).
#pragma once

#include "packed_rows.cuh"
#include "persistent_row.cuh"

namespace cudaops_kernels {
namespace detail {

template <int kNumSums>
struct PackedSums : ColumnSums<kNumSums, 1, kPackedElements> {
  template <typename Row>
  __device__ __forceinline__ void store(const Row& row, int which, float* to) const {
    row.each([&](const auto& place) {
#pragma unroll
      for (int k = 0; k < kPackedElements; ++k) {
        if (place.holds(k)) to[place.column_at(k)] = this->sums[which][0][k];
      }
    });
  }
};

template <typename Op, int kLanes>
__global__ void __launch_bounds__(kPackedThreads)
    persistent_packed_rows_kernel(const Op op, const PersistentGrid grid) {
  using T = typename Op::Element;
  // Rows that are none must not count in sums of columns.
  using OneRow = PackedRow<T, kLanes, Op::kNumInputs, Op::kNumOutputs, true>;
  extern __shared__ Packed staged_rows[];
  const int width = static_cast<int>(grid.width), warp = warp_of_packed_rows<kLanes>();
  Packed* const stage = staged_rows + warp * kNumPackedArrays<Op> * width;
  const OneRow any_row(op, PackedRows<T>(stage, 0, kPackedRows<T>, width));  // that exists
  const auto fixed = op.fixed(any_row);
  PackedSums<Op::kNumSums> sums = {};
  const int64_t stride = int64_t{gridDim.x} * (kPackedWarps * kPackedRows<T>);
  int64_t first = (int64_t{blockIdx.x} * kPackedWarps + warp) * kPackedRows<T>;
  for (; first < grid.num_rows; first += stride) {
    const PackedRows<T> rows(stage, first, grid.num_rows, width);
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) rows.load(i, op.input(i));
    // In flight together with the rows: each lane has one row's.
    const int64_t own = first + cudaops::lane_id() % kPackedRows<T>;
    const Scalars<Op> all_scalars = load_scalars(op, own < grid.num_rows ? own : first);
    rows.wait();
    OneRow row(op, rows);
#pragma unroll 1
    for (int step = 0; step < OneRow::kSteps; ++step) {
      const int place = step * OneRow::kAtOnce + OneRow::own_place();
      const auto scalars = cudaops::shfl(all_scalars, place, 32);
      typename OneRow::Tile tiles[Op::kNumInputs];
#pragma unroll
      for (int k = 0; k < Op::kNumInputs; ++k) tiles[k] = row.load(op.input(k));
      const auto share = op.totals(row, tiles, fixed, scalars, sums);
      op.gradient(row, tiles, fixed, scalars, row.sum(share));
      row.advance();
    }
    cudaops::sync_warp();
    rows.store(0, grid.anchor);
    cudaops::sync_warp();
  }
  if (grid.workspace == nullptr) return;
  let_next_kernel_start();
#pragma unroll
  for (int which = 0; which < Op::kNumSums; ++which) {
    store_sums_of_groups(sums, any_row, which, width, reinterpret_cast<float*>(staged_rows),
                         grid.part(which, blockIdx.x, gridDim.x));
  }
}

template <typename Op, int kLanes>
int64_t launch_persistent_packed_rows(const Op& op, const PersistentGrid& grid,
                                      cudaStream_t stream) {
  auto* const kernel = &persistent_packed_rows_kernel<Op, kLanes>;
  const int bytes = packed_rows_bytes<Op>(grid.width);
  int blocks_each = 0;
  CUDAOPS_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks_each, reinterpret_cast<const void*>(kernel), kPackedThreads, bytes));
  const int64_t blocks =
      num_persistent_blocks(grid.num_rows, kPackedWarps * kPackedRows<typename Op::Element>,
                            blocks_each * int64_t{num_multiprocessors()}, 1);
  kernel<<<static_cast<unsigned int>(blocks), dim3(kLanes, kPackedThreads / kLanes), bytes,
           stream>>>(op, grid);
  CUDAOPS_CHECK_LAUNCH();
  return blocks;
}

}  // namespace detail
}  // namespace cudaops_kernels

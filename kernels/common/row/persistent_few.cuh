// SPDX-License-Identifier: Apache-2.0
// Few rows of whole vectors with their sums in one launch (sm_90; persistent.cuh), by the blocks of
// one cluster, each thread with one vector of a row. Rows belong to a block each; then each block
// adds up the sums of some columns, which the others write to its shared memory. Or the rows are
// divided: each block has a slice of all of them, and the sums of its columns.
#pragma once

#include "../cluster.cuh"
#include "persistent_row.cuh"

namespace cudaops_kernels {
namespace detail {

#if !CUDAOPS_HIP

// Where sums go in the end; null: it isn't wanted. Of float or of the rows' type.
template <int kNumSums>
struct FinalSums {
  void* sums[kNumSums];
  DType dtype;

  // Of a column and those behind it.
  template <typename T, int kSize>
  __device__ __forceinline__ void store(int which, int column, const Floats<kSize>& numbers) const {
    if (sums[which] == nullptr) return;
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      if (dtype == DType::kFloat32) {
        static_cast<float*>(sums[which])[column + k] = numbers[k];
      } else {
        static_cast<T*>(sums[which])[column + k] = from_float<T>(numbers[k]);
      }
    }
  }
};

// Columns that a block adds up, four at a time.
CUDAOPS_HOST_DEVICE inline int few_rows_share(int width, int num_blocks) {
  return (width / 4 + num_blocks - 1) / num_blocks * 4;
}

#if CUDAOPS_HAS_HOPPER

// A row's vectors from first_vector on, one for each of the block's threads.
template <typename T>
struct FewRow : PersistentRow<T, 1, true> {
  using Base = PersistentRow<T, 1, true>;
  __device__ __forceinline__ FewRow(int64_t index, const PersistentGrid& grid, int first_vector,
                                    RowScratch* scratch)
      : Base(index, grid.num_rows, grid.width, nullptr, scratch) {
    this->thread_ += first_vector;
  }
};

#endif

template <typename Op>
__global__ void __launch_bounds__(kMaxFewRowThreads)
    few_gradient_rows_kernel(const Op op, const PersistentGrid grid,
                             const FinalSums<Op::kNumSums> finals, bool is_divided) {
#if CUDAOPS_HAS_HOPPER
  using T = typename Op::Element;
  using OneRow = FewRow<T>;
  using Tile = typename OneRow::Tile;
  using Totals = Floats<Op::kNumTotals>;
  __shared__ RowScratch scratch;
  extern __shared__ float4 of_blocks[];  // [which][block][column / 4]
  arrive_at_cluster_barrier();
  wait_for_kernels_before();
  let_next_kernel_start();
  const int size = static_cast<int>(cluster_size()), rank = static_cast<int>(cluster_rank());
  const int step = is_divided ? 1 : size;
  const auto row_at = [&](int64_t index) {
    return OneRow(index, grid, is_divided ? rank * static_cast<int>(blockDim.x) : 0, &scratch);
  };
  const auto load_tiles = [&](const OneRow& row, Tile(&tiles)[Op::kNumInputs]) {
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) tiles[i] = row.load_ahead(op.input(i));
  };
  ColumnSums<Op::kNumSums, 1, OneRow::kSize> sums = {};
  const OneRow first_row = row_at(is_divided ? 0 : rank);
  OneRow row = first_row;
  Tile tiles[Op::kNumInputs], next_tiles[Op::kNumInputs];
  load_tiles(row, tiles);
  const auto fixed = op.fixed(row);
  bool others_run = false;
  int buffer = 0;
  while (row.exists()) {
    OneRow next_row = row_at(row.index() + step);
    load_tiles(next_row, next_tiles);
    const auto scalars = load_scalars(op, row.index());
    Totals totals = row.sum(op.totals(row, tiles, fixed, scalars, sums));
    if (is_divided) {
      if (!others_run) wait_at_cluster_barrier();
      others_run = true;
      totals = reduce_over_cluster(scratch.blocks[buffer], totals, Totals(),
                                   AddFloats<Op::kNumTotals>{});
      buffer ^= 1;
    }
    op.gradient(row, tiles, fixed, scalars, totals);
    next_row.follow(row);
    row = next_row;
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) tiles[i] = next_tiles[i];
  }
  if (is_divided) {
    first_row.each([&](const auto& place) {
#pragma unroll
      for (int which = 0; which < Op::kNumSums; ++which) {
        finals.template store<T>(which, place.column, sums.sums[which][0]);
      }
    });
    return;
  }
  wait_at_cluster_barrier();  // all blocks run
  const int width = static_cast<int>(grid.width), share = few_rows_share(width, size);
  const int sources = grid.num_rows < size ? static_cast<int>(grid.num_rows) : size;
  first_row.each([&](const auto& place) {
#pragma unroll
    for (int which = 0; which < Op::kNumSums; ++which) {
#pragma unroll
      for (int k = 0; k < OneRow::kSize; k += 4) {
        const int column = place.column + k, owner = column / share;
        const Floats<OneRow::kSize>& numbers = sums.sums[which][0];
        store_in_cluster(
            &of_blocks[((which * sources + rank) * share + column - owner * share) / 4], owner,
            make_float4(numbers[k], numbers[k + 1], numbers[k + 2], numbers[k + 3]));
      }
    }
  });
  arrive_at_cluster_barrier();
  wait_at_cluster_barrier();
  for (int own = 4 * static_cast<int>(threadIdx.x); own < share; own += 4 * blockDim.x) {
    const int column = rank * share + own;
    if (column >= width) return;
#pragma unroll
    for (int which = 0; which < Op::kNumSums; ++which) {
      Floats<4> sum = {};
#pragma unroll
      for (int source = 0; source < static_cast<int>(kMaxClusterSize); ++source) {
        if (source >= sources) break;
        const float4 numbers = of_blocks[((which * sources + source) * share + own) / 4];
        sum = sum + Floats<4>{{numbers.x, numbers.y, numbers.z, numbers.w}};
      }
      finals.template store<T>(which, column, sum);
    }
  }
#endif
}

// False where it can't be done this way. Rows are whole, and one of the sums is wanted.
template <typename Op>
bool launch_few_gradient_rows(const Op& op, const PersistentGrid& grid,
                              void* const (&sums)[Op::kNumSums], DType sums_dtype,
                              int64_t num_vectors, cudaStream_t stream) {
  const FewRows way = few_rows_way(grid.num_rows, num_vectors, Op::kNumSums);
  if (way == FewRows::kNone) return false;
  const bool is_divided = way == FewRows::kDivided;
  static int known[64];
  const auto kernel = &few_gradient_rows_kernel<Op>;
  if (!is_compiled_for_hopper(kernel, known)) return false;
  FinalSums<Op::kNumSums> finals{{}, sums_dtype};
  for (int which = 0; which < Op::kNumSums; ++which) finals.sums[which] = sums[which];
  const int size = grid.num_rows == 1 && !is_divided ? 1 : kMaxClusterSize;
  size_t bytes = 0;
  if (!is_divided) {
    const int64_t share = few_rows_share(static_cast<int>(grid.width), size);
    bytes =
        static_cast<size_t>(Op::kNumSums * at_most(grid.num_rows, size) * share) * sizeof(float);
    CUDAOPS_CHECK(cudaops::allow_dynamic_shared_memory(kernel, static_cast<int>(bytes)));
  }
  OverlappingCluster attributes(static_cast<unsigned int>(size));
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned int>(size));
  config.blockDim =
      dim3(static_cast<unsigned int>(32 * warps_for(num_vectors, is_divided ? size : 1)));
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = attributes.of;
  config.numAttrs = attributes.number;
  CUDAOPS_CHECK(cudaLaunchKernelEx(&config, kernel, op, grid, finals, is_divided));
  return true;
}

#endif

}  // namespace detail
}  // namespace cudaops_kernels

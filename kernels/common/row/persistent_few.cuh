// SPDX-License-Identifier: Apache-2.0
// Few rows, each whole and in the registers of a block, with their sums in one launch (sm_90;
// persistent.cuh): the blocks of one cluster take them, and each adds up the sums of some columns,
// which the others write to its shared memory.
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
};

// Columns of a block, four at a time.
CUDAOPS_HOST_DEVICE inline int few_rows_share(int width, int num_blocks) {
  return (width / 4 + num_blocks - 1) / num_blocks * 4;
}

template <typename Op>
__global__ void __launch_bounds__(kMaxFewRowThreads)
    few_gradient_rows_kernel(const Op op, const PersistentGrid grid,
                             const FinalSums<Op::kNumSums> finals) {
#if CUDAOPS_HAS_HOPPER
  using T = typename Op::Element;
  using OneRow = PersistentRow<T, 1, true>;
  __shared__ RowScratch scratch;
  extern __shared__ float4 of_blocks[];  // [which][block][column / 4]
  arrive_at_cluster_barrier();
  wait_for_kernels_before();
  let_next_kernel_start();
  const int size = static_cast<int>(cluster_size()), rank = static_cast<int>(cluster_rank());
  const int width = static_cast<int>(grid.width), share = few_rows_share(width, size);
  ColumnSums<Op::kNumSums, 1, OneRow::kSize> sums = {};
  using Tile = typename OneRow::Tile;
  const auto row_at = [&](int64_t index) {
    return OneRow(index, grid.num_rows, grid.width, nullptr, &scratch);
  };
  const auto load_tiles = [&](const OneRow& row, Tile(&tiles)[Op::kNumInputs]) {
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) tiles[i] = row.load_ahead(op.input(i));
  };
  OneRow row = row_at(rank);
  Tile tiles[Op::kNumInputs], next_tiles[Op::kNumInputs];
  load_tiles(row, tiles);
  const auto fixed = op.fixed(row);
  while (row.exists()) {
    OneRow next_row = row_at(row.index() + size);
    load_tiles(next_row, next_tiles);
    const auto scalars = load_scalars(op, row.index());
    const Floats<Op::kNumTotals> totals = op.totals(row, tiles, fixed, scalars, sums);
    op.gradient(row, tiles, fixed, scalars, row.sum(totals));
    next_row.follow(row);
    row = next_row;
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) tiles[i] = next_tiles[i];
  }
  wait_at_cluster_barrier();  // all blocks run
  const int sources = grid.num_rows < size ? static_cast<int>(grid.num_rows) : size;
  if (rank < sources) {
    row_at(rank).each([&](const auto& place) {
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
  }
  arrive_at_cluster_barrier();
  wait_at_cluster_barrier();
  for (int own = 4 * static_cast<int>(threadIdx.x); own < share; own += 4 * blockDim.x) {
    const int column = rank * share + own;
    if (column >= width) return;
#pragma unroll
    for (int which = 0; which < Op::kNumSums; ++which) {
      if (finals.sums[which] == nullptr) continue;
      Floats<4> sum = {};
#pragma unroll
      for (int source = 0; source < static_cast<int>(kMaxClusterSize); ++source) {
        if (source >= sources) break;
        const float4 numbers = of_blocks[((which * sources + source) * share + own) / 4];
        sum = sum + Floats<4>{{numbers.x, numbers.y, numbers.z, numbers.w}};
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (finals.dtype == DType::kFloat32) {
          static_cast<float*>(finals.sums[which])[column + k] = sum[k];
        } else {
          static_cast<T*>(finals.sums[which])[column + k] = from_float<T>(sum[k]);
        }
      }
    }
  }
#endif
}

// False where it can't be done this way. Rows are whole, and one of the sums is wanted.
template <typename Op>
bool launch_few_gradient_rows(const Op& op, const PersistentGrid& grid,
                              void* const (&sums)[Op::kNumSums], DType sums_dtype,
                              int64_t num_vectors, cudaStream_t stream) {
  if (grid.num_rows > kMaxFewRows || num_vectors > kMaxFewRowThreads) return false;
  static int known[64];
  const auto kernel = &few_gradient_rows_kernel<Op>;
  if (!is_compiled_for_hopper(kernel, known)) return false;
  FinalSums<Op::kNumSums> finals{{}, sums_dtype};
  for (int which = 0; which < Op::kNumSums; ++which) finals.sums[which] = sums[which];
  const unsigned int size = grid.num_rows == 1 ? 1 : kMaxClusterSize;
  const int64_t sources = at_most(grid.num_rows, size);
  const int share = few_rows_share(static_cast<int>(grid.width), static_cast<int>(size));
  const size_t bytes = static_cast<size_t>(Op::kNumSums * sources * share) * sizeof(float);
  CUDAOPS_CHECK(cudaops::allow_dynamic_shared_memory(kernel, static_cast<int>(bytes)));
  OverlappingCluster attributes(size);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(size);
  config.blockDim = dim3(static_cast<unsigned int>(32 * warps_for(num_vectors, 1)));
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = attributes.of;
  config.numAttrs = attributes.number;
  CUDAOPS_CHECK(cudaLaunchKernelEx(&config, kernel, op, grid, finals));
  return true;
}

#endif

}  // namespace detail
}  // namespace cudaops_kernels

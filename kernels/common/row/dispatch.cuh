// SPDX-License-Identifier: Apache-2.0
// Which model a row is of, and the launch: the table is tuning_sm90.h's row_shape().
#pragma once

#include <cuda_runtime.h>
#include <cudaops/check.h>

#include <climits>
#include <type_traits>

#include "../hopper.cuh"
#include "../per_device.cuh"
#include "cluster_row.cuh"
#include "looped_row.cuh"
#include "packed_rows.cuh"
#include "ragged_row.cuh"
#include "register_row.cuh"

namespace cudaops_kernels {
namespace detail {

// ---------------------------------------------------------------------------------------------------
// What an op says of itself

// Optional: kZeroPads, it asks place.exists() before it stores.
template <typename Op, typename = void>
constexpr bool kAllowsPadding = false;
template <typename Op>
constexpr bool kAllowsPadding<Op, std::enable_if_t<Op::kZeroPads>> = true;

// Optional: kReadsTwoColumns, a weight and a bias.
template <typename Op, typename = void>
constexpr bool kReadsTwoColumns = false;
template <typename Op>
constexpr bool kReadsTwoColumns<Op, std::enable_if_t<Op::kReadsTwoColumns>> = true;

template <typename Op>
constexpr RowOp kRowOp{Op::kNumTiles, Op::kReadsColumns,
                       static_cast<int>(sizeof(typename Op::Element)), kAllowsPadding<Op>,
                       kReadsTwoColumns<Op>};

// Optional, of an op with kNumTiles 0: kKeepsWholeRows, whole rows that a block has registers for
// are kept there; others are read in a loop.
template <typename Op, typename = void>
constexpr bool kKeepsWholeRows = false;
template <typename Op>
constexpr bool kKeepsWholeRows<Op, std::enable_if_t<Op::kKeepsWholeRows>> = true;

// Optional: kCallsNoReduction, no thread of a row waits for another: where there are few rows,
// those that are read in a loop are divided among several blocks.
template <typename Op, typename = void>
constexpr bool kMayDivide = false;
template <typename Op>
constexpr bool kMayDivide<Op, std::enable_if_t<Op::kCallsNoReduction>> = true;

// Optional: stage_bytes(rows), shared memory for the rows of a block. It is only for rows that a
// block has registers for.
template <typename Op, typename = void>
constexpr bool kHasStage = false;
template <typename Op>
constexpr bool kHasStage<Op, std::void_t<decltype(&Op::stage_bytes)>> = true;

// ---------------------------------------------------------------------------------------------------
// Rows of a block, a warp or a part of a warp

template <typename Op, int kVectors, bool kWhole>
struct BlockRow {
  using T = typename Op::Element;
  static constexpr bool kPads = zero_pads(kRowOp<Op>, kVectors, kWhole);
  // Registers are scarce: what all threads of a block share is in uniform ones. With two rows of a
  // warp each in a block, 65536 x 2049 of bfloat16 took 124.8 us for 129.6, 32768 x 4097 125.9 for
  // 124.5, and QuantizeAnyRowGroups spilled 40 bytes for none. H200, 2026-11-27.
  static constexpr bool kIsOneABlock = kPads && kVectors == 8;
  static constexpr int kMaxThreads = kMaxRowThreads;
  static constexpr int kMinBlocks = min_row_blocks(kRowOp<Op>, kVectors, kWhole);
  using Type =
      std::conditional_t<kWhole, RegisterRow<T, kVectors, kPads>, RaggedRow<T, kVectors, kPads>>;
};
template <typename Op, bool kWhole>
struct BlockRow<Op, 0, kWhole> {
  static constexpr bool kIsOneABlock = false;
  static constexpr int kMaxThreads = kMaxRowThreads;
  static constexpr int kMinBlocks = min_looped_blocks(kRowOp<Op>, kWhole);
  using Type = LoopedRow<typename Op::Element, kWhole, kMayDivide<Op>>;
};
template <typename Op, int kVectors>
struct WideRow {
  static constexpr bool kIsOneABlock = true;
  static constexpr int kMaxThreads = max_wide_threads(kVectors);
  static constexpr int kMinBlocks = min_wide_blocks(kVectors);
  using Type = RegisterRow<typename Op::Element, kVectors, false, true, Op::kReadsColumns>;
};
// The same, of which columns are loaded when they are asked for.
template <typename Op, int kVectors>
struct LateRow {
  static constexpr bool kIsOneABlock = true;
  static constexpr int kMaxThreads = kMaxRowThreads;
  static constexpr int kMinBlocks = min_late_blocks(kVectors);
  using Type = RegisterRow<typename Op::Element, kVectors, false, true>;
};

template <typename Op, typename OneRow>
__global__ void __launch_bounds__(OneRow::kMaxThreads, OneRow::kMinBlocks)
    rows_kernel(const Op op, const RowGrid grid) {
  using T = typename Op::Element;
  __shared__ RowScratch scratch;
  // Launched while the kernel before it ends, as the next one may be: of few rows a launch takes as
  // long as all of the rest. In this order at most one more kernel waits on the GPU.
  wait_for_kernels_before();
  let_next_kernel_start();
  int64_t index = blockIdx.x;
  if constexpr (!OneRow::kIsOneABlock) index = index * blockDim.y + threadIdx.y;
  typename OneRow::Type row(index, grid.num_rows, grid.width, grid.anchor.template row<T>(index),
                            &scratch);
  op(row);
}

// At most; of rows that aren't aligned they start and end anywhere in a vector.
template <int64_t kSize>
int64_t num_vectors(int64_t width, bool aligned) {
  if (width > INT_MAX - 1024) {
    cudaops::throw_runtime_error(
        "wanted rows of less than 2^31 - 1024 elements, found longer ones.");
  }
  return (width + (aligned ? 1 : 2) * (kSize - 1)) / kSize;
}

template <bool kOnlyWhole, typename Op>
bool rows_are_whole(const RowGrid& grid, bool aligned) {
  return kOnlyWhole || (aligned && grid.width % Vector<typename Op::Element>::kSize == 0);
}

template <typename Op>
int stage_bytes_of(const Op& op, int num_rows) {
  if constexpr (kHasStage<Op>) return static_cast<int>(op.stage_bytes(num_rows));
  return 0;
}

// blocks_each: of a row.
template <typename OneRow, typename Op>
void launch_rows_by(const Op& op, const RowGrid& grid, int num_threads, cudaStream_t stream,
                    int64_t blocks_each = 1) {
  const bool are_several = !OneRow::kIsOneABlock && num_threads <= 32;
  const int num_rows = are_several ? kWarpRowsThreads / num_threads : 1;
  const dim3 block(static_cast<unsigned int>(num_threads), static_cast<unsigned int>(num_rows));
  const dim3 blocks(num_blocks(grid.num_rows, num_rows), static_cast<unsigned int>(blocks_each));
  launch_overlapping_with(&rows_kernel<Op, OneRow>, blocks, block, stage_bytes_of(op, num_rows),
                          stream, op, grid);
}

template <bool kOnlyWhole, int kVectors, typename Op>
void launch_block_rows(const Op& op, const RowGrid& grid, bool aligned, int num_threads,
                       cudaStream_t stream, int64_t blocks_each = 1) {
  if (rows_are_whole<kOnlyWhole, Op>(grid, aligned)) {
    if constexpr (kHasStage<Op> && halves_staged_rows(kRowOp<Op>, kVectors)) {
      launch_rows_by<WideRow<Op, kVectors / 2>>(op, grid, 2 * num_threads, stream);
    } else {
      launch_rows_by<BlockRow<Op, kVectors, true>>(op, grid, num_threads, stream, blocks_each);
    }
  } else if constexpr (!kOnlyWhole) {
    launch_rows_by<BlockRow<Op, kVectors, false>>(op, grid, num_threads, stream, blocks_each);
  }
}

// False where the row stays as it is.
template <typename Op>
bool launch_by_wide_shape(const Op& op, const RowGrid& grid, const RowShape& shape,
                          cudaStream_t stream) {
  if constexpr (may_load_columns_late(kRowOp<Op>)) {
    const int vectors = late_vectors(kRowOp<Op>, shape, grid.num_rows, num_multiprocessors());
    if (vectors != 0) {
      const int threads = shape.vectors / vectors * shape.threads;
      if (vectors == kVirtualVectors) {
        launch_rows_by<LateRow<Op, kVirtualVectors>>(op, grid, threads, stream);
      } else {
        launch_rows_by<LateRow<Op, 2 * kVirtualVectors>>(op, grid, threads, stream);
      }
      return true;
    }
  }
  const RowShape wide = wide_shape(kRowOp<Op>, shape, grid.num_rows, num_multiprocessors());
  if (wide.vectors == 0) return false;
  if constexpr (may_widen_short_rows(kRowOp<Op>)) {
    if (wide.threads <= 32) {
      launch_block_rows<true, kVirtualVectors>(op, grid, true, wide.threads, stream);
      return true;
    }
  }
  if (wide.vectors == kVirtualVectors) {
    launch_rows_by<WideRow<Op, kVirtualVectors>>(op, grid, wide.threads, stream);
    return true;
  }
  if constexpr (wide_rows_by_four(kRowOp<Op>)) {
    launch_rows_by<WideRow<Op, 2 * kVirtualVectors>>(op, grid, wide.threads, stream);
    return true;
  }
  return false;
}

// ---------------------------------------------------------------------------------------------------
// Rows of a cluster

#if !CUDAOPS_HIP

static_assert(kMaxClusterBlocks <= kMaxClusterSize, "more blocks than every GPU can run as one");

template <typename Op, bool kWhole, bool kIsDouble>
__global__ void __launch_bounds__(kMaxRowThreads, min_cluster_blocks(kRowOp<Op>))
    cluster_rows_kernel(const Op op, const RowGrid grid) {
#if CUDAOPS_HAS_HOPPER
  using T = typename Op::Element;
  __shared__ RowScratch scratch;
  extern __shared__ Packed stash[];
  wait_for_kernels_before();
  let_next_kernel_start();
  const int64_t index = blockIdx.x / cluster_size();
  ClusterRow<T, cluster_vectors(kRowOp<Op>), stashed_vectors(kRowOp<Op>, kWhole), kWhole, kIsDouble>
      row(index, grid.num_rows, grid.width, grid.anchor.template row<T>(index), &scratch, stash);
  op(row);
  row.leave_cluster();
#endif
}

// False where this device's code in the binary has no clusters.
template <bool kWhole, bool kIsDouble, typename Op>
bool launch_cluster_blocks(const Op& op, const RowGrid& grid, const ClusterShape& shape,
                           cudaStream_t stream) {
  constexpr RowOp kOp = kRowOp<Op>;
  const auto kernel = cluster_rows_kernel<Op, kWhole, kIsDouble>;
  static int known[64];
  if (!is_compiled_for_hopper(kernel, known)) return false;
  OverlappingCluster attributes(static_cast<unsigned int>(shape.blocks));
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(num_blocks(grid.num_rows * shape.blocks, 1));
  config.blockDim = dim3(static_cast<unsigned int>(shape.threads));
  config.dynamicSmemBytes =
      num_stashes(kOp) * stashed_vectors(kOp, kWhole) * config.blockDim.x * sizeof(Packed);
  CUDAOPS_CHECK(
      cudaops::allow_dynamic_shared_memory(kernel, static_cast<int>(config.dynamicSmemBytes)));
  config.stream = stream;
  config.attrs = attributes.of;
  config.numAttrs = attributes.number;
  CUDAOPS_CHECK(cudaLaunchKernelEx(&config, kernel, op, grid));
  return true;
}

// False where rows are too long, too.
template <typename Op, bool kWhole>
bool launch_cluster_rows(const Op& op, const RowGrid& grid, int64_t num_vectors,
                         cudaStream_t stream) {
  constexpr RowOp kOp = kRowOp<Op>;
  const ClusterShape shape = cluster_shape(kOp, num_vectors);
  if (shape.blocks == 0) return false;
  if constexpr (kWhole && may_double_cluster_blocks(kOp)) {
    if (doubles_cluster_blocks(shape, grid.num_rows, num_multiprocessors())) {
      return launch_cluster_blocks<kWhole, true>(
          op, grid, ClusterShape{shape.blocks / 2, 2 * shape.threads}, stream);
    }
  }
  return launch_cluster_blocks<kWhole, false>(op, grid, shape, stream);
}

#endif

}  // namespace detail

// ---------------------------------------------------------------------------------------------------
// Any rows

// For rows that are known to be longer than what a block has registers for. `aligned`:
// rows_are_aligned() of everything that op touches. kOnlyWhole: it always is, and rows have whole
// vectors; most of what there is to compile is for other rows.
template <bool kOnlyWhole = false, typename Op>
void launch_long_rows(const Op& op, const RowGrid& grid, bool aligned, cudaStream_t stream) {
  if (grid.num_rows == 0) return;  // a grid of 0 blocks is a launch error
#if !CUDAOPS_HIP
  if constexpr (Op::kNumTiles > 0) {
    constexpr int64_t kSize = Vector<typename Op::Element>::kSize;
    const int64_t num_vectors = detail::num_vectors<kSize>(grid.width, aligned);
    if (detail::rows_are_whole<kOnlyWhole, Op>(grid, aligned)) {
      if (detail::launch_cluster_rows<Op, true>(op, grid, num_vectors, stream)) return;
    } else if constexpr (!kOnlyWhole) {
      if (detail::launch_cluster_rows<Op, false>(op, grid, num_vectors, stream)) return;
    }
  }
#endif
  detail::launch_block_rows<kOnlyWhole, 0>(op, grid, aligned, detail::kMaxRowThreads, stream);
}

template <bool kOnlyWhole = false, typename Op>
void launch_rows(const Op& op, const RowGrid& grid, bool aligned, cudaStream_t stream) {
  if (grid.num_rows == 0) return;
  constexpr int64_t kSize = Vector<typename Op::Element>::kSize;
  const int64_t num_vectors = detail::num_vectors<kSize>(grid.width, aligned);
  const bool is_whole = detail::rows_are_whole<kOnlyWhole, Op>(grid, aligned);
  if constexpr (detail::kTakesPackedRows<Op>) {
    if (!is_whole && detail::rows_are_packed(op, grid.width, detail::kMinGoodWarpWidth)) {
      detail::launch_packed_rows(op, grid.num_rows, grid.width, stream);
      return;
    }
  }
  detail::RowShape shape = detail::row_shape(detail::kRowOp<Op>, num_vectors, is_whole);
  if (!is_whole) shape = detail::ragged_shape(shape, grid.num_rows, num_multiprocessors());
  if constexpr (detail::kKeepsWholeRows<Op>) {
    if (is_whole) {
      const detail::RowShape kept =
          detail::row_shape(detail::keeping_one(detail::kRowOp<Op>), num_vectors, true);
      if (kept.vectors == 8) {
        detail::launch_block_rows<true, 8>(op, grid, aligned, kept.threads, stream);
        return;
      }
      if (kept.vectors == 4) shape = kept;
    }
  }
  if constexpr (Op::kNumTiles > 0 && !detail::kHasStage<Op>) {
    if (is_whole && shape.vectors > 0 && detail::launch_by_wide_shape(op, grid, shape, stream))
      return;
  }
  if (shape.vectors == 4) {
    detail::launch_block_rows<kOnlyWhole, 4>(op, grid, aligned, shape.threads, stream);
    return;
  }
  if constexpr (Op::kNumTiles == 0) {
    int64_t blocks_each = 1;
    if constexpr (detail::kMayDivide<Op>) {
      blocks_each = detail::looped_blocks(num_vectors, grid.num_rows, num_multiprocessors());
    }
    detail::launch_block_rows<kOnlyWhole, 0>(op, grid, aligned, shape.threads, stream, blocks_each);
  } else if (shape.vectors == 8) {
    detail::launch_block_rows<kOnlyWhole, 8>(op, grid, aligned, shape.threads, stream);
  } else if constexpr (detail::kHasStage<Op>) {
    cudaops::throw_runtime_error("wanted rows that a block has registers for, found longer ones.");
  } else {
    launch_long_rows<kOnlyWhole>(op, grid, aligned, stream);
  }
}

}  // namespace cudaops_kernels

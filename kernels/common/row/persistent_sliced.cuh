// SPDX-License-Identifier: Apache-2.0
// The persistent loop over long rows (sm_90; persistent.cuh). A group of blocks takes whole rows,
// each block a slice of them, of the same columns in all rows. The totals of slices are exchanged
// through memory, which takes a microsecond or two; until those of a row have come, the blocks work
// on the rows behind it, whose slices are in shared memory already. Clusters would wait in each
// row, have at most sixteen blocks, and leave multiprocessors without one.
#pragma once

#include "persistent_ring.cuh"

namespace cudaops_kernels {
namespace detail {

#if CUDAOPS_HIP

inline int64_t exchange_bytes(int64_t) { return 0; }
inline int64_t most_groups(int64_t, int) { return 0; }

#else

// What blocks exchange of rows that are long enough to be divided.
inline int64_t exchange_bytes(int64_t num_vectors) {
  if (num_vectors <= kMaxRingVectors) return 0;
  return int64_t{kMostSlicesEach} * num_multiprocessors() * kExchangedRows * kMostTotals *
         int64_t{sizeof(uint64_t)};
}

inline SlicedShape shape_of_slices(int64_t num_vectors, int num_inputs) {
  const int64_t own_bytes = kMostSlicesEach * 2048;  // as launch_ring_rows()
  const int64_t all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  const int64_t room =
      (all - own_bytes) / (int64_t{kSliceStages} * num_inputs * int64_t{sizeof(Packed)});
  return sliced_shape(num_vectors, num_multiprocessors(), room);
}
inline int64_t most_groups(int64_t num_vectors, int num_inputs) {
  return shape_of_slices(num_vectors, num_inputs).num_groups;
}

#if CUDAOPS_HAS_HOPPER

// The columns that a block has of a row, which is one of the array's; places are counted from the
// row's start.
template <typename T>
struct SlicedRow : PersistentRow<T, kSliceVectors, true> {
  using Base = PersistentRow<T, kSliceVectors, true>;
  __device__ __forceinline__ SlicedRow(int64_t index, int64_t first_column, int64_t end_column)
      : Base(index, index + 1, end_column, nullptr, nullptr) {
    this->thread_ += static_cast<int>(first_column / Base::kSize);
  }
};

// What the blocks of a group have of rows' totals. A word is of a row, a total and a block: the
// number, and in the upper half which of the group's rows it is of, from 1 on. So a word says
// itself whether it is the one that is waited for, and needs no fence.
template <int kNumTotals>
struct ExchangedTotals {
  static constexpr int kWordsEach = kMaxGroupBlocks / 32;  // of a total, by a lane
  using Totals = Floats<kNumTotals>;
  struct Asked {
    uint64_t words[kNumTotals][kWordsEach];
  };
  uint64_t* words;
  int num_blocks;

  // By a warp, whose lanes all have the totals.
  __device__ __forceinline__ void put(int row, int rank, const Totals& totals) const {
#pragma unroll
    for (int i = 0; i < kNumTotals; ++i) {
      if (static_cast<int>(threadIdx.x) % 32 != i) continue;
      const uint64_t word = static_cast<uint64_t>(row + 1) << 32 | __float_as_uint(totals[i]);
      asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(
                       __cvta_generic_to_global(words_of(row, i) + rank)),
                   "l"(word)
                   : "memory");
    }
  }
  // By a warp: loads that may come too early, and the totals, when all have come.
  __device__ __forceinline__ Asked ask(int row) const {
    Asked asked = {};
    each_word([&](int total, int k, int block) {
      asked.words[total][k] = load(words_of(row, total) + block);
    });
    return asked;
  }
  __device__ __forceinline__ Totals take(Asked asked, int row) const {
    Totals totals = {};
    each_word([&](int total, int k, int block) {
      uint64_t& word = asked.words[total][k];
      while (static_cast<int>(word >> 32) != row + 1) word = load(words_of(row, total) + block);
      totals[total] += __uint_as_float(static_cast<uint32_t>(word));
    });
    return cudaops::warp_reduce(totals, AddFloats<kNumTotals>{}, 32);
  }

 private:
  __device__ __forceinline__ uint64_t* words_of(int row, int total) const {
    return words + (row % kExchangedRows * kNumTotals + total) * num_blocks;
  }
  template <typename Body>
  __device__ __forceinline__ void each_word(const Body& body) const {
#pragma unroll
    for (int total = 0; total < kNumTotals; ++total) {
#pragma unroll
      for (int k = 0; k < kWordsEach; ++k) {
        const int block = static_cast<int>(threadIdx.x) % 32 + 32 * k;
        if (block < num_blocks) body(total, k, block);
      }
    }
  }
  static __device__ __forceinline__ uint64_t load(const uint64_t* from) {
    uint64_t word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(word)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return word;
  }
};

#endif

// `exchange`: ExchangedTotals of each group of `group_blocks` blocks, zeros before the launch.
template <typename Op>
__global__ void __launch_bounds__(kMaxSliceThreads)
    sliced_rows_kernel(const Op op, const PersistentGrid grid, uint64_t* exchange,
                       int group_blocks) {
#if CUDAOPS_HAS_HOPPER
  using T = typename Op::Element;
  using OneRow = SlicedRow<T>;
  using Exchange = ExchangedTotals<Op::kNumTotals>;
  using Totals = typename Exchange::Totals;
  extern __shared__ __align__(128) char ring[];
  __shared__ uint64_t full[kSliceStages];
  __shared__ Scalars<Op> row_scalars[kSliceStages];
  __shared__ Totals of_warps[2][kMaxSliceThreads / 32];
  __shared__ Totals of_rows[2];
  const int group = static_cast<int>(blockIdx.x) / group_blocks;
  const int rank = static_cast<int>(blockIdx.x) % group_blocks;
  const int num_groups = static_cast<int>(gridDim.x) / group_blocks;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int num_warps = static_cast<int>(blockDim.x) / 32;
  // Rows are counted among those that the group takes.
  const int num_rows = static_cast<int>((grid.num_rows - group + num_groups - 1) / num_groups);
  const auto index_of = [&](int row) { return group + int64_t{row} * num_groups; };
  const Exchange totals_of_blocks{
      exchange + int64_t{group} * kExchangedRows * Op::kNumTotals * group_blocks, group_blocks};
  const int slice = kSliceVectors * OneRow::kSize * static_cast<int>(blockDim.x);
  const int room = slice * static_cast<int>(sizeof(T));
  const int64_t first_column = int64_t{rank} * slice;
  const int64_t end_column = first_column + slice < grid.width ? first_column + slice : grid.width;
  const uint32_t bytes = static_cast<uint32_t>(end_column - first_column) * uint32_t{sizeof(T)};

  const auto slot = [&](int stage, int input) {
    return ring + (stage * Op::kNumInputs + input) * room;
  };
  // By one thread.
  const auto fetch = [&](int stage, int row) {
    if (row >= num_rows) return;
    const int64_t index = index_of(row);
    expect_bytes(&full[stage], Op::kNumInputs * bytes);
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) {
      const T* from = op.input(i).template row<T>(index) + first_column;
      copy_to_shared(slot(stage, i), from, bytes, &full[stage]);
    }
    copy_scalars_to_shared(op, index, &row_scalars[stage]);
  };
  const auto row_at = [&](int row) { return OneRow(index_of(row), first_column, end_column); };
  const auto tiles_at = [&](int stage, auto& tiles) {
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) {
      // Where the row would begin if all of it were there.
      tiles[i].row = reinterpret_cast<const T*>(slot(stage, i)) - first_column;
      tiles[i].width = grid.width;
    }
  };
  // Whether it begins again.
  const auto advance = [](int& stage) {
    stage = stage + 1 == kSliceStages ? 0 : stage + 1;
    return stage == 0;
  };

  ColumnSums<Op::kNumSums, kSliceVectors, OneRow::kSize> sums = {};
  const auto fixed = op.fixed(row_at(0));
  // The last warp has least of the row: it fetches rows, and the totals of others.
  const bool is_last_warp = warp == num_warps - 1, fetches = is_last_warp && lane == 0;
  // Before a row is worked on, or before the gradient of one is written.
  const bool asks_early = slices_ask_early(Op::kNumTotals, sizeof(T), group_blocks);
  if (fetches) {
    for (int stage = 0; stage < kSliceStages; ++stage) init_barrier(&full[stage]);
    fence_barriers();
    for (int stage = 0; stage < kSliceStages; ++stage) fetch(stage, stage);
  }
  wait_for_numbers();
  __syncthreads();
  int stage = 0, gradient_stage = 0, free_stage = 0;
  uint32_t parity = 0;
  for (int row = 0; row < num_rows + kSliceDelay; ++row) {
    const int gradient_row = row - kSliceDelay, next_row = gradient_row + 1;
    const bool asks = is_last_warp && next_row >= 0 && next_row < num_rows;
    typename Exchange::Asked asked;
    if (asks && asks_early) asked = totals_of_blocks.ask(next_row);
    if (row < num_rows) {
      SharedTile<T, false> tiles[Op::kNumInputs];
      tiles_at(stage, tiles);
      wait_for_phase(&full[stage], parity);
      const Totals share = op.totals(row_at(row), tiles, fixed, row_scalars[stage], sums);
      const Totals of_warp = cudaops::warp_reduce(share, AddFloats<Op::kNumTotals>{}, 32);
      if (lane == 0) of_warps[row & 1][warp] = of_warp;
      if (advance(stage)) parity ^= 1;
    }
    // All have added up this row and written the gradient of the one kSliceDelay + 1 before; the
    // numbers of the rows that were fetched are there.
    wait_for_numbers();
    __syncthreads();
    if (warp == 0 && row < num_rows) {
      Totals totals = {};
      if (lane < num_warps) totals = of_warps[row & 1][lane];
      totals = cudaops::warp_reduce(totals, AddFloats<Op::kNumTotals>{}, 32);
      totals_of_blocks.put(row, rank, totals);
    }
    if (gradient_row > 0) {
      if (fetches) fetch(free_stage, gradient_row - 1 + kSliceStages);
      advance(free_stage);
    }
    if (asks && !asks_early) asked = totals_of_blocks.ask(next_row);
    if (gradient_row >= 0) {
      SharedTile<T, false> tiles[Op::kNumInputs];
      tiles_at(gradient_stage, tiles);
      op.gradient(row_at(gradient_row), tiles, fixed, row_scalars[gradient_stage],
                  of_rows[gradient_row & 1]);
      advance(gradient_stage);
    }
    if (asks) {
      const Totals totals = totals_of_blocks.take(asked, next_row);
      if (lane == 0) of_rows[next_row & 1] = totals;
    }
  }
  if (grid.workspace == nullptr) return;
#pragma unroll
  for (int which = 0; which < Op::kNumSums; ++which) {
    sums.store(row_at(0), which, grid.part(which, group, num_groups));
  }
#endif
}

// The number of groups; 0 where it can't be done this way.
template <typename Op>
int64_t launch_sliced_rows(const Op& op, const PersistentGrid& grid, uint64_t* exchange,
                           int64_t num_vectors, cudaStream_t stream) {
  static_assert(Op::kNumTotals <= kMostTotals, "exchange_bytes() has no room for so many");
  static int known[64];
  const auto kernel = &sliced_rows_kernel<Op>;
  if (!is_compiled_for_hopper(kernel, known)) return 0;
  const SlicedShape shape = shape_of_slices(num_vectors, Op::kNumInputs);
  if (shape.num_groups == 0) return 0;
  const int bytes = kSliceStages * Op::kNumInputs * kSliceVectors * shape.num_threads *
                    static_cast<int>(sizeof(Packed));
  CUDAOPS_CHECK(cudaops::allow_dynamic_shared_memory(kernel, bytes));
  const int64_t groups = num_persistent_blocks(grid.num_rows, 1, shape.num_groups, 1);
  const size_t exchanged = static_cast<size_t>(exchange_bytes(num_vectors));
  CUDAOPS_CHECK(cudaMemsetAsync(exchange, 0, exchanged, stream));
  // Blocks wait for each other, so all must run at once.
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned int>(groups * shape.group_blocks));
  config.blockDim = dim3(static_cast<unsigned int>(shape.num_threads));
  config.dynamicSmemBytes = static_cast<size_t>(bytes);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const cudaError_t error =
      cudaLaunchKernelEx(&config, kernel, op, grid, exchange, shape.group_blocks);
  if (error == cudaErrorCooperativeLaunchTooLarge || error == cudaErrorNotSupported) {
    // The context has fewer multiprocessors than the device, or no cooperative launches.
    (void)cudaGetLastError();
    return 0;
  }
  CUDAOPS_CHECK(error);
  return groups;
}

#endif

}  // namespace detail
}  // namespace cudaops_kernels

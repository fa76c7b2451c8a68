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
inline int64_t most_slice_parts(int64_t, int, int64_t) { return 0; }

#else

// What blocks exchange of rows that are long enough to be divided.
inline int64_t exchange_bytes(int64_t num_vectors) {
  if (num_vectors <= kMaxRingVectors) return 0;
  return int64_t{kMostSlicesEach} * num_multiprocessors() * kExchangedRows * kMostTotals *
         int64_t{sizeof(uint64_t)};
}

inline SlicedShape shape_of_slices(int64_t num_vectors, int num_inputs, int64_t period) {
  const int64_t own_bytes = kMostSlicesEach * 2048;  // as launch_ring_rows()
  const int64_t all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  const int64_t room =
      (all - own_bytes) / (int64_t{kSliceStages} * num_inputs * int64_t{sizeof(Packed)});
  return sliced_shape(num_vectors, num_multiprocessors(), room, period);
}
// Sums of a column that groups leave of many rows, whatever their alignment.
inline int64_t most_slice_parts(int64_t num_vectors, int num_inputs, int64_t most_period) {
  int64_t most = 0;
  for (int64_t period = 1; period <= most_period; period *= 2) {
    const SlicedShape shape = shape_of_slices(num_vectors, num_inputs, period);
    const int64_t parts = int64_t{shape.num_groups} * shape.num_passes;
    if (most < parts) most = parts;
  }
  return most;
}

#if CUDAOPS_HAS_HOPPER

// The vectors that a block has of a row, which is one of the array's; places are counted from the
// row's start.
template <typename T, bool kWhole>
struct SlicedRow : PersistentRow<T, kSliceVectors, kWhole> {
  using Base = PersistentRow<T, kSliceVectors, kWhole>;
  __device__ __forceinline__ SlicedRow(int64_t index, int first_vector, int64_t end_column,
                                       const void* anchor)
      : Base(index, index + 1, end_column, anchor, nullptr) {
    this->thread_ += first_vector;
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
template <typename Op, bool kWhole>
__global__ void __launch_bounds__(kMaxSliceThreads, min_slice_blocks(kWhole))
    sliced_rows_kernel(const Op op, const PersistentGrid grid, uint64_t* exchange, int group_blocks,
                       int passes) {
#if CUDAOPS_HAS_HOPPER
  using T = typename Op::Element;
  using OneRow = SlicedRow<T, kWhole>;
  using Exchange = ExchangedTotals<Op::kNumTotals>;
  using Totals = typename Exchange::Totals;
  extern __shared__ __align__(128) char ring[];
  __shared__ uint64_t full[kSliceStages];
  __shared__ Scalars<Op> row_scalars[kSliceStages];
  __shared__ Totals of_warps[2][kMaxSliceThreads / 32];
  __shared__ Totals of_rows[2];
  const int num_passes = kWhole ? 1 : passes;
  const int group = static_cast<int>(blockIdx.x) / group_blocks;
  const int rank = static_cast<int>(blockIdx.x) % group_blocks;
  const int num_groups = static_cast<int>(gridDim.x) / group_blocks;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int num_warps = static_cast<int>(blockDim.x) / 32;
  const int64_t step = int64_t{num_groups} * num_passes;
  const Exchange totals_of_blocks{
      exchange + int64_t{group} * kExchangedRows * Op::kNumTotals * group_blocks, group_blocks};
  const int slice = kSliceVectors * OneRow::kSize * static_cast<int>(blockDim.x);
  const int room = slice * static_cast<int>(sizeof(T));
  const int first_vector = rank * kSliceVectors * static_cast<int>(blockDim.x);
  // In elements and bytes from the aligned start of a row.
  const int64_t first_element = int64_t{rank} * slice;
  const uint32_t first_byte = static_cast<uint32_t>(first_element) * uint32_t{sizeof(T)};
  const auto misaligned_bytes = [](const T* row) {
    return kWhole ? 0 : static_cast<uint32_t>(reinterpret_cast<uintptr_t>(row) % 16);
  };

  const auto slot = [&](int stage, int input) {
    return ring + (stage * Op::kNumInputs + input) * room;
  };
  // Where a row would begin if all of it were there.
  const auto row_in_slot = [&](int stage, int input, uint32_t misaligned) {
    return reinterpret_cast<T*>(slot(stage, input)) - first_element + misaligned / sizeof(T);
  };
  // By one thread: the group's next row, of the same pass or the next one.
  int64_t fetched_index = group;
  int fetched_pass = 0;
  const auto fetch_next = [&](int stage) {
    if (fetched_index >= grid.num_rows && fetched_pass + 1 < num_passes) {
      fetched_index = group + int64_t{++fetched_pass} * num_groups;
    }
    if (fetched_index >= grid.num_rows) return;
    const int64_t index = fetched_index;
    fetched_index += step;
    uint32_t sizes[Op::kNumInputs];
    uint32_t total_bytes = 0;
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) {
      const T* row = op.input(i).template row<T>(index);
      const uint32_t misaligned = misaligned_bytes(row);
      const uint32_t most = first_byte + static_cast<uint32_t>(room);
      uint32_t end = misaligned + static_cast<uint32_t>(grid.width) * uint32_t{sizeof(T)};
      if constexpr (!kWhole) {
        if (first_byte < end && end <= most) {
          const bool is_last = (grid.num_rows - 1 - index) * op.input(i).stride < Vector<T>::kSize;
          end = bytes_at_once(row, row_in_slot(stage, i, misaligned), grid.width, end, is_last);
        }
      }
      if (end > most) end = most;
      sizes[i] = end > first_byte ? end - first_byte : 0;
      total_bytes += sizes[i];
    }
    expect_bytes(&full[stage], total_bytes);
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) {
      const T* row = op.input(i).template row<T>(index);
      const char* from = reinterpret_cast<const char*>(row) - misaligned_bytes(row) + first_byte;
      if (kWhole || sizes[i] > 0) copy_to_shared(slot(stage, i), from, sizes[i], &full[stage]);
    }
    copy_scalars_to_shared(op, index, &row_scalars[stage]);
  };
  // Whether it begins again.
  const auto advance = [](int& stage) {
    stage = stage + 1 == kSliceStages ? 0 : stage + 1;
    return stage == 0;
  };

  // Rows are counted among those of a pass.
  int64_t first_index = group;
  const auto row_at = [&](int row) {
    const T* const anchor = kWhole ? nullptr : grid.anchor.template row<T>(first_index);
    const int64_t end = first_element + slice - misaligned_bytes(anchor) / sizeof(T);
    return OneRow(first_index + row * step, first_vector, end < grid.width ? end : grid.width,
                  anchor);
  };
  const auto tiles_at = [&](int stage, auto& tiles) {
    const uint32_t misaligned =
        kWhole ? 0 : misaligned_bytes(grid.anchor.template row<T>(first_index));
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) {
      tiles[i].row = row_in_slot(stage, i, misaligned);
      tiles[i].width = grid.width;
    }
  };
  auto fixed = op.fixed(row_at(0));
  // The last warp has least of the row: it fetches rows, and the totals of others.
  const bool is_last_warp = warp == num_warps - 1, fetches = is_last_warp && lane == 0;
  // Before a row is worked on, or before the gradient of one is written.
  const bool asks_early = slices_ask_early(Op::kNumTotals, sizeof(T), group_blocks);
  if (fetches) {
    for (int stage = 0; stage < kSliceStages; ++stage) init_barrier(&full[stage]);
    fence_barriers();
    for (int stage = 0; stage < kSliceStages; ++stage) fetch_next(stage);
  }
  wait_for_numbers();
  __syncthreads();
  int stage = 0, gradient_stage = 0, free_stage = 0;
  uint32_t parity = 0;
  bool has_written = false;
  int exchanged_rows = 0;  // of the passes before
  for (int pass = 0; pass < num_passes; ++pass) {
    if (pass > 0) {
      first_index += num_groups;
      if (first_index >= grid.num_rows) break;
      fixed = op.fixed(row_at(0));
    }
    const int num_rows = static_cast<int>((grid.num_rows - first_index + step - 1) / step);
    ColumnSums<Op::kNumSums, kSliceVectors, OneRow::kSize> sums = {};
    for (int row = 0; row < num_rows + kSliceDelay; ++row) {
      const int gradient_row = row - kSliceDelay, next_row = gradient_row + 1;
      const bool asks = is_last_warp && next_row >= 0 && next_row < num_rows;
      typename Exchange::Asked asked;
      if (asks && asks_early) asked = totals_of_blocks.ask(exchanged_rows + next_row);
      if (row < num_rows) {
        SharedTile<T, !kWhole> tiles[Op::kNumInputs];
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
        totals_of_blocks.put(exchanged_rows + row, rank, totals);
      }
      if (has_written) {
        if (fetches) fetch_next(free_stage);
        advance(free_stage);
      }
      if (asks && !asks_early) asked = totals_of_blocks.ask(exchanged_rows + next_row);
      has_written = gradient_row >= 0;
      if (has_written) {
        SharedTile<T, false> tiles[Op::kNumInputs];
        tiles_at(gradient_stage, tiles);
        op.gradient(row_at(gradient_row), tiles, fixed, row_scalars[gradient_stage],
                    of_rows[gradient_row & 1]);
        advance(gradient_stage);
      }
      if (asks) {
        const Totals totals = totals_of_blocks.take(asked, exchanged_rows + next_row);
        if (lane == 0) of_rows[next_row & 1] = totals;
      }
    }
    exchanged_rows += num_rows;
    if (grid.workspace == nullptr) continue;
#pragma unroll
    for (int which = 0; which < Op::kNumSums; ++which) {
      sums.store(row_at(0), which,
                 grid.part(which, first_index, grid.num_rows < step ? grid.num_rows : step));
    }
  }
#endif
}

// The number of parts; 0 where it can't be done this way.
template <typename Op, bool kWhole>
int64_t launch_sliced_rows(const Op& op, const PersistentGrid& grid, uint64_t* exchange,
                           int64_t num_vectors, cudaStream_t stream) {
  static_assert(Op::kNumTotals <= kMostTotals, "exchange_bytes() has no room for so many");
  static int known[64];
  const auto kernel = &sliced_rows_kernel<Op, kWhole>;
  if (!is_compiled_for_hopper(kernel, known)) return 0;
  const int64_t period = kWhole ? 1 : alignment_period<typename Op::Element>(grid.anchor);
  const SlicedShape shape = shape_of_slices(num_vectors, Op::kNumInputs, period);
  if (shape.num_groups == 0) return 0;
  const int bytes = kSliceStages * Op::kNumInputs * kSliceVectors * shape.num_threads *
                    static_cast<int>(sizeof(Packed));
  CUDAOPS_CHECK(cudaops::allow_dynamic_shared_memory(kernel, bytes));
  const int64_t groups =
      num_persistent_blocks(grid.num_rows, 1, shape.num_groups, period / shape.num_passes);
  const int passes = grid.num_rows > groups ? shape.num_passes : 1;
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
      cudaLaunchKernelEx(&config, kernel, op, grid, exchange, shape.group_blocks, passes);
  if (error == cudaErrorCooperativeLaunchTooLarge || error == cudaErrorNotSupported) {
    // The context has fewer multiprocessors than the device, or no cooperative launches.
    (void)cudaGetLastError();
    return 0;
  }
  CUDAOPS_CHECK(error);
  return at_most(grid.num_rows, groups * passes);
}

#endif

}  // namespace detail
}  // namespace cudaops_kernels

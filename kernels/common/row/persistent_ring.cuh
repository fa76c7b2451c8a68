// SPDX-License-Identifier: Apache-2.0
// The persistent loop over rows in shared memory, which the copy engine brings (persistent.cuh).
#pragma once

#include <type_traits>

#include "../bulk_copy.cuh"
#include "persistent_row.cuh"

namespace cudaops_kernels {
namespace detail {

#if !CUDAOPS_HIP

// A row in shared memory, with the same alignment as in memory. kMasked: 0 where the row has
// no elements; else what is there.
template <typename T, bool kMasked>
struct SharedTile {
  const T* row;
  int64_t width;

  template <typename Place>
  __device__ __forceinline__ Numbers<T> at(const Place& place) const {
    Packed packed = load_shared(row + place.column);
    if constexpr (kMasked) {
      if (!place.is_whole()) {
        const Ends ends = ends_of<Place::kSize>(place.column, width);
        packed = masked<T>(packed, ends.begin, ends.end);
      }
    }
    return unpack<T>(packed);
  }

 private:
  static __device__ __forceinline__ Packed load_shared(const T* data) {
    Packed packed = {};
#if CUDAOPS_HAS_HOPPER
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(packed.x), "=r"(packed.y), "=r"(packed.z), "=r"(packed.w)
                 : "r"(shared_address(data)));
#endif
    return packed;
  }
};

// Bytes of a row in shared memory, with its neighbours' parts of its first and last 16 bytes.
inline __host__ __device__ int64_t row_room(int64_t row_bytes, bool whole) {
  return whole ? row_bytes : (row_bytes + 15) / 16 * 16 + 16;
}

// Whether all inputs' rows start where the gradients' do in 16 bytes.
template <typename Op>
bool inputs_have_same_alignment(const Op& op, const Rows& gradients) {
  const auto place = [](const void* data) { return reinterpret_cast<uintptr_t>(data) % 16; };
  for (int i = 0; i < Op::kNumInputs; ++i) {
    const ConstRows input = op.input(i);
    if (place(input.data) != place(gradients.data)) return false;
    if ((input.stride - gradients.stride) % Vector<typename Op::Element>::kSize != 0) return false;
  }
  return true;
}

// Of a row that isn't whole, `bytes` from its aligned start on: how many are copied at once, with
// its neighbours' parts of its first and last 16 bytes. Nothing may be read behind the array: its
// last elements are copied one by one, by the caller's thread, to the row in shared memory.
template <typename T>
__device__ __forceinline__ uint32_t bytes_at_once(const T* row, T* to, int64_t width,
                                                  uint32_t bytes, bool is_last) {
  const uint32_t rest = bytes % 16;
  if (rest != 0 && is_last) {
    const uint32_t misaligned_bytes = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(row) % 16);
    const uint32_t first = (bytes - rest - misaligned_bytes) / sizeof(T);
    for (int64_t k = bytes < 16 ? 0 : first; k < width; ++k) to[k] = row[k];
  }
  return is_last ? bytes - rest : (bytes + 15) / 16 * 16;
}

template <typename Op, int kVectors>
constexpr int kMostStageBytes = 16 *
                                Op::kNumInputs* kVectors* max_ring_threads(Op::kNumSums, kVectors);

// By one thread, a stage ahead: wait_for_numbers().
template <typename Op>
__device__ __forceinline__ void copy_scalars_to_shared(const Op& op, int64_t index,
                                                       Scalars<Op>* to) {
#pragma unroll
  for (int i = 0; i < Op::kNumScalars; ++i) copy_to_shared(&(*to)[i], op.scalars(i) + index);
}

template <typename Op, int kVectors, bool kWhole>
__global__ void __launch_bounds__(max_ring_threads(Op::kNumSums, kVectors))
    ring_rows_kernel(const Op op, const PersistentGrid grid, int num_stages) {
#if CUDAOPS_HAS_HOPPER
  using T = typename Op::Element;
  using OneRow = PersistentRow<T, kVectors, kWhole>;
  using Totals = Floats<Op::kNumTotals>;
  extern __shared__ __align__(128) char ring[];
  __shared__ uint64_t full[kMaxStages];
  __shared__ Scalars<Op> row_scalars[kMaxStages];
  __shared__ Totals scratch[2][32];
  wait_for_kernels_before();
  const auto is_few = [&] { return grid.num_rows <= kMaxRowsBeforeSums; };
  if (is_few()) let_next_kernel_start();
  const int64_t row_bytes = grid.width * int64_t{sizeof(T)};
  const int64_t room = row_room(row_bytes, kWhole);
  const auto slot = [&](int stage, int input) {
    return ring + (stage * Op::kNumInputs + input) * room;
  };
  const auto misaligned_bytes = [](const T* row) {
    return kWhole ? 0 : static_cast<unsigned int>(reinterpret_cast<uintptr_t>(row) % 16);
  };
  // By one thread.
  const auto fetch = [&](int stage, int64_t index) {
    if (index >= grid.num_rows) return;
    uint32_t sizes[Op::kNumInputs];
    uint32_t total_bytes = 0;
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) {
      const T* row = op.input(i).template row<T>(index);
      uint32_t bytes = misaligned_bytes(row) + static_cast<uint32_t>(row_bytes);
      if constexpr (!kWhole) {
        const bool is_last = (grid.num_rows - 1 - index) * op.input(i).stride < Vector<T>::kSize;
        bytes = bytes_at_once(row, reinterpret_cast<T*>(slot(stage, i) + misaligned_bytes(row)),
                              grid.width, bytes, is_last);
      }
      sizes[i] = bytes;
      total_bytes += bytes;
    }
    expect_bytes(&full[stage], total_bytes);
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) {
      const T* row = op.input(i).template row<T>(index);
      const char* from = reinterpret_cast<const char*>(row) - misaligned_bytes(row);
      if (sizes[i] > 0) copy_to_shared(slot(stage, i), from, sizes[i], &full[stage]);
    }
    copy_scalars_to_shared(op, index, &row_scalars[stage]);
  };
  const T* const anchor = grid.anchor.template row<T>(blockIdx.x);
  const auto row_at = [&](int64_t index) {
    return OneRow(index, grid.num_rows, grid.width, anchor, nullptr);
  };
  const auto tiles_at = [&](int stage, int64_t index, auto& tiles) {
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) {
      const T* row = op.input(i).template row<T>(index);
      tiles[i].row = reinterpret_cast<const T*>(slot(stage, i) + misaligned_bytes(row));
      tiles[i].width = grid.width;
    }
  };
  ColumnSums<Op::kNumSums, kVectors, OneRow::kSize> sums = {};
  const auto fixed = op.fixed(row_at(0));
  // A thread's share of a row's totals, added up in its warp.
  const auto begin_row = [&](int stage, uint32_t parity, int64_t index, int buffer) {
    SharedTile<T, !kWhole> tiles[Op::kNumInputs];
    tiles_at(stage, index, tiles);
    wait_for_phase(&full[stage], parity);
    const Totals share = op.totals(row_at(index), tiles, fixed, row_scalars[stage], sums);
    const Totals warps = cudaops::warp_reduce(share, AddFloats<Op::kNumTotals>{}, 32);
    if (threadIdx.x % 32 == 0) scratch[buffer][threadIdx.x / 32] = warps;
  };

  // In the last warp, which has least of the row: all others wait for who is late.
  const bool fetches = threadIdx.x == blockDim.x - 32;
  const bool fetches_late = ring_fetches_late(Op::kNumSums, kWhole) ||
                            (kWhole && kMostStageBytes<Op, kVectors> >= kLargeStage &&
                             Op::kNumInputs * row_bytes >= kLargeStage);
  if (fetches) {
    for (int stage = 0; stage < num_stages; ++stage) init_barrier(&full[stage]);
    fence_barriers();
    // One stage stays free for the first iteration, unless there are only two.
    for (int stage = 0; stage < (num_stages == 2 ? 2 : num_stages - 1); ++stage) {
      fetch(stage, blockIdx.x + int64_t{stage} * gridDim.x);
    }
  }
  // Of one thread only, but asked by all: whether it's the one would take a register.
  wait_for_numbers();
  __syncthreads();
  int64_t index = blockIdx.x;
  int stage = 0, buffer = 0;
  uint32_t parity = 0;
  begin_row(stage, parity, index, buffer);
  while (index < grid.num_rows) {
    // All have added up this row and written the gradient of the one before; the next one's numbers
    // are there.
    wait_for_numbers();
    __syncthreads();
    const auto fetch_into_free = [&] {
      const int free_stage = stage == 0 ? num_stages - 1 : stage - 1;
      fetch(free_stage, index + int64_t{num_stages - 1} * gridDim.x);
    };
    if (fetches && num_stages > 2 && !fetches_late) fetch_into_free();
    const int64_t next = index + gridDim.x;
    const int next_stage = stage + 1 == num_stages ? 0 : stage + 1;
    const uint32_t next_parity = stage + 1 == num_stages ? parity ^ 1 : parity;
    const auto begin_next = [&] {
      if (next < grid.num_rows) begin_row(next_stage, next_parity, next, buffer ^ 1);
    };
    const auto write_gradient = [&] {
      Totals totals = {};
      if (threadIdx.x % 32 < blockDim.x / 32) totals = scratch[buffer][threadIdx.x % 32];
      totals = cudaops::warp_reduce(totals, AddFloats<Op::kNumTotals>{}, 32);
      SharedTile<T, false> tiles[Op::kNumInputs];
      tiles_at(stage, index, tiles);
      op.gradient(row_at(index), tiles, fixed, row_scalars[stage], totals);
    };
    if (num_stages > 2) {
      begin_next();
      if (fetches && fetches_late) fetch_into_free();
      write_gradient();
    } else {
      write_gradient();
      __syncthreads();
      if (fetches) fetch(stage, next + gridDim.x);
      begin_next();
    }
    index = next;
    stage = next_stage;
    parity = next_parity;
    buffer ^= 1;
  }
  if (grid.workspace == nullptr) return;
  if (!is_few()) let_next_kernel_start();
#pragma unroll
  for (int which = 0; which < Op::kNumSums; ++which) {
    sums.store(row_at(0), which, grid.part(which, blockIdx.x, gridDim.x));
  }
#endif
}

// body(vectors), with the vectors a thread of ring_shape() as a constant.
template <typename Op, bool kWhole, typename Body>
auto with_ring_vectors(int vectors, const Body& body) {
  if constexpr (kWhole && Op::kNumSums == 1) {
    if (vectors == 1) return body(std::integral_constant<int, 1>());
  }
  if constexpr (2 * max_ring_threads(Op::kNumSums, 2) < kMaxRingVectors) {
    if (vectors == 4) return body(std::integral_constant<int, 4>());
  }
  return body(std::integral_constant<int, 2>());
}

template <typename Op>
int64_t ring_stage_bytes(int64_t width, bool is_whole) {
  return Op::kNumInputs * row_room(width * int64_t{sizeof(typename Op::Element)}, is_whole);
}
constexpr int64_t kRingOwnBytes = 2048;  // barriers, scratch and what a block costs
// Whether a multiprocessor has room for a block.
inline bool ring_fits(int64_t stage_bytes) {
  return kMinStages * stage_bytes + kRingOwnBytes <=
         device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
}

// The number of blocks; 0 where it can't be done this way. most_blocks_each: of a multiprocessor, 0
// for most_blocks().
template <typename Op, int kVectors, bool kWhole>
int64_t launch_ring_rows(const Op& op, const PersistentGrid& grid, int64_t num_vectors,
                         cudaStream_t stream, int64_t most_blocks_each) {
  static int known[64];
  auto* const kernel = &ring_rows_kernel<Op, kVectors, kWhole>;
  const int64_t stage_bytes = ring_stage_bytes<Op>(grid.width, kWhole);
  if (!is_compiled_for_hopper(kernel, known) || !ring_fits(stage_bytes)) return 0;
  const int num_threads = 32 * warps_for(num_vectors, kVectors);
  if (most_blocks_each == 0) most_blocks_each = most_blocks(num_threads);
  const int64_t all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  int fit_registers = 0;
  CUDAOPS_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &fit_registers, reinterpret_cast<const void*>(kernel), num_threads, 0));
  int64_t blocks_each = at_most(
      at_most(all / (kGoodStages * stage_bytes + kRingOwnBytes), fit_registers), most_blocks_each);
  if (blocks_each == 0) blocks_each = 1;
  const bool has_few_bytes = kWhole && blocks_each == 1 && stage_bytes <= kFewBytes;
  const int64_t stages =
      at_most((all / blocks_each - kRingOwnBytes) / stage_bytes,
              has_few_bytes || ring_fetches_late(Op::kNumSums, kWhole) ? kMaxStages : kGoodStages);
  const int64_t blocks =
      num_persistent_blocks(grid.num_rows, 1, blocks_each * num_multiprocessors(),
                            kWhole ? 1 : alignment_period<typename Op::Element>(grid.anchor));
  const int bytes = static_cast<int>(stages * stage_bytes);
  CUDAOPS_CHECK(cudaops::allow_dynamic_shared_memory(kernel, bytes));
  launch_overlapping_with(kernel, static_cast<unsigned int>(blocks), num_threads, bytes, stream, op,
                          grid, static_cast<int>(stages));
  return blocks;
}

#endif

}  // namespace detail
}  // namespace cudaops_kernels

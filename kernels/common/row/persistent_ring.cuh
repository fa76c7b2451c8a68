// SPDX-License-Identifier: Apache-2.0
// The persistent loop over rows in shared memory, which the copy engine brings (persistent.cuh): by
// blocks, or by clusters of them, of which each block has a slice of the row.
#pragma once

#include "../bulk_copy.cuh"
#include "../cluster.cuh"
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

// Who takes a row: which rows, which columns of them, and how the totals of warps come together.
// A block takes whole rows.
template <typename T, int kVectors, bool kWhole, typename Totals>
struct RingBlock {
  using Row = PersistentRow<T, kVectors, kWhole>;
  static constexpr int kWarps = 32;
  static constexpr int kBuffers = 2;
  Totals (*of_warps)[kWarps];  // a buffer each
  int64_t width;

  __device__ __forceinline__ int64_t first_row() const { return blockIdx.x; }
  __device__ __forceinline__ int64_t num_takers() const { return gridDim.x; }
  __device__ __forceinline__ int64_t first_column() const { return 0; }
  __device__ __forceinline__ int64_t num_columns() const { return width; }
  __device__ __forceinline__ Row row(int64_t index, int64_t num_rows, const T* anchor) const {
    return Row(index, num_rows, width, anchor, nullptr);
  }

  __device__ __forceinline__ static int next_buffer(int buffer) { return buffer ^ 1; }
  // Until all have begun: before the first put().
  __device__ __forceinline__ void begin() const { __syncthreads(); }
  // All totals of a row are put; until all are, and the gradient of the row before is written.
  __device__ __forceinline__ void arrive() const {}
  __device__ __forceinline__ void wait() const { __syncthreads(); }
  // After an arrive() without a wait(), at the end.
  __device__ __forceinline__ void end() const {}

  // What a warp has of a row's totals, the same in all lanes; the whole.
  __device__ __forceinline__ void put(int buffer, const Totals& of_warp) const {
    if (threadIdx.x % 32 == 0) of_warps[buffer][threadIdx.x / 32] = of_warp;
  }
  __device__ __forceinline__ Totals totals(int buffer) const {
    Totals totals = {};
    if (threadIdx.x % 32 < blockDim.x / 32) totals = of_warps[buffer][threadIdx.x % 32];
    return cudaops::warp_reduce(totals, AddFloats<Totals::kSize>{}, 32);
  }
};

#if CUDAOPS_HAS_HOPPER

// The columns that a block of a cluster has; places are counted from the row's start.
template <typename T, int kVectors>
struct SlicedRow : PersistentRow<T, kVectors, true> {
  using Base = PersistentRow<T, kVectors, true>;
  __device__ __forceinline__ SlicedRow(int64_t index, int64_t num_rows, int64_t first_column,
                                       int64_t end_column, const T* anchor)
      : Base(index, num_rows, end_column, anchor, nullptr) {
    this->thread_ += static_cast<int>(first_column / Base::kSize);
  }
};

// A cluster takes whole rows, each of its blocks a slice of them. What a warp has of a row's totals
// it writes into the shared memory of all blocks. A thread arrives at the cluster's barrier before
// it reads the totals of the row whose gradient it writes next, so that it needn't wait for the
// others: they may be writing the totals of the row after the next one meanwhile, to a third
// buffer.
template <typename T, int kVectors, typename Totals>
struct RingCluster {
  using Row = SlicedRow<T, kVectors>;
  static constexpr int kWarps = kMaxRingCluster * kMaxSliceThreads / 32;
  static constexpr int kBuffers = 3;
  Totals (*of_warps)[kWarps];
  int64_t width;

  __device__ __forceinline__ int64_t first_row() const { return blockIdx.x / cluster_size(); }
  __device__ __forceinline__ int64_t num_takers() const { return gridDim.x / cluster_size(); }
  // The last block has what is left.
  __device__ __forceinline__ int slice() const {
    return kVectors * Row::kSize * static_cast<int>(blockDim.x);
  }
  __device__ __forceinline__ int64_t first_column() const {
    return static_cast<int>(cluster_rank()) * slice();
  }
  __device__ __forceinline__ int64_t end_column() const {
    const int64_t end = first_column() + slice();
    return end < width ? end : width;
  }
  __device__ __forceinline__ int64_t num_columns() const { return end_column() - first_column(); }
  __device__ __forceinline__ Row row(int64_t index, int64_t num_rows, const T* anchor) const {
    return Row(index, num_rows, first_column(), end_column(), anchor);
  }

  __device__ __forceinline__ static int next_buffer(int buffer) {
    return buffer + 1 == kBuffers ? 0 : buffer + 1;
  }
  __device__ __forceinline__ void begin() const {
    arrive();
    wait_at_cluster_barrier();
  }
  __device__ __forceinline__ void arrive() const { arrive_at_cluster_barrier(); }
  __device__ __forceinline__ void wait() const {
    wait_at_cluster_barrier();
    __syncthreads();
  }
  __device__ __forceinline__ void end() const { wait_at_cluster_barrier(); }

  __device__ __forceinline__ void put(int buffer, const Totals& of_warp) const {
    const unsigned int lane = threadIdx.x % 32, num_warps = blockDim.x / 32;
    if (lane >= cluster_size()) return;
    Totals* const own = &of_warps[buffer][cluster_rank() * num_warps + threadIdx.x / 32];
#pragma unroll
    for (int i = 0; i < Totals::kSize; ++i) {
      store_in_cluster(&own->element[i], lane, __float_as_uint(of_warp[i]));
    }
  }
  __device__ __forceinline__ Totals totals(int buffer) const {
    Totals totals = {};
    for (unsigned int i = threadIdx.x % 32; i < cluster_size() * blockDim.x / 32; i += 32) {
      totals = totals + of_warps[buffer][i];
    }
    return cudaops::warp_reduce(totals, AddFloats<Totals::kSize>{}, 32);
  }
};

#endif

template <typename Op, int kVectors>
constexpr int kMostStageBytes = 16 *
                                Op::kNumInputs* kVectors* max_ring_threads(Op::kNumSums, kVectors);

template <typename Op, int kVectors, bool kWhole, bool kInClusters = false>
__global__ void __launch_bounds__(kInClusters ? kMaxSliceThreads
                                              : max_ring_threads(Op::kNumSums, kVectors))
    ring_rows_kernel(const Op op, const PersistentGrid grid, int num_stages) {
#if CUDAOPS_HAS_HOPPER
  static_assert(kWhole || !kInClusters, "slices are of whole vectors");
  using T = typename Op::Element;
  using Totals = Floats<Op::kNumTotals>;
  using Taker = std::conditional_t<kInClusters, RingCluster<T, kVectors, Totals>,
                                   RingBlock<T, kVectors, kWhole, Totals>>;
  extern __shared__ __align__(128) char ring[];
  __shared__ uint64_t full[kMaxStages];
  __shared__ float row_scalars[kMaxStages][Op::kNumScalars];
  __shared__ Totals of_warps[Taker::kBuffers][Taker::kWarps];
  wait_for_kernels_before();
  const Taker taker{of_warps, grid.width};
  const int64_t first_column = taker.first_column();
  const int64_t row_bytes = taker.num_columns() * int64_t{sizeof(T)};
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
        // Nothing may be read behind the array: its last elements are copied one by one.
        const bool is_last = (grid.num_rows - 1 - index) * op.input(i).stride < Vector<T>::kSize;
        const uint32_t rest = bytes % 16;
        if (rest != 0 && is_last) {
          const uint32_t first = (bytes - rest - misaligned_bytes(row)) / sizeof(T);
          T* to = reinterpret_cast<T*>(slot(stage, i) + misaligned_bytes(row));
          for (int64_t k = bytes < 16 ? 0 : first; k < grid.width; ++k) to[k] = row[k];
        }
        bytes = is_last ? bytes - rest : (bytes + 15) / 16 * 16;
      }
      sizes[i] = bytes;
      total_bytes += bytes;
    }
    expect_bytes(&full[stage], total_bytes);
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) {
      const T* row = op.input(i).template row<T>(index) + first_column;
      const char* from = reinterpret_cast<const char*>(row) - misaligned_bytes(row);
      if (sizes[i] > 0) copy_to_shared(slot(stage, i), from, sizes[i], &full[stage]);
    }
#pragma unroll
    for (int i = 0; i < Op::kNumScalars; ++i) {
      copy_to_shared(&row_scalars[stage][i], op.scalars(i) + index);
    }
  };
  const T* const anchor = grid.anchor.template row<T>(taker.first_row());
  const auto row_at = [&](int64_t index) { return taker.row(index, grid.num_rows, anchor); };
  const auto tiles_at = [&](int stage, int64_t index, auto& tiles) {
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) {
      const T* row = op.input(i).template row<T>(index);
      // Where the row would begin if all of it were there.
      tiles[i].row =
          reinterpret_cast<const T*>(slot(stage, i) + misaligned_bytes(row)) - first_column;
      tiles[i].width = grid.width;
    }
  };
  const auto scalars_at = [&](int stage) {
    Scalars<Op> scalars;
#pragma unroll
    for (int i = 0; i < Op::kNumScalars; ++i) scalars[i] = row_scalars[stage][i];
    return scalars;
  };
  ColumnSums<Op::kNumSums, kVectors, Vector<T>::kSize> sums = {};
  const auto fixed = op.fixed(row_at(0));
  // A thread's share of a row's totals, added up in its warp.
  const auto begin_row = [&](int stage, uint32_t parity, int64_t index, int buffer) {
    SharedTile<T, !kWhole> tiles[Op::kNumInputs];
    tiles_at(stage, index, tiles);
    wait_for_phase(&full[stage], parity);
    const Totals share = op.totals(row_at(index), tiles, fixed, scalars_at(stage), sums);
    taker.put(buffer, cudaops::warp_reduce(share, AddFloats<Op::kNumTotals>{}, 32));
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
      fetch(stage, taker.first_row() + int64_t{stage} * taker.num_takers());
    }
  }
  // Of one thread only, but asked by all: whether it's the one would take a register.
  wait_for_numbers();
  taker.begin();
  int64_t index = taker.first_row();
  int stage = 0, buffer = 0;
  uint32_t parity = 0;
  begin_row(stage, parity, index, buffer);
  taker.arrive();
  while (index < grid.num_rows) {
    // All have added up this row and written the gradient of the one before; the next one's numbers
    // are there.
    wait_for_numbers();
    taker.wait();
    const auto fetch_into_free = [&] {
      const int free_stage = stage == 0 ? num_stages - 1 : stage - 1;
      fetch(free_stage, index + int64_t{num_stages - 1} * taker.num_takers());
    };
    if (fetches && num_stages > 2 && !fetches_late) fetch_into_free();
    const int64_t next = index + taker.num_takers();
    const int next_stage = stage + 1 == num_stages ? 0 : stage + 1;
    const uint32_t next_parity = stage + 1 == num_stages ? parity ^ 1 : parity;
    const auto begin_next = [&] {
      if (next < grid.num_rows)
        begin_row(next_stage, next_parity, next, Taker::next_buffer(buffer));
      taker.arrive();
    };
    const auto write_gradient = [&] {
      const Totals totals = taker.totals(buffer);
      SharedTile<T, false> tiles[Op::kNumInputs];
      tiles_at(stage, index, tiles);
      op.gradient(row_at(index), tiles, fixed, scalars_at(stage), totals);
    };
    if (num_stages > 2) {
      begin_next();
      if (fetches && fetches_late) fetch_into_free();
      write_gradient();
    } else {
      write_gradient();
      __syncthreads();
      if (fetches) fetch(stage, next + taker.num_takers());
      begin_next();
    }
    index = next;
    stage = next_stage;
    parity = next_parity;
    buffer = Taker::next_buffer(buffer);
  }
  taker.end();
  if (grid.workspace == nullptr) return;
  let_next_kernel_start();
#pragma unroll
  for (int which = 0; which < Op::kNumSums; ++which) {
    sums.store(row_at(0), which, grid.part(which, taker.first_row(), taker.num_takers()));
  }
#endif
}

// The number of blocks; 0 where it can't be done this way.
template <typename Op, int kVectors, bool kWhole>
int64_t launch_ring_rows(const Op& op, const PersistentGrid& grid, int64_t num_vectors,
                         cudaStream_t stream) {
  static int known[64];
  auto* const kernel = &ring_rows_kernel<Op, kVectors, kWhole>;
  if (!is_compiled_for_hopper(kernel, known)) return 0;
  const int num_threads = 32 * warps_for(num_vectors, kVectors);
  const int64_t stage_bytes =
      Op::kNumInputs * row_room(grid.width * int64_t{sizeof(typename Op::Element)}, kWhole);
  const int64_t own_bytes = 2048;  // barriers, scratch and what a block costs
  const int64_t all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  int fit_registers = 0;
  CUDAOPS_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &fit_registers, reinterpret_cast<const void*>(kernel), num_threads, 0));
  int64_t blocks_each =
      at_most(at_most(all / (kGoodStages * stage_bytes + own_bytes), fit_registers),
              most_blocks(num_threads));
  if (blocks_each == 0 && kMinStages * stage_bytes + own_bytes > all) return 0;
  if (blocks_each == 0) blocks_each = 1;
  const int64_t stages =
      at_most((all / blocks_each - own_bytes) / stage_bytes,
              ring_fetches_late(Op::kNumSums, kWhole) ? kMaxStages : kGoodStages);
  const int64_t blocks =
      num_persistent_blocks(grid.num_rows, 1, blocks_each * num_multiprocessors(),
                            kWhole ? 1 : alignment_period<typename Op::Element>(grid.anchor));
  const int bytes = static_cast<int>(stages * stage_bytes);
  CUDAOPS_CHECK(cudaops::allow_dynamic_shared_memory(kernel, bytes));
  launch_overlapping_with(kernel, static_cast<unsigned int>(blocks), num_threads, bytes, stream, op,
                          grid, static_cast<int>(stages));
  return blocks;
}

// The number of clusters; 0 where it can't be done this way.
template <typename Op>
int64_t launch_cluster_ring_rows(const Op& op, const PersistentGrid& grid, int64_t num_vectors,
                                 cudaStream_t stream) {
  static int known[64];
  const auto kernel = &ring_rows_kernel<Op, kSliceVectors, true, true>;
  const int size = ring_cluster_size(num_vectors);
  if (size == 0 || !is_compiled_for_hopper(kernel, known)) return 0;
  const int num_threads = slice_threads(num_vectors, size);
  const int64_t stage_bytes =
      int64_t{Op::kNumInputs} * kSliceVectors * num_threads * sizeof(Packed);
  const int64_t own_bytes =  // as launch_ring_rows(); totals of all warps of three rows
      2048 + 3 * int64_t{sizeof(Floats<Op::kNumTotals>)} * kMaxRingCluster * kMaxSliceThreads / 32;
  const int64_t all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  const int64_t blocks_each = all / (kGoodStages * stage_bytes + own_bytes);
  const int64_t stages =
      at_most((all / (blocks_each > 0 ? blocks_each : 1) - own_bytes) / stage_bytes, kGoodStages);
  if (stages < kMinStages) return 0;
  const int bytes = static_cast<int>(stages * stage_bytes);
  CUDAOPS_CHECK(cudaops::allow_dynamic_shared_memory(kernel, bytes));
  // More than all GPUs with clusters can run: this one says below whether it can.
  if (size > kMaxClusterSize) {
    CUDAOPS_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
  OverlappingCluster attributes(static_cast<unsigned int>(size));
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned int>(size));
  config.blockDim = dim3(static_cast<unsigned int>(num_threads));
  config.dynamicSmemBytes = static_cast<size_t>(bytes);
  config.stream = stream;
  config.attrs = attributes.of;
  config.numAttrs = 1;  // for the question
  int fit = 0;
  const cudaError_t error = cudaOccupancyMaxActiveClusters(&fit, kernel, &config);
  if (size > kMaxClusterSize && error == cudaErrorInvalidClusterSize) {
    (void)cudaGetLastError();
    return 0;
  }
  CUDAOPS_CHECK(error);
  const int64_t most = at_most(fit, most_ring_clusters(num_vectors, size));
  if (most == 0) return 0;
  const int64_t clusters = num_persistent_blocks(grid.num_rows, 1, most, 1);
  config.gridDim = dim3(static_cast<unsigned int>(clusters * size));
  config.numAttrs = attributes.number;
  CUDAOPS_CHECK(cudaLaunchKernelEx(&config, kernel, op, grid, static_cast<int>(stages)));
  return clusters;
}

#endif

}  // namespace detail
}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// The engine of backward passes that give, beside a gradient for each row, sums over all rows (the
// gradient of a weight). One pass: blocks take rows in turns and keep the sums of their columns in
// registers; a small second kernel adds up what the blocks have. Which block takes which row
// depends on the device's size alone, so results are the same bits from run to run.
//
//   struct Op {
//     using Element = T;
//     static constexpr int kNumSums = 1;    // sums a column
//     static constexpr int kNumTotals = 1;  // sums a row
//     static constexpr int kNumInputs = 2;  // rows that are read
//     struct Scalars {…};                   // what is read once a row
//     template <typename Row> struct Fixed {…};  // of a thread's columns, the same for all rows
//     Fixed<Row> fixed(const Row& row) const;
//     ConstRows input(int i) const;
//     Scalars scalars(int64_t index) const;
//     // A thread's share of the row's totals; tiles[i].at(place) are the numbers of input i, and
//     // sums.add(which, place, numbers) adds to the columns' sums.
//     Floats<kNumTotals> totals(const Row& row, tiles, fixed, scalars, Sums& sums) const;
//     // With the whole totals: writes the row's gradient.
//     void gradient(const Row& row, tiles, fixed, scalars, totals) const;
//     void add_to_sums(int64_t index, int64_t column, float* sums) const;  // for long rows
//   };
//
// Three ways to read:
//   ring      sm_90: the copy engine brings rows into shared memory some turns ahead, and the
//   totals
//             of the next row are taken before the gradient of this one is written, so that no
//             thread waits for another's sum
//   prefetch  the next row is loaded into registers while this one is worked on: short rows, and
//             GPUs without a copy engine
//   long      rows beyond that are read twice: for their gradient, for the sums
#pragma once

#include "bulk_copy.cuh"
#include "row.cuh"

namespace cudaops_kernels {

struct SweepGrid {
  int64_t num_rows;
  int64_t width;
  Rows anchor;       // the rows' gradients
  float* workspace;  // null: no sums wanted
};

namespace detail {

constexpr int kMaxPrefetch =
    2;  // vectors a thread; with more the next row does not fit in registers
constexpr int kMaxRingVectors = 2048;  // a row
constexpr int kTallRows = 256;         // rows a block of the long way sums

// Sums of a thread's columns over the rows that its block takes.
template <int kNumSums, int kVectors, int kSize>
struct ColumnSums {
  Floats<kSize> sums[kNumSums][kVectors];

  template <typename Place>
  __device__ __forceinline__ void add(int which, const Place& place, const Floats<kSize>& numbers) {
#pragma unroll
    for (int k = 0; k < kSize; ++k) sums[which][place.slot][k] += numbers[k];
  }

  // To this block's part of the workspace: [which][block][column].
  template <typename Row>
  __device__ __forceinline__ void store(const Row& row, float* workspace) const {
    row.each([&](const auto& place) {
#pragma unroll
      for (int which = 0; which < kNumSums; ++which) {
        const Floats<kSize>& numbers = sums[which][place.slot];
        float* part =
            workspace + (which * int64_t{gridDim.x} + blockIdx.x) * row.width() + place.column;
        if (place.is_whole() && is_aligned_to_16(part)) {
#pragma unroll
          for (int k = 0; k < kSize; k += 4) {
            *reinterpret_cast<float4*>(part + k) =
                make_float4(numbers[k], numbers[k + 1], numbers[k + 2], numbers[k + 3]);
          }
        } else {
#pragma unroll
          for (int k = 0; k < kSize; ++k) {
            if (place.holds(k)) part[k] = numbers[k];
          }
        }
      }
    });
  }
};

struct NoSums {
  template <typename Place, typename Numbers>
  __device__ __forceinline__ void add(int, const Place&, const Numbers&) {}
};

inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  CUDAOPS_CHECK(cudaGetDevice(&device));
  CUDAOPS_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

inline int warps_for(int64_t num_vectors, int per_thread) {
  const int64_t warps = (num_vectors + 32 * per_thread - 1) / (32 * per_thread);
  return warps == 0 ? 1 : static_cast<int>(warps);
}

template <int kCount>
struct AddFloats {
  __device__ __forceinline__ Floats<kCount> operator()(const Floats<kCount>& a,
                                                       const Floats<kCount>& b) const {
    return a + b;
  }
};

// Blocks of a multiprocessor: more threads than this don't make it faster.
inline int64_t most_blocks(int num_threads) { return num_threads < 1024 ? 1024 / num_threads : 1; }

inline int64_t at_most(int64_t value, int64_t limit) { return value < limit ? value : limit; }

template <typename Op, typename Row>
__device__ __forceinline__ void load_tiles(const Op& op, const Row& row,
                                           typename Row::Tile (&tiles)[Op::kNumInputs]) {
#pragma unroll
  for (int i = 0; i < Op::kNumInputs; ++i) tiles[i] = row.load(op.input(i));
}

// ---------------------------------------------------------------------------------------------------
// Prefetch

template <typename Op, int kVectors, bool kWhole>
__global__ void __launch_bounds__(kMaxRowThreads) sweep_kernel(const Op op, const SweepGrid grid) {
  using T = typename Op::Element;
  using OneRow = Row<T, kVectors, kWhole>;
  __shared__ RowScratch scratch;
  ColumnSums<Op::kNumSums, kVectors, OneRow::kSize> sums = {};
  const auto row_at = [&](int64_t index) {
    // Vectors lie at the same columns in each row, so that a thread keeps its columns.
    return OneRow(index, grid.num_rows, grid.width, nullptr, &scratch);
  };
  const auto scalars_of = [&](int64_t index) {
    return op.scalars(index < grid.num_rows ? index : grid.num_rows - 1);
  };
  int64_t index = blockIdx.x;
  OneRow row = row_at(index);
  typename OneRow::Tile tiles[Op::kNumInputs], next_tiles[Op::kNumInputs];
  load_tiles(op, row, tiles);
  const auto fixed = op.fixed(row);
  auto scalars = scalars_of(index);
  while (index < grid.num_rows) {
    index += gridDim.x;
    OneRow next_row = row_at(index);
    load_tiles(op, next_row, next_tiles);
    const auto next_scalars = scalars_of(index);
    const Floats<Op::kNumTotals> share = op.totals(row, tiles, fixed, scalars, sums);
    op.gradient(row, tiles, fixed, scalars, row.sum(share));
    next_row.follow(row);
    row = next_row;
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) tiles[i] = next_tiles[i];
    scalars = next_scalars;
  }
  if (grid.workspace != nullptr) sums.store(row_at(0), grid.workspace);
}

template <typename Op, int kVectors, bool kWhole>
int64_t sweep_with_prefetch(const Op& op, const SweepGrid& grid, int64_t num_vectors,
                            cudaStream_t stream) {
  auto* const kernel = &sweep_kernel<Op, kVectors, kWhole>;
  const int num_threads = 32 * warps_for(num_vectors, kVectors);
  int blocks_each = 0;
  CUDAOPS_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks_each, reinterpret_cast<const void*>(kernel), num_threads, 0));
  const int64_t blocks = at_most(grid.num_rows, device_attribute(cudaDevAttrMultiProcessorCount) *
                                                    at_most(blocks_each, most_blocks(num_threads)));
  kernel<<<static_cast<unsigned int>(blocks), num_threads, 0, stream>>>(op, grid);
  CUDAOPS_CHECK_LAUNCH();
  return blocks;
}

// ---------------------------------------------------------------------------------------------------
// Ring

// Three rows: one that is worked on, the next one, and one on its way. Where only two fit, the next
// one is on its way and waited for.
constexpr int kMinStages = 2;
constexpr int kGoodStages = 3;
constexpr int kMaxStages = 8;

#if !CUDAOPS_HIP

// A row in shared memory, at any alignment.
template <typename T, bool kWhole>
struct SharedTile {
  const T* row;

  template <typename Place>
  __device__ __forceinline__ Numbers<T> at(const Place& place) const {
    if constexpr (kWhole) {
      return unpack<T>(load_shared(row + place.column));
    } else {
      const T* data = row + place.column;
      const unsigned int offset = static_cast<unsigned int>(reinterpret_cast<uintptr_t>(data) % 16);
      const T* aligned = data - offset / sizeof(T);
      Packed packed = load_shared(aligned);
      if (offset != 0) packed = across<T>(packed, load_shared(aligned + Vector<T>::kSize), offset);
      return unpack<T>(place.is_whole() ? packed : masked<T>(packed, place.begin, place.end));
    }
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

// What a row takes in shared memory: with what stands around it in its first and last 16 bytes, and
// a vector on either side that may be read (and is not used).
inline __host__ __device__ int64_t row_room(int64_t row_bytes, bool whole) {
  return whole ? row_bytes : (row_bytes + 15) / 16 * 16 + 48;
}

// What the registers allow: 64 of them do for one sum a column of whole vectors.
template <typename Op, bool kWhole>
constexpr int most_ring_threads() {
  return kWhole && Op::kNumSums == 1 ? 2 * kMaxRowThreads : kMaxRowThreads;
}

template <typename Op, int kVectors, bool kWhole>
__global__ void __launch_bounds__(most_ring_threads<Op, kWhole>())
    sweep_ring_kernel(const Op op, const SweepGrid grid, int num_stages) {
#if CUDAOPS_HAS_HOPPER
  using T = typename Op::Element;
  using OneRow = Row<T, kVectors, kWhole>;
  using Tile = SharedTile<T, kWhole>;
  using Totals = Floats<Op::kNumTotals>;
  extern __shared__ __align__(128) char ring[];
  __shared__ uint64_t full[kMaxStages];
  __shared__ Totals scratch[2][32];
  const int64_t row_bytes = grid.width * int64_t{sizeof(T)};
  const int64_t room = row_room(row_bytes, kWhole);
  const auto slot = [&](int stage, int input) {
    return ring + (stage * Op::kNumInputs + input) * room + (kWhole ? 0 : 16);
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
      const T* row = op.input(i).template row<T>(index);
      const char* from = reinterpret_cast<const char*>(row) - misaligned_bytes(row);
      if (sizes[i] > 0) copy_to_shared(slot(stage, i), from, sizes[i], &full[stage]);
    }
  };
  const auto row_at = [&](int64_t index) {
    // Vectors lie at the same columns in each row, so that a thread keeps its columns.
    return OneRow(index, grid.num_rows, grid.width, nullptr, nullptr);
  };
  const auto tiles_at = [&](int stage, int64_t index, Tile(&tiles)[Op::kNumInputs]) {
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) {
      const T* row = op.input(i).template row<T>(index);
      tiles[i].row = reinterpret_cast<const T*>(slot(stage, i) + misaligned_bytes(row));
    }
  };
  ColumnSums<Op::kNumSums, kVectors, OneRow::kSize> sums = {};
  const auto fixed = op.fixed(row_at(0));
  // A thread's share of a row's totals, added up in its warp.
  const auto begin_row = [&](int stage, uint32_t parity, int64_t index,
                             const typename Op::Scalars& scalars, int buffer) {
    Tile tiles[Op::kNumInputs];
    tiles_at(stage, index, tiles);
    wait_for_phase(&full[stage], parity);
    const Totals share = op.totals(row_at(index), tiles, fixed, scalars, sums);
    const Totals warps = cudaops::warp_reduce(share, AddFloats<Op::kNumTotals>{}, 32);
    if (threadIdx.x % 32 == 0) scratch[buffer][threadIdx.x / 32] = warps;
  };

  if (threadIdx.x == 0) {
    for (int stage = 0; stage < num_stages; ++stage) init_barrier(&full[stage]);
    fence_barriers();
    // One stage stays free for the first turn, unless there are only two.
    for (int stage = 0; stage < (num_stages == 2 ? 2 : num_stages - 1); ++stage) {
      fetch(stage, blockIdx.x + int64_t{stage} * gridDim.x);
    }
  }
  __syncthreads();
  int64_t index = blockIdx.x;
  int stage = 0, buffer = 0;
  uint32_t parity = 0;
  typename Op::Scalars scalars = op.scalars(index);
  begin_row(stage, parity, index, scalars, buffer);
  while (index < grid.num_rows) {
    // All have added up this row and written the gradient of the one before.
    __syncthreads();
    if (threadIdx.x == 0 && num_stages > 2) {
      const int free_stage = stage == 0 ? num_stages - 1 : stage - 1;
      fetch(free_stage, index + int64_t{num_stages - 1} * gridDim.x);
    }
    const int64_t next = index + gridDim.x;
    const int next_stage = stage + 1 == num_stages ? 0 : stage + 1;
    const uint32_t next_parity = stage + 1 == num_stages ? parity ^ 1 : parity;
    typename Op::Scalars next_scalars = scalars;
    const auto begin_next = [&] {
      if (next >= grid.num_rows) return;
      next_scalars = op.scalars(next);
      begin_row(next_stage, next_parity, next, next_scalars, buffer ^ 1);
    };
    const auto write_gradient = [&] {
      Totals totals = {};
      if (threadIdx.x % 32 < blockDim.x / 32) totals = scratch[buffer][threadIdx.x % 32];
      totals = cudaops::warp_reduce(totals, AddFloats<Op::kNumTotals>{}, 32);
      Tile tiles[Op::kNumInputs];
      tiles_at(stage, index, tiles);
      op.gradient(row_at(index), tiles, fixed, scalars, totals);
    };
    if (num_stages > 2) {
      begin_next();
      write_gradient();
    } else {
      write_gradient();
      __syncthreads();
      if (threadIdx.x == 0) fetch(stage, next + gridDim.x);
      begin_next();
    }
    index = next;
    stage = next_stage;
    parity = next_parity;
    scalars = next_scalars;
    buffer ^= 1;
  }
  if (grid.workspace != nullptr) sums.store(row_at(0), grid.workspace);
#endif
}

// The number of blocks; 0 where it can't be done this way.
template <typename Op, int kVectors, bool kWhole>
int64_t sweep_with_ring(const Op& op, const SweepGrid& grid, int64_t num_vectors,
                        cudaStream_t stream) {
  static signed char known[64];
  auto* const kernel = &sweep_ring_kernel<Op, kVectors, kWhole>;
  if (!is_compiled_for_hopper(kernel, known)) return 0;
  const int num_threads = 32 * warps_for(num_vectors, kVectors);
  const int64_t stage_bytes =
      Op::kNumInputs * row_room(grid.width * int64_t{sizeof(typename Op::Element)}, kWhole);
  const int64_t own_bytes = 2048;  // barriers, scratch and what a block costs
  const int64_t all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  int64_t blocks_each =
      at_most(all / (kGoodStages * stage_bytes + own_bytes), most_blocks(num_threads));
  if (blocks_each == 0 && kMinStages * stage_bytes + own_bytes > all) return 0;
  if (blocks_each == 0) blocks_each = 1;
  const int64_t stages = at_most((all / blocks_each - own_bytes) / stage_bytes, kMaxStages);
  const int64_t blocks =
      at_most(grid.num_rows, blocks_each * device_attribute(cudaDevAttrMultiProcessorCount));
  const int bytes = static_cast<int>(stages * stage_bytes);
  CUDAOPS_CHECK(cudaops::allow_dynamic_shared_memory(kernel, bytes));
  kernel<<<static_cast<unsigned int>(blocks), num_threads, bytes, stream>>>(
      op, grid, static_cast<int>(stages));
  CUDAOPS_CHECK_LAUNCH();
  return blocks;
}

#endif

// ---------------------------------------------------------------------------------------------------
// Long rows

template <typename Op>
struct RowsOfSweep {
  using Element = typename Op::Element;
  static constexpr int kNumTiles = 3;  // columns that are kept count too
  static constexpr bool kReadsColumns = true;
  Op op;
  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    NoSums none;
    typename Row::Tile tiles[Op::kNumInputs];
    load_tiles(op, row, tiles);
    const auto fixed = op.fixed(row);
    const auto scalars = op.scalars(row.index());
    const Floats<Op::kNumTotals> share = op.totals(row, tiles, fixed, scalars, none);
    op.gradient(row, tiles, fixed, scalars, row.sum(share));
  }
};

// A thread a column, kTallRows rows a block.
template <typename Op>
__global__ void __launch_bounds__(256) sum_columns_kernel(const Op op, const SweepGrid grid) {
  const int64_t column = int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (column >= grid.width) return;
  const int64_t first = int64_t{blockIdx.y} * kTallRows;
  const int64_t last = first + kTallRows < grid.num_rows ? first + kTallRows : grid.num_rows;
  float sums[Op::kNumSums] = {};
#pragma unroll 4
  for (int64_t index = first; index < last; ++index) op.add_to_sums(index, column, sums);
#pragma unroll
  for (int which = 0; which < Op::kNumSums; ++which) {
    grid.workspace[(which * int64_t{gridDim.y} + blockIdx.y) * grid.width + column] = sums[which];
  }
}

template <typename Op>
int64_t sweep_long_rows(const Op& op, const SweepGrid& grid, bool aligned, cudaStream_t stream) {
  launch_long_rows(RowsOfSweep<Op>{op}, RowGrid{grid.num_rows, grid.width, grid.anchor}, aligned,
                   stream);
  if (grid.workspace == nullptr) return 0;
  const unsigned int parts = num_blocks(grid.num_rows, kTallRows);
  sum_columns_kernel<<<dim3(num_blocks(grid.width, 256), parts), 256, 0, stream>>>(op, grid);
  CUDAOPS_CHECK_LAUNCH();
  return parts;
}

// ---------------------------------------------------------------------------------------------------
// Adding up the parts: 32 columns a block, kFinishRows rows of threads.

constexpr int kFinishRows = 16;

template <typename T>
__global__ void __launch_bounds__(32 * kFinishRows)
    finish_sums_kernel(const float* parts, int64_t num_parts, int64_t width, T* out) {
  __shared__ float partial[kFinishRows][33];
  const int64_t column = int64_t{blockIdx.x} * 32 + threadIdx.x;
  float sum = 0;
  if (column < width) {
    // Eight loads on their way: there are few parts, and each waits for memory.
    float sums[8] = {};
    int64_t part = threadIdx.y;
    for (; part + 7 * kFinishRows < num_parts; part += 8 * kFinishRows) {
#pragma unroll
      for (int i = 0; i < 8; ++i) sums[i] += parts[(part + i * kFinishRows) * width + column];
    }
    for (; part < num_parts; part += kFinishRows) sum += parts[part * width + column];
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += sums[i];
  }
  partial[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= width) return;
#pragma unroll
  for (int i = 1; i < kFinishRows; ++i) sum += partial[i][threadIdx.x];
  out[column] = from_float<T>(sum);
}

struct FinishSums {
  template <typename T>
  static void run(const float* parts, int64_t num_parts, int64_t width, void* out,
                  cudaStream_t stream) {
    finish_sums_kernel<T><<<num_blocks(width, 32), dim3(32, kFinishRows), 0, stream>>>(
        parts, num_parts, width, static_cast<T*>(out));
    CUDAOPS_CHECK_LAUNCH();
  }
};

// The number of blocks; -1 where rows are too long for both ways.
template <typename Op, bool kWhole>
int64_t sweep(const Op& op, const SweepGrid& grid, int64_t num_vectors, cudaStream_t stream) {
#if !CUDAOPS_HIP
  // Shorter rows are not worth a barrier each.
  if (num_vectors > 128 && num_vectors <= kMaxRingVectors) {
    int64_t blocks = 0;
    if constexpr (kWhole) {
      if (num_vectors <= 2 * most_ring_threads<Op, true>()) {
        blocks = sweep_with_ring<Op, 2, true>(op, grid, num_vectors, stream);
      }
    }
    if constexpr (!kWhole || most_ring_threads<Op, true>() == kMaxRowThreads) {
      if (blocks == 0) blocks = sweep_with_ring<Op, 4, kWhole>(op, grid, num_vectors, stream);
    }
    if (blocks > 0) return blocks;
  }
#endif
  if (num_vectors > kMaxPrefetch * kMaxRowThreads) return -1;
  return sweep_with_prefetch<Op, kMaxPrefetch, kWhole>(op, grid, num_vectors, stream);
}

}  // namespace detail

// Room for the parts of whichever way is taken.
inline int64_t sweep_workspace_bytes(int64_t num_rows, int64_t width, DType dtype, int num_sums) {
  const int64_t elements = 16 / size_of(dtype);
  const int64_t num_vectors = (width + elements - 1) / elements;
  int64_t parts = (num_rows + detail::kTallRows - 1) / detail::kTallRows;
  if (num_vectors <= detail::kMaxRingVectors) {
    const int64_t blocks =
        detail::at_most(num_rows, detail::device_attribute(cudaDevAttrMultiProcessorCount) *
                                      detail::most_blocks(32 * detail::warps_for(num_vectors, 4)));
    if (blocks > parts) parts = blocks;
  }
  return parts * width * num_sums * int64_t{sizeof(float)};
}

// sums[i]: where the i-th sum of each column goes, of sums_dtype; may be null. `aligned`:
// rows_are_aligned() of everything that op touches.
template <typename Op>
void sweep_rows(const Op& op, SweepGrid grid, void* const (&sums)[Op::kNumSums], DType sums_dtype,
                bool aligned, cudaStream_t stream) {
  constexpr int64_t kSize = Vector<typename Op::Element>::kSize;
  bool wanted = false;
  for (void* const sum : sums) wanted = wanted || sum != nullptr;
  if (!wanted) grid.workspace = nullptr;
  const int64_t num_vectors = (grid.width + kSize - 1) / kSize;
  const bool whole = aligned && grid.width % kSize == 0;
  int64_t parts = 0;
  if (grid.num_rows > 0) {
    parts = whole ? detail::sweep<Op, true>(op, grid, num_vectors, stream)
                  : detail::sweep<Op, false>(op, grid, num_vectors, stream);
    if (parts < 0) parts = detail::sweep_long_rows(op, grid, aligned, stream);
  }
  for (int which = 0; which < Op::kNumSums; ++which) {
    if (sums[which] == nullptr || grid.width == 0) continue;
    for_device_type<detail::FinishSums>(sums_dtype, grid.workspace + which * parts * grid.width,
                                        parts, grid.width, sums[which], stream);
  }
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// The engine of backward passes that give, beside a gradient for each row, sums over all rows (the
// gradient of a weight). One pass: blocks take rows in turns and keep the sums of their columns in
// registers; a small second kernel adds up what the blocks have. Which block takes which row
// depends on the device's size alone, so results are the same bits from run to run.
//
//   struct Op {
//     using Element = T;
//     static constexpr int kNumSums = 1;    // sums a column
//     static constexpr int kNumInputs = 2;  // rows that are read
//     struct Scalars {…};                   // what is read once a row
//     ConstRows input(int i) const;
//     Scalars scalars(int64_t index) const;
//     // tiles[i].at(place) are the numbers of input i; sums.add(which, place, numbers).
//     template <typename Row, typename Tiles, typename Sums>
//     void operator()(Row& row, const Tiles& tiles, const Scalars& scalars, Sums& sums) const;
//     void add_to_sums(int64_t index, int64_t column, float* sums) const;  // for long rows
//   };
//
// Three ways to read:
//   prefetch  the next row is loaded into registers while this one is worked on
//   ring      sm_90, rows of 1024 to 2048 vectors at multiples of 16 bytes: two rows are too much
//             for the registers; the copy engine brings the next into shared memory
//   long      rows beyond that (over 2048 vectors) are read twice: for their gradient, for the sums
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

constexpr int kMaxSweepVectors = 4;  // a thread; with more the next row does not fit in registers
constexpr int kTallRows = 256;       // rows a block of the long way sums

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
        float* part = workspace + (which * int64_t{gridDim.x} + blockIdx.x) * row.width();
#pragma unroll
        for (int k = 0; k < kSize; ++k) {
          if (place.holds(k)) part[place.column + k] = sums[which][place.slot][k];
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
  __shared__ float scratch[2 * 32];
  ColumnSums<Op::kNumSums, kVectors, OneRow::kSize> sums = {};
  const auto row_at = [&](int64_t index) {
    // Vectors lie at the same columns in each row, so that a thread keeps its columns.
    return OneRow(index, grid.num_rows, grid.width, nullptr, scratch);
  };
  const auto scalars_of = [&](int64_t index) {
    return op.scalars(index < grid.num_rows ? index : grid.num_rows - 1);
  };
  int64_t index = blockIdx.x;
  OneRow row = row_at(index);
  typename OneRow::Tile tiles[Op::kNumInputs], next_tiles[Op::kNumInputs];
  load_tiles(op, row, tiles);
  auto scalars = scalars_of(index);
  while (index < grid.num_rows) {
    index += gridDim.x;
    OneRow next_row = row_at(index);
    load_tiles(op, next_row, next_tiles);
    const auto next_scalars = scalars_of(index);
    op(row, tiles, scalars, sums);
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

constexpr int kMaxStages = 8;

#if !CUDAOPS_HIP

// A row in shared memory.
template <typename T>
struct SharedTile {
  const T* row;
  template <typename Place>
  __device__ __forceinline__ Numbers<T> at(const Place& place) const {
    Packed packed = {};
#if CUDAOPS_HAS_BULK_COPY
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(packed.x), "=r"(packed.y), "=r"(packed.z), "=r"(packed.w)
                 : "r"(shared_address(row + place.column)));
#endif
    return unpack<T>(packed);
  }
};

template <typename Op, int kVectors>
__global__ void __launch_bounds__(kMaxRowThreads)
    sweep_ring_kernel(const Op op, const SweepGrid grid, int num_stages) {
#if CUDAOPS_HAS_BULK_COPY
  using T = typename Op::Element;
  using OneRow = Row<T, kVectors, true>;
  extern __shared__ __align__(128) char ring[];
  __shared__ uint64_t full[kMaxStages];
  __shared__ float scratch[2 * 32];
  const uint32_t row_bytes = static_cast<uint32_t>(grid.width * sizeof(T));
  const auto place_of = [&](int stage, int input) {
    return ring + static_cast<size_t>(stage * Op::kNumInputs + input) * row_bytes;
  };
  const auto fetch = [&](int stage, int64_t index) {
    if (threadIdx.x != 0 || index >= grid.num_rows) return;
    expect_bytes(&full[stage], Op::kNumInputs * row_bytes);
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) {
      copy_to_shared(place_of(stage, i), op.input(i).template row<T>(index), row_bytes,
                     &full[stage]);
    }
  };
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < num_stages; ++stage) init_barrier(&full[stage]);
    fence_barriers();
  }
  __syncthreads();
  for (int stage = 0; stage < num_stages; ++stage) {
    fetch(stage, blockIdx.x + int64_t{stage} * gridDim.x);
  }
  ColumnSums<Op::kNumSums, kVectors, OneRow::kSize> sums = {};
  OneRow last(0, grid.num_rows, grid.width, nullptr, scratch);
  int stage = 0;
  uint32_t parity = 0;
  for (int64_t index = blockIdx.x; index < grid.num_rows; index += gridDim.x) {
    OneRow row(index, grid.num_rows, grid.width, nullptr, scratch);
    row.follow(last);
    const auto scalars = op.scalars(index);
    SharedTile<T> tiles[Op::kNumInputs];
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) {
      tiles[i].row = reinterpret_cast<const T*>(place_of(stage, i));
    }
    wait_for_phase(&full[stage], parity);
    op(row, tiles, scalars, sums);
    last = row;
    __syncthreads();  // all have read the row
    fetch(stage, index + int64_t{num_stages} * gridDim.x);
    if (++stage == num_stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  if (grid.workspace != nullptr) sums.store(last, grid.workspace);
#endif
}

// 0 blocks where it can't be done this way.
template <typename Op, int kVectors>
int64_t sweep_with_ring(const Op& op, const SweepGrid& grid, int64_t num_vectors,
                        cudaStream_t stream) {
  static signed char known[64];
  auto* const kernel = &sweep_ring_kernel<Op, kVectors>;
  if (!has_bulk_copy(kernel, known)) return 0;
  const int64_t stage_bytes = Op::kNumInputs * grid.width * int64_t{sizeof(typename Op::Element)};
  const int64_t own_bytes = 2048;  // barriers, scratch and what a block costs
  const int64_t most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - own_bytes;
  const int64_t stages = at_most(most / stage_bytes, kMaxStages);
  if (stages < 2) return 0;
  const int64_t blocks = at_most(grid.num_rows, device_attribute(cudaDevAttrMultiProcessorCount));
  const int bytes = static_cast<int>(stages * stage_bytes);
  CUDAOPS_CHECK(cudaops::allow_dynamic_shared_memory(kernel, bytes));
  kernel<<<static_cast<unsigned int>(blocks), 32 * warps_for(num_vectors, kVectors), bytes,
           stream>>>(op, grid, static_cast<int>(stages));
  CUDAOPS_CHECK_LAUNCH();
  return blocks;
}

#endif

// ---------------------------------------------------------------------------------------------------
// Long rows

template <typename Op>
struct RowsOfSweep {
  using Element = typename Op::Element;
  Op op;
  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    NoSums none;
    typename Row::Tile tiles[Op::kNumInputs];
    load_tiles(op, row, tiles);
    op(row, tiles, op.scalars(row.index()), none);
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
// Adding up the parts: 32 columns a block, 8 rows of threads.

template <typename T>
__global__ void __launch_bounds__(256)
    finish_sums_kernel(const float* parts, int64_t num_parts, int64_t width, T* out) {
  __shared__ float partial[8][33];
  const int64_t column = int64_t{blockIdx.x} * 32 + threadIdx.x;
  float sum = 0;
  if (column < width) {
#pragma unroll 4
    for (int64_t part = threadIdx.y; part < num_parts; part += 8) {
      sum += parts[part * width + column];
    }
  }
  partial[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= width) return;
#pragma unroll
  for (int i = 1; i < 8; ++i) sum += partial[i][threadIdx.x];
  out[column] = from_float<T>(sum);
}

struct FinishSums {
  template <typename T>
  static void run(const float* parts, int64_t num_parts, int64_t width, void* out,
                  cudaStream_t stream) {
    finish_sums_kernel<T><<<num_blocks(width, 32), dim3(32, 8), 0, stream>>>(
        parts, num_parts, width, static_cast<T*>(out));
    CUDAOPS_CHECK_LAUNCH();
  }
};

}  // namespace detail

// Room for the parts of whichever way is taken.
inline int64_t sweep_workspace_bytes(int64_t num_rows, int64_t width, DType dtype, int num_sums) {
  const int64_t elements = 16 / size_of(dtype);
  const int64_t num_vectors = (width + elements - 1) / elements;
  int64_t parts = (num_rows + detail::kTallRows - 1) / detail::kTallRows;
  if (num_vectors <= detail::kMaxSweepVectors * detail::kMaxRowThreads) {
    const int per_thread = num_vectors <= 2 * detail::kMaxRowThreads ? 2 : 4;
    parts = detail::at_most(
        num_rows, detail::device_attribute(cudaDevAttrMultiProcessorCount) *
                      detail::most_blocks(32 * detail::warps_for(num_vectors, per_thread)));
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
  if (grid.num_rows > 0 && num_vectors > detail::kMaxSweepVectors * detail::kMaxRowThreads) {
    parts = detail::sweep_long_rows(op, grid, aligned, stream);
  } else if (grid.num_rows > 0) {
    if (num_vectors <= 2 * detail::kMaxRowThreads) {
      parts = whole ? detail::sweep_with_prefetch<Op, 2, true>(op, grid, num_vectors, stream)
                    : detail::sweep_with_prefetch<Op, 2, false>(op, grid, num_vectors, stream);
    } else {
#if !CUDAOPS_HIP
      if (whole) parts = detail::sweep_with_ring<Op, 4>(op, grid, num_vectors, stream);
#endif
      if (parts == 0) {
        parts = whole ? detail::sweep_with_prefetch<Op, 4, true>(op, grid, num_vectors, stream)
                      : detail::sweep_with_prefetch<Op, 4, false>(op, grid, num_vectors, stream);
      }
    }
  }
  for (int which = 0; which < Op::kNumSums; ++which) {
    if (sums[which] == nullptr || grid.width == 0) continue;
    for_device_type<detail::FinishSums>(sums_dtype, grid.workspace + which * parts * grid.width,
                                        parts, grid.width, sums[which], stream);
  }
}

}  // namespace cudaops_kernels

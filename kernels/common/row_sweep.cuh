// SPDX-License-Identifier: Apache-2.0
// The engine of backward passes that give, beside a gradient for each row, sums over all rows (the
// gradient of a weight). One pass: blocks take rows in turns, keep the sums of their columns in
// registers and load the next row while they work on this one; then a small second kernel adds up
// what the blocks have. Which block takes which row depends on the device's size alone, so results
// are the same bits from run to run.
//
//   struct Op {
//     using Element = T;
//     static constexpr int kNumSums = 1;          // sums a column
//     template <typename Row> struct Tiles {...};  // what is loaded of a row
//     Tiles<Row> load(const Row& row) const;       // loads only
//     void finish(Row& row, const Tiles<Row>& tiles, Sums& sums) const;  // sums.add(which, place,
//     …)
//   };
//
// Rows too long for the registers of a block (over 2048 vectors) are read twice: for the rows'
// gradient, and for the sums.
#pragma once

#include "row.cuh"

namespace cudaops_kernels {

struct SweepGrid {
  int64_t num_rows;
  int64_t width;
  Rows anchor;
  float* workspace;
};

namespace detail {

constexpr int kMaxSweepVectors = 4;  // a thread; with more the next row does not fit in registers
constexpr int kTallRows = 256;       // rows a block of the second way sums

// Sums of a thread's columns over the rows that its block takes.
template <int kNumSums, int kVectors, int kSize>
struct ColumnSums {
  Floats<kSize> sums[kNumSums][kVectors];

  template <typename Place>
  __device__ __forceinline__ void add(int which, const Place& place, const Floats<kSize>& numbers) {
#pragma unroll
    for (int k = 0; k < kSize; ++k) sums[which][place.slot][k] += numbers[k];
  }
};

struct NoSums {
  template <typename Place, typename Numbers>
  __device__ __forceinline__ void add(int, const Place&, const Numbers&) {}
};

inline int num_multiprocessors() {
  int device = 0, count = 0;
  CUDAOPS_CHECK(cudaGetDevice(&device));
  CUDAOPS_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

struct SweepShape {
  int num_vectors;  // a thread; 0: rows are too long
  int num_threads;
  int64_t num_blocks;  // so many parts have the sums
};

inline SweepShape sweep_shape(int64_t num_rows, int64_t width, int64_t elements_per_vector) {
  const int64_t num_vectors = (width + elements_per_vector - 1) / elements_per_vector;
  if (num_vectors > kMaxSweepVectors * kMaxRowThreads) {
    return {0, 0, (num_rows + kTallRows - 1) / kTallRows};
  }
  const int per_thread = num_vectors <= 2 * kMaxRowThreads ? 2 : 4;
  const int64_t num_warps = (num_vectors + 32 * per_thread - 1) / (32 * per_thread);
  const int num_threads = num_warps == 0 ? 32 : static_cast<int>(num_warps) * 32;
  const int64_t blocks = int64_t{num_multiprocessors()} *
                         (num_threads < kMaxRowThreads ? kMaxRowThreads / num_threads : 1);
  return {per_thread, num_threads, num_rows < blocks ? num_rows : blocks};
}

template <typename Op, int kVectors, bool kWhole>
__global__ void __launch_bounds__(kMaxRowThreads) sweep_kernel(const Op op, const SweepGrid grid) {
  using T = typename Op::Element;
  using OneRow = Row<T, kVectors, kWhole>;
  __shared__ float scratch[2 * 32];
  ColumnSums<Op::kNumSums, kVectors, OneRow::kSize> sums = {};
  const auto row_at = [&](int64_t index) {
    // Vectors lie at the same columns in each row, so that a thread keeps its columns.
    return OneRow(index, index < grid.num_rows, grid.width, nullptr, scratch);
  };
  int64_t index = blockIdx.x;
  OneRow row = row_at(index);
  auto tiles = op.load(row);
  while (index < grid.num_rows) {
    const int64_t next = index + gridDim.x;
    OneRow next_row = row_at(next);
    const auto next_tiles = op.load(next_row);
    op.finish(row, tiles, sums);
    next_row.follow(row);
    row = next_row;
    tiles = next_tiles;
    index = next;
  }
  if (grid.workspace == nullptr) return;
  row_at(0).each([&](const auto& place) {
#pragma unroll
    for (int which = 0; which < Op::kNumSums; ++which) {
      float* part = grid.workspace + (which * int64_t{gridDim.x} + blockIdx.x) * grid.width;
#pragma unroll
      for (int k = 0; k < OneRow::kSize; ++k) {
        if (place.holds(k)) part[place.column + k] = sums.sums[which][place.slot][k];
      }
    }
  });
}

// The second way, part one: the rows' gradients.
template <typename Op>
struct RowsOfSweep {
  using Element = typename Op::Element;
  Op op;
  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    NoSums none;
    op.finish(row, op.load(row), none);
  }
};

// Part two: a thread a column, kTallRows rows a block.
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

// Adds up the parts: 32 columns a block, 8 rows of threads.
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

template <typename Op, bool kWhole>
void sweep_rows(const Op& op, const SweepGrid& grid, const SweepShape& shape, cudaStream_t stream) {
  const unsigned int blocks = static_cast<unsigned int>(shape.num_blocks);
  if (shape.num_vectors == 2) {
    sweep_kernel<Op, 2, kWhole><<<blocks, shape.num_threads, 0, stream>>>(op, grid);
  } else {
    sweep_kernel<Op, 4, kWhole><<<blocks, shape.num_threads, 0, stream>>>(op, grid);
  }
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace detail

inline int64_t sweep_workspace_bytes(int64_t num_rows, int64_t width, DType dtype, int num_sums) {
  const auto shape = detail::sweep_shape(num_rows, width, 16 / size_of(dtype));
  return shape.num_blocks * width * num_sums * int64_t{sizeof(float)};
}

// sums[i]: where the i-th sum of each column goes, of sums_dtype; may be null.
template <typename Op>
void sweep_rows(const Op& op, SweepGrid grid, void* const (&sums)[Op::kNumSums], DType sums_dtype,
                bool aligned, cudaStream_t stream) {
  using T = typename Op::Element;
  constexpr int64_t kSize = Vector<T>::kSize;
  bool wanted = false;
  for (void* const sum : sums) wanted = wanted || sum != nullptr;
  if (!wanted) grid.workspace = nullptr;
  const detail::SweepShape shape = detail::sweep_shape(grid.num_rows, grid.width, kSize);
  if (grid.num_rows > 0 && shape.num_vectors == 0) {
    launch_long_rows(detail::RowsOfSweep<Op>{op}, RowGrid{grid.num_rows, grid.width, grid.anchor},
                     aligned, stream);
    if (wanted) {
      const dim3 blocks(num_blocks(grid.width, 256), static_cast<unsigned int>(shape.num_blocks));
      detail::sum_columns_kernel<<<blocks, 256, 0, stream>>>(op, grid);
      CUDAOPS_CHECK_LAUNCH();
    }
  } else if (grid.num_rows > 0) {
    if (aligned && grid.width % kSize == 0) {
      detail::sweep_rows<Op, true>(op, grid, shape, stream);
    } else {
      detail::sweep_rows<Op, false>(op, grid, shape, stream);
    }
  }
  for (int which = 0; which < Op::kNumSums; ++which) {
    if (sums[which] == nullptr || grid.width == 0) continue;
    for_device_type<detail::FinishSums>(sums_dtype,
                                        grid.workspace + which * shape.num_blocks * grid.width,
                                        shape.num_blocks, grid.width, sums[which], stream);
  }
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// Few rows of whole vectors with their sums in one launch (sm_90; persistent.cuh), by the blocks of
// one cluster. Rows belong to a block each; then each block adds up the sums of some columns, which
// the others write to its shared memory. Or the rows are divided: each block has a part of all of
// them, and the sums of its columns. Either way a row's totals are added up in the order of the
// loop that many rows have, so that its gradient has the same bits in any number of rows.
#pragma once

#include "../cluster.cuh"
#include "persistent_prefetch.cuh"
#include "persistent_ring.cuh"
#include "persistent_sliced.cuh"

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
    if (dtype == DType::kFloat32) {
      store_numbers(static_cast<float*>(sums[which]) + column, numbers);
    } else {
      store_numbers(static_cast<T*>(sums[which]) + column, numbers);
    }
  }

 private:
  template <typename U, int kSize>
  static __device__ __forceinline__ void store_numbers(U* to, const Floats<kSize>& numbers) {
    constexpr int kEach = Vector<U>::kSize;
    if (kSize % kEach == 0 && is_aligned_to_16(to)) {
#pragma unroll
      for (int first = 0; first + kEach <= kSize; first += kEach) {
        Numbers<U> part;
#pragma unroll
        for (int k = 0; k < kEach; ++k) part[k] = numbers[first + k];
        store_aligned(to + first, pack<U>(part));
      }
      return;
    }
#pragma unroll
    for (int k = 0; k < kSize; ++k) to[k] = from_float<U>(numbers[k]);
  }
};

// Columns that a block adds up, four at a time.
CUDAOPS_HOST_DEVICE inline int few_rows_share(int width, int num_blocks) {
  return (width / 4 + num_blocks - 1) / num_blocks * 4;
}

// The order of the loop that many rows have: a warp adds up what its threads have, a unit what its
// warps have, and the totals of units are added up last. A unit is a warp of the ring or of the
// loop that prefetches, a block of the sliced loop.
struct FewRowShape {
  int vectors;  // a thread; 0: no such loop
  int num_units;
  int unit_warps;
  int unit_vectors;  // from a unit's first vector to the next one's
  int step;          // from a thread's vector to its next one
  int units_each;    // of a block
};

template <typename Op>
FewRowShape few_row_shape(int64_t width, int64_t num_vectors) {
  if (num_vectors <= kMaxWarpVectors) {
    const int lanes = prefetch_lanes(num_vectors, kMaxPrefetch);
    return {kMaxPrefetch, (lanes + 31) / 32, 1, 32, lanes, 0};
  }
  if (num_vectors <= kMaxRingVectors) {
    if (!ring_fits(ring_stage_bytes<Op>(width, true))) return {};
    const int vectors = ring_shape(Op::kNumSums, Op::kNumInputs, true, num_vectors).vectors;
    const int warps = warps_for(num_vectors, vectors);
    return {vectors, warps, 1, 32, 32 * warps, 0};
  }
  const SlicedShape shape = shape_of_slices(num_vectors, Op::kNumInputs, 1);
  if (shape.num_groups == 0) return {};
  const int threads = shape.num_threads;
  return {kSliceVectors, shape.group_blocks, threads / 32, kSliceVectors * threads, threads, 0};
}

#if CUDAOPS_HAS_HOPPER

// The block's part of a row: from the thread's first vector on, `step` to its next one.
template <typename T, int kVectors>
class FewRow
    : public RowBase<FewRow<T, kVectors>, RowTraits<kVectors, true>, T, RegisterTile<T, kVectors>> {
  using Base = RowBase<FewRow, RowTraits<kVectors, true>, T, RegisterTile<T, kVectors>>;

 public:
  using typename Base::Numbers;
  using typename Base::Place;
  using typename Base::Tile;
  __device__ __forceinline__ FewRow(int64_t index, const PersistentGrid& grid, int first_vector,
                                    int step)
      : Base(index, grid.num_rows, grid.width, nullptr, nullptr), step_(step) {
    this->thread_ = first_vector;
  }

  __device__ __forceinline__ int num_threads() const { return step_; }

  template <int kCount>
  __device__ __forceinline__ void load_tiles(Tile (&tiles)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      this->each([&](const Place& place) {
        tiles[i].set(place.slot, load_ordered(tiles[i].row + place.column));
      });
    }
  }

  __device__ __forceinline__ void store(const Rows& rows, const Place& place,
                                        const Numbers& numbers) const {
    store_aligned(rows.template row<T>(this->index()) + place.column, pack<T>(numbers));
  }

 private:
  int step_;
};

#endif

template <typename Op, int kVectors>
__global__ void __launch_bounds__(max_few_row_threads(kVectors))
    few_gradient_rows_kernel(const Op op, const PersistentGrid grid,
                             const FinalSums<Op::kNumSums> finals, const FewRowShape shape,
                             bool is_divided) {
#if CUDAOPS_HAS_HOPPER
  using T = typename Op::Element;
  using OneRow = FewRow<T, kVectors>;
  using Tile = typename OneRow::Tile;
  using Totals = Floats<Op::kNumTotals>;
  constexpr AddFloats<Op::kNumTotals> kAdd;
  // Double-buffered: a row's are written when all have read those of the row before the last one.
  __shared__ Totals of_warps[2][max_few_row_threads(kVectors) / 32];
  __shared__ Totals of_units[2][kMaxGroupBlocks];
  extern __shared__ float4 of_blocks[];  // [which][block][column / 4]
  arrive_at_cluster_barrier();
  wait_for_kernels_before();
  let_next_kernel_start();
  const int size = static_cast<int>(cluster_size()), rank = static_cast<int>(cluster_rank());
  const int row_step = is_divided ? 1 : size;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int unit = (is_divided ? rank * shape.units_each : 0) + warp / shape.unit_warps;
  const int unit_warp = warp % shape.unit_warps, thread = 32 * unit_warp + lane;
  const bool has_vectors = unit < shape.num_units && thread < shape.step;
  const int first_vector = has_vectors ? unit * shape.unit_vectors + thread : INT_MAX / 2;
  const auto row_at = [&](int64_t index) { return OneRow(index, grid, first_vector, shape.step); };
  const auto load_tiles = [&](const OneRow& row, Tile(&tiles)[Op::kNumInputs]) {
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) tiles[i] = row.load_ahead(op.input(i));
  };
  bool others_run = false;
  int buffer = 0;
  const auto total = [&](const Totals& share) {
    Totals sum = cudaops::warp_reduce(share, kAdd, 32);
    if (shape.unit_warps > 1) {
      if (lane == 0) of_warps[buffer][warp] = sum;
      __syncthreads();
      sum = {};
      if (lane < shape.unit_warps) sum = of_warps[buffer][warp - unit_warp + lane];
      sum = cudaops::warp_reduce(sum, kAdd, 32);
    }
    const bool has_sum = unit_warp == 0 && unit < shape.num_units;
    if (is_divided) {
      if (!others_run) wait_at_cluster_barrier();
      others_run = true;
      if (has_sum && lane < size) {
#pragma unroll
        for (int i = 0; i < Op::kNumTotals; ++i) {
          store_in_cluster(&of_units[buffer][unit][i], lane, __float_as_uint(sum[i]));
        }
      }
      arrive_at_cluster_barrier();
      wait_at_cluster_barrier();
    } else {
      if (has_sum && lane == 0) of_units[buffer][unit] = sum;
      __syncthreads();
    }
    sum = {};
    for (int other = lane; other < shape.num_units; other += 32) {
      sum = sum + of_units[buffer][other];
    }
    buffer ^= 1;
    return cudaops::warp_reduce(sum, kAdd, 32);
  };
  ColumnSums<Op::kNumSums, kVectors, OneRow::kSize> sums = {};
  const OneRow first_row = row_at(is_divided ? 0 : rank);
  OneRow row = first_row;
  Tile tiles[Op::kNumInputs], next_tiles[Op::kNumInputs];
  load_tiles(row, tiles);
  const auto fixed = op.fixed(row);
  while (row.exists()) {
    const OneRow next_row = row_at(row.index() + row_step);
    load_tiles(next_row, next_tiles);
    const auto scalars = load_scalars(op, row.index());
    const Totals totals = total(op.totals(row, tiles, fixed, scalars, sums));
    op.gradient(row, tiles, fixed, scalars, totals);
    row = next_row;
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) tiles[i] = next_tiles[i];
  }
  if (is_divided) {
    first_row.each([&](const auto& place) {
#pragma unroll
      for (int which = 0; which < Op::kNumSums; ++which) {
        finals.template store<T>(which, place.column, sums.sums[which][place.slot]);
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
        const Floats<OneRow::kSize>& numbers = sums.sums[which][place.slot];
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

template <typename Op, int kVectors>
bool launch_few_gradient_rows(const Op& op, const PersistentGrid& grid,
                              const FinalSums<Op::kNumSums>& finals, FewRowShape shape,
                              bool is_divided, cudaStream_t stream) {
  static int known[64];
  const auto kernel = &few_gradient_rows_kernel<Op, kVectors>;
  if (!is_compiled_for_hopper(kernel, known)) return false;
  int size = grid.num_rows == 1 ? 1 : kMaxClusterSize;
  shape.units_each = shape.num_units;
  if (is_divided) {
    shape.units_each = (shape.num_units + kMaxClusterSize - 1) / kMaxClusterSize;
    size = (shape.num_units + shape.units_each - 1) / shape.units_each;
  }
  const int num_threads = 32 * shape.units_each * shape.unit_warps;
  if (num_threads > max_few_row_threads(kVectors)) return false;
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
  config.blockDim = dim3(static_cast<unsigned int>(num_threads));
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = attributes.of;
  config.numAttrs = attributes.number;
  CUDAOPS_CHECK(cudaLaunchKernelEx(&config, kernel, op, grid, finals, shape, is_divided));
  return true;
}

// False where it can't be done this way. Rows are whole, and one of the sums is wanted.
template <typename Op>
bool launch_few_gradient_rows(const Op& op, const PersistentGrid& grid,
                              void* const (&sums)[Op::kNumSums], DType sums_dtype,
                              int64_t num_vectors, cudaStream_t stream) {
  const FewRows way = few_rows_way(grid.num_rows, num_vectors, Op::kNumSums);
  if (way == FewRows::kNone) return false;
  const FewRowShape shape = few_row_shape<Op>(grid.width, num_vectors);
  if (shape.vectors == 0) return false;
  FinalSums<Op::kNumSums> finals{{}, sums_dtype};
  for (int which = 0; which < Op::kNumSums; ++which) finals.sums[which] = sums[which];
  return with_ring_vectors<Op, true>(shape.vectors, [&](auto vectors) {
    return launch_few_gradient_rows<Op, decltype(vectors)::value>(op, grid, finals, shape,
                                                                  way == FewRows::kDivided, stream);
  });
}

#endif

}  // namespace detail
}  // namespace cudaops_kernels

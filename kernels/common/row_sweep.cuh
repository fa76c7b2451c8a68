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
//     static constexpr int kNumOutputs = 1;  // SweepGrid's
//     static constexpr int kNumScalars = 1;  // numbers that are read once a row
//     template <typename Row> struct Fixed {…};  // of a thread's columns, the same for all rows
//     Fixed<Row> fixed(const Row& row) const;
//     ConstRows input(int i) const;  // on the host too
//     Rows output(int i) const;
//     const float* scalars(int i) const;  // one a row
//     // A thread's share of the row's totals; tiles[i].at(place) are the numbers of input i, asked
//     // for once, and sums.add(which, place, numbers) adds to the columns' sums.
//     Floats<kNumTotals> totals(const Row& row, tiles, fixed, scalars, Sums& sums) const;
//     // With the whole totals: writes the row's gradient, to the rows that SweepGrid has.
//     void gradient(const Row& row, tiles, fixed, scalars, totals) const;
//   };
//
// Four ways to read:
//   spans     short rows that stand one behind the other at any width (row_span.cuh): each warp
//             takes spans in turns; while it waits for one, others work on theirs
//   ring      sm_90: the copy engine brings rows, and the numbers that are read once a row, into
//             shared memory a turn or two ahead, and the totals of the next row are taken before
//             the gradient of this one is written, so that no thread waits for another's sum
//   prefetch  the next row is loaded into registers while this one is worked on: short rows, of
//             which a block has several at once, and GPUs without a copy engine
//   long      rows beyond that are read twice: for their gradient, for the sums
//
// Alignment: vectors lie where the gradient's rows have their multiples of 16 bytes. Where that is
// elsewhere from row to row, it comes again after a few rows (eight, if 16-bit rows are of odd
// width), and a block takes such rows only: so its threads keep their columns, and stores are whole
// but for a row's ends. Inputs that lie differently are not read through the ring, but put together
// from two aligned loads.
#pragma once

#include "bulk_copy.cuh"
#include "column_sums.cuh"
#include "row.cuh"

namespace cudaops_kernels {

struct SweepGrid {
  int64_t num_rows;
  int64_t width;
  Rows anchor;       // the rows' gradients
  float* workspace;  // null: no sums wanted

  // What a block has of a sum: [which][part][column].
  __device__ __forceinline__ float* part(int which, int64_t part, int64_t num_parts) const {
    return workspace + (which * num_parts + part) * width;
  }
};

namespace detail {

constexpr int kMaxPrefetch =
    2;  // vectors a thread; with more the next row does not fit in registers
constexpr int kMaxRingVectors = 2048;  // a row
constexpr int kTallRows = 256;         // rows a block of the long way sums
constexpr int kTallGroups = 8;         // at once

// Sums of a thread's columns over the rows that its block takes.
template <int kNumSums, int kVectors, int kSize>
struct ColumnSums {
  Floats<kSize> sums[kNumSums][kVectors];

  template <typename Place>
  __device__ __forceinline__ void add(int which, const Place& place, const Floats<kSize>& numbers) {
#pragma unroll
    for (int k = 0; k < kSize; ++k) sums[which][place.slot][k] += numbers[k];
  }

  // Column by column, `to` is the first's.
  template <typename Row>
  __device__ __forceinline__ void store(const Row& row, int which, float* to) const {
    row.each([&](const auto& place) {
      const Floats<kSize>& numbers = sums[which][place.slot];
      float* const part = to + place.column;
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
    });
  }
};

struct NoSums {
  template <typename Place, typename Numbers>
  __device__ __forceinline__ void add(int, const Place&, const Numbers&) {}
};

// Adds up what the groups of threads of a block have, in pairs and always the same ones.
// `of_groups` is shared memory: `width` floats a group.
template <typename Sums, typename Row>
__device__ __forceinline__ void store_sums_of_groups(const Sums& sums, const Row& row, int which,
                                                     int width, float* of_groups, float* part) {
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  const int num_threads = static_cast<int>(blockDim.x * blockDim.y);
  __syncthreads();  // others may read what they had before
  sums.store(row, which, of_groups + threadIdx.y * width);
  for (int half = static_cast<int>(blockDim.y) / 2; half > 0; half /= 2) {
    __syncthreads();
    for (int i = thread; i < half * width; i += num_threads) {
      of_groups[i] += of_groups[i + half * width];
    }
  }
  __syncthreads();
  for (int i = thread; i < width; i += num_threads) part[i] = of_groups[i];
}

template <typename Op>
using Scalars = Floats<Op::kNumScalars>;

template <typename Op>
__device__ __forceinline__ Scalars<Op> load_scalars(const Op& op, int64_t index) {
  Scalars<Op> scalars;
#pragma unroll
  for (int i = 0; i < Op::kNumScalars; ++i) scalars[i] = op.scalars(i)[index];
  return scalars;
}

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

// Threads of a multiprocessor, with so many vectors of a row each.
inline int64_t ring_threads(int64_t num_vectors, int per_thread) {
  const int threads = 32 * warps_for(num_vectors, per_thread);
  return threads * most_blocks(threads);
}

inline int64_t at_most(int64_t value, int64_t limit) { return value < limit ? value : limit; }

// After how many rows the next one starts at the same place in a vector.
template <typename T>
int64_t alignment_period(const Rows& rows) {
  int64_t period = 1;
  while (rows.stride * period % Vector<T>::kSize != 0) period *= 2;
  return period;
}

// Blocks that take `rows_each` rows at once, at most `limit` of them unless there is no other way
// to have the rows of a block's next turn start where its first ones do. As few as take no more
// turns than with `limit`: else a few blocks would have the last turn to themselves.
inline int64_t num_sweep_blocks(int64_t num_rows, int64_t rows_each, int64_t limit,
                                int64_t period) {
  const int64_t wanted = (num_rows + rows_each - 1) / rows_each;
  if (wanted <= limit) return wanted;  // one turn
  const int64_t multiple = period > rows_each ? period / rows_each : 1;
  const int64_t most = limit < multiple ? multiple : limit - limit % multiple;
  const int64_t turns = (wanted + most - 1) / most;
  const int64_t even = (wanted + turns - 1) / turns;
  return at_most(wanted, (even + multiple - 1) / multiple * multiple);
}

// Which elements of a row's first or last vector the row has. Calculated where it is used: the
// compiler would do it before the loop and keep it in registers, which the other vectors need.
struct Ends {
  int begin, end;
};
template <int kSize>
__device__ __forceinline__ Ends ends_of(int64_t vector_column, int64_t width) {
  int column = static_cast<int>(vector_column);
#if CUDAOPS_HIP
  asm volatile("" : "+v"(column));
#else
  asm volatile("" : "+r"(column));
#endif
  const int left = static_cast<int>(width) - column;
  return {column < 0 ? -column : 0, left < kSize ? left : kSize};
}

// The row of a sweep: its vectors lie where those of the block's other rows do.
template <typename T, int kVectors, bool kWhole>
struct SweepRow : Row<T, kVectors, kWhole> {
  using Base = Row<T, kVectors, kWhole>;
  using Base::Base;
  using typename Base::Numbers;
  using typename Base::Place;

  // To the rows that vectors are laid at.
  __device__ __forceinline__ void store(const Rows& rows, const Place& place,
                                        const Numbers& numbers) const {
    T* const data = rows.template row<T>(this->index()) + place.column;
    const Packed packed = pack<T>(numbers);
    if (place.is_whole()) {
      store_aligned(data, packed);
    } else {
      store_words(data, packed, ends_of<Base::kSize>(place.column, this->width()));
    }
  }

 private:
  // In words as far as they are whole: each store is a request of its own.
  static __device__ __forceinline__ void store_words(T* data, const Packed& packed,
                                                     const Ends& ends) {
    const uint32_t words[4] = {packed.x, packed.y, packed.z, packed.w};
    constexpr int kEach = 4 / sizeof(T);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int first = i * kEach, last = first + kEach - 1;
      const bool has_first = first >= ends.begin && first < ends.end;
      const bool has_last = last >= ends.begin && last < ends.end;
      if (has_first && has_last) reinterpret_cast<uint32_t*>(data)[i] = words[i];
      if (has_first != has_last) {
        data[has_first ? first : last] = element_of<T>(has_first ? words[i] : words[i] >> 16);
      }
    }
  }
};

// ---------------------------------------------------------------------------------------------------
// Spans

template <int kNumSums>
struct SpanSums : ColumnSums<kNumSums, 1, kSpanElements> {
  template <typename Row>
  __device__ __forceinline__ void store(const Row& row, int which, float* to) const {
    row.each([&](const auto& place) {
#pragma unroll
      for (int k = 0; k < kSpanElements; ++k) {
        if (place.holds(k)) to[place.column_at(k)] = this->sums[which][0][k];
      }
    });
  }
};

template <typename Op, int kLanes>
__global__ void __launch_bounds__(kSpanThreads)
    sweep_spans_kernel(const Op op, const SweepGrid grid) {
  using T = typename Op::Element;
  // Rows that are none must not count in sums of columns.
  using OneRow = SpanRow<T, kLanes, Op::kNumInputs, Op::kNumOutputs, true>;
  extern __shared__ Packed span_stage[];
  const int width = static_cast<int>(grid.width), warp = span_warp<kLanes>();
  Packed* const stage = span_stage + warp * kNumSpanArrays<Op> * width;
  const OneRow any_row(op, Span<T>(stage, 0, kSpanRows<T>, width));  // that exists
  const auto fixed = op.fixed(any_row);
  SpanSums<Op::kNumSums> sums = {};
  const int64_t step = int64_t{gridDim.x} * (kSpanWarps * kSpanRows<T>);
  int64_t first = (int64_t{blockIdx.x} * kSpanWarps + warp) * kSpanRows<T>;
  for (; first < grid.num_rows; first += step) {
    const Span<T> span(stage, first, grid.num_rows, width);
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) span.load(i, op.input(i));
    // On their way with the rows: each lane has one row's.
    const int64_t own = first + cudaops::lane_id() % kSpanRows<T>;
    const Scalars<Op> all_scalars = load_scalars(op, own < grid.num_rows ? own : first);
    span.wait();
    OneRow row(op, span);
#pragma unroll 1
    for (int turn = 0; turn < OneRow::kTurns; ++turn) {
      const int place = turn * OneRow::kAtOnce + OneRow::own_place();
      const auto scalars = cudaops::shfl(all_scalars, place, 32);
      typename OneRow::Tile tiles[Op::kNumInputs];
#pragma unroll
      for (int k = 0; k < Op::kNumInputs; ++k) tiles[k] = row.load(op.input(k));
      const auto share = op.totals(row, tiles, fixed, scalars, sums);
      op.gradient(row, tiles, fixed, scalars, row.sum(share));
      row.advance();
    }
    cudaops::sync_warp();
    span.store(0, grid.anchor);
    cudaops::sync_warp();
  }
  if (grid.workspace == nullptr) return;
  let_next_kernel_start();
#pragma unroll
  for (int which = 0; which < Op::kNumSums; ++which) {
    store_sums_of_groups(sums, any_row, which, width, reinterpret_cast<float*>(span_stage),
                         grid.part(which, blockIdx.x, gridDim.x));
  }
}

template <typename Op, int kLanes>
int64_t sweep_spans(const Op& op, const SweepGrid& grid, cudaStream_t stream) {
  auto* const kernel = &sweep_spans_kernel<Op, kLanes>;
  const int bytes = span_bytes<Op>(grid.width);
  int blocks_each = 0;
  CUDAOPS_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks_each, reinterpret_cast<const void*>(kernel), kSpanThreads, bytes));
  const int64_t blocks =
      num_sweep_blocks(grid.num_rows, kSpanWarps * kSpanRows<typename Op::Element>,
                       blocks_each * int64_t{device_attribute(cudaDevAttrMultiProcessorCount)}, 1);
  kernel<<<static_cast<unsigned int>(blocks), dim3(kLanes, kSpanThreads / kLanes), bytes, stream>>>(
      op, grid);
  CUDAOPS_CHECK_LAUNCH();
  return blocks;
}

// ---------------------------------------------------------------------------------------------------
// Prefetch

template <typename Op, int kVectors, bool kWhole>
__global__ void __launch_bounds__(kMaxRowThreads) sweep_kernel(const Op op, const SweepGrid grid) {
  using T = typename Op::Element;
  using OneRow = SweepRow<T, kVectors, kWhole>;
  __shared__ RowScratch scratch;
  extern __shared__ float of_groups[];
  ColumnSums<Op::kNumSums, kVectors, OneRow::kSize> sums = {};
  // In rows: where this block's turns begin, how far apart they are.
  int64_t turn = int64_t{blockIdx.x} * blockDim.y;
  const int64_t step = int64_t{gridDim.x} * blockDim.y;
  const T* const anchor = grid.anchor.template row<T>(turn + threadIdx.y);
  const auto row_at = [&](int64_t index) {
    return OneRow(index, grid.num_rows, grid.width, anchor, &scratch);
  };
  const auto scalars_of = [&](int64_t index) {
    return load_scalars(op, index < grid.num_rows ? index : grid.num_rows - 1);
  };
  using Tile = typename OneRow::Tile;
  const auto load_tiles = [&](const OneRow& row, Tile(&tiles)[Op::kNumInputs]) {
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) tiles[i] = row.load_ahead(op.input(i));
  };
  OneRow row = row_at(turn + threadIdx.y);
  Tile tiles[Op::kNumInputs], next_tiles[Op::kNumInputs];
  load_tiles(row, tiles);
  const auto fixed = op.fixed(row);
  auto scalars = scalars_of(row.index());
  // All threads take all turns: the last rows of a block may be none.
  for (; turn < grid.num_rows; turn += step) {
    OneRow next_row = row_at(row.index() + step);
    load_tiles(next_row, next_tiles);
    const auto next_scalars = scalars_of(next_row.index());
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) row.finish(tiles[i]);
    const Floats<Op::kNumTotals> share = op.totals(row, tiles, fixed, scalars, sums);
    op.gradient(row, tiles, fixed, scalars, row.sum(share));
    next_row.follow(row);
    row = next_row;
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) tiles[i] = next_tiles[i];
    scalars = next_scalars;
  }
  if (grid.workspace == nullptr) return;
  let_next_kernel_start();
  const OneRow any_row = row_at(0);  // that exists
#pragma unroll
  for (int which = 0; which < Op::kNumSums; ++which) {
    float* const part = grid.part(which, blockIdx.x, gridDim.x);
    if (blockDim.y == 1) {
      sums.store(any_row, which, part);
    } else {
      store_sums_of_groups(sums, any_row, which, static_cast<int>(grid.width), of_groups, part);
    }
  }
}

constexpr int kGroupThreads = 128;  // of a block with several rows

template <typename Op, int kVectors, bool kWhole>
int64_t sweep_with_prefetch(const Op& op, const SweepGrid& grid, int64_t num_vectors,
                            cudaStream_t stream) {
  auto* const kernel = &sweep_kernel<Op, kVectors, kWhole>;
  int lanes = 32 * warps_for(num_vectors, kVectors), groups = 1;
  int shared_bytes = 0;
  if (lanes == 32) {
    while (lanes > 1 && lanes / 2 * kVectors >= num_vectors) lanes /= 2;
    groups = kGroupThreads / lanes;
    if (grid.workspace != nullptr) {
      shared_bytes = groups * static_cast<int>(grid.width * int64_t{sizeof(float)});
    }
  }
  const int num_threads = lanes * groups;
  int blocks_each = 0;
  CUDAOPS_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks_each, reinterpret_cast<const void*>(kernel), num_threads, shared_bytes));
  const int64_t blocks =
      num_sweep_blocks(grid.num_rows, groups,
                       device_attribute(cudaDevAttrMultiProcessorCount) *
                           at_most(blocks_each, most_blocks(num_threads)),
                       kWhole ? 1 : alignment_period<typename Op::Element>(grid.anchor));
  kernel<<<static_cast<unsigned int>(blocks), dim3(lanes, groups), shared_bytes, stream>>>(op,
                                                                                           grid);
  CUDAOPS_CHECK_LAUNCH();
  return blocks;
}

// ---------------------------------------------------------------------------------------------------
// Ring

// Three rows: one that is worked on, the next one, and one on its way. Where only two fit, the next
// one is on its way and waited for. More at once make an H200 slower by a tenth: reads hold up the
// writes.
constexpr int kMinStages = 2;
constexpr int kGoodStages = 3;
constexpr int kMaxStages = 4;
// Of this size on rows are fetched in the middle of a turn, for the same reason.
constexpr int kLargeStage = 64 << 10;

#if !CUDAOPS_HIP

// A row in shared memory, which lies in 16 bytes as it does in memory. kMasked: 0 where the row has
// no elements; else what stands there.
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

// What a row takes in shared memory: with what stands around it in its first and last 16 bytes.
inline __host__ __device__ int64_t row_room(int64_t row_bytes, bool whole) {
  return whole ? row_bytes : (row_bytes + 15) / 16 * 16 + 16;
}

// Whether all inputs' rows start where the gradients' do in 16 bytes.
template <typename Op>
bool inputs_lie_as_gradients(const Op& op, const Rows& gradients) {
  const auto place = [](const void* data) { return reinterpret_cast<uintptr_t>(data) % 16; };
  for (int i = 0; i < Op::kNumInputs; ++i) {
    const ConstRows input = op.input(i);
    if (place(input.data) != place(gradients.data)) return false;
    if ((input.stride - gradients.stride) % Vector<typename Op::Element>::kSize != 0) return false;
  }
  return true;
}

// What the registers allow: 64 of them do for two vectors with one sum a column, 96 with two sums.
template <typename Op, int kVectors>
constexpr int most_ring_threads() {
  if (kVectors == 1) return 2 * kMaxRowThreads;
  if (kVectors > 2) return kMaxRowThreads;
  return Op::kNumSums == 1 ? 2 * kMaxRowThreads : kMaxRowThreads + kMaxRowThreads / 4;
}

// Rows that aren't whole take longer to fetch, and all wait for the totals of the warp that does:
// in the middle of a turn and one turn earlier; not with one sum, whose 64 registers would spill.
template <typename Op, bool kWhole>
constexpr bool kFetchesLate = !kWhole && Op::kNumSums > 1;

template <typename Op, int kVectors>
constexpr int kMostStageBytes = 16 * Op::kNumInputs* kVectors* most_ring_threads<Op, kVectors>();

template <typename Op, int kVectors, bool kWhole>
__global__ void __launch_bounds__(most_ring_threads<Op, kVectors>())
    sweep_ring_kernel(const Op op, const SweepGrid grid, int num_stages) {
#if CUDAOPS_HAS_HOPPER
  using T = typename Op::Element;
  using OneRow = SweepRow<T, kVectors, kWhole>;
  using Totals = Floats<Op::kNumTotals>;
  extern __shared__ __align__(128) char ring[];
  __shared__ uint64_t full[kMaxStages];
  __shared__ float row_scalars[kMaxStages][Op::kNumScalars];
  __shared__ Totals scratch[2][32];
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
#pragma unroll
    for (int i = 0; i < Op::kNumScalars; ++i) {
      copy_to_shared(&row_scalars[stage][i], op.scalars(i) + index);
    }
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
  const auto scalars_at = [&](int stage) {
    Scalars<Op> scalars;
#pragma unroll
    for (int i = 0; i < Op::kNumScalars; ++i) scalars[i] = row_scalars[stage][i];
    return scalars;
  };
  ColumnSums<Op::kNumSums, kVectors, OneRow::kSize> sums = {};
  const auto fixed = op.fixed(row_at(0));
  // A thread's share of a row's totals, added up in its warp.
  const auto begin_row = [&](int stage, uint32_t parity, int64_t index, int buffer) {
    SharedTile<T, !kWhole> tiles[Op::kNumInputs];
    tiles_at(stage, index, tiles);
    wait_for_phase(&full[stage], parity);
    const Totals share = op.totals(row_at(index), tiles, fixed, scalars_at(stage), sums);
    const Totals warps = cudaops::warp_reduce(share, AddFloats<Op::kNumTotals>{}, 32);
    if (threadIdx.x % 32 == 0) scratch[buffer][threadIdx.x / 32] = warps;
  };

  // In the last warp, which has least of the row: all others wait for who is late.
  const bool fetches = threadIdx.x == blockDim.x - 32;
  const bool fetches_late =
      kFetchesLate<Op, kWhole> || (kWhole && kMostStageBytes<Op, kVectors> >= kLargeStage &&
                                   Op::kNumInputs * row_bytes >= kLargeStage);
  if (fetches) {
    for (int stage = 0; stage < num_stages; ++stage) init_barrier(&full[stage]);
    fence_barriers();
    // One stage stays free for the first turn, unless there are only two.
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
      op.gradient(row_at(index), tiles, fixed, scalars_at(stage), totals);
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
  let_next_kernel_start();
#pragma unroll
  for (int which = 0; which < Op::kNumSums; ++which) {
    sums.store(row_at(0), which, grid.part(which, blockIdx.x, gridDim.x));
  }
#endif
}

// The number of blocks; 0 where it can't be done this way.
template <typename Op, int kVectors, bool kWhole>
int64_t sweep_with_ring(const Op& op, const SweepGrid& grid, int64_t num_vectors,
                        cudaStream_t stream) {
  static int known[64];
  auto* const kernel = &sweep_ring_kernel<Op, kVectors, kWhole>;
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
  const int64_t stages = at_most((all / blocks_each - own_bytes) / stage_bytes,
                                 kFetchesLate<Op, kWhole> ? kMaxStages : kGoodStages);
  const int64_t blocks = num_sweep_blocks(
      grid.num_rows, 1, blocks_each * device_attribute(cudaDevAttrMultiProcessorCount),
      kWhole ? 1 : alignment_period<typename Op::Element>(grid.anchor));
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
#pragma unroll
    for (int i = 0; i < Op::kNumInputs; ++i) tiles[i] = row.load(op.input(i));
    const auto fixed = op.fixed(row);
    const auto scalars = load_scalars(op, row.index());
    const Floats<Op::kNumTotals> share = op.totals(row, tiles, fixed, scalars, none);
    op.gradient(row, tiles, fixed, scalars, row.sum(share));
  }
};

// One vector of each row, for Op::totals() where the columns' sums alone are wanted: what is
// calculated of the totals the compiler drops.
template <typename T, bool kWhole>
struct SweepColumns {
  using Place = cudaops_kernels::Place<Vector<T>::kSize, kWhole>;
  struct Columns {};
  struct Tile {
    const T* row;
    int64_t width;
    Around around;
    __device__ __forceinline__ Numbers<T> at(const Place& place) const {
      const Packed vector = load_vector(row, place, width, around);
      return unpack<T>(place.is_whole() ? vector : masked<T>(vector, place.begin, place.end));
    }
  };
  Place place;
  bool exists;

  template <typename Body>
  __device__ __forceinline__ void each(const Body& body) const {
    if (exists) body(place);
  }
  __device__ __forceinline__ Numbers<T> at(const Columns&, const Place&) const { return {}; }
};

// 32 vectors of kTallRows rows a block, kTallGroups rows at once.
template <typename Op, bool kWhole>
__global__ void __launch_bounds__(32 * kTallGroups)
    sum_columns_kernel(const Op op, const SweepGrid grid) {
  using T = typename Op::Element;
  using Columns = SweepColumns<T, kWhole>;
  constexpr int kSize = Vector<T>::kSize, kWidth = 32 * kSize;
  __shared__ float of_groups[kTallGroups * kWidth];
  const int64_t first_column = int64_t{blockIdx.x} * kWidth;
  const int64_t left = grid.width - first_column;
  const int width = left < kWidth ? static_cast<int>(left) : kWidth;
  // From the block's first column on.
  const int column = static_cast<int>(threadIdx.x) * kSize;
  const int end = width - column < kSize ? width - column : kSize;
  const Columns columns{{0, column, 0, end}, end > 0};
  const int64_t first = int64_t{blockIdx.y} * kTallRows;
  const int64_t last = first + kTallRows < grid.num_rows ? first + kTallRows : grid.num_rows;
  ColumnSums<Op::kNumSums, 1, kSize> sums = {};
  if (columns.exists) {
#pragma unroll 4
    for (int64_t index = first + threadIdx.y; index < last; index += kTallGroups) {
      typename Columns::Tile tiles[Op::kNumInputs];
#pragma unroll
      for (int i = 0; i < Op::kNumInputs; ++i) {
        const ConstRows rows = op.input(i);
        tiles[i] = {rows.template row<T>(index) + first_column, left,
                    rows_around<kSize>(index, grid.num_rows, rows.stride)};
      }
      op.totals(columns, tiles, typename Columns::Columns(), load_scalars(op, index), sums);
    }
  }
  let_next_kernel_start();
#pragma unroll
  for (int which = 0; which < Op::kNumSums; ++which) {
    store_sums_of_groups(sums, columns, which, width, of_groups,
                         grid.part(which, blockIdx.y, gridDim.y) + first_column);
  }
}

template <typename Op>
int64_t sweep_long_rows(const Op& op, const SweepGrid& grid, bool aligned, cudaStream_t stream) {
  launch_long_rows(RowsOfSweep<Op>{op}, RowGrid{grid.num_rows, grid.width, grid.anchor}, aligned,
                   stream);
  if (grid.workspace == nullptr) return 0;
  constexpr int kSize = Vector<typename Op::Element>::kSize;
  const unsigned int parts = num_blocks(grid.num_rows, kTallRows);
  const dim3 blocks(num_blocks(grid.width, 32 * kSize), parts), block(32, kTallGroups);
  if (aligned && grid.width % kSize == 0) {
    sum_columns_kernel<Op, true><<<blocks, block, 0, stream>>>(op, grid);
  } else {
    sum_columns_kernel<Op, false><<<blocks, block, 0, stream>>>(op, grid);
  }
  CUDAOPS_CHECK_LAUNCH();
  return parts;
}

// The number of blocks; -1 where rows are too long for both ways.
template <typename Op, bool kWhole>
int64_t sweep(const Op& op, const SweepGrid& grid, int64_t num_vectors, cudaStream_t stream) {
  if constexpr (!kWhole) {
    if (rows_are_spans(op, grid.width, kLeastOfWarp)) {
      if (grid.width <= 8 * kSpanElements) return sweep_spans<Op, 8>(op, grid, stream);
      if (grid.width <= 16 * kSpanElements) return sweep_spans<Op, 16>(op, grid, stream);
      return sweep_spans<Op, 32>(op, grid, stream);
    }
  }
#if !CUDAOPS_HIP
  // Shorter rows are not worth a barrier each.
  if (num_vectors > 128 && num_vectors <= kMaxRingVectors &&
      (kWhole || inputs_lie_as_gradients(op, grid.anchor))) {
    int64_t blocks = 0;
    // Half as many blocks, and parts for the second kernel, with as many threads; not where that
    // takes registers that are not there (ends of rows, two sums).
    if constexpr (kWhole && Op::kNumSums == 1) {
      if (num_vectors <= most_ring_threads<Op, 1>() &&
          ring_threads(num_vectors, 1) >= ring_threads(num_vectors, 2)) {
        blocks = sweep_with_ring<Op, 1, kWhole>(op, grid, num_vectors, stream);
      }
    }
    if (blocks == 0 && num_vectors <= 2 * most_ring_threads<Op, 2>()) {
      blocks = sweep_with_ring<Op, 2, kWhole>(op, grid, num_vectors, stream);
    }
    if constexpr (2 * most_ring_threads<Op, 2>() < kMaxRingVectors) {
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
    const int64_t most = detail::device_attribute(cudaDevAttrMultiProcessorCount) *
                         detail::most_blocks(32 * detail::warps_for(num_vectors, 4));
    // One block for each alignment at least.
    const int64_t blocks = detail::at_most(num_rows, most < elements ? elements : most);
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
  const int64_t num_vectors = detail::num_vectors<kSize>(grid.width, aligned);
  const bool whole = aligned && grid.width % kSize == 0;
  int64_t parts = 0;
  if (grid.num_rows > 0) {
    parts = whole ? detail::sweep<Op, true>(op, grid, num_vectors, stream)
                  : detail::sweep<Op, false>(op, grid, num_vectors, stream);
    if (parts < 0) parts = detail::sweep_long_rows(op, grid, aligned, stream);
  }
  if (!wanted || grid.width == 0) return;
  static_assert(Op::kNumSums <= detail::kMostSums, "add_parts_kernel has no room for so many");
  detail::SumsOfParts all{grid.workspace, parts, grid.width, {}};
  for (int which = 0; which < Op::kNumSums; ++which) all.sums[which] = sums[which];
  for_device_type<detail::AddParts>(sums_dtype, all, Op::kNumSums, stream);
}

}  // namespace cudaops_kernels

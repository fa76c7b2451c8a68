// SPDX-License-Identifier: Apache-2.0
// Backward passes that give, beside a gradient for each row, sums over all rows (the gradient of a
// weight). One pass: persistent blocks loop over rows and keep the sums of their columns in
// registers; a small second kernel adds up what the blocks have. Which block takes which row
// depends on the device's size alone, so results are the same bits from run to run.
//
//   struct Op {
//     using Element = T;
//     static constexpr int kNumSums = 1;    // sums a column
//     static constexpr int kNumTotals = 1;  // sums a row
//     static constexpr int kNumInputs = 2;  // rows that are read
//     static constexpr int kNumOutputs = 1;  // PersistentGrid's
//     static constexpr int kNumScalars = 1;  // numbers that are read once a row
//     template <typename Row> struct Fixed {…};  // of a thread's columns, the same for all rows
//     Fixed<Row> fixed(const Row& row) const;
//     ConstRows input(int i) const;  // on the host too
//     Rows output(int i) const;
//     const float* scalars(int i) const;  // one a row
//     // A thread's share of the row's totals; tiles[i].at(place) are the numbers of input i, asked
//     // for once, and sums.add(which, place, numbers) adds to the columns' sums.
//     Floats<kNumTotals> totals(const Row& row, tiles, fixed, scalars, Sums& sums) const;
//     // With the whole totals: writes the row's gradient, to the rows that PersistentGrid has.
//     void gradient(const Row& row, tiles, fixed, scalars, totals) const;
//   };
//
// Six loops, each with a file of its own:
//   few       sm_90: few whole rows by the blocks of one cluster, which add up their sums too
//   packed    rows of 33 to 256 elements without gaps, of any width (packed_rows.cuh): each warp
//             loops over packs of them; while it waits for one, other warps work on theirs
//   ring      sm_90: the copy engine (TMA) brings rows, and the numbers that are read once a row,
//             into shared memory an iteration or two ahead, and the totals of the next row are
//             taken before the gradient of this one is written, so that no thread waits for
//             another's sum
//   sliced    sm_90: each long row is divided among blocks, which exchange its totals through
//             memory
//   prefetch  the next row is loaded into registers while this one is worked on: short rows, of
//             which a block has several at once, and GPUs without a copy engine
//   long      rows that are too long for all of these, or long and not all aligned alike, are read
//             twice: for their gradient, for the sums
//
// Alignment: vectors lie where the gradient's rows have their multiples of 16 bytes. Where rows are
// aligned differently, the alignment repeats after a few of them (eight, if 16-bit rows are of odd
// width), and a block takes rows of one alignment only, or of one after the other: so its threads
// keep their columns, and stores are whole but for a row's ends. Inputs with another alignment take
// two aligned loads and a funnel shift, not the ring.
#pragma once

#include "../column_sums.cuh"
#include "persistent_few.cuh"
#include "persistent_long.cuh"
#include "persistent_packed.cuh"
#include "persistent_prefetch.cuh"
#include "persistent_ring.cuh"
#include "persistent_sliced.cuh"

namespace cudaops_kernels {
namespace detail {

// The number of parts; -1 where rows are too long for all of them.
template <typename Op, bool kWhole>
int64_t launch_persistent_by_width(const Op& op, const PersistentGrid& grid,
                                   [[maybe_unused]] uint64_t* exchange, int64_t num_vectors,
                                   cudaStream_t stream) {
  if constexpr (!kWhole) {
    if (rows_are_packed(op, grid.width, kMinWarpWidth)) {
      if (grid.width <= 8 * kPackedElements)
        return launch_persistent_packed_rows<Op, 8>(op, grid, stream);
      if (grid.width <= 16 * kPackedElements)
        return launch_persistent_packed_rows<Op, 16>(op, grid, stream);
      return launch_persistent_packed_rows<Op, 32>(op, grid, stream);
    }
  }
#if !CUDAOPS_HIP
  // Shorter rows are not worth a barrier each.
  if (num_vectors > kMaxWarpVectors && num_vectors <= kMaxRingVectors &&
      (kWhole || inputs_have_same_alignment(op, grid.anchor))) {
    const RingShape shape = ring_shape(Op::kNumSums, Op::kNumInputs, kWhole, num_vectors);
    const int64_t blocks = with_ring_vectors<Op, kWhole>(shape.vectors, [&](auto vectors) {
      return launch_ring_rows<Op, decltype(vectors)::value, kWhole>(op, grid, num_vectors, stream,
                                                                    shape.blocks_each);
    });
    if (blocks > 0) return blocks;
  }
  if (num_vectors > kMaxRingVectors && (kWhole || inputs_have_same_alignment(op, grid.anchor))) {
    const int64_t parts = launch_sliced_rows<Op, kWhole>(op, grid, exchange, num_vectors, stream);
    if (parts > 0) return parts;
  }
#endif
  if (num_vectors > kMaxPrefetch * kMaxRowThreads) return -1;
  return launch_prefetch_rows<Op, kMaxPrefetch, kWhole>(op, grid, num_vectors, stream);
}

// Those that a row may be of, wherever it starts.
inline int64_t most_vectors(int64_t width, int64_t elements) {
  return (width + 2 * (elements - 1)) / elements;
}

}  // namespace detail

// For what blocks exchange, and the parts of whichever way is taken. num_sums: 0 where none is
// wanted.
inline int64_t persistent_rows_workspace_bytes(int64_t num_rows, int64_t width, DType dtype,
                                               int num_inputs, int num_sums) {
  const int64_t elements = 16 / size_of(dtype);
  const int64_t num_vectors = (width + elements - 1) / elements;
  const int64_t most_vectors = detail::most_vectors(width, elements);
  int64_t parts = (num_rows + detail::kTallRows - 1) / detail::kTallRows;
  int64_t most = 0;
  if (num_vectors <= detail::kMaxRingVectors) {
    most = num_multiprocessors() * detail::most_blocks(32 * detail::warps_for(num_vectors, 4));
    // One block for each alignment at least.
    if (most < elements) most = elements;
  }
  if (most_vectors > detail::kMaxRingVectors) {
    for (const int64_t vectors : {num_vectors, most_vectors}) {
      const int64_t most_parts = detail::most_slice_parts(vectors, num_inputs, elements);
      if (most < most_parts) most = most_parts;
    }
  }
  const int64_t blocks = detail::at_most(num_rows, most);
  if (blocks > parts) parts = blocks;
  return detail::exchange_bytes(most_vectors) + parts * width * num_sums * int64_t{sizeof(float)};
}

// grid.workspace: of persistent_rows_workspace_bytes(). sums[i]: where the i-th sum of each column
// goes, of sums_dtype; may be null. `aligned`: rows_are_aligned() of everything that op touches.
template <typename Op>
void launch_persistent_rows(const Op& op, PersistentGrid grid, void* const (&sums)[Op::kNumSums],
                            DType sums_dtype, bool aligned, cudaStream_t stream) {
  constexpr int64_t kSize = Vector<typename Op::Element>::kSize;
  uint64_t* const exchange = reinterpret_cast<uint64_t*>(grid.workspace);
  grid.workspace +=
      detail::exchange_bytes(detail::most_vectors(grid.width, kSize)) / int64_t{sizeof(float)};
  bool wanted = false;
  for (void* const sum : sums) wanted = wanted || sum != nullptr;
  if (!wanted) grid.workspace = nullptr;
  const int64_t num_vectors = detail::num_vectors<kSize>(grid.width, aligned);
  const bool whole = aligned && grid.width % kSize == 0;
#if !CUDAOPS_HIP
  if (whole && wanted && grid.num_rows > 0 && grid.width > 0 &&
      detail::launch_few_gradient_rows(op, grid, sums, sums_dtype, num_vectors, stream)) {
    return;
  }
#endif
  int64_t parts = 0;
  if (grid.num_rows > 0) {
    parts = whole ? detail::launch_persistent_by_width<Op, true>(op, grid, exchange, num_vectors,
                                                                 stream)
                  : detail::launch_persistent_by_width<Op, false>(op, grid, exchange, num_vectors,
                                                                  stream);
    if (parts < 0) parts = detail::launch_long_gradient_rows(op, grid, aligned, stream);
  }
  if (!wanted || grid.width == 0) return;
  static_assert(Op::kNumSums <= detail::kMostSums, "add_parts_kernel has no room for so many");
  detail::SumsOfParts all{grid.workspace, parts, grid.width, {}};
  for (int which = 0; which < Op::kNumSums; ++which) all.sums[which] = sums[which];
  for_device_type<detail::AddParts>(sums_dtype, all, Op::kNumSums, stream);
}

}  // namespace cudaops_kernels

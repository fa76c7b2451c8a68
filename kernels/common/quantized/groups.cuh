// SPDX-License-Identifier: Apache-2.0
// Groups of a row: 1 × n. Where rows are whole a thread has several vectors of a group: what is
// calculated once for all of them, and the shuffles, would take longer than the memory with one.
// Other rows' groups are segments.
#pragma once

#include "rows.cuh"
#include "segments.cuh"
#include "source.cuh"

namespace cudaops_kernels {

namespace detail {

struct GroupGrid {
  int64_t num_rows;
  int64_t width;
  Divider blocks_per_row;
  int log2_threads;  // a group: a power of two up to 32
};

// Rows start at multiples of 16 bytes, those of bytes accordingly, and have whole vectors.
// kVectors: of a thread, in one group.
template <typename T, int kVectors, typename Source, typename Rounding>
__global__ void __launch_bounds__(kPointwiseThreads)
    group_quantize_whole_kernel(const Source source, const QuantizedRows result,
                                const GroupGrid grid, const Rounding rounding) {
  constexpr int kSize = Vector<T>::kSize;
  wait_for_kernels_before();
  let_next_kernel_start();
  const RowPart part(grid.blocks_per_row);
  const int threads = 1 << grid.log2_threads;
  const int64_t group = part.vector >> grid.log2_threads;
  const int lane = static_cast<int>(part.vector) & (threads - 1);
  const int64_t first = ((group * kVectors) << grid.log2_threads) + lane;
  bool exists[kVectors];
  Packed x[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    exists[i] = part.index < grid.num_rows && (first + i * threads) * kSize < grid.width;
    x[i] = {0, 0, 0, 0};
    if (exists[i]) x[i] = source.template whole<T>(part.index, first + i * threads);
  }
  AbsMax<T> largest[1];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) largest[0].add(x[i]);
  const float scale = scale_for(AbsMax<T>::reduce_lanes(largest, threads, cudaops::kAllLanes)[0],
                                result.type, result.rule);
  if (!exists[0]) return;
  if (lane == 0) {
    result.scale[result.places.row_at(part.index) + result.places.strides.column * group] = scale;
  }
  const float reciprocal = reciprocal_of_scale(scale);
  uint8_t* const output = result.output.template row<uint8_t>(part.index) + first * kSize;
  const uint64_t vector = rounding.template vector_at<kSize>(output);
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    uint8_t* const own = output + i * threads * kSize;
    if (exists[i]) {
      store_aligned(own, rounding(unpack<T>(kept_packed<T>(x[i])) * reciprocal, result.type,
                                  vector + static_cast<uint32_t>(i * threads)));
    }
  }
}

struct SegmentGrid {
  int64_t num_rows;
  int64_t width;
  LongDivider groups_per_row;
  int64_t num_groups;
  int log2_threads;  // a group: a power of two up to 32
};

constexpr int kSegmentThreads = 128;

// Any rows. kSameAlignment: as LoadedSegments.
template <typename T, int kSlots, bool kSameAlignment, typename Source, typename Rounding>
__global__ void __launch_bounds__(kSegmentThreads)
    group_quantize_kernel(const Source source, const QuantizedRows result, const SegmentGrid grid,
                          const Rounding rounding) {
  constexpr int kSize = Vector<T>::kSize;
  wait_for_kernels_before();
  let_next_kernel_start();
  const int per_warp = Segments<T>::template num_segments<kSlots>(grid.log2_threads);
  const int64_t warp = int64_t{blockIdx.x} * (kSegmentThreads / 32) + threadIdx.x / 32;
  if (warp * per_warp >= grid.num_groups) return;
  const int64_t index = warp * per_warp + Segments<T>::own_segment();
  const int64_t row = grid.groups_per_row.quotient(index);
  const int64_t group = index - row * grid.groups_per_row.divisor();
  const int columns = kSize << grid.log2_threads;
  const int64_t column = group * columns;
  const bool exists = Segments<T>::own_segment() < per_warp && index < grid.num_groups;
  const int num = exists ? static_cast<int>(min(int64_t{columns}, grid.width - column)) : 0;
  const Segments<T> segments(grid.log2_threads, result.output.template row<uint8_t>(row) + column,
                             num);

  LoadedSegments<T, kSlots, kSameAlignment> loaded(segments, source, row, column, exists,
                                                   grid.num_rows, grid.width);
  const float scale = scale_for(loaded.max_of_segments(segments), result.type, result.rule);
  if (exists && Segments<T>::is_first()) {
    result.scale[result.places.row_at(row) + result.places.strides.column * group] = scale;
  }
  loaded.store(segments, result.type, reciprocal_of_scale(scale), rounding);
}

}  // namespace detail

// A scale for each num_lanes vectors of rows that lie anywhere.
template <typename T, typename Formula, typename Rounding = ToNearest>
void launch_group_segments(const PointwiseSource<Formula>& source, const QuantizedRows& result,
                           int64_t num_rows, int64_t width, int num_lanes, cudaStream_t stream,
                           const Rounding& rounding = {}) {
  using Source = PointwiseSource<Formula>;
  const int64_t columns = num_lanes * int64_t{Vector<T>::kSize};
  const int64_t groups = (width + columns - 1) / columns;
  const detail::SegmentGrid grid{num_rows, width, detail::LongDivider(groups), num_rows * groups,
                                 detail::log2_of(num_lanes)};
  const auto launch = [&](auto kernel, int segments_per_warp) {
    launch_overlapping(
        kernel, num_blocks(grid.num_groups, segments_per_warp * (detail::kSegmentThreads / 32)),
        detail::kSegmentThreads, stream, source, result, grid, rounding);
  };
  // As many vectors in flight as there are registers for.
  constexpr int kAlignedSlots = 8 / Source::kNumTiles, kOther = 4 / Source::kNumTiles;
  if (source.template has_same_alignment<T>(result.output, num_rows)) {
    launch(&detail::group_quantize_kernel<T, kAlignedSlots, true, Source, Rounding>,
           Segments<T>::template num_segments<kAlignedSlots>(grid.log2_threads));
  } else {
    launch(&detail::group_quantize_kernel<T, kOther, false, Source, Rounding>,
           Segments<T>::template num_segments<kOther>(grid.log2_threads));
  }
}

// The same of formulas, which need no other element of the row: short rows that lie anywhere are
// segments.
template <typename T, typename Formula>
void launch_pointwise_row_quantize(const PointwiseSource<Formula>& source,
                                   const QuantizedRows& result, int64_t num_rows, int64_t width,
                                   cudaStream_t stream) {
  constexpr int64_t kSize = Vector<T>::kSize;
  const bool is_whole = width % kSize == 0 && source.template is_aligned<T>(num_rows) &&
                        bytes_are_aligned<T>(result.output.data, result.output.stride);
  if (is_whole || width > 32 * kSize) {
    launch_row_quantize<T>(source, result, num_rows, width, stream);
    return;
  }
  int num_lanes = 2;
  while (num_lanes * kSize < width) num_lanes *= 2;
  launch_group_segments<T>(source, result, num_rows, width, num_lanes, stream);
}

// A scale for each num_lanes vectors, two or more.
template <typename T, typename Formula, typename Rounding = ToNearest>
void launch_group_quantize(const PointwiseSource<Formula>& source, const QuantizedRows& result,
                           int64_t num_rows, int64_t width, int num_lanes, cudaStream_t stream,
                           const Rounding& rounding = {}) {
  using Source = PointwiseSource<Formula>;
  constexpr int64_t kSize = Vector<T>::kSize;
  const int64_t groups = (width + num_lanes * kSize - 1) / (num_lanes * kSize);
  const bool is_whole = width % kSize == 0 && source.template is_aligned<T>(num_rows) &&
                        bytes_are_aligned<T>(result.output.data, result.output.stride);
  if (!is_whole) {
    launch_group_segments<T>(source, result, num_rows, width, num_lanes, stream, rounding);
    return;
  }
  // A row's threads, and those of a group.
  const auto launch = [&](auto kernel, int64_t row_threads, int threads) {
    const detail::RowParts parts(num_rows, row_threads);
    launch_overlapping(
        kernel, parts.blocks, parts.block, stream, source, result,
        detail::GroupGrid{num_rows, width, parts.blocks_per_row, detail::log2_of(threads)},
        rounding);
  };
  if (Source::kNumTiles > 1 || num_lanes < 4) {
    // More inputs are enough loads in flight.
    launch(&detail::group_quantize_whole_kernel<T, 2, Source, Rounding>, groups * (num_lanes / 2),
           num_lanes / 2);
  } else {
    launch(&detail::group_quantize_whole_kernel<T, 4, Source, Rounding>, groups * (num_lanes / 4),
           num_lanes / 4);
  }
}

}  // namespace cudaops_kernels

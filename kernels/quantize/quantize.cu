// SPDX-License-Identifier: Apache-2.0
// quantize on CUDA devices. Rows, groups and tiles are read once, sizeof(T) + 1 bytes an element.
// Other blocks, zero points and random rounding, but for groups and short rows (quantize.h), take
// two passes: the ranges of all blocks, gathered where their scales will stand by atomic maxima
// (whose order doesn't matter), then the elements.
#include "../common/quantized/groups.cuh"
#include "quantize.h"
#include "quantize_ranges.cuh"
#include "quantize_scaled.cuh"
#include "quantize_tiles.cuh"

namespace cudaops_kernels {
namespace {

// Blocks of whole matrices without gaps are long rows.
Quantize with_longest_rows(Quantize call) {
  BlockGrid& grid = call.grid;
  if (grid.block_rows < grid.num_rows || grid.block_columns < grid.width || grid.num_rows == 1 ||
      call.input.stride != grid.width || call.output.stride != grid.width) {
    return call;
  }
  grid.width *= grid.num_rows;
  grid.num_rows = grid.block_rows = 1;
  grid.block_columns = grid.width;
  call.input.stride = call.output.stride = grid.width;
  return call;
}

// Elements of a group of a row's threads: a block's. Where a block is a row, the power of two that
// has room for it; but of short rows two passes take less time (4194304 × 17: 384 µs for 611).
int64_t group_columns(const BlockGrid& grid) {
  constexpr int64_t kShortest = 64;
  if (!is_scale_a_row(grid) || grid.width <= kShortest) return grid.block_columns;
  int64_t columns = kShortest;
  while (columns < grid.width) columns *= 2;
  return columns;
}

struct Launch {
  // Whether one pass does what is asked for; then it is launched.
  template <typename T>
  static bool run_in_one_pass(const Quantize& call, bool is_whole, cudaStream_t stream) {
    const BlockGrid& grid = call.grid;
    if (call.has_scale || call.zero_point != nullptr) return false;
    const PointwiseSource<Identity> source{{call.input}};
    const QuantizedRows result{call.type, call.output, call.scale, ScalePlaces(grid, call.strides),
                               call.rule};
    const bool single_rows = grid.block_rows == 1 || grid.num_rows == 1;
    const int lanes = lanes_of(call.dtype, group_columns(grid));
    if (call.is_random) {
      if (!single_rows || lanes == 0) return false;
      if (!AtRandom::suits(call.output, grid.total_rows(), grid.width)) return false;
      launch_group_quantize<T>(source, result, grid.total_rows(), grid.width, lanes, stream,
                               AtRandom(call.seed, call.output));
      return true;
    }
    if (single_rows && grid.block_columns >= grid.width) {
      // Few rows that a block has no registers for: of two passes several blocks share a row.
      if (grid.width > 65536 && grid.total_rows() < 512) return false;
      launch_pointwise_row_quantize<T>(source, result, grid.total_rows(), grid.width, stream);
      return true;
    }
    if (single_rows && lanes > 0) {
      launch_group_quantize<T>(source, result, grid.total_rows(), grid.width, lanes, stream);
      return true;
    }
    // Tiles of a few vectors would leave most threads without work.
    return grid.block_rows >= 16 && quantizing::launch_tiles<T>(call, is_whole, stream);
  }

  template <typename T>
  static void run(const Quantize& call, cudaStream_t stream) {
    constexpr int64_t kSize = Vector<T>::kSize;
    const BlockGrid& grid = call.grid;
    const bool is_whole =
        grid.width % kSize == 0 &&
        detail::all_start_aligned<T>(call.input.data, grid.total_rows(), call.input.stride) &&
        bytes_are_aligned<T>(call.output.data, call.output.stride);
    if (run_in_one_pass<T>(call, is_whole, stream)) return;
    if (!call.has_scale) quantizing::launch_ranges<T>(call, is_whole, stream);
    if (call.is_random) {
      quantizing::launch_scaled<T, true>(call, is_whole, stream);
    } else {
      quantizing::launch_scaled<T, false>(call, is_whole, stream);
    }
  }
};

}  // namespace

void launch_quantize(const Quantize& call, void* stream) {
  if (call.grid.num_blocks() == 0) return;  // a grid of 0 blocks is a launch error
  for_device_type<Launch>(call.dtype, with_longest_rows(call), static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels

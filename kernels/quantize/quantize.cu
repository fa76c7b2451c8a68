// SPDX-License-Identifier: Apache-2.0
// quantize on CUDA devices. Rows, groups and tiles are read once, sizeof(T) + 1 bytes an element.
// Other blocks, zero points and, but for groups, random rounding take two passes: the ranges of
// all blocks, gathered where their scales will stand by atomic maxima (whose order doesn't matter),
// then the elements.
#include "../common/quantized/groups.cuh"
#include "quantize.h"

namespace cudaops_kernels {
namespace {

constexpr int kThreads = 256;

// ---------------------------------------------------------------------------------------------------
// Tiles: a block of threads each, in registers.

constexpr int kTileThreads = 512;

// A block's tile. Its last rows and columns may be none.
struct TilePlace {
  int64_t matrix, block_row, block_column;
  int64_t first_row, num_rows;
  int64_t first_column;

  __device__ __forceinline__ TilePlace(const BlockGrid& grid, const detail::Divider& tile_columns,
                                       const detail::Divider& tile_rows) {
    const uint32_t tile_row_of_all = tile_columns.quotient(blockIdx.x);
    block_column = blockIdx.x - tile_row_of_all * tile_columns.divisor();
    matrix = tile_rows.quotient(tile_row_of_all);
    block_row = tile_row_of_all - matrix * tile_rows.divisor();
    first_column = block_column * grid.block_columns;
    num_rows = min(grid.block_rows, grid.num_rows - block_row * grid.block_rows);
    first_row = matrix * grid.num_rows + block_row * grid.block_rows;
  }
};

// Its scale's reciprocal; the scale is stored. largest: of a thread. All the block's threads, so
// many, call this.
__device__ __forceinline__ float reciprocal_of_tile(const Quantize& call, const TilePlace& place,
                                                    float largest, int num_threads) {
  constexpr int kGroup = 32;
  __shared__ float maxima[kTileThreads / kGroup];
  largest = max_over_lanes(largest, kGroup);
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  if (thread % kGroup == 0) maxima[thread / kGroup] = largest;
  __syncthreads();
  largest = thread % kGroup < num_threads / kGroup ? maxima[thread % kGroup] : 0;
  const float scale = scale_for(max_over_lanes(largest, kGroup), call.type, call.rule);
  if (thread == 0) {
    call.scale[call.strides.at(place.matrix, place.block_row, place.block_column)] = scale;
  }
  return reciprocal_of_scale(scale);
}

// Tiles of `block_columns` elements, a power of two of vectors up to 32, by kTileThreads /
// threads_x * kSlots rows at most. Rows start at multiples of 16 bytes, those of bytes accordingly,
// and have whole vectors.
template <typename T, int kSlots>
__global__ void __launch_bounds__(kTileThreads)
    tile_whole_kernel(const Quantize call, const detail::Divider tile_columns,
                      const detail::Divider tile_rows) {
  constexpr int kSize = Vector<T>::kSize;
  const TilePlace place(call.grid, tile_columns, tile_rows);
  const int64_t column = place.first_column + int64_t{threadIdx.x} * kSize;
  // No rows where there are no columns.
  const int64_t num_rows = column < call.grid.width ? place.num_rows : 0;
  Packed vectors[kSlots];
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    const int64_t row = int64_t{threadIdx.y} + slot * int64_t{blockDim.y};
    vectors[slot] = {0, 0, 0, 0};
    if (row < num_rows)
      vectors[slot] = load_ordered(call.input.row<T>(place.first_row + row) + column);
  }
  AbsMax<T> of_thread;
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) of_thread.add(vectors[slot]);
  const float reciprocal = reciprocal_of_tile(call, place, of_thread.value(), kTileThreads);
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    const int64_t row = int64_t{threadIdx.y} + slot * int64_t{blockDim.y};
    if (row >= num_rows) continue;
    store_bytes<true>(
        call.output.row<uint8_t>(place.first_row + row) + column,
        quantized_bytes(unpack<T>(kept_packed<T>(vectors[slot])) * reciprocal, call.type), 0,
        kSize);
  }
}

// Any rows: segments of the tile, one a row, neighbours in a warp.
template <typename T, int kSlots, bool kSameAlignment>
__global__ void __launch_bounds__(kTileThreads, kSameAlignment || sizeof(T) < 4 ? 2 : 1)
    tile_kernel(const Quantize call, const detail::Divider tile_columns,
                const detail::Divider tile_rows, const int log2_lanes) {
  const BlockGrid& grid = call.grid;
  const TilePlace place(grid, tile_columns, tile_rows);
  const int per_warp = Segments<T>::template num_segments<kSlots>(log2_lanes);
  const int segment = Segments<T>::own_segment();
  const int64_t row_of_tile = int64_t{threadIdx.x / 32} * per_warp + segment;
  const bool exists = segment < per_warp && row_of_tile < place.num_rows;
  const int64_t row = place.first_row + row_of_tile;
  const int64_t num = min(grid.block_columns, grid.width - place.first_column);
  const Segments<T> segments(log2_lanes, call.output.row<uint8_t>(row) + place.first_column,
                             exists ? static_cast<int>(num) : 0);
  const LoadedSegments<T, kSlots, kSameAlignment> loaded(
      segments, PointwiseSource<Same>{{call.input}}, row, place.first_column, exists,
      grid.total_rows(), grid.width);
  const int num_threads = static_cast<int>(blockDim.x);
  loaded.store(segments, call.type,
               reciprocal_of_tile(call, place, loaded.max_of_lane(), num_threads));
}

// ---------------------------------------------------------------------------------------------------
// Ranges: a block's vectors, row after row, go round the threads of one or several blocks of these.

struct RangeGrid {
  int64_t num_blocks;
  int64_t vectors_per_row;  // of a block
  Quotient by_vectors_per_row, by_columns_of_blocks, by_rows_of_blocks;
  detail::Divider parts_per_block;
};

constexpr int kRangeVectors = 4;

__device__ __forceinline__ void raise_to(float* shared, float largest) {
  // Most have nothing to add: a load, perhaps of an older value, keeps them from queueing up.
  const unsigned int bits = __float_as_uint(fabsf(largest));  // a zero may have a sign
  unsigned int* const word = reinterpret_cast<unsigned int*>(shared);
  if (bits > *word) atomicMax(word, bits);
}

template <typename T, bool kWhole>
__global__ void __launch_bounds__(kThreads)
    ranges_kernel(const Quantize call, const RangeGrid ranges) {
  constexpr int kSize = Vector<T>::kSize, kGroup = 32;
  __shared__ float maxima[2][kThreads / kGroup];
  const BlockGrid& grid = call.grid;
  const uint32_t group = ranges.parts_per_block.quotient(blockIdx.x);
  const uint32_t part = blockIdx.x - group * ranges.parts_per_block.divisor();
  const int64_t block = int64_t{group} * blockDim.y + threadIdx.y;
  const int64_t block_row_of_all = ranges.by_columns_of_blocks.of(block);
  const int64_t block_column = block - block_row_of_all * ranges.by_columns_of_blocks.divisor();
  const int64_t matrix = ranges.by_rows_of_blocks.of(block_row_of_all);
  const int64_t block_row = block_row_of_all - matrix * ranges.by_rows_of_blocks.divisor();
  const int64_t first_row = matrix * grid.num_rows + block_row * grid.block_rows;
  const int64_t num_rows = min(grid.block_rows, grid.num_rows - block_row * grid.block_rows);
  const int64_t first_column = block_column * grid.block_columns;
  const int64_t num_columns = min(grid.block_columns, grid.width - first_column);
  const T* const first = call.input.row<T>(0);
  const T* const last = call.input.row<T>(grid.total_rows() - 1) + grid.width;
  detail::Window<T> windows[kRangeVectors];
  int ends[kRangeVectors];
#pragma unroll
  for (int slot = 0; slot < kRangeVectors; ++slot) {
    const int64_t vector = (int64_t{part} * kRangeVectors + slot) * blockDim.x + threadIdx.x;
    // Of a single row without a division; beyond it any other is none.
    const int64_t row = grid.block_rows == 1 ? vector >= ranges.vectors_per_row
                                             : ranges.by_vectors_per_row.of(vector);
    const int64_t column = (vector - row * ranges.vectors_per_row) * kSize;
    const int64_t left = num_columns - column;
    const bool exists = block < ranges.num_blocks && row < num_rows && left > 0;
    ends[slot] = exists ? static_cast<int>(left < kSize ? left : kSize) : 0;
    windows[slot] = {{0, 0, 0, 0}, {0, 0, 0, 0}, 0};
    if (exists) {
      const T* const data = call.input.row<T>(first_row + row) + first_column + column;
      if constexpr (kWhole) {
        windows[slot].low = load_ordered(data);
      } else {
        windows[slot] = detail::load_window(data, 0, ends[slot], first, last);
      }
    }
  }
  // Largest and, with a zero point, largest of what is negative.
  AbsMax<T> largest, largest_negative;
#pragma unroll
  for (int slot = 0; slot < kRangeVectors; ++slot) {
    Packed x = windows[slot].packed();
    if constexpr (!kWhole) x = masked<T>(x, 0, ends[slot]);
    if (call.zero_point == nullptr) {
      largest.add(x);
    } else {
      largest.add_signed(x);
      largest_negative.add_signed(negated<T>(x));
    }
  }
  float high = largest.value(), low = largest_negative.value();
  const int width = blockDim.x < kGroup ? static_cast<int>(blockDim.x) : kGroup;
  high = max_over_lanes(high, width);
  low = max_over_lanes(low, width);
  if (blockDim.x > kGroup) {
    const int lane = static_cast<int>(threadIdx.x % kGroup);
    const int first_warp = static_cast<int>(threadIdx.y * blockDim.x) / kGroup;
    const int num_warps = static_cast<int>(blockDim.x) / kGroup;
    if (lane == 0) {
      maxima[0][first_warp + threadIdx.x / kGroup] = high;
      maxima[1][first_warp + threadIdx.x / kGroup] = low;
    }
    __syncthreads();
    high = max_over_lanes(lane < num_warps ? maxima[0][first_warp + lane] : 0, kGroup);
    low = max_over_lanes(lane < num_warps ? maxima[1][first_warp + lane] : 0, kGroup);
  }
  if (threadIdx.x != 0 || block >= ranges.num_blocks) return;
  const int64_t at = call.strides.at(matrix, block_row, block_column);
  raise_to(call.scale + at, high);
  if (call.zero_point != nullptr) raise_to(reinterpret_cast<float*>(call.zero_point + at), low);
}

// Before the ranges are gathered, and after.
template <bool kGathered>
__global__ void __launch_bounds__(kThreads)
    scales_kernel(const Quantize call, const RangeGrid ranges) {
  const int64_t block = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (block >= ranges.num_blocks) return;
  const int64_t row = ranges.by_columns_of_blocks.of(block);
  const int64_t matrix = ranges.by_rows_of_blocks.of(row);
  const int64_t at = call.strides.at(matrix, row - matrix * ranges.by_rows_of_blocks.divisor(),
                                     block - row * ranges.by_columns_of_blocks.divisor());
  if constexpr (!kGathered) {
    call.scale[at] = 0;
    if (call.zero_point != nullptr) call.zero_point[at] = 0;
  } else if (call.zero_point == nullptr) {
    call.scale[at] = scale_for(call.scale[at], call.type, call.rule);
  } else {
    const ScaleAndZero both = asymmetric_scale(static_cast<uint32_t>(call.zero_point[at]),
                                               __float_as_uint(call.scale[at]), call.rule);
    call.scale[at] = both.scale;
    call.zero_point[at] = both.zero_point;
  }
}

// ---------------------------------------------------------------------------------------------------
// Elements by scales that are there.

struct ScaledGrid {
  int64_t vectors_per_row;
  detail::Divider blocks_per_row;
  ScalePlaces places;
  bool one_scale_a_row;
};

__device__ __forceinline__ float reciprocal_of_any(float scale) { return 1.0f / scale; }

// What the ranges' pass has read last is still in the cache: from the end.
__device__ __forceinline__ uint32_t block_from_the_end() { return gridDim.x - 1 - blockIdx.x; }

// Vectors a thread: with random numbers it has enough to do.
template <bool kRandom>
constexpr int kScaledSlots = kRandom ? 1 : 4;

// Rows of numbers start at multiples of 16 bytes, those of bytes accordingly, and have whole
// vectors, each in one block.
template <typename T, bool kRandom>
__global__ void __launch_bounds__(kThreads)
    scaled_whole_kernel(const Quantize call, const ScaledGrid grid) {
  constexpr int kSize = Vector<T>::kSize, kSlots = kScaledSlots<kRandom>;
  const detail::RowPart part(grid.blocks_per_row, kSlots, block_from_the_end());
  if (part.index >= call.grid.total_rows()) return;
  const T* const input = call.input.row<T>(part.index);
  uint8_t* const output = call.output.row<uint8_t>(part.index);
  const int64_t row_at = grid.places.row_at(part.index);
  Packed vectors[kSlots];
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    const int64_t vector = part.vector + slot * int64_t{blockDim.x};
    if (vector < grid.vectors_per_row) vectors[slot] = load_ordered(input + vector * kSize);
  }
  BlockScale scale;
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    const int64_t vector = part.vector + slot * int64_t{blockDim.x};
    if (vector >= grid.vectors_per_row) continue;
    if (slot == 0 || !grid.one_scale_a_row) {
      scale = BlockScale::load(call.scale, call.zero_point,
                               row_at + grid.places.column_at(vector * kSize), reciprocal_of_any);
    }
    const Numbers<T> x = unpack<T>(vectors[slot]) * scale.factor;
    const bool has_zero_point = call.zero_point != nullptr;
    const auto zero_point = [&](int) { return scale.zero_point; };
    Bytes<kSize> bytes;
    if constexpr (kRandom) {
      bytes = random_bytes(x, call.type, has_zero_point, zero_point, call.seed,
                           part.index * call.grid.width + vector * kSize);
    } else {
      bytes = quantized_bytes(x, call.type, has_zero_point, zero_point);
    }
    store_bytes<true>(output + vector * kSize, bytes, 0, kSize);
  }
}

template <typename T, bool kRandom>
__global__ void __launch_bounds__(kThreads)
    scaled_kernel(const Quantize call, const ScaledGrid grid) {
  constexpr int kSize = Vector<T>::kSize;
  const detail::RowPart part(grid.blocks_per_row, 1, block_from_the_end());
  const int64_t width = call.grid.width, total_rows = call.grid.total_rows();
  if (part.index >= total_rows || part.vector >= grid.vectors_per_row) return;
  uint8_t* const output = call.output.row<uint8_t>(part.index);
  // Vectors lie so that whole ones are stored at once. With random numbers they have whole calls of
  // Philox, which is the same where rows have no gaps.
  const uint64_t place = kRandom ? static_cast<uint64_t>(part.index) * static_cast<uint64_t>(width)
                                 : reinterpret_cast<uintptr_t>(output);
  const int shift = static_cast<int>(place % kSize);
  const int64_t column = part.vector * kSize - shift;
  const int begin = column < 0 ? static_cast<int>(-column) : 0;
  const int end = column + kSize > width ? static_cast<int>(width - column) : kSize;
  if (end <= begin) return;
  const detail::Window<T> window = detail::load_window<T, false>(
      call.input, part.index, part.vector, shift, begin, end, total_rows, width);
  const VectorScales<kSize> scales(call.scale, call.zero_point, grid.places,
                                   grid.places.row_at(part.index), {column, begin, end},
                                   reciprocal_of_any);
  const Numbers<T> x = window.numbers() * scales.factor;
  const bool has_zero_point = call.zero_point != nullptr;
  const auto zero_point = [&](int k) { return scales.zero_point[k]; };
  Bytes<kSize> bytes;
  if constexpr (kRandom) {
    bytes = random_bytes(x, call.type, has_zero_point, zero_point, call.seed,
                         part.index * width + column);
  } else {
    bytes = quantized_bytes(x, call.type, has_zero_point, zero_point);
  }
  store_bytes<false>(output + column, bytes, begin, end);
}

// ---------------------------------------------------------------------------------------------------
// Launching

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

struct Launch {
  template <typename T>
  static void gather_ranges(const Quantize& call, bool is_whole, cudaStream_t stream) {
    constexpr int64_t kSize = Vector<T>::kSize;
    const BlockGrid& grid = call.grid;
    const int64_t columns = grid.block_columns < grid.width ? grid.block_columns : grid.width;
    const int64_t rows = grid.block_rows < grid.num_rows ? grid.block_rows : grid.num_rows;
    const int64_t vectors_per_row = (columns + kSize - 1) / kSize;
    const int64_t num_vectors = vectors_per_row * rows;
    int64_t threads = 1;
    while (threads < kThreads && threads * kRangeVectors < num_vectors) threads *= 2;
    const int64_t parts = (num_vectors + threads * kRangeVectors - 1) / (threads * kRangeVectors);
    const RangeGrid ranges{grid.num_blocks(),
                           vectors_per_row,
                           Quotient(vectors_per_row),
                           Quotient(grid.columns_of_blocks()),
                           Quotient(grid.rows_of_blocks()),
                           detail::Divider(static_cast<uint32_t>(parts))};
    const unsigned int of_scales = num_blocks(ranges.num_blocks, kThreads);
    scales_kernel<false><<<of_scales, kThreads, 0, stream>>>(call, ranges);
    CUDAOPS_CHECK_LAUNCH();
    const dim3 block(static_cast<unsigned int>(threads),
                     static_cast<unsigned int>(kThreads / threads));
    const unsigned int blocks =
        num_blocks(ranges.num_blocks, block.y) * static_cast<unsigned int>(parts);
    if (is_whole && grid.block_columns % kSize == 0) {
      ranges_kernel<T, true><<<blocks, block, 0, stream>>>(call, ranges);
    } else {
      ranges_kernel<T, false><<<blocks, block, 0, stream>>>(call, ranges);
    }
    CUDAOPS_CHECK_LAUNCH();
    scales_kernel<true><<<of_scales, kThreads, 0, stream>>>(call, ranges);
    CUDAOPS_CHECK_LAUNCH();
  }

  template <typename T, bool kRandom>
  static void run_scaled(const Quantize& call, bool is_whole, cudaStream_t stream) {
    constexpr int64_t kSize = Vector<T>::kSize;
    const BlockGrid& grid = call.grid;
    is_whole = is_whole && vectors_are_in_blocks<T>(grid, true);
    const int64_t vectors_per_row = (grid.width + (is_whole ? 1 : 2) * (kSize - 1)) / kSize;
    const int64_t slots = is_whole ? kScaledSlots<kRandom> : 1;
    const detail::RowParts parts(grid.total_rows(), (vectors_per_row + slots - 1) / slots);
    const ScaledGrid scaled{vectors_per_row, parts.blocks_per_row, ScalePlaces(grid, call.strides),
                            is_scale_a_row(grid)};
    if (is_whole) {
      scaled_whole_kernel<T, kRandom><<<parts.blocks, parts.block, 0, stream>>>(call, scaled);
    } else {
      scaled_kernel<T, kRandom><<<parts.blocks, parts.block, 0, stream>>>(call, scaled);
    }
    CUDAOPS_CHECK_LAUNCH();
  }

  template <typename T>
  static bool run_tiles(const Quantize& call, bool is_whole, cudaStream_t stream) {
    constexpr int kMostSlots = sizeof(T) == 4 ? 8 : 4;
    const BlockGrid& grid = call.grid;
    const int lanes = lanes_of(call.dtype, grid.block_columns);
    const int64_t tiles = grid.num_blocks();
    if (lanes == 0 || tiles >> 31 != 0) return false;
    const detail::Divider columns(static_cast<uint32_t>(grid.columns_of_blocks()));
    const detail::Divider rows(static_cast<uint32_t>(grid.rows_of_blocks()));
    if (is_whole) {
      const dim3 block(static_cast<unsigned int>(lanes),
                       static_cast<unsigned int>(kTileThreads / lanes));
      if (grid.block_rows > int64_t{block.y} * kMostSlots) return false;
      tile_whole_kernel<T, kMostSlots>
          <<<static_cast<unsigned int>(tiles), block, 0, stream>>>(call, columns, rows);
      CUDAOPS_CHECK_LAUNCH();
      return true;
    }
    const int log2_lanes = detail::log2_of(lanes);
    const auto launch = [&](auto kernel, int per_warp) {
      const int64_t rows_of_tile = min(grid.block_rows, grid.num_rows);
      const int64_t threads = (rows_of_tile + per_warp - 1) / per_warp * 32;
      if (threads > kTileThreads) return false;
      kernel<<<static_cast<unsigned int>(tiles), static_cast<unsigned int>(threads), 0, stream>>>(
          call, columns, rows, log2_lanes);
      CUDAOPS_CHECK_LAUNCH();
      return true;
    };
    constexpr int kAlignedSlots = 8, kOther = kMostSlots;
    if (PointwiseSource<Same>{{call.input}}.has_same_alignment<T>(call.output, grid.total_rows())) {
      return launch(tile_kernel<T, kAlignedSlots, true>,
                    Segments<T>::template num_segments<kAlignedSlots>(log2_lanes));
    }
    return launch(tile_kernel<T, kOther, false>,
                  Segments<T>::template num_segments<kOther>(log2_lanes));
  }

  // false: not with what is asked for.
  template <typename T>
  static bool run_in_one_pass(const Quantize& call, bool is_whole, cudaStream_t stream) {
    const BlockGrid& grid = call.grid;
    if (call.has_scale || call.zero_point != nullptr) return false;
    const PointwiseSource<Same> source{{call.input}};
    const QuantizedRows result{call.type, call.output, call.scale, ScalePlaces(grid, call.strides),
                               call.rule};
    const bool single_rows = grid.block_rows == 1 || grid.num_rows == 1;
    const int lanes = lanes_of(call.dtype, grid.block_columns);
    if (call.is_random) {
      if (!single_rows || lanes == 0) return false;
      if (!AtRandom::suits(call.output, grid.total_rows(), grid.width)) return false;
      launch_group_quantize<T>(source, result, grid.total_rows(), grid.width, lanes, stream,
                               AtRandom(call.seed, call.output));
      return true;
    }
    if (single_rows && grid.block_columns >= grid.width) {
      // What a block of threads has no room for is shared out among several.
      if (grid.width > 65536 && grid.total_rows() < 512) return false;
      launch_pointwise_row_quantize<T>(source, result, grid.total_rows(), grid.width, stream);
      return true;
    }
    if (single_rows && lanes > 0) {
      launch_group_quantize<T>(source, result, grid.total_rows(), grid.width, lanes, stream);
      return true;
    }
    // Tiles of a few vectors would leave most threads without work.
    return grid.block_rows >= 16 && run_tiles<T>(call, is_whole, stream);
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
    if (!call.has_scale) gather_ranges<T>(call, is_whole, stream);
    if (call.is_random) {
      run_scaled<T, true>(call, is_whole, stream);
    } else {
      run_scaled<T, false>(call, is_whole, stream);
    }
  }
};

}  // namespace

void launch_quantize(const Quantize& call, void* stream) {
  if (call.grid.num_blocks() == 0) return;  // a grid of 0 blocks is a launch error
  for_device_type<Launch>(call.dtype, with_longest_rows(call), static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels

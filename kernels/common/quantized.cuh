// SPDX-License-Identifier: Apache-2.0
// Quantising on devices: vectors of numbers to bytes and back, the scales of blocks, and the two
// ways in which a source of numbers is quantised in one pass: whole rows (QuantizeRows, for
// row.cuh) and groups of a row (launch_group_quantize).
//
// A thread has one 16-byte vector of numbers, and as many bytes of the result: 4 or 8, stored at
// once where they lie at a multiple of that.
#pragma once

#include "pointwise.cuh"
#include "quantized.h"
#include "row.cuh"

#if !CUDAOPS_HIP
#include <cuda_fp8.h>
#endif

// Hardware that converts to and from float8.
#if !CUDAOPS_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define CUDAOPS_KERNELS_FLOAT8_HARDWARE 1
#else
#define CUDAOPS_KERNELS_FLOAT8_HARDWARE 0
#endif

namespace cudaops_kernels {

// ---------------------------------------------------------------------------------------------------
// Bytes

// Four a word, the first in the lowest bits.
template <int kSize>
struct Bytes {
  static constexpr int kWords = kSize / 4;
  uint32_t words[kWords];
};

namespace detail {

__device__ __forceinline__ uint32_t float8_pair(float first, float second) {
#if CUDAOPS_KERNELS_FLOAT8_HARDWARE
  return __nv_cvt_float2_to_fp8x2(make_float2(first, second), __NV_SATFINITE, __NV_E4M3);
#else
  return uint32_t{nearest_float8(first)} | uint32_t{nearest_float8(second)} << 8;
#endif
}

// quantized_of() for int8: the hardware's conversion makes 0 of NaN and ends at its range's ends.
__device__ __forceinline__ uint32_t int8_byte(float x, bool has_zero_point, int32_t zero_point) {
  int32_t value = __float2int_rn(x);
  if (has_zero_point) value = max(min(value, 512), -512);
  return int8_of(value, has_zero_point, zero_point);
}

}  // namespace detail

// zero_point(k): of element k.
template <int kSize, typename ZeroPoint>
__device__ __forceinline__ Bytes<kSize> quantized_bytes(const Floats<kSize>& x, QuantizedType type,
                                                        bool has_zero_point,
                                                        const ZeroPoint& zero_point) {
  Bytes<kSize> bytes;
#pragma unroll
  for (int i = 0; i < kSize / 4; ++i) {
    const int k = 4 * i;
    if (type == QuantizedType::kFloat8) {
      bytes.words[i] = detail::float8_pair(x[k], x[k + 1]) | detail::float8_pair(x[k + 2], x[k + 3])
                                                                 << 16;
    } else {
      bytes.words[i] = detail::int8_byte(x[k], has_zero_point, zero_point(k)) |
                       detail::int8_byte(x[k + 1], has_zero_point, zero_point(k + 1)) << 8 |
                       detail::int8_byte(x[k + 2], has_zero_point, zero_point(k + 2)) << 16 |
                       detail::int8_byte(x[k + 3], has_zero_point, zero_point(k + 3)) << 24;
    }
  }
  return bytes;
}

template <int kSize>
__device__ __forceinline__ Bytes<kSize> quantized_bytes(const Floats<kSize>& x,
                                                        QuantizedType type) {
  return quantized_bytes(x, type, false, [](int) { return 0; });
}

// With the random numbers of the elements from `index` on.
template <int kSize, typename ZeroPoint>
__device__ __forceinline__ Bytes<kSize> random_bytes(const Floats<kSize>& x, QuantizedType type,
                                                     bool has_zero_point,
                                                     const ZeroPoint& zero_point, uint64_t seed,
                                                     int64_t index) {
  constexpr int kCalls = kSize / 4 + 1;
  uint32_t words[4 * kCalls];
  const int skipped = static_cast<int>(index & 3);
#pragma unroll
  for (int call = 0; call < kCalls; ++call) {
    Philox random{};
    if (call + 1 < kCalls || skipped != 0) {
      random = philox(seed, static_cast<uint64_t>((index >> 2) + call));
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) words[4 * call + i] = random.words[i];
  }
#pragma unroll
  for (int i = 0; i < kSize + 2; ++i) words[i] = (skipped & 2) != 0 ? words[i + 2] : words[i];
#pragma unroll
  for (int i = 0; i < kSize; ++i) words[i] = (skipped & 1) != 0 ? words[i + 1] : words[i];
  Bytes<kSize> bytes = {};
#pragma unroll
  for (int k = 0; k < kSize; ++k) {
    bytes.words[k / 4] |=
        uint32_t{quantized_at_random(x[k], type, has_zero_point, zero_point(k), words[k])}
        << (k % 4 * 8);
  }
  return bytes;
}

template <int kSize>
__device__ __forceinline__ Floats<kSize> numbers_of(const Bytes<kSize>& bytes, QuantizedType type) {
  Floats<kSize> numbers;
#pragma unroll
  for (int k = 0; k < kSize; k += 2) {
    const uint32_t pair = bytes.words[k / 4] >> (k % 4 * 8);
    if (type == QuantizedType::kFloat8) {
#if CUDAOPS_KERNELS_FLOAT8_HARDWARE
      const __half2_raw raw =
          __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(pair & 0xffffu), __NV_E4M3);
      const float2 both = __half22float2(__half2(raw));
      numbers[k] = both.x;
      numbers[k + 1] = both.y;
#else
      numbers[k] = float8_to_float(static_cast<uint8_t>(pair));
      numbers[k + 1] = float8_to_float(static_cast<uint8_t>(pair >> 8));
#endif
    } else {
      numbers[k] = static_cast<float>(static_cast<int8_t>(pair));
      numbers[k + 1] = static_cast<float>(static_cast<int8_t>(pair >> 8));
    }
  }
  return numbers;
}

template <int kSize>
__device__ __forceinline__ bool is_aligned_for_bytes(const uint8_t* data) {
  return reinterpret_cast<uintptr_t>(data) % kSize == 0;
}

// Bytes begin … end - 1 of those at `data`; kWhole: all, at a multiple of kSize.
template <bool kWhole, int kSize>
__device__ __forceinline__ void store_bytes(uint8_t* data, const Bytes<kSize>& bytes, int begin,
                                            int end) {
  const bool is_whole = kWhole || (end - begin == kSize && is_aligned_for_bytes<kSize>(data));
  if (is_whole) {
    if constexpr (kSize == 8) {
      *reinterpret_cast<uint2*>(data) = {bytes.words[0], bytes.words[1]};
    } else {
      *reinterpret_cast<uint32_t*>(data) = bytes.words[0];
    }
  }
  if constexpr (!kWhole) {
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      if (is_whole || k < begin || k >= end) continue;
      data[k] = static_cast<uint8_t>(bytes.words[k / 4] >> (k % 4 * 8));
    }
  }
}

// The same the other way; the others are 0.
template <bool kWhole, int kSize>
__device__ __forceinline__ Bytes<kSize> load_bytes(const uint8_t* data, int begin, int end) {
  Bytes<kSize> bytes = {};
  const bool is_whole = kWhole || (end - begin == kSize && is_aligned_for_bytes<kSize>(data));
  if (is_whole) {
    if constexpr (kSize == 8) {
      const uint2 both = *reinterpret_cast<const uint2*>(data);
      bytes.words[0] = both.x;
      bytes.words[1] = both.y;
    } else {
      bytes.words[0] = *reinterpret_cast<const uint32_t*>(data);
    }
  }
  if constexpr (!kWhole) {
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      if (is_whole || k < begin || k >= end) continue;
      bytes.words[k / 4] |= uint32_t{data[k]} << (k % 4 * 8);
    }
  }
  return bytes;
}

// Whether the bytes of all rows can be stored at once where rows of T start at multiples of 16.
template <typename T>
bool bytes_are_aligned(const void* data, int64_t stride) {
  constexpr int64_t kSize = Vector<T>::kSize;
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % kSize) == 0 &&
         stride % kSize == 0;
}

// ---------------------------------------------------------------------------------------------------
// Largest elements. NaN doesn't count: fmaxf() returns the other one.

template <int kSize>
__device__ __forceinline__ float largest_of(const Floats<kSize>& x, float largest = 0) {
#pragma unroll
  for (int k = 0; k < kSize; ++k) largest = fmaxf(largest, fabsf(x[k]));
  return largest;
}

// Over groups of `num_lanes` neighbours, a power of two up to 32; `lanes` are there.
__device__ __forceinline__ float largest_of_lanes(float largest, int num_lanes,
                                                  cudaops::LaneMask lanes = cudaops::kAllLanes) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    if (distance < num_lanes) {
      largest = fmaxf(largest, cudaops::shfl_xor(largest, distance, 32, lanes));
    }
  }
  return largest;
}

// The lanes of the caller's own group.
__device__ __forceinline__ cudaops::LaneMask lanes_of_group(int num_lanes) {
  const int first = cudaops::lane_id() / num_lanes * num_lanes;
  return ((cudaops::LaneMask{1} << (num_lanes - 1) << 1) - 1) << first;
}

__device__ __forceinline__ float scale_for(float largest, QuantizedType type,
                                           const ScaleRule& rule) {
  return symmetric_scale(__float_as_uint(largest), type, rule);
}

// ---------------------------------------------------------------------------------------------------
// Places of scales

// n / divisor for n >= 0.
class Quotient {
 public:
  explicit Quotient(int64_t divisor)
      : divisor_(divisor), divider_(static_cast<uint32_t>((divisor >> 31) == 0 ? divisor : 1)) {}

  __device__ __forceinline__ int64_t of(int64_t n) const {
    if (((n | divisor_) >> 31) == 0) return divider_.quotient(static_cast<uint32_t>(n));
    return n / divisor_;
  }
  __device__ __forceinline__ int64_t divisor() const { return divisor_; }

 private:
  int64_t divisor_;
  detail::Divider divider_;
};

// Where the scale of an element lies: row_at(row) + column_at(column).
struct ScalePlaces {
  BlockStrides strides;
  Quotient num_rows, block_rows, block_columns;
  bool rows_are_apart;  // by strides.row, all of them, each with scales of its own

  ScalePlaces(const BlockGrid& grid, const BlockStrides& scale_strides)
      : strides(scale_strides),
        num_rows(grid.num_rows),
        block_rows(grid.block_rows),
        block_columns(grid.block_columns) {
    if (grid.num_rows == 1) strides.row = strides.matrix;
    rows_are_apart = (grid.block_rows == 1 || grid.num_rows == 1) &&
                     (grid.num_matrices == 1 || strides.matrix == grid.num_rows * strides.row);
  }

  __device__ __forceinline__ int64_t row_at(int64_t row) const {
    if (rows_are_apart) return strides.row * row;
    const int64_t matrix = num_rows.of(row);
    const int64_t block_row = block_rows.of(row - matrix * num_rows.divisor());
    return strides.at(matrix, block_row, 0);
  }
  __device__ __forceinline__ int64_t column_at(int64_t column) const {
    return strides.column * block_columns.of(column);
  }
};

// What the elements begin … end - 1 of a vector, from `column` on, are multiplied by, factor(scale
// of the block), and their zero points.
template <int kSize>
struct VectorScales {
  Floats<kSize> factor;
  int32_t zero_point[kSize];

  // is_one: the vector lies in one block.
  template <typename Factor>
  __device__ __forceinline__ VectorScales(const float* scales, const int32_t* zero_points,
                                          const ScalePlaces& places, int64_t row, int64_t column,
                                          int begin, int end, bool is_one,
                                          const Factor& factor_of) {
    const int64_t row_at = places.row_at(row);
    if (is_one) {
      const int64_t at = row_at + places.column_at(column + begin);
      const float one_factor = factor_of(scales[at]);
      const int32_t one_zero = zero_points == nullptr ? 0 : zero_points[at];
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        factor[k] = one_factor;
        zero_point[k] = one_zero;
      }
    } else {
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        const bool is_there = k >= begin && k < end;
        const int64_t at = row_at + places.column_at(column + (is_there ? k : begin));
        factor[k] = factor_of(scales[at]);
        zero_point[k] = zero_points == nullptr ? 0 : zero_points[at];
      }
    }
  }
};

// Whether every vector lies in one block of columns.
template <typename T>
bool vectors_are_in_blocks(const BlockGrid& grid, bool rows_start_with_vectors) {
  return grid.block_columns >= grid.width ||
         (rows_start_with_vectors && grid.block_columns % Vector<T>::kSize == 0);
}

// ---------------------------------------------------------------------------------------------------
// Results of one pass

struct QuantizedRows {
  QuantizedType type;
  Rows output;
  float* scale;
  ScalePlaces places;
  ScaleRule rule;
};

// Rows that lie so that the bytes of a vector lie at a multiple of their number where a vector of
// this anchor lies at a multiple of 16. Nothing is read or written there.
template <typename T>
Rows anchor_for_bytes(const Rows& output) {
  return {reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(output.data) * sizeof(T)),
          output.stride};
}

// For launch_rows(): a scale a row. source.load(row) is what the row consists of, after rounding to
// T.
template <typename T, typename Source>
struct QuantizeRows {
  using Element = T;
  static constexpr int kNumTiles = Source::kNumTiles;
  static constexpr bool kReadsColumns = Source::kReadsColumns;
  Source source;
  QuantizedRows result;

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const auto x = source.load(row);
    float largest = 0;
    row.each([&](const auto& place) { largest = largest_of(x.at(place), largest); });
    const float scale = scale_for(row.max(largest), result.type, result.rule);
    if (row.is_leader()) result.scale[result.places.row_at(row.index())] = scale;
    const float reciprocal = 1.0f / scale;
    uint8_t* const output = result.output.template row<uint8_t>(row.index());
    row.each([&](const auto& place) {
      store_bytes<Row::kIsWhole>(output + place.column,
                                 quantized_bytes(x.at(place) * reciprocal, result.type),
                                 place.begin, place.end);
    });
  }
};

// The same with a scale for each `num_lanes` vectors, a power of two up to 32, of which a row has a
// whole number. Rows are whole.
template <typename T, typename Source>
struct QuantizeRowGroups {
  using Element = T;
  static constexpr int kNumTiles = Source::kNumTiles;
  static constexpr bool kReadsColumns = Source::kReadsColumns;
  Source source;
  QuantizedRows result;
  int num_lanes;

  template <typename Row, typename Place, typename X>
  __device__ __forceinline__ void write(const Row& row, const Place& place, const X& x,
                                        float largest) const {
    const float scale = scale_for(largest, result.type, result.rule);
    const int64_t vector = place.column / Row::kSize;
    if ((vector & (num_lanes - 1)) == 0) {
      result.scale[result.places.row_at(row.index()) + result.places.column_at(place.column)] =
          scale;
    }
    uint8_t* const output = result.output.template row<uint8_t>(row.index());
    store_bytes<Row::kIsWhole>(output + place.column,
                               quantized_bytes(x.at(place) * (1.0f / scale), result.type),
                               place.begin, place.end);
  }

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const auto x = source.load(row);
    if constexpr (Row::kSlots == 0) {
      // Such rows have whole warps, and a group's lanes stay together.
      row.each([&](const auto& place) {
        const float largest =
            largest_of_lanes(largest_of(x.at(place)), num_lanes, lanes_of_group(num_lanes));
        write(row, place, x, largest);
      });
    } else {
      float largest[Row::kSlots] = {};
      row.each([&](const auto& place) { largest[place.slot] = largest_of(x.at(place)); });
      const int num_threads = static_cast<int>(blockDim.x);
#pragma unroll
      for (int slot = 0; slot < Row::kSlots; ++slot) {
        largest[slot] =
            largest_of_lanes(largest[slot], num_threads < num_lanes ? num_threads : num_lanes);
      }
      // Of rows that have less threads than a group has lanes, several slots are one group.
#pragma unroll
      for (int distance = 1; distance < Row::kSlots; distance *= 2) {
        if (distance * num_threads >= num_lanes) break;
        float other[Row::kSlots];
#pragma unroll
        for (int slot = 0; slot < Row::kSlots; ++slot) other[slot] = largest[slot ^ distance];
#pragma unroll
        for (int slot = 0; slot < Row::kSlots; ++slot) {
          largest[slot] = fmaxf(largest[slot], other[slot]);
        }
      }
      row.each([&](const auto& place) { write(row, place, x, largest[place.slot]); });
    }
  }
};

// ---------------------------------------------------------------------------------------------------
// Groups of a row: 1 × n. A thread has two vectors of a group: what is calculated once for both,
// and the shuffles, would take longer than the memory with one.

namespace detail {

constexpr int kGroupVectors = 2;

struct GroupGrid {
  int64_t num_rows;
  int64_t width;
  Divider blocks_per_row;
  int log2_threads;  // a group: a power of two up to 16
};

// kWhole: rows start at multiples of 16 bytes, those of bytes accordingly, and have whole vectors.
template <typename T, bool kWhole, typename Source>
__global__ void __launch_bounds__(kPointwiseThreads)
    group_quantize_kernel(const Source source, const QuantizedRows result, const GroupGrid grid) {
  constexpr int kSize = Vector<T>::kSize;
  const RowPart part(grid.blocks_per_row);
  const int threads = 1 << grid.log2_threads;
  const int64_t group = part.vector >> grid.log2_threads;
  const int lane = static_cast<int>(part.vector) & (threads - 1);
  const int64_t first = (group * kGroupVectors << grid.log2_threads) + lane;
  int end[kGroupVectors];
  Floats<kSize> x[kGroupVectors];
#pragma unroll
  for (int i = 0; i < kGroupVectors; ++i) {
    const int64_t left = grid.width - (first + i * threads) * kSize;
    end[i] = part.index < grid.num_rows && left > 0
                 ? (left < kSize ? static_cast<int>(left) : kSize)
                 : 0;
    x[i] = {};
    if (end[i] > 0) {
      x[i] = source.template numbers<T, kWhole>(part.index, first + i * threads, end[i],
                                                grid.num_rows, grid.width);
    }
  }
  float largest = 0;
#pragma unroll
  for (int i = 0; i < kGroupVectors; ++i) largest = largest_of(x[i], largest);
  const float scale = scale_for(largest_of_lanes(largest, threads), result.type, result.rule);
  if (end[0] == 0) return;
  if (lane == 0) {
    result.scale[result.places.row_at(part.index) + result.places.strides.column * group] = scale;
  }
  const float reciprocal = 1.0f / scale;
  uint8_t* const output = result.output.template row<uint8_t>(part.index) + first * kSize;
#pragma unroll
  for (int i = 0; i < kGroupVectors; ++i) {
    if (end[i] > 0) {
      store_bytes<kWhole>(output + i * threads * kSize,
                          quantized_bytes(x[i] * reciprocal, result.type), 0, end[i]);
    }
  }
}

}  // namespace detail

// A formula of pointwise.h as a source of rows and groups; Same: the input itself.
struct Same {
  static constexpr int kNumInputs = 1;
};

template <typename Formula>
struct PointwiseSource {
  static constexpr int kNumTiles = Formula::kNumInputs;
  static constexpr bool kReadsColumns = false;
  static constexpr bool kIsSame = std::is_same<Formula, Same>::value;
  ConstRows inputs[Formula::kNumInputs];

  template <typename T>
  __device__ __forceinline__ static Numbers<T> apply(const Numbers<T> (&x)[Formula::kNumInputs]) {
    if constexpr (kIsSame) {
      return x[0];
    } else {
      Numbers<T> y[1];
      detail::apply<T>(Formula{}, x, {}, y);
      return y[0];
    }
  }

  template <typename Row>
  __device__ __forceinline__ auto load(const Row& row) const {
    if constexpr (kIsSame) {
      return row.load(inputs[0]);
    } else {
      static_assert(Formula::kNumInputs == 2, "formulas of two inputs only");
      const auto first = row.load(inputs[0]), second = row.load(inputs[1]);
      return row.compute([first, second](const auto& place) {
        const typename Row::Numbers x[2] = {first.at(place), second.at(place)};
        return apply<typename Row::Element>(x);
      });
    }
  }

  // A vector, of which the first `end` elements are in the row; the others are 0.
  template <typename T, bool kWhole>
  __device__ __forceinline__ Numbers<T> numbers(int64_t index, int64_t vector, int end,
                                                int64_t num_rows, int64_t width) const {
    detail::Window<T> windows[Formula::kNumInputs];
#pragma unroll
    for (int j = 0; j < Formula::kNumInputs; ++j) {
      windows[j] =
          detail::load_window<T, kWhole>(inputs[j], index, vector, 0, 0, end, num_rows, width);
    }
    Numbers<T> x[Formula::kNumInputs];
#pragma unroll
    for (int j = 0; j < Formula::kNumInputs; ++j) x[j] = windows[j].numbers();
    Numbers<T> y = apply<T>(x);
    if constexpr (!kIsSame) y = unpack<T>(pack<T>(y));
    if constexpr (!kWhole) {
#pragma unroll
      for (int k = 0; k < Numbers<T>::kSize; ++k) y[k] = k < end ? y[k] : 0.0f;
    }
    return y;
  }

  template <typename T>
  bool is_aligned(int64_t num_rows) const {
    for (const ConstRows& rows : inputs) {
      if (!detail::all_start_aligned<T>(rows.data, num_rows, rows.stride)) return false;
    }
    return true;
  }
};

// Of blocks of single rows.
inline bool is_scale_a_row(const BlockGrid& grid) { return grid.block_columns >= grid.width; }

// Vectors a group of `columns` elements, if that is a power of two from 2 to 32; else 0.
inline int lanes_of(DType dtype, int64_t columns) {
  const int64_t size = 16 / size_of(dtype), lanes = columns / size;
  const bool fits = columns % size == 0 && lanes >= 2 && lanes <= 32 && (lanes & (lanes - 1)) == 0;
  return fits ? static_cast<int>(lanes) : 0;
}

// A scale a row.
template <typename T, typename Source>
void launch_row_quantize(const Source& source, const QuantizedRows& result, int64_t num_rows,
                         int64_t width, cudaStream_t stream) {
  const bool aligned = source.template is_aligned<T>(num_rows) &&
                       bytes_are_aligned<T>(result.output.data, result.output.stride);
  launch_rows(QuantizeRows<T, Source>{source, result},
              RowGrid{num_rows, width, anchor_for_bytes<T>(result.output)}, aligned, stream);
}

// A scale for each num_lanes vectors of rows whose source needs all of a row. Everything is
// aligned.
template <typename T, typename Source>
void launch_row_group_quantize(const Source& source, const QuantizedRows& result, int64_t num_rows,
                               int64_t width, int num_lanes, cudaStream_t stream) {
  launch_rows<true>(QuantizeRowGroups<T, Source>{source, result, num_lanes},
                    RowGrid{num_rows, width, Rows{nullptr, 0}}, true, stream);
}

// A scale for each num_lanes vectors, two or more.
template <typename T, typename Formula>
void launch_group_quantize(const PointwiseSource<Formula>& source, const QuantizedRows& result,
                           int64_t num_rows, int64_t width, int num_lanes, cudaStream_t stream) {
  constexpr int64_t kSize = Vector<T>::kSize;
  const int64_t columns = num_lanes * kSize;
  const int threads = num_lanes / detail::kGroupVectors;
  int log2_threads = 0;
  while ((1 << log2_threads) < threads) ++log2_threads;
  const detail::RowParts parts(num_rows, (width + columns - 1) / columns * threads);
  const detail::GroupGrid grid{num_rows, width, parts.blocks_per_row, log2_threads};
  const bool is_whole = width % kSize == 0 && source.template is_aligned<T>(num_rows) &&
                        bytes_are_aligned<T>(result.output.data, result.output.stride);
  if (is_whole) {
    detail::group_quantize_kernel<T, true>
        <<<parts.blocks, parts.block, 0, stream>>>(source, result, grid);
  } else {
    detail::group_quantize_kernel<T, false>
        <<<parts.blocks, parts.block, 0, stream>>>(source, result, grid);
  }
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace cudaops_kernels

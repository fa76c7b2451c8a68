// SPDX-License-Identifier: Apache-2.0
// Quantising on devices: vectors of numbers to bytes and back, the scales of blocks, and the two
// ways in which a source of numbers is quantised in one pass: whole rows (QuantizeRows, for
// row.cuh) and groups of a row (launch_group_quantize).
//
// A thread has one 16-byte vector of numbers, and as many bytes of the result: 4 or 8, stored at
// once where they lie at a multiple of that. Groups that lie anywhere are taken in segments
// (Segments).
#pragma once

#include "pointwise.cuh"
#include "quantized.h"
#include "row/dispatch.cuh"

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

// Four to a word, the first in the lowest bits.
__device__ __forceinline__ uint32_t float8_word(float a, float b, float c, float d) {
#if CUDAOPS_KERNELS_FLOAT8_HARDWARE
  uint32_t word;
  asm("{\n\t.reg .b16 low, high;\n\t"
      "cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n\t"
      "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n\t"
      "mov.b32 %0, {low, high};\n\t}"
      : "=r"(word)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return word;
#else
  return uint32_t{nearest_float8(a)} | uint32_t{nearest_float8(b)} << 8 |
         uint32_t{nearest_float8(c)} << 16 | uint32_t{nearest_float8(d)} << 24;
#endif
}

// From -128 to 127.
__device__ __forceinline__ uint32_t int8_word(int32_t a, int32_t b, int32_t c, int32_t d) {
#if CUDAOPS_HIP || !CUDAOPS_DEVICE_CODE
  const auto byte = [](int32_t value) {
    return static_cast<uint32_t>(max(min(value, 127), -128)) & 0xffu;
  };
  return byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24;
#else
  uint32_t word;
  asm("{\n\t.reg .b32 upper;\n\t"
      "cvt.pack.sat.s8.s32.b32 upper, %4, %3, 0;\n\t"
      "cvt.pack.sat.s8.s32.b32 %0, %2, %1, upper;\n\t}"
      : "=r"(word)
      : "r"(a), "r"(b), "r"(c), "r"(d));
  return word;
#endif
}

// quantized_of() for int8, but for the upper end: the hardware's conversion makes 0 of NaN and ends
// at its range's ends.
__device__ __forceinline__ int32_t nearest_int8(float x, bool has_zero_point, int32_t zero_point) {
  const int32_t value = __float2int_rn(x);
  return has_zero_point ? max(min(value, 512), -512) + zero_point : max(value, -127);
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
      bytes.words[i] = detail::float8_word(x[k], x[k + 1], x[k + 2], x[k + 3]);
    } else {
      int32_t values[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        values[j] = detail::nearest_int8(x[k + j], has_zero_point, zero_point(k + j));
      }
      bytes.words[i] = detail::int8_word(values[0], values[1], values[2], values[3]);
    }
  }
  return bytes;
}

template <int kSize>
__device__ __forceinline__ Bytes<kSize> quantized_bytes(const Floats<kSize>& x,
                                                        QuantizedType type) {
  return quantized_bytes(x, type, false, [](int) { return 0; });
}

// body(type) with a constant for the type: asked once, not for each word.
template <typename Body>
__device__ __forceinline__ void dispatch_type(QuantizedType type, const Body& body) {
  if (type == QuantizedType::kFloat8) {
    body(QuantizedType::kFloat8);
  } else {
    body(QuantizedType::kInt8);
  }
}

// With the random numbers of the elements from `index` on, a multiple of 4.
template <int kSize, typename ZeroPoint>
__device__ __forceinline__ Bytes<kSize> random_bytes(const Floats<kSize>& x, QuantizedType type,
                                                     bool has_zero_point,
                                                     const ZeroPoint& zero_point, uint64_t seed,
                                                     int64_t index) {
#if !CUDAOPS_HIP && CUDAOPS_DEVICE_CODE
  asm volatile("" : "+l"(seed));  // what is the same for all threads nvcc calculates more slowly
#endif
  Philox random[kSize / 4];
#pragma unroll
  for (int i = 0; i < kSize / 4; ++i) random[i] = random_words(seed, index + 4 * i);
  Bytes<kSize> bytes = {};
  dispatch_type(type, [&](QuantizedType asked) {
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      const uint32_t byte = quantized_at_random(x[k], asked, has_zero_point, zero_point(k),
                                                random[k / 4].words[k % 4]);
      bytes.words[k / 4] |= byte << (k % 4 * 8);
    }
  });
  return bytes;
}

// How the numbers of a vector become the bytes that go to `output`.
struct ToNearest {
  template <int kSize>
  __device__ __forceinline__ Bytes<kSize> operator()(const Floats<kSize>& x, QuantizedType type,
                                                     const uint8_t*) const {
    return quantized_bytes(x, type);
  }
};
// Where a vector lies says which elements it has: results start at a multiple of 4 bytes and have
// no gaps.
struct AtRandom {
  uint64_t seed;
  const uint8_t* first;

  AtRandom(uint64_t seed_of_all, const Rows& output)
      : seed(seed_of_all), first(static_cast<const uint8_t*>(output.data)) {}

  static bool suits(const Rows& output, int64_t num_rows, int64_t width) {
    return reinterpret_cast<uintptr_t>(output.data) % 4 == 0 &&
           (num_rows == 1 || output.stride == width);
  }
  template <int kSize>
  __device__ __forceinline__ Bytes<kSize> operator()(const Floats<kSize>& x, QuantizedType type,
                                                     const uint8_t* output) const {
    return random_bytes(
        x, type, false, [](int) { return 0; }, seed, output - first);
  }
};

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

// All of them, to the `vector`-th multiple of kSize from `data` on, which is one.
template <int kSize>
__device__ __forceinline__ void store_whole_bytes(uint8_t* data, int vector,
                                                  const Bytes<kSize>& bytes) {
  if constexpr (kSize == 8) {
    reinterpret_cast<uint2*>(data)[vector] = {bytes.words[0], bytes.words[1]};
  } else {
    reinterpret_cast<uint32_t*>(data)[vector] = bytes.words[0];
  }
}

// Bytes begin … end - 1 of those at `data`; kWhole: all, at a multiple of kSize.
template <bool kWhole, int kSize>
__device__ __forceinline__ void store_bytes(uint8_t* data, const Bytes<kSize>& bytes, int begin,
                                            int end) {
  const bool is_whole = kWhole || (end - begin == kSize && is_aligned_for_bytes<kSize>(data));
  if (is_whole) store_whole_bytes(data, 0, bytes);
  if constexpr (!kWhole) {
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      if (is_whole || k < begin || k >= end) continue;
      data[k] = static_cast<uint8_t>(bytes.words[k / 4] >> (k % 4 * 8));
    }
  }
}

// kSize bytes from the `offset`-th of two vectors on; offset is at most kSize.
template <int kSize>
__device__ __forceinline__ Bytes<kSize> funnel_shift_bytes(const Bytes<kSize>& low,
                                                           const Bytes<kSize>& high,
                                                           unsigned int offset) {
  constexpr int kWords = Bytes<kSize>::kWords;
  uint32_t words[2 * kWords + 1];
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    words[i] = low.words[i];
    words[kWords + i] = high.words[i];
  }
  words[2 * kWords] = 0;
#pragma unroll
  for (int step = kWords; step > 0; step /= 2) {
#pragma unroll
    for (int i = 0; i + step <= 2 * kWords; ++i) {
      words[i] = (offset & (4 * step)) != 0 ? words[i + step] : words[i];
    }
  }
  Bytes<kSize> bytes;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    bytes.words[i] =
        static_cast<uint32_t>((uint64_t{words[i + 1]} << 32 | words[i]) >> (offset % 4 * 8));
  }
  return bytes;
}

// Bytes begin … end - 1 of those at `data`, a multiple of kSize; most have the first or the last:
// in one store for each power of two.
template <int kSize>
__device__ __forceinline__ void store_bytes_of_end(uint8_t* data, const Bytes<kSize>& bytes,
                                                   int begin, int end) {
  const int num = end - begin;
  const uint64_t word =
      kSize == 8 ? uint64_t{bytes.words[kSize / 4 - 1]} << 32 | bytes.words[0] : bytes.words[0];
  if (num == kSize) {
    store_bytes<true>(data, bytes, 0, kSize);
  } else if (begin > 0 && end < kSize) {
#pragma unroll 1
    for (int k = begin; k < end; ++k) data[k] = static_cast<uint8_t>(word >> (k * 8));
  } else if (num > 0) {
    // The smallest next to what is not ours.
    const int one = begin > 0 ? begin : num & 6;
    const int two = begin > 0 ? (begin + 1) & 6 : num & 4;
    const int four = begin > 0 ? 4 : 0;
    if ((num & 1) != 0) data[one] = static_cast<uint8_t>(word >> (one * 8));
    if ((num & 2) != 0) {
      *reinterpret_cast<uint16_t*>(data + two) = static_cast<uint16_t>(word >> (two * 8));
    }
    if (kSize == 8 && (num & 4) != 0) {
      *reinterpret_cast<uint32_t*>(data + four) = static_cast<uint32_t>(word >> (four * 8));
    }
  }
}

template <int kSize>
__device__ __forceinline__ Bytes<kSize> load_aligned_bytes(const uint8_t* data) {
  if constexpr (kSize == 8) {
    const uint2 both = *reinterpret_cast<const uint2*>(data);
    return {{both.x, both.y}};
  } else {
    return {{*reinterpret_cast<const uint32_t*>(data)}};
  }
}

// Bytes in flight: loaded as two aligned vectors, as detail::Window.
template <int kSize>
struct BytesWindow {
  Bytes<kSize> low, high;
  unsigned int offset;
  __device__ __forceinline__ Bytes<kSize> bytes() const {
    return funnel_shift_bytes(low, high, offset);
  }
};

// The vector at `data` between others: all of both vectors may be read.
template <int kSize>
__device__ __forceinline__ BytesWindow<kSize> load_bytes(const uint8_t* data) {
  const unsigned int offset = static_cast<unsigned int>(reinterpret_cast<uintptr_t>(data) % kSize);
  return {load_aligned_bytes<kSize>(data - offset),
          load_aligned_bytes<kSize>(data - offset + kSize), offset};
}

// The vector at `data`, of which bytes begin … end - 1 are wanted. Of an array that reaches from
// `first` to `last` nothing else is touched; the other bytes are what lies there, or 0.
template <int kSize>
__device__ __forceinline__ BytesWindow<kSize> load_bytes(const uint8_t* data, int begin, int end,
                                                         const uint8_t* first,
                                                         const uint8_t* last) {
  BytesWindow<kSize> window = {};
  window.offset = static_cast<unsigned int>(reinterpret_cast<uintptr_t>(data) % kSize);
  const uint8_t* const aligned = data - window.offset;
  if (aligned >= first && aligned + (window.offset == 0 ? 1 : 2) * kSize <= last) {
    window.low = load_aligned_bytes<kSize>(aligned);
    if (window.offset != 0) window.high = load_aligned_bytes<kSize>(aligned + kSize);
  } else {
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      if (k >= begin && k < end) window.low.words[k / 4] |= uint32_t{data[k]} << (k % 4 * 8);
    }
    window.offset = 0;
  }
  return window;
}

// Whether the bytes of all rows can be stored at once where rows of T start at multiples of 16.
template <typename T>
bool bytes_are_aligned(const void* data, int64_t stride) {
  constexpr int64_t kSize = Vector<T>::kSize;
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % kSize) == 0 &&
         stride % kSize == 0;
}

// ---------------------------------------------------------------------------------------------------
// Largest magnitudes

// The lanes of the caller's own group.
__device__ __forceinline__ cudaops::LaneMask lanes_of_group(int num_lanes) {
  const int first = cudaops::lane_id() / num_lanes * num_lanes;
  return ((cudaops::LaneMask{1} << (num_lanes - 1) << 1) - 1) << first;
}

__device__ __forceinline__ float scale_for(float largest, QuantizedType type,
                                           const ScaleRule& rule) {
  return symmetric_scale(__float_as_uint(largest), type, rule);
}

// 1 / a scale that scale_for() gave: with neither it nor its reciprocal subnormal, what nvcc makes
// of a division needs no look at the operand.
__device__ __forceinline__ float reciprocal_of_scale(float scale) {
#if CUDAOPS_HIP || !CUDAOPS_DEVICE_CODE
  return 1.0f / scale;
#else
  float reciprocal;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(scale));
  return fmaf(fmaf(-scale, reciprocal, 1.0f), reciprocal, reciprocal);
#endif
}

// ---------------------------------------------------------------------------------------------------
// Places of scales

namespace detail {

// Rarely called, and a hundred instructions where it is inlined.
static __device__ __noinline__ int64_t long_quotient(int64_t n, int64_t divisor) {
  return n / divisor;
}

}  // namespace detail

// n / divisor for n >= 0.
class Quotient {
 public:
  explicit Quotient(int64_t divisor)
      : divisor_(divisor), divider_(static_cast<uint32_t>((divisor >> 31) == 0 ? divisor : 1)) {}

  __device__ __forceinline__ int64_t of(int64_t n) const {
    if (((n | divisor_) >> 31) == 0) return divider_.quotient(static_cast<uint32_t>(n));
    return detail::long_quotient(n, divisor_);
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

// The scale of one block, as a factor, and its zero point.
struct BlockScale {
  float factor;
  int32_t zero_point;

  template <typename Factor>
  __device__ __forceinline__ static BlockScale load(const float* scales, const int32_t* zero_points,
                                                    int64_t at, const Factor& factor_of) {
    return {factor_of(scales[at]), zero_points == nullptr ? 0 : zero_points[at]};
  }
};

// Elements begin … end - 1 of a vector from `column` on.
struct VectorPlace {
  int64_t column;
  int begin, end;
};

// Those of a vector's elements, which may lie in several blocks of the row of them at row_at.
template <int kSize>
struct VectorScales {
  Floats<kSize> factor;
  int32_t zero_point[kSize];

  template <typename Factor>
  __device__ __forceinline__ VectorScales(const float* scales, const int32_t* zero_points,
                                          const ScalePlaces& places, int64_t row_at,
                                          const VectorPlace& place, const Factor& factor_of) {
    const int64_t column = place.column;
    const int begin = place.begin, end = place.end;
    const int64_t block_columns = places.block_columns.divisor();
    const int64_t first_block = places.block_columns.of(column + begin);
    const int64_t first_at = row_at + places.strides.column * first_block;
    const BlockScale first = BlockScale::load(scales, zero_points, first_at, factor_of);
    if (block_columns >= kSize) {
      // Two at most.
      const int64_t left = (first_block + 1) * block_columns - column;
      const int boundary = left < end ? static_cast<int>(left) : end;
      BlockScale second = first;
      if (boundary < end) {
        second = BlockScale::load(scales, zero_points, first_at + places.strides.column, factor_of);
      }
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        factor[k] = k < boundary ? first.factor : second.factor;
        zero_point[k] = k < boundary ? first.zero_point : second.zero_point;
      }
    } else {
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        const int64_t at = row_at + places.column_at(column + (k >= begin && k < end ? k : begin));
        const BlockScale own = BlockScale::load(scales, zero_points, at, factor_of);
        factor[k] = own.factor;
        zero_point[k] = own.zero_point;
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

// Those of a place, to its row; `first`: row.first_byte().
template <typename Row, typename Place>
__device__ __forceinline__ void store_bytes_of_row(const Row& row, uint8_t* first,
                                                   const Place& place,
                                                   const Bytes<Place::kSize>& bytes) {
  if (!place.exists()) return;
  if constexpr (Row::kIsWhole) {
    store_whole_bytes(first, place.column / Place::kSize, bytes);
  } else if constexpr (Row::kIsZeroPadded && !Place::kIsWhole) {
    store_bytes_of_end(row.at_vector(first, place), bytes, place.begin, place.end);
  } else {
    store_bytes<Place::kIsWhole>(row.at_vector(first, place), bytes, place.begin, place.end);
  }
}

// For launch_rows(): a scale a row. source.load(row) is what the row consists of, after rounding to
// T.
template <typename T, typename Source>
struct QuantizeRows {
  using Element = T;
  static constexpr int kNumTiles = Source::kNumTiles;
  static constexpr bool kReadsColumns = Source::kReadsColumns, kZeroPads = true;
  Source source;
  QuantizedRows result;

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const auto x = source.load(row);
    AbsMax<T> largest(0);
    row.each([&](const auto& place) { largest.add(x.packed(place)); });
    const float scale = scale_for(row.max_of_magnitudes(largest.value()), result.type, result.rule);
    if (row.is_leader()) result.scale[result.places.row_at(row.index())] = scale;
    const float reciprocal = reciprocal_of_scale(scale);
    uint8_t* const output = row.first_byte(result.output);
    dispatch_type(result.type, [&](QuantizedType type) {
      row.each([&](const auto& place) {
        store_bytes_of_row(row, output, place, quantized_bytes(x.at(place) * reciprocal, type));
      });
    });
  }
};

// The same with a scale for each `num_lanes` vectors, a power of two up to 32, of which a row has a
// whole number. Rows are whole.
template <typename T, typename Source>
struct QuantizeRowGroups {
  using Element = T;
  static constexpr int kNumTiles = Source::kNumTiles;
  static constexpr bool kReadsColumns = Source::kReadsColumns, kZeroPads = true;
  Source source;
  QuantizedRows result;
  int num_lanes;

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const auto x = source.load(row);
    const int log2_lanes = 31 - __clz(num_lanes), in_group = num_lanes - 1;
    float* const scales = kept_address(result.scale + result.places.row_at(row.index()));
    uint8_t* const output = row.first_byte(result.output);
    const auto store_scale = [&](int vector, float scale) {
      scales[result.places.strides.column * (vector >> log2_lanes)] = scale;
    };
    const auto write = [&](const auto& place, float reciprocal, QuantizedType type) {
      store_bytes_of_row(row, output, place, quantized_bytes(x.at(place) * reciprocal, type));
    };
    if constexpr (Row::kSlots == 0) {
      // Such rows have whole warps, and a group's lanes stay together.
      row.each([&](const auto& place) {
        AbsMax<T> of_thread[1];
        of_thread[0].add(x.packed(place));
        const float scale =
            scale_for(AbsMax<T>::reduce_lanes(of_thread, num_lanes, lanes_of_group(num_lanes))[0],
                      result.type, result.rule);
        const int vector = place.column / Row::kSize;
        if ((vector & in_group) == 0) store_scale(vector, scale);
        write(place, reciprocal_of_scale(scale), result.type);
      });
    } else {
      constexpr int kSlots = Row::kSlots;
      const int num_threads = static_cast<int>(blockDim.x);
      AbsMax<T> of_thread[kSlots];
      row.each([&](const auto& place) { of_thread[place.slot].add(x.packed(place)); });
      Floats<kSlots> reciprocals;
      if (num_lanes >= kSlots && num_threads >= num_lanes) {
        // Each lane of a group has the scale of one slot to work out.
        const int own = static_cast<int>(threadIdx.x) & (kSlots - 1);
        const float scale = scale_for(AbsMax<T>::reduce_scatter_lanes(of_thread, num_lanes),
                                      result.type, result.rule);
        const int vector = row.vector_at(own);
        if ((vector & in_group) == own && (vector - own) * Row::kSize < row.width() &&
            row.exists()) {
          store_scale(vector, scale);
        }
        const float reciprocal = reciprocal_of_scale(scale);
#pragma unroll
        for (int slot = 0; slot < kSlots; ++slot) {
          reciprocals[slot] = cudaops::shfl(reciprocal, slot, kSlots);
        }
      } else {
        Floats<kSlots> largest = AbsMax<T>::reduce_lanes(
            of_thread, num_threads < num_lanes ? num_threads : num_lanes, cudaops::kAllLanes);
        // Of rows that have less threads than a group has lanes, several slots are one group.
#pragma unroll
        for (int distance = 1; distance < kSlots; distance *= 2) {
          if (distance * num_threads >= num_lanes) break;
          const Floats<kSlots> own = largest;
#pragma unroll
          for (int slot = 0; slot < kSlots; ++slot) {
            largest[slot] = fmaxf(own[slot], own[slot ^ distance]);
          }
        }
        row.each([&](const auto& place) {
          const float scale = scale_for(largest[place.slot], result.type, result.rule);
          const int vector = place.column / Row::kSize;
          if ((vector & in_group) == 0 && place.exists()) store_scale(vector, scale);
          reciprocals[place.slot] = reciprocal_of_scale(scale);
        });
      }
      dispatch_type(result.type, [&](QuantizedType type) {
        row.each([&](const auto& place) { write(place, reciprocals[place.slot], type); });
      });
    }
  }
};

// ---------------------------------------------------------------------------------------------------
// Segments: what a row has of a block, wherever it lies. A warp has several.
//
// Vectors lie where the bytes of the result have their multiples of kSize. The vectors of a segment
// that are whole are its lanes', slot after slot, 2^log2_lanes lanes a segment; those at its ends,
// of which it has only a part, are apart: one more vector of the warp's lanes 2p and 2p + 1 for
// segment p. What is known of a segment these two know, and the others ask them. So there is no
// look at a segment's ends but once a warp, and no byte is moved from one lane to another, except
// where two segments meet in a vector.

template <typename T>
class Segments {
 public:
  static constexpr int kSize = Vector<T>::kSize, kMost = 16;

  // The caller's own, and whether of its two lanes the caller is the first.
  __device__ __forceinline__ static int own_segment() { return lane() / 2; }
  __device__ __forceinline__ static bool is_first() { return lane() % 2 == 0; }
  // Of a warp.
  template <int kSlots>
  CUDAOPS_HOST_DEVICE static constexpr int num_segments(int log2_lanes) {
    return (kSlots << (5 - log2_lanes)) < kMost ? kSlots << (5 - log2_lanes) : kMost;
  }

  // `output`: the first of the `num` bytes of the caller's own segment, at most kSize <<
  // log2_lanes. num_segments: that the warp has at most.
  __device__ __forceinline__ Segments(int log2_lanes, uint8_t* output, int num,
                                      int num_segments = kMost)
      : log2_lanes_(log2_lanes), lane_(lane()), num_segments_(num_segments) {
    shift_ = static_cast<int>(reinterpret_cast<uintptr_t>(output) % kSize);
    end_ = shift_ + num;
    output_ = output - shift_;
  }

  // Elements of the own segment's first vector before the segment.
  __device__ __forceinline__ int shift() const { return shift_; }
  // Elements from there to the segment's end.
  __device__ __forceinline__ int end() const { return end_; }

  // body(slot) for the slots that the warp has segments in, perhaps for some more: not every slot
  // is worth a branch.
  template <int kSlots, typename Body>
  __device__ __forceinline__ void each_slot(const Body& body) const {
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) {
      if (slot > 0 && (slot & (slot - 1)) == 0 && slot << (5 - log2_lanes_) >= num_segments_) break;
      body(slot);
    }
  }

  // A lane whose own is the segment that the caller has a vector of in a slot, and which vector.
  __device__ __forceinline__ int owner(int slot) const {
    return (lane_ >> log2_lanes_) * 2 + slot * (64 >> log2_lanes_);
  }
  __device__ __forceinline__ int vector() const { return lane_ & ((1 << log2_lanes_) - 1); }
  // Whether it is whole.
  __device__ __forceinline__ bool is_whole(int slot) const {
    const int place = cudaops::shfl(shift_ | end_ << 8, owner(slot), 32);
    const int first = vector() * kSize;
    return first >= (place & 0xff) && first + kSize <= place >> 8;
  }

  // The caller's vector at an end of its own segment, and what the segment has of it; perhaps
  // nothing.
  struct End {
    int vector;
    int begin, end;
  };
  __device__ __forceinline__ End own_end() const {
    const bool is_short = end_ < kSize;
    if ((lane_ & 1) == 0) {
      return {0, shift_, is_short ? end_ : (shift_ == 0 ? 0 : kSize)};
    }
    return {end_ / kSize, 0, is_short ? 0 : end_ % kSize};
  }

  // The largest magnitude of the own segment.
  template <int kSlots>
  __device__ __forceinline__ float largest(const AbsMax<T> (&of_slots)[kSlots],
                                           const AbsMax<T>& of_end) const {
    const Floats<kSlots> of_segments =
        AbsMax<T>::reduce_lanes(of_slots, 1 << log2_lanes_, cudaops::kAllLanes);
    // A lane of each segment takes one slot's to those who ask.
    float own = of_segments[0];
#pragma unroll
    for (int slot = 1; slot < kSlots; ++slot) own = vector() == slot ? of_segments[slot] : own;
    const int per_slot = 32 >> log2_lanes_, segment = lane_ / 2;
    own = cudaops::shfl(
        own, ((segment & (per_slot - 1)) << log2_lanes_) + (segment >> (5 - log2_lanes_)), 32);
    const float of_both = max_over_lanes(of_end.value(), 2);
    return fmaxf(own, of_both);
  }

  // Where the bytes of the caller's vector in a slot go, and those of own_end().
  __device__ __forceinline__ uint8_t* output(int slot) const {
    return address_of_lane(output_, owner(slot)) + vector() * kSize;
  }
  __device__ __forceinline__ uint8_t* output(const End& at) const {
    return output_ + at.vector * kSize;
  }
  // Bytes of own_end(); the others are 0.
  __device__ __forceinline__ void store_end(End at, Bytes<kSize> bytes) const {
    uint8_t* const data = output(at);
    // A segment's last bytes and the next one's first may be all of a vector.
    const uintptr_t address = reinterpret_cast<uintptr_t>(data);
    const uintptr_t next_address = cudaops::shfl_down(address, 1, 32);
    const int next_part = cudaops::shfl_down(at.begin | at.end << 8, 1, 32);
    const bool joins = (lane_ & 1) != 0 && at.end > 0 && next_address == address &&
                       next_part == (at.end | kSize << 8);
#pragma unroll
    for (int i = 0; i < Bytes<kSize>::kWords; ++i) {
      const uint32_t next = cudaops::shfl_down(bytes.words[i], 1, 32);
      if (joins) bytes.words[i] |= next;
    }
    const int last_joins = cudaops::shfl_up(joins ? 1 : 0, 1, 32);
    if (joins) at.end = kSize;
    if ((lane_ & 1) == 0 && last_joins != 0) at.end = at.begin;
    store_bytes_of_end(data, bytes, at.begin, at.end);
  }

 private:
  // Of 32, on GPUs with warps of 64 too.
  __device__ __forceinline__ static int lane() { return cudaops::lane_id() % 32; }

  int log2_lanes_;
  int lane_;
  int num_segments_;
  int shift_, end_;
  uint8_t* output_;
};

// The vectors of a warp's segments, from their loads to their bytes. kSameAlignment: vectors of all
// inputs lie at multiples of 16 bytes where those of the bytes lie at multiples of their number.
// The source makes 0 of zeros.
template <typename T, int kSlots, bool kSameAlignment>
class LoadedSegments {
  static constexpr int kSize = Vector<T>::kSize;

 public:
  // The own segment begins at `column` of `row`, if it exists.
  template <typename Source>
  __device__ __forceinline__ LoadedSegments(const Segments<T>& segments, const Source& source,
                                            int64_t row, int64_t column, bool exists,
                                            int64_t num_rows, int64_t width)
      : at_(segments.own_end()) {
    using Windows = typename Source::template Windows<T>;
    const auto inputs = source.template inputs<T>(row, column - segments.shift());
    const auto bounds = source.template bounds<T>(num_rows, width);
    // All loads are issued before the first is waited for.
    Windows windows[kSlots] = {}, of_end = {};
    const auto load_slots = [&](const auto& load) {
      segments.template each_slot<kSlots>([&](int slot) {
        const auto vectors =
            inputs.address_of_lane(segments.owner(slot)) + segments.vector() * kSize;
        if (segments.is_whole(slot)) {
          whole_ |= 1u << slot;
          windows[slot] = load(vectors);
        }
      });
    };
    if (kSameAlignment ||
        cudaops::all(!exists || inputs.are_between(bounds, segments.end() + kSize))) {
      load_slots([](const auto& vectors) { return vectors.template load<kSameAlignment>(); });
    } else {
      load_slots([&](const auto& vectors) { return vectors.load(bounds, 0, kSize); });
    }
    if (at_.begin < at_.end) {
      of_end = (inputs + at_.vector * kSize).load(bounds, at_.begin, at_.end);
    }
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) {
      x_[slot] = Source::template packed<T, kSameAlignment>(windows[slot]);
    }
    end_ = masked<T>(Source::template packed<T, kSameAlignment>(of_end), at_.begin, at_.end);
  }

  // The largest magnitude of the own segment.
  __device__ __forceinline__ float max_of_segments(const Segments<T>& segments) const {
    AbsMax<T> of_slots[kSlots], of_end;
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) of_slots[slot].add(x_[slot]);
    of_end.add(end_);
    return segments.largest(of_slots, of_end);
  }
  // The same of the caller's vectors.
  __device__ __forceinline__ float max_of_lane() const {
    AbsMax<T> largest;
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) largest.add(x_[slot]);
    largest.add(end_);
    return largest.value();
  }

  // reciprocal: of the own segment's scale.
  template <typename Rounding = ToNearest>
  __device__ __forceinline__ void store(const Segments<T>& segments, QuantizedType type,
                                        float reciprocal, const Rounding& rounding = {}) const {
    const auto bytes_of = [&](const Packed& packed, float factor, const uint8_t* output) {
      return rounding(unpack<T>(kept_packed<T>(packed)) * factor, type, output);
    };
    const auto store_slot = [&](int slot, const Packed& packed) {
      const float factor = cudaops::shfl(reciprocal, segments.owner(slot), 32);
      uint8_t* const output = segments.output(slot);
      const Bytes<kSize> bytes = bytes_of(packed, factor, output);
      if ((whole_ >> slot & 1) != 0) store_bytes<true>(output, bytes, 0, kSize);
    };
    if constexpr (std::is_same<Rounding, ToNearest>::value) {
      segments.template each_slot<kSlots>([&](int slot) { store_slot(slot, x_[slot]); });
    } else {
      // Caches have no room for so long a code for each slot: vectors move up in a loop.
      constexpr int kAtOnce = 2;
      Packed left[kSlots];
#pragma unroll
      for (int i = 0; i < kSlots; ++i) left[i] = x_[i];
#pragma unroll 1
      for (int slot = 0; slot < kSlots; slot += kAtOnce) {
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) store_slot(slot + i, left[i]);
#pragma unroll
        for (int i = 0; i + kAtOnce < kSlots; ++i) left[i] = left[i + kAtOnce];
      }
    }
    segments.store_end(at_, bytes_of(end_, reciprocal, segments.output(at_)));
  }

 private:
  typename Segments<T>::End at_;
  uint32_t whole_ = 0;  // a bit a slot
  Packed x_[kSlots], end_;
};

// ---------------------------------------------------------------------------------------------------
// Groups of a row: 1 × n. Where rows are whole a thread has several vectors of a group: what is
// calculated once for all of them, and the shuffles, would take longer than the memory with one.
// Other rows' groups are segments.

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
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    uint8_t* const own = output + i * threads * kSize;
    if (exists[i]) {
      store_bytes<true>(
          own, rounding(unpack<T>(kept_packed<T>(x[i])) * reciprocal, result.type, own), 0, kSize);
    }
  }
}

struct SegmentGrid {
  int64_t num_rows;
  int64_t width;
  Quotient groups_per_row;
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
  const int per_warp = Segments<T>::template num_segments<kSlots>(grid.log2_threads);
  const int64_t warp = int64_t{blockIdx.x} * (kSegmentThreads / 32) + threadIdx.x / 32;
  if (warp * per_warp >= grid.num_groups) return;
  const int64_t index = warp * per_warp + Segments<T>::own_segment();
  const int64_t row = grid.groups_per_row.of(index);
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

// Of a power of two.
inline int log2_of(int n) {
  int log2 = 0;
  while ((1 << log2) < n) ++log2;
  return log2;
}

}  // namespace detail

// The same as QuantizeRowGroups for rows that lie anywhere and whose last group may be smaller.
//
// A row's groups begin as far within a vector as the row does: the first vector of each has a few
// elements of the group before. Those vectors the threads write to shared memory, of the others the
// largest magnitude only; a thread a group makes the scale of that. Lanes needn't be those of one
// group for this, wherever the row's vectors are.
template <typename T, typename Source>
struct QuantizeAnyRowGroups {
  using Element = T;
  static constexpr int kNumTiles = Source::kNumTiles, kSize = Vector<T>::kSize;
  static constexpr bool kReadsColumns = Source::kReadsColumns, kZeroPads = true;
  static constexpr int64_t kMostStageBytes = 46 * 1024;  // with the scratch what every device has
  Source source;
  QuantizedRows result;
  int log2_lanes;     // vectors a group
  int num_groups;     // of a row
  int stage_vectors;  // of shared memory, for a row

  QuantizeAnyRowGroups(const Source& rows, const QuantizedRows& to, int64_t width, int num_lanes)
      : source(rows),
        result(to),
        log2_lanes(detail::log2_of(num_lanes)),
        num_groups(static_cast<int>(num_groups_of(width, num_lanes))),
        stage_vectors(static_cast<int>(stage_vectors_of(width, num_lanes))) {}

  // Whether a block has registers and shared memory for a row.
  static bool fits_block(int64_t width, int num_lanes) {
    return detail::num_vectors<kSize>(width, false) <= 8 * detail::kMaxRowThreads &&
           stage_vectors_of(width, num_lanes) * int64_t{sizeof(Packed)} <= kMostStageBytes;
  }

  // What a block has in shared memory of each of its rows: of every group the vector that it shares
  // with the group before, the other vectors' largest, and its scale's reciprocal, between zeros.
  // The row's last elements may be in a vector that begins one more group.
  struct Stage {
    Packed* shared;
    uint32_t* largest;
    float* reciprocals;
  };
  size_t stage_bytes(int64_t rows) const {
    return static_cast<size_t>(rows * stage_vectors) * sizeof(Packed);
  }

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const Stage stage = stage_of_row();
    const auto x = source.load(row);
    const int in_group = (1 << log2_lanes) - 1;
    row.each([&](const auto& place) {
      const Packed vector = x.packed(place);
      AbsMax<T> largest;
      largest.add(vector);
      const int index = row.index_of(place);
      const bool is_shared = (index & in_group) == 0;
      if (place.exists()) stage.largest[largest_at(index)] = is_shared ? 0 : largest.word();
      if (place.exists() && is_shared) stage.shared[index >> log2_lanes] = vector;
    });
    const int num_threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
    const int num_slots = (num_groups + 1) << log2_lanes;
#pragma unroll 1
    for (int i = row.num_vectors() + thread; i < num_slots; i += num_threads) {
      stage.largest[largest_at(i)] = 0;
      if ((i & in_group) == 0) stage.shared[i >> log2_lanes] = {0, 0, 0, 0};
    }
    __syncthreads();
    if (row.exists()) {
      float* const scales = result.scale + result.places.row_at(row.index());
#pragma unroll 1
      for (int group = thread; group < num_groups; group += num_threads) {
        const float largest = largest_of_group(stage, group, row.shift());
        const float scale = scale_for(largest, result.type, result.rule);
        scales[result.places.strides.column * group] = scale;
        stage.reciprocals[group + 1] = reciprocal_of_scale(scale);
      }
      if (thread == 0) stage.reciprocals[0] = stage.reciprocals[num_groups + 1] = 0;
    }
    __syncthreads();
    uint8_t* const output = row.first_byte(result.output);
    const int shift = row.shift();
    dispatch_type(result.type, [&](QuantizedType type) {
      row.each([&](const auto& place) {
        const int index = place.exists() ? row.index_of(place) : 0;
        const float* const reciprocals = stage.reciprocals + (index >> log2_lanes);
        const float own = reciprocals[1], first = (index & in_group) == 0 ? reciprocals[0] : own;
        auto y = x.at(place);
#pragma unroll
        for (int k = 0; k < kSize; ++k) y[k] *= k < shift ? first : own;
        store_bytes_of_row(row, output, place, quantized_bytes(y, type));
      });
    });
  }

 private:
  static constexpr int kApart = 2;  // words between groups

  static int64_t num_groups_of(int64_t width, int num_lanes) {
    const int64_t columns = num_lanes * int64_t{kSize};
    return (width + columns - 1) / columns;
  }
  static int64_t stage_vectors_of(int64_t width, int num_lanes) {
    constexpr int64_t kVector = sizeof(Packed), kWord = sizeof(uint32_t);
    const int64_t groups = num_groups_of(width, num_lanes) + 1;
    const int64_t bytes = groups * (kVector + (num_lanes + kApart) * kWord) + (groups + 1) * kWord;
    return (bytes + kVector - 1) / kVector;
  }

  // Of Stage::largest: the threads that each read a group's find them in different banks.
  __device__ __forceinline__ int largest_at(int vector) const {
    return vector + kApart * (vector >> log2_lanes);
  }

  __device__ __forceinline__ Stage stage_of_row() const {
    extern __shared__ Packed stash[];
    Stage stage;
    stage.shared = stash + static_cast<int>(threadIdx.y) * stage_vectors;
    stage.largest = reinterpret_cast<uint32_t*>(stage.shared + num_groups + 1);
    stage.reciprocals =
        reinterpret_cast<float*>(stage.largest + largest_at((num_groups + 1) << log2_lanes));
    return stage;
  }

  // shift: elements of a group's first vector that belong to the group before.
  __device__ __forceinline__ float largest_of_group(const Stage& stage, int group,
                                                    int shift) const {
    const Packed first = stage.shared[group], next = stage.shared[group + 1];
    const uint32_t own[4] = {first.x, first.y, first.z, first.w};
    const uint32_t after[4] = {next.x, next.y, next.z, next.w};
    uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      // As many bits of the word are the group's before.
      const int others = shift * 8 * static_cast<int>(sizeof(T)) - 32 * i;
      const uint32_t mask = others >= 32 ? 0 : 0xffffffffu << (others > 0 ? others : 0);
      words[i] = (own[i] & mask) | (after[i] & ~mask);
    }
    AbsMax<T> largest;
    largest.add({words[0], words[1], words[2], words[3]});
    const uint2* const others =
        reinterpret_cast<const uint2*>(stage.largest + largest_at(group << log2_lanes));
#pragma unroll 8
    for (int i = 0; i < 1 << (log2_lanes - 1); ++i) {
      largest.add_word(others[i].x);
      largest.add_word(others[i].y);
    }
    return largest.value();
  }
};

// A formula of pointwise.h as a source of rows and groups; Same: the input itself.
struct Same {
  static constexpr int kNumInputs = 1;
};

template <typename Formula>
struct PointwiseSource {
  static constexpr int kNumTiles = Formula::kNumInputs;
  static constexpr bool kReadsColumns = false;
  static constexpr bool kIsSame = std::is_same<Formula, Same>::value;
  ConstRows arrays[Formula::kNumInputs];

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

  template <typename T>
  __device__ __forceinline__ static Packed applied(const Packed (&x)[Formula::kNumInputs]) {
    if constexpr (kIsSame) {
      return x[0];
    } else {
      Numbers<T> numbers[Formula::kNumInputs];
#pragma unroll
      for (int j = 0; j < Formula::kNumInputs; ++j) numbers[j] = unpack<T>(x[j]);
      return pack<T>(apply<T>(numbers));
    }
  }

  template <typename Row>
  __device__ __forceinline__ auto load(const Row& row) const {
    if constexpr (kIsSame) {
      return row.load(arrays[0]);
    } else {
      static_assert(Formula::kNumInputs == 2, "formulas of two inputs only");
      typename Row::Tile tiles[2];
      row.load(arrays, tiles);
      return row.compute([first = tiles[0], second = tiles[1]](const auto& place) {
        const typename Row::Numbers x[2] = {first.at(place), second.at(place)};
        return apply<typename Row::Element>(x);
      });
    }
  }

  // A vector of rows of whole ones.
  template <typename T>
  __device__ __forceinline__ Packed whole(int64_t index, int64_t vector) const {
    Packed x[Formula::kNumInputs];
#pragma unroll
    for (int j = 0; j < Formula::kNumInputs; ++j) {
      x[j] = load_aligned(arrays[j].template row<T>(index) + vector * Vector<T>::kSize);
    }
    return applied<T>(x);
  }
  // A vector of each input, in flight.
  template <typename T>
  struct Windows {
    detail::Window<T> of_inputs[Formula::kNumInputs];
  };
  // kSameAlignment: all without an offset.
  template <typename T, bool kSameAlignment>
  __device__ __forceinline__ static Packed packed(const Windows<T>& windows) {
    Packed x[Formula::kNumInputs];
#pragma unroll
    for (int j = 0; j < Formula::kNumInputs; ++j) {
      x[j] = kSameAlignment ? windows.of_inputs[j].low : windows.of_inputs[j].packed();
    }
    return applied<T>(x);
  }

  // Where the arrays begin and end.
  template <typename T>
  struct Bounds {
    const T *first[Formula::kNumInputs], *last[Formula::kNumInputs];
  };
  template <typename T>
  __device__ __forceinline__ Bounds<T> bounds(int64_t num_rows, int64_t width) const {
    Bounds<T> bounds;
#pragma unroll
    for (int j = 0; j < Formula::kNumInputs; ++j) {
      bounds.first[j] = arrays[j].template row<T>(0);
      bounds.last[j] = arrays[j].template row<T>(num_rows - 1) + width;
    }
    return bounds;
  }
  // An element of each input.
  template <typename T>
  struct Inputs {
    const T* data[Formula::kNumInputs];

    __device__ __forceinline__ Inputs operator+(int elements) const {
      Inputs result = *this;
#pragma unroll
      for (int j = 0; j < Formula::kNumInputs; ++j) result.data[j] += elements;
      return result;
    }
    // Another lane's.
    __device__ __forceinline__ Inputs address_of_lane(int lane) const {
      Inputs result;
#pragma unroll
      for (int j = 0; j < Formula::kNumInputs; ++j) {
        result.data[j] = cudaops_kernels::address_of_lane(data[j], lane);
      }
      return result;
    }
    // Whether whatever vectors lie around the next `num` elements may be read.
    __device__ __forceinline__ bool are_between(const Bounds<T>& bounds, int num) const {
      bool are_between = true;
#pragma unroll
      for (int j = 0; j < Formula::kNumInputs; ++j) {
        are_between = are_between && data[j] - bounds.first[j] >= Vector<T>::kSize &&
                      bounds.last[j] - data[j] >= num + Vector<T>::kSize;
      }
      return are_between;
    }
    // The vectors from here on: they may be read.
    template <bool kSameAlignment>
    __device__ __forceinline__ Windows<T> load() const {
      Windows<T> windows;
#pragma unroll
      for (int j = 0; j < Formula::kNumInputs; ++j) {
        if constexpr (kSameAlignment) {
          windows.of_inputs[j] = {load_ordered(data[j]), {0, 0, 0, 0}, 0};
        } else {
          windows.of_inputs[j] = detail::load_window(data[j]);
        }
      }
      return windows;
    }
    // Elements begin … end - 1 of them; nothing is touched beyond the arrays' bounds.
    __device__ __forceinline__ Windows<T> load(const Bounds<T>& bounds, int begin, int end) const {
      Windows<T> windows;
#pragma unroll
      for (int j = 0; j < Formula::kNumInputs; ++j) {
        windows.of_inputs[j] =
            detail::load_window(data[j], begin, end, bounds.first[j], bounds.last[j]);
      }
      return windows;
    }
  };
  template <typename T>
  __device__ __forceinline__ Inputs<T> inputs(int64_t row, int64_t column) const {
    Inputs<T> result;
#pragma unroll
    for (int j = 0; j < Formula::kNumInputs; ++j) {
      result.data[j] = arrays[j].template row<T>(row) + column;
    }
    return result;
  }

  // Whether vectors of T lie at multiples of 16 bytes where those of bytes do at multiples of their
  // number.
  template <typename T>
  bool has_same_alignment(const Rows& bytes, int64_t num_rows) const {
    constexpr int64_t kSize = Vector<T>::kSize;
    const auto shift = [](const void* data, int64_t size) {
      return static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) / static_cast<size_t>(size)) %
             kSize;
    };
    for (const ConstRows& rows : arrays) {
      if (shift(rows.data, sizeof(T)) != shift(bytes.data, 1)) return false;
      if (num_rows > 1 && (rows.stride - bytes.stride) % kSize != 0) return false;
    }
    return true;
  }
  template <typename T>
  bool is_aligned(int64_t num_rows) const {
    for (const ConstRows& rows : arrays) {
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

// A scale for each num_lanes vectors of rows whose source needs all of a row. are_whole: everything
// is aligned, and rows have whole groups; else QuantizeAnyRowGroups::fits_block().
template <typename T, typename Source>
void launch_row_group_quantize(const Source& source, const QuantizedRows& result, int64_t num_rows,
                               int64_t width, int num_lanes, bool are_whole, cudaStream_t stream) {
  if (are_whole) {
    launch_rows<true>(QuantizeRowGroups<T, Source>{source, result, num_lanes},
                      RowGrid{num_rows, width, Rows{nullptr, 0}}, true, stream);
    return;
  }
  const bool aligned = source.template is_aligned<T>(num_rows) &&
                       bytes_are_aligned<T>(result.output.data, result.output.stride);
  launch_rows(QuantizeAnyRowGroups<T, Source>(source, result, width, num_lanes),
              RowGrid{num_rows, width, anchor_for_bytes<T>(result.output)}, aligned, stream);
}

// A scale for each num_lanes vectors of rows that lie anywhere.
template <typename T, typename Formula, typename Rounding = ToNearest>
void launch_group_segments(const PointwiseSource<Formula>& source, const QuantizedRows& result,
                           int64_t num_rows, int64_t width, int num_lanes, cudaStream_t stream,
                           const Rounding& rounding = {}) {
  using Source = PointwiseSource<Formula>;
  const int64_t columns = num_lanes * int64_t{Vector<T>::kSize};
  const int64_t groups = (width + columns - 1) / columns;
  const detail::SegmentGrid grid{num_rows, width, Quotient(groups), num_rows * groups,
                                 detail::log2_of(num_lanes)};
  const auto launch = [&](auto kernel, int segments_per_warp) {
    kernel<<<num_blocks(grid.num_groups, segments_per_warp * (detail::kSegmentThreads / 32)),
             detail::kSegmentThreads, 0, stream>>>(source, result, grid, rounding);
    CUDAOPS_CHECK_LAUNCH();
  };
  // As many vectors in flight as there are registers for.
  constexpr int kAlignedSlots = 8 / Source::kNumTiles, kOther = 4 / Source::kNumTiles;
  if (source.template has_same_alignment<T>(result.output, num_rows)) {
    launch(detail::group_quantize_kernel<T, kAlignedSlots, true, Source, Rounding>,
           Segments<T>::template num_segments<kAlignedSlots>(grid.log2_threads));
  } else {
    launch(detail::group_quantize_kernel<T, kOther, false, Source, Rounding>,
           Segments<T>::template num_segments<kOther>(grid.log2_threads));
  }
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
    kernel<<<parts.blocks, parts.block, 0, stream>>>(
        source, result,
        detail::GroupGrid{num_rows, width, parts.blocks_per_row, detail::log2_of(threads)},
        rounding);
    CUDAOPS_CHECK_LAUNCH();
  };
  if (Source::kNumTiles > 1 || num_lanes < 4) {
    // More inputs are enough loads in flight.
    launch(detail::group_quantize_whole_kernel<T, 2, Source, Rounding>, groups * (num_lanes / 2),
           num_lanes / 2);
  } else {
    launch(detail::group_quantize_whole_kernel<T, 4, Source, Rounding>, groups * (num_lanes / 4),
           num_lanes / 4);
  }
}

}  // namespace cudaops_kernels

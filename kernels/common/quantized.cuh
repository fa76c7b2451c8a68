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

// With the random numbers of the elements from `index` on; kWhole: a multiple of 4.
template <bool kWhole, int kSize, typename ZeroPoint>
__device__ __forceinline__ Bytes<kSize> random_bytes(const Floats<kSize>& x, QuantizedType type,
                                                     bool has_zero_point,
                                                     const ZeroPoint& zero_point, uint64_t seed,
                                                     int64_t index) {
  constexpr int kCalls = kSize / 4 + (kWhole ? 0 : 1);
  uint32_t words[4 * kCalls];
  const int skipped = kWhole ? 0 : static_cast<int>(index & 3);
#if !CUDAOPS_HIP && CUDAOPS_DEVICE_CODE
  asm volatile("" : "+l"(seed));  // what is the same for all threads nvcc calculates more slowly
#endif
#pragma unroll
  for (int call = 0; call < kCalls; ++call) {
    Philox random{};
    if (kWhole || call + 1 < kCalls || skipped != 0) {
      random = philox(seed, static_cast<uint64_t>((index >> 2) + call));
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) words[4 * call + i] = random.words[i];
  }
  if constexpr (!kWhole) {
#pragma unroll
    for (int i = 0; i < kSize + 2; ++i) words[i] = (skipped & 2) != 0 ? words[i + 2] : words[i];
#pragma unroll
    for (int i = 0; i < kSize; ++i) words[i] = (skipped & 1) != 0 ? words[i + 1] : words[i];
  }
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

// kSize bytes from the `offset`-th of two vectors on; offset is at most kSize.
template <int kSize>
__device__ __forceinline__ Bytes<kSize> bytes_across(const Bytes<kSize>& low,
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

// The first `end` bytes at any address. All lanes of a warp call it together, those of one row
// (threadIdx.x) for neighbouring vectors: what an aligned store takes from two of them is put
// together by the lower one.
template <int kSize>
__device__ __forceinline__ void store_bytes_across(uint8_t* data, const Bytes<kSize>& bytes,
                                                   int end) {
  const int misaligned = static_cast<int>(reinterpret_cast<uintptr_t>(data) % kSize);
  Bytes<kSize> next;
#pragma unroll
  for (int i = 0; i < Bytes<kSize>::kWords; ++i) {
    next.words[i] = cudaops::shfl_down(bytes.words[i], 1, 32);
  }
  const int is_whole = end == kSize;
  const int next_is_whole = cudaops::shfl_down(is_whole, 1, 32);
  const int last_is_whole = cudaops::shfl_up(is_whole, 1, 32);
  const unsigned int lane = (threadIdx.y * blockDim.x + threadIdx.x) % 32;
  const bool has_next = lane < 31 && threadIdx.x + 1 < blockDim.x && next_is_whole != 0;
  const bool has_last = lane > 0 && threadIdx.x > 0 && last_is_whole != 0;
  const int middle = kSize - misaligned;  // from here on the bytes go with the next vector's
  int from = has_last && is_whole != 0 ? middle : 0, to = end;
  if (is_whole != 0 && (misaligned == 0 || has_next)) {
    const int first = misaligned == 0 ? 0 : middle;
    store_bytes<true>(data + first, bytes_across(bytes, next, static_cast<unsigned int>(first)), 0,
                      kSize);
    to = first;
  }
  if (from >= to) return;
#pragma unroll
  for (int k = 0; k < kSize; ++k) {
    if (k >= from && k < to) data[k] = static_cast<uint8_t>(bytes.words[k / 4] >> (k % 4 * 8));
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

// Bytes on their way: loaded as two aligned vectors, as detail::Window.
template <int kSize>
struct BytesWindow {
  Bytes<kSize> low, high;
  unsigned int offset;
  __device__ __forceinline__ Bytes<kSize> bytes() const { return bytes_across(low, high, offset); }
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

// 1 / a scale that scale_for() made: with neither it nor its reciprocal subnormal, what nvcc makes
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
    Largest<T> largest(0);
    row.each([&](const auto& place) { largest.raise_by_magnitudes(x.packed(place)); });
    const float scale = scale_for(row.max(largest.value()), result.type, result.rule);
    if (row.is_leader()) result.scale[result.places.row_at(row.index())] = scale;
    const float reciprocal = reciprocal_of_scale(scale);
    uint8_t* const output = kept_address(result.output.template row<uint8_t>(row.index()));
    row.each([&](const auto& place) {
      using Place = std::decay_t<decltype(place)>;
      store_bytes<Place::kIsWhole>(output + place.column,
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

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const auto x = source.load(row);
    const int log2_lanes = 31 - __clz(num_lanes), in_group = num_lanes - 1;
    float* const scales = kept_address(result.scale + result.places.row_at(row.index()));
    uint8_t* const output = kept_address(result.output.template row<uint8_t>(row.index()));
    const auto store_scale = [&](int vector, float scale) {
      scales[result.places.strides.column * (vector >> log2_lanes)] = scale;
    };
    const auto write = [&](const auto& place, float reciprocal) {
      store_bytes<Row::kIsWhole>(output + place.column,
                                 quantized_bytes(x.at(place) * reciprocal, result.type),
                                 place.begin, place.end);
    };
    if constexpr (Row::kSlots == 0) {
      // Such rows have whole warps, and a group's lanes stay together.
      row.each([&](const auto& place) {
        Largest<T> of_thread[1];
        of_thread[0].raise_by_magnitudes(x.packed(place));
        const float scale =
            scale_for(Largest<T>::over_lanes(of_thread, num_lanes, lanes_of_group(num_lanes))[0],
                      result.type, result.rule);
        const int vector = place.column / Row::kSize;
        if ((vector & in_group) == 0) store_scale(vector, scale);
        write(place, reciprocal_of_scale(scale));
      });
    } else {
      constexpr int kSlots = Row::kSlots;
      const int num_threads = static_cast<int>(blockDim.x);
      Largest<T> of_thread[kSlots];
      row.each(
          [&](const auto& place) { of_thread[place.slot].raise_by_magnitudes(x.packed(place)); });
      Floats<kSlots> largest = Largest<T>::over_lanes(
          of_thread, num_threads < num_lanes ? num_threads : num_lanes, cudaops::kAllLanes);
      Floats<kSlots> reciprocals;
      if (num_lanes >= kSlots && num_threads >= num_lanes) {
        // Each lane of a group has the scale of one slot to work out.
        static_assert((kSlots & (kSlots - 1)) == 0, "a lane finds its slot by a mask");
        const int own = static_cast<int>(threadIdx.x) & (kSlots - 1);
        float of_own = largest[0];
#pragma unroll
        for (int slot = 1; slot < kSlots; ++slot) of_own = own == slot ? largest[slot] : of_own;
        const float scale = scale_for(of_own, result.type, result.rule);
        const int vector = row.vector_at(own);
        if ((vector & in_group) == own && (vector - own) * Row::kSize < row.width() &&
            row.exists()) {
          store_scale(vector, scale);
        }
        const float reciprocal = reciprocal_of_scale(scale);
#pragma unroll
        for (int slot = 0; slot < kSlots; ++slot) {
          reciprocals[slot] =
              cudaops::shfl(reciprocal, (cudaops::lane_id() & 31 & ~in_group) + slot, 32);
        }
      } else {
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
          if ((vector & in_group) == 0) store_scale(vector, scale);
          reciprocals[place.slot] = reciprocal_of_scale(scale);
        });
      }
      row.each([&](const auto& place) { write(place, reciprocals[place.slot]); });
    }
  }
};

// ---------------------------------------------------------------------------------------------------
// Groups of a row: 1 × n. Where rows are whole a thread has several vectors of a group: what is
// calculated once for all of them, and the shuffles, would take longer than the memory with one.
// In other rows neighbours have neighbouring vectors, to put bytes together.

namespace detail {

struct GroupGrid {
  int64_t num_rows;
  int64_t width;
  Divider blocks_per_row;
  int log2_threads;  // a group: a power of two up to 32
};

// Rows start at multiples of 16 bytes, those of bytes accordingly, and have whole vectors.
// kVectors: of a thread, in one group.
template <typename T, int kVectors, typename Source>
__global__ void __launch_bounds__(kPointwiseThreads)
    group_quantize_whole_kernel(const Source source, const QuantizedRows result,
                                const GroupGrid grid) {
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
  Largest<T> largest[1];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) largest[0].raise_by_magnitudes(x[i]);
  const float scale = scale_for(Largest<T>::over_lanes(largest, threads, cudaops::kAllLanes)[0],
                                result.type, result.rule);
  if (!exists[0]) return;
  if (lane == 0) {
    result.scale[result.places.row_at(part.index) + result.places.strides.column * group] = scale;
  }
  const float reciprocal = reciprocal_of_scale(scale);
  uint8_t* const output = result.output.template row<uint8_t>(part.index) + first * kSize;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (exists[i]) {
      store_bytes<true>(output + i * threads * kSize,
                        quantized_bytes(unpack<T>(kept_packed<T>(x[i])) * reciprocal, result.type),
                        0, kSize);
    }
  }
}

// Any rows. kVectors: of a thread, in as many groups.
template <typename T, int kVectors, typename Source>
__global__ void __launch_bounds__(kPointwiseThreads)
    group_quantize_kernel(const Source source, const QuantizedRows result, const GroupGrid grid) {
  constexpr int kSize = Vector<T>::kSize;
  const RowPart part(grid.blocks_per_row, kVectors);
  const int lane = static_cast<int>(part.vector) & ((1 << grid.log2_threads) - 1);
  const bool is_between = source.template is_between<T>(part.index, grid.num_rows);
  int end[kVectors];
  typename Source::template Windows<T> windows[kVectors] = {};
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int64_t vector = part.vector + i * int64_t{blockDim.x};
    const int64_t left = part.index < grid.num_rows ? grid.width - vector * kSize : 0;
    end[i] = left < kSize ? static_cast<int>(left > 0 ? left : 0) : kSize;
  }
  // All loads before the first is waited for; a choice for each vector would come between them.
  if (is_between) {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (end[i] <= 0) break;
      windows[i] = source.template between<T>(part.index, part.vector + i * int64_t{blockDim.x});
    }
  } else {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (end[i] <= 0) break;
      windows[i] = source.template any<T>(part.index, part.vector + i * int64_t{blockDim.x}, end[i],
                                          grid.num_rows, grid.width);
    }
  }
  Packed x[kVectors];
  Largest<T> of_thread[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    x[i] = source.template packed<T>(windows[i]);
    if (end[i] < kSize) x[i] = masked<T>(x[i], 0, end[i]);
    of_thread[i].raise_by_magnitudes(x[i]);
  }
  const Floats<kVectors> largest =
      Largest<T>::over_lanes(of_thread, 1 << grid.log2_threads, cudaops::kAllLanes);
  float* const scales = kept_address(result.scale + result.places.row_at(part.index));
  uint8_t* const output = kept_address(result.output.template row<uint8_t>(part.index));
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int64_t vector = part.vector + i * int64_t{blockDim.x};
    const float scale = scale_for(largest[i], result.type, result.rule);
    store_bytes_across(
        output + vector * kSize,
        quantized_bytes(unpack<T>(kept_packed<T>(x[i])) * reciprocal_of_scale(scale), result.type),
        end[i]);
    if (lane == 0 && end[i] > 0) {
      scales[result.places.strides.column * (vector >> grid.log2_threads)] = scale;
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
      return row.load(inputs[0]);
    } else {
      static_assert(Formula::kNumInputs == 2, "formulas of two inputs only");
      typename Row::Tile tiles[2];
      row.load(inputs, tiles);
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
      x[j] = load_aligned(inputs[j].template row<T>(index) + vector * Vector<T>::kSize);
    }
    return applied<T>(x);
  }
  // A vector of each input, on its way.
  template <typename T>
  struct Windows {
    detail::Window<T> of_inputs[Formula::kNumInputs];
  };
  // A vector of any row, of which the first `end` elements are in the row.
  template <typename T>
  __device__ __forceinline__ Windows<T> any(int64_t index, int64_t vector, int end,
                                            int64_t num_rows, int64_t width) const {
    Windows<T> windows;
#pragma unroll
    for (int j = 0; j < Formula::kNumInputs; ++j) {
      windows.of_inputs[j] =
          detail::load_window<T, false>(inputs[j], index, vector, 0, 0, end, num_rows, width);
    }
    return windows;
  }
  // The same where whatever vectors lie around the row may be read.
  template <typename T>
  __device__ __forceinline__ Windows<T> between(int64_t index, int64_t vector) const {
    Windows<T> windows;
#pragma unroll
    for (int j = 0; j < Formula::kNumInputs; ++j) {
      windows.of_inputs[j] =
          detail::load_window(inputs[j].template row<T>(index) + vector * Vector<T>::kSize);
    }
    return windows;
  }
  template <typename T>
  __device__ __forceinline__ static Packed packed(const Windows<T>& windows) {
    Packed x[Formula::kNumInputs];
#pragma unroll
    for (int j = 0; j < Formula::kNumInputs; ++j) x[j] = windows.of_inputs[j].packed();
    return applied<T>(x);
  }
  // Whether between() may be called.
  template <typename T>
  __device__ __forceinline__ bool is_between(int64_t index, int64_t num_rows) const {
    bool is_between = index < num_rows;
#pragma unroll
    for (int j = 0; j < Formula::kNumInputs; ++j) {
      is_between =
          is_between && detail::is_between<T>(inputs[j], index, num_rows, 2 * Vector<T>::kSize);
    }
    return is_between;
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
  const bool is_whole = width % kSize == 0 && source.template is_aligned<T>(num_rows) &&
                        bytes_are_aligned<T>(result.output.data, result.output.stride);
  const int64_t groups = (width + num_lanes * kSize - 1) / (num_lanes * kSize);
  // A row's threads, and those of a group.
  const auto launch = [&](auto kernel, int64_t row_threads, int threads) {
    int log2_threads = 0;
    while ((1 << log2_threads) < threads) ++log2_threads;
    const detail::RowParts parts(num_rows, row_threads);
    kernel<<<parts.blocks, parts.block, 0, stream>>>(
        source, result, detail::GroupGrid{num_rows, width, parts.blocks_per_row, log2_threads});
    CUDAOPS_CHECK_LAUNCH();
  };
  using Source = PointwiseSource<Formula>;
  if (!is_whole) {
    constexpr int kVectors = Source::kNumTiles > 1 ? 2 : 4;
    launch(detail::group_quantize_kernel<T, kVectors, Source>,
           (groups + kVectors - 1) / kVectors * num_lanes, num_lanes);
  } else if (Source::kNumTiles > 1 || num_lanes < 4) {
    // More inputs are enough loads on their way.
    launch(detail::group_quantize_whole_kernel<T, 2, Source>, groups * (num_lanes / 2),
           num_lanes / 2);
  } else {
    launch(detail::group_quantize_whole_kernel<T, 4, Source>, groups * (num_lanes / 4),
           num_lanes / 4);
  }
}

}  // namespace cudaops_kernels

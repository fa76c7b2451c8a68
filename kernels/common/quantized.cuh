// SPDX-License-Identifier: Apache-2.0
// Quantising on devices: vectors of numbers to bytes and back. A thread has one 16-byte vector of
// numbers, and as many bytes of the result: 4 or 8, stored at once where they are aligned to that.
//
// What is built on it, each with a scale for what it says:
//   quantized/rows.cuh        whole rows, of any source of rows (a norm, a formula)
//   quantized/row_groups.cuh  groups of a row whose source needs all of the row
//   quantized/groups.cuh      groups of a row, or rows, of a formula of single elements
//   quantized/scales.cuh      a scale, and where it is stored
//   quantized/source.cuh      what is quantised: the input, or a formula of it
//   quantized/segments.cuh    groups and short rows that lie anywhere, several to a warp
#pragma once

#include "pointwise.cuh"
#include "quantized.h"

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

namespace detail {

#if CUDAOPS_KERNELS_FLOAT8_HARDWARE
// With subnormal numbers, which CUDAOPS_FAST_MATH takes for 0 elsewhere.
__device__ __forceinline__ float multiply_towards_zero(float a, float b) {
  float product;
  asm("mul.rz.f32 %0, %1, %2;" : "=f"(product) : "f"(a), "f"(b));
  return product;
}
__device__ __forceinline__ float multiply_exactly(float a, float b) {
  float product;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(product) : "f"(a), "f"(b));
  return product;
}
#endif

// stochastic_float8() of each number.
template <int kSize>
__device__ __forceinline__ Bytes<kSize> stochastic_float8_bytes(const Floats<kSize>& x,
                                                                const uint32_t (&random)[kSize]) {
  Bytes<kSize> bytes = {};
#if CUDAOPS_KERNELS_FLOAT8_HARDWARE
  // float8's exponents end where float's do, so that its subnormal numbers are subnormal ones.
  constexpr float kDown = 0x1p-120f, kUp = 0x1p120f;
  constexpr uint32_t kFraction = (1u << kFloat8Shift) - 1;
  float rounded[kSize];
  float zeros = 0;  // NaN where x has one, or an infinity: without the pipe that the others need
#pragma unroll
  for (int k = 0; k < kSize; ++k) {
    const uint32_t bits =
        to_bits(multiply_towards_zero(x[k], kDown)) + (random[k] >> (32 - kFloat8Shift));
    rounded[k] = multiply_exactly(to_number(bits & ~kFraction), kUp);
    zeros = fmaf(x[k], 0.0f, zeros);
  }
#pragma unroll
  for (int k = 0; k < kSize; k += 4) {
    bytes.words[k / 4] = float8_word(rounded[k], rounded[k + 1], rounded[k + 2], rounded[k + 3]);
  }
  // The addition has made a number of NaN, whose bits are all ones.
  if (zeros != zeros) {
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      const int shift = k % 4 * 8;
      if (x[k] != x[k]) {
        bytes.words[k / 4] = (bytes.words[k / 4] & ~(0xffu << shift)) | 0x7fu << shift;
      }
    }
  }
#else
#pragma unroll
  for (int k = 0; k < kSize; ++k) {
    bytes.words[k / 4] |= uint32_t{stochastic_float8(x[k], random[k])} << (k % 4 * 8);
  }
#endif
  return bytes;
}

}  // namespace detail

// With the random numbers of the elements from vector * kSize on, random_words() of which are one
// call for eight.
template <int kSize, typename ZeroPoint>
__device__ __forceinline__ Bytes<kSize> random_bytes(const Floats<kSize>& x, QuantizedType type,
                                                     bool has_zero_point,
                                                     const ZeroPoint& zero_point,
                                                     const PhiloxKeys& keys, uint64_t vector) {
  static_assert(kSize == 4 || kSize == 8, "a part of a call of Philox, or all of it");
  Philox random = philox(keys, vector / (8 / kSize));
  if (kSize == 4 && vector % 2 != 0) {
    random.words[0] = random.words[2];
    random.words[1] = random.words[3];
  }
  uint32_t own[kSize];
#pragma unroll
  for (int k = 0; k < kSize; ++k) own[k] = random_word(random, k);
  Bytes<kSize> bytes = {};
  dispatch_type(type, [&](QuantizedType asked) {
    if (asked == QuantizedType::kFloat8) {
      bytes = detail::stochastic_float8_bytes(x, own);
      return;
    }
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      const uint32_t byte = quantized_at_random(x[k], asked, has_zero_point, zero_point(k), own[k]);
      bytes.words[k / 4] |= byte << (k % 4 * 8);
    }
  });
  return bytes;
}

// How the numbers of a vector become its bytes: vector_at(where they go) says which vector of all
// it is.
struct ToNearest {
  template <int kSize>
  __device__ __forceinline__ uint64_t vector_at(const uint8_t*) const {
    return 0;  // all are alike
  }
  template <int kSize>
  __device__ __forceinline__ Bytes<kSize> operator()(const Floats<kSize>& x, QuantizedType type,
                                                     uint64_t) const {
    return quantized_bytes(x, type);
  }
};
// Where a vector lies says which elements it has: results start at a multiple of 8 bytes and have
// no gaps.
struct AtRandom {
  PhiloxKeys keys;
  const uint8_t* first;

  AtRandom(uint64_t seed, const Rows& output)
      : keys(seed), first(static_cast<const uint8_t*>(output.data)) {}

  static bool suits(const Rows& output, int64_t num_rows, int64_t width) {
    return reinterpret_cast<uintptr_t>(output.data) % 8 == 0 &&
           (num_rows == 1 || output.stride == width);
  }
  template <int kSize>
  __device__ __forceinline__ uint64_t vector_at(const uint8_t* output) const {
    return static_cast<uint64_t>(output - first) / kSize;
  }
  template <int kSize>
  __device__ __forceinline__ Bytes<kSize> operator()(const Floats<kSize>& x, QuantizedType type,
                                                     uint64_t vector) const {
    return random_bytes(
        x, type, false, [](int) { return 0; }, keys, vector);
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

// Whether the bytes of all rows can be stored at once where rows of T start at multiples of 16.
template <typename T>
bool bytes_are_aligned(const void* data, int64_t stride) {
  constexpr int64_t kSize = Vector<T>::kSize;
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % kSize) == 0 &&
         stride % kSize == 0;
}

}  // namespace cudaops_kernels

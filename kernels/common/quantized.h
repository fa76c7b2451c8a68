// SPDX-License-Identifier: Apache-2.0
// Numbers of eight bits: blocks and their scales, rounding, random numbers. One formula for the CPU
// and for devices each, so that both give the same bits.
//
//   scale      = min(largest |x| of the block, bound) / largest number of the type
//   quantized  = x * (1 / scale), rounded, within the type's range
//   x          ≈ (quantized - zero_point) * scale
//
// int8 has -127 … 127; with a zero point -128 … 127, where scale = (max - min) / 255 of a range
// that holds 0. float8 is e4m3fn: up to ±448, no infinity (Micikevicius et al.: FP8 formats for
// deep learning, 2022).
//
// A scale is finite and at least 2^-126, whatever the block holds: zeros come back as zeros. NaN
// does not count in a block's range, an infinity counts as the largest finite float. As an element
// NaN becomes float8's NaN (0x7f) or int8's 0 (the zero point); what lies beyond the range becomes
// the range's end.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "dtype.h"
#include "philox.h"
#include "rows.h"

namespace cudaops_kernels {

enum class QuantizedType { kInt8, kFloat8 };

// Blocks of a batch of matrices whose rows follow each other: num_matrices * num_rows rows of
// `width` elements. The last block of a row or column may be smaller.
struct BlockGrid {
  int64_t num_matrices;
  int64_t num_rows;  // of a matrix
  int64_t width;
  int64_t block_rows;     // at least 1
  int64_t block_columns;  // at least 1

  CUDAOPS_HOST_DEVICE int64_t total_rows() const { return num_matrices * num_rows; }
  CUDAOPS_HOST_DEVICE int64_t rows_of_blocks() const {
    return (num_rows + block_rows - 1) / block_rows;
  }
  CUDAOPS_HOST_DEVICE int64_t columns_of_blocks() const {
    return (width + block_columns - 1) / block_columns;
  }
  CUDAOPS_HOST_DEVICE int64_t num_blocks() const {
    return num_matrices * rows_of_blocks() * columns_of_blocks();
  }
};

// A number a block: where that of block (row, column) of a matrix lies, in elements.
struct BlockStrides {
  int64_t matrix;
  int64_t row;
  int64_t column;

  CUDAOPS_HOST_DEVICE int64_t at(int64_t matrix_index, int64_t block_row,
                                 int64_t block_column) const {
    return matrix_index * matrix + block_row * row + block_column * column;
  }
};

// How the scale follows from what a block holds.
struct ScaleRule {
  const float* bound;  // where the scale is computed; null: none
  bool power_of_two;   // rounded up to one
  const float* given;  // taken instead of all that, from 2^-126 to 2^126; null: none
};

namespace detail {

constexpr uint32_t kInfinityBits = 0x7f800000u;
constexpr uint32_t kLargestFloatBits = 0x7f7fffffu;
constexpr uint32_t kSmallestNormalBits = 0x00800000u;

CUDAOPS_HOST_DEVICE inline uint32_t to_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

CUDAOPS_HOST_DEVICE inline float to_number(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

CUDAOPS_HOST_DEVICE inline uint32_t lesser(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Neither 0 nor, for division's sake, subnormal.
CUDAOPS_HOST_DEVICE inline float usable_scale(float scale, bool power_of_two) {
  uint32_t bits = to_bits(scale);
  if (power_of_two) bits = (bits + 0x7fffffu) & kInfinityBits;
  return to_number(bits < kSmallestNormalBits ? kSmallestNormalBits : bits);
}

// largest / divisor, to nearest even. On devices without a division: the product and one correction
// are the same float for all floats and both divisors, but where the quotient is subnormal, which
// usable_scale() makes the smallest normal either way.
CUDAOPS_HOST_DEVICE inline float quotient_of(float largest, QuantizedType type) {
  const float divisor = type == QuantizedType::kInt8 ? 127.0f : 448.0f;
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  const float reciprocal = type == QuantizedType::kInt8 ? 1.0f / 127.0f : 1.0f / 448.0f;
  const float quotient = largest * reciprocal;
  return fmaf(fmaf(-quotient, divisor, largest), reciprocal, quotient);
#else
  return largest / divisor;
#endif
}

// A bound as the bits of a number that can be compared: 0 for what is not above 0.
CUDAOPS_HOST_DEVICE inline uint32_t bound_bits(const ScaleRule& rule) {
  if (rule.bound == nullptr) return kLargestFloatBits;
  return *rule.bound > 0 ? lesser(to_bits(*rule.bound), kLargestFloatBits) : 0;
}

}  // namespace detail

// |x| as a whole number that grows with it; 0 for NaN. The largest over a block decides its scale.
CUDAOPS_HOST_DEVICE inline uint32_t magnitude_bits(float x) {
  const uint32_t bits = detail::to_bits(x) & 0x7fffffffu;
  return bits > detail::kInfinityBits ? 0 : bits;
}

// Of a block whose largest magnitude_bits() these are.
CUDAOPS_HOST_DEVICE inline float symmetric_scale(uint32_t bits, QuantizedType type,
                                                 const ScaleRule& rule) {
  if (rule.given != nullptr) return *rule.given;
  const float largest = detail::to_number(detail::lesser(bits, detail::bound_bits(rule)));
  return detail::usable_scale(detail::quotient_of(largest, type), rule.power_of_two);
}

struct ScaleAndZero {
  float scale;
  int32_t zero_point;
};

// To the nearest whole number, ties to even; for |x| < 2^22.
CUDAOPS_HOST_DEVICE inline int32_t nearest_int(float x) {
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23
  return static_cast<int32_t>(detail::to_bits(x + kRounder) - detail::to_bits(kRounder));
}

// Of a block between -low and high, both as magnitude_bits(): 0 is in its range.
CUDAOPS_HOST_DEVICE inline ScaleAndZero asymmetric_scale(uint32_t low_bits, uint32_t high_bits,
                                                         const ScaleRule& rule) {
  const uint32_t bound = detail::bound_bits(rule);
  const float low = detail::to_number(detail::lesser(low_bits, bound));
  const float high = detail::to_number(detail::lesser(high_bits, bound));
  // Halves: the sum may be beyond the largest float.
  const float scale = detail::usable_scale((0.5f * low + 0.5f * high) / 127.5f, rule.power_of_two);
  const float steps = low * (1.0f / scale);  // 0 … 255
  return {scale, nearest_int(steps < 255.0f ? steps : 255.0f) - 128};
}

// Element i of a tensor, counted as if it were contiguous, is rounded with half i % 8 of this, the
// lower half of a word first: 16 bits of its own. (The conversions of sm_100 that round at random
// take 8 bits an element.)
CUDAOPS_HOST_DEVICE inline Philox random_words(const PhiloxKeys& keys, int64_t index) {
  return philox(keys, static_cast<uint64_t>(index) / 8);
}

// A word with the half's bits above those of the word's other half, so that each of its values is
// as likely as the others. Of the 20 or 22 that rounding takes, the lowest 4 or 6 are the highest
// of the other element's: what the two have in common is worth 2^-16 of a step.
CUDAOPS_HOST_DEVICE inline uint32_t random_word(const Philox& words, int half) {
  const uint32_t word = words.words[half / 2];
  return half % 2 == 0 ? word << 16 | word >> 16 : word;
}

// The upper or the lower neighbour, by `random` in proportion to the distance. In whole numbers:
// there is no multiplication and addition that one compiler fuses and another does not.
CUDAOPS_HOST_DEVICE inline int32_t stochastic_int(float x, uint32_t random) {
  constexpr int kFraction = 22;
  const uint32_t bits = detail::to_bits(x);
  if ((bits & 0x7fffffffu) > detail::kInfinityBits) return 0;
  float clamped = x < 256.0f ? x : 256.0f;
  clamped = clamped > -256.0f ? clamped : -256.0f;
  const int32_t fixed = static_cast<int32_t>(clamped * static_cast<float>(1 << kFraction));
  return (fixed + static_cast<int32_t>(random >> (32 - kFraction))) >> kFraction;
}

namespace detail {

constexpr uint32_t kFloat8LargestBits = 0x43e00000u;  // 448
constexpr uint32_t kFloat8NormalBits = 0x3c800000u;   // 2^-6
constexpr int kFloat8Shift = 20;                      // mantissa bits that float has more
constexpr uint32_t kFloat8Bias = 120u << 23;          // exponents' bias: 127 - 7

// round(normal): the bits' upper part; round(subnormal): how many times 2^-9.
template <typename Normal, typename Subnormal>
CUDAOPS_HOST_DEVICE inline uint8_t float8_by(float x, const Normal& normal,
                                             const Subnormal& subnormal) {
  const uint32_t bits = to_bits(x), sign = (bits >> 24) & 0x80u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t bounded = lesser(magnitude, kFloat8LargestBits);
  const uint32_t result =
      bounded < kFloat8NormalBits ? subnormal(to_number(bounded)) : normal(bounded - kFloat8Bias);
  return magnitude > kInfinityBits ? uint8_t{0x7f} : static_cast<uint8_t>(sign | result);
}

}  // namespace detail

// e4m3fn: to nearest, ties to even, ±448 beyond.
CUDAOPS_HOST_DEVICE inline uint8_t nearest_float8(float x) {
  constexpr int kShift = detail::kFloat8Shift;
  return detail::float8_by(
      x,
      [](uint32_t bits) {
        return (bits + ((1u << (kShift - 1)) - 1) + ((bits >> kShift) & 1u)) >> kShift;
      },
      [](float small) {
        // The sum's last bit is worth 2^-9: the addition rounds.
        return detail::to_bits(small + 16384.0f) - detail::to_bits(16384.0f);
      });
}

namespace detail {

// A number from 0 to 2^-6, that one left out, in whole units of 2^-9 / 2^kFloat8Shift. The sum's
// last bit is worth one of them: with devices' rounding towards zero it need not be converted.
CUDAOPS_HOST_DEVICE inline uint32_t float8_fixed(float small) {
#if defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  return to_bits(__fadd_rz(small, to_number(kFloat8NormalBits))) - kFloat8NormalBits;
#else
  return static_cast<uint32_t>(small * static_cast<float>(1 << (kFloat8Shift + 9)));
#endif
}

}  // namespace detail

CUDAOPS_HOST_DEVICE inline uint8_t stochastic_float8(float x, uint32_t random) {
  constexpr int kShift = detail::kFloat8Shift;
  const uint32_t fraction = random >> (32 - kShift);
  return detail::float8_by(
      x, [&](uint32_t bits) { return (bits + fraction) >> kShift; },
      [&](float small) { return (detail::float8_fixed(small) + fraction) >> kShift; });
}

CUDAOPS_HOST_DEVICE inline float float8_to_float(uint8_t value) {
  const uint32_t magnitude = value & 0x7fu, sign = static_cast<uint32_t>(value & 0x80u) << 24;
  const float subnormal = static_cast<float>(magnitude) * 0.001953125f;  // 2^-9
  uint32_t bits = (magnitude << detail::kFloat8Shift) + detail::kFloat8Bias;
  if (magnitude < 8) bits = detail::to_bits(subnormal);
  if (magnitude == 0x7f) bits = 0x7fc00000u;
  return detail::to_number(sign | bits);
}

// Within the type's range, as it is stored.
CUDAOPS_HOST_DEVICE inline uint8_t int8_of(int32_t value, bool has_zero_point, int32_t zero_point) {
  const int32_t least = has_zero_point ? -128 : -127;
  value += zero_point;
  value = value < least ? least : (value > 127 ? 127 : value);
  return static_cast<uint8_t>(value);
}

// One element; `x` is already divided by the scale.
CUDAOPS_HOST_DEVICE inline uint8_t quantized_of(float x, QuantizedType type, bool has_zero_point,
                                                int32_t zero_point) {
  if (type == QuantizedType::kFloat8) return nearest_float8(x);
  float clamped = x < 512.0f ? x : (x >= 512.0f ? 512.0f : 0.0f);  // NaN: 0
  clamped = clamped > -512.0f ? clamped : -512.0f;
  return int8_of(nearest_int(clamped), has_zero_point, zero_point);
}

CUDAOPS_HOST_DEVICE inline uint8_t quantized_at_random(float x, QuantizedType type,
                                                       bool has_zero_point, int32_t zero_point,
                                                       uint32_t random) {
  if (type == QuantizedType::kFloat8) return stochastic_float8(x, random);
  return int8_of(stochastic_int(x, random), has_zero_point, zero_point);
}

// The other way.
CUDAOPS_HOST_DEVICE inline float number_of(uint8_t value, QuantizedType type, int32_t zero_point,
                                           float scale) {
  if (type == QuantizedType::kFloat8) return float8_to_float(value) * scale;
  return (static_cast<float>(static_cast<int8_t>(value)) - static_cast<float>(zero_point)) * scale;
}

}  // namespace cudaops_kernels

// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 on the CPU, without torch and without a compiler extension: 16 bits of
// storage, arithmetic in float. Both directions round like the hardware does (to nearest, ties to
// even), so CPU results are bit-equal to torch's. No branch in the common path, and none that GCC
// could make out of a choice between numbers (it must assume that a float operation in a branch
// traps): loops vectorise.
#pragma once

#include <cstdint>
#include <cstring>

namespace cudaops_kernels {

struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

namespace detail {

inline uint32_t float_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float bits_float(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline uint32_t choose(bool condition, uint32_t yes, uint32_t no) {
  const uint32_t mask = 0u - static_cast<uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

}  // namespace detail

inline float to_float(float value) { return value; }

inline float to_float(BFloat16 value) {
  return detail::bits_float(static_cast<uint32_t>(value.bits) << 16);
}

inline float to_float(Float16 value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(value.bits & 0x7fffu) << 13;
  // Move the exponent's bias from 15 to 127.
  uint32_t result = magnitude + (112u << 23);
  if (magnitude >= 0x0f800000u) result |= 0x7f800000u;  // infinity and NaN
  // A subnormal's bits, put below the leading one of 2^-14, are that one plus the wanted value. No
  // step makes a subnormal float, which a thread that flushes them would lose.
  const float subnormal =
      detail::bits_float(magnitude + (113u << 23)) - detail::bits_float(113u << 23);
  result = detail::choose(magnitude < 0x00800000u, detail::float_bits(subnormal), result);
  return detail::bits_float(sign | result);
}

template <typename T>
T from_float(float value);

template <>
inline float from_float<float>(float value) {
  return value;
}

template <>
inline BFloat16 from_float<BFloat16>(float value) {
  const uint32_t bits = detail::float_bits(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  // Rounding could carry a NaN's payload over into infinity or zero.
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return BFloat16{static_cast<uint16_t>(is_nan ? 0x7fc0u : rounded)};
}

template <>
inline Float16 from_float<Float16>(float value) {
  const uint32_t bits = detail::float_bits(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Normal results: move the exponent's bias from 127 to 15 and round at bit 13; a carry may run
  // into the exponent, and from 65504 on into infinity, which is what rounding wants.
  const uint32_t normal = (magnitude - (112u << 23) + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
  // Below 2^-14: adding 0.5 puts the half's last bit at the float's last bit, so that the addition
  // itself rounds.
  const uint32_t subnormal =
      detail::float_bits(detail::bits_float(magnitude) + 0.5f) - detail::float_bits(0.5f);
  uint32_t result = detail::choose(magnitude < 0x38800000u, subnormal, normal);
  result = detail::choose(magnitude >= 0x47800000u, 0x7c00u, result);  // 65536 and above
  result = detail::choose(magnitude > 0x7f800000u, 0x7e00u, result);   // NaN
  return Float16{static_cast<uint16_t>(sign | result)};
}

}  // namespace cudaops_kernels

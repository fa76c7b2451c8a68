// SPDX-License-Identifier: Apache-2.0
// Eight-bit numbers in double, for tests and benchmarks.
#pragma once

#include <cmath>

#include "common/quantized.h"

namespace op_test {

using cudaops_kernels::QuantizedType;

inline double largest_number(QuantizedType type) {
  return type == QuantizedType::kInt8 ? 127.0 : 448.0;
}

// From a number of the type to the next.
inline double step_at(double x, QuantizedType type) {
  if (type == QuantizedType::kInt8) return 1;
  return std::ldexp(1.0, (std::fabs(x) < 0x1p-6 ? -6 : std::ilogb(x)) - 3);
}

// The nearest number of the type, ties to even.
inline double nearest(double x, QuantizedType type) {
  const double limit = largest_number(type);
  x = x > limit ? limit : (x < -limit ? -limit : x);
  const double step = step_at(x, type);
  return std::nearbyint(x / step) * step;
}

// What a stored byte says.
inline double stored(uint8_t byte, QuantizedType type) {
  if (type == QuantizedType::kInt8) return static_cast<int8_t>(byte);
  const int magnitude = byte & 0x7f, sign = (byte & 0x80) != 0 ? -1 : 1;
  if (magnitude == 0x7f) return std::nan("");
  if (magnitude < 8) return sign * std::ldexp(magnitude, -9);
  return sign * std::ldexp(8 + (magnitude & 7), (magnitude >> 3) - 10);
}

// Whether `found` is what x, or what lies a millionth beside it, is rounded to.
inline bool is_nearest(double found, double x, QuantizedType type) {
  const double a = nearest(x * (1 - 1e-6), type), b = nearest(x * (1 + 1e-6), type);
  return found >= std::fmin(a, b) && found <= std::fmax(a, b);
}

}  // namespace op_test

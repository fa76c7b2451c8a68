// SPDX-License-Identifier: Apache-2.0
// gelu and its derivative in double, as the definitions have them.
#pragma once

#include <cmath>

namespace op_test {

constexpr double kPi = 3.14159265358979323846;

inline double gelu_erf(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }

inline double gelu_erf_slope(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0)) + x * std::exp(-0.5 * x * x) / std::sqrt(2 * kPi);
}

inline double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x)));
}

inline double gelu_tanh_slope(double x) {
  const double t = std::tanh(std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * std::sqrt(2 / kPi) * (1 + 3 * 0.044715 * x * x);
}

}  // namespace op_test

// SPDX-License-Identifier: Apache-2.0
// Activation functions and their derivatives, in float, for one element, on the CPU and on devices.
// They cost one or two hardware functions (2^x, 1/x) on a device. On the CPU loops vectorise with
// GCC's defaults: it must assume that a float operation in a branch traps, so there is none;
// numbers are chosen by their bits.
//
// At infinity they are what the formulas are: the value at -infinity and both derivatives are NaN,
// as in torch.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "rows.h"

namespace cudaops_kernels {

struct ValueAndSlope {
  float value;
  float slope;
};

namespace detail {

CUDAOPS_HOST_DEVICE inline uint32_t bits_of_float(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

CUDAOPS_HOST_DEVICE inline float float_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// 2^x; 0 below 2^-126, infinity from 2^127.5 on.
CUDAOPS_HOST_DEVICE inline float exp2_of(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#elif defined(__HIP_DEVICE_COMPILE__)
  return exp2f(x);
#else
  // 2^n * 2^f with |f| <= 1/2. Adding 1.5 * 2^23 rounds to a whole number in the lowest bits. NaN
  // comes through in f.
  constexpr float kRounder = 12582912.0f;
  constexpr uint32_t kBitsOf128 = 0x43000000u, kInfinity = 0x7f800000u;
  const uint32_t magnitude = bits_of_float(x) & 0x7fffffffu;
  const bool is_too_large = magnitude > kBitsOf128 && magnitude <= kInfinity;
  x = float_of_bits((bits_of_float(x) & 0x80000000u) | (is_too_large ? kBitsOf128 : magnitude));
  const float shifted = x + kRounder;
  const float f = x - (shifted - kRounder);
  const int32_t n = static_cast<int32_t>(bits_of_float(shifted) - bits_of_float(kRounder));
  const float power = float_of_bits(static_cast<uint32_t>(n < -127 ? 0 : n + 127) << 23);
  // Least squares in the largest error, relative: 2e-9 before rounding.
  float p = 1.53533620e-4f;
  p = p * f + 1.33988750e-3f;
  p = p * f + 9.61843692e-3f;
  p = p * f + 5.55033237e-2f;
  p = p * f + 2.40226477e-1f;
  p = p * f + 6.93147182e-1f;
  p = p * f + 1.0f;
  return p * power;
#endif
}

CUDAOPS_HOST_DEVICE inline float reciprocal_of(float x) {
#if defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.0f / x;
#endif
}

// 1 / (1 + 2^-x): the logistic function of x * log(2).
CUDAOPS_HOST_DEVICE inline float logistic2(float x) { return reciprocal_of(1.0f + exp2_of(-x)); }

}  // namespace detail

constexpr float kLog2E = 1.44269504f;

// x * logistic(x) (Elfwing, Uchibe, Doya: Sigmoid-weighted linear units, 2017).
struct Silu {
  CUDAOPS_HOST_DEVICE static float value(float x) { return x * detail::logistic2(kLog2E * x); }

  CUDAOPS_HOST_DEVICE static ValueAndSlope both(float x) {
    const float s = detail::logistic2(kLog2E * x);
    const float value = x * s;
    return {value, s + value * (1.0f - s)};
  }
};

// x * Phi(x), with Phi the normal distribution function (Hendrycks, Gimpel: Gaussian error linear
// units, 2016).
//
// Phi(-t) for t >= 0 is 2^p(t) with a polynomial p: the logarithm of the error function's
// complement is smooth enough for that. p's coefficients minimise the largest error on [0, 6.5],
// measured in max(5e-8 relative, 1e-9 of t * Phi(-t)); beyond, p falls without end. In float32
// arithmetic: within 4 ulp of gelu for x > -1, within 5e-8 everywhere, and small values left of -1
// keep a relative error below 3e-5 down to -6, where 0.5 * x * (1 + erf(x / sqrt(2))) cancels.
struct GeluErf {
  CUDAOPS_HOST_DEVICE static float distribution(float x) {
    const float t = std::fabs(x);
    float p = -2.17861889e-8f;
    p = p * t + 6.83501639e-7f;
    p = p * t + -9.12985979e-6f;
    p = p * t + 6.58971112e-5f;
    p = p * t + -2.43445524e-4f;
    p = p * t + -7.54318244e-5f;
    p = p * t + 7.03981286e-3f;
    p = p * t + -5.25043346e-2f;
    p = p * t + -4.59200442e-1f;
    p = p * t + -1.15110636f;
    p = p * t + -1.0f;
    const float tail = detail::exp2_of(p);
    const uint32_t is_negative = 0u - (detail::bits_of_float(x) >> 31);
    return detail::float_of_bits((detail::bits_of_float(tail) & is_negative) |
                                 (detail::bits_of_float(1.0f - tail) & ~is_negative));
  }

  CUDAOPS_HOST_DEVICE static float value(float x) { return x * distribution(x); }

  CUDAOPS_HOST_DEVICE static ValueAndSlope both(float x) {
    constexpr float kHalfLog2E = 0.72134752f, kLog2OfSqrt2Pi = 1.32574806f;
    const float phi = detail::exp2_of(x * x * -kHalfLog2E - kLog2OfSqrt2Pi);
    const float distribution_of_x = distribution(x);
    return {x * distribution_of_x, distribution_of_x + x * phi};
  }
};

// The same paper's approximation: 0.5 * x * (1 + tanh(u)) with u = sqrt(2 / pi) * (x + 0.044715 *
// x^3), which is x * logistic(2 * u).
struct GeluTanh {
  static constexpr float kScale = 2.30220820f;  // 2 * sqrt(2 / pi) * log2(e)
  static constexpr float kCubic = 0.044715f;
  static constexpr float kSlope = 1.59576912f;  // 2 * sqrt(2 / pi)

  CUDAOPS_HOST_DEVICE static float value(float x) {
    return x * detail::logistic2(x * (kScale * kCubic * (x * x) + kScale));
  }

  CUDAOPS_HOST_DEVICE static ValueAndSlope both(float x) {
    // All is decided long before 100; x^2 must not overflow, or 0 * infinity comes out.
    constexpr uint32_t kBitsOf10000 = 0x461c4000u;
    const uint32_t bits = detail::bits_of_float(x * x);
    const float square = detail::float_of_bits(bits < kBitsOf10000 ? bits : kBitsOf10000);
    const float s = detail::logistic2(x * (kScale * kCubic * square + kScale));
    const float value = x * s;
    const float slope_of_2u = 3.0f * kSlope * kCubic * square + kSlope;
    return {value, s + value * (1.0f - s) * slope_of_2u};
  }
};

enum class GeluKind { kErf, kTanh };

// body(GeluErf{}) or body(GeluTanh{}).
template <typename Body>
void for_gelu(GeluKind kind, const Body& body) {
  if (kind == GeluKind::kErf) {
    body(GeluErf{});
  } else {
    body(GeluTanh{});
  }
}

}  // namespace cudaops_kernels

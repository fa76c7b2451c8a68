// SPDX-License-Identifier: Apache-2.0
// Comparison of a kernel's result with a reference: element types, table of tolerances,
// reproducible inputs, poison values. Plain C++; cudaops/testing.h adds assertions for GoogleTest,
// and the verify function of a benchmark uses it directly:
//
//   const Comparison c = compare(out, [&](int64_t i) { return exact(a[i]) + exact(b[i]); });
//   if (!c.ok) puts(c.text.c_str());
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudaops {
namespace testing {

// ---------------------------------------------------------------------------------------------------
// Element types

// Same memory as __half and c10::Half, __nv_bfloat16 and c10::BFloat16.
struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

// How far a result may be from the exact value:
//   |actual - expected| <= atol + min(rtol * |expected|, ulps * ulp(expected))
// where an ulp is the distance between neighbours of the *output's* type at that magnitude. rtol
// is the error of the computation; ulps limits it, so that it can't hide a wrong last bit of a
// 16-bit result.
struct Tolerance {
  double rtol;
  double atol;
  double ulps;
};

namespace detail {

// Parameters of the binary formats. One conversion, simple rather than fast, serves all of them.
struct Format {
  int mantissa_bits;  // stored ones
  int min_exponent;   // of normal numbers
  int max_exponent;
};

inline double ulp(double value, const Format& format) {
  const int exponent =
      value == 0 || !std::isfinite(value) ? format.min_exponent : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, format.min_exponent) - format.mantissa_bits);
}

// To nearest, ties to even, infinity beyond the largest finite number.
inline double round_to(double value, const Format& format) {
  if (!std::isfinite(value)) return value;
  const double step = ulp(value, format);
  const double rounded = std::nearbyint(value / step) * step;
  const double largest =
      std::ldexp(2.0 - std::ldexp(1.0, -format.mantissa_bits), format.max_exponent);
  if (std::fabs(rounded) <= largest) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

inline double decode16(uint16_t bits, const Format& format) {
  const int exponent_bits = 15 - format.mantissa_bits;
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const int field = (bits >> format.mantissa_bits) & ((1 << exponent_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (field == (1 << exponent_bits) - 1) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  const int exponent = std::max(field, 1) - 1 + format.min_exponent;
  const int whole = field == 0 ? mantissa : mantissa + (1 << format.mantissa_bits);
  return sign * std::ldexp(whole, exponent - format.mantissa_bits);
}

inline uint16_t encode16(double value, const Format& format) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const int infinity = 0x7fff & ~((1 << format.mantissa_bits) - 1);
  if (std::isnan(value)) return static_cast<uint16_t>(infinity | (1 << (format.mantissa_bits - 1)));
  const double rounded = std::fabs(round_to(value, format));
  if (std::isinf(rounded)) return static_cast<uint16_t>(sign | infinity);
  const double step = ulp(rounded, format);
  const int whole = static_cast<int>(rounded / step);
  if (whole < (1 << format.mantissa_bits)) return static_cast<uint16_t>(sign | whole);
  const int field = std::ilogb(rounded) - format.min_exponent + 1;
  return static_cast<uint16_t>(
      sign | ((field << format.mantissa_bits) + (whole - (1 << format.mantissa_bits))));
}

}  // namespace detail

// The table of types and tolerances, for results that are computed in float and rounded once. Ops
// with a larger error (that of a sum grows with the square root of its length) give their own
// tolerance. Integers are exact.
template <typename T>
struct DtypeOf {
  static_assert(std::is_integral<T>::value, "no tolerance for this type: specialise DtypeOf");
  static constexpr const char* kName = "integer";
  static constexpr Tolerance kTolerance{0, 0, 0};
  static double to_double(T value) { return static_cast<double>(value); }
  static T from_double(double value) { return static_cast<T>(value); }
  static double ulp(double) { return 1; }
};

template <>
struct DtypeOf<float> {
  static constexpr detail::Format kFormat{23, -126, 127};
  static constexpr const char* kName = "f32";
  static constexpr Tolerance kTolerance{5e-6, 1e-6, 64};
  static double to_double(float value) { return value; }
  static float from_double(double value) { return static_cast<float>(value); }
  static double ulp(double value) { return detail::ulp(value, kFormat); }
};

template <>
struct DtypeOf<Float16> {
  static constexpr detail::Format kFormat{10, -14, 15};
  static constexpr const char* kName = "f16";
  static constexpr Tolerance kTolerance{1e-3, 1e-5, 1};
  static double to_double(Float16 value) { return detail::decode16(value.bits, kFormat); }
  static Float16 from_double(double value) { return {detail::encode16(value, kFormat)}; }
  static double ulp(double value) { return detail::ulp(value, kFormat); }
};

template <>
struct DtypeOf<BFloat16> {
  static constexpr detail::Format kFormat{7, -126, 127};
  static constexpr const char* kName = "bf16";
  static constexpr Tolerance kTolerance{1e-2, 1e-5, 1};
  static double to_double(BFloat16 value) { return detail::decode16(value.bits, kFormat); }
  static BFloat16 from_double(double value) { return {detail::encode16(value, kFormat)}; }
  static double ulp(double value) { return detail::ulp(value, kFormat); }
};

// The value of an element, without rounding.
template <typename T>
double exact(T value) {
  return DtypeOf<T>::to_double(value);
}

// The nearest element.
template <typename T>
T rounded(double value) {
  return DtypeOf<T>::from_double(value);
}

// ---------------------------------------------------------------------------------------------------
// Inputs

inline uint64_t seed() {
  const char* text = std::getenv("CUDAOPS_TEST_SEED");
  return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 0) : 1;
}

inline std::string seed_text() {
  const std::string number = std::to_string(seed());
  return "seed " + number + " (CUDAOPS_TEST_SEED=" + number + " gives the same inputs)";
}

// Numbers that depend on the seed and on `stream` only: not on the order of tests, a filter or the
// standard library.
class Random {
 public:
  explicit Random(uint64_t stream = 0) : state_(mix(seed()) ^ mix(stream + 0x51ed270b)) {}

  uint64_t bits() { return mix(state_ += 0x9e3779b97f4a7c15u); }

  double uniform(double low, double high) {
    return low + (high - low) * std::ldexp(static_cast<double>(bits() >> 11), -53);
  }

  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform(0, 1)));
    return radius * std::cos(6.283185307179586 * uniform(0, 1));
  }

  template <typename T>
  std::vector<T> uniform(int64_t num_elements, double low, double high) {
    std::vector<T> values(static_cast<size_t>(num_elements));
    for (T& value : values) value = rounded<T>(uniform(low, high));
    return values;
  }

  template <typename T>
  std::vector<T> normal(int64_t num_elements) {
    std::vector<T> values(static_cast<size_t>(num_elements));
    for (T& value : values) value = rounded<T>(normal());
    return values;
  }

 private:
  // The finaliser of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
  // generators).
  static uint64_t mix(uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
  }

  uint64_t state_;
};

// ---------------------------------------------------------------------------------------------------
// Outputs

// Every bit set: a NaN in each floating type, and what a memset can write on a device.
template <typename T>
T poison() {
  T value;
  std::memset(&value, 0xff, sizeof value);
  return value;
}

template <typename T>
bool is_poison(const T& value) {
  const T wanted = poison<T>();
  return std::memcmp(&value, &wanted, sizeof value) == 0;
}

// ---------------------------------------------------------------------------------------------------
// Comparing

// An input shown beside a wrong element: input `name` at the same index.
struct ShownInput {
  template <typename T>
  ShownInput(std::string input_name, const std::vector<T>& values)
      : name(std::move(input_name)), at([&values](int64_t index) {
          return index < static_cast<int64_t>(values.size())
                     ? exact(values[static_cast<size_t>(index)])
                     : std::numeric_limits<double>::quiet_NaN();
        }) {}

  std::string name;
  std::function<double(int64_t)> at;
};

namespace detail {

inline std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

}  // namespace detail

struct Comparison {
  bool ok;
  std::string text;  // the worst element and, where not ok, the first wrong ones
};

// Whether actual[i] is close to expected(i), a double, for every i. NaN is close to NaN only, and
// an infinity (also one that comes from rounding `expected` to T) to the same infinity only.
template <typename T, typename Expected>
Comparison compare(const std::vector<T>& actual, const Expected& expected,
                   const std::vector<ShownInput>& inputs = {},
                   Tolerance tolerance = DtypeOf<T>::kTolerance) {
  constexpr int kShown = 5;
  const double infinity = std::numeric_limits<double>::infinity();
  int64_t num_wrong = 0, worst_index = -1;
  double worst_ulps = 0;
  std::string lines;
  for (int64_t i = 0; i < static_cast<int64_t>(actual.size()); ++i) {
    const double found = exact(actual[static_cast<size_t>(i)]);
    const double wanted = expected(i);
    const double representable = exact(rounded<T>(wanted));
    double error, allowed, ulps;
    if (std::isfinite(representable) && std::isfinite(found)) {
      error = std::fabs(found - wanted);
      allowed = tolerance.atol + std::min(tolerance.rtol * std::fabs(wanted),
                                          tolerance.ulps * DtypeOf<T>::ulp(wanted));
      ulps = error / DtypeOf<T>::ulp(wanted);
    } else {
      const bool same = std::isnan(representable) ? std::isnan(found) : found == representable;
      error = ulps = same ? 0 : infinity;
      allowed = 0;
    }
    if (worst_index < 0 || ulps > worst_ulps) {
      worst_ulps = ulps;
      worst_index = i;
    }
    if (error <= allowed) continue;
    if (++num_wrong > kShown) continue;
    lines += "\n  index " + std::to_string(i) + "  actual " + detail::number(found) +
             ", expected " + detail::number(wanted) + ", off by " + detail::number(ulps) +
             " ulps (" + detail::number(error) + ", allowed " + detail::number(allowed) + ")";
    if (is_poison(actual[static_cast<size_t>(i)])) lines += ", never written";
    for (const ShownInput& input : inputs) {
      lines +=
          "\n    " + input.name + "[" + std::to_string(i) + "] = " + detail::number(input.at(i));
    }
  }
  const std::string worst =
      "worst " + detail::number(worst_ulps) + " ulps at index " + std::to_string(worst_index);
  const std::string name = std::string(DtypeOf<T>::kName) + ": ";
  if (num_wrong == 0) return {true, name + worst};
  return {false, name + std::to_string(num_wrong) + " of " + std::to_string(actual.size()) +
                     " elements are wrong, " + worst + lines + (num_wrong > kShown ? "\n  …" : "") +
                     "\n  " + seed_text()};
}

}  // namespace testing
}  // namespace cudaops

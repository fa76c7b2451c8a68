// SPDX-License-Identifier: Apache-2.0
// Numbers whose type is known when the program runs.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "dtype.h"

namespace c10 {
inline namespace cudaops_fast_1 {

class Scalar {
 public:
  Scalar() : Scalar(static_cast<int64_t>(0)) {}
  Scalar(uint8_t v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(int8_t v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(int16_t v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(int v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(long v) : value_{cudaops_fast::k_int, {v}, {0}} {}
  Scalar(long long v) : Scalar(static_cast<long>(v)) {}
  Scalar(uint16_t v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(uint32_t v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(uint64_t v)
      : value_{v > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ? cudaops_fast::k_uint
                                                                              : cudaops_fast::k_int,
               {static_cast<int64_t>(v)},
               {0}} {}
  Scalar(float v) : Scalar(static_cast<double>(v)) {}
  Scalar(double v) : value_{cudaops_fast::k_double, {0}, {0}} { value_.d = v; }
  template <class T, class = std::enable_if_t<std::is_same<T, bool>::value>>
  Scalar(T v) : value_{cudaops_fast::k_bool, {v ? 1 : 0}, {0}} {}
#ifdef CUDAOPS_FAST_HALF
  Scalar(c10::Half v) : Scalar(static_cast<double>(static_cast<float>(v))) {}
  Scalar(c10::BFloat16 v) : Scalar(static_cast<double>(static_cast<float>(v))) {}
#endif
#ifdef CUDAOPS_FAST_COMPLEX
  Scalar(c10::complex<double> v) : value_{cudaops_fast::k_complex, {0}, {0}} {
    value_.d = v.real();
    value_.e = v.imag();
  }
  Scalar(c10::complex<float> v) : Scalar(c10::complex<double>(v)) {}
#endif
  explicit Scalar(const cudaops_fast::Value& v) : value_(v) {}

  bool isFloatingPoint() const { return value_.kind == cudaops_fast::k_double; }
  bool isComplex() const { return value_.kind == cudaops_fast::k_complex; }
  bool isBoolean() const { return value_.kind == cudaops_fast::k_bool; }
  bool isIntegral(bool includeBool) const {
    return value_.kind == cudaops_fast::k_int || value_.kind == cudaops_fast::k_uint ||
           (includeBool && isBoolean());
  }
  ScalarType type() const {
    switch (value_.kind) {
      case cudaops_fast::k_double:
        return ScalarType::Double;
      case cudaops_fast::k_complex:
        return ScalarType::ComplexDouble;
      case cudaops_fast::k_bool:
        return ScalarType::Bool;
      case cudaops_fast::k_uint:
        return ScalarType::UInt64;
      default:
        return ScalarType::Long;
    }
  }
  // Conversions that can overflow are torch's, with its errors.
  template <class T>
  T to() const {
    cudaops_fast::Value result;
    cudaops_fast::bridge()->convert(&value_, static_cast<int32_t>(CppTypeToScalarType<T>::value),
                                    &result);
    if constexpr (std::is_integral<T>::value) {
      return static_cast<T>(result.i);
    } else if constexpr (std::is_floating_point<T>::value) {
      return static_cast<T>(result.d);
    } else {
      return from_double<T>(result);
    }
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int32_t toInt() const { return to<int32_t>(); }
  int16_t toShort() const { return to<int16_t>(); }
  int8_t toChar() const { return to<int8_t>(); }
  uint8_t toByte() const { return to<uint8_t>(); }
  bool toBool() const { return to<bool>(); }
  const cudaops_fast::Value& value() const { return value_; }

 private:
  template <class T>
  static T from_double(const cudaops_fast::Value& value);
  cudaops_fast::Value value_;
};
#ifdef CUDAOPS_FAST_HALF
template <>
inline c10::Half Scalar::from_double(const cudaops_fast::Value& value) {
  return static_cast<float>(value.d);
}
template <>
inline c10::BFloat16 Scalar::from_double(const cudaops_fast::Value& value) {
  return static_cast<float>(value.d);
}
#endif
#ifdef CUDAOPS_FAST_COMPLEX
template <>
inline c10::complex<float> Scalar::from_double(const cudaops_fast::Value& value) {
  return {static_cast<float>(value.d), static_cast<float>(value.e)};
}
template <>
inline c10::complex<double> Scalar::from_double(const cudaops_fast::Value& value) {
  return {value.d, value.e};
}
#endif

}  // namespace cudaops_fast_1
}  // namespace c10

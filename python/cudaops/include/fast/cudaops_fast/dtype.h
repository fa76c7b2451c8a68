// SPDX-License-Identifier: Apache-2.0
// Dtypes, and the types of C++ that they are.
#pragma once

// Half, BFloat16 and complex are torch's own, where the text names them: nvcc takes 3 s for these
// headers.
#ifdef CUDAOPS_FAST_HALF
#include <torch/headeronly/util/BFloat16.h>
#include <torch/headeronly/util/Half.h>
#endif
#ifdef CUDAOPS_FAST_COMPLEX
#include <c10/util/complex.h>
#endif

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base.h"

namespace c10 {
inline namespace cudaops_fast_1 {

// Name, number, bytes.
// clang-format off
#define CUDAOPS_FAST_DTYPES(_) \
  _(Byte, 0, 1) \
  _(Char, 1, 1) \
  _(Short, 2, 2) \
  _(Int, 3, 4) \
  _(Long, 4, 8) \
  _(Half, 5, 2) \
  _(Float, 6, 4) \
  _(Double, 7, 8) \
  _(ComplexHalf, 8, 4) \
  _(ComplexFloat, 9, 8) \
  _(ComplexDouble, 10, 16) \
  _(Bool, 11, 1) \
  _(BFloat16, 15, 2) \
  _(Float8_e5m2, 23, 1) \
  _(Float8_e4m3fn, 24, 1) \
  _(Float8_e5m2fnuz, 25, 1) \
  _(Float8_e4m3fnuz, 26, 1) \
  _(UInt16, 27, 2) \
  _(UInt32, 28, 4) \
  _(UInt64, 29, 8)
// clang-format on

enum class ScalarType : int8_t {
#define CUDAOPS_FAST_DTYPE(name, number, size) name = number,
  CUDAOPS_FAST_DTYPES(CUDAOPS_FAST_DTYPE)
#undef CUDAOPS_FAST_DTYPE
      Undefined = 46,
};
#define CUDAOPS_FAST_DTYPE(name, number, size) constexpr ScalarType k##name = ScalarType::name;
CUDAOPS_FAST_DTYPES(CUDAOPS_FAST_DTYPE)
#undef CUDAOPS_FAST_DTYPE

// A dtype whose name these headers don't know is printed by torch itself, and never equal to one
// that they know.
inline const char* toString(ScalarType type) {
  switch (type) {
#define CUDAOPS_FAST_DTYPE(name, number, size) \
  case ScalarType::name:                       \
    return #name;
    CUDAOPS_FAST_DTYPES(CUDAOPS_FAST_DTYPE)
#undef CUDAOPS_FAST_DTYPE
    default:
      return cudaops_fast::bridge()->dtype_name(static_cast<int32_t>(type));
  }
}

inline size_t elementSize(ScalarType type) {
  switch (type) {
#define CUDAOPS_FAST_DTYPE(name, number, size) \
  case ScalarType::name:                       \
    return size;
    CUDAOPS_FAST_DTYPES(CUDAOPS_FAST_DTYPE)
#undef CUDAOPS_FAST_DTYPE
    default:
      return static_cast<size_t>(cudaops_fast::bridge()->dtype_size(static_cast<int32_t>(type)));
  }
}

inline bool isIntegralType(ScalarType t, bool includeBool) {
  return t == ScalarType::Byte || t == ScalarType::Char || t == ScalarType::Int ||
         t == ScalarType::Long || t == ScalarType::Short || t == ScalarType::UInt16 ||
         t == ScalarType::UInt32 || t == ScalarType::UInt64 ||
         (includeBool && t == ScalarType::Bool);
}
inline bool isComplexType(ScalarType t) {
  return t == ScalarType::ComplexHalf || t == ScalarType::ComplexFloat ||
         t == ScalarType::ComplexDouble;
}

template <class T>
struct CppTypeToScalarType;
namespace impl {
template <ScalarType N>
struct ScalarTypeToCPPType;
template <ScalarType N>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<N>::type;
}  // namespace impl
#define CUDAOPS_FAST_TYPE(cpp, name)                                                         \
  template <>                                                                                \
  struct CppTypeToScalarType<cpp> : std::integral_constant<ScalarType, ScalarType::name> {}; \
  template <>                                                                                \
  struct impl::ScalarTypeToCPPType<ScalarType::name> {                                       \
    using type = cpp;                                                                        \
  };
CUDAOPS_FAST_TYPE(uint8_t, Byte)
CUDAOPS_FAST_TYPE(int8_t, Char)
CUDAOPS_FAST_TYPE(int16_t, Short)
CUDAOPS_FAST_TYPE(int32_t, Int)
CUDAOPS_FAST_TYPE(int64_t, Long)
CUDAOPS_FAST_TYPE(float, Float)
CUDAOPS_FAST_TYPE(double, Double)
CUDAOPS_FAST_TYPE(bool, Bool)
CUDAOPS_FAST_TYPE(uint16_t, UInt16)
CUDAOPS_FAST_TYPE(uint32_t, UInt32)
CUDAOPS_FAST_TYPE(uint64_t, UInt64)
#ifdef CUDAOPS_FAST_HALF
CUDAOPS_FAST_TYPE(c10::Half, Half)
CUDAOPS_FAST_TYPE(c10::BFloat16, BFloat16)
#endif
#ifdef CUDAOPS_FAST_COMPLEX
CUDAOPS_FAST_TYPE(c10::complex<float>, ComplexFloat)
CUDAOPS_FAST_TYPE(c10::complex<double>, ComplexDouble)
#endif
#undef CUDAOPS_FAST_TYPE

// As a tensor keeps it.
struct TypeMeta {
  ScalarType type = ScalarType::Undefined;
  constexpr TypeMeta() = default;
  constexpr explicit TypeMeta(ScalarType from) : type(from) {}
  constexpr ScalarType toScalarType() const { return type; }
  size_t itemsize() const { return elementSize(type); }
  std::string_view name() const {
    int64_t length;
    const char* text = cudaops_fast::bridge()->type_name(static_cast<int32_t>(type), &length);
    return std::string_view(text, static_cast<size_t>(length));
  }
  template <class T>
  bool Match() const {
    return type == CppTypeToScalarType<T>::value;
  }
};
inline bool operator==(TypeMeta a, TypeMeta b) { return a.type == b.type; }
inline bool operator!=(TypeMeta a, TypeMeta b) { return a.type != b.type; }
inline bool operator==(ScalarType a, TypeMeta b) { return a == b.type; }
inline bool operator==(TypeMeta a, ScalarType b) { return a.type == b; }
inline bool operator!=(ScalarType a, TypeMeta b) { return a != b.type; }
inline bool operator!=(TypeMeta a, ScalarType b) { return a.type != b; }
inline ScalarType typeMetaToScalarType(TypeMeta meta) { return meta.type; }
inline TypeMeta scalarTypeToTypeMeta(ScalarType type) { return TypeMeta(type); }
inline std::optional<ScalarType> optTypeMetaToScalarType(std::optional<TypeMeta> meta) {
  return meta ? std::optional<ScalarType>(meta->type) : std::nullopt;
}
inline ScalarType get_default_dtype_as_scalartype() {
  return static_cast<ScalarType>(cudaops_fast::bridge()->default_dtype());
}

template <class C, class R>
std::basic_ostream<C, R>& operator<<(std::basic_ostream<C, R>& stream, ScalarType value) {
  return stream << toString(value);
}
template <class C, class R>
std::basic_ostream<C, R>& operator<<(std::basic_ostream<C, R>& stream, const TypeMeta& value) {
  return stream << value.name();
}

}  // namespace cudaops_fast_1
}  // namespace c10

namespace caffe2 {
using c10::TypeMeta;
}

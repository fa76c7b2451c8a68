// SPDX-License-Identifier: Apache-2.0
// AT_DISPATCH_: one lambda for each of some dtypes.
#pragma once

#include "tensor.h"

namespace detail {
inline namespace cudaops_fast_1 {
inline at::ScalarType scalar_type(at::ScalarType type) { return type; }
}  // namespace cudaops_fast_1
}  // namespace detail

#define AT_PRIVATE_CASE_TYPE_USING_HINT(enum_type, HINT, ...)                   \
  case enum_type: {                                                             \
    using HINT [[maybe_unused]] = ::c10::impl::ScalarTypeToCPPTypeT<enum_type>; \
    return __VA_ARGS__();                                                       \
  }
#define AT_DISPATCH_CASE(enum_type, ...) \
  AT_PRIVATE_CASE_TYPE_USING_HINT(enum_type, scalar_t, __VA_ARGS__)
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                                   \
  [&] {                                                                                       \
    const auto& the_type = TYPE;                                                              \
    constexpr const char* at_dispatch_name = NAME;                                            \
    const ::at::ScalarType _st = ::detail::scalar_type(the_type);                             \
    switch (_st) {                                                                            \
      __VA_ARGS__                                                                             \
      default:                                                                                \
        TORCH_CHECK_NOT_IMPLEMENTED(false, '"', at_dispatch_name, "\" not implemented for '", \
                                    ::c10::toString(_st), "'");                               \
    }                                                                                         \
  }()

#define CUDAOPS_FAST_CASE(name, ...) AT_DISPATCH_CASE(::at::ScalarType::name, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES(...) \
  CUDAOPS_FAST_CASE(Double, __VA_ARGS__) CUDAOPS_FAST_CASE(Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) CUDAOPS_FAST_CASE(Half, __VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...) \
  CUDAOPS_FAST_CASE(Half, __VA_ARGS__) CUDAOPS_FAST_CASE(BFloat16, __VA_ARGS__)
#define AT_DISPATCH_CASE_COMPLEX_TYPES(...) \
  CUDAOPS_FAST_CASE(ComplexDouble, __VA_ARGS__) CUDAOPS_FAST_CASE(ComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...) \
  CUDAOPS_FAST_CASE(Byte, __VA_ARGS__)       \
  CUDAOPS_FAST_CASE(Char, __VA_ARGS__)       \
  CUDAOPS_FAST_CASE(Int, __VA_ARGS__)        \
  CUDAOPS_FAST_CASE(Long, __VA_ARGS__) CUDAOPS_FAST_CASE(Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(__VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_COMPLEX_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__))

// With more dtypes, named before TYPE.
#define CUDAOPS_FAST_AND1(CASES, A, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, CASES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define CUDAOPS_FAST_AND2(CASES, A, B, TYPE, NAME, ...)                  \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                         \
                     CASES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) \
                         AT_DISPATCH_CASE(B, __VA_ARGS__))
#define CUDAOPS_FAST_AND3(CASES, A, B, C, TYPE, NAME, ...)               \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                         \
                     CASES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) \
                         AT_DISPATCH_CASE(B, __VA_ARGS__) AT_DISPATCH_CASE(C, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(A, TYPE, NAME, ...) \
  CUDAOPS_FAST_AND1(AT_DISPATCH_CASE_FLOATING_TYPES, A, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(A, B, TYPE, NAME, ...) \
  CUDAOPS_FAST_AND2(AT_DISPATCH_CASE_FLOATING_TYPES, A, B, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND3(A, B, C, TYPE, NAME, ...) \
  CUDAOPS_FAST_AND3(AT_DISPATCH_CASE_FLOATING_TYPES, A, B, C, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES_AND(A, TYPE, NAME, ...) \
  CUDAOPS_FAST_AND1(AT_DISPATCH_CASE_INTEGRAL_TYPES, A, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(A, TYPE, NAME, ...) \
  CUDAOPS_FAST_AND1(AT_DISPATCH_CASE_ALL_TYPES, A, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(A, B, TYPE, NAME, ...) \
  CUDAOPS_FAST_AND2(AT_DISPATCH_CASE_ALL_TYPES, A, B, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND3(A, B, C, TYPE, NAME, ...) \
  CUDAOPS_FAST_AND3(AT_DISPATCH_CASE_ALL_TYPES, A, B, C, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(A, B, TYPE, NAME, ...) \
  CUDAOPS_FAST_AND2(AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX, A, B, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(A, TYPE, NAME, ...) \
  CUDAOPS_FAST_AND1(AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES, A, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(A, B, TYPE, NAME, ...) \
  CUDAOPS_FAST_AND2(AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES, A, B, TYPE, NAME, __VA_ARGS__)

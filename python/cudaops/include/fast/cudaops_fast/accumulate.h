// SPDX-License-Identifier: Apache-2.0
// In which type sums of another one are computed.
#pragma once

#include "torch.h"

#if defined(__CUDACC__) && defined(CUDAOPS_FAST_HALF)
#include <cuda_fp16.h>
#endif

namespace at {
inline namespace cudaops_fast_1 {

template <class T, bool is_cuda>
struct AccumulateType {};
template <class T, bool is_cuda>
using acc_type = typename AccumulateType<T, is_cuda>::type;

template <class T>
struct OpMathType {
  using type = T;
};
template <class T>
using opmath_type = typename OpMathType<T>::type;

#define CUDAOPS_FAST_ACCUMULATE(T, cpu, cuda) \
  template <>                                 \
  struct AccumulateType<T, false> {           \
    using type = cpu;                         \
  };                                          \
  template <>                                 \
  struct AccumulateType<T, true> {            \
    using type = cuda;                        \
  };
CUDAOPS_FAST_ACCUMULATE(float, double, float)
CUDAOPS_FAST_ACCUMULATE(double, double, double)
CUDAOPS_FAST_ACCUMULATE(int8_t, int64_t, int64_t)
CUDAOPS_FAST_ACCUMULATE(uint8_t, int64_t, int64_t)
CUDAOPS_FAST_ACCUMULATE(char, int64_t, int64_t)
CUDAOPS_FAST_ACCUMULATE(int16_t, int64_t, int64_t)
CUDAOPS_FAST_ACCUMULATE(int32_t, int64_t, int64_t)
CUDAOPS_FAST_ACCUMULATE(int64_t, int64_t, int64_t)
CUDAOPS_FAST_ACCUMULATE(bool, bool, bool)
#ifdef CUDAOPS_FAST_HALF
CUDAOPS_FAST_ACCUMULATE(c10::Half, float, float)
CUDAOPS_FAST_ACCUMULATE(c10::BFloat16, float, float)
template <>
struct OpMathType<c10::Half> {
  using type = float;
};
template <>
struct OpMathType<c10::BFloat16> {
  using type = float;
};
#ifdef __CUDACC__
template <>
struct AccumulateType<half, true> {
  using type = float;
};
#endif
#endif
#undef CUDAOPS_FAST_ACCUMULATE

}  // namespace cudaops_fast_1
}  // namespace at

// SPDX-License-Identifier: Apache-2.0
// Square roots of whole vectors, with what every CPU of the kind has.
#pragma once

#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cudaops_kernels {

// count: a multiple of 4. A compiler that has to set errno takes roots one by one.
inline void roots_plain(float* numbers, int count) {
#if defined(__x86_64__)
  for (int i = 0; i < count; i += 4) {
    _mm_storeu_ps(numbers + i, _mm_sqrt_ps(_mm_loadu_ps(numbers + i)));
  }
#else
  for (int i = 0; i < count; ++i) numbers[i] = std::sqrt(numbers[i]);
#endif
}

}  // namespace cudaops_kernels

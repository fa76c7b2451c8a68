// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "matmul.h"

namespace matmul {
namespace {

// A bfloat16 is the upper half of a float.
float to_float(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

}  // namespace

void run_on_cpu(const Problem& problem) {
  for (int64_t m = 0; m < problem.num_m; ++m) {
    for (int64_t n = 0; n < problem.num_n; ++n) {
      float sum = 0;
      for (int64_t k = 0; k < problem.num_k; ++k) {
        sum +=
            to_float(problem.a[m * problem.num_k + k]) * to_float(problem.b[n * problem.num_k + k]);
      }
      problem.out[m * problem.num_n + n] = sum;
    }
  }
}

}  // namespace matmul

// SPDX-License-Identifier: Apache-2.0
// Division of 64-bit indices by a number that the host knows.
#pragma once

#include <cstdint>

#include "divider.cuh"

namespace cudaops_kernels {
namespace detail {

// Rarely called, and a hundred instructions where it is inlined.
static __device__ __noinline__ int64_t long_quotient(int64_t n, int64_t divisor) {
  return n / divisor;
}

// n / divisor for n >= 0: by a Divider where both are small enough for it, as almost always.
class LongDivider {
 public:
  explicit LongDivider(int64_t divisor)
      : divisor_(divisor), divider_(static_cast<uint32_t>((divisor >> 31) == 0 ? divisor : 1)) {}

  __device__ __forceinline__ int64_t quotient(int64_t n) const {
    if (((n | divisor_) >> 31) == 0) return divider_.quotient(static_cast<uint32_t>(n));
    return long_quotient(n, divisor_);
  }
  __device__ __forceinline__ int64_t divisor() const { return divisor_; }

 private:
  int64_t divisor_;
  Divider divider_;
};

}  // namespace detail
}  // namespace cudaops_kernels

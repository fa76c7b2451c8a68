// SPDX-License-Identifier: Apache-2.0
// Division by a number that the host knows.
#pragma once

#include <cstdint>

namespace cudaops_kernels {
namespace detail {

// n / divisor for n < 2^31, by a multiplication (Granlund, Montgomery: Division by invariant
// integers using multiplication, 1994).
class Divider {
 public:
  explicit Divider(uint32_t divisor) : divisor_(divisor) {
    int log2 = 0;
    while ((uint64_t{1} << log2) < divisor) ++log2;
    shift_ = 31 + log2;
    factor_ = static_cast<uint32_t>((uint64_t{1} << shift_) / divisor + 1);
  }

  __device__ __forceinline__ uint32_t quotient(uint32_t n) const {
    return static_cast<uint32_t>(uint64_t{n} * factor_ >> shift_);
  }
  __device__ __forceinline__ uint32_t divisor() const { return divisor_; }
  // The quotient; the remainder is left in `n`.
  __device__ __forceinline__ int divide(int* n) const {
    const uint32_t dividend = static_cast<uint32_t>(*n), result = quotient(dividend);
    *n = static_cast<int>(dividend - result * divisor_);
    return static_cast<int>(result);
  }

 private:
  uint32_t divisor_;
  uint32_t factor_;
  int shift_;
};

}  // namespace detail
}  // namespace cudaops_kernels

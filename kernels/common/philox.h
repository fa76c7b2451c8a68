// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10 (Salmon et al.: Parallel random numbers: as easy as 1, 2, 3; 2011): four random
// words for each counter of 128 bits, by a key of 64. Nothing is kept between calls: who needs the
// same words again, on any device, asks for the same counter.
#pragma once

#include <cstdint>

#include "rows.h"

namespace cudaops_kernels {

namespace detail {

struct Halves {
  uint32_t low, high;
};
// Of a product of 64 bits. nvcc 13.0 adds a zero to the upper half where it is written as one.
CUDAOPS_HOST_DEVICE inline Halves product(uint32_t a, uint32_t b) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return {a * b, __umulhi(a, b)};
#else
  const uint64_t whole = uint64_t{a} * b;
  return {static_cast<uint32_t>(whole), static_cast<uint32_t>(whole >> 32)};
#endif
}

}  // namespace detail

struct Philox {
  uint32_t words[4];
};

// The counter's words are low's lower and upper half, then high's.
CUDAOPS_HOST_DEVICE inline Philox philox(uint64_t seed, uint64_t low, uint64_t high = 0) {
  uint32_t key_0 = static_cast<uint32_t>(seed), key_1 = static_cast<uint32_t>(seed >> 32);
  uint32_t a = static_cast<uint32_t>(low), b = static_cast<uint32_t>(low >> 32);
  uint32_t c = static_cast<uint32_t>(high), d = static_cast<uint32_t>(high >> 32);
  for (int round = 0; round < 10; ++round) {
    const detail::Halves product_0 = detail::product(0xd2511f53u, a);
    const detail::Halves product_1 = detail::product(0xcd9e8d57u, c);
    a = product_1.high ^ b ^ key_0;
    c = product_0.high ^ d ^ key_1;
    b = product_1.low;
    d = product_0.low;
    key_0 += 0x9e3779b9u;
    key_1 += 0xbb67ae85u;
  }
  return {{a, b, c, d}};
}

// The rounds' keys of a seed. A kernel whose argument they are has them as constants, and adds
// nothing to its seed in each thread.
struct PhiloxKeys {
  uint32_t words[10][2];

  explicit PhiloxKeys(uint64_t seed) {
    for (uint32_t round = 0; round < 10; ++round) {
      words[round][0] = static_cast<uint32_t>(seed) + round * 0x9e3779b9u;
      words[round][1] = static_cast<uint32_t>(seed >> 32) + round * 0xbb67ae85u;
    }
  }
};

// philox() of that seed. (Its rounds stand here again: of one text for both nvcc makes other code
// for the kernels of the one above.)
CUDAOPS_HOST_DEVICE inline Philox philox(const PhiloxKeys& keys, uint64_t low, uint64_t high = 0) {
  uint32_t a = static_cast<uint32_t>(low), b = static_cast<uint32_t>(low >> 32);
  uint32_t c = static_cast<uint32_t>(high), d = static_cast<uint32_t>(high >> 32);
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#pragma unroll
#endif
  for (const auto& key : keys.words) {
    const detail::Halves product_0 = detail::product(0xd2511f53u, a);
    const detail::Halves product_1 = detail::product(0xcd9e8d57u, c);
    a = product_1.high ^ b ^ key[0];
    c = product_0.high ^ d ^ key[1];
    b = product_1.low;
    d = product_0.low;
  }
  return {{a, b, c, d}};
}

}  // namespace cudaops_kernels

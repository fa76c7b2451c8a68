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

namespace detail {

// The counter's words are low's lower and upper half, then high's.
CUDAOPS_HOST_DEVICE inline Philox philox_counter(uint64_t low, uint64_t high) {
  return {{static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
           static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)}};
}

CUDAOPS_HOST_DEVICE inline Philox philox_round(const Philox& x, uint32_t key_0, uint32_t key_1) {
  const Halves product_0 = product(0xd2511f53u, x.words[0]);
  const Halves product_1 = product(0xcd9e8d57u, x.words[2]);
  return {{product_1.high ^ x.words[1] ^ key_0, product_1.low,
           product_0.high ^ x.words[3] ^ key_1, product_0.low}};
}

constexpr int kPhiloxRounds = 10;
constexpr uint32_t kPhiloxStep0 = 0x9e3779b9u, kPhiloxStep1 = 0xbb67ae85u;

}  // namespace detail

CUDAOPS_HOST_DEVICE inline Philox philox(uint64_t seed, uint64_t low, uint64_t high = 0) {
  uint32_t key_0 = static_cast<uint32_t>(seed), key_1 = static_cast<uint32_t>(seed >> 32);
  Philox x = detail::philox_counter(low, high);
  for (int round = 0; round < detail::kPhiloxRounds; ++round) {
    x = detail::philox_round(x, key_0, key_1);
    key_0 += detail::kPhiloxStep0;
    key_1 += detail::kPhiloxStep1;
  }
  return x;
}

// The rounds' keys of a seed. A kernel whose argument they are has them as constants, and adds
// nothing to its seed in each thread.
struct PhiloxKeys {
  uint32_t words[detail::kPhiloxRounds][2];

  explicit PhiloxKeys(uint64_t seed) {
    for (uint32_t round = 0; round < detail::kPhiloxRounds; ++round) {
      words[round][0] = static_cast<uint32_t>(seed) + round * detail::kPhiloxStep0;
      words[round][1] = static_cast<uint32_t>(seed >> 32) + round * detail::kPhiloxStep1;
    }
  }
};

CUDAOPS_HOST_DEVICE inline Philox philox(const PhiloxKeys& keys, uint64_t low, uint64_t high = 0) {
  Philox x = detail::philox_counter(low, high);
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#pragma unroll
#endif
  for (int round = 0; round < detail::kPhiloxRounds; ++round) {
    x = detail::philox_round(x, keys.words[round][0], keys.words[round][1]);
  }
  return x;
}

}  // namespace cudaops_kernels

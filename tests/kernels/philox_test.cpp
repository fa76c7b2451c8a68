// SPDX-License-Identifier: Apache-2.0
// Against the known answers of Random123, the authors' own library (its file kat_vectors).
#include "common/philox.h"

#include <cudaops/testing.h>

namespace {

using cudaops_kernels::Philox;
using cudaops_kernels::philox;
using cudaops_kernels::PhiloxKeys;

void expect_words(const Philox& found, const uint32_t (&wanted)[4]) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(found.words[i], wanted[i]) << i;
}

TEST(Philox, GivesTheKnownAnswers) {
  expect_words(philox(0, 0, 0), {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
  constexpr uint64_t kOnes = ~uint64_t{0};
  expect_words(philox(kOnes, kOnes, kOnes), {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
  expect_words(philox(0x299f31d0a4093822u, 0x85a308d3243f6a88u, 0x0370734413198a2eu),
               {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});
}

TEST(Philox, GivesTheSameByKeys) {
  for (const uint64_t seed : {uint64_t{0}, ~uint64_t{0}, uint64_t{0x299f31d0a4093822}}) {
    for (const uint64_t low : {uint64_t{0}, ~uint64_t{0}, uint64_t{0x85a308d3243f6a88}}) {
      const Philox wanted = philox(seed, low, ~low);
      expect_words(philox(PhiloxKeys(seed), low, ~low), wanted.words);
    }
  }
}

TEST(Philox, EachWordOfKeyAndCounterCounts) {
  const Philox first = philox(1, 2, 3);
  const uint64_t upper = uint64_t{1} << 32;
  for (const Philox& other : {philox(1 + upper, 2, 3), philox(2, 2, 3), philox(1, 3, 3),
                              philox(1, 2 + upper, 3), philox(1, 2, 4), philox(1, 2, 3 + upper)}) {
    EXPECT_NE(first.words[0], other.words[0]);
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The conversions that the CPU kernels use, against the slow ones of cudaops/testing.h, which share
// nothing with them.
#include "common/half_types.h"

#include <cudaops/testing.h>

#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

namespace kernels = cudaops_kernels;
using cudaops::testing::exact;
using cudaops::testing::Random;
using cudaops::testing::rounded;

template <typename Kernel, typename Reference>
void expect_every_pattern_widens() {
  for (int bits = 0; bits < 65536; ++bits) {
    const float found = kernels::to_float(Kernel{static_cast<uint16_t>(bits)});
    const double wanted = exact(Reference{static_cast<uint16_t>(bits)});
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(found)) << bits;
    } else {
      EXPECT_EQ(found, wanted) << bits;
      EXPECT_EQ(std::signbit(found), std::signbit(wanted)) << bits;
    }
  }
}

template <typename Kernel, typename Reference>
void expect_narrows(float value) {
  const uint16_t found = kernels::from_float<Kernel>(value).bits;
  if (std::isnan(value)) {
    EXPECT_TRUE(std::isnan(exact(Reference{found}))) << value;
  } else {
    EXPECT_EQ(found, rounded<Reference>(value).bits) << value;
  }
}

// Random bit patterns, and around each 16-bit value what decides rounding: it, its neighbours in
// float, the midpoint to the next and that one's neighbours.
template <typename Kernel, typename Reference>
void expect_narrows_everywhere() {
  Random random;
  for (int i = 0; i < 200000; ++i) {
    const uint32_t bits = static_cast<uint32_t>(random.bits());
    float value;
    std::memcpy(&value, &bits, sizeof value);
    expect_narrows<Kernel, Reference>(value);
  }
  for (int bits = 0; bits < 65536; ++bits) {
    const double here = exact(Reference{static_cast<uint16_t>(bits)});
    const double next = exact(Reference{static_cast<uint16_t>(bits + 1)});
    for (const double value : {here, (here + next) / 2}) {
      const float narrow = static_cast<float>(value);
      expect_narrows<Kernel, Reference>(narrow);
      expect_narrows<Kernel, Reference>(std::nextafterf(narrow, INFINITY));
      expect_narrows<Kernel, Reference>(std::nextafterf(narrow, -INFINITY));
    }
  }
}

TEST(HalfTypes, Float16Widens) {
  expect_every_pattern_widens<kernels::Float16, cudaops::testing::Float16>();
}
TEST(HalfTypes, BFloat16Widens) {
  expect_every_pattern_widens<kernels::BFloat16, cudaops::testing::BFloat16>();
}
TEST(HalfTypes, Float16RoundsToNearestEven) {
  expect_narrows_everywhere<kernels::Float16, cudaops::testing::Float16>();
}
TEST(HalfTypes, BFloat16RoundsToNearestEven) {
  expect_narrows_everywhere<kernels::BFloat16, cudaops::testing::BFloat16>();
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The checker checked: cudaops/testing.h must pass what is right and fail what is wrong, in words
// that help.
#include <cudaops/testing.h>
#include <gtest/gtest-spi.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

namespace {

using cudaops::testing::BFloat16;
using cudaops::testing::close;
using cudaops::testing::exact;
using cudaops::testing::Float16;
using cudaops::testing::HostBuffer;
using cudaops::testing::is_poison;
using cudaops::testing::poison;
using cudaops::testing::Random;
using cudaops::testing::rounded;
using cudaops::testing::same_bits;

const double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

template <typename T>
::testing::AssertionResult one_close(double actual, double expected) {
  return close(std::vector<T>{rounded<T>(actual)}, std::vector<double>{expected});
}

// At 24 neighbours of bf16 are 0.125 apart.
TEST(Close, PassesHalfAnUlpAndFailsTwo) {
  EXPECT_TRUE(one_close<BFloat16>(24.0, 24.0));
  EXPECT_TRUE(one_close<BFloat16>(24.0, 24.0625));
  EXPECT_TRUE(one_close<BFloat16>(24.0, 24.125));
  EXPECT_FALSE(one_close<BFloat16>(24.0, 24.25));
  EXPECT_FALSE(one_close<BFloat16>(24.25, 24.0));
  // The same distance at the top of a binade, where two ulps are below rtol.
  EXPECT_TRUE(one_close<BFloat16>(31.0, 31.0625));
  EXPECT_FALSE(one_close<BFloat16>(31.0, 31.25));
  // f16 at 24: 1/64 apart.
  EXPECT_TRUE(one_close<Float16>(24.0, 24.0 + 0.5 / 64));
  EXPECT_FALSE(one_close<Float16>(24.0, 24.0 + 2.0 / 64));
  EXPECT_TRUE(one_close<float>(24.0, 24.0 * (1 + 4e-6)));
  EXPECT_FALSE(one_close<float>(24.0, 24.0 * (1 + 6e-6)));
}

TEST(Close, SaysUlpsIndexInputsAndSeed) {
  const std::vector<float> input{1, 2, 3};
  const std::vector<BFloat16> actual{rounded<BFloat16>(1), rounded<BFloat16>(24.25),
                                     poison<BFloat16>()};
  const ::testing::AssertionResult result =
      close(actual, std::vector<double>{1, 24, 9}, {{"input", input}});
  ASSERT_FALSE(result);
  const std::string text = result.message();
  EXPECT_NE(text.find("bf16: 2 of 3 elements are wrong, worst inf ulps at index 2"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("index 1  actual 24.25, expected 24, off by 2 ulps (0.25, allowed 0.12501)\n"
                      "    input[1] = 2"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("index 2  actual nan, expected 9, off by inf ulps (inf, allowed 0), never "
                      "written"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("CUDAOPS_TEST_SEED="), std::string::npos) << text;
}

TEST(Close, FailsTheTestThatUsesIt) {
  EXPECT_NONFATAL_FAILURE(EXPECT_TRUE(one_close<BFloat16>(24.0, 24.25)), "2 ulps");
}

TEST(Close, KnowsNaNAndInfinity) {
  EXPECT_TRUE(one_close<float>(kNaN, kNaN));
  EXPECT_FALSE(one_close<float>(kNaN, 1));
  EXPECT_FALSE(one_close<float>(1, kNaN));
  EXPECT_TRUE(one_close<float>(kInfinity, kInfinity));
  EXPECT_FALSE(one_close<float>(kInfinity, -kInfinity));
  EXPECT_FALSE(one_close<float>(kInfinity, 1));
  EXPECT_TRUE(one_close<Float16>(kInfinity, 70000));  // beyond the largest f16
  EXPECT_FALSE(one_close<Float16>(65504, 70000));
}

TEST(Close, RefusesAWrongNumberOfElements) {
  EXPECT_FALSE(close(std::vector<float>{1}, std::vector<double>{1, 2}));
  EXPECT_TRUE(close(std::vector<float>{}, std::vector<double>{}));
}

TEST(Close, IntegersAreExact) {
  EXPECT_TRUE(close(std::vector<int8_t>{3}, std::vector<double>{3}));
  EXPECT_FALSE(close(std::vector<int8_t>{3}, std::vector<double>{4}));
}

TEST(SameBits, TellsMinusZeroFromZero) {
  EXPECT_TRUE(same_bits(std::vector<float>{0, 1}, std::vector<float>{0, 1}));
  EXPECT_FALSE(same_bits(std::vector<float>{0}, std::vector<float>{-0.0f}));
  EXPECT_FALSE(same_bits(std::vector<float>{0}, std::vector<float>{}));
}

TEST(Types, EveryPatternSurvivesARoundTrip) {
  for (int bits = 0; bits < 65536; ++bits) {
    const Float16 half{static_cast<uint16_t>(bits)};
    const BFloat16 brain{static_cast<uint16_t>(bits)};
    if (std::isnan(exact(half))) {
      EXPECT_TRUE(std::isnan(exact(rounded<Float16>(exact(half)))));
    } else {
      EXPECT_EQ(rounded<Float16>(exact(half)).bits, bits);
    }
    if (std::isnan(exact(brain))) {
      EXPECT_TRUE(std::isnan(exact(rounded<BFloat16>(exact(brain)))));
    } else {
      EXPECT_EQ(rounded<BFloat16>(exact(brain)).bits, bits);
    }
  }
}

TEST(Types, KnownPatternsAndTies) {
  EXPECT_EQ(exact(Float16{0x3c00}), 1.0);
  EXPECT_EQ(exact(Float16{0x0001}), std::ldexp(1.0, -24));
  EXPECT_EQ(exact(Float16{0x7bff}), 65504.0);
  EXPECT_EQ(exact(BFloat16{0x3f80}), 1.0);
  EXPECT_EQ(exact(BFloat16{0xc1c0}), -24.0);
  EXPECT_EQ(rounded<Float16>(2049).bits, rounded<Float16>(2048).bits);  // a tie goes to even
  EXPECT_EQ(rounded<Float16>(2051).bits, rounded<Float16>(2052).bits);
  EXPECT_EQ(rounded<Float16>(65519.99).bits, 0x7bff);
  EXPECT_EQ(rounded<Float16>(65520).bits, 0x7c00);
}

TEST(Poison, IsNaNAndKnown) {
  EXPECT_TRUE(std::isnan(poison<float>()));
  EXPECT_TRUE(std::isnan(exact(poison<Float16>())));
  EXPECT_TRUE(std::isnan(exact(poison<BFloat16>())));
  EXPECT_TRUE(is_poison(poison<float>()));
  EXPECT_FALSE(is_poison(std::numeric_limits<float>::quiet_NaN()));
}

TEST(HostBuffer, GuardsSeeEveryStrayWrite) {
  for (const int64_t offset : {0, 1, 7}) {
    HostBuffer<float> buffer(10, offset);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 256,
              static_cast<uintptr_t>(offset) * sizeof(float));
    for (const float value : buffer.to_host()) EXPECT_TRUE(is_poison(value));
    for (int64_t i = 0; i < 10; ++i) buffer.data()[i] = 0;
    EXPECT_TRUE(buffer.guards_intact());
    buffer.data()[10] = 0;
    EXPECT_EQ(std::string(buffer.guards_intact().message()), "written 1 elements behind the last");
    buffer.data()[10] = poison<float>();
    buffer.data()[-3] = 0;
    EXPECT_EQ(std::string(buffer.guards_intact().message()), "written 3 elements before the first");
  }
}

TEST(Random, DependsOnSeedAndStreamOnly) {
  const std::vector<float> first = Random().uniform<float>(100, -1, 1);
  EXPECT_TRUE(same_bits(first, Random().uniform<float>(100, -1, 1)));
  EXPECT_FALSE(same_bits(first, Random(1).uniform<float>(100, -1, 1)));
  const char* before = std::getenv("CUDAOPS_TEST_SEED");
  const std::string kept = before == nullptr ? "" : before;
  ASSERT_EQ(setenv("CUDAOPS_TEST_SEED", "987654321", 1), 0);
  EXPECT_FALSE(same_bits(first, Random().uniform<float>(100, -1, 1)));
  EXPECT_NE(cudaops::testing::seed_text().find("CUDAOPS_TEST_SEED=987654321"), std::string::npos);
  ASSERT_EQ(setenv("CUDAOPS_TEST_SEED", kept.c_str(), 1), 0);
}

TEST(Random, HasTheRightRangeAndMoments) {
  double mean = 0, square = 0;
  for (const float value : Random().uniform<float>(20000, 2, 4)) {
    EXPECT_GE(value, 2);
    EXPECT_LE(value, 4);
    mean += value / 20000;
  }
  EXPECT_NEAR(mean, 3, 0.03);
  mean = 0;
  for (const float value : Random(1).normal<float>(20000)) {
    mean += value / 20000;
    square += value * value / 20000;
  }
  EXPECT_NEAR(mean, 0, 0.05);
  EXPECT_NEAR(square, 1, 0.06);
}

#if defined(CUDAOPS_HAS_GPU_RUNTIME)
TEST(TestingGpu, DeviceBufferIsPoisonedAndGuarded) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  using cudaops::testing::DeviceBuffer;
  DeviceBuffer<Float16> buffer(33, 3);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 256, 6u);
  for (const Float16 value : buffer.to_host()) EXPECT_TRUE(is_poison(value));
  const std::vector<Float16> values = Random().uniform<Float16>(33, -1, 1);
  buffer.copy_from(values);
  EXPECT_TRUE(same_bits(buffer.to_host(), values));
  EXPECT_TRUE(buffer.guards_intact());
  ASSERT_EQ(cudaMemset(buffer.data() + 33, 0, 2), cudaSuccess);
  EXPECT_EQ(std::string(buffer.guards_intact().message()), "written 1 elements behind the last");
}
#endif

}  // namespace

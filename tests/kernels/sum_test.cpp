// SPDX-License-Identifier: Apache-2.0
#include "sum/sum.h"

#include <cudaops/testing.h>

#include <cmath>
#include <limits>

#include "op_test.h"

namespace {

using namespace cudaops::testing;
using namespace op_test;

// Whole numbers whose sum is small and exact in every type and every order: element i and its
// mirror image cancel, a middle one is 3. An element that is left out or counted twice shows as a
// whole number.
template <typename T>
std::vector<T> cancelling(int64_t n) {
  Random random(n);
  std::vector<T> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n / 2; ++i) {
    const double value = 1 + static_cast<double>(random.bits() % 64);
    values[i] = rounded<T>(value);
    values[n - 1 - i] = rounded<T>(-value);
  }
  if (n % 2 == 1) values[n / 2] = rounded<T>(3);
  return values;
}

// The bound that sum.h states, with the depth it states.
template <typename T>
::testing::AssertionResult is_sum(T out, const std::vector<T>& input) {
  double sum = 0, magnitude = 0;
  for (const T value : input) {
    sum += exact(value);
    magnitude += std::fabs(exact(value));
  }
  const Tolerance tolerance{1, std::ldexp(2 * 128 * magnitude, -24), 0.5};
  return close(std::vector<T>{out}, std::vector<double>{sum}, {}, tolerance);
}

template <typename T>
T sum_on_cpu(const std::vector<T>& input,
             cudaops_examples::ParallelFor parallel_for = cudaops_examples::serial_for) {
  HostBuffer<T> out(1);
  cudaops_examples::sum_cpu(input.data(), out.data(), static_cast<int64_t>(input.size()), kDType<T>,
                            parallel_for);
  EXPECT_TRUE(out.guards_intact());
  return out.data()[0];
}

template <typename T>
class SumCpu : public ::testing::Test {};
TYPED_TEST_SUITE(SumCpu, Types, TypeNames);

TYPED_TEST(SumCpu, CountsEveryElementOnce) {
  for (const int64_t n : sizes_of("sum")) {
    EXPECT_EQ(exact(sum_on_cpu(cancelling<TypeParam>(n))), n % 2 == 1 ? 3 : 0) << n;
  }
}

TYPED_TEST(SumCpu, StaysWithinItsBound) {
  for (const int64_t n : {5, 1000, 100003, 1000003}) {
    const auto input = Random(n).uniform<TypeParam>(n, 0, 0.0625);
    EXPECT_TRUE(is_sum(sum_on_cpu(input), input)) << n;
    const auto signs = Random(n + 1).normal<TypeParam>(n);
    EXPECT_TRUE(is_sum(sum_on_cpu(signs), signs)) << n;
  }
}

TYPED_TEST(SumCpu, HasTheSameBitsForAnyNumberOfThreads) {
  const auto input = Random().normal<TypeParam>(1000003);
  EXPECT_TRUE(same_bits(std::vector<TypeParam>{sum_on_cpu(input)},
                        std::vector<TypeParam>{sum_on_cpu(input, scattered_for)}));
}

TYPED_TEST(SumCpu, KeepsInfinityAndNaN) {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<TypeParam> input(100, rounded<TypeParam>(1));
  input[42] = rounded<TypeParam>(infinity);
  EXPECT_EQ(exact(sum_on_cpu(input)), infinity);
  input[77] = rounded<TypeParam>(-infinity);
  EXPECT_TRUE(std::isnan(exact(sum_on_cpu(input))));
}

TEST(SumCpuFloat16, GoesBeyondItsRangeOnTheWay) {
  std::vector<Float16> input(200, rounded<Float16>(60000));
  std::fill(input.begin() + 100, input.end(), rounded<Float16>(-60000));
  EXPECT_EQ(exact(sum_on_cpu(input)), 0);
  input.resize(100);
  EXPECT_TRUE(std::isinf(exact(sum_on_cpu(input))));
}

TYPED_TEST(SumCpu, ReachesBeyondTwoToThe31) {
  if (!large_arrays_wanted()) GTEST_SKIP() << "takes 9 GB: set CUDAOPS_TEST_LARGE=1";
  if (sizeof(TypeParam) > 2) GTEST_SKIP() << "16-bit types do";
  std::vector<TypeParam> input(kLargeSize, rounded<TypeParam>(0));
  input.back() = rounded<TypeParam>(3);
  input[int64_t{1} << 31] = rounded<TypeParam>(2);
  EXPECT_EQ(exact(sum_on_cpu(input)), 5);
}

#if defined(CUDAOPS_EXAMPLES_WITH_CUDA)

template <typename T>
class SumGpu : public ::testing::Test {
 protected:
  static T sum_on_gpu(const std::vector<T>& input, int64_t offset) {
    const int64_t n = static_cast<int64_t>(input.size());
    DeviceBuffer<T> device_input(input, offset), out(1);
    const int64_t workspace_bytes = cudaops_examples::sum_workspace_bytes(n, kDType<T>);
    DeviceBuffer<float> workspace(workspace_bytes / int64_t{sizeof(float)});
    cudaops_examples::launch_sum(device_input.data(), out.data(), n, kDType<T>, workspace.data(),
                                 nullptr);
    const T found = out.to_host()[0];
    EXPECT_TRUE(out.guards_intact());
    EXPECT_TRUE(workspace.guards_intact());
    return found;
  }
};
TYPED_TEST_SUITE(SumGpu, Types, TypeNames);

TYPED_TEST(SumGpu, CountsEveryElementOnce) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t n : sizes_of("sum")) {
    const auto input = cancelling<TypeParam>(n);
    EXPECT_EQ(exact(this->sum_on_gpu(input, 0)), n % 2 == 1 ? 3 : 0) << n;
  }
}

TYPED_TEST(SumGpu, CountsEveryElementOnceForAllAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t n : {1, 5, 9, 8191, 8193, 16385, 50001}) {
    const auto input = cancelling<TypeParam>(n);
    for (int64_t offset = 0; offset <= 8; ++offset) {
      EXPECT_EQ(exact(this->sum_on_gpu(input, offset)), 3) << n << ", offset " << offset;
    }
  }
}

TYPED_TEST(SumGpu, StaysWithinItsBound) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t n : {5, 1000, 100003, 1000003, 20000003}) {
    const auto input = Random(n).uniform<TypeParam>(n, 0, 0.0625);
    EXPECT_TRUE(is_sum(this->sum_on_gpu(input, 0), input)) << n;
    const auto signs = Random(n + 1).normal<TypeParam>(n);
    EXPECT_TRUE(is_sum(this->sum_on_gpu(signs, 1), signs)) << n;
  }
}

TYPED_TEST(SumGpu, HasTheSameBitsOnEveryRun) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  const auto input = Random().normal<TypeParam>(1000003);
  const std::vector<TypeParam> first{this->sum_on_gpu(input, 0)};
  for (int run = 0; run < 20; ++run) {
    EXPECT_TRUE(same_bits(first, std::vector<TypeParam>{this->sum_on_gpu(input, 0)}));
  }
}

TYPED_TEST(SumGpu, ReachesBeyondTwoToThe31) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  if (!large_arrays_wanted()) GTEST_SKIP() << "takes 9 GB: set CUDAOPS_TEST_LARGE=1";
  DeviceBuffer<TypeParam> input(kLargeSize), out(1);
  ASSERT_EQ(cudaMemset(input.data(), 0, static_cast<size_t>(kLargeSize) * sizeof(TypeParam)),
            cudaSuccess);
  const TypeParam value = rounded<TypeParam>(3);
  for (const int64_t index : {int64_t{0}, int64_t{1} << 31, kLargeSize - 1}) {
    ASSERT_EQ(cudaMemcpy(input.data() + index, &value, sizeof value, cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  DeviceBuffer<float> workspace(
      cudaops_examples::sum_workspace_bytes(kLargeSize, kDType<TypeParam>) / 4);
  cudaops_examples::launch_sum(input.data(), out.data(), kLargeSize, kDType<TypeParam>,
                               workspace.data(), nullptr);
  EXPECT_EQ(exact(out.to_host()[0]), 9);
}

#else

TEST(SumGpu, NeedsCuda) { GTEST_SKIP() << "the kernels were built without CUDA"; }

#endif

}  // namespace

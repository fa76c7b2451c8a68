// SPDX-License-Identifier: Apache-2.0
#include "square/square.h"

#include <cudaops/testing.h>

#include <limits>

#include "op_test.h"

namespace {

using namespace cudaops::testing;
using namespace op_test;

template <typename T>
::testing::AssertionResult is_square(const std::vector<T>& out, const std::vector<T>& input) {
  return close(out, [&](int64_t i) { return exact(input[i]) * exact(input[i]); },
               {{"input", input}});
}

template <typename T>
class SquareCpu : public ::testing::Test {};
TYPED_TEST_SUITE(SquareCpu, Types, TypeNames);

TYPED_TEST(SquareCpu, IsRightForAllSizes) {
  for (const int64_t n : sizes_of("square")) {
    SCOPED_TRACE(n);
    const auto input = Random(n).normal<TypeParam>(n);
    HostBuffer<TypeParam> out(n, 1);
    cudaops_examples::square_cpu(input.data(), out.data(), n, kDType<TypeParam>);
    EXPECT_TRUE(is_square(out.to_host(), input));
    EXPECT_TRUE(out.guards_intact());
    HostBuffer<TypeParam> again(n);
    cudaops_examples::square_cpu(input.data(), again.data(), n, kDType<TypeParam>, scattered_for);
    EXPECT_TRUE(same_bits(out.to_host(), again.to_host()));
  }
}

TYPED_TEST(SquareCpu, KeepsInfinityNaNAndOverflow) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<TypeParam> input;
  for (const double value : {0.0, -0.0, infinity, -infinity, nan, 300.0, -256.0, 1e-5, 6e-8}) {
    input.push_back(rounded<TypeParam>(value));
  }
  HostBuffer<TypeParam> out(input.size());
  cudaops_examples::square_cpu(input.data(), out.data(), out.size(), kDType<TypeParam>);
  EXPECT_TRUE(is_square(out.to_host(), input));
}

TYPED_TEST(SquareCpu, WorksInPlace) {
  const auto input = Random().normal<TypeParam>(1000);
  HostBuffer<TypeParam> out(input);
  cudaops_examples::square_cpu(out.data(), out.data(), 1000, kDType<TypeParam>);
  EXPECT_TRUE(is_square(out.to_host(), input));
}

#if defined(CUDAOPS_EXAMPLES_WITH_CUDA)

template <typename T>
class SquareGpu : public ::testing::Test {
 protected:
  // Runs with the given distances from a 256-byte boundary and compares with the reference and with
  // the CPU kernel, which rounds in the same way.
  static void check(int64_t n, int64_t offset_input, int64_t offset_out) {
    SCOPED_TRACE(::testing::Message()
                 << n << " elements, offsets " << offset_input << ", " << offset_out);
    const auto input = Random(n).normal<T>(n);
    DeviceBuffer<T> device_input(input, offset_input), out(n, offset_out);
    cudaops_examples::launch_square(device_input.data(), out.data(), n, kDType<T>, nullptr);
    const std::vector<T> found = out.to_host();
    EXPECT_TRUE(is_square(found, input));
    EXPECT_TRUE(out.guards_intact());
    HostBuffer<T> host(n);
    cudaops_examples::square_cpu(input.data(), host.data(), n, kDType<T>);
    EXPECT_TRUE(same_bits(found, host.to_host()));
  }
};
TYPED_TEST_SUITE(SquareGpu, Types, TypeNames);

TYPED_TEST(SquareGpu, IsRightForAllSizes) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t n : sizes_of("square")) this->check(n, 0, 0);
}

TYPED_TEST(SquareGpu, IsRightForAllAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t n : {1, 5, 9, 1000, 4099}) {
    for (int64_t offset = 0; offset <= 8; ++offset) this->check(n, offset, offset);
    this->check(n, 1, 0);
    this->check(n, 0, 3);
  }
}

TYPED_TEST(SquareGpu, WorksInPlace) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  const auto input = Random().normal<TypeParam>(100003);
  DeviceBuffer<TypeParam> buffer(input);
  cudaops_examples::launch_square(buffer.data(), buffer.data(), 100003, kDType<TypeParam>, nullptr);
  EXPECT_TRUE(is_square(buffer.to_host(), input));
}

TYPED_TEST(SquareGpu, ReachesBeyondTwoToThe31) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  if (!large_arrays_wanted()) GTEST_SKIP() << "takes 17 GB: set CUDAOPS_TEST_LARGE=1";
  // Aligned alike and not: both kernels.
  for (const int64_t offset : {0, 1}) {
    DeviceBuffer<TypeParam> input(kLargeSize, offset), out(kLargeSize);
    const size_t bytes = static_cast<size_t>(kLargeSize) * sizeof(TypeParam);
    ASSERT_EQ(cudaMemset(input.data(), 0x3c, bytes), cudaSuccess);
    cudaops_examples::launch_square(input.data(), out.data(), kLargeSize, kDType<TypeParam>,
                                    nullptr);
    constexpr int64_t kSlice = 1 << 20;
    for (const int64_t first : {int64_t{0}, kLargeSize / 2 - kSlice,
                                (int64_t{1} << 31) - kSlice / 2, kLargeSize - kSlice}) {
      const int64_t num_elements = std::min(kSlice, kLargeSize - first);
      EXPECT_TRUE(is_square(out.to_host(first, num_elements), input.to_host(first, num_elements)));
    }
    EXPECT_TRUE(out.guards_intact());
  }
}

#else

TEST(SquareGpu, NeedsCuda) { GTEST_SKIP() << "the kernels were built without CUDA"; }

#endif

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "vector_add/vector_add.h"

#include <cudaops/testing.h>

#include <limits>

#include "op_test.h"

namespace {

using namespace cudaops::testing;
using namespace op_test;

// One rounding of an exact sum in double. The kernels add in float first, so that 16-bit results
// can differ by the last bit in rare ties; f32 can't.
template <typename T>
::testing::AssertionResult is_sum(const std::vector<T>& out, const std::vector<T>& a,
                                  const std::vector<T>& b) {
  return close(out, [&](int64_t i) { return exact(a[i]) + exact(b[i]); }, {{"a", a}, {"b", b}});
}

template <typename T>
class VectorAddCpu : public ::testing::Test {};
TYPED_TEST_SUITE(VectorAddCpu, Types, TypeNames);

TYPED_TEST(VectorAddCpu, IsRightForAllSizes) {
  for (const int64_t n : sizes_of("vector_add")) {
    SCOPED_TRACE(n);
    Random random(n);
    const auto a = random.normal<TypeParam>(n), b = random.normal<TypeParam>(n);
    HostBuffer<TypeParam> out(n, 1);
    cudaops_examples::vector_add_cpu(a.data(), b.data(), out.data(), n, kDType<TypeParam>);
    EXPECT_TRUE(is_sum(out.to_host(), a, b));
    EXPECT_TRUE(out.guards_intact());
    HostBuffer<TypeParam> again(n);
    cudaops_examples::vector_add_cpu(a.data(), b.data(), again.data(), n, kDType<TypeParam>,
                                     scattered_for);
    EXPECT_TRUE(same_bits(out.to_host(), again.to_host()));
  }
}

TYPED_TEST(VectorAddCpu, KeepsInfinityAndNaN) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<TypeParam> a, b;
  for (const double left : {0.0, 1.0, infinity, -infinity, nan}) {
    for (const double right : {0.0, -1.0, infinity, -infinity, nan}) {
      a.push_back(rounded<TypeParam>(left));
      b.push_back(rounded<TypeParam>(right));
    }
  }
  HostBuffer<TypeParam> out(a.size());
  cudaops_examples::vector_add_cpu(a.data(), b.data(), out.data(), out.size(), kDType<TypeParam>);
  EXPECT_TRUE(is_sum(out.to_host(), a, b));
}

TYPED_TEST(VectorAddCpu, WorksInPlace) {
  const auto a = Random(0).normal<TypeParam>(1000), b = Random(1).normal<TypeParam>(1000);
  HostBuffer<TypeParam> out(a);
  cudaops_examples::vector_add_cpu(out.data(), b.data(), out.data(), 1000, kDType<TypeParam>);
  EXPECT_TRUE(is_sum(out.to_host(), a, b));
}

#if defined(CUDAOPS_EXAMPLES_WITH_CUDA)

template <typename T>
class VectorAddGpu : public ::testing::Test {
 protected:
  // Runs with the given distances from a 256-byte boundary and compares with the reference and with
  // the CPU kernel, which rounds in the same way.
  static void check(int64_t n, int64_t offset_a, int64_t offset_b, int64_t offset_out) {
    SCOPED_TRACE(::testing::Message() << n << " elements, offsets " << offset_a << ", " << offset_b
                                      << ", " << offset_out);
    Random random(n);
    const auto a = random.normal<T>(n), b = random.normal<T>(n);
    DeviceBuffer<T> device_a(a, offset_a), device_b(b, offset_b), out(n, offset_out);
    cudaops_examples::launch_vector_add(device_a.data(), device_b.data(), out.data(), n, kDType<T>,
                                        nullptr);
    const std::vector<T> found = out.to_host();
    EXPECT_TRUE(is_sum(found, a, b));
    EXPECT_TRUE(out.guards_intact());
    HostBuffer<T> host(n);
    cudaops_examples::vector_add_cpu(a.data(), b.data(), host.data(), n, kDType<T>);
    EXPECT_TRUE(same_bits(found, host.to_host()));
  }
};
TYPED_TEST_SUITE(VectorAddGpu, Types, TypeNames);

TYPED_TEST(VectorAddGpu, IsRightForAllSizes) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t n : sizes_of("vector_add")) this->check(n, 0, 0, 0);
}

TYPED_TEST(VectorAddGpu, IsRightForAllAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t n : {1, 5, 9, 1000, 4099}) {
    for (int64_t offset = 0; offset <= 8; ++offset) this->check(n, offset, offset, offset);
    this->check(n, 1, 0, 0);
    this->check(n, 0, 3, 0);
    this->check(n, 0, 0, 1);
    this->check(n, 1, 2, 3);
  }
}

TYPED_TEST(VectorAddGpu, WorksInPlace) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  const auto a = Random(0).normal<TypeParam>(100003), b = Random(1).normal<TypeParam>(100003);
  DeviceBuffer<TypeParam> device_a(a), device_b(b);
  cudaops_examples::launch_vector_add(device_a.data(), device_b.data(), device_a.data(), 100003,
                                      kDType<TypeParam>, nullptr);
  EXPECT_TRUE(is_sum(device_a.to_host(), a, b));
}

TYPED_TEST(VectorAddGpu, ReachesBeyondTwoToThe31) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  if (!large_arrays_wanted()) GTEST_SKIP() << "takes 26 GB: set CUDAOPS_TEST_LARGE=1";
  // Aligned alike and not: both kernels.
  for (const int64_t offset : {0, 1}) {
    DeviceBuffer<TypeParam> a(kLargeSize, offset), b(kLargeSize), out(kLargeSize);
    const size_t bytes = static_cast<size_t>(kLargeSize) * sizeof(TypeParam);
    ASSERT_EQ(cudaMemset(a.data(), 0x3c, bytes), cudaSuccess);
    ASSERT_EQ(cudaMemset(b.data(), 0x40, bytes), cudaSuccess);
    cudaops_examples::launch_vector_add(a.data(), b.data(), out.data(), kLargeSize,
                                        kDType<TypeParam>, nullptr);
    constexpr int64_t kSlice = 1 << 20;
    for (const int64_t first : {int64_t{0}, kLargeSize / 2 - kSlice,
                                (int64_t{1} << 31) - kSlice / 2, kLargeSize - kSlice}) {
      const int64_t num_elements = std::min(kSlice, kLargeSize - first);
      EXPECT_TRUE(is_sum(out.to_host(first, num_elements), a.to_host(first, num_elements),
                         b.to_host(first, num_elements)));
    }
    EXPECT_TRUE(out.guards_intact());
  }
}

#else

TEST(VectorAddGpu, NeedsCuda) { GTEST_SKIP() << "the kernels were built without CUDA"; }

#endif

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "silu.h"

#include <cudaops/testing.h>

#include <cmath>
#include <vector>

namespace {

using namespace cudaops::testing;

template <typename T>
constexpr silu::DType kDType = silu::DType::kFloat32;
template <>
constexpr silu::DType kDType<BFloat16> = silu::DType::kBFloat16;

// In double, on the same rounded inputs, with no line of the kernel's: a reference that shares code
// with what it checks shares its mistakes.
template <typename T>
::testing::AssertionResult is_silu(const std::vector<T>& out, const std::vector<T>& input) {
  const auto expected = [&](int64_t i) {
    const double x = exact(input[static_cast<size_t>(i)]);
    return std::isinf(x) && x < 0 ? x * 0 : x / (1 + std::exp(-x));
  };
  return close(out, expected, {{"input", input}});
}

// Nothing, less than a block, a block and its neighbours, many blocks.
const int64_t kSizes[] = {0, 1, 7, 255, 256, 257, 2047, 2048, 2049, 100003};

template <typename T>
class SiluCpu : public ::testing::Test {};
template <typename T>
class SiluGpu : public ::testing::Test {};
using Types = ::testing::Types<float, BFloat16>;
TYPED_TEST_SUITE(SiluCpu, Types);
TYPED_TEST_SUITE(SiluGpu, Types);

TYPED_TEST(SiluCpu, IsRightForAllSizes) {
  for (const int64_t n : kSizes) {
    SCOPED_TRACE(n);
    const auto input = Random(n).uniform<TypeParam>(n, -20, 20);
    HostBuffer<TypeParam> out(n);  // NaN everywhere, guard zones around it
    silu::run_on_cpu(input.data(), out.data(), n, kDType<TypeParam>);
    EXPECT_TRUE(is_silu(out.to_host(), input));
    EXPECT_TRUE(out.guards_intact());
  }
}

#ifdef HAVE_SILU_CUDA

TYPED_TEST(SiluGpu, IsRightForAllSizesAndAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t n : kSizes) {
    for (const int64_t offset : {0, 1, 3}) {
      SCOPED_TRACE(::testing::Message() << n << " elements, offset " << offset);
      const auto input = Random(n).uniform<TypeParam>(n, -20, 20);
      DeviceBuffer<TypeParam> in(input, offset), out(n, offset);
      silu::launch(in.data(), out.data(), n, kDType<TypeParam>, nullptr);
      EXPECT_TRUE(is_silu(out.to_host(), input));
      EXPECT_TRUE(out.guards_intact());
    }
  }
}

TYPED_TEST(SiluGpu, WorksInPlace) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  const auto input = Random().uniform<TypeParam>(10007, -20, 20);
  DeviceBuffer<TypeParam> buffer(input);
  silu::launch(buffer.data(), buffer.data(), buffer.size(), kDType<TypeParam>, nullptr);
  EXPECT_TRUE(is_silu(buffer.to_host(), input));
}

#else

TYPED_TEST(SiluGpu, NeedsCuda) { GTEST_SKIP() << "built without CUDA"; }

#endif

}  // namespace

#include "scaled_add.h"

#include <cudaops/testing.h>

#include <vector>

namespace {

using namespace cudaops::testing;

constexpr float kScale = 0.3f;

// In double, on the same inputs, with no line of the kernel's: a reference that shares code with
// what it checks shares its mistakes.
::testing::AssertionResult is_scaled_sum(const std::vector<float>& out, const std::vector<float>& a,
                                         const std::vector<float>& b) {
  const auto expected = [&](int64_t i) {
    const auto index = static_cast<size_t>(i);
    return exact(a[index]) + exact(kScale) * exact(b[index]);
  };
  return close(out, expected, {{"a", a}, {"b", b}});
}

// Positive: where a sum cancels, the rounding of the product is all that is left.
std::vector<float> input(int seed, int64_t n) { return Random(seed).uniform<float>(n, 0, 20); }

// Nothing, less than a block, a block and its neighbours, many blocks.
const int64_t kSizes[] = {0, 1, 7, 255, 256, 257, 100003};

TEST(ScaledAddCpu, IsRightForAllSizes) {
  for (const int64_t n : kSizes) {
    SCOPED_TRACE(n);
    const auto a = input(1, n), b = input(2, n);
    HostBuffer<float> out(n);  // NaN everywhere, guard zones around it
    my_ops::scaled_add_on_cpu(a.data(), b.data(), kScale, out.data(), n);
    EXPECT_TRUE(is_scaled_sum(out.to_host(), a, b));
    EXPECT_TRUE(out.guards_intact());
  }
}

#ifdef HAVE_MY_OPS_CUDA

TEST(ScaledAddGpu, IsRightForAllSizesAndAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t n : kSizes) {
    for (const int64_t offset : {0, 1, 3}) {
      SCOPED_TRACE(::testing::Message() << n << " elements, offset " << offset);
      const auto a = input(1, n), b = input(2, n);
      DeviceBuffer<float> device_a(a, offset), device_b(b, offset), out(n, offset);
      my_ops::launch_scaled_add(device_a.data(), device_b.data(), kScale, out.data(), n, nullptr);
      EXPECT_TRUE(is_scaled_sum(out.to_host(), a, b));
      EXPECT_TRUE(out.guards_intact());
    }
  }
}

#else

TEST(ScaledAddGpu, NeedsCuda) { GTEST_SKIP() << "built without CUDA"; }

#endif

}  // namespace

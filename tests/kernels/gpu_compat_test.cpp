// SPDX-License-Identifier: Apache-2.0
// cudaops/gpu_compat.h on the GPU at hand, whatever its warp size, against plain loops.
#include <cudaops/gpu_compat.h>
#include <cudaops/testing.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "gpu_compat_cases.h"

namespace {

using namespace cudaops::testing;

TEST(GpuCompatHost, AHostCompilerIsNotDeviceCode) { EXPECT_EQ(CUDAOPS_DEVICE_CODE, 0); }

#if defined(CUDAOPS_TESTS_WITH_COMPAT_CASES)

using cudaops_tests::AtomicType;
using cudaops_tests::Converted;
using cudaops_tests::WarpCase;

TEST(GpuCompatHost, TheHostPassOfADeviceFileIsNotDeviceCode) {
  EXPECT_EQ(cudaops_tests::device_code_on_the_host(), 0);
}

TEST(GpuCompatHost, NoDeviceHasNoWarpSizeAndLeavesNoError) {
  try {
    cudaops::device_warp_size(12345);
    FAIL() << "did not throw";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()).rfind("device 12345 has no warp size: ", 0), 0u)
        << error.what();
  }
  // Without a device HIP answers every call with an error, this one too.
  if (no_gpu_reason().empty()) {
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
}

constexpr int kThreads = 256;

class CompatGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    CUDAOPS_SKIP_WITHOUT_GPU();
    warp_size_ = cudaops::device_warp_size(0);
    ASSERT_TRUE(warp_size_ == 32 || warp_size_ == 64) << warp_size_;
    Random random;
    for (int i = 0; i < kThreads; ++i) {
      // Up to 900, and one of the last warp above.
      input_.push_back(i == kThreads - 3 ? 997 : static_cast<int>(random.bits() % 900));
    }
  }

  std::vector<int> run(WarpCase which) const {
    DeviceBuffer<int> input(input_), out(kThreads);
    cudaops_tests::launch_warp_case(which, input.data(), out.data(), kThreads);
    std::vector<int> found = out.to_host();
    EXPECT_TRUE(out.guards_intact());
    return found;
  }

  // expected(first thread of the warp, lane)
  void check(WarpCase which, const std::function<int(int first, int lane)>& expected) const {
    const std::vector<int> found = run(which);
    for (int i = 0; i < kThreads; ++i) {
      const int lane = i % warp_size_;
      ASSERT_EQ(found[i], expected(i - lane, lane)) << "thread " << i << "\n" << seed_text();
    }
  }

  // What op makes of the inputs in a thread's group of `width` lanes.
  int over_group(int first, int lane, int width, int start,
                 const std::function<int(int, int)>& op) const {
    int result = start;
    const int begin = first + lane / width * width;
    for (int i = begin; i < begin + width; ++i) result = op(result, input_[i]);
    return result;
  }

  bool odd(int thread) const { return input_[thread] % 2 != 0; }

  int count_odd(int first, int num_lanes) const {
    int count = 0;
    for (int i = first; i < first + num_lanes; ++i) count += odd(i);
    return count;
  }

  int warp_size_ = 0;
  std::vector<int> input_;
};

TEST_F(CompatGpu, KnowsItsWarp) {
  check(WarpCase::kWarpSize, [&](int, int) { return warp_size_; });
  check(WarpCase::kDeviceCode, [](int, int) { return 1; });
  check(WarpCase::kLaneId, [](int, int lane) { return lane; });
}

TEST_F(CompatGpu, Shuffles) {
  check(WarpCase::kShfl, [&](int first, int) { return input_[first + 5]; });
  check(WarpCase::kShflUp,
        [&](int first, int lane) { return input_[first + (lane >= 3 ? lane - 3 : lane)]; });
  check(WarpCase::kShflDown, [&](int first, int lane) {
    return input_[first + (lane + 3 < warp_size_ ? lane + 3 : lane)];
  });
  check(WarpCase::kShflDownIn8,
        [&](int first, int lane) { return input_[first + (lane % 8 + 3 < 8 ? lane + 3 : lane)]; });
  check(WarpCase::kShflXor, [&](int first, int lane) { return input_[first + (lane ^ 5)]; });
  check(WarpCase::kShflXorIn32, [&](int first, int lane) { return input_[first + (lane ^ 16)]; });
}

TEST_F(CompatGpu, ShufflesValuesOfAnySize) {
  const auto above = [&](int first, int lane) {
    return input_[first + (lane + 1 < warp_size_ ? lane + 1 : lane)];
  };
  check(WarpCase::kShflDouble, [&](int first, int lane) { return 4 * above(first, lane) + 1; });
  check(WarpCase::kShflBytes, [&](int first, int lane) {
    const int value = above(first, lane);
    return 3 * value + 3 + value + value % 256;
  });
}

TEST_F(CompatGpu, Votes) {
  check(WarpCase::kActiveLanes, [&](int first, int lane) { return odd(first + lane); });
  check(WarpCase::kBallotCount, [&](int first, int) { return count_odd(first, warp_size_); });
  check(WarpCase::kBallotFirst, [&](int first, int) {
    for (int lane = 0; lane < warp_size_; ++lane) {
      if (odd(first + lane)) return lane;
    }
    return -1;
  });
  check(WarpCase::kBallotBelow,
        [&](int first, int lane) { return lane < 4 ? count_odd(first, 4) : 0; });
  const auto is_last = [&](int first) { return first + warp_size_ == kThreads; };
  check(WarpCase::kAny, [&](int first, int) { return is_last(first); });
  check(WarpCase::kAll, [&](int first, int) { return !is_last(first); });
  check(WarpCase::kAllOfFirst, [&](int first, int lane) {
    return lane < 4 && std::all_of(input_.begin() + first, input_.begin() + first + 4,
                                   [](int value) { return value < 500; });
  });
}

TEST_F(CompatGpu, ReducesWarpsAndGroups) {
  const auto add = [](int a, int b) { return a + b; };
  const auto max = [](int a, int b) { return std::max(a, b); };
  const auto min = [](int a, int b) { return std::min(a, b); };
  const auto multiply = [](int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) * static_cast<unsigned>(b % 3 + 1));
  };
  check(WarpCase::kSum,
        [&](int first, int lane) { return over_group(first, lane, warp_size_, 0, add); });
  check(WarpCase::kSumIn32,
        [&](int first, int lane) { return over_group(first, lane, 32, 0, add); });
  check(WarpCase::kMax,
        [&](int first, int lane) { return over_group(first, lane, warp_size_, 0, max); });
  check(WarpCase::kMinIn8,
        [&](int first, int lane) { return over_group(first, lane, 8, 1000, min); });
  check(WarpCase::kReduceProduct,
        [&](int first, int lane) { return over_group(first, lane, warp_size_, 1, multiply); });
}

TEST_F(CompatGpu, ReadsAndExchangesMemory) {
  check(WarpCase::kSyncWarp,
        [&](int first, int lane) { return input_[first + warp_size_ - 1 - lane]; });
  check(WarpCase::kLdg, [&](int first, int lane) { return input_[first + lane]; });
}

TEST_F(CompatGpu, ConvertsLikeIeee) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values{0.0f,     -0.0f,    1.0f,      -24.0f, 65504.0f, 65519.0f,
                            65520.0f, infinity, -infinity, 1e-8f,  6e-8f,    6.1e-5f,
                            3.4e38f,  1e-40f,   2049.0f,   2051.0f};
  for (const float value : Random().normal<float>(10000)) values.push_back(value);
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  const int num_values = static_cast<int>(values.size());
  DeviceBuffer<float> input(values);
  // DeviceBuffer's types have a poison; these are 3 words of it.
  static_assert(sizeof(Converted) == 12, "no padding is expected");
  DeviceBuffer<float> out(3 * num_values);
  cudaops_tests::launch_conversions(input.data(), reinterpret_cast<Converted*>(out.data()),
                                    num_values);
  const std::vector<float> words = out.to_host();
  for (int i = 0; i < num_values; ++i) {
    Converted found;
    std::memcpy(&found, &words[3 * i], sizeof found);
    const BFloat16 brain{found.bfloat16_bits};
    const Float16 half{found.float16_bits};
    if (std::isnan(values[i])) {
      EXPECT_TRUE(std::isnan(exact(brain)) && std::isnan(exact(half)));
      EXPECT_TRUE(std::isnan(found.from_bfloat16) && std::isnan(found.from_float16));
      continue;
    }
    ASSERT_EQ(brain.bits, rounded<BFloat16>(values[i]).bits) << values[i];
    ASSERT_EQ(half.bits, rounded<Float16>(values[i]).bits) << values[i];
    ASSERT_EQ(found.from_bfloat16, exact(brain)) << values[i];
    ASSERT_EQ(found.from_float16, exact(half)) << values[i];
  }
}

// 5 cells: 16-bit ones lie on both halves of a word, and the last word is half theirs.
template <typename T>
void check_atomic_add(AtomicType type, const std::function<double(T)>& value_of) {
  constexpr int kCells = 5, kAdds = 250;
  std::vector<T> zeros(kCells);
  std::memset(zeros.data(), 0, kCells * sizeof(T));
  DeviceBuffer<T> cells(zeros);
  DeviceBuffer<float> previous(kAdds);
  cudaops_tests::launch_atomic_add(type, cells.data(), kCells, previous.data(), kAdds);
  const std::vector<float> before = previous.to_host();
  EXPECT_TRUE(cells.guards_intact());
  const std::vector<T> after = cells.to_host();
  for (int cell = 0; cell < kCells; ++cell) {
    EXPECT_EQ(value_of(after[cell]), kAdds / kCells) << "cell " << cell;
    // Every add saw another value.
    std::vector<float> seen;
    for (int i = cell; i < kAdds; i += kCells) seen.push_back(before[i]);
    std::sort(seen.begin(), seen.end());
    for (size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], i) << "cell " << cell;
  }
}

TEST_F(CompatGpu, AtomicAddLosesNothing) {
  check_atomic_add<int>(AtomicType::kInt, [](int value) { return value; });
  check_atomic_add<float>(AtomicType::kFloat, [](float value) { return value; });
  check_atomic_add<double>(AtomicType::kDouble, [](double value) { return value; });
  check_atomic_add<Float16>(AtomicType::kFloat16, [](Float16 value) { return exact(value); });
  check_atomic_add<BFloat16>(AtomicType::kBFloat16, [](BFloat16 value) { return exact(value); });
}

TEST_F(CompatGpu, SharedMemoryBeyond48KiB) {
  DeviceBuffer<int> input(input_), out(kThreads);
  cudaops_tests::launch_with_shared_memory(input.data(), out.data(), kThreads, 56 * 1024);
  std::vector<int> reversed(input_.rbegin(), input_.rend());
  EXPECT_EQ(out.to_host(), reversed);
}

#else

TEST(CompatGpu, NeedsCuda) { GTEST_SKIP() << "built without CUDA"; }

#endif

}  // namespace

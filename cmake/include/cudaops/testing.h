// SPDX-License-Identifier: Apache-2.0
// Validation of kernels with GoogleTest, as CudaOps validates its own kernels.
//
//   using namespace cudaops::testing;
//
//   TEST(SquareGpu, IsRightForOddSizes) {
//     CUDAOPS_SKIP_WITHOUT_GPU();
//     Random random;
//     const std::vector<BFloat16> input = random.uniform<BFloat16>(1023, -2, 2);
//     // out is NaN everywhere, with guard zones around it.
//     DeviceBuffer<BFloat16> in(input), out(1023);
//
//     launch_square(in.data(), out.data(), 1023);
//
//     auto expected = [&](int64_t i) { return exact(input[i]) * exact(input[i]); };
//     EXPECT_TRUE(close(out.to_host(), expected, {{"input", input}}));
//     EXPECT_TRUE(out.guards_intact());
//   }
//
// The reference is computed in double, on the same rounded inputs, and shares no code with the
// kernel. A failure shows ulps, index, inputs and the seed; CUDAOPS_TEST_SEED=<seed> repeats the
// inputs. Without a GPU the test is SKIPPED, or fails with CUDAOPS_REQUIRE_GPU=1, for machines that
// should have one.
//
// GPU parts need CUDAOPS_WITH_CUDA=1 and the CUDA runtime, which cudaops_add_gtest() gives where
// CUDA is on; .cu files have them. With HIP the same code uses HIP's runtime.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "compare.h"
#include "detail/gpu_call.h"

namespace cudaops {
namespace testing {

// ---------------------------------------------------------------------------------------------------
// Outputs: poisoned memory between guard zones

namespace detail {

constexpr int64_t kGuardElements = 128;

template <typename T>
::testing::AssertionResult guards_intact(const T* before, int64_t num_before, const T* after,
                                         int64_t num_after) {
  for (int64_t i = 0; i < num_before; ++i) {
    if (is_poison(before[i])) continue;
    return ::testing::AssertionFailure()
           << "written " << num_before - i << " elements before the first";
  }
  for (int64_t i = 0; i < num_after; ++i) {
    if (is_poison(after[i])) continue;
    return ::testing::AssertionFailure() << "written " << i + 1 << " elements behind the last";
  }
  return ::testing::AssertionSuccess();
}

}  // namespace detail

// Host memory with guard zones on both sides. `offset` moves the first element away from a 256-byte
// boundary, as in a slice of a tensor.
template <typename T>
class HostBuffer {
 public:
  explicit HostBuffer(int64_t num_elements, int64_t offset = 0)
      : num_elements_(num_elements),
        before_(detail::kGuardElements + offset),
        memory_(static_cast<size_t>(num_elements + before_ + detail::kGuardElements +
                                    int64_t{256 / sizeof(T)}),
                poison<T>()) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(memory_.data());
    base_ = memory_.data() + (256 - address % 256) % 256 / sizeof(T);
  }

  explicit HostBuffer(const std::vector<T>& values, int64_t offset = 0)
      : HostBuffer(static_cast<int64_t>(values.size()), offset) {
    std::copy(values.begin(), values.end(), data());
  }

  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  T* data() { return base_ + before_; }
  const T* data() const { return base_ + before_; }
  int64_t size() const { return num_elements_; }
  std::vector<T> to_host() const { return std::vector<T>(data(), data() + num_elements_); }

  ::testing::AssertionResult guards_intact() const {
    return detail::guards_intact(base_, before_, data() + num_elements_, detail::kGuardElements);
  }

 private:
  int64_t num_elements_;
  int64_t before_;
  std::vector<T> memory_;
  T* base_;
};

// ---------------------------------------------------------------------------------------------------
// Comparing: compare() as an assertion

// Whether every actual[i] is close to expected(i), a double.
template <typename T, typename Expected>
::testing::AssertionResult close(const std::vector<T>& actual, const Expected& expected,
                                 const std::vector<ShownInput>& inputs = {},
                                 Tolerance tolerance = DtypeOf<T>::kTolerance) {
  const Comparison comparison = compare(actual, expected, inputs, tolerance);
  return (comparison.ok ? ::testing::AssertionSuccess() : ::testing::AssertionFailure())
         << comparison.text;
}

template <typename T>
::testing::AssertionResult close(const std::vector<T>& actual, const std::vector<double>& expected,
                                 const std::vector<ShownInput>& inputs = {},
                                 Tolerance tolerance = DtypeOf<T>::kTolerance) {
  if (actual.size() != expected.size()) {
    return ::testing::AssertionFailure()
           << actual.size() << " elements, expected " << expected.size();
  }
  return close(
      actual, [&](int64_t i) { return expected[static_cast<size_t>(i)]; }, inputs, tolerance);
}

// For ops declared deterministic.
template <typename T>
::testing::AssertionResult same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) {
    return ::testing::AssertionFailure() << a.size() << " elements and " << b.size();
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0) {
      return ::testing::AssertionFailure() << DtypeOf<T>::kName << ": other bits at index " << i
                                           << ": " << detail::number(exact(a[i])) << " and "
                                           << detail::number(exact(b[i])) << "\n  " << seed_text();
    }
  }
  return ::testing::AssertionSuccess();
}

// ---------------------------------------------------------------------------------------------------
// GPU

// Why no GPU can be used here; empty if one can.
inline std::string no_gpu_reason() { return cudaops::detail::no_gpu_reason(); }

inline bool gpu_is_required() {
  const char* text = std::getenv("CUDAOPS_REQUIRE_GPU");
  return text != nullptr && *text != '\0' && std::strcmp(text, "0") != 0;
}

// A macro, because it leaves the test that uses it.
#define CUDAOPS_SKIP_WITHOUT_GPU()                                                              \
  do {                                                                                          \
    const std::string cudaops_reason = ::cudaops::testing::no_gpu_reason();                     \
    if (!cudaops_reason.empty() && ::cudaops::testing::gpu_is_required()) {                     \
      FAIL() << "CUDAOPS_REQUIRE_GPU is set, but no GPU can be used: " << cudaops_reason;       \
    }                                                                                           \
    if (!cudaops_reason.empty()) GTEST_SKIP() << "no GPU can be used here: " << cudaops_reason; \
  } while (false)

#if defined(CUDAOPS_HAS_GPU_RUNTIME)

namespace detail {

// Memcheck sees an access behind the allocation, and names kernel and line. In a guard zone it
// would be a valid one.
inline int64_t guard_elements_behind() {
  const char* tool = std::getenv("CUDAOPS_SANITIZER_TOOL");
  return tool != nullptr && std::strcmp(tool, "memcheck") == 0 ? 0 : kGuardElements;
}

}  // namespace detail

// Device memory, poisoned, with guard zones on both sides; see HostBuffer. In the test
// <test>.memcheck of CUDAOPS_SANITIZER the allocation ends with the last element instead.
template <typename T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(int64_t num_elements, int64_t offset = 0)
      : num_elements_(num_elements),
        before_(detail::kGuardElements + offset),
        behind_(detail::guard_elements_behind()) {
    const size_t bytes = static_cast<size_t>(before_ + num_elements + behind_) * sizeof(T);
    CUDAOPS_GPU_CALL(Malloc, &memory_, bytes);
    CUDAOPS_GPU_CALL(Memset, memory_, 0xff, bytes);
    // Streams of a test's own don't wait for this one.
    CUDAOPS_GPU_CALL(DeviceSynchronize);
  }

  explicit DeviceBuffer(const std::vector<T>& values, int64_t offset = 0)
      : DeviceBuffer(static_cast<int64_t>(values.size()), offset) {
    copy_from(values);
  }

  ~DeviceBuffer() { (void)CUDAOPS_GPU(Free)(memory_); }

  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  T* data() { return static_cast<T*>(memory_) + before_; }
  const T* data() const { return static_cast<const T*>(memory_) + before_; }
  int64_t size() const { return num_elements_; }

  void copy_from(const std::vector<T>& values) {
    CUDAOPS_GPU_CALL(Memcpy, data(), values.data(), values.size() * sizeof(T),
                     CUDAOPS_GPU(MemcpyHostToDevice));
    CUDAOPS_GPU_CALL(DeviceSynchronize);
  }

  // Waits for all work on the device; throws what a kernel did wrong.
  std::vector<T> to_host() const { return to_host(0, num_elements_); }

  std::vector<T> to_host(int64_t first, int64_t num_elements) const {
    return read(before_ + first, num_elements);
  }

  ::testing::AssertionResult guards_intact() const {
    const std::vector<T> before = read(0, before_);
    const std::vector<T> after = read(before_ + num_elements_, behind_);
    return detail::guards_intact(before.data(), before_, after.data(), behind_);
  }

 private:
  std::vector<T> read(int64_t first, int64_t num_elements) const {
    std::vector<T> values(static_cast<size_t>(num_elements));
    cudaops::detail::require(CUDAOPS_GPU(DeviceSynchronize)(), "a kernel before this point");
    CUDAOPS_GPU_CALL(Memcpy, values.data(), static_cast<T*>(memory_) + first,
                     values.size() * sizeof(T), CUDAOPS_GPU(MemcpyDeviceToHost));
    return values;
  }

  void* memory_ = nullptr;
  int64_t num_elements_;
  int64_t before_;
  int64_t behind_;
};

#endif  // CUDAOPS_HAS_GPU_RUNTIME

}  // namespace testing
}  // namespace cudaops

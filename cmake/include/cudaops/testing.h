// SPDX-License-Identifier: Apache-2.0
// Validating kernels with GoogleTest, the way CudaOps validates its own.
//
//   using namespace cudaops::testing;
//
//   TEST(SquareGpu, IsRightForOddSizes) {
//     CUDAOPS_SKIP_WITHOUT_GPU();
//     Random random;
//     const std::vector<BFloat16> input = random.uniform<BFloat16>(1023, -2, 2);
//     DeviceBuffer<BFloat16> in(input), out(1023);       // out: NaN everywhere, guard zones around
//     it launch_square(in.data(), out.data(), 1023); EXPECT_TRUE(close(out.to_host(), [&](int64_t
//     i) { return exact(input[i]) * exact(input[i]); },
//                       {{"input", input}}));
//     EXPECT_TRUE(out.guards_intact());
//   }
//
// The reference is computed in double, on the same rounded inputs, and shares no code with the
// kernel. A failure shows ulps, index, inputs and the seed; CUDAOPS_TEST_SEED=<seed> gives the same
// inputs again. Without a GPU the test is SKIPPED; CUDAOPS_REQUIRE_GPU=1 makes that a failure, for
// machines that should have one.
//
// GPU parts need CUDAOPS_WITH_CUDA=1 and the CUDA runtime, both given by cudaops_add_gtest() where
// CUDA is on; a .cu file has them anyway.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(CUDAOPS_WITH_CUDA) || defined(__CUDACC__)
#include <cuda_runtime_api.h>
#define CUDAOPS_TESTING_HAS_GPU 1
#endif

namespace cudaops {
namespace testing {

// ---------------------------------------------------------------------------------------------------
// Element types

// Same memory as __half and c10::Half, __nv_bfloat16 and c10::BFloat16.
struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

// How far a result may be from the exact value:
//   |actual - expected| <= atol + min(rtol * |expected|, ulps * ulp(expected))
// where an ulp is the distance between neighbours of the *output's* type at that magnitude. rtol
// says what the computation may lose, ulps keeps it from hiding a wrong last bit in a 16-bit
// result.
struct Tolerance {
  double rtol;
  double atol;
  double ulps;
};

namespace detail {

// Binary formats by their numbers; one slow and plain conversion serves all of them.
struct Format {
  int mantissa_bits;  // stored ones
  int min_exponent;   // of normal numbers
  int max_exponent;
};

inline double ulp(double value, const Format& format) {
  const int exponent =
      value == 0 || !std::isfinite(value) ? format.min_exponent : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, format.min_exponent) - format.mantissa_bits);
}

// To nearest, ties to even, infinity beyond the largest finite number.
inline double round_to(double value, const Format& format) {
  if (!std::isfinite(value)) return value;
  const double step = ulp(value, format);
  const double rounded = std::nearbyint(value / step) * step;
  const double largest =
      std::ldexp(2.0 - std::ldexp(1.0, -format.mantissa_bits), format.max_exponent);
  if (std::fabs(rounded) <= largest) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

inline double decode16(uint16_t bits, const Format& format) {
  const int exponent_bits = 15 - format.mantissa_bits;
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const int field = (bits >> format.mantissa_bits) & ((1 << exponent_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (field == (1 << exponent_bits) - 1) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  const int exponent = std::max(field, 1) - 1 + format.min_exponent;
  const int whole = field == 0 ? mantissa : mantissa + (1 << format.mantissa_bits);
  return sign * std::ldexp(whole, exponent - format.mantissa_bits);
}

inline uint16_t encode16(double value, const Format& format) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const int infinity = 0x7fff & ~((1 << format.mantissa_bits) - 1);
  if (std::isnan(value)) return static_cast<uint16_t>(infinity | (1 << (format.mantissa_bits - 1)));
  const double rounded = std::fabs(round_to(value, format));
  if (std::isinf(rounded)) return static_cast<uint16_t>(sign | infinity);
  const double step = ulp(rounded, format);
  const int whole = static_cast<int>(rounded / step);
  if (whole < (1 << format.mantissa_bits)) return static_cast<uint16_t>(sign | whole);
  const int field = std::ilogb(rounded) - format.min_exponent + 1;
  return static_cast<uint16_t>(
      sign | ((field << format.mantissa_bits) + (whole - (1 << format.mantissa_bits))));
}

}  // namespace detail

// The one table of types and tolerances. Results of several steps kept in float and rounded once
// stay within it; what accumulates error (sums grow with the square root of their length) states
// its own. Integers are exact.
template <typename T>
struct DtypeOf {
  static_assert(std::is_integral<T>::value, "no tolerance for this type: specialise DtypeOf");
  static constexpr const char* kName = "integer";
  static constexpr Tolerance kTolerance{0, 0, 0};
  static double to_double(T value) { return static_cast<double>(value); }
  static T from_double(double value) { return static_cast<T>(value); }
  static double ulp(double) { return 1; }
};

template <>
struct DtypeOf<float> {
  static constexpr detail::Format kFormat{23, -126, 127};
  static constexpr const char* kName = "f32";
  static constexpr Tolerance kTolerance{5e-6, 1e-6, 64};
  static double to_double(float value) { return value; }
  static float from_double(double value) { return static_cast<float>(value); }
  static double ulp(double value) { return detail::ulp(value, kFormat); }
};

template <>
struct DtypeOf<Float16> {
  static constexpr detail::Format kFormat{10, -14, 15};
  static constexpr const char* kName = "f16";
  static constexpr Tolerance kTolerance{1e-3, 1e-5, 1};
  static double to_double(Float16 value) { return detail::decode16(value.bits, kFormat); }
  static Float16 from_double(double value) { return {detail::encode16(value, kFormat)}; }
  static double ulp(double value) { return detail::ulp(value, kFormat); }
};

template <>
struct DtypeOf<BFloat16> {
  static constexpr detail::Format kFormat{7, -126, 127};
  static constexpr const char* kName = "bf16";
  static constexpr Tolerance kTolerance{1e-2, 1e-5, 1};
  static double to_double(BFloat16 value) { return detail::decode16(value.bits, kFormat); }
  static BFloat16 from_double(double value) { return {detail::encode16(value, kFormat)}; }
  static double ulp(double value) { return detail::ulp(value, kFormat); }
};

// The value of an element, without rounding.
template <typename T>
double exact(T value) {
  return DtypeOf<T>::to_double(value);
}

// The nearest element.
template <typename T>
T rounded(double value) {
  return DtypeOf<T>::from_double(value);
}

// ---------------------------------------------------------------------------------------------------
// Inputs

inline uint64_t seed() {
  const char* text = std::getenv("CUDAOPS_TEST_SEED");
  return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 0) : 1;
}

inline std::string seed_text() {
  const std::string number = std::to_string(seed());
  return "seed " + number + " (CUDAOPS_TEST_SEED=" + number + " gives the same inputs)";
}

// Numbers that depend on the seed, on the running test's name and on `stream` only: not on the
// order of tests, a filter or the standard library.
class Random {
 public:
  explicit Random(uint64_t stream = 0) : state_(mix(seed()) ^ mix(stream + 0x51ed270b)) {
    const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
    if (test == nullptr) return;
    for (const char* name : {test->test_suite_name(), test->name()}) {
      for (; *name != '\0'; ++name) state_ = mix(state_ ^ static_cast<unsigned char>(*name));
    }
  }

  uint64_t bits() { return mix(state_ += 0x9e3779b97f4a7c15u); }

  double uniform(double low, double high) {
    return low + (high - low) * std::ldexp(static_cast<double>(bits() >> 11), -53);
  }

  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform(0, 1)));
    return radius * std::cos(6.283185307179586 * uniform(0, 1));
  }

  template <typename T>
  std::vector<T> uniform(int64_t num_elements, double low, double high) {
    std::vector<T> values(static_cast<size_t>(num_elements));
    for (T& value : values) value = rounded<T>(uniform(low, high));
    return values;
  }

  template <typename T>
  std::vector<T> normal(int64_t num_elements) {
    std::vector<T> values(static_cast<size_t>(num_elements));
    for (T& value : values) value = rounded<T>(normal());
    return values;
  }

 private:
  // The finaliser of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
  // generators).
  static uint64_t mix(uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
  }

  uint64_t state_;
};

// ---------------------------------------------------------------------------------------------------
// Outputs

// Every bit set: a NaN in each floating type, and what a memset can write on a device.
template <typename T>
T poison() {
  T value;
  std::memset(&value, 0xff, sizeof value);
  return value;
}

template <typename T>
bool is_poison(const T& value) {
  const T wanted = poison<T>();
  return std::memcmp(&value, &wanted, sizeof value) == 0;
}

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
// boundary, to test what a slice of a tensor does to a kernel.
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
  int64_t size() const { return num_elements_; }
  std::vector<T> to_host() { return std::vector<T>(data(), data() + num_elements_); }

  ::testing::AssertionResult guards_intact() {
    return detail::guards_intact(base_, before_, data() + num_elements_, detail::kGuardElements);
  }

 private:
  int64_t num_elements_;
  int64_t before_;
  std::vector<T> memory_;
  T* base_;
};

// ---------------------------------------------------------------------------------------------------
// Comparing

// An input shown beside a wrong element: input `name` at the same index.
struct ShownInput {
  template <typename T>
  ShownInput(std::string input_name, const std::vector<T>& values)
      : name(std::move(input_name)), at([&values](int64_t index) {
          return index < static_cast<int64_t>(values.size())
                     ? exact(values[static_cast<size_t>(index)])
                     : std::numeric_limits<double>::quiet_NaN();
        }) {}

  std::string name;
  std::function<double(int64_t)> at;
};

namespace detail {

inline std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

}  // namespace detail

// Whether actual[i] is close to expected(i), a double, for every i. NaN is close to NaN only, and
// an infinity (also one that comes from rounding `expected` to T) to the same infinity only.
template <typename T, typename Expected>
::testing::AssertionResult close(const std::vector<T>& actual, const Expected& expected,
                                 const std::vector<ShownInput>& inputs = {},
                                 Tolerance tolerance = DtypeOf<T>::kTolerance) {
  constexpr int kShown = 5;
  const double infinity = std::numeric_limits<double>::infinity();
  int64_t num_wrong = 0, worst_index = -1;
  double worst_ulps = 0;
  std::string lines;
  for (int64_t i = 0; i < static_cast<int64_t>(actual.size()); ++i) {
    const double found = exact(actual[static_cast<size_t>(i)]);
    const double wanted = expected(i);
    const double representable = exact(rounded<T>(wanted));
    double error, allowed, ulps;
    if (std::isfinite(representable) && std::isfinite(found)) {
      error = std::fabs(found - wanted);
      allowed = tolerance.atol + std::min(tolerance.rtol * std::fabs(wanted),
                                          tolerance.ulps * DtypeOf<T>::ulp(wanted));
      ulps = error / DtypeOf<T>::ulp(wanted);
    } else {
      const bool same = std::isnan(representable) ? std::isnan(found) : found == representable;
      error = ulps = same ? 0 : infinity;
      allowed = 0;
    }
    if (worst_index < 0 || ulps > worst_ulps) {
      worst_ulps = ulps;
      worst_index = i;
    }
    if (error <= allowed) continue;
    if (++num_wrong > kShown) continue;
    lines += "\n  index " + std::to_string(i) + "  actual " + detail::number(found) +
             ", expected " + detail::number(wanted) + ", off by " + detail::number(ulps) +
             " ulps (" + detail::number(error) + ", allowed " + detail::number(allowed) + ")";
    if (is_poison(actual[static_cast<size_t>(i)])) lines += ", never written";
    for (const ShownInput& input : inputs) {
      lines +=
          "\n    " + input.name + "[" + std::to_string(i) + "] = " + detail::number(input.at(i));
    }
  }
  const std::string worst =
      "worst " + detail::number(worst_ulps) + " ulps at index " + std::to_string(worst_index);
  const std::string name = DtypeOf<T>::kName;
  if (num_wrong == 0) return ::testing::AssertionSuccess() << name << ": " << worst;
  return ::testing::AssertionFailure()
         << name << ": " << num_wrong << " of " << actual.size() << " elements are wrong, " << worst
         << lines << (num_wrong > kShown ? "\n  …" : "") << "\n  " << seed_text();
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
inline std::string no_gpu_reason() {
#if defined(CUDAOPS_TESTING_HAS_GPU)
  int num_devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&num_devices);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  return num_devices > 0 ? "" : "no CUDA device";
#else
  return "built without CUDA";
#endif
}

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

#if defined(CUDAOPS_TESTING_HAS_GPU)

namespace detail {

inline void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorName(error) + ", " +
                           cudaGetErrorString(error));
}

}  // namespace detail

// Device memory, poisoned, with guard zones on both sides; see HostBuffer.
template <typename T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(int64_t num_elements, int64_t offset = 0)
      : num_elements_(num_elements), before_(detail::kGuardElements + offset) {
    const size_t bytes =
        static_cast<size_t>(before_ + num_elements + detail::kGuardElements) * sizeof(T);
    detail::require(cudaMalloc(&memory_, bytes), "cudaMalloc");
    detail::require(cudaMemset(memory_, 0xff, bytes), "cudaMemset");
  }

  explicit DeviceBuffer(const std::vector<T>& values, int64_t offset = 0)
      : DeviceBuffer(static_cast<int64_t>(values.size()), offset) {
    copy_from(values);
  }

  ~DeviceBuffer() { cudaFree(memory_); }

  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  T* data() { return static_cast<T*>(memory_) + before_; }
  int64_t size() const { return num_elements_; }

  void copy_from(const std::vector<T>& values) {
    detail::require(
        cudaMemcpy(data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
        "cudaMemcpy");
  }

  // Waits for all work on the device; throws what a kernel did wrong.
  std::vector<T> to_host() { return to_host(0, num_elements_); }

  std::vector<T> to_host(int64_t first, int64_t num_elements) {
    return read(before_ + first, num_elements);
  }

  ::testing::AssertionResult guards_intact() {
    const std::vector<T> before = read(0, before_);
    const std::vector<T> after = read(before_ + num_elements_, detail::kGuardElements);
    return detail::guards_intact(before.data(), before_, after.data(), detail::kGuardElements);
  }

 private:
  std::vector<T> read(int64_t first, int64_t num_elements) {
    std::vector<T> values(static_cast<size_t>(num_elements));
    detail::require(cudaDeviceSynchronize(), "a kernel before this point");
    detail::require(cudaMemcpy(values.data(), static_cast<T*>(memory_) + first,
                               values.size() * sizeof(T), cudaMemcpyDeviceToHost),
                    "cudaMemcpy");
    return values;
  }

  void* memory_ = nullptr;
  int64_t num_elements_;
  int64_t before_;
};

#endif  // CUDAOPS_TESTING_HAS_GPU

}  // namespace testing
}  // namespace cudaops

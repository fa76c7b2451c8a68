// SPDX-License-Identifier: Apache-2.0
// Timing of kernels with Google Benchmark (1.7.1 and later), as CudaOps times its own kernels.
//
//   void square(benchmark::State& state) {
//     const int64_t n = state.range(0), bytes = 2 * n * sizeof(float);
//     const int num_sets = cudaops::benchmark::cold_sets(bytes);
//     cudaops::benchmark::DeviceSets input(num_sets, n * sizeof(float), values), out(num_sets, …);
//     cudaops::benchmark::Case c;
//     c.num_sets = num_sets;
//     c.bytes = bytes;
//     c.launch = [&](int i, cudaStream_t stream) { launch_square(input[i], out[i], n, stream); };
//     c.verify = [&] { return …; };  // "" if out[0] is right, else what is wrong
//     cudaops::benchmark::run(state, c);
//   }
//   BENCHMARK(square)->Apply(cudaops::benchmark::timed_on_gpu)->Arg(1 << 20)->Arg(1 << 28);
//   CUDAOPS_BENCHMARK_MAIN();
//
// The reported time is the median over samples of (time between two events) / (launches between
// them). The stream is blocked while a batch is enqueued, so that the time of short kernels doesn't
// depend on the CPU. Inputs are not in the L2 cache: launches rotate over `num_sets` sets of
// buffers that together exceed it, or the cache is flushed if that needs too many sets. Counters:
// TB/s and TFLOP/s from Case::bytes and Case::flops, copy_TB/s of a copy of the same number of
// bytes, of_copy (their ratio), min_us and max_us over the samples.
//
// A case with a wrong result has no figures, and the exit code of the program is 1. Without a GPU
// the program prints SKIPPED and its exit code is 0, or 1 with CUDAOPS_REQUIRE_GPU=1.
// CUDAOPS_BENCHMARK_ONCE=1 checks every case and times it once, for tests.
//
// CUDAOPS_BENCHMARK_PROFILE=<file> is for profilers (the targets <benchmark>.ncu and .nsys): each
// case is checked, then launched twice, the second time between cudaProfilerStart() and
// cudaProfilerStop(), in an NVTX range with its number and name. The file gets a line for each
// case: number, bytes and flops. There are no figures.
//
// The GPU parts need CUDAOPS_WITH_CUDA=1 and the CUDA runtime, which cudaops_add_benchmark() gives
// where CUDA is on; .cu files have them. With HIP the same code uses HIP's runtime. The additional
// cache level of some AMD GPUs is not kept cold.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "detail/gpu_call.h"

#if defined(CUDAOPS_HAS_GPU_RUNTIME) && !CUDAOPS_HIP
// The runtime's own declarations stand in a header that not every toolkit has.
extern "C" cudaError_t CUDARTAPI cudaProfilerStart(void);
extern "C" cudaError_t CUDARTAPI cudaProfilerStop(void);
#if defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define CUDAOPS_BENCHMARK_NVTX 1
#endif
#endif
#endif

namespace cudaops {
namespace benchmark {

// Events have a resolution of half a microsecond: 0.03 % of a batch of this length.
constexpr double kBatchSeconds = 2e-3;
// A launch blocks if about 1000 entries are in its stream, and one launch may be several kernels.
constexpr int kMostLaunches = 200;
constexpr int kMostSets = 200;
constexpr int kSamples = 31;
constexpr double kWarmUpSeconds = 0.02;
// A buffer is no longer in the L2 cache after accesses to this multiple of the cache's size.
constexpr double kCachesBetweenUses = 4;

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Number of sets of buffers of `bytes` bytes that keep a cache of `l2_bytes` cold.
inline int cold_sets(double bytes, double l2_bytes) {
  const double wanted = std::ceil(kCachesBetweenUses * l2_bytes / std::max(bytes, 1.0));
  return static_cast<int>(std::min<double>(std::max(wanted, 1.0), kMostSets));
}

// Whether that many sets don't suffice, and the cache is flushed before a batch.
inline bool needs_flush(double bytes, int num_sets, double l2_bytes) {
  return bytes * num_sets < kCachesBetweenUses * l2_bytes;
}

// Number of launches of about `seconds` in a batch. After a flush a set is cold only once.
inline int batch_size(double seconds, int num_sets, bool flush) {
  const double wanted = std::ceil(kBatchSeconds / std::max(seconds, 1e-9));
  const int most = flush ? std::min(num_sets, kMostLaunches) : kMostLaunches;
  return static_cast<int>(std::min<double>(std::max(wanted, 1.0), most));
}

// Why no GPU can be used here; empty if one can.
inline std::string no_gpu_reason() { return cudaops::detail::no_gpu_reason(); }

namespace detail {

inline bool is_set(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0' && std::strcmp(text, "0") != 0;
}

inline int& num_failed() {
  static int count = 0;
  return count;
}

}  // namespace detail

// The type that BENCHMARK() and RegisterBenchmark() return; its name differs between versions.
using Registered =
    decltype(::benchmark::RegisterBenchmark("", std::declval<void (*)(::benchmark::State&)>()));

// For BENCHMARK(f)->Apply(): the time is the one run() sets, once a repetition.
inline void timed_on_gpu(Registered registered) {
  registered->UseManualTime()->Iterations(1)->Unit(::benchmark::kMicrosecond);
}

#if defined(CUDAOPS_HAS_GPU_RUNTIME)

using cudaops::detail::GpuStream;  // cudaStream_t or hipStream_t

struct Measurement {
  double median_s;
  double min_s;
  double max_s;
};

struct Case {
  // Enqueues the op once on the buffers of set 0 … num_sets - 1. Must not wait for the device.
  std::function<void(int set, GpuStream stream)> launch;
  int num_sets = 1;
  // Called after one launch on set 0 has ended: "" if its result is right, else what is wrong.
  // Required.
  std::function<std::string()> verify;
  double bytes = 0;  // read and written by one launch; 0: no bandwidth is reported
  double flops = 0;
};

namespace detail {

inline double l2_bytes() {
  int device = 0, bytes = 0;
  CUDAOPS_GPU_CALL(GetDevice, &device);
  CUDAOPS_GPU_CALL(DeviceGetAttribute, &bytes, CUDAOPS_GPU_ATTRIBUTE(L2CacheSize), device);
  return bytes;
}

// Memory for flushing and for the copy that figures are compared with.
class Memory {
 public:
  explicit Memory(size_t bytes) : bytes_(bytes) {
    CUDAOPS_GPU_CALL(Malloc, &data_, std::max<size_t>(bytes, 1));
  }
  ~Memory() { (void)CUDAOPS_GPU(Free)(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  size_t bytes_;
};

class Stream {
 public:
  Stream() { CUDAOPS_GPU_CALL(StreamCreateWithFlags, &stream_, CUDAOPS_GPU(StreamNonBlocking)); }
  ~Stream() { (void)CUDAOPS_GPU(StreamDestroy)(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator GpuStream() const { return stream_; }

 private:
  GpuStream stream_ = nullptr;
};

class Event {
 public:
  Event() { CUDAOPS_GPU_CALL(EventCreate, &event_); }
  ~Event() { (void)CUDAOPS_GPU(EventDestroy)(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaops::detail::GpuEvent() const { return event_; }

 private:
  cudaops::detail::GpuEvent event_ = nullptr;
};

// Blocks a stream until release(), so that what is enqueued in the meantime runs without gaps.
// Released after a second at the latest, in case a launch waits for the device.
class Hold {
 public:
  explicit Hold(GpuStream stream) : released_(false) {
#if CUDAOPS_HIP
    // HIP 5.2 declares hipLaunchHostFunc, but its library has none.
    CUDAOPS_GPU_CALL(StreamAddCallback, stream, &Hold::wait_in_callback, this, 0);
#else
    CUDAOPS_GPU_CALL(LaunchHostFunc, stream, &Hold::wait, this);
#endif
  }
  void release() { released_ = true; }

 private:
#if CUDAOPS_HIP
  static void wait_in_callback(hipStream_t, hipError_t, void* self) { wait(self); }
#endif
  static void wait(void* self) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (!static_cast<Hold*>(self)->released_ && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
  }
  std::atomic<bool> released_;
};

// Seconds of a launch, over one batch, which continues the rotation of the batch before.
inline double time_batch(const std::function<void(int, GpuStream)>& launch, int num_launches,
                         int num_sets, int* next_set, GpuStream stream, const Memory* flush) {
  const Event start, stop;
  if (flush != nullptr) {
    CUDAOPS_GPU_CALL(MemsetAsync, flush->data(), 0, flush->bytes(), stream);
  }
  // Released on every path, or the stream would wait for a second.
  Hold hold(stream);
  try {
    CUDAOPS_GPU_CALL(EventRecord, start, stream);
    for (int i = 0; i < num_launches; ++i) {
      launch(*next_set, stream);
      *next_set = (*next_set + 1) % num_sets;
    }
    CUDAOPS_GPU_CALL(EventRecord, stop, stream);
  } catch (...) {
    hold.release();
    (void)CUDAOPS_GPU(StreamSynchronize)(stream);
    throw;
  }
  hold.release();
  cudaops::detail::require(CUDAOPS_GPU(StreamSynchronize)(stream), "the timed kernels");
  float milliseconds = 0;
  CUDAOPS_GPU_CALL(EventElapsedTime, &milliseconds, start, stop);
  return milliseconds / 1e3 / num_launches;
}

}  // namespace detail

// Sets of buffers that keep this device's L2 cache cold for an op that touches `bytes` bytes.
inline int cold_sets(double bytes) { return cold_sets(bytes, detail::l2_bytes()); }

// The same array `num_sets` times, each on a 256-byte boundary plus `offset_bytes`, filled with
// repetitions of `pattern` (with zeros, kernels draw less power and run faster than with real data)
// or, without one, with NaN.
class DeviceSets {
 public:
  DeviceSets(int num_sets, size_t bytes, const std::vector<char>& pattern = {},
             size_t offset_bytes = 0)
      : stride_((bytes + offset_bytes + 255) / 256 * 256),
        offset_bytes_(offset_bytes),
        memory_(stride_ * static_cast<size_t>(num_sets)) {
    CUDAOPS_GPU_CALL(Memset, memory_.data(), 0xff, memory_.bytes());
    for (int set = 0; set < num_sets && !pattern.empty(); ++set) {
      char* data = static_cast<char*>((*this)[set]);
      size_t filled = std::min(bytes, pattern.size());
      CUDAOPS_GPU_CALL(Memcpy, data, pattern.data(), filled, CUDAOPS_GPU(MemcpyHostToDevice));
      // Whole patterns; the filled part doubles.
      while (filled < bytes) {
        const size_t more = std::min(filled, bytes - filled);
        CUDAOPS_GPU_CALL(Memcpy, data + filled, data, more, CUDAOPS_GPU(MemcpyDeviceToDevice));
        filled += more;
      }
    }
    // The streams that kernels are timed on don't wait for this one.
    CUDAOPS_GPU_CALL(DeviceSynchronize);
  }

  void* operator[](int set) const {
    return static_cast<char*>(memory_.data()) + stride_ * static_cast<size_t>(set) + offset_bytes_;
  }

  // A part of set 0, for verify.
  template <typename T>
  std::vector<T> to_host(int64_t first, int64_t num_elements) const {
    std::vector<T> values(static_cast<size_t>(num_elements));
    CUDAOPS_GPU_CALL(Memcpy, values.data(), static_cast<const T*>((*this)[0]) + first,
                     values.size() * sizeof(T), CUDAOPS_GPU(MemcpyDeviceToHost));
    return values;
  }

 private:
  size_t stride_;
  size_t offset_bytes_;
  detail::Memory memory_;
};

// Times one op, without checking it: run() is what benchmarks call.
inline Measurement measure(const std::function<void(int set, GpuStream stream)>& launch,
                           int num_sets = 1, double bytes = 0) {
  const detail::Stream stream;
  const double l2_bytes = detail::l2_bytes();
  const bool flush_wanted = bytes > 0 && needs_flush(bytes, num_sets, l2_bytes);
  const detail::Memory flush(flush_wanted ? static_cast<size_t>(2 * l2_bytes) : 0);
  const detail::Memory* flushed = flush_wanted ? &flush : nullptr;
  int next_set = 0;
  double seconds = detail::time_batch(launch, 1, num_sets, &next_set, stream, flushed);
  if (detail::is_set("CUDAOPS_BENCHMARK_ONCE")) return {seconds, seconds, seconds};
  const auto warm =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(kWarmUpSeconds);
  do {
    seconds = detail::time_batch(launch, batch_size(seconds, num_sets, flush_wanted), num_sets,
                                 &next_set, stream, flushed);
  } while (std::chrono::steady_clock::now() < warm);
  const int num_launches = batch_size(seconds, num_sets, flush_wanted);
  std::vector<double> samples;
  for (int i = 0; i < kSamples; ++i) {
    samples.push_back(
        detail::time_batch(launch, num_launches, num_sets, &next_set, stream, flushed));
  }
  return {median(samples), *std::min_element(samples.begin(), samples.end()),
          *std::max_element(samples.begin(), samples.end())};
}

using Copy = std::function<void(const void* from, void* to, size_t bytes, GpuStream stream)>;

namespace detail {

inline std::vector<Copy>& copies() {
  static std::vector<Copy> all{[](const void* from, void* to, size_t bytes, GpuStream stream) {
    CUDAOPS_GPU_CALL(MemcpyAsync, to, from, bytes, CUDAOPS_GPU(MemcpyDeviceToDevice), stream);
  }};
  return all;
}

}  // namespace detail

// The runtime's copy isn't always the fastest; figures are compared with the fastest copy known.
inline void add_copy(Copy copy) { detail::copies().push_back(std::move(copy)); }

// Seconds of the fastest copy that moves `bytes` bytes in total, half of them read, half written.
inline double copy_seconds(double bytes) {
  static std::map<double, double> known;
  const auto found = known.find(bytes);
  if (found != known.end()) return found->second;
  const int num_sets = cold_sets(bytes);
  const size_t half = std::max<size_t>(static_cast<size_t>(bytes / 2), 1);
  std::vector<char> noise(size_t{1} << 20);
  uint32_t state = 1;
  for (char& byte : noise) byte = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
  const DeviceSets from(num_sets, half, noise), to(num_sets, half);
  double best = 0;
  for (const Copy& copy : detail::copies()) {
    const double seconds =
        measure([&](int set, GpuStream stream) { copy(from[set], to[set], half, stream); },
                num_sets, bytes)
            .median_s;
    if (best == 0 || seconds < best) best = seconds;
  }
  return known[bytes] = best;
}

namespace detail {

// The name of the running benchmark; before Google Benchmark 1.8 it isn't told.
template <typename State>
auto name_of(const State& state, int) -> decltype(std::string(state.name())) {
  return state.name();
}
template <typename State>
std::string name_of(const State&, long) {
  return "";
}

// One launch for a profiler. The cases are numbered from 0 in the order in which they run, which is
// that of --benchmark_list_tests.
inline void profile(int number, const std::string& name, const Case& benchmark_case,
                    const char* path) {
  std::FILE* file = std::fopen(path, "a");
  if (file == nullptr) {
    throw std::runtime_error(std::string("CUDAOPS_BENCHMARK_PROFILE can't be written: ") + path);
  }
  std::fprintf(file, "%d\t%.0f\t%.0f\n", number, benchmark_case.bytes, benchmark_case.flops);
  std::fclose(file);
  const Stream stream;
  const auto launch = [&](int set) {
    benchmark_case.launch(set % benchmark_case.num_sets, stream);
    cudaops::detail::require(CUDAOPS_GPU(StreamSynchronize)(stream), "the profiled kernels");
  };
  launch(0);
#if defined(CUDAOPS_BENCHMARK_NVTX)
  nvtxRangePushA(("cudaops case " + std::to_string(number) + ": " + name).c_str());
#endif
#if !CUDAOPS_HIP
  CUDAOPS_GPU_CALL(ProfilerStart);
#endif
  launch(1);
#if !CUDAOPS_HIP
  CUDAOPS_GPU_CALL(ProfilerStop);
#endif
#if defined(CUDAOPS_BENCHMARK_NVTX)
  nvtxRangePop();
#endif
}

}  // namespace detail

// Checks the op, times it, and sets time and counters.
inline void run(::benchmark::State& state, const Case& benchmark_case) {
  const auto fail = [&](const std::string& why) {
    ++detail::num_failed();
    state.SkipWithError(why.c_str());
  };
  static int num_cases = 0;
  const int number = num_cases++;
  try {
    if (!benchmark_case.verify) return fail("no verify: an op is not timed unchecked");
    {
      const detail::Stream stream;
      benchmark_case.launch(0, stream);
      cudaops::detail::require(CUDAOPS_GPU(StreamSynchronize)(stream), "the kernel");
    }
    const std::string wrong = benchmark_case.verify();
    if (!wrong.empty()) return fail("wrong result: " + wrong);
    const char* const profile = std::getenv("CUDAOPS_BENCHMARK_PROFILE");
    if (profile != nullptr && *profile != '\0') {
      detail::profile(number, detail::name_of(state, 0), benchmark_case, profile);
      for (auto iteration : state) {
        (void)iteration;
        state.SetIterationTime(1);
      }
      return;
    }
    const Measurement measured =
        measure(benchmark_case.launch, benchmark_case.num_sets, benchmark_case.bytes);
    for (auto iteration : state) {
      (void)iteration;
      state.SetIterationTime(measured.median_s);
    }
    state.counters["min_us"] = measured.min_s * 1e6;
    state.counters["max_us"] = measured.max_s * 1e6;
    if (benchmark_case.flops > 0) {
      state.counters["TFLOP/s"] = benchmark_case.flops / measured.median_s / 1e12;
    }
    if (benchmark_case.bytes > 0) {
      const double copy_s = copy_seconds(benchmark_case.bytes);
      state.counters["TB/s"] = benchmark_case.bytes / measured.median_s / 1e12;
      state.counters["copy_TB/s"] = benchmark_case.bytes / copy_s / 1e12;
      state.counters["of_copy"] = copy_s / measured.median_s;
    }
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

namespace detail {

// CUDA's version numbers: 13000 is 13.0.
inline std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

inline void describe_device() {
  int device = 0, driver = 0;
#if CUDAOPS_HIP
  hipDeviceProp_t properties;
#else
  cudaDeviceProp properties;
#endif
  CUDAOPS_GPU_CALL(GetDevice, &device);
  CUDAOPS_GPU_CALL(GetDeviceProperties, &properties, device);
  CUDAOPS_GPU_CALL(DriverGetVersion, &driver);
  ::benchmark::AddCustomContext("device", properties.name);
  ::benchmark::AddCustomContext("num_multiprocessors",
                                std::to_string(properties.multiProcessorCount));
  ::benchmark::AddCustomContext("l2_cache_bytes", std::to_string(properties.l2CacheSize));
#if CUDAOPS_HIP
  ::benchmark::AddCustomContext("gfx", properties.gcnArchName);
  ::benchmark::AddCustomContext("driver", std::to_string(driver));
  ::benchmark::AddCustomContext(
      "toolkit", std::to_string(HIP_VERSION_MAJOR) + "." + std::to_string(HIP_VERSION_MINOR));
#else
  ::benchmark::AddCustomContext("compute_capability", std::to_string(properties.major) + "." +
                                                          std::to_string(properties.minor));
  ::benchmark::AddCustomContext("driver_supports_cuda", version_text(driver));
  ::benchmark::AddCustomContext("toolkit", version_text(CUDART_VERSION));
#endif
}

}  // namespace detail

#endif  // CUDAOPS_HAS_GPU_RUNTIME

inline int main(int argc, char** argv) {
  std::string command = argv[0];
  for (int i = 1; i < argc; ++i) command += std::string(" ") + argv[i];
  ::benchmark::Initialize(&argc, argv);
  if (::benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const std::string reason = no_gpu_reason();
  if (!reason.empty()) {
    std::printf("SKIPPED: no GPU can be used here: %s\n", reason.c_str());
    return detail::is_set("CUDAOPS_REQUIRE_GPU") ? 1 : 0;
  }
#if defined(CUDAOPS_HAS_GPU_RUNTIME)
  ::benchmark::AddCustomContext("command", command);
  detail::describe_device();
#endif
  ::benchmark::RunSpecifiedBenchmarks();
  ::benchmark::Shutdown();
  return detail::num_failed() == 0 ? 0 : 1;
}

}  // namespace benchmark
}  // namespace cudaops

#define CUDAOPS_BENCHMARK_MAIN() \
  int main(int argc, char** argv) { return ::cudaops::benchmark::main(argc, argv); }

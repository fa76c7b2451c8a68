// SPDX-License-Identifier: Apache-2.0
// What the benchmarks of all ops share: inputs, the gate that compares before anything is timed,
// and the copy that figures are compared with.
#pragma once

#include <cudaops/benchmark.h>
#include <cudaops/compare.h>

#include <cstring>
#include <string>
#include <vector>

#include "common/dtype.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

#include "baseline.h"

namespace op_benchmark {

using cudaops::testing::BFloat16;
using cudaops::testing::Float16;

template <typename T>
constexpr cudaops_kernels::DType kDType = cudaops_kernels::DType::kFloat32;
template <>
constexpr cudaops_kernels::DType kDType<Float16> = cudaops_kernels::DType::kFloat16;
template <>
constexpr cudaops_kernels::DType kDType<BFloat16> = cudaops_kernels::DType::kBFloat16;

// Sizes in bytes an array: from what one launch costs to what only bandwidth decides.
inline void sizes(cudaops::benchmark::Registered registered) {
  cudaops::benchmark::timed_on_gpu(registered);
  registered->ArgName("bytes");
  for (const int64_t mebibytes : {1, 16, 64, 256, 1024}) registered->Arg(mebibytes << 20);
}

// An array's content repeats after this many elements.
constexpr int64_t kPeriod = int64_t{1} << 18;

// Rounded normal numbers; the same for every array with the same stream.
template <typename T>
std::vector<T> values(uint64_t stream) {
  return cudaops::testing::Random(stream).normal<T>(kPeriod);
}

template <typename T>
std::vector<char> as_pattern(const std::vector<T>& elements) {
  std::vector<char> bytes(elements.size() * sizeof(T));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

// Compares the first, the middle and the last period of set 0 with expected(index in the period).
template <typename T, typename Expected>
std::string wrong_elements(const cudaops::benchmark::DeviceSets& out, int64_t num_elements,
                           const Expected& expected) {
  const int64_t period = kPeriod < num_elements ? kPeriod : num_elements;
  const int64_t last = (num_elements - period) / kPeriod * kPeriod;
  for (const int64_t first : {int64_t{0}, last / 2 / kPeriod * kPeriod, last}) {
    const auto compared = cudaops::testing::compare(out.to_host<T>(first, period), expected);
    if (!compared.ok) return compared.text;
  }
  return "";
}

// In every program, so that its figures stand beside what the card can do.
inline bool register_baseline() {
  cudaops::benchmark::add_copy([](const void* from, void* to, size_t bytes, cudaStream_t stream) {
    cudaops_bench::launch_copy(from, to, static_cast<int64_t>(bytes), stream);
  });
  ::benchmark::RegisterBenchmark("empty_kernel", [](::benchmark::State& state) {
    cudaops::benchmark::Case empty;
    empty.launch = [](int, cudaStream_t stream) { cudaops_bench::launch_empty(stream); };
    empty.verify = [] { return std::string(); };
    cudaops::benchmark::run(state, empty);
  })->Apply(cudaops::benchmark::timed_on_gpu);
  return true;
}

const bool kBaselineRegistered = register_baseline();

}  // namespace op_benchmark

#endif  // CUDAOPS_BENCH_WITH_CUDA

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "op_benchmark.h"
#include "sum/sum.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using cudaops::testing::exact;

// offset: elements by which the input starts behind a 16-byte boundary, as a slice of a tensor
// does.
template <typename T>
void time_sum(benchmark::State& state, int64_t offset) {
  const int64_t array_bytes = state.range(0), n = array_bytes / int64_t{sizeof(T)};
  const double bytes = static_cast<double>(array_bytes);
  const int num_sets = cudaops::benchmark::cold_sets(bytes);
  const std::vector<T> values_in = values<T>(0);
  const cudaops::benchmark::DeviceSets input(num_sets, array_bytes, as_pattern(values_in),
                                             offset * sizeof(T));
  const cudaops::benchmark::DeviceSets out(num_sets, sizeof(T));
  const cudaops::benchmark::DeviceSets workspace(
      num_sets, cudaops_examples::sum_workspace_bytes(n, kDType<T>));
  cudaops::benchmark::Case c;
  c.num_sets = num_sets;
  c.bytes = bytes;
  c.flops = static_cast<double>(n);
  c.launch = [&](int set, cudaStream_t stream) {
    cudaops_examples::launch_sum(input[set], out[set], n, kDType<T>, workspace[set], stream);
  };
  c.verify = [&] {
    // All sizes here are whole periods or one part of a period.
    const int64_t period = std::min(kPeriod, n);
    double sum = 0, magnitude = 0;
    for (int64_t i = 0; i < period; ++i) {
      sum += exact(values_in[i]);
      magnitude += std::fabs(exact(values_in[i]));
    }
    sum *= static_cast<double>(n / period);
    magnitude *= static_cast<double>(n / period);
    // The bound that sum.h states.
    const cudaops::testing::Tolerance tolerance{1, std::ldexp(2 * 128 * magnitude, -24), 0.5};
    const auto compared = cudaops::testing::compare(
        out.to_host<T>(0, 1), [&](int64_t) { return sum; }, {}, tolerance);
    return compared.ok ? std::string() : compared.text;
  };
  cudaops::benchmark::run(state, c);
}

template <typename T>
void sum(benchmark::State& state) {
  time_sum<T>(state, 0);
}
template <typename T>
void sum_unaligned(benchmark::State& state) {
  time_sum<T>(state, 1);
}

BENCHMARK(sum<float>)->Apply(sizes);
BENCHMARK(sum<Float16>)->Apply(sizes);
BENCHMARK(sum<BFloat16>)->Apply(sizes);
BENCHMARK(sum_unaligned<float>)->Apply(sizes);
BENCHMARK(sum_unaligned<BFloat16>)->Apply(sizes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()

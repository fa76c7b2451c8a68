// SPDX-License-Identifier: Apache-2.0
#include <cudaops/benchmark.h>
#include <cudaops/compare.h>

#include <cmath>
#include <string>
#include <vector>

#include "silu.h"

#ifdef HAVE_SILU_CUDA

namespace {

using namespace cudaops::testing;

template <typename T>
std::vector<char> bytes_of(const std::vector<T>& values) {
  const char* data = reinterpret_cast<const char*>(values.data());
  return std::vector<char>(data, data + values.size() * sizeof(T));
}

template <typename T>
void time_silu(benchmark::State& state, silu::DType dtype) {
  const int64_t n = state.range(0);
  cudaops::benchmark::Case silu_case;
  // As many buffers as it takes for the cache to be cold, filled with repetitions of `values`.
  silu_case.bytes = 2.0 * n * sizeof(T);
  silu_case.num_sets = cudaops::benchmark::cold_sets(silu_case.bytes);
  const auto values = Random().uniform<T>(1 << 16, -20, 20);
  const cudaops::benchmark::DeviceSets input(silu_case.num_sets, n * sizeof(T), bytes_of(values));
  const cudaops::benchmark::DeviceSets out(silu_case.num_sets, n * sizeof(T));
  silu_case.launch = [&](int set, cudaStream_t stream) {
    silu::launch(input[set], out[set], n, dtype, stream);
  };
  // No result, no figure.
  silu_case.verify = [&] {
    const auto compared = compare(out.to_host<T>(0, n), [&](int64_t i) {
      const double x = exact(values[static_cast<size_t>(i) % values.size()]);
      return x / (1 + std::exp(-x));
    });
    return compared.ok ? std::string() : compared.text;
  };
  cudaops::benchmark::run(state, silu_case);
}

void silu_f32(benchmark::State& state) { time_silu<float>(state, silu::DType::kFloat32); }
void silu_bf16(benchmark::State& state) { time_silu<BFloat16>(state, silu::DType::kBFloat16); }

BENCHMARK(silu_f32)->Apply(cudaops::benchmark::timed_on_gpu)->Arg(1 << 16)->Arg(1 << 24);
BENCHMARK(silu_bf16)->Apply(cudaops::benchmark::timed_on_gpu)->Arg(1 << 16)->Arg(1 << 24);

}  // namespace

#endif  // HAVE_SILU_CUDA

CUDAOPS_BENCHMARK_MAIN()

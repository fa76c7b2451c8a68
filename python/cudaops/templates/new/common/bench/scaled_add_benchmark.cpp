#include <cudaops/benchmark.h>
#include <cudaops/compare.h>

#include <cstring>
#include <string>
#include <vector>

#include "scaled_add.h"

#ifdef HAVE_MY_OPS_CUDA

namespace {

using namespace cudaops::testing;

std::vector<char> bytes_of(const std::vector<float>& values) {
  std::vector<char> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

void scaled_add(benchmark::State& state) {
  constexpr float kScale = 0.3f;
  const int64_t n = state.range(0);
  const size_t bytes = static_cast<size_t>(n) * sizeof(float);
  cudaops::benchmark::Case scaled_add_case;
  // As many buffers as it takes for the cache to be cold, filled with repetitions of `values`.
  scaled_add_case.bytes = 3.0 * bytes;
  scaled_add_case.num_sets = cudaops::benchmark::cold_sets(scaled_add_case.bytes);
  const auto values = Random().uniform<float>(1 << 16, 0, 20);
  const cudaops::benchmark::DeviceSets a(scaled_add_case.num_sets, bytes, bytes_of(values));
  const cudaops::benchmark::DeviceSets b(scaled_add_case.num_sets, bytes, bytes_of(values));
  const cudaops::benchmark::DeviceSets out(scaled_add_case.num_sets, bytes);
  scaled_add_case.launch = [&](int set, cudaStream_t stream) {
    my_ops::launch_scaled_add(static_cast<const float*>(a[set]), static_cast<const float*>(b[set]),
                              kScale, static_cast<float*>(out[set]), n, stream);
  };
  // No result, no figure.
  scaled_add_case.verify = [&] {
    const auto compared = compare(out.to_host<float>(0, n), [&](int64_t i) {
      return exact(values[static_cast<size_t>(i) % values.size()]) * (1 + exact(kScale));
    });
    return compared.ok ? std::string() : compared.text;
  };
  cudaops::benchmark::run(state, scaled_add_case);
}

BENCHMARK(scaled_add)->Apply(cudaops::benchmark::timed_on_gpu)->Arg(1 << 16)->Arg(1 << 24);

}  // namespace

#endif  // HAVE_MY_OPS_CUDA

CUDAOPS_BENCHMARK_MAIN()

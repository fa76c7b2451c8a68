// SPDX-License-Identifier: Apache-2.0
#include "op_benchmark.h"
#include "square/square.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using cudaops::testing::exact;

// offset: elements by which the input starts behind a 16-byte boundary, as a slice of a tensor
// does.
template <typename T>
void time_square(benchmark::State& state, int64_t offset) {
  const int64_t array_bytes = state.range(0), n = array_bytes / int64_t{sizeof(T)};
  const double bytes = 2.0 * array_bytes;
  const int num_sets = cudaops::benchmark::cold_sets(bytes);
  const std::vector<T> values_in = values<T>(0);
  const cudaops::benchmark::DeviceSets input(num_sets, array_bytes, as_pattern(values_in),
                                             offset * sizeof(T));
  const cudaops::benchmark::DeviceSets out(num_sets, array_bytes);
  cudaops::benchmark::Case c;
  c.num_sets = num_sets;
  c.bytes = bytes;
  c.launch = [&](int set, cudaStream_t stream) {
    cudaops_examples::launch_square(input[set], out[set], n, kDType<T>, stream);
  };
  c.verify = [&] {
    return wrong_elements<T>(out, n,
                             [&](int64_t i) { return exact(values_in[i]) * exact(values_in[i]); });
  };
  cudaops::benchmark::run(state, c);
}

template <typename T>
void square(benchmark::State& state) {
  time_square<T>(state, 0);
}
template <typename T>
void square_unaligned(benchmark::State& state) {
  time_square<T>(state, 1);
}

BENCHMARK(square<float>)->Apply(sizes);
BENCHMARK(square<Float16>)->Apply(sizes);
BENCHMARK(square<BFloat16>)->Apply(sizes);
BENCHMARK(square_unaligned<float>)->Apply(sizes);
BENCHMARK(square_unaligned<BFloat16>)->Apply(sizes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()

// SPDX-License-Identifier: Apache-2.0
#include "op_benchmark.h"
#include "vector_add/vector_add.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using cudaops::testing::exact;

// offset: elements by which a starts behind a 16-byte boundary, as a slice of a tensor does.
template <typename T>
void time_vector_add(benchmark::State& state, int64_t offset) {
  const int64_t array_bytes = state.range(0), n = array_bytes / int64_t{sizeof(T)};
  const double bytes = 3.0 * array_bytes;
  const int num_sets = cudaops::benchmark::cold_sets(bytes);
  const std::vector<T> values_a = values<T>(0), values_b = values<T>(1);
  const cudaops::benchmark::DeviceSets a(num_sets, array_bytes, as_pattern(values_a),
                                         offset * sizeof(T));
  const cudaops::benchmark::DeviceSets b(num_sets, array_bytes, as_pattern(values_b));
  const cudaops::benchmark::DeviceSets out(num_sets, array_bytes);
  cudaops::benchmark::Case c;
  c.num_sets = num_sets;
  c.bytes = bytes;
  c.launch = [&](int set, cudaStream_t stream) {
    cudaops_examples::launch_vector_add(a[set], b[set], out[set], n, kDType<T>, stream);
  };
  c.verify = [&] {
    return wrong_elements<T>(out, n,
                             [&](int64_t i) { return exact(values_a[i]) + exact(values_b[i]); });
  };
  cudaops::benchmark::run(state, c);
}

template <typename T>
void vector_add(benchmark::State& state) {
  time_vector_add<T>(state, 0);
}
template <typename T>
void vector_add_unaligned(benchmark::State& state) {
  time_vector_add<T>(state, 1);
}

BENCHMARK(vector_add<float>)->Apply(sizes);
BENCHMARK(vector_add<Float16>)->Apply(sizes);
BENCHMARK(vector_add<BFloat16>)->Apply(sizes);
BENCHMARK(vector_add_unaligned<float>)->Apply(sizes);
BENCHMARK(vector_add_unaligned<BFloat16>)->Apply(sizes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()

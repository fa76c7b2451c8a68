// SPDX-License-Identifier: Apache-2.0
#include "op_benchmark.h"
#include "transpose/transpose.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using cudaops::benchmark::DeviceSets;
using cudaops_kernels::Transpose;

// One matrix of 256 KiB to 1 GiB in float32, batches of small ones and of weights, long and narrow
// ones, and awkward ones: rows that start anywhere on one side or both.
void shapes(cudaops::benchmark::Registered registered) {
  cudaops::benchmark::timed_on_gpu(registered);
  registered->ArgNames({"batch", "rows", "columns"});
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{1, 256, 256},
                                                                             {1, 4096, 4096},
                                                                             {1, 8192, 8192},
                                                                             {1, 16384, 16384},
                                                                             {64, 1024, 1024},
                                                                             {16384, 64, 64},
                                                                             {1, 1048576, 128},
                                                                             {1, 128, 1048576},
                                                                             {1, 8191, 8192},
                                                                             {1, 8192, 8191},
                                                                             {1, 8191, 8193},
                                                                             {64, 1023, 1025}}) {
    registered->Args(shape);
  }
}

// The input repeats itself after a prime number of elements, so that no two columns or rows of a
// shape here have the same content at the same place.
constexpr int64_t kPrime = 262139;

template <typename T>
void transpose(benchmark::State& state) {
  const int64_t batches = state.range(0), rows = state.range(1), columns = state.range(2);
  const int64_t n = batches * rows * columns;
  const size_t array_bytes = static_cast<size_t>(n) * sizeof(T);
  cudaops::benchmark::Case c;
  c.bytes = 2.0 * static_cast<double>(array_bytes);
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  std::vector<T> of_input = values<T>(0);
  of_input.resize(static_cast<size_t>(kPrime));
  const DeviceSets input(c.num_sets, array_bytes, as_pattern(of_input));
  const DeviceSets output(c.num_sets, array_bytes);
  c.launch = [&](int set, cudaStream_t stream) {
    cudaops_kernels::launch_transpose(
        {batches, rows, columns, kDType<T>, input[set], rows * columns, columns, output[set]},
        stream);
  };
  c.verify = [&]() -> std::string {
    for (const int64_t batch : {int64_t{0}, batches / 2, batches - 1}) {
      for (const int64_t column : {int64_t{0}, columns / 2, columns - 1}) {
        const int64_t row_of_output = batch * columns + column;
        const auto compared = cudaops::testing::compare(
            output.to_host<T>(row_of_output * rows, rows),
            [&](int64_t row) {
              const int64_t from = (batch * rows + row) * columns + column;
              return cudaops::testing::exact(of_input[static_cast<size_t>(from % kPrime)]);
            },
            {}, cudaops::testing::Tolerance{0, 0, 0});
        if (!compared.ok) return "row " + std::to_string(row_of_output) + ": " + compared.text;
      }
    }
    return "";
  };
  cudaops::benchmark::run(state, c);
}

BENCHMARK(transpose<float>)->Apply(shapes);
BENCHMARK(transpose<BFloat16>)->Apply(shapes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()

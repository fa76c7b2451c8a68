// SPDX-License-Identifier: Apache-2.0
#include "quantize/quantize.h"
#include "quantized_benchmark.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using namespace cudaops_kernels;

// block_rows, block_columns: 0 for all. passes: how often input is read.
template <typename T, QuantizedType kType>
void quantize(benchmark::State& state, int64_t block_rows, int64_t block_columns, int passes,
              bool is_random = false) {
  const int64_t rows = state.range(0), width = state.range(1), n = rows * width;
  const size_t array_bytes = static_cast<size_t>(n) * sizeof(T);
  const BlockGrid grid{1, rows, width, block_rows == 0 ? rows : block_rows,
                       block_columns == 0 ? width : block_columns};
  cudaops::benchmark::Case c;
  c.bytes = passes * static_cast<double>(array_bytes) + static_cast<double>(n) +
            4.0 * static_cast<double>(grid.num_blocks());
  c.num_sets = cudaops::benchmark::cold_sets(static_cast<double>(array_bytes));
  const std::vector<T> pattern = values<T>(0);
  const DeviceSets input(c.num_sets, array_bytes, as_pattern(pattern));
  const DeviceSets output(c.num_sets, static_cast<size_t>(n));
  const DeviceSets scale(1, static_cast<size_t>(grid.num_blocks()) * sizeof(float));
  c.launch = [&](int set, cudaStream_t stream) {
    Quantize call{};
    call.grid = grid;
    call.dtype = kDType<T>;
    call.type = kType;
    call.input = {input[set], width};
    call.output = {output[set], width};
    call.scale = static_cast<float*>(scale[0]);
    call.strides = dense(grid);
    call.is_random = is_random;
    launch_quantize(call, stream);
  };
  c.verify = [&] {
    const auto number = [&](int64_t row, int64_t column) {
      return element(pattern, row * width + column);
    };
    return wrong_bytes(output, scale, grid, kType, number, is_random);
  };
  cudaops::benchmark::run(state, c);
}

template <typename T>
void quantize_rows_int8(benchmark::State& state) {
  quantize<T, QuantizedType::kInt8>(state, 1, 0, 1);
}
template <typename T>
void quantize_rows_float8(benchmark::State& state) {
  quantize<T, QuantizedType::kFloat8>(state, 1, 0, 1);
}
template <typename T>
void quantize_groups_float8(benchmark::State& state) {
  quantize<T, QuantizedType::kFloat8>(state, 1, 128, 1);
}
template <typename T>
void quantize_tiles_float8(benchmark::State& state) {
  quantize<T, QuantizedType::kFloat8>(state, 128, 128, 1);
}
template <typename T>
void quantize_tensor_float8(benchmark::State& state) {
  quantize<T, QuantizedType::kFloat8>(state, 0, 0, 2);
}
template <typename T>
void quantize_groups_float8_at_random(benchmark::State& state) {
  quantize<T, QuantizedType::kFloat8>(state, 1, 128, 1, true);
}

BENCHMARK(quantize_rows_int8<BFloat16>)->Apply(row_shapes);
BENCHMARK(quantize_rows_float8<BFloat16>)->Apply(row_shapes);
BENCHMARK(quantize_groups_float8<BFloat16>)->Apply(row_shapes);
BENCHMARK(quantize_tiles_float8<BFloat16>)->Apply(row_shapes);
BENCHMARK(quantize_tensor_float8<BFloat16>)->Apply(row_shapes);
BENCHMARK(quantize_groups_float8_at_random<BFloat16>)->Apply(row_shapes);
BENCHMARK(quantize_rows_int8<float>)->Apply(row_shapes);
BENCHMARK(quantize_groups_float8<float>)->Apply(row_shapes);
BENCHMARK(quantize_tensor_float8<float>)->Apply(row_shapes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()

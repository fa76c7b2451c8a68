// SPDX-License-Identifier: Apache-2.0
#include "dequantize/dequantize.h"
#include "quantized_benchmark.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using namespace cudaops_kernels;

// block_columns: 0 for whole rows.
template <typename T, QuantizedType kType>
void dequantize(benchmark::State& state, int64_t block_columns) {
  const int64_t rows = state.range(0), width = state.range(1), n = rows * width;
  const BlockGrid grid{1, rows, width, 1, block_columns == 0 ? width : block_columns};
  cudaops::benchmark::Case c;
  c.bytes =
      static_cast<double>(n) * (sizeof(T) + 1.0) + 4.0 * static_cast<double>(grid.num_blocks());
  c.num_sets = cudaops::benchmark::cold_sets(static_cast<double>(n) * sizeof(T));
  std::vector<uint8_t> pattern(static_cast<size_t>(kPeriod));
  cudaops::testing::Random random(0);
  for (uint8_t& byte : pattern) {
    byte = static_cast<uint8_t>(random.bits());
    if ((byte & 0x7f) == 0x7f) byte = 0;  // NaN in float8
  }
  const std::vector<float> of_scale = values<float>(1);
  const DeviceSets input(c.num_sets, static_cast<size_t>(n), as_pattern(pattern));
  const DeviceSets output(c.num_sets, static_cast<size_t>(n) * sizeof(T));
  const DeviceSets scale(1, static_cast<size_t>(grid.num_blocks()) * sizeof(float),
                         as_pattern(of_scale));
  c.launch = [&](int set, cudaStream_t stream) {
    Dequantize call{};
    call.grid = grid;
    call.dtype = kDType<T>;
    call.type = kType;
    call.input = {input[set], width};
    call.output = {output[set], width};
    call.scale = static_cast<const float*>(scale[0]);
    call.strides = dense(grid);
    launch_dequantize(call, stream);
  };
  c.verify = [&] {
    return wrong_rows<T>(output, rows, width, [&](int64_t row, int64_t column) {
      const int64_t block = row * grid.columns_of_blocks() + column / grid.block_columns;
      const int64_t at = (row * width + column) % kPeriod;
      return op_test::stored(pattern[static_cast<size_t>(at)], kType) * element(of_scale, block);
    });
  };
  cudaops::benchmark::run(state, c);
}

template <typename T>
void dequantize_rows_int8(benchmark::State& state) {
  dequantize<T, QuantizedType::kInt8>(state, 0);
}
template <typename T>
void dequantize_groups_float8(benchmark::State& state) {
  dequantize<T, QuantizedType::kFloat8>(state, 128);
}

BENCHMARK(dequantize_rows_int8<BFloat16>)->Apply(row_shapes);
BENCHMARK(dequantize_groups_float8<BFloat16>)->Apply(row_shapes);
BENCHMARK(dequantize_groups_float8<float>)->Apply(row_shapes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()

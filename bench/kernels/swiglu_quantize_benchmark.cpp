// SPDX-License-Identifier: Apache-2.0
#include "quantized_benchmark.h"
#include "swiglu_quantize/swiglu_quantize.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using namespace cudaops_kernels;

// group: 0 for whole rows.
template <typename T, QuantizedType kType>
void quantize(benchmark::State& state, int64_t group) {
  const int64_t rows = state.range(0), width = state.range(1), n = rows * width;
  const size_t array_bytes = static_cast<size_t>(n) * sizeof(T);
  const BlockGrid grid{1, rows, width, 1, group == 0 ? width : group};
  cudaops::benchmark::Case c;
  c.bytes = 2.0 * static_cast<double>(array_bytes) + static_cast<double>(n) +
            4.0 * static_cast<double>(grid.num_blocks());
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  const std::vector<T> of_gate = values<T>(0), of_up = values<T>(1);
  const DeviceSets gate(c.num_sets, array_bytes, as_pattern(of_gate));
  const DeviceSets up(c.num_sets, array_bytes, as_pattern(of_up));
  const DeviceSets output(c.num_sets, static_cast<size_t>(n));
  const DeviceSets scale(1, static_cast<size_t>(grid.num_blocks()) * sizeof(float));
  SwigluQuantize call{};
  call.unit.num_rows = rows;
  call.unit.width = width;
  call.unit.dtype = kDType<T>;
  call.grid = grid;
  call.type = kType;
  call.scale = static_cast<float*>(scale[0]);
  call.strides = dense(grid);
  const DeviceSets workspace(1, static_cast<size_t>(swiglu_quantize_workspace_bytes(call)));
  c.launch = [&](int set, cudaStream_t stream) {
    call.unit.gate = {gate[set], width};
    call.unit.up = {up[set], width};
    call.output = {output[set], width};
    launch_swiglu_quantize(call, workspace[0], stream);
  };
  c.verify = [&] {
    return wrong_fused_bytes(
        output, scale, grid, kType, [](int64_t) {},
        [&](int64_t row, int64_t column) {
          const double x = element(of_gate, row * width + column);
          return x / (1 + std::exp(-x)) * element(of_up, row * width + column);
        });
  };
  cudaops::benchmark::run(state, c);
}

template <typename T>
void swiglu_quantize_rows_int8(benchmark::State& state) {
  quantize<T, QuantizedType::kInt8>(state, 0);
}
template <typename T>
void swiglu_quantize_groups_float8(benchmark::State& state) {
  quantize<T, QuantizedType::kFloat8>(state, 128);
}

BENCHMARK(swiglu_quantize_rows_int8<BFloat16>)->Apply(row_shapes);
BENCHMARK(swiglu_quantize_groups_float8<BFloat16>)->Apply(row_shapes);
BENCHMARK(swiglu_quantize_groups_float8<float>)->Apply(row_shapes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()
